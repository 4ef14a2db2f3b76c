"""A game forfeited at a table: its phase, its record, its score sheet, and what is said of it."""

import json

import msgspec
import pytest

from pi_controller.cli.replay import replay
from pi_controller.display import phrases
from pi_controller.journal.convert import from_journal
from pi_controller.journal.export import page
from pi_controller.journal.journal import Journal
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.file import read, write
from pi_controller.referee.history import fold
from pi_controller.referee.selection import referee_for
from pi_controller.rules import registry
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.view import View

TEAMS = {"A": "Red", "B": "Blå"}
OPTIONS = {
    "dakota": {},
    "slahal": {"rehide": "hide_again"},
    "plum_stone": {},
    "bageswin": {},
    "patol": {},
    "ojibwe": {},
}
FIRST = {
    "dakota": ["toss A", "hit missed", "hit found", "hit missed"],
    "patol": ["start A north clockwise", "3", "1", "start B south clockwise", "3"],
    "ojibwe": ["toss A", "shoot open - hit 1 ball 2", "shoot open 2 hit - ball 2"],
    "plum_stone": ["lot A", "throw moons 0 whites 0", "throw moons 2 whites 0", "throw moons 0 whites 0"],
    "bageswin": ["f", "fw", "w"],
    "slahal": ["duo A yes B no", "guess left inside mirror=false", "rehide", "guess left right mirror"],
}
"""Lines of a game that is in the middle of a hide or turn when B leaves."""
TURNS = {"dakota": 2, "slahal": 2, "plum_stone": 2, "bageswin": 2, "patol": 2, "ojibwe": 2}


@pytest.fixture(params=sorted(OPTIONS))
def name(request):
    return request.param


def sit(journal, name):
    game = journalled_game(journal, registry.game(name, OPTIONS[name]))
    return Table(journal, game, TEAMS, referee_for(game, None, bytes), 0.0)


@pytest.mark.parametrize("begun", [True, False])
def test_a_forfeit_at_the_table(name, begun, tmp_path, capsys):
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = sit(journal, name)
        for n, line in enumerate(FIRST[name] if begun else ()):
            assert execute_line(table, line, float(n)) == "entered", line
        assert execute_line(table, "forfeit C", 50.0) != "entered"
        assert execute_line(table, "forfeit B", 60.0) == "entered"
        view = table.view
        assert (view.phase, view.winner, view.sheet["finish"]) == ("over", "A", "forfeit")
        assert view.calls == ("forfeit", "game")
        assert "by forfeit" in phrases.sentence(view)
        assert msgspec.json.decode(msgspec.json.encode(view), type=View) == view
        assert fold(table.game, journal.read()) == table.story
        record = from_journal(journal.read())
        assert read(write(record).encode()) == record
        assert not read(write(record).encode()).faults
        assert write(record).endswith("forfeit B [judge] -> forfeit game\nend winner=A\n")
        sheet = sheet_of(journal)
        assert [line.turn for line in sheet.lines if line.action][-1] == (TURNS[name] if begun else 0)
        assert "by forfeit" in page(sheet)
        assert execute_line(table, "forfeit A", 61.0) != "entered"
        assert execute_line(table, "undo too early", 62.0) == "entered"
        assert (table.view.winner, table.view.sheet["finish"]) == (None, None)
        assert execute_line(table, "forfeit B", 63.0) == "entered"
    assert replay([str(path)]) == 0
    assert "forfeit" in capsys.readouterr().out
    with Journal(path) as journal:
        assert sit(journal, name).view.winner == "A"
    assert json.dumps(view.sheet)
