"""Every game kept by the judge alone, from the console: played out, killed, resumed, taken back, entered again."""

import json
import random

import msgspec
import pytest
import seats
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.journal.journal import Journal
from pi_controller.record.notation import format_action
from pi_controller.referee.facts import ActionPlayed, Undone
from pi_controller.referee.history import fold
from pi_controller.rules import registry
from pi_controller.runtime.console import execute_line, parse_line
from pi_controller.table.view import View

TEAMS = {"A": "Upper", "B": "Lower"}
OPTIONS = {
    "ojibwe": {"games": "2"},
    "slahal": {},
    "bageswin": {"players": "Kate,Big Bear,true", "sticks": "250"},
    "plum_stone": {"counters": "60"},
    "patol": {"players": "Kate,Big Bear,null,Zoë", "circuits": "2"},
}
WORDS = [
    "duo ",
    "guess ",
    "guess left right ",
    "rehide ",
    "time ",
    "king_moved ",
    "undo ",
    "answer ",
    "again ",
    "guess {",
]
ENDS_AT_ONCE = {"king_moved", "time"}


def test_all_games_except_dakota_are_covered():
    assert set(OPTIONS) == set(registry.names()) - {registry.DEFAULT_GAME}


def sit(journal, name, t=0.0):
    return seats.sit(journal, name, OPTIONS[name], TEAMS, t)


def lines_of(name, seed=1):
    """Return the lines of one game at random, from its first word to its last, and the state it ends in."""
    rng, game, lines = random.Random(seed), registry.game(name, OPTIONS[name]), []
    state = game.opening()
    while actions := game.legal_actions(state):
        lasting = [action for action in actions if action["do"] not in ENDS_AT_ONCE] if len(lines) < 60 else actions
        action = rng.choice(lasting)
        lines.append(format_action(name, action))
        state, _ = game.play(state, action)
    return lines, game.sheet(state)


@pytest.fixture(params=sorted(OPTIONS))
def name(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "game.sqlite"


def test_game_is_entered_from_start_to_end(name, path):
    lines, end = lines_of(name)
    assert len(lines) > 20
    with Journal(path) as journal:
        table = sit(journal, name)
        for n, line in enumerate(lines):
            assert table.view.phase not in ("over", "halted")
            assert execute_line(table, line, float(n)) == "entered", line
            assert table.view.sheet == table.game.sheet(table.story.state)
            assert json.loads(msgspec.json.encode(table.view))["sheet"] == table.view.sheet
        view = table.view
        assert (view.phase, view.winner, view.sheet) == ("over", end["winner"], end)
        assert view.winner is not None
        assert msgspec.json.decode(msgspec.json.encode(view), type=View) == view
        assert (view.game, view.teams, view.seq) == (name, TEAMS, journal.seq)
        assert view.scoreboard == table.game.scoreboard(end)
        assert (view.hits, view.question) == ((), None)
        assert fold(table.game, journal.read()) == table.story
        done = [fact for _, fact in journal.read() if isinstance(fact, ActionPlayed)]
        assert view.calls == done[-1].calls
        assert {fact.by for fact in done} == {"judge"}
        before = table.view
        assert execute_line(table, lines[-1], 1e6) != "entered"
        assert table.view is before


def test_all_can_be_taken_back_and_entered_again(name, memory_journal):
    lines, end = lines_of(name)
    journal = memory_journal()
    table = sit(journal, name)
    last = lines[-12:]
    for n, line in enumerate(lines[:-12]):
        execute_line(table, line, float(n))
    stories = []
    for n, line in enumerate(last):
        stories.append(table.story)
        assert execute_line(table, line, 1000.0 + n) == "entered"
    over = table.view
    for story in reversed(stories):
        assert execute_line(table, "undo misread", 2000.0) == "entered"
        assert (table.story.state, table.story.calls, table.view.note) == (
            story.state,
            story.calls,
            "Taken back: misread",
        )
        assert table.view.phase == story.phase
    for line in last:
        assert execute_line(table, line, 3000.0) == "entered"
        assert table.view.note == ""
    assert (table.view.phase, table.view.sheet, table.view.calls) == ("over", end, over.calls)
    assert sum(isinstance(fact, Undone) for _, fact in journal.read()) == 12
    assert fold(table.game, journal.read()) == table.story


def test_refused_line_changes_no_record(name, memory_journal):
    lines, _ = lines_of(name)
    journal = memory_journal()
    table = sit(journal, name)
    execute_line(table, lines[0], 0.0)
    before, rows = table.view, list(journal.rows())
    refused = ["found", "missed 3", "hit found", "foul hider no_bead", "answer 2", "fly", "throw 99", "; only", "\x00"]
    refused += ["throw", "guess", "lot C", "toss A B", "start Nobody north clockwise", "shoot open 9 hit 1 ball 1"]
    for line in refused:
        assert execute_line(table, line, 1.0) not in ("", "entered"), line
    assert execute_line(table, "   ", 1.0) == ""
    assert execute_line(table, "help", 1.0).startswith("Now: ")
    assert table.view is before
    assert list(journal.rows()) == rows


@settings(max_examples=60)
@given(line=st.text(max_size=40) | st.sampled_from(WORDS).flatmap(lambda word: st.text(max_size=20).map(word.__add__)))
def test_no_typed_line_stops_the_table(memory_journal, line):
    table = sit(memory_journal(), "slahal")
    execute_line(table, "duo A yes B no", 0.0)
    before = table.view
    answer = execute_line(table, line, 1.0)
    assert answer.isprintable() or "\n" in answer
    if answer == "entered":
        assert table.view.seq == before.seq + 1
        assert fold(table.game, table.journal.read()) == table.story
    else:
        assert table.view is before


def test_help_lists_the_legal_actions(name, memory_journal):
    lines, _ = lines_of(name)
    table = sit(memory_journal(), name)
    for n, line in enumerate(lines):
        if n < 20:
            told = execute_line(table, "help", 0.0, width=1000).split("\n")[0].removeprefix("Now: ").split(" | ")
            actions = [parse_line(line, 0.0, table.game).action for line in told if line != "hidden"]
            legal = table.game.legal_actions(table.story.state)
            assert {action["do"] for action in actions} == {action["do"] for action in legal}
            for action in actions:
                table.game.play(table.story.state, action)
        execute_line(table, line, float(n))
    assert "For example: " in execute_line(table, "help all", 0.0)
