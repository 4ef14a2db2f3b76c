"""The teams are named at the table: before the first hit, in the journal, and so in all that is made of it."""

import json

import pytest
from seats import TEAMS, sit

from pi_controller.cli.journals import game_export as export
from pi_controller.cli.journals import game_verify as verify
from pi_controller.cli.replay import game_replay as replay
from pi_controller.journal.convert import from_journal
from pi_controller.journal.journal import Journal
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.writing import write
from pi_controller.referee.facts import TeamsNamed
from pi_controller.referee.judge import JudgeAction, JudgeNewGame, JudgeTeams, JudgeUndo
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.table.table import Command, StaleCommandError
from pi_controller.text import MAX_NAME_CHARS

NAMES = {"A": "Big Coulee", "B": "Long Hollow"}
TOSS = {"do": "toss", "winner": "A"}


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "table.sqlite") as journal:
        yield journal


def name(table, t=1.0, a=NAMES["A"], b=NAMES["B"]):
    table.judge(JudgeTeams(t, a, b))


def test_names_survive_a_restart_and_an_undo(journal):
    table = sit(journal)
    table.judge(JudgeAction(1.0, TOSS))
    name(table, 2.0, a="  Big Coulee ")
    assert table.view.teams == NAMES
    table.judge(JudgeUndo(3.0))
    assert (table.view.phase, table.view.teams) == ("toss", NAMES), "the toss is taken back, the names are not"
    path = journal.path
    journal.close()
    with Journal(path) as again:
        assert sit(again).view.teams == NAMES


def test_a_game_that_has_begun_keeps_its_names(journal):
    table = sit(journal)
    table.judge(JudgeAction(1.0, TOSS))
    table.judge(JudgeAction(2.0, {"do": "hit", "found": False}))
    before = journal.seq
    with pytest.raises(IllegalActionError, match="begun"):
        name(table, 3.0)
    assert journal.seq == before
    table.judge(JudgeUndo(4.0))
    name(table, 5.0)
    assert table.view.teams == NAMES


def test_names_carry_over_until_renamed(journal):
    table = sit(journal, "dakota", {"points": "1"})
    name(table)
    table.judge(JudgeAction(2.0, {"do": "forfeit", "by": "B"}))
    with pytest.raises(IllegalActionError, match="begun"):
        name(table, 3.0)
    table.judge(JudgeNewGame(4.0, swapped=True))
    assert table.view.teams == {"A": "Long Hollow", "B": "Big Coulee"}
    name(table, 5.0, "Lower River", "Upper River")
    assert table.view.teams == {"A": "Lower River", "B": "Upper River"}


TOO_LONG = "W" * (MAX_NAME_CHARS + 1)


@pytest.mark.parametrize(("a", "b"), [("", "B"), ("A", "  "), (TOO_LONG, "B"), ("\u202e\u200b", "B"), ("Red", "red")])
def test_invalid_team_name_changes_no_record(journal, a, b):
    table = sit(journal)
    before = journal.seq
    with pytest.raises(InvalidActionError, match="name"):
        name(table, 1.0, a, b)
    assert (journal.seq, table.view.teams) == (before, TEAMS)


def test_players_are_no_teams(journal):
    with pytest.raises(IllegalActionError, match="no teams"):
        name(sit(journal, "patol", {"players": "Ann,Bo"}))


def test_a_screen_with_other_names_is_stale(journal):
    table = sit(journal)
    seen = table.view.revision
    table.command(Command(JudgeTeams(1.0, "Long Hollow", "Big Coulee"), "Ann", "head", "first-key", seen))
    with pytest.raises(StaleCommandError):
        table.command(Command(JudgeAction(2.0, TOSS), "Bo", "judge", "other-key", seen))


def test_team_names_appear_in_all_outputs(journal, tmp_path, capsys):
    table = sit(journal)
    table.command(Command(JudgeTeams(1.0, *NAMES.values()), "Ann", "head", "first-key"))
    table.judge(JudgeAction(2.0, TOSS))
    table.judge(JudgeAction(3.0, {"do": "hit", "found": True}))
    assert dict(sheet_of(journal).teams) == NAMES
    assert "Ann, head: the teams are Big Coulee (A) and Long Hollow (B)" in [
        line.what for line in sheet_of(journal).lines
    ]
    record = from_journal(journal.read())
    assert dict(record.teams) == NAMES
    assert "! @0:01 Ann, head: the teams are Big Coulee (A) and Long Hollow (B)" in write(record)
    path = journal.path
    journal.close()
    assert replay([str(path)]) == 0
    assert "Ann, head: the teams are Big Coulee (A) and Long Hollow (B)" in capsys.readouterr().out
    assert verify([str(path)]) == 0
    assert "Big Coulee (A) and Long Hollow (B)" in capsys.readouterr().out
    assert export([str(path), "-o", str(tmp_path / "game")]) == 0
    files = sorted((tmp_path / "game").iterdir())
    assert [one.name for one in files if "Big Coulee" in one.read_text("utf-8", "replace")]


def test_teams_fact_has_the_names_as_given(journal):
    table = sit(journal)
    name(table)
    fact = next(fact for _, fact in journal.read() if isinstance(fact, TeamsNamed))
    assert json.loads(json.dumps(fact.teams)) == NAMES


def test_view_lists_recent_hides_with_their_actions(journal):
    table = sit(journal)
    table.judge(JudgeAction(1.0, TOSS))
    assert table.view.past == ()
    for t, found in enumerate((False, True, True, False), 2):
        table.judge(JudgeAction(t, {"do": "hit", "found": found}))
    seen = [(one.number, one.side, len(one.actions), one.calls) for one in table.view.past]
    assert seen == [(1, "A", 2, ("paguga",)), (2, "A", 1, ()), (3, "B", 1, ())]
    table.judge(JudgeUndo(9.0))
    assert [one.number for one in table.view.past] == [1, 2]
    table.judge(JudgeAction(10.0, {"do": "foul", "by": "hitter", "kind": "outside_help", "hide": "last"}))
    assert [(one.number, len(one.actions)) for one in table.view.past] == [(1, 2), (2, 2)]
    for t in range(11, 40):
        if table.view.phase != "over":
            table.judge(JudgeAction(t, {"do": "hit", "found": True}))
    assert len(table.view.past) == 8
