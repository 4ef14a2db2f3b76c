"""Another game at the same table: the finished one is kept, the table goes on, and a kill between loses neither."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import seats

from pi_controller.errors import JournalError
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.recording.hits import hits_path, move_hits, open_hits, pack_stroke, strokes
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeClose,
    JudgeNewGame,
    JudgeProtest,
    JudgeRuling,
    JudgeSensors,
    JudgeUndo,
)
from pi_controller.rules.base import IllegalActionError
from pi_controller.sensing.events import Link, SensorFault, SensorFaultsChange
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.backup import Backup
from pi_controller.table.table import Command, StaleCommandError

TEAMS = {"A": "Red", "B": "Blue"}
BEGUN = 1_793_000_000.0


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "table.sqlite") as journal:
        yield journal


def sit(journal, game="dakota", options=None, t=BEGUN):
    return seats.sit(journal, game, options or ({"points": 1} if game == "dakota" else {}), t=t)


def finish(table, t=BEGUN + 10.0):
    """Play until A has the one point there is."""
    table.judge(JudgeAction(t, {"do": "toss", "winner": "A"}))
    while table.view.phase != "over":
        table.judge(JudgeAction(t, {"do": "hit", "found": False}))
    return table


def others(folder):
    """Return the journals beside the table's own, oldest name first."""
    return sorted(path for path in folder.glob("*.sqlite") if path.name != "table.sqlite")


def test_finished_game_is_archived_and_another_begins(journal, tmp_path):
    table = finish(sit(journal))
    before = journal.meta, journal.head, list(journal.read())
    table.judge(JudgeNewGame(BEGUN + 3600.0))
    assert (table.view.phase, table.view.teams, table.view.sheet["short"]) == ("toss", TEAMS, {"A": 0, "B": 0})
    assert (journal.meta.epoch != before[0].epoch, journal.meta.created) == (True, BEGUN + 3600.0)
    (there,) = others(tmp_path)
    assert there.name.startswith("table-2026-10-")
    assert {path.stat().st_mode & 0o777 for path in (there, journal.path)} == {0o600}
    with Journal(there, read_only=True) as old:
        assert (old.meta, old.head, list(old.read())) == before
    assert verify_journal(there).wrong == verify_journal(journal.path).wrong == ""
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    table.judge(JudgeAction(BEGUN + 3601.0, {"do": "toss", "winner": "B"}))
    journal.close()
    with Journal(journal.path) as again:
        assert sit(again, t=BEGUN + 4000.0).view.sheet["hider"] == "B"


def test_swapped_each_team_is_at_the_others_side(journal):
    table = finish(sit(journal))
    table.judge(JudgeNewGame(BEGUN + 20.0, swapped=True))
    assert table.view.teams == {"A": "Blue", "B": "Red"}


def test_games_of_one_minute_are_all_archived(journal, tmp_path):
    table = sit(journal)
    for n in range(4):
        finish(table)
        table.judge(JudgeNewGame(BEGUN + n))
        assert table.view.phase == "toss"
    assert [path.name[-6:] for path in others(tmp_path)].count("sqlite") == 4
    assert len({verify_journal(path).epoch for path in [*others(tmp_path), journal.path]}) == 5


def test_no_file_that_is_there_is_written_over(journal, tmp_path, monkeypatch):
    table = finish(sit(journal))
    taken = journal.archive_path()
    taken.write_text("somebody's")
    monkeypatch.setattr(Journal, "archive_path", lambda self: taken)  # as if it had come in this very moment
    with pytest.raises(JournalError, match="kept under its date"):
        table.judge(JudgeNewGame(BEGUN + 20.0))
    assert taken.read_text() == "somebody's"
    assert table.retry(BEGUN + 21.0)
    assert (table.view.phase, table.view.winner) == ("over", "A")
    assert not list(tmp_path.glob(".*"))
    monkeypatch.undo()
    table.judge(JudgeNewGame(BEGUN + 22.0))
    assert (table.view.phase, taken.read_text()) == ("toss", "somebody's")


@pytest.mark.parametrize("before", ["nothing", "toss"])
def test_new_game_is_refused_until_game_over(journal, tmp_path, before):
    table = sit(journal)
    if before == "toss":
        table.judge(JudgeAction(BEGUN, {"do": "toss", "winner": "A"}))
    with pytest.raises(IllegalActionError, match="not over"):
        table.judge(JudgeNewGame(BEGUN + 1.0))
    assert others(tmp_path) == []
    table.judge(JudgeClose(BEGUN + 2.0, "B", "no_show", "called three times"))
    table.judge(JudgeNewGame(BEGUN + 3.0))
    assert table.view.phase == "toss"


def test_a_protest_is_decided_first(journal):
    table = finish(sit(journal))
    table.judge(JudgeProtest(BEGUN + 11.0, "B", "the last hit"))
    with pytest.raises(IllegalActionError, match="protest"):
        table.judge(JudgeNewGame(BEGUN + 12.0))
    table.judge(JudgeRuling(BEGUN + 13.0, "denied", "seen by two"))
    table.judge(JudgeNewGame(BEGUN + 14.0))
    assert table.view.phase == "toss"


def test_players_have_no_sides_to_change(journal):
    table = sit(journal, "plum_stone")
    table.judge(JudgeClose(BEGUN, "B", "forfeit", "they go home"))
    table.judge(JudgeNewGame(BEGUN + 1.0, swapped=True))
    assert table.view.teams == {"A": "Blue", "B": "Red"}
    journal.close()
    with Journal(journal.path.with_name("other.sqlite")) as other:
        table = sit(other, "patol", {"players": "Ann,Bo"})
        table.judge(JudgeClose(BEGUN, "Bo", "forfeit", "they go home"))
        with pytest.raises(IllegalActionError, match="no teams"):
            table.judge(JudgeNewGame(BEGUN + 1.0, swapped=True))
        table.judge(JudgeNewGame(BEGUN + 1.0))
        assert [horse["player"] for horse in table.view.sheet["horses"]] == ["Ann", "Bo"]


def test_the_board_is_as_it_was(journal):
    table = sit(journal)
    table.mat_event(Link(BEGUN, up=True))
    table.mat_event(SensorFaultsChange(BEGUN, (SensorFault("disc", 2, "silent"),)))
    table.judge(JudgeSensors(BEGUN, on=False, reason="the drums"))
    before = finish(table).view
    table.judge(JudgeNewGame(BEGUN + 20.0))
    now = table.view
    assert (
        (now.link, now.faults, now.sensors)
        == (before.link, before.faults, before.sensors)
        == (
            True,
            (SensorFault("disc", 2, "silent"),),
            False,
        )
    )


def test_a_command_counts_once_across_the_change(journal, tmp_path):
    table = finish(sit(journal))
    seen = table.view.revision
    command = Command(JudgeNewGame(BEGUN + 20.0), "Ann", "head", "key-1", seen)
    assert not table.command(command).repeated
    assert table.command(command).repeated
    assert len(others(tmp_path)) == 1
    journal.close()
    with Journal(journal.path) as again:
        table = sit(again, t=BEGUN + 30.0)
        assert table.command(command).repeated
        assert table.view.phase == "toss"


def test_revision_of_the_last_game_is_stale(journal):
    table = sit(journal)
    seen = {table.view.revision}
    table.judge(JudgeAction(BEGUN, {"do": "toss", "winner": "A"}))
    while table.view.phase != "over":
        seen.add(table.view.revision)
        table.judge(JudgeAction(BEGUN, {"do": "hit", "found": False}))
    seen.add(table.view.revision)
    table.judge(JudgeNewGame(BEGUN + 20.0))
    now = {table.view.revision}
    for n in range(30):
        if table.view.phase == "over":
            break
        action = {"do": "hit", "found": False} if n else {"do": "toss", "winner": "B"}
        table.judge(JudgeAction(BEGUN + 21.0 + n, action))
        now.add(table.view.revision)
    table.judge(JudgeUndo(BEGUN + 60.0))
    assert seen.isdisjoint({*now, table.view.revision})
    with pytest.raises(StaleCommandError):
        table.command(Command(JudgeUndo(BEGUN + 61.0), "Ann", "head", "key-2", max(seen)))


def test_open_reader_sees_the_old_game(journal, tmp_path):
    table = finish(sit(journal))
    with Journal(journal.path, read_only=True) as onlooker:
        before = list(onlooker.read())
        table.judge(JudgeNewGame(BEGUN + 20.0))
        for n in range(3):
            table.judge(JudgeSensors(BEGUN + 21.0 + n, on=bool(n % 2)))
        assert list(onlooker.read()) == before
    (there,) = others(tmp_path)
    with Journal(there, read_only=True) as old:
        assert list(old.read()) == before


def test_backup_has_finished_and_next_game(journal, tmp_path):
    stick = tmp_path / "stick"
    stick.mkdir()
    table = sit(journal)
    keeper = Backup(journal.path, stick, 1.0)
    keeper.on_step(BEGUN, table, armed=False)
    keeper.step()
    finish(table)
    last = journal.seq
    table.judge(JudgeNewGame(BEGUN + 20.0))
    keeper.on_step(BEGUN + 20.0, table, armed=False)
    keeper.close()
    copies = [verify_journal(path) for path in sorted(stick.glob("*.sqlite"))]
    assert sorted(copy.records for copy in copies) == sorted([last, journal.seq])
    assert [copy.wrong for copy in copies] == ["", ""]


def test_stored_hits_move_with_their_game(tmp_path, stroke_at):
    hits = hits_path(tmp_path / "table.sqlite")
    with closing(open_hits(hits)) as file:
        file.add([pack_stroke(stroke_at(BEGUN))])
    there = hits_path(tmp_path / "table-2026-11-03-1915.sqlite")
    move_hits(hits, there, BEGUN + 20.0)
    assert (hits.exists(), len(strokes(there))) == (False, 1)
    with closing(open_hits(hits)) as file:
        file.add([pack_stroke(stroke_at(BEGUN + 30.0))])
    move_hits(hits, there, BEGUN + 20.0)
    assert [stroke.t for stroke in strokes(hits)] == [BEGUN + 30.0]


@pytest.fixture
def stroke_at():
    import numpy as np

    from pi_controller.recording.hits import RecordedStroke

    def make(t):
        samples = np.zeros((8, 4), np.int16)
        return RecordedStroke(1, t, t - 0.1, 4000.0, 2048, (2,), 9.0, True, StrikeSettings(), samples)

    return make


KILL_AT_STEPS = """
import os, shutil, signal, sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_next_game import BEGUN, JudgeNewGame, Journal, sit

def change_games(path, left):
    with Journal(path) as journal:
        table = sit(journal, t=BEGUN + 15.0)

        def look(event, args):
            nonlocal left
            watched = event in ("os.link", "os.rename", "os.remove", "os.chmod", "os.unlink", "sqlite3.connect", "open")
            if watched:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(look)
        table.judge(JudgeNewGame(BEGUN + 20.0))
        os._exit(0)

whole = Path(sys.argv[1])
for step in range(1, 100):
    folder = Path(shutil.copytree(whole, whole.with_name(str(step))))
    if (child := os.fork()) == 0:
        change_games(folder / "table.sqlite", step)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status)
    if status != -signal.SIGKILL:
        break
"""
"""Kills a child at each step of the change, in a copy of the folder each; prints how each ended."""


@pytest.mark.slow
def test_kill_at_any_step_leaves_either_game(tmp_path):
    """Before each thing that is done to a file while the games change: one of them is resumed, and both are whole."""
    whole = tmp_path / "whole"
    whole.mkdir()
    with Journal(whole / "table.sqlite") as journal:
        finish(sit(journal))
        epoch, records = journal.meta.epoch, journal.seq
    script = KILL_AT_STEPS.format(here=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script, str(whole)], capture_output=True, text=True, check=True)
    *killed, last = map(int, done.stdout.split())
    assert set(killed) == {-signal.SIGKILL}
    assert last == 0
    told = {}
    for step in range(1, len(killed) + 2):
        folder = tmp_path / str(step)
        path = folder / "table.sqlite"
        with Journal(path) as journal:
            table = sit(journal, t=BEGUN + 30.0)
            there = others(folder)
            new = journal.meta.epoch != epoch
            assert table.view.phase == ("toss" if new else "over")
            assert len(there) == new, (step, there)
            finished = there[0] if new else path
            assert verify_journal(finished).wrong == verify_journal(path).wrong == ""
            assert verify_journal(finished).epoch == epoch
            assert verify_journal(finished).records >= records
            assert not list(folder.glob(".*"))
            told[step] = new
            if not new:
                table.judge(JudgeNewGame(BEGUN + 40.0))
                assert table.view.phase == "toss"
                assert len(others(folder)) == 1
    assert len(told) > 8
    assert list(told.values()) == sorted(told.values()), "once the new game counts it counts"
    assert set(told.values()) == {False, True}
    print(f"\n{len(told) - 1} steps; the new game counts from step {list(told.values()).index(True) + 1} on")


def test_failed_game_change_halts_play_until_retry(journal, tmp_path, monkeypatch):
    table = finish(sit(journal))
    whole = os.link

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(JournalError, match="kept under its date"):
        table.judge(JudgeNewGame(BEGUN + 20.0))
    assert table.view.phase == "halted"
    monkeypatch.setattr(os, "link", whole)
    assert table.retry(BEGUN + 21.0)
    assert table.view.phase == "over"
    table.judge(JudgeNewGame(BEGUN + 22.0))
    assert (table.view.phase, len(others(tmp_path))) == ("toss", 1)
