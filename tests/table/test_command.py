"""Commands of people who are signed in: journalled with who said what, once, and never of an old picture."""

import pytest

from pi_controller.errors import MatError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee.facts import ActionPlayed, CommandIssued, ProtestRuled, Undone
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeAnswer,
    JudgeClock,
    JudgeHidden,
    JudgeHideAgain,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeUndo,
)
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Command, StaleCommandError, Table, UsedKeyError


class Sitting:
    """A table and a judge; every word is a second later than the one before."""

    def __init__(self, journal, options=None, seconds=None):
        game = registry.game("dakota", options or {})
        self.journal, self.game = journal, game
        self.table = Table(
            journal, game, {"A": "A", "B": "B"}, DakotaReferee(game, RefereeSettings(hit_seconds=seconds), bytes)
        )
        self.t, self.said = 0.0, 0

    def now(self):
        self.t += 1.0
        return self.t

    def say(self, call, *args, key=None, expect=None, **kwargs):
        self.said += 1
        command = Command(call(self.now(), *args, **kwargs), "Ann", "judge", key or f"key {self.said}", expect)
        return self.table.command(command)

    def feel(self, event, *args, **kwargs):
        self.table.mat_event(event(self.now(), *args, **kwargs))

    def hide(self, place):
        for pad in (1, 2, 3, 4):
            self.feel(HandIn, pad)
            self.feel(HandOut, pad)
        self.feel(BeadsAtRest, (Bead(place),))
        self.feel(Button, "ready")

    def facts(self, kind):
        return [fact for _, fact in self.journal.read() if isinstance(fact, kind)]


@pytest.fixture
def sitting(memory_journal):
    made = Sitting(memory_journal())
    made.say(JudgeAction, {"do": "toss", "winner": "A"})
    return made


def test_command_is_journalled_with_its_actor(sitting):
    (called,) = sitting.facts(CommandIssued)
    assert (called.actor, called.role, called.call, called.key) == ("Ann", "judge", "action", "key 1")


def test_repeated_command_counts_once_across_restart(sitting):
    sitting.say(JudgeAction, {"do": "hit", "found": False}, key="one")
    assert sitting.say(JudgeAction, {"do": "hit", "found": False}, key="one").repeated
    assert len(sitting.facts(ActionPlayed)) == 2
    again = Table(sitting.journal, sitting.game, {}, DakotaReferee(sitting.game, None, bytes), 100.0)
    assert again.command(Command(JudgeAction(101.0, {"do": "hit", "found": False}), "Ann", "judge", "one")).repeated
    assert again.story.state.owed == "second"


def test_two_judges_may_use_the_same_key(sitting):
    sitting.say(JudgeAction, {"do": "hit", "found": False}, key="one")
    told = sitting.table.command(Command(JudgeAction(9.0, {"do": "hit", "found": True}), "Bo", "judge", "one"))
    assert not told.repeated
    assert len(sitting.facts(ActionPlayed)) == 3


def test_another_call_under_the_same_key_is_refused(sitting):
    sitting.say(JudgeAction, {"do": "hit", "found": False}, key="one")
    again = Table(sitting.journal, sitting.game, {}, DakotaReferee(sitting.game, None, bytes), 100.0)
    seq = sitting.journal.seq
    for table in (sitting.table, again):
        for call in (JudgeAction(101.0, {"do": "hit", "found": True}), JudgeUndo(101.0)):
            with pytest.raises(UsedKeyError, match="another command"):
                table.command(Command(call, "Ann", "judge", "one"))
    assert sitting.journal.seq == seq


def test_stale_revision_is_refused(sitting):
    seen = sitting.table.view.revision
    sitting.say(JudgeAction, {"do": "hit", "found": False}, expect=seen)
    before = sitting.journal.seq
    with pytest.raises(StaleCommandError):
        sitting.say(JudgeAction, {"do": "hit", "found": True}, expect=seen)
    assert sitting.journal.seq == before
    sitting.say(JudgeUndo, expect=sitting.table.view.revision)
    assert sitting.table.view.revision not in (seen, 0), "undone is another picture than never done"


def test_hand_events_leave_the_revision_unchanged(sitting):
    sitting.feel(Link, up=True)
    seen = sitting.table.view.revision
    sitting.feel(HandIn, 1)
    sitting.feel(HandOut, 1)
    assert sitting.table.view.revision == seen


def test_replacement_can_be_replaced(sitting):
    for winner in "BAB":
        sitting.say(JudgeReplace, {"do": "toss", "winner": winner})
        assert sitting.table.view.sheet["hider"] == winner
    sitting.say(JudgeUndo)
    assert sitting.table.view.sheet["hider"] == "A", "what had been replaced counts again"


def test_replaced_at_once_or_not_at_all(sitting):
    sitting.say(JudgeAction, {"do": "hit", "found": False, "pad": 1})
    sitting.say(JudgeReplace, {"do": "hit", "found": True, "pad": 1}, "the bead fell out")
    assert (sitting.table.view.sheet["hider"], sitting.table.view.hits[0].found) == ("B", True)
    assert sitting.facts(Undone)[0].reason == "the bead fell out"
    before = sitting.journal.seq
    with pytest.raises(MatError):
        sitting.say(JudgeReplace, {"do": "hit", "found": 7}, "no action")
    assert sitting.journal.seq == before


def test_a_whole_hide_in_two_taps_without_sensors(sitting):
    sitting.say(JudgeHidden)
    assert sitting.table.view.phase == "hit"
    sitting.say(JudgeAction, {"do": "hit", "found": True})
    sitting.say(JudgeHidden)
    assert (sitting.table.view.phase, sitting.table.view.hide, sitting.table.view.sheet["hider"]) == ("hit", 2, "B")


def test_sensors_turn_off_and_on_during_hide(sitting):
    sitting.feel(Link, up=True)
    sitting.hide(2)
    assert sitting.table.view.commit
    sitting.say(JudgeSensors, on=False, reason="the drums")
    assert not sitting.table.view.commit
    assert not sitting.table.armed
    sitting.feel(Strike, (2,))
    assert sitting.table.view.hits == ()
    with pytest.raises(IllegalActionError):
        sitting.say(JudgeSensors, on=False)
    sitting.say(JudgeSensors, on=True)
    sitting.feel(BeadsAtRest, (Bead(2),))
    assert sitting.table.view.question.about == "sealed_again"
    sitting.say(JudgeAnswer, "play_on")
    sitting.feel(Strike, (2,))
    assert sitting.table.view.opening.pad == 2
    assert len(sitting.table.view.opening.withdrawn) == 1


def test_protest_halts_play_until_decided(sitting):
    sitting.feel(Link, up=True)
    sitting.hide(2)
    sitting.say(JudgeProtest, "B", "his sleeve")
    view = sitting.table.view
    assert (view.held, view.protest, sitting.table.armed) == (True, "B", False)
    assert "sleeve" not in repr(view), "the words are for the judges"
    sitting.feel(Strike, (2,))
    with pytest.raises(IllegalActionError):
        sitting.say(JudgeAction, {"do": "hit", "found": True})
    with pytest.raises(InvalidActionError):
        sitting.say(JudgeRuling, "denied", "  ")
    sitting.say(JudgeRuling, "play_on", "decided after the game")
    assert (sitting.table.view.held, sitting.table.view.protest) == (False, "B")
    sitting.feel(BeadsAtRest, (Bead(2),))
    assert sitting.table.view.question.about == "struck_meanwhile"
    sitting.say(JudgeAnswer, "2")
    assert sitting.table.view.hits[0].found
    sitting.say(JudgeUndo)
    sitting.say(JudgeRuling, "denied", "it was in sight")
    assert sitting.table.view.protest == ""
    assert [fact.ruling for fact in sitting.facts(ProtestRuled)] == ["play_on", "denied"]


def test_an_undo_leaves_the_protest_and_the_clock(sitting):
    sitting.say(JudgeAction, {"do": "hit", "found": False})
    sitting.say(JudgeClock, running=False)
    sitting.say(JudgeProtest, "A", "")
    sitting.say(JudgeUndo)
    assert (sitting.table.view.protest, sitting.table.view.paused is None) == ("A", False)


def test_a_stopped_clock_calls_no_time(memory_journal):
    sitting = Sitting(memory_journal(), {"hit_seconds": "30"}, 30.0)
    sitting.say(JudgeAction, {"do": "toss", "winner": "A"})
    sitting.say(JudgeHidden)
    assert sitting.table.view.limit == 30.0
    began = sitting.table.view.since
    sitting.t += 20.0
    sitting.say(JudgeClock, running=False)
    sitting.t += 1000.0
    sitting.table.tick(sitting.t)
    sitting.say(JudgeClock, running=True)
    assert sitting.table.view.since == pytest.approx(began + 1001.0)
    sitting.t += 7.0
    sitting.table.tick(sitting.t)
    assert not [fact for fact in sitting.facts(ActionPlayed) if fact.by == "clock"]
    sitting.t += 4.0
    sitting.table.tick(sitting.t)
    (late,) = [fact for fact in sitting.facts(ActionPlayed) if fact.by == "clock"]
    assert late.action["kind"] == "time"


def test_a_replacement_that_is_refused_leaves_the_seal(sitting):
    sitting.feel(Link, up=True)
    sitting.feel(HandIn, 1)
    sitting.say(JudgeHideAgain)
    sitting.hide(2)
    seal = sitting.table.view.commit
    assert seal
    with pytest.raises(InvalidActionError):
        sitting.say(JudgeReplace, {"do": "hit", "found": 7})
    sitting.feel(Link, up=True, why="still there")
    assert sitting.table.view.commit == seal
