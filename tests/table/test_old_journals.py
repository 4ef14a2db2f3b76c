"""Journals of all six games that an earlier version wrote, in `old_journals`: they open, go on, and say what they did.

Each was played at a table with that version, a line of a story after the other (tests/scenarios has the same lines):
hands, balls or fists, readings sure and unsure, strokes of all kinds, gaps on the link, sensors out of order and off, a
restart in the middle of a hide, questions answered, fouls called (of the hide before too), all that a judge can say
with who said it, replaced and taken back again. GAME_finished has the options as when nobody chooses and ends with a
winner. GAME_open has every option chosen otherwise and the preset tournament, tables set by the judge, and ends in the
middle. GAME_later and dakota_withdrawn are of a later version, matches of a tournament that end in the middle, with the
kinds of facts in `LATER`. Beside each stand what its version made of it: .record (the written record), .actions.jsonl
(the actions that count, a table that was set among them as `{"do": "set"}`), .states.jsonl (the score sheet after each
batch of the journal).

What has changed on the score sheet since is in `CHANGED`, all of it; anything else that differs is a fault.
"""

import json
import random
import shutil
from io import StringIO
from pathlib import Path

import pytest

from pi_controller.cli.journals import export
from pi_controller.cli.replay import replay
from pi_controller.journal.journal import Journal
from pi_controller.journal.sheet import sheet_of
from pi_controller.journal.verify import verify_journal
from pi_controller.record.convert import from_sheet, read_journal_record, to_sheet
from pi_controller.record.file import SET, Playthrough, read, write
from pi_controller.record.model import Move, Ruling
from pi_controller.referee.base import referee_for
from pi_controller.referee.facts import ActionPlayed, CommandIssued, HideAgain, StateSet
from pi_controller.referee.history import fold, with_status
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeRuling, JudgeUndo
from pi_controller.rules import registry, sheet
from pi_controller.sensing.events import Link
from pi_controller.table.table import Table, journalled_game

OLD = Path(__file__).with_name("old_journals")
JOURNALS = sorted(OLD.glob("*.journal"))
CHANGED = {
    "key": {"lives": "hides_left"},
    "word": {"hunt": "shoot", "duel": "duo", "sunwise": "clockwise", "against": "counterclockwise"},
    "new": {"": {"finish": None}, "ojibwe": {"banked": 0}},
}
"""Keys and words that have another name now, and keys that the score sheet of a game ("": of each) has gained.

In patol `thrower` was null until all had started, and is now whose turn it is once anybody has.
"""
KINDS = {
    *("opened", "hand_pass", "ready", "commit", "by_eye", "void", "hide_again", "lifted", "struck", "action", "foul"),
    *("question", "answer", "reveal", "shown", "link", "sensors", "called", "set", "sensors_used", "protest", "ruling"),
    *("clock", "undone"),
}
"""All kinds of facts that there were."""
LATER = {"away", "closed", "match", "notice", "round_clock", "teams", "withdrawn"}
"""The kinds that came with the later version."""
ACTIONS = {
    "dakota": {"toss", "hit", "foul", "forfeit"},
    "ojibwe": {"toss", "hunt", "shoot"},
    "slahal": {"duel", "guess", "rehide", "king_moved", "time"},
    "bageswin": {"throw", "double_tap"},
    "plum_stone": {"lot", "throw", "no_throw", "forfeit"},
    "patol": {"start", "throw"},
}


def renamed(value):
    """Return keys and words of an earlier version as they are called now; those of this version stay."""
    match value:
        case dict():
            return {CHANGED["key"].get(key, key): renamed(inner) for key, inner in value.items()}
        case list() | tuple():
            return [renamed(inner) for inner in value]
        case str():
            return CHANGED["word"].get(value, value)
        case _:
            return value


def as_now(name, state):
    """Return the score sheet `state` of any version under this version's keys and words."""
    state = {**CHANGED["new"][""], **CHANGED["new"].get(name, {}), **renamed(state)}
    if name == "patol" and {horse["river"] is None for horse in state["horses"]} == {True, False}:
        state["thrower"] = "not all have started"
    if name == "patol":
        state["horses"] = [{"out": False, **horse} for horse in state["horses"]]
    return state


def lines(path, ending):
    return [json.loads(line) for line in path.with_suffix(ending).read_text("utf-8").splitlines()]


def moves(record):
    return [(renamed(move.action), move.calls, move.t, move.by, move.superseded) for move in _kind(record, Move)]


def rulings(record):
    return [(ruling.t, ruling.superseded) for ruling in _kind(record, Ruling)]


def _kind(record, kind):
    return [entry for entry in record.entries if isinstance(entry, kind)]


@pytest.fixture(params=JOURNALS, ids=lambda path: path.stem)
def old(request):
    """The path of a journal."""
    return request.param


@pytest.fixture
def name(old):
    return old.stem.rsplit("_", 1)[0]


@pytest.fixture
def records(old):
    """Its (batch, fact) in order."""
    with Journal(old, read_only=True) as journal:
        return list(journal.read())


@pytest.fixture
def game(records):
    opened = records[0][1]
    return registry.game(opened.game, opened.options)


@pytest.fixture
def states(old, name):
    """Return its score sheets after each batch, in this version's words."""
    return [as_now(name, state) for state in lines(old, ".states.jsonl")]


def test_all_that_can_stand_in_a_journal_stands_in_these():
    each = [f"{name}_{end}" for name in registry.names() for end in ("finished", "later", "open")]
    assert [path.stem for path in JOURNALS] == sorted([*each, "dakota_withdrawn"])
    kinds, actions, takes_back_an_undo = set(), {name: set() for name in ACTIONS}, 0
    for path in JOURNALS:
        with Journal(path, read_only=True) as journal:
            records = list(journal.read())
        for _, fact in records:
            kinds.add(fact.__struct_config__.tag)
            if isinstance(fact, ActionPlayed):
                actions[records[0][1].game].add(fact.action["do"])
        undos = {batch: fact.batch for batch, fact in records if fact.__struct_config__.tag == "undone"}
        takes_back_an_undo += any(taken in undos for taken in undos.values())
        assert any(isinstance(fact, CommandIssued) and fact.actor == "Ann" for _, fact in records)
        if path.stem.endswith("_open"):
            assert any(isinstance(fact, StateSet) for _, fact in records)
            default = {option.name: option.default for option in registry.game_class(records[0][1].game).options}
            assert all(value != default[name] for name, value in records[0][1].options.items())
    assert kinds == KINDS | LATER
    assert actions == ACTIONS
    assert takes_back_an_undo >= len(registry.names())
    with Journal(OLD / "dakota_finished.journal", read_only=True) as journal:
        facts = [fact for _, fact in journal.read()]
    assert any(isinstance(fact, HideAgain) and fact.by == "restart" for fact in facts)
    assert any(isinstance(fact, ActionPlayed) and fact.action.get("hide") == "last" for fact in facts)


def test_it_is_opened_to_be_looked_at_and_nothing_is_left_beside_it(old):
    before = {path.name: path.stat().st_mtime_ns for path in OLD.iterdir()}
    with Journal(old, read_only=True) as journal:
        assert journal.seq == len(list(journal.records()))
        assert journal.meta is not None
    assert {path.name: path.stat().st_mtime_ns for path in OLD.iterdir()} == before


def test_after_each_batch_it_stands_as_it_stood(name, records, game, states):
    assert len(states) == records[-1][0]
    for batch, state in enumerate(states, 1):
        story = fold(game, [record for record in records if record[0] <= batch])
        assert as_now(name, game.sheet(story.state)) == state, f"after batch {batch}"


def test_it_is_whole_and_follows_the_rules(old, records):
    found = verify_journal(old)
    assert found.wrong == ""
    assert (found.chained, found.records, found.batches) == (True, len(records), records[-1][0])


def test_it_is_told_again(old, name, states, capsys):
    assert replay([str(old), "--json"]) == 0
    *told, last = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert as_now(name, last["view"]["sheet"]) == states[-1]
    with Journal(old, read_only=True) as journal:
        assert [line["counts"] for line in told] == [record.counts for record in with_status(journal.read())]
    assert replay([str(old)]) == 0
    assert "Ann, judge" in capsys.readouterr().out


def test_it_is_exported(old, name, states, tmp_path, capsys):
    assert export([str(old), "-o", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    exported = json.loads((tmp_path / f"{old.stem}.json").read_text("utf-8"))
    assert as_now(name, exported["state"]) == states[-1]
    assert moves(read((tmp_path / f"{old.stem}.record").read_bytes())) == moves(read_journal_record(str(old)))
    with Journal(old, read_only=True) as journal:
        kept = sheet_of(journal)
    assert kept.over == (states[-1]["winner"] is not None)
    assert kept.over == old.stem.endswith("_finished")


def test_its_record_is_the_one_it_had(old, name, states):
    then, now = read(old.with_suffix(".record").read_bytes()), read_journal_record(str(old))
    assert then.faults == []
    assert moves(now) == moves(then)
    assert rulings(now) == rulings(then)
    assert (now.game, now.options, now.teams) == (then.game, then.options, then.teams)
    for record in (then, now):
        again = read(write(record).encode())
        assert again == record
        assert again.faults == []
        course = Playthrough(registry.game(record.game, record.options))
        for move in again.moves():
            course.play(move.action)
        assert as_now(name, course.sheet) == states[-1]


def test_its_score_sheet_is_still_taken(old, name, game, states):
    actions = lines(old, ".actions.jsonl")
    course = Playthrough(game)
    for action in actions:
        course.play(action)
    assert as_now(name, course.sheet) == states[-1]
    assert [renamed(move.action) for move in read_journal_record(str(old)).moves()] == renamed(actions)
    if any(action["do"] == SET for action in actions):
        return  # which a score sheet cannot
    out = StringIO()
    data = old.with_suffix(".actions.jsonl").read_bytes()
    assert sheet.run(game, data.splitlines(), out) == 0
    assert as_now(name, json.loads(out.getvalue().splitlines()[-1])["state"]) == states[-1]
    record = from_sheet(data, game)
    assert record.faults == []
    assert [renamed(json.loads(line)) for line in to_sheet(record)] == renamed(actions)


def test_a_copy_of_it_is_resumed_and_played_to_the_end(old, name, states, tmp_path):
    copy = tmp_path / "table.sqlite"
    shutil.copyfile(old, copy)
    chance = random.Random(old.stem)
    with Journal(copy) as journal:
        seq = journal.seq
        game = journalled_game(journal, registry.game(name))
        table = Table(journal, game, {"A": "", "B": ""}, referee_for(game, None, bytes), 5.0)
        assert as_now(name, table.view.sheet) == states[-1]
        assert (table.view.teams, table.view.link) == ({"A": "Red", "B": "Blue"}, False)
        table.mat_event(Link(6.0, up=True))
        if table.view.held:
            table.judge(JudgeRuling(7.0, "denied", "seen"))
        if table.view.question is not None:
            table.judge(JudgeAnswer(8.0, table.view.question.choices[-1]))
        if table.view.winner is not None:
            table.judge(JudgeUndo(9.0))
        assert table.view.winner is None
        for n in range(2000):
            actions = [a for a in game.legal_actions(table.story.state) if a["do"] in ("toss", "hit", "throw", "start")]
            table.judge(JudgeAction(10.0 + n, chance.choice(actions or game.legal_actions(table.story.state))))
            if table.view.winner is not None:
                break
        assert table.view.phase == "over"
        assert fold(game, journal.read()) == table.story
        assert journal.seq > seq
    assert verify_journal(copy).whole
    assert read(write(read_journal_record(str(copy))).encode()).faults == []
