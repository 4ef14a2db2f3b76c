"""The referee of slahal: fists on the pads, the bones read when the hands are out, the guess, and the two clocks.

The four pads are the four hands of the two bone holders, who sit in the hider's place: pads 1 and 2 are the left and
the right hand of one, pads 3 and 4 of the other. The unmarked bones hold magnets. Once the hands are out front the
bones cannot be hidden again (Lahal sheet, Game Play).
"""

from collections.abc import Mapping
from typing import Any, cast

from pi_controller.games.slahal.rules import ONE_PAIR, SlahalSheet
from pi_controller.referee import judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import FoulSeen, JudgedByEye, Question, QuestionWithdrawn, Ready, Source
from pi_controller.referee.judge import JudgeAction
from pi_controller.referee.reducer import READING_QUESTIONS
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.referee.unpublished import HandUnder
from pi_controller.rules.base import Game
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut, MatEvent

SIGNAL_BY_PADS = {13: "right", 24: "left", 23: "inside", 14: "outside", 1: "right", 3: "right", 2: "left", 4: "left"}
"""The signal that catches the unmarked bones, from the guesser's side, by the pads they are on (a digit each)."""
HOLDERS = ({1, 2}, {3, 4})
"""The pads of each holder's two hands."""
FISTS_REST_S = 1.0
"""Fists resting on the pads for this long, with the bones in them read, count as out."""


class SlahalReferee(Referee):
    """One table's referee for `slahal`."""

    _rest_from: float | None = None
    """When the fists came to rest on the pads with the bones clearly read, or None."""
    _left = False
    """True if the bones were away from the mat since they were read."""
    _hide = 0
    """The hide that the readings belong to."""

    def _handle_action(self, tx: Transaction, call: JudgeAction) -> None:
        action = call.action
        if action.get("do") != "guess" or "actual" in action:
            tx.play(action, "judge")
            if action.get("do") == "rehide":
                self._rehidden(tx)
            return
        tx.game.play(tx.story.state, {**action, "actual": "left"})  # raises if the guess is not allowed
        _guess(tx, action, "judge")

    def _handle_answer(self, tx: Transaction, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "hide_again":
                judge_commands.restart_hide(tx)
            case "actual", actual:
                signal, *flags = asked.said.split()
                tx.play({"do": "guess", "signal": signal, "actual": actual} | dict.fromkeys(flags, True), tx.by)
            case _, "foul":
                self._rehide(tx, tx.by)
            case _, "time":
                tx.play({"do": "time"}, tx.by)
            case "foul", "play_on":
                self._seal_again(tx)
            case _:
                pass

    def _handle_event(self, tx: Transaction, event: MatEvent) -> None:
        private = self._private
        match event:
            case HandIn(pad=pad, side=side):
                private.forget_reading(event.t)
                private.hands[pad] = HandUnder(event.t, side)
            case HandOut(pad=pad):
                private.forget_reading(event.t)
                private.hands.pop(pad, None)
            case BeadsAtRest():
                private.note_reading(event)
            case Button(name="left" | "right" | "inside" | "outside" as signal):
                self._guess_by_button(tx, signal)
            case Button(name=name):
                _button(tx, name)
            case _:
                pass

    def _examine_mat(self, tx: Transaction) -> None:
        if tx.story.hide.number != self._hide:  # bones still in their old places are not hidden yet
            self._hide, self._rest_from, self._private.reading = tx.story.hide.number, None, None
        reading, place = self._private.reading, self._place(tx.story)
        self._note_rest(tx, tx.story.phase == "hide")
        match tx.story.phase:
            case "check" if self.settings.beads == "judge":
                tx.add(JudgedByEye(tx.t))
            case "check" if place is not None:
                self._seal(tx, place)
            case "check" if reading is not None:
                about = "bones" if reading.sure else "no_reading"
                tx.ask(about, ("play_on", "hide_again"))
            case "guess" if reading is not None and reading.sure:
                self._watch(tx, place)
            case _:
                pass

    def _note_rest(self, tx: Transaction, awaited: bool) -> None:
        """Note when the fists came to rest on the pads with the bones read, if that is `awaited`."""
        if not awaited or self._place(tx.story) is None or not self._fists(tx.story):
            self._rest_from = None
        elif self._rest_from is None:
            self._rest_from = tx.t

    def _withdrawal_reason(self, tx: Transaction, asked: Question) -> str:
        """Answer a question about the bones once the fists rest on the pads with the bones read: the hands are out."""
        if asked.about in READING_QUESTIONS:
            self._note_rest(tx, awaited=True)
            if self._rest_from is not None and tx.t >= self._rest_from + FISTS_REST_S:
                return "bead_seen"
        return super()._withdrawal_reason(tx, asked)

    def _watch(self, tx: Transaction, place: int | None) -> None:
        """Check that the bones are still on the same pads as when the hands came out."""
        sealed = tx.sealed
        if place is None:
            self._left = True  # hands are opened after a guess, often before it is entered
        elif sealed is None:
            if tx.story.hide.seal.may_seal:
                self._left = False
                tx.seal_late(place)
        elif not sealed.is_under(place) and "rehide" not in tx.story.hide.waived_fouls:
            mode = self.settings.mode("rehide")
            if mode == "automatic" and not self._left:
                self._rehide(tx, "sensor")
            elif mode != "off":
                tx.ask("foul", ("foul", "play_on"), foul="rehide")

    def _wait_limit(self, story: Story) -> float | None:
        return min((at for at in self._times(story).values()), default=None)

    def _wait_deadline(self, story: Story) -> float | None:
        if story.clocks_stopped:
            return None
        if story.question is None:
            return self._wait_limit(story)
        awaits_fists = story.question.about in READING_QUESTIONS and story.sensors and self._rest_from is not None
        return self._rest_from + FISTS_REST_S if awaits_fists and self._rest_from is not None else None

    def _times(self, story: Story) -> dict[str, float]:
        """Return the next deadlines of the clocks by name."""
        times = dict[str, float]()
        if story.phase == "check":
            times["no_reading"] = self._private.since + self.settings.check_timeout_s
        if story.phase == "hide" and self._rest_from is not None:
            times["out"] = self._rest_from + FISTS_REST_S
        noticed = story.notice is not None and story.notice.about == "hide_time"
        if story.phase == "hide" and story.link.up and not noticed:
            times["hide_time"] = story.clocks.waiting.began + self.game.whole_setting("hide_seconds")
        playing, of_round = story.clocks.playing, story.clocks.of_round
        kept = self.settings.mode("time") != "off" and "time" not in story.hide.waived_fouls
        if of_round:
            kept &= story.phase != "toss" and playing is not None and playing.stopped_at is None
        else:
            kept &= story.link.up is not None  # a table without a mat keeps no time
        if kept and playing is not None:
            times["time"] = playing.began + 60.0 * self.game.whole_setting("minutes")
        return times if story.phase != "over" else {}

    def _handle_timeout(self, tx: Transaction) -> None:
        if tx.story.question is not None:
            return  # the fists have rested: `_withdrawal_reason` withdraws the question
        times = self._times(tx.story)
        match min(times, key=times.__getitem__):
            case "out":
                tx.add(Ready(tx.t))
            case "hide_time":
                tx.notice("hide_time")  # hands out and guesses are still accepted
            case "time" if self._calls_time(tx.story):
                tx.play({"do": "time"}, "clock")
            case "time":  # after a halt or without a mat the judge decides
                tx.ask("time", ("time", "play_on"))
            case about:
                tx.ask(about, ("play_on", "hide_again"))

    def _calls_time(self, story: Story) -> bool:
        """Return True if the clock itself ends the game when its time is up."""
        return self.settings.mode("time") == "automatic" and bool(story.link.up) and not self._private.restarted

    def _is_conclusive(self, tx: Transaction) -> bool:
        return self._place(tx.story) is not None

    def _place(self, story: Story) -> int | None:
        """Return the pads of the unmarked bones, a digit each, if a sure reading shows one for each holder."""
        reading = self._private.reading
        pads = sorted(bone.pad or 0 for bone in reading.found) if reading is not None and reading.sure else []
        if len(pads) != _sheet(self.game, story)["pairs_out"]:
            return None
        place = int("".join(map(str, pads)))
        return place if place in SIGNAL_BY_PADS else None

    def _guess_by_button(self, tx: Transaction, signal: str) -> None:
        """Play a guess while the hands are out. An open question about the bones does not prevent it."""
        story, asked = tx.story, tx.story.question
        if signal not in ONE_PAIR and self._pairs(story) != 2:
            return
        if asked is not None and asked.about in READING_QUESTIONS and story.phase == "check":
            place = self._place(story)
            if place is not None:
                tx.add(QuestionWithdrawn(tx.t, asked.about, "bead_seen"))
                self._seal(tx, place)
        elif asked is not None or story.phase != "guess":
            return
        _guess(tx, {"do": "guess", "signal": signal}, "sensor")

    def _fists(self, story: Story) -> bool:
        """Return True if all hands that hold a pair rest on their pads."""
        hands = set(self._private.hands)
        return hands == HOLDERS[0] | HOLDERS[1] if self._pairs(story) == 2 else hands in HOLDERS

    def _pairs(self, story: Story) -> int:
        return _sheet(self.game, story)["pairs_out"] or 0

    def _seal(self, tx: Transaction, place: int) -> None:
        self._left = False
        tx.seal(place)

    def _rehide(self, tx: Transaction, by: Source) -> None:
        hiding = _sheet(tx.game, tx.story)["hiding"]
        tx.add(FoulSeen(tx.t, "rehide", str(hiding)))
        tx.play({"do": "rehide"}, by)
        self._rehidden(tx)

    def _rehidden(self, tx: Transaction) -> None:
        """Continue after moved bones that were not lost: they are hidden again, or sealed in their new places."""
        match tx.game.settings["rehide"]:
            case "hide_again":
                tx.hide_again("the bones were moved")
                self._hide = 0  # in their present places they are not hidden yet
            case "warning" if tx.story.phase == "guess":
                self._seal_again(tx)
            case _:
                pass

    def _seal_again(self, tx: Transaction) -> None:
        """Accept moved bones: withdraw the old commitment, and seal the bones in their new places."""
        place = self._place(tx.story)
        tx.withdraw_commitment("the bones moved")
        if place is not None:
            self._seal(tx, place)


def _sheet(game: Game[Any], story: Story) -> SlahalSheet:
    return cast("SlahalSheet", game.sheet(story.state))


def _button(tx: Transaction, name: str) -> None:
    match name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "duo", "A": name == "toss_a", "B": name == "toss_b"}, "sensor")
        case "ready", "hide":
            tx.add(Ready(tx.t))
        case _:
            pass


def _guess(tx: Transaction, action: Mapping[str, Any], by: Source) -> None:
    """Settle a guess by the bones that were read; if they were not read, ask the judge."""
    sealed = tx.sealed
    if sealed is None:
        two = _sheet(tx.game, tx.story)["pairs_out"] == 2
        choices = tuple(dict.fromkeys(SIGNAL_BY_PADS.values())) if two else ONE_PAIR
        flags = [flag for flag in ("block", "mirror") if action.get(flag)]
        tx.ask("actual", choices, said=" ".join([str(action["signal"]), *flags]))
    else:
        tx.play({**action, "actual": SIGNAL_BY_PADS[sealed.open()[0]]}, by)


REFEREE = SlahalReferee
