"""What the scenarios do not tell: clocks, settings, what is passed over, and a game's last point."""

import pytest
from msgspec import UNSET

from pi_controller.errors import MatError, SettingsError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee.facts import (
    ActionPlayed,
    BeadShown,
    Commit,
    CommitmentWithdrawn,
    FoulSeen,
    HandsUnder,
    HideAgain,
    JudgedByEye,
    MatchGiven,
    MatchVoid,
    Notice,
    Question,
    QuestionWithdrawn,
    Ready,
    Reveal,
    RoundBroken,
    SensorsUsed,
    StrikeFelt,
    StrikeKept,
    Undone,
    VoidClosed,
)
from pi_controller.referee.history import Draft
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeAnswer,
    JudgeClose,
    JudgeCloseVoid,
    JudgeHidden,
    JudgeHideAgain,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.registry import game
from pi_controller.sensing.events import (
    HUM,
    Bead,
    BeadsAtRest,
    Button,
    HandIn,
    HandOut,
    Link,
    SensorFault,
    SensorFaultsChange,
    Strike,
)
from pi_controller.table.view import FoulCost, view_of


class Seat:
    """A referee with its story, without a journal."""

    def __init__(self, settings=None, **options):
        self.game = game("dakota", options)
        self.referee = DakotaReferee(self.game, settings, bytes)
        self.story = blank(self.game)
        self.t = 0.0
        self.batch = 0

    def __call__(self, event):
        return self.take(list(self.referee.decide(self.draft, event).facts))

    @property
    def draft(self):
        return Draft(self.batch + 1, self.story)

    def take(self, facts):
        self.batch += 1
        self.story = apply_batch(self.game, self.story, self.batch, facts)
        return facts

    def hide(self, pad, t=0.0):
        if self.story.phase == "show":
            self(BeadsAtRest(t, ()))
        self.pass_under(1, 2, 3, 4, t=t, side="hider")
        self(BeadsAtRest(t, (Bead(pad),)))
        self(Button(t, "ready"))

    def pass_under(self, *pads, t=1.0, side=UNSET):
        for pad in pads:
            self(HandIn(t, pad, side))
            self(HandOut(t, pad, side))

    def tick(self, t):
        return self.take(list(self.referee.tick(self.draft, t).facts))


def tossed(settings=None, *, link=False, hid=None, t=0.0, **options):
    """Return a seat after the toss; with its `link` up, and with the bead hidden under the pad `hid` at `t`."""
    seat = Seat(settings, **options)
    if link:
        seat(Link(0.0, up=True))
    seat(Button(0, "toss_a"))
    if hid:
        seat.hide(hid, t)
    return seat


def test_meaningless_events_are_ignored():
    seat = Seat()
    seat(Link(0.0, up=True))
    for event in [
        Strike(1, (1,)),
        Button(1, "ready"),
        Button(1, "shown"),
        BeadsAtRest(1, ()),
        HandIn(1, 2),
        HandOut(1, 2),
    ]:
        assert seat(event) == []
    seat(Button(2, "toss_a"))
    for event in [Button(3, "toss_b"), Button(3, "shown"), BeadsAtRest(3, (Bead(2),)), Button(3, "dance")]:
        assert seat(event) == []
    seat(HandIn(4, 2))
    assert seat(Strike(4, (1,))) == []  # it may be the hand


def test_last_point_ends_game_and_reveals_bead():
    seat = tossed(points=1)
    for n in range(14):
        seat(JudgeAction(n - 20, {"do": "hit", "found": False}))
    assert seat.story.state.situation == "sahdogan"
    seat.hide(2)
    facts = seat(Strike(5, (1,)))
    assert [type(fact) for fact in facts[1:]] == [ActionPlayed, Reveal]
    assert seat.story.phase == "over"
    assert seat.story.state.owed is None
    assert not seat.story.strike_expected
    assert seat(Strike(6, (2,))) == []
    assert seat(BeadsAtRest(6, ())) == []
    # a foul in the hide just settled opens it again
    seat(JudgeAction(7, {"do": "foul", "by": "hider", "kind": "bead_showing", "hide": "last"}))
    assert seat.story.phase == "show"
    assert seat.game.sheet(seat.story.state)["winner"] is None


@pytest.mark.parametrize(("why", "dead"), [("silent", (3,)), (HUM, ())])
def test_hummed_pad_feels_hits_dead_one_not(why, dead):
    seat = Seat()
    seat(Link(0.0, up=True))
    seat(SensorFaultsChange(1.0, (SensorFault("disc", 3, why),)))
    assert seat.story.dead_pads == dead


def ask_about_hitters_hand(seat, t):
    """Begin a hide in which a hitter's hand goes under a pad; return the last fact."""
    if seat.story.phase == "show":
        seat(BeadsAtRest(t, ()))
    return seat(HandIn(t, 2, "hitter"))[-1]


def answer_hitters_hands(seat, *answers):
    """Answer the question so in as many hides, and let each hide be settled."""
    for n, answer in enumerate(answers, 1):
        assert ask_about_hitters_hand(seat, 10.0 * n).about == "hitters_hand"
        seat(JudgeAnswer(10.0 * n + 1, answer))
        seat(HandOut(10.0 * n + 2, 2, "hitter"))
        seat.hide(2, 10.0 * n + 4)
        seat(JudgeAction(10.0 * n + 5, {"do": "hit", "found": True}))


def test_question_waved_on_three_times_is_not_asked():
    seat = Seat()
    seat(Button(0, "toss_a"))
    answer_hitters_hands(seat, "play_on", "play_on", "play_on")
    assert ask_about_hitters_hand(seat, 50.0) == Notice(50.0, "waved_on", (2,))
    assert seat.story.question is None


def test_question_answered_otherwise_between_is_asked():
    seat = Seat()
    seat(Button(0, "toss_a"))
    answer_hitters_hands(seat, "play_on", "play_on", "hide_again", "play_on")
    assert ask_about_hitters_hand(seat, 50.0).about == "hitters_hand"


def test_point_within_hide_does_not_settle_it():
    seat = tossed()
    for n in range(14):
        seat(JudgeAction(n - 20, {"do": "hit", "found": False}))
    seat.hide(2)
    (_, done) = seat(Strike(5, (1,)))
    assert "obojun" in done.calls
    assert seat.story.strike_expected
    assert seat.story.state.owed == "second"
    assert isinstance(seat(Strike(6, (2,)))[-1], Reveal)


def test_foul_on_last_hide_restarts_current_one():
    seat = tossed()
    seat(JudgeAction(1, {"do": "hit", "found": False}))
    seat(JudgeAction(2, {"do": "hit", "found": False}))
    seat.hide(2)
    assert seat.story.hide.seal.commit
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"}))
    assert [type(fact) for fact in facts] == [FoulSeen, ActionPlayed, CommitmentWithdrawn, HideAgain]
    assert (seat.story.phase, seat.story.hide.hiding_passes, seat.story.hide.seal.commit) == ("hide", (), None)


def test_warning_does_not_settle_hide():
    seat = tossed(outside_help_by_hitter="warning", hid=2)
    before = seat.story
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hitter", "kind": "outside_help"}))
    assert [type(fact) for fact in facts] == [FoulSeen, ActionPlayed]
    assert (seat.story.phase, seat.story.hide.seal.commit, seat.story.state) == (
        "hit",
        before.hide.seal.commit,
        before.state,
    )


def test_outside_help_by_the_hitter_settles_the_hide():
    seat = tossed(hid=2)
    facts = seat(JudgeAction(7, {"do": "foul", "by": "hitter", "kind": "outside_help"}))
    assert [type(fact) for fact in facts] == [FoulSeen, ActionPlayed, Reveal]
    assert seat.story.phase == "show"
    assert seat.story.hide.foul == "outside_help"


def test_hit_clock_runs_while_hit_is_owed():
    seat = tossed(RefereeSettings(hit_seconds=30), hid=2, t=10.0)
    assert seat.referee.next_deadline(seat.story) == 41.5  # a stroke up to 1.5 s late is a question first
    assert seat.tick(41.4) == []
    foul, done = seat.tick(41.5)
    assert (foul.foul, foul.by, done.by) == ("time", "hitter", "clock")
    assert seat.story.state.owed == "second"
    assert seat.tick(72.9) == []
    assert isinstance(seat.tick(73.1)[-1], Reveal)
    assert seat.referee.next_deadline(seat.story) is None


def test_a_question_stops_the_time():
    seat = tossed(RefereeSettings(hit_seconds=30), hid=2, t=10.0)
    seat(Strike(20.0, (1, 2)))
    assert seat.tick(500.0) == []
    seat(JudgeAnswer(500.0, "none"))
    assert seat.referee.next_deadline(seat.story) == 521.5
    assert seat.tick(521.4) == []
    assert seat.tick(521.5)


def test_foul_on_last_hide_can_end_game():
    seat = tossed(points=1)
    for n in range(12):
        seat(JudgeAction(n - 20, {"do": "hit", "found": False}))
    seat(JudgeAction(2, {"do": "hit", "found": True}))
    seat.hide(2, t=10.0)
    facts = seat(JudgeAction(20, {"do": "foul", "by": "hitter", "kind": "outside_help", "hide": "last"}))
    assert not [fact for fact in facts if isinstance(fact, HideAgain)]
    assert (seat.story.phase, seat.story.state.winner) == ("over", "A")


@pytest.mark.parametrize("mode", ["ask", "off"])
def test_time_foul_is_asked_or_off(mode):
    seat = tossed(RefereeSettings(hit_seconds=30, fouls={"time": mode}), hid=2, t=10.0)
    facts = seat.tick(42.0)
    if mode == "off":
        assert facts == []
        return
    assert [(type(fact), fact.foul) for fact in facts] == [(Question, "time")]
    seat(JudgeAnswer(43.0, "play_on"))
    assert seat.tick(100.0) == []


def test_an_unsure_reading_is_asked_about():
    seat = tossed(link=True)
    seat.pass_under(1, 2, 3, 4)
    seat(Button(2, "ready"))
    (asked,) = seat(BeadsAtRest(3, (Bead(2),), sure=False))
    assert (asked.about, asked.choices, asked.pads) == ("no_reading", ("play_on", "hide_again"), ())
    # a reading that is sure comes while the judge thinks: nobody need answer
    assert [type(fact) for fact in seat(BeadsAtRest(3.5, (Bead(2),)))] == [QuestionWithdrawn, Commit]
    with pytest.raises(IllegalActionError, match="there is no open question"):
        seat(JudgeAnswer(4, "play_on"))


def test_hand_staying_under_pad_is_asked_after_timeout():
    seat = tossed(RefereeSettings(check_timeout_s=3))
    seat(HandIn(1, 1))
    seat(Button(2, "ready"))
    assert seat.tick(4.9) == []
    assert [fact.about for fact in seat.tick(5.0)] == ["no_reading"]


def test_refused_calls_leave_story_unchanged():
    seat = tossed(hid=2)
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


def test_strikes_are_reported_from_ready_on():
    seat = tossed()
    assert not seat.referee.strike_reporting(seat.story)
    seat.pass_under(1, 2, 3, 4)
    assert not seat.referee.strike_reporting(seat.story)
    seat(Button(2, "ready"))
    assert seat.story.phase == "check"
    assert seat.referee.strike_reporting(seat.story)
    seat(HandIn(2, 2))
    assert not seat.referee.strike_reporting(seat.story)  # the hand would be felt as a stroke
    seat(HandOut(3, 2))
    seat(JudgeAnswer(3, "play_on"))
    seat(BeadsAtRest(4, (Bead(2),)))
    assert seat.story.phase == "hit"
    assert seat.referee.strike_reporting(seat.story)


def test_ready_needs_a_hand_that_hid():
    seat = tossed(link=True)
    seat.pass_under(2)
    assert [type(fact) for fact in seat(Button(2, "ready"))] == [Ready]
    seat(JudgeAction(3, {"do": "hit", "found": True, "pad": 2}))
    seat(HandIn(4, 2))
    seat(HandOut(4, 2))  # it fetched the bead
    assert [(type(fact), fact.about) for fact in seat(Button(5, "ready"))] == [(Notice, "nobody_hid")]
    seat(HandIn(6, 1))
    assert [type(fact) for fact in seat(Button(7, "ready"))] == [Ready]


def test_hands_after_a_called_foul_are_dropped():
    seat = tossed(link=True)
    seat.pass_under(1, 2, 3, side="hider")
    seat(Button(2, "ready_a"))
    assert [type(fact) for fact in seat.tick(5)] == [FoulSeen, ActionPlayed, RoundBroken]
    assert [type(fact) for fact in seat(Button(6, "ready"))] == [Notice]  # without a pass there is none to drop
    seat.pass_under(4, 1, t=7, side="hider")  # those who were told off go on hiding
    facts = seat(Button(8, "ready"))
    assert [type(fact) for fact in facts] == [RoundBroken]
    assert (seat.story.hide.passes, seat.story.notice.about) == ((), "foul_settled")


def test_empty_mat_shows_the_bead_the_judge_saw():
    seat = tossed()
    seat(JudgeAction(1, {"do": "hit", "found": True}))  # the mat has seen no bead yet
    assert [type(fact) for fact in seat(BeadsAtRest(2, ()))] == [BeadShown]


def test_judge_hidden_is_refused_outside_hide():
    seat = Seat()
    with pytest.raises(IllegalActionError, match="no hide is in progress"):
        seat(JudgeHidden(0))
    seat(Button(0, "toss_a"))
    assert [type(fact) for fact in seat(JudgeHidden(1))] == [Ready, JudgedByEye]
    with pytest.raises(IllegalActionError, match="no hide is in progress"):
        seat(JudgeHidden(2))
    seat(JudgeAction(3, {"do": "hit", "found": True}))
    assert [type(fact) for fact in seat(JudgeHidden(4))] == [BeadShown, Ready, JudgedByEye]
    seat(JudgeAction(5, {"do": "hit", "found": True}))
    seat.pass_under(3, t=6)
    assert [type(fact) for fact in seat(JudgeHidden(7))] == [Ready, JudgedByEye]
    assert [each.pad for each in seat.story.hide.passes] == [3]


def test_stroke_takes_back_time_if_made_in_it():
    seat = tossed(RefereeSettings(hit_seconds=30), hid=2, t=10.0)
    seat.tick(41.5)
    assert seat.story.state.owed == "second"
    for late_news, taken_back in [
        (Strike(41.4, (1,)), True),
        (Strike(41.4, (1,), sure=False), True),
        (Strike(41.4, ()), False),
        (Strike(9.9, (1,)), False),
        (Strike(41.5, (1,)), False),
    ]:
        facts = seat.referee.decide(seat.draft, late_news, 41.6).facts
        assert any(isinstance(fact, Undone) for fact in facts) == taken_back, late_news


@pytest.mark.parametrize(("side", "stops"), [("hider", True), (None, True), ("hitter", False)])
def test_hand_under_pad_stops_clock_unless_the_hitters(side, stops):
    seat = tossed(RefereeSettings(hit_seconds=30), hid=2, t=10.0)
    facts = seat(HandIn(12.0, 2, side))
    assert [fact.on for fact in facts if isinstance(fact, HandsUnder)] == [True] * stops


@pytest.mark.parametrize(("pads", "about"), [((1, 3), "two_struck"), ((1, 2, 3), "several_struck")])
def test_pads_struck_at_once_are_asked_about(pads, about):
    seat = tossed(hid=2)
    assert seat(Strike(1, pads))[-1].about == about


def test_stroke_made_before_the_peek_is_settled_first():
    seat = tossed(hid=2)
    assert [fact.about for fact in seat(HandIn(1.2, 3, "hitter"))] == ["peek"]
    facts = seat(Strike(1.0, (3,)))
    assert [type(fact) for fact in facts if isinstance(fact, QuestionWithdrawn | ActionPlayed)] == [
        QuestionWithdrawn,
        ActionPlayed,
    ]
    assert [fact.about for fact in seat(HandIn(3.2, 4, "hitter"))] == ["peek"]
    assert [type(fact) for fact in seat(Strike(3.4, (4,)))] == [StrikeKept]


def test_stroke_within_the_time_is_no_late_one():
    seat = tossed(RefereeSettings(hit_seconds=30), hid=2, t=20.0)
    assert isinstance(seat(Strike(50.0, (1,)))[-1], ActionPlayed)
    assert seat(Strike(80.1, (3,)))[-1].about == "late_hit"


@pytest.mark.parametrize(
    ("mode", "about"), [("automatic", "doubtful"), ("ask", "doubtful"), ("off", "touch_passed_over")]
)
def test_doubtful_touch_is_asked_or_passed_over(mode, about):
    seat = tossed(RefereeSettings(fouls={"touch": mode}), hid=2)
    assert seat(Strike(1, (3,), sure=False))[-1].about == about


def test_unsure_reading_raises_no_bead_moved_question():
    seat = tossed(hid=2)
    assert seat(BeadsAtRest(1, (Bead(3),), sure=False)) == []
    assert [fact.about for fact in seat(BeadsAtRest(2, (Bead(3),)))] == ["bead_moved"]


def test_bead_seen_after_judge_hidden_is_sealed():
    seat = tossed()
    seat(JudgeHidden(1))
    assert [type(fact) for fact in seat(BeadsAtRest(2, (Bead(3),)))] == [Commit]


@pytest.mark.parametrize(("hit", "again"), [(False, ("hide_again",)), (True, ())])
def test_second_seal_is_the_judges_after_a_restart(hit, again):
    seat = tossed(link=True, hid=2)
    if hit:
        seat(Strike(1, (1,)))
    seat.take(seat.referee.resume(seat.draft, 5.0).facts)
    seat(Link(6, up=True))
    (asked,) = seat(BeadsAtRest(7, (Bead(2),)))
    assert (asked.about, asked.choices) == ("sealed_again", ("play_on", *again, "by_eye"))


def test_sensors_off_after_ready_means_judged_by_eye():
    seat = tossed(link=True)
    seat.pass_under(2)
    seat(Button(2, "ready"))
    assert [type(fact) for fact in seat(JudgeSensors(3, on=False))] == [SensorsUsed, JudgedByEye]
    assert seat.story.phase == "hit"


def test_void_match_is_closed_without_a_winner():
    seat = Seat()
    with pytest.raises(IllegalActionError, match="the match counts"):
        seat(JudgeCloseVoid(0))
    seat.take([MatchGiven(0, "spring", "1", "order 1")])
    seat(Button(0, "toss_a"))
    seat.hide(2)
    seat.take([MatchVoid(1, "order 1", "recalled")])
    assert [type(fact) for fact in seat(JudgeCloseVoid(2))] == [CommitmentWithdrawn, VoidClosed]
    assert (seat.story.phase, seat.game.sheet(seat.story.state)["winner"]) == ("over", None)
    with pytest.raises(IllegalActionError, match="over already"):
        seat(JudgeCloseVoid(3))


def test_impossible_call_is_refused_before_its_reason():
    seat = tossed()
    seat(JudgeClose(1, "A", "forfeit", "they left"))
    for call in (JudgeClose(2, "B", "forfeit", ""), JudgeSet(2, {"middle": 99}, "")):
        with pytest.raises(MatError) as refused:
            seat(call)
        assert "reason" not in refused.value.message


def test_undo_without_history_is_refused():
    with pytest.raises(IllegalActionError, match="nothing to undo"):
        Seat()(JudgeUndo(0))


def test_settings_name_every_fault():
    with pytest.raises(SettingsError) as error:
        RefereeSettings(fouls={"singing": "ask", "no_bead": "often"}, check_timeout_s=-1, hit_seconds=0)
    assert len(error.value.message.splitlines()) == 4


def test_ninth_stroke_during_a_question_is_dropped():
    seat = Seat()
    seat(Link(0.0, up=True))
    seat(JudgeAction(0.0, {"do": "toss", "winner": "A"}))
    seat.hide(1)
    assert [type(fact) for fact in seat(Strike(1.0, (2,), sure=False))][-1] is Question
    kept = [seat(Strike(2.0 + n, (3,))) for n in range(9)]
    assert [len(facts) for facts in kept] == [1] * 8 + [0]
    assert len(seat.story.hide.kept) == 8


def test_late_strike_stays_late_when_answered_later():
    seat = tossed(RefereeSettings(hit_seconds=30), link=True, hid=2, t=10.0)
    seat(Strike(41.0, (2,), sure=False))  # 31 s after the hide; the question stops the clock
    assert seat.story.question.about == "doubtful"
    seat(JudgeAnswer(70.0, "2"))
    assert seat.story.question.about == "late_hit"


def test_second_hit_entered_at_once_is_a_question():
    seat = tossed(link=True, hid=2, t=1.0)
    seat(Strike(5.0, (1,)))
    entered = {"do": "hit", "found": False, "pad": 3}
    (asked,) = seat(JudgeAction(5.2, entered))
    assert (asked.about, asked.choices, asked.pads) == ("one_stroke", ("missed", "none"), (3,))
    seat(JudgeAnswer(7.0, "none"))
    assert seat.story.state.owed == "second"
    assert [type(fact) for fact in seat(JudgeAction(8.0, entered))][:1] == [ActionPlayed]


@pytest.mark.parametrize("off", [JudgeSensors(0.0, on=False, reason="rain"), Link(0.0, up=False)])
def test_two_hits_at_once_are_allowed_without_sensors(off):
    seat = Seat()
    seat(off)
    seat(Button(0, "toss_a"))
    seat(JudgeHidden(1.0))
    for pad in (1, 2):
        seat(JudgeAction(5.0, {"do": "hit", "found": False, "pad": pad}))
    assert (seat.story.question, seat.story.phase) == (None, "show")


def test_hand_before_second_ready_does_not_withdraw_it():
    seat = tossed(link=True)
    for t, pad in enumerate((1, 2, 4), start=1):
        seat(HandIn(t, pad, "hider"))
        seat(HandOut(t + 0.5, pad, "hider"))
    seat(Button(4.0, "ready"))
    seat(Button(4.5, "ready"))
    assert seat(HandIn(4.2, 3, "hider")) == []  # reported late
    seat(HandOut(4.8, 3, "hider"))
    assert [type(fact) for fact in seat(BeadsAtRest(5.3, (Bead(3),)))] == [Commit]


def test_hit_time_is_stroke_time_not_answer_time():
    seat = tossed(link=True, hid=2, t=1.0)
    seat(Strike(5.0, (1,), sure=False))
    assert seat.story.question.about == "doubtful"
    seat(JudgeAnswer(9.0, "1"))
    assert seat.story.hide.hits[0].t == 5.0
    assert [type(fact) for fact in seat(Strike(9.3, (3,), margin_db=30.0))][:2] == [StrikeFelt, ActionPlayed]


def test_question_names_the_team_and_the_cost():
    seat = tossed(link=True)
    seat.pass_under(1, 2, side="hider")
    seat(Button(2, "ready"))
    seat.tick(6)
    view = view_of(seat.game, seat.story, 1)
    asked = view.question
    assert (asked.foul, asked.against, asked.pads) == ("pad_skipped", "A", (3, 4))
    assert asked.cost == FoulCost(to="B", sticks=4, point=False, hides="B")
