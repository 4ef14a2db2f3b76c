"""What a judge who sets the table leaves of what was before: no seal of another hide, no clock of a game not begun."""

import pytest
from seats import hide, sit

from pi_controller.referee.judge import JudgeAction, JudgeSet
from pi_controller.sensing.events import Button, Link, Strike

HOUR = 3600.0


@pytest.fixture
def missed_once(memory_journal):
    table = sit(memory_journal())
    table.mat_event(Link(0.5, up=True))
    table.mat_event(Button(1.0, "toss_a"))
    hide(table, 3)
    table.mat_event(Strike(3.0, (1,)))
    return table


def test_void_hide_leaves_next_no_commitment(missed_once):
    sheet = {**missed_once.game.sheet(missed_once.story.state), "owed": "first"}
    missed_once.judge(JudgeSet(4.0, sheet, "a new hide"))
    assert (missed_once.view.hide, missed_once.view.withdrawn) == (2, ())


def test_continued_hide_leaves_its_commitment_withdrawn(missed_once):
    seal = missed_once.view.commit
    missed_once.judge(JudgeSet(4.0, missed_once.game.sheet(missed_once.story.state), "as it lies"))
    assert (missed_once.view.hide, missed_once.view.withdrawn) == (1, (seal,))


def test_a_duo_has_no_clock(memory_journal):
    table = sit(memory_journal(), "slahal")
    table.mat_event(Link(0.5, up=True))
    duo = table.game.sheet(table.story.state)
    table.judge(JudgeAction(1.0, {"do": "duo", "A": True, "B": False}))
    won = table.game.sheet(table.story.state)
    table.judge(JudgeSet(2.0, duo, "the duo again"))
    assert table.view.phase == "toss"
    table.tick(HOUR)
    assert (table.view.phase, table.view.question) == ("toss", None)
    table.judge(JudgeSet(HOUR, won, "A had won it"))
    assert table.story.clocks.playing.began == HOUR, "the game's time runs from when the bones are won"
    table.judge(JudgeSet(HOUR + 1.0, won, "as it lies"))
    assert table.story.clocks.playing.began == HOUR


def test_link_loss_makes_next_hide_passes_unsure(missed_once):
    missed_once.mat_event(Link(4.0, up=False, why="unplugged"))
    sheet = {**missed_once.game.sheet(missed_once.story.state), "owed": "first"}
    missed_once.judge(JudgeSet(5.0, sheet, "a new hide"))
    missed_once.mat_event(Link(6.0, up=True))
    assert (missed_once.story.hide.number, missed_once.story.passes_unsure) == (2, True)
