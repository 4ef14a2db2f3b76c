"""The referee of the Mille Lacs Moccasin game: four balls laid out, pads opened by the shooter, then one stroke.

DGR-13, rules 3 to 6 and 16 to 18: the shooter may open pads under which the marked ball should not be, and then strikes
the one where it is. The regulation names no fouls of the hiders: what lies wrong is put to the judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.mat.events import Beads, Button, HandIn, HandOut, MatEvent, Strike
from pi_controller.referee import calls, hits
from pi_controller.referee.facts import ByEye, Lifted, Question, Ready, Shown, Source, Withdrawn
from pi_controller.referee.keeper import Keeper

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.turn import Turn

PADS = [1, 2, 3, 4]
HAND_S = 0.15
"""A hand that goes under a pad is felt by the piezo disc up to so long before the touch strips tell of it."""


class OjibweReferee(Keeper):
    """One table's referee for `ojibwe`."""

    _stroke: Strike | None = None
    """A stroke that may still turn out to be the hand that opens the pad."""

    def _act(self, turn: Turn, call: JudgeAction) -> None:
        turn.game.play(turn.story.state, call.action)
        if turn.game.current(call.action).get("do") == "shoot" and turn.story.phase == "show":
            turn.add(Shown(turn.t))
        turn.play(call.action, "judge")

    def _answered(self, turn: Turn, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "none" | "no" | "by_eye":
                pass
            case _, "hide_again":
                calls.hide_anew(turn)
            case "ball_moved", "play_on":
                self._seal_again(turn)
            case _, "play_on":
                pass
            case "lifted", _:
                _open(turn, asked.pads[0])
            case "too_many", _:
                _opened(turn, asked.pads[0])
            case "opened", _:
                _shoot(turn, None, asked.pads[0], turn.by)
            case "ball", pad:
                _shoot(turn, asked.pads[0], int(pad), turn.by)
            case _, pad:
                _hit(turn, int(pad), turn.by)

    def _felt(self, turn: Turn, event: MatEvent) -> None:
        match event:
            case HandIn() | HandOut():
                self._hand(turn, event)
            case Beads(sure=sure, found=found):
                self._senses.reading = event
                if turn.story.phase == "show" and sure and not found:
                    turn.add(Shown(turn.t))
            case Button(name=name):
                _button(turn, name)
            case Strike() if turn.story.armed and self._stroke is None:
                if event.hand is None and not self._senses.hands.keys() & set(event.pads):  # else it was the hand
                    self._stroke = event
            case _:
                pass

    def _hand(self, turn: Turn, event: HandIn | HandOut) -> None:
        """A hand over the hitters' edge while the hit is due opens the pad; nobody else has a hand there then."""
        senses, story = self._senses, turn.story
        senses.moved()
        senses.wait(story, turn.t, afresh=True)
        if isinstance(event, HandOut):
            senses.hands.pop(event.pad, None)
            return
        senses.hands[event.pad] = True
        senses.handled = True
        asked = story.question
        if asked is not None and asked.about == "lifted" and asked.pads == (event.pad,) and event.sure:
            turn.add(Withdrawn(turn.t, "lifted", "pad_opened"))
            story = turn.story
        if self._stroke is not None and event.pad in self._stroke.pads:
            self._stroke = None  # not a stroke: the hand that goes under the pad
        if story.phase == "hit" and story.armed and event.side != "hider" and event.pad not in story.opened:
            if event.sure:
                _open(turn, event.pad)
            else:
                turn.add(Question(turn.t, "lifted", ("yes", "no"), (event.pad,)))

    def _look(self, turn: Turn) -> None:
        senses, story = self._senses, turn.story
        if self.settings.beads == "judge" and story.phase == "check" and not senses.hands:
            turn.add(ByEye(turn.t))
            return
        if story.phase == "hit" and hits.ask_of_dead_disc(turn):
            return
        reading = senses.reading
        if reading is None or senses.hands:
            return
        if story.phase == "check":
            marked = _well(reading)
            if marked is not None:
                turn.seal(marked)
            else:
                _ask_what_lies(turn, "balls" if reading.sure else "no_reading")
        elif story.phase == "hit" and reading.sure:
            # an opened pad's ball may be taken out: only the marked one has to stay
            marked, sealed = _marked(reading), turn.sealed
            hittable = marked in story.pads_open  # moved to a pad that lies open it is the judge's to look at
            if sealed is None:
                if marked is not None and hittable and not story.by_hand:
                    turn.seal_late(marked)
            elif marked is not None and sealed.found(marked):
                pass
            elif self.settings.mode("bead_moved") == "off":
                self._seal_again(turn)
            else:
                turn.add(Question(turn.t, "ball_moved", ("play_on", "hide_again")))

    def _seal_again(self, turn: Turn) -> None:
        """The moved ball may lie: the old commitment is withdrawn, and it is sealed where it can be struck now."""
        reading, sealed = self._senses.reading, turn.sealed
        marked = _marked(reading) if reading is not None else None
        if sealed is not None and marked is not None and sealed.found(marked):
            return
        turn.void("the marked ball moved")
        if marked in turn.story.pads_open:
            turn.seal(marked)

    def _limit(self, story: Story) -> float | None:
        return self.settings.check_timeout_s if story.phase == "check" else None

    def _due(self, story: Story) -> float | None:
        if not story.armed:
            self._stroke = None
        return self._stroke.t + HAND_S if self._stroke is not None else super()._due(story)

    def _tells(self, turn: Turn) -> bool:
        del turn
        reading = self._senses.reading
        return reading is not None and _well(reading) is not None

    def _in_place(self, turn: Turn) -> bool:
        sealed, reading = turn.sealed, self._senses.reading
        marked = _marked(reading) if reading is not None else None
        return sealed is not None and marked is not None and sealed.found(marked)

    def _overdue(self, turn: Turn) -> None:
        if self._stroke is None:
            _ask_what_lies(turn, "no_reading")
        else:
            stroke, self._stroke = self._stroke, None
            pad = hits.struck(turn, stroke, "opened_pad")
            if pad is not None:
                _hit(turn, pad, "sensor")


def _marked(reading: Beads) -> int | None:
    """Return the pad over the one marked ball, when a sure reading shows just one, on a pad."""
    marked = [ball.pad for ball in reading.found if ball.marked]
    return marked[0] if reading.sure and len(marked) == 1 else None


def _well(reading: Beads) -> int | None:
    """Return the pad over the marked ball where one ball lies under each pad (rules 3 and 4)."""
    return _marked(reading) if sorted(ball.pad or 0 for ball in reading.found) == PADS else None


def _ask_what_lies(turn: Turn, about: str) -> None:
    turn.add(Question(turn.t, about, ("play_on", "hide_again")))


def _button(turn: Turn, name: str) -> None:
    match name, turn.story.phase:
        case "toss_a" | "toss_b", "toss":
            turn.play({"do": "toss", "winner": name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            _ready(turn)
        case "shown", "show":
            turn.add(Shown(turn.t))
        case _:
            pass


def _ready(turn: Turn) -> None:
    """The hiders are ready, if a hand was under a pad since the last hide and the ball is not where all saw it."""
    senses, story = turn.senses, turn.story
    marked = _marked(senses.reading) if senses.reading is not None else None
    seen = story.phase == "show" and story.opening is not None and marked == story.opening.pad
    if not senses.hands and (senses.handled is False or (seen and senses.handled is not None)):
        turn.notice("nobody_hid")
    else:
        turn.add(Ready(turn.t))


def _open(turn: Turn, pad: int) -> None:
    """Open a pad (rule 16), or ask where it is one more than the rules allow: the shooter has seen what lay there."""
    if len(turn.story.opened) < _most(turn):
        _opened(turn, pad)
    elif "too_many" not in turn.story.waived:
        turn.add(Question(turn.t, "too_many", ("play_on", "counts", "hide_again"), (pad,)))


def _opened(turn: Turn, pad: int) -> None:
    """Count a pad as opened: the attempt is over where the marked ball lies under it."""
    sealed = turn.sealed
    turn.add(Lifted(turn.t, pad))
    if sealed is not None and sealed.found(pad):
        _shoot(turn, None, pad, "sensor")
    elif not turn.story.pads_open:  # the ball was under none of the others
        _shoot(turn, None, pad, turn.by)
    elif sealed is None:
        turn.add(Question(turn.t, "opened", ("yes", "no"), (pad,)))


def _hit(turn: Turn, pad: int, by: Source) -> None:
    """Strike a pad: what the hitters pay goes by where the ball lay, which the judge says where nothing is sealed."""
    sealed = turn.sealed
    if sealed is None:
        turn.add(Question(turn.t, "ball", tuple(map(str, turn.story.pads_open)), (pad,)))
    else:
        _shoot(turn, pad, sealed.open()[0], by)


def _shoot(turn: Turn, hit: int | None, ball: int, by: Source) -> None:
    """Settle the attempt. What is paid goes by the ball alone, so of pads opened beyond the rules the first are left
    out."""
    opened = list(turn.story.opened[-_most(turn) :])
    action: dict[str, Any] = {"do": "shoot", "opened": opened, "hit": hit, "ball": ball}
    turn.play(action, by)


def _most(turn: Turn) -> int:
    most = turn.game.settings["max_open"]
    assert isinstance(most, int)
    return most
