"""The referee of the Mille Lacs Moccasin game: four balls laid out, pads opened by the shooter, then one stroke.

DGR-13, rules 3 to 6 and 16 to 18: the shooter may open pads under which the marked ball should not be, and then strikes
the one where it is. The regulation names no fouls of the hiders: what lies wrong is put to the judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.mat.events import Beads, Button, HandIn, HandOut, MatEvent, Strike
from pi_controller.pads import EVERY_PAD
from pi_controller.referee import hits, judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import ByEye, Lifted, Question, Ready, Shown, Source, Withdrawn

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.transaction import Transaction

HAND_S = 0.15
"""A hand that goes under a pad is felt by the piezo disc up to so long before the touch strips tell of it."""


class OjibweReferee(Referee):
    """One table's referee for `ojibwe`."""

    _stroke: Strike | None = None
    """A stroke that may still turn out to be the hand that opens the pad."""

    def _act(self, tx: Transaction, call: JudgeAction) -> None:
        tx.game.play(tx.story.state, call.action)
        if tx.game.current(call.action).get("do") == "shoot" and tx.story.phase == "show":
            tx.add(Shown(tx.t))
        tx.play(call.action, "judge")

    def _answered(self, tx: Transaction, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "none" | "no" | "by_eye":
                pass
            case _, "hide_again":
                judge_commands.hide_anew(tx)
            case "ball_moved", "play_on":
                self._seal_again(tx)
            case _, "play_on":
                pass
            case "lifted", _:
                _open(tx, asked.pads[0])
            case "too_many", _:
                _opened(tx, asked.pads[0])
            case "opened", _:
                _shoot(tx, None, asked.pads[0], tx.by)
            case "ball", pad:
                _shoot(tx, asked.pads[0], int(pad), tx.by)
            case _, pad:
                _hit(tx, int(pad), tx.by)

    def _felt(self, tx: Transaction, event: MatEvent) -> None:
        match event:
            case HandIn() | HandOut():
                self._hand(tx, event)
            case Beads(sure=sure, found=found):
                self._private.reading = event
                if tx.story.phase == "show" and sure and not found:
                    tx.add(Shown(tx.t))
            case Button(name=name):
                _button(tx, name)
            case Strike() if tx.story.armed and self._stroke is None:
                if event.hand is None and not self._private.hands.keys() & set(event.pads):  # else it was the hand
                    self._stroke = event
            case _:
                pass

    def _hand(self, tx: Transaction, event: HandIn | HandOut) -> None:
        """A hand over the hitters' edge while the hit is due opens the pad; nobody else has a hand there then."""
        private, story = self._private, tx.story
        private.moved()
        private.wait(story, tx.t, afresh=True)
        if isinstance(event, HandOut):
            private.hands.pop(event.pad, None)
            return
        private.hands[event.pad] = True
        private.handled = True
        asked = story.question
        if asked is not None and asked.about == "lifted" and asked.pads == (event.pad,) and event.sure:
            tx.add(Withdrawn(tx.t, "lifted", "pad_opened"))
            story = tx.story
        if self._stroke is not None and event.pad in self._stroke.pads:
            self._stroke = None  # not a stroke: the hand that goes under the pad
        if story.phase == "hit" and story.armed and event.side != "hider" and event.pad not in story.hide.opened:
            if event.sure:
                _open(tx, event.pad)
            else:
                tx.add(Question(tx.t, "lifted", ("yes", "no"), (event.pad,)))

    def _look(self, tx: Transaction) -> None:
        private, story = self._private, tx.story
        if self.settings.beads == "judge" and story.phase == "check" and not private.hands:
            tx.add(ByEye(tx.t))
            return
        if story.phase == "hit" and hits.ask_of_dead_disc(tx):
            return
        reading = private.reading
        if reading is None or private.hands:
            return
        if story.phase == "check":
            marked = _well(reading)
            if marked is not None:
                tx.seal(marked)
            else:
                _ask_what_lies(tx, "balls" if reading.sure else "no_reading")
        elif story.phase == "hit" and reading.sure:
            # an opened pad's ball may be taken out: only the marked one has to stay
            marked, sealed = _marked(reading), tx.sealed
            hittable = marked in story.pads_open  # moved to a pad that lies open it is the judge's to look at
            if sealed is None:
                if marked is not None and hittable and not story.hide.by_hand:
                    tx.seal_late(marked)
            elif marked is not None and sealed.found(marked):
                pass
            elif self.settings.mode("bead_moved") == "off":
                self._seal_again(tx)
            else:
                tx.add(Question(tx.t, "ball_moved", ("play_on", "hide_again")))

    def _seal_again(self, tx: Transaction) -> None:
        """The moved ball may lie: the old commitment is withdrawn, and it is sealed where it can be struck now."""
        reading, sealed = self._private.reading, tx.sealed
        marked = _marked(reading) if reading is not None else None
        if sealed is not None and marked is not None and sealed.found(marked):
            return
        tx.void("the marked ball moved")
        if marked in tx.story.pads_open:
            tx.seal(marked)

    def _limit(self, story: Story) -> float | None:
        return self.settings.check_timeout_s if story.phase == "check" else None

    def _due(self, story: Story) -> float | None:
        if not story.armed:
            self._stroke = None
        return self._stroke.t + HAND_S if self._stroke is not None else super()._due(story)

    def _is_conclusive(self, tx: Transaction) -> bool:
        del tx
        reading = self._private.reading
        return reading is not None and _well(reading) is not None

    def _in_place(self, tx: Transaction) -> bool:
        sealed, reading = tx.sealed, self._private.reading
        marked = _marked(reading) if reading is not None else None
        return sealed is not None and marked is not None and sealed.found(marked)

    def _overdue(self, tx: Transaction) -> None:
        if self._stroke is None:
            _ask_what_lies(tx, "no_reading")
        else:
            stroke, self._stroke = self._stroke, None
            pad = hits.struck(tx, stroke, "opened_pad")
            if pad is not None:
                _hit(tx, pad, "sensor")


def _marked(reading: Beads) -> int | None:
    """Return the pad over the one marked ball, when a sure reading shows just one, on a pad."""
    marked = [ball.pad for ball in reading.found if ball.marked]
    return marked[0] if reading.sure and len(marked) == 1 else None


def _well(reading: Beads) -> int | None:
    """Return the pad over the marked ball where one ball lies under each pad (rules 3 and 4)."""
    return _marked(reading) if sorted(ball.pad or 0 for ball in reading.found) == [*EVERY_PAD] else None


def _ask_what_lies(tx: Transaction, about: str) -> None:
    tx.add(Question(tx.t, about, ("play_on", "hide_again")))


def _button(tx: Transaction, name: str) -> None:
    match name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "toss", "winner": name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            _ready(tx)
        case "shown", "show":
            tx.add(Shown(tx.t))
        case _:
            pass


def _ready(tx: Transaction) -> None:
    """The hiders are ready, if a hand was under a pad since the last hide and the ball is not where all saw it."""
    private, story = tx.private, tx.story
    marked = _marked(private.reading) if private.reading is not None else None
    seen = story.phase == "show" and story.opening is not None and marked == story.opening.pad
    if not private.hands and (private.handled is False or (seen and private.handled is not None)):
        tx.notice("nobody_hid")
    else:
        tx.add(Ready(tx.t))


def _open(tx: Transaction, pad: int) -> None:
    """Open a pad (rule 16), or ask where it is one more than the rules allow: the shooter has seen what lay there."""
    if len(tx.story.hide.opened) < _most(tx):
        _opened(tx, pad)
    elif "too_many" not in tx.story.hide.waived:
        tx.add(Question(tx.t, "too_many", ("play_on", "counts", "hide_again"), (pad,)))


def _opened(tx: Transaction, pad: int) -> None:
    """Count a pad as opened: the attempt is over where the marked ball lies under it."""
    sealed = tx.sealed
    tx.add(Lifted(tx.t, pad))
    if sealed is not None and sealed.found(pad):
        _shoot(tx, None, pad, "sensor")
    elif not tx.story.pads_open:  # the ball was under none of the others
        _shoot(tx, None, pad, tx.by)
    elif sealed is None:
        tx.add(Question(tx.t, "opened", ("yes", "no"), (pad,)))


def _hit(tx: Transaction, pad: int, by: Source) -> None:
    """Strike a pad: what the hitters pay goes by where the ball lay, which the judge says where nothing is sealed."""
    sealed = tx.sealed
    if sealed is None:
        tx.add(Question(tx.t, "ball", tuple(map(str, tx.story.pads_open)), (pad,)))
    else:
        _shoot(tx, pad, sealed.open()[0], by)


def _shoot(tx: Transaction, hit: int | None, ball: int, by: Source) -> None:
    """Settle the attempt. What is paid goes by the ball alone, so of pads opened beyond the rules the first are left
    out."""
    opened = list(tx.story.hide.opened[-_most(tx) :])
    action: dict[str, Any] = {"do": "shoot", "opened": opened, "hit": hit, "ball": ball}
    tx.play(action, by)


def _most(tx: Transaction) -> int:
    most = tx.game.settings["max_open"]
    assert isinstance(most, int)
    return most


REFEREE = OjibweReferee
