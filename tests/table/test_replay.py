"""`moccasin-mat game replay`: a journalled game told again, with what was taken back."""

import json
import random

import pytest
from random_play import legal_action
from seats import sit

from pi_controller.cli.replay import game_replay as main
from pi_controller.errors import JournalError, UsageError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.record.model import RecordError
from pi_controller.referee.facts import Ready
from pi_controller.referee.history import fold
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeAnswer,
    JudgeClock,
    JudgeHidden,
    JudgeProtest,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.rules import registry
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Command, Table

TOLD = (
    "    2  @0:04 hit missed 1   (undone)",
    "    3  ! @0:05 taken back: pad 3",
    "Hide 1: hider A, owed first",
    "  sticks A  ||||                   4",
    "    4  @0:06 hit missed 3 [judge]",
    "    6  @0:08 hit found 2 [judge] -> paguga",
    "    7  ; hide 1: the bead lay under pad 2",
    "Hide 2: hider A, owed first",
    "  sticks A  ||||| |||         8",
    "    8  @0:10 foul hider left_position [judge] -> foul",
    "In progress: hider B, owed first",
    "  sticks B  ||||              4",
)


@pytest.fixture
def path(tmp_path):
    dakota = game("dakota", {"points": 3})
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = sit(journal, dakota)
        table.mat_event(Link(0.0, up=True))
        table.mat_event(Button(1.0, "toss_a"))
        for pad in (3, 1, 4, 2):
            table.mat_event(HandIn(2.0, pad))
            table.mat_event(HandOut(2.0, pad))
        table.mat_event(BeadsAtRest(3.0, (Bead(2),)))
        table.mat_event(Button(3.0, "ready"))
        table.mat_event(Strike(4.0, (1,)))
        table.judge(JudgeUndo(5.0, "pad 3"))
        table.judge(JudgeAction(6.0, {"do": "hit", "found": False, "pad": 3}))
        table.mat_event(Strike(7.0, (2, 4)))
        table.judge(JudgeAnswer(8.0, "2"))
        table.mat_event(BeadsAtRest(9.0, ()))
        table.judge(JudgeAction(10.0, {"do": "foul", "by": "hider", "kind": "left_position", "hide": "this"}))
    return path


def test_hide_by_hide(path, capsys):
    assert main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert list(dict.fromkeys(line for line in lines if line in TOLD)) == [*TOLD]
    assert [line.split()[0] for line in lines if "[judge]" in line] == ["4", "6", "8"]


def test_replay_stops_at_the_given_entry(path, capsys):
    assert main([str(path), "--to", "3"]) == 0
    said = capsys.readouterr().out
    assert TOLD[1] in said
    assert "    4  " not in said
    assert "In progress: hider A, owed first" in said


def test_as_json(path, capsys):
    assert main([str(path), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["entry"] for line in lines[:-1]] == list(range(1, 9))
    assert [line["entry"] for line in lines if line.get("counts") is False] == [2]
    dakota = game("dakota", {"points": 3})
    with Journal(path) as journal:
        assert lines[-1]["state"] == json.loads(json.dumps(dakota.sheet(fold(dakota, journal.read()).state)))


def test_replay_does_not_write_the_journal(path):
    with Journal(path):  # beside the table that is writing it
        before = path.read_bytes()
        assert main([str(path)]) == 0
        assert path.read_bytes() == before


def test_unreplayable_input_is_refused(path, tmp_path):
    with pytest.raises(JournalError, match="no such file"):
        main([str(tmp_path / "none")])
    with pytest.raises(UsageError):
        main([str(path), "--to", "0"])
    with Journal(tmp_path / "fresh"):
        pass
    with pytest.raises(RecordError, match="no game yet"):
        main([str(tmp_path / "fresh")])
    with Journal(tmp_path / "odd") as journal:
        journal.append([Ready(0.0)])
    with pytest.raises(RecordError, match="does not name its game"):
        main([str(tmp_path / "odd")])


SHEET = {
    "hider": "B", "long": {"A": 2, "B": 14}, "middle": 4, "short": {"A": 0, "B": 1}, "owed": "first",
    "situation": None, "winner": None, "finish": None,
}  # fmt: skip
SAID = (
    "    1  @0:01 toss A [judge] ; Ann, judge",
    "    3  ! @0:03 Ann, judge: play goes on without what the mat feels: the drums",
    "    4  ; played by eye: the judge says what is found",
    "    5  ! @0:05 Ann, judge: team A protests, play stands: his sleeve",
    "    6  ! @0:06 Ann, judge: the protest is open still, play goes on: decided after the game",
    "    7  ! @0:07 Ann, judge: the clock is stopped",
    "    8  ! @0:08 Ann, judge: the clock runs on",
)


def test_replay_prints_table_calls(tmp_path, capsys):
    dakota, path = game("dakota"), tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = Table(journal, dakota, {"A": "A", "B": "B"}, DakotaReferee(dakota, None, bytes))
        table.mat_event(Link(0.0, up=True))
        for n, call in enumerate(
            [
                JudgeAction(1.0, {"do": "toss", "winner": "A"}),
                JudgeSet(2.0, SHEET, "the sticks had fallen over"),
                JudgeSensors(3.0, on=False, reason="the drums"),
                JudgeHidden(4.0),
                JudgeProtest(5.0, "A", "his sleeve"),
                JudgeRuling(6.0, "play_on", "decided after the game"),
                JudgeClock(7.0, running=False),
                JudgeClock(8.0, running=True),
            ]
        ):
            table.command(Command(call, "Ann", "judge", str(n)))
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line in SAID] == [*SAID]
    assert out.count("  sticks B  ||||| ||||| ||||   14\n") == 2
    assert "Ann, judge: the table stands so: the sticks had fallen over" in out


RECORD = """\
Game: dakota
Option points: 3
Team A: Red
Place: here

toss A
hit missed 2
~ hit found 1
! @0:05 taken back
hit found 3
end
"""


def test_replay_accepts_a_written_record(tmp_path, capsys):
    path = tmp_path / "game.record"
    path.write_text(RECORD, "utf-8")
    assert main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "hit found" in line] == [
        "    3  hit found 1   (undone)",
        "    5  hit found 3 -> paguga",
    ]
    assert lines[-3] == "  sticks A  ||||| |||         8"
    assert main([str(path), "--to", "2"]) == 0
    so_far = capsys.readouterr().out
    assert "hit found" not in so_far
    assert "In progress: hider A, owed second" in so_far
    assert main([str(path), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("counts") for line in lines] == [True, True, False, True, True, None]
    assert lines[-1]["state"]["long"] == {"A": 8, "B": 0}


def test_record_error_is_printed_beside_the_replay(tmp_path, capsys):
    path = tmp_path / "game.record"
    path.write_text(RECORD.replace("toss A", "toss C"), "utf-8")
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert err.splitlines()[0] == "moccasin-mat: line 6: 'toss' is no action: winner cannot be 'C'"
    assert "||||| ||||| ||||| |||||   20" in out
    path.write_bytes(b"\x89PNG")
    with pytest.raises(RecordError, match="neither a journal nor a record"):
        main([str(path)])


@pytest.mark.parametrize("name", registry.names())
def test_judged_game_replays_like_its_record(name, tmp_path, capsys):
    chance = random.Random(name)
    rules = registry.game(name)
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = sit(journal, rules)
        for n in range(400):
            if table.view.phase == "over":
                break
            table.judge(JudgeAction(float(n), legal_action(chance, rules, table.story.state)))
    assert main([str(path)]) == 0
    told = capsys.readouterr().out
    assert main([str(path), "--json"]) == 0
    assert capsys.readouterr().out.count("\n") > 3
    assert name in told
    assert told.count("\n") > 10
