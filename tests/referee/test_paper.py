"""The judge alone: actions and undo by hand; of the mat only whether its board is there."""

import pytest

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.registry import game
from pi_controller.mat.events import Bead, Beads, Blind, Button, HandIn, HandOut, Link, Strike
from pi_controller.referee.facts import Done, LinkSeen, Shown, Undone
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.paper import PaperReferee
from pi_controller.referee.story import blank, tell, tell_batch

SLAHAL = game("slahal")
DUEL = {"do": "duel", "A": True, "B": False}
MISS = {"do": "guess", "signal": "left", "actual": "right"}


@pytest.fixture
def referee():
    return PaperReferee(SLAHAL)


def played(referee, *actions):
    """Return the story after the actions, each in a batch of its own from 1 on."""
    story = blank(SLAHAL)
    for n, action in enumerate(actions, 1):
        story = tell_batch(SLAHAL, story, n, referee.decide(story, JudgeAction(float(n), action)))
    return story


def test_an_action_is_done_with_the_words_called_for_it(referee):
    story = blank(SLAHAL)
    assert (story.phase, story.hide, story.mark, story.armed) == ("play", 0, 0, False)
    story = played(referee, DUEL)
    assert (story.phase, story.calls, story.mark) == ("play", (), 1)
    assert referee.decide(story, JudgeAction(2.0, MISS)) == [Done(2.0, MISS, ("miss",), "judge")]
    story = played(referee, DUEL, MISS)
    assert (story.calls, story.mark) == (("miss",), 2)
    assert SLAHAL.sheet(story.state)["sticks"] == {"A": 8, "B": 3}


def test_the_last_action_ends_the_game_and_nothing_follows(referee):
    story = played(referee, DUEL, MISS, {"do": "time"})
    assert story.phase == "over"
    with pytest.raises(IllegalActionError):
        referee.decide(story, JudgeAction(4.0, {"do": "rehide"}))
    assert referee.decide(story, JudgeUndo(4.0, "a minute left")) == [Undone(4.0, 3, "judge", "a minute left")]


def test_words_are_those_of_the_last_action_only(referee):
    assert played(referee, DUEL, MISS, {"do": "rehide"}).calls == ()


@pytest.mark.parametrize(
    ("call", "error", "what"),
    [
        (JudgeAction(1.0, {"do": "hit", "found": True}), InvalidActionError, "hit"),
        (JudgeAction(1.0, MISS), IllegalActionError, "nobody has the bones"),
        (JudgeUndo(1.0), IllegalActionError, "nothing to take back"),
        (JudgeAnswer(1.0, "play_on"), IllegalActionError, "nothing is asked"),
        (JudgeHideAgain(1.0), IllegalActionError, "no hide"),
    ],
)
def test_what_the_judge_cannot_say(referee, call, error, what):
    with pytest.raises(error, match=what):
        referee.decide(blank(SLAHAL), call)


def test_what_the_mat_feels_means_nothing(referee):
    story = played(referee, DUEL)
    felt = [HandIn(1.0, 1), HandOut(1.0, 1), Beads(1.0, (Bead(3),)), Strike(1.0, (2,)), Blind(0.0, 1.0)]
    felt += [Button(1.0, name) for name in ("toss_a", "toss_b", "ready", "shown")]
    assert [referee.decide(story, event) for event in felt] == [[]] * len(felt)
    for event in felt:
        referee.sense(event)
    assert referee.catch_up(story, 9.0, "stood still") == []
    assert referee.tick(story, 1e9) == []
    assert referee.due(story) is None
    assert tell(SLAHAL, story, Shown(2.0)) == story


def test_the_board_comes_and_goes(referee):
    story = played(referee, DUEL)
    (up,) = referee.decide(story, Link(2.0, up=True))
    assert up == LinkSeen(2.0, up=True)
    story = tell_batch(SLAHAL, story, 2, [up])
    assert (story.link, story.mark, story.phase) == (True, 1, "play")
    assert referee.decide(story, Link(3.0, up=True)) == []
    (down,) = referee.decide(story, Link(4.0, up=False, why="unplugged"))
    story = tell_batch(SLAHAL, story, 3, [down])
    assert (story.link, story.link_why) == (False, "unplugged")
    assert referee.decide(story, Link(5.0, up=False, why="unplugged")) == []
    assert referee.decide(story, Link(5.0, up=False, why="no such device")) != []


def test_a_restart_and_a_standstill_lose_the_board_only(referee):
    story = tell(SLAHAL, played(referee, DUEL), LinkSeen(2.0, up=True))
    assert referee.resume(story, 3.0) == [LinkSeen(3.0, up=False, why="the controller restarted")]
    assert referee.resume(played(referee, DUEL), 3.0) == []
    referee.sense(Link(4.0, up=False, why="unplugged"))
    assert referee.catch_up(story, 5.0, "the disk was full") == [LinkSeen(5.0, up=False, why="the disk was full")]
    assert referee.catch_up(story, 6.0, "the disk was full") == []
