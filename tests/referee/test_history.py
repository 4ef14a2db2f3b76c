"""What was undone does not count; an undo that was itself taken back does nothing."""

import pytest

from pi_controller.games.base import IllegalActionError
from pi_controller.games.registry import game
from pi_controller.referee.facts import Done, HandPass, LinkSeen, Opened, Shown, Undone
from pi_controller.referee.history import counted, effective, fold
from pi_controller.referee.telling import blank

DAKOTA = game("dakota")


def numbered(*batches_of_facts):
    return [(n, fact) for n, facts in enumerate(batches_of_facts, 1) for fact in facts]


def hit(found, pad=None):
    return Done(0.0, {"do": "hit", "found": found, **({"pad": pad} if pad else {})}, (), "judge")


TOSS = Done(0.0, {"do": "toss", "winner": "A"}, (), "judge")
OPENED = Opened(0.0, "dakota", "1", "", {}, {"A": "Red", "B": "Blue"})


def test_nothing_folds_to_the_opening():
    assert fold(DAKOTA, []) == blank(DAKOTA)


@pytest.mark.parametrize(
    ("undos", "gone"),
    [
        ({}, set()),
        ({5: 4}, {4}),
        ({5: 2}, {2, 3, 4}),
        ({5: 4, 6: 3}, {3, 4, 5}),
        ({4: 3, 5: 4}, {4}),  # the undo in 4 is taken back: 3 counts again
        ({4: 3, 5: 4, 6: 5}, {3, 5}),  # and that one too
        ({4: 3, 6: 2}, {2, 3, 4, 5}),
    ],
)
def test_which_batches_count(undos, gone):
    records = [(n, Undone(0.0, undos[n]) if n in undos else HandPass(0.0, 1)) for n in range(1, 8)]
    assert {batch for batch, _, counts in counted(records) if not counts} == gone


def test_a_second_thought_about_a_hit():
    story = fold(DAKOTA, numbered([OPENED], [TOSS], [hit(True, 2)], [Undone(0.0, 3)], [hit(False, 3)]))
    assert [(h.pad, h.found) for h in story.hits] == [(3, False)]
    assert DAKOTA.sheet(story.state)["owed"] == "second"
    assert story.mark == 5


def test_the_link_is_as_it_is_whatever_is_undone():
    story = fold(
        DAKOTA,
        numbered([OPENED], [LinkSeen(0.0, up=True)], [TOSS], [LinkSeen(1.0, up=False, why="gone")], [Undone(2.0, 3)]),
    )
    assert (story.phase, story.link, story.link_why) == ("toss", False, "gone")


def test_the_hands_taken_back_are_in_doubt():
    records = numbered([OPENED], [TOSS], [hit(True)], [Shown(0.0)], [HandPass(0.0, 1)], [Undone(0.0, 3, hide=2)])
    story = fold(DAKOTA, records)
    assert (story.hide, story.doubt, story.passes) == (1, 2, ())


def test_what_does_not_follow_the_rules_is_not_swallowed():
    with pytest.raises(IllegalActionError):
        fold(DAKOTA, numbered([OPENED], [TOSS], [TOSS]))


def test_stories_are_values():
    records = numbered([OPENED], [TOSS], [hit(False, 1)])
    assert fold(DAKOTA, records) == fold(game("dakota"), records)
    assert len({fold(DAKOTA, records), fold(DAKOTA, records), blank(DAKOTA)}) == 2


def test_effective_keeps_order_and_numbers():
    records = numbered([OPENED], [TOSS], [hit(True)], [Undone(0.0, 3)], [hit(False)])
    assert [number for number, _ in effective(records)] == [1, 2, 4, 5]
