"""The referee of the Mille Lacs Moccasin game: four balls laid out, pads opened by the shooter, then one strike.

DGR-13, rules 3 to 6 and 16 to 18: the shooter may open pads that should not hide the marked ball, and then strikes the
one that does. The regulation names no fouls of the hiders: an irregular layout is put to the judge.
"""

from typing import Any

from pi_controller.pads import EVERY_PAD
from pi_controller.referee import hits, judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import BeadShown, JudgedByEye, PadOpened, Question, QuestionWithdrawn, Ready, Source
from pi_controller.referee.judge import JudgeAction
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.referee.unpublished import HandUnder
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut, MatEvent, Strike

HAND_S = 0.15
"""The piezo disc feels a hand going under a pad up to this long before the touch strips report it."""


class OjibweReferee(Referee):
    """One table's referee for `ojibwe`."""

    _stroke: Strike | None = None
    """A strike that may still turn out to be the hand that opens the pad."""
    _openings: tuple[tuple[int, bool], ...] = ()
    """Hands at further pads while a question is open: (pad, whether it surely opened the pad)."""

    def _handle_action(self, tx: Transaction, call: JudgeAction) -> None:
        tx.game.play(tx.story.state, call.action)
        if call.action.get("do") == "shoot" and tx.story.phase == "show":
            tx.add(BeadShown(tx.t))
        tx.play(call.action, "judge")

    def _handle_answer(self, tx: Transaction, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "none" | "no" | "by_eye":
                pass
            case _, "hide_again":
                judge_commands.restart_hide(tx)
            case "ball_moved", "play_on":
                self._seal_again(tx)
            case _, "play_on":
                pass
            case "lifted", _:
                _open_pad(tx, asked.pads[0])
            case "too_many", _:
                _count_opened_pad(tx, asked.pads[0])
            case "opened", _:
                _shoot(tx, None, asked.pads[0], tx.by)
            case "ball", pad:
                _shoot(tx, asked.pads[0], int(pad), tx.by)
            case _, pad:
                _hit(tx, int(pad), tx.by)

    def _handle_event(self, tx: Transaction, event: MatEvent) -> None:
        match event:
            case HandIn() | HandOut():
                self._hand(tx, event)
            case BeadsAtRest(sure=sure, found=found):
                self._private.note_reading(event)
                if tx.story.phase == "show" and sure and not found:
                    tx.add(BeadShown(tx.t))
            case Button(name=name):
                _button(tx, name)
            case Strike() if tx.story.phase == "hit" and self._stroke is None:
                if event.hand is None and not self._private.hands.keys() & set(event.pads):  # else it was a hand
                    self._stroke = event
            case _:
                pass

    def _hand(self, tx: Transaction, event: HandIn | HandOut) -> None:
        """Handle a hand at a pad.

        One over the hitters' edge opens the pad while the hit is due; one of unknown side raises a question.
        """
        private, story = self._private, tx.story
        private.forget_reading(event.t)
        private.wait(story, tx.t, afresh=True)
        if isinstance(event, HandOut):
            private.hands.pop(event.pad, None)
            return
        private.hands[event.pad] = HandUnder(event.t, event.side)
        private.handled = True
        opens, asked = event.sure and event.side == "hitter", story.question
        asks_the_same = asked is not None and asked.about == "lifted" and asked.pads == (event.pad,)
        if asks_the_same and opens:
            tx.add(QuestionWithdrawn(tx.t, "lifted", "pad_opened"))
            story = tx.story
        if self._stroke is not None and event.pad in self._stroke.pads:
            self._stroke = None  # not a strike: the hand going under the pad
        if story.phase == "hit" and event.side != "hider" and (story.strike_expected or not asks_the_same):
            self._openings = (*self._openings, (event.pad, opens))
            self._take_openings(tx)

    def _take_openings(self, tx: Transaction) -> None:
        """Open the pads, or ask about them, in the order of the hands; stop while a question is open."""
        while self._openings and tx.story.phase == "hit" and tx.story.strike_expected:
            (pad, opens), *others = self._openings
            self._openings = tuple(others)
            if pad in tx.story.hide.opened:
                continue
            if opens:
                _open_pad(tx, pad)
            else:
                tx.ask("lifted", ("yes", "no"), (pad,))
        if tx.story.phase != "hit":
            self._openings = ()

    def _examine_mat(self, tx: Transaction) -> None:
        self._take_openings(tx)
        private, story = self._private, tx.story
        if story.question is not None:
            return
        if self.settings.beads == "judge" and story.phase == "check" and not private.hands:
            tx.add(JudgedByEye(tx.t))
            return
        if story.phase == "hit" and (hits.offer_kept(tx) or hits.ask_of_dead_disc(tx)):
            return
        reading = private.reading
        if reading is None or private.hands:
            return
        if story.phase == "check":
            marked = _laid_marked_pad(reading)
            if marked is not None:
                tx.seal(marked)
            else:
                _ask_what_lies(tx, "balls" if reading.sure else "no_reading")
        elif story.phase == "hit" and reading.sure:
            # an opened pad's ball may be taken out: only the marked one has to stay
            marked, sealed = _marked_pad(reading), tx.sealed
            hittable = marked in story.hittable_pads  # if it moved under an opened pad, the judge has to look
            if sealed is None:
                if marked is not None and hittable and story.hide.seal.may_seal:
                    tx.seal_late(marked)
            elif marked is not None and sealed.is_under(marked):
                pass
            elif self.settings.mode("bead_moved") == "off":
                self._seal_again(tx)
            else:
                tx.ask("ball_moved", ("play_on", "hide_again"))

    def _seal_again(self, tx: Transaction) -> None:
        """Accept the moved ball: withdraw the commitment, and seal the ball if it is on a pad that can be struck."""
        reading, sealed = self._private.reading, tx.sealed
        marked = _marked_pad(reading) if reading is not None else None
        if sealed is not None and marked is not None and sealed.is_under(marked):
            return
        tx.withdraw_commitment("the marked ball moved")
        if marked in tx.story.hittable_pads:
            tx.seal(marked)

    def _wait_limit(self, story: Story) -> float | None:
        return self.settings.check_timeout_s if story.phase == "check" else None

    def _wait_deadline(self, story: Story) -> float | None:
        if story.phase != "hit":
            self._stroke = None
        return self._stroke.t + HAND_S if self._stroke is not None else super()._wait_deadline(story)

    def _is_conclusive(self, tx: Transaction) -> bool:
        del tx
        reading = self._private.reading
        return reading is not None and _laid_marked_pad(reading) is not None

    def _in_place(self, tx: Transaction) -> bool:
        sealed, reading = tx.sealed, self._private.reading
        marked = _marked_pad(reading) if reading is not None else None
        return sealed is not None and marked is not None and sealed.is_under(marked)

    def _handle_timeout(self, tx: Transaction) -> None:
        if self._stroke is None:
            _ask_what_lies(tx, "no_reading")
        else:
            stroke, self._stroke = self._stroke, None
            if not tx.story.strike_expected:
                hits.keep_strike(tx, stroke)
                return
            pad = hits.resolve_strike(tx, stroke, "opened_pad")
            if pad is not None:
                _hit(tx, pad, "sensor")


def _marked_pad(reading: BeadsAtRest) -> int | None:
    """Return the pad of the one marked ball if a sure reading shows just one, on a pad."""
    marked = [ball.pad for ball in reading.found if ball.marked]
    return marked[0] if reading.sure and len(marked) == 1 else None


def _laid_marked_pad(reading: BeadsAtRest) -> int | None:
    """Return the pad of the marked ball if one ball is under each pad (rules 3 and 4), else None."""
    return _marked_pad(reading) if sorted(ball.pad or 0 for ball in reading.found) == [*EVERY_PAD] else None


def _ask_what_lies(tx: Transaction, about: str) -> None:
    tx.ask(about, ("play_on", "hide_again"))


def _button(tx: Transaction, name: str) -> None:
    match name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "toss", "winner": name[-1].upper()}, "sensor")
        case "ready", "hide" | "show":
            _ready(tx)
        case "shown", "show":
            tx.add(BeadShown(tx.t))
        case _:
            pass


def _ready(tx: Transaction) -> None:
    """Handle the hiders' ready.

    It is accepted if a hand was under a pad since the last hide and the ball is no longer in its shown place.
    """
    private, story = tx.private, tx.story
    marked = _marked_pad(private.reading) if private.reading is not None else None
    seen = story.phase == "show" and story.opening is not None and marked == story.opening.pad
    if not private.hands and (private.handled is False or (seen and private.handled is not None)):
        tx.notice("nobody_hid")
    else:
        tx.add(Ready(tx.t))


def _open_pad(tx: Transaction, pad: int) -> None:
    """Open a pad (rule 16), or ask the judge if the limit is reached: the shooter has seen under it already."""
    if len(tx.story.hide.opened) < tx.game.whole_setting("max_open"):
        _count_opened_pad(tx, pad)
    elif "too_many" not in tx.story.hide.waived_fouls:
        tx.ask("too_many", ("play_on", "counts", "hide_again"), (pad,))


def _count_opened_pad(tx: Transaction, pad: int) -> None:
    """Count a pad as opened; the attempt is over if the marked ball is under it."""
    sealed = tx.sealed
    tx.add(PadOpened(tx.t, pad))
    if sealed is not None and sealed.is_under(pad):
        _shoot(tx, None, pad, "sensor")
    elif not tx.story.hittable_pads:  # the ball was under none of the others
        _shoot(tx, None, pad, tx.by)
    elif sealed is None:
        tx.ask("opened", ("yes", "no"), (pad,))


def _hit(tx: Transaction, pad: int, by: Source) -> None:
    """Play a strike on a pad: the payment depends on the ball's place, which the judge enters if there is no seal."""
    sealed = tx.sealed
    if sealed is None:
        tx.ask("ball", tuple(map(str, tx.story.hittable_pads)), (pad,))
    else:
        _shoot(tx, pad, sealed.open()[0], by)


def _shoot(tx: Transaction, hit: int | None, ball: int, by: Source) -> None:
    """Settle the attempt.

    The payment depends on the ball alone, so if too many pads were opened the first are left out.
    """
    opened = list(tx.story.hide.opened[-tx.game.whole_setting("max_open") :])
    action: dict[str, Any] = {"do": "shoot", "opened": opened, "hit": hit, "ball": ball}
    tx.play(action, by)


REFEREE = OjibweReferee
