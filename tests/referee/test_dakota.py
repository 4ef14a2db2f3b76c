"""What the scenarios do not tell: clocks, settings, what is passed over, and a game's last point."""

import pytest

from pi_controller.errors import SettingsError
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.registry import game
from pi_controller.mat.events import Bead, Beads, Button, HandIn, HandOut, Link, Strike
from pi_controller.referee.dakota import DakotaReferee
from pi_controller.referee.facts import Commit, Done, FoulSeen, HideAgain, Question, Reveal, Void, Withdrawn
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.referee.settings import RefereeSettings


class Seat:
    """A referee with its story, without a journal."""

    def __init__(self, settings=None, **options):
        self.game = game("dakota", options)
        self.referee = DakotaReferee(self.game, settings, bytes)
        self.story = blank(self.game)
        self.t = 0.0
        self.batch = 0

    def __call__(self, event):
        return self.take(self.referee.decide(self.story, event))

    def take(self, facts):
        self.batch += 1
        self.story = apply_batch(self.game, self.story, self.batch, facts)
        return facts

    def hide(self, pad, t=0.0):
        if self.story.phase == "show":
            self(Button(t, "shown"))
        for p in (1, 2, 3, 4):
            self(HandIn(t, p))
            self(HandOut(t, p))
        self(Beads(t, (Bead(pad),)))
        self(Button(t, "ready"))

    def tick(self, t):
        return self.take(self.referee.tick(self.story, t))


def test_strokes_buttons_and_readings_that_mean_nothing_are_passed_over():
    seat = Seat()
    seat(Link(0.0, up=True))
    for event in [Strike(1, (1,)), Button(1, "ready"), Button(1, "shown"), Beads(1, ()), HandIn(1, 2), HandOut(1, 2)]:
        assert seat(event) == []
    seat(Button(2, "toss_a"))
    for event in [Button(3, "toss_b"), Button(3, "shown"), Beads(3, (Bead(2),)), Button(3, "dance")]:
        assert seat(event) == []
    seat(HandIn(4, 2))
    assert seat(Strike(4, (1,))) == []  # it may be the hand


def test_the_last_point_ends_the_game_with_the_hit_and_opens_the_bead():
    seat = Seat(points=1)
    seat(Button(0, "toss_a"))
    for _ in range(14):
        seat(JudgeAction(1, {"do": "hit", "found": False}))
    assert seat.story.state.situation == "sahdogan"
    seat.hide(2)
    facts = seat(Strike(5, (1,)))
    assert [type(fact) for fact in facts[1:]] == [Done, Reveal]
    assert seat.story.phase == "over"
    assert seat.story.state.owed is None
    assert not seat.story.armed
    assert seat(Strike(6, (2,))) == []
    assert seat(Beads(6, ())) == []
    # a foul in the hide just settled opens it again
    seat(JudgeAction(7, {"do": "foul", "by": "hider", "kind": "bead_showing", "hide": "last"}))
    assert seat.story.phase == "show"
    assert seat.game.sheet(seat.story.state)["winner"] is None


def test_a_point_in_the_middle_of_a_hide_does_not_settle_it():
    seat = Seat()
    seat(Button(0, "toss_a"))
    for _ in range(14):
        seat(JudgeAction(1, {"do": "hit", "found": False}))
    seat.hide(2)
    (_, done) = seat(Strike(5, (1,)))
    assert "obojun" in done.calls
    assert seat.story.armed
    assert seat.story.state.owed == "second"
    assert isinstance(seat(Strike(6, (2,)))[-1], Reveal)


def test_the_foul_of_the_last_hide_starts_this_one_over():
    seat = Seat()
    seat(Button(0, "toss_a"))
    seat(JudgeAction(1, {"do": "hit", "found": False}))
    seat(JudgeAction(1, {"do": "hit", "found": False}))
    seat.hide(2)
    assert seat.story.hide.commit
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"}))
    assert [type(fact) for fact in facts] == [FoulSeen, Done, Void, HideAgain]
    assert (seat.story.phase, seat.story.hide.passes, seat.story.hide.commit) == ("hide", (), None)


def test_a_warning_settles_nothing():
    seat = Seat(outside_help_by_hitter="warning")
    seat(Button(0, "toss_a"))
    seat.hide(2)
    before = seat.story
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hitter", "kind": "outside_help"}))
    assert [type(fact) for fact in facts] == [FoulSeen, Done]
    assert (seat.story.phase, seat.story.hide.commit, seat.story.state) == ("hit", before.hide.commit, before.state)


def test_outside_help_by_the_hitter_settles_the_hide():
    seat = Seat()
    seat(Button(0, "toss_a"))
    seat.hide(2)
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hitter", "kind": "outside_help"}))
    assert [type(fact) for fact in facts] == [FoulSeen, Done, Reveal]
    assert seat.story.phase == "show"
    assert seat.story.hide.foul == "outside_help"


def test_the_time_for_a_hit_runs_while_one_is_owed():
    seat = Seat(RefereeSettings(hit_seconds=30))
    seat(Button(0, "toss_a"))
    seat.hide(2, t=10.0)
    assert seat.referee.due(seat.story) == 40.0
    assert seat.tick(39.9) == []
    foul, done = seat.tick(40.0)
    assert (foul.foul, foul.by, done.by) == ("time", "hitter", "clock")
    assert seat.story.state.owed == "second"
    assert seat.tick(69.9) == []
    assert isinstance(seat.tick(70.1)[-1], Reveal)
    assert seat.referee.due(seat.story) is None


def test_a_question_stops_the_time():
    seat = Seat(RefereeSettings(hit_seconds=30))
    seat(Button(0, "toss_a"))
    seat.hide(2, t=10.0)
    seat(Strike(20.0, (1, 2)))
    assert seat.tick(500.0) == []
    seat(JudgeAnswer(500.0, "none"))
    assert seat.referee.due(seat.story) == 520.0
    assert seat.tick(519.9) == []
    assert seat.tick(520.0)


def test_a_foul_in_the_hide_just_settled_can_end_the_game_while_the_next_is_hidden():
    seat = Seat(points=1)
    seat(Button(0, "toss_a"))
    for _ in range(12):
        seat(JudgeAction(1, {"do": "hit", "found": False}))
    seat(JudgeAction(2, {"do": "hit", "found": True}))
    seat.hide(2, t=10.0)
    facts = seat(JudgeAction(20, {"do": "foul", "by": "hitter", "kind": "outside_help", "hide": "last"}))
    assert not [fact for fact in facts if isinstance(fact, HideAgain)]
    assert (seat.story.phase, seat.story.state.winner) == ("over", "A")


@pytest.mark.parametrize("mode", ["ask", "off"])
def test_the_time_put_to_the_judge_or_left_alone(mode):
    seat = Seat(RefereeSettings(hit_seconds=30, fouls={"time": mode}))
    seat(Button(0, "toss_a"))
    seat.hide(2, t=10.0)
    facts = seat.tick(41.0)
    if mode == "off":
        assert facts == []
        return
    assert [(type(fact), fact.foul) for fact in facts] == [(Question, "time")]
    seat(JudgeAnswer(42.0, "play_on"))
    assert seat.tick(100.0) == []


def test_an_unsure_reading_is_asked_about():
    seat = Seat()
    seat(Link(0.0, up=True))
    seat(Button(0, "toss_a"))
    for p in (1, 2, 3, 4):
        seat(HandIn(1, p))
        seat(HandOut(1, p))
    seat(Button(2, "ready"))
    (asked,) = seat(Beads(3, (Bead(2),), sure=False))
    assert (asked.about, asked.choices, asked.pads) == ("no_reading", ("play_on", "hide_again"), ())
    # a reading that is sure comes while the judge thinks: nobody need answer
    assert [type(fact) for fact in seat(Beads(3.5, (Bead(2),)))] == [Withdrawn, Commit]
    with pytest.raises(IllegalActionError, match="nothing is asked"):
        seat(JudgeAnswer(4, "play_on"))


def test_a_hand_that_stays_under_a_pad_is_asked_about_in_the_end():
    seat = Seat(RefereeSettings(check_timeout_s=3))
    seat(Button(0, "toss_a"))
    seat(HandIn(1, 1))
    seat(Button(2, "ready"))
    assert seat.tick(4.9) == []
    assert [fact.about for fact in seat.tick(5.0)] == ["no_reading"]


def test_refused_calls_change_nothing():
    seat = Seat()
    seat(Button(0, "toss_a"))
    seat.hide(2)
    seat(Strike(1, (1,)))
    story = seat.story
    for call, error in [
        (JudgeHideAgain(2), IllegalActionError),
        (JudgeAnswer(2, "none"), IllegalActionError),
        (JudgeAction(2, {"do": "toss", "winner": "A"}), IllegalActionError),
        (JudgeAction(2, {"do": "hit", "found": True, "pad": 1}), IllegalActionError),
        (JudgeAction(2, {"do": "hit", "found": True, "pad": 7}), InvalidActionError),
        (JudgeAction(2, {"do": "fly"}), InvalidActionError),
    ]:
        with pytest.raises(error):
            seat(call)
        assert seat.story == story
    seat(Strike(3, (3, 4)))
    with pytest.raises(InvalidActionError, match="two_struck"):
        seat(JudgeAnswer(3, "1"))
    assert seat(JudgeAnswer(3, "3"))


def test_nothing_to_take_back():
    with pytest.raises(IllegalActionError, match="nothing to take back"):
        Seat()(JudgeUndo(0))


def test_settings_name_every_fault():
    with pytest.raises(SettingsError) as error:
        RefereeSettings(fouls={"singing": "ask", "no_bead": "often"}, check_timeout_s=-1, hit_seconds=0)
    assert len(error.value.what.splitlines()) == 4
