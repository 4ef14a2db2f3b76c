"""The judge at the terminal: a whole game with no sensor at all."""

import pytest

from pi_controller.console import say, understand
from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.referee import Referee
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("toss A", JudgeAction(1.0, {"do": "toss", "winner": "A"})),
        ("toss b", JudgeAction(1.0, {"do": "toss", "winner": "B"})),
        ("found", JudgeAction(1.0, {"do": "hit", "found": True})),
        ("missed 3", JudgeAction(1.0, {"do": "hit", "found": False, "pad": 3})),
        ("foul hider no_bead", JudgeAction(1.0, {"do": "foul", "by": "hider", "kind": "no_bead"})),
        ("foul hider no_bead last", JudgeAction(1.0, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"})),
        ("answer play_on", JudgeAnswer(1.0, "play_on")),
        ("again", JudgeHideAgain(1.0)),
        ("undo a slip of the tongue", JudgeUndo(1.0, "a slip of the tongue")),
    ],
)
def test_what_can_be_said(line, call):
    assert understand(line, 1.0) == call


@pytest.mark.parametrize("line", ["toss C", "hit", "found three", "found 3 4", "foul", "answer", "answer a b", "\x00"])
def test_what_cannot(line):
    with pytest.raises(UsageError) as refused:
        understand(line, 1.0)
    assert "found [PAD]" in refused.value.todo


@pytest.fixture
def table(tmp_path):
    game = registry.game("dakota", {"points": "1"})
    with Journal(tmp_path / "j.sqlite") as journal:
        yield Table(journal, game, {"A": "A", "B": "B"}, Referee(game, None, bytes))


def test_a_game_without_sensors(table):
    lines = ["toss A", *["missed", "missed"] * 6, "missed", "found", "missed"]
    for n, line in enumerate(lines):
        assert say(table, line, float(n)) == "so it stands", line
        if table.view.phase == "over":
            break
    assert table.view.winner == "A"


def test_a_refused_line_says_why_and_changes_nothing(table):
    before = table.view
    assert "toss" in say(table, "found", 1.0)
    assert "nothing the judge can say" in say(table, "fuond", 1.0)
    assert say(table, "  ", 1.0) == ""
    assert table.view is before
