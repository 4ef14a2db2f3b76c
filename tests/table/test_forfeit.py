"""A game forfeited at a table: its phase, its record, its score sheet, and what is said of it."""

import json
import random

import msgspec
import pytest
from random_play import steps
from seats import sit

from pi_controller.cli.replay import game_replay as replay
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.journal.convert import from_journal
from pi_controller.journal.journal import Journal
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.file import read
from pi_controller.record.writing import write
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules import registry
from pi_controller.runtime.console import execute_line
from pi_controller.table.view import View
from pi_controller.web.score_sheet import print_sheet

TEAMS = {"A": "Red", "B": "Blå"}


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("name", registry.names())
def test_a_forfeit_at_the_table(name, begun, tmp_path, capsys):
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        table = sit(journal, name, teams=TEAMS)
        for _, action, _, _ in steps(random.Random(4), table.game, 6 * begun, ends=0.0):
            table.judge(JudgeAction(1.0, action))
        assert execute_line(table, "forfeit C", 50.0) != "entered"
        assert execute_line(table, "forfeit B", 60.0) == "entered"
        view = table.view
        assert (view.phase, view.winner, view.sheet["finish"]) == ("over", "A", "forfeit")
        assert view.calls == ("forfeit", "game")
        assert "by forfeit" in Phrases(ENGLISH).sentence(view)
        assert msgspec.json.decode(msgspec.json.encode(view), type=View) == view
        assert fold(table.game, journal.read()) == table.story
        record = from_journal(journal.read())
        assert read(write(record).encode()) == record
        assert not read(write(record).encode()).faults
        assert write(record).endswith("forfeit B [judge] -> forfeit game\nend winner=A\n")
        assert "by forfeit" in print_sheet(sheet_of(journal))
        assert execute_line(table, "forfeit A", 61.0) != "entered"
        assert execute_line(table, "undo too early", 62.0) == "entered"
        assert (table.view.winner, table.view.sheet["finish"]) == (None, None)
        assert execute_line(table, "forfeit B", 63.0) == "entered"
    assert replay([str(path)]) == 0
    assert "forfeit" in capsys.readouterr().out
    with Journal(path) as journal:
        assert sit(journal, name).view.winner == "A"
    assert json.dumps(view.sheet)
