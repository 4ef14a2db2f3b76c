"""The referee of slahal: fists on the pads, the bones read when the hands are out, the guess, and the two clocks.

The four pads are the four hands of the two bone holders, who sit as the hider does: pads 1 and 2 are the left and the
right hand of one, pads 3 and 4 of the other. The unmarked bones hold magnets. Once the hands are out front the bones
cannot be hidden again (Lahal sheet, Game Play).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pi_controller.games.slahal_state import ONE_PAIR
from pi_controller.mat.events import Beads, Button, HandIn, HandOut, MatEvent
from pi_controller.referee import judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import ByEye, FoulSeen, Question, Ready, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game
    from pi_controller.games.slahal import SlahalSheet
    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.transaction import Transaction

SIGNALS = {13: "right", 24: "left", 23: "inside", 14: "outside", 1: "right", 3: "right", 2: "left", 4: "left"}
"""The signal that catches the unmarked bones, from the guesser's side, by the pads they are on (a digit each)."""
HOLDERS = ({1, 2}, {3, 4})
"""The pads of each holder's two hands."""
OUT_S = 1.0
"""Fists that rest on the pads so long, with the bones in them read, are out."""


class Guessing(Referee):
    """One table's referee for `slahal`."""

    _rest_from: float | None = None
    """Since when the fists have rested on the pads with the bones well read."""
    _left = False
    """Whether the bones were away from the mat since they were read."""
    _hide = 0
    """The hide that the readings are of."""

    def _act(self, tx: Transaction, call: JudgeAction) -> None:
        action = call.action
        if action.get("do") != "guess" or "actual" in action:
            tx.play(action, "judge")
            if action.get("do") == "rehide":
                self._rehidden(tx)
            return
        tx.game.play(tx.story.state, {**action, "actual": "left"})  # what is wrong with the guess is told
        _guess(tx, action, "judge")

    def _answered(self, tx: Transaction, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "hide_again":
                judge_commands.hide_anew(tx)
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

    def _felt(self, tx: Transaction, event: MatEvent) -> None:
        private = self._private
        match event:
            case HandIn(pad=pad):
                private.moved()
                private.hands[pad] = True
            case HandOut(pad=pad):
                private.moved()
                private.hands.pop(pad, None)
            case Beads():
                private.reading = event
            case Button(name=name):
                _button(tx, name)
            case _:
                pass

    def _look(self, tx: Transaction) -> None:
        if tx.story.hide.number != self._hide:  # bones that lie where they lay are not hidden yet
            self._hide, self._rest_from, self._private.reading = tx.story.hide.number, None, None
        reading, place = self._private.reading, self._place(tx.story)
        out = tx.story.phase == "hide" and place is not None and self._fists(tx.story)
        if not out:
            self._rest_from = None
        elif self._rest_from is None:
            self._rest_from = tx.t
        match tx.story.phase:
            case "check" if self.settings.beads == "judge":
                tx.add(ByEye(tx.t))
            case "check" if place is not None:
                self._seal(tx, place)
            case "check" if reading is not None:
                about = "bones" if reading.sure else "no_reading"
                tx.add(Question(tx.t, about, ("play_on", "hide_again")))
            case "guess" if reading is not None and reading.sure:
                self._watch(tx, place)
            case _:
                pass

    def _watch(self, tx: Transaction, place: int | None) -> None:
        """See whether the bones are still where they were when the hands came out."""
        sealed = tx.sealed
        if place is None:
            self._left = True  # hands are opened after a guess, often before somebody enters it
        elif sealed is None:
            if not tx.story.hide.by_hand:
                self._left = False
                tx.seal_late(place)
        elif not sealed.found(place) and "rehide" not in tx.story.hide.waived:
            mode = self.settings.mode("rehide")
            if mode == "automatic" and not self._left:
                self._rehide(tx, "sensor")
            elif mode != "off":
                tx.add(Question(tx.t, "foul", ("foul", "play_on"), foul="rehide"))

    def _limit(self, story: Story) -> float | None:
        return min((at for at in self._times(story).values()), default=None)

    def _due(self, story: Story) -> float | None:
        return self._limit(story) if story.question is None and not story.stands else None

    def _times(self, story: Story) -> dict[str, float]:
        """Return what the clock will say, and when."""
        times = dict[str, float]()
        minutes, seconds = self.game.settings["minutes"], self.game.settings["hide_seconds"]
        assert isinstance(minutes, int)
        assert isinstance(seconds, int)
        if story.phase == "check":
            times["no_reading"] = self._private.since + self.settings.check_timeout_s
        if story.phase == "hide" and self._rest_from is not None:
            times["out"] = self._rest_from + OUT_S
        noticed = story.notice is not None and story.notice.about == "hide_time"
        if story.phase == "hide" and story.link.up and not noticed:
            times["hide_time"] = story.clocks.waiting.began + seconds
        playing, of_round = story.clocks.playing, story.clocks.of_round
        kept = self.settings.mode("time") != "off" and "time" not in story.hide.waived
        if of_round:
            kept &= story.phase != "toss" and playing is not None and playing.stood is None
        else:
            kept &= story.link.up is not None  # a table without a mat keeps no watch
        if kept and playing is not None:
            times["time"] = playing.began + 60.0 * minutes
        return times if story.phase != "over" else {}

    def _overdue(self, tx: Transaction) -> None:
        times = self._times(tx.story)
        match min(times, key=times.__getitem__):
            case "out":
                tx.add(Ready(tx.t))
            case "hide_time":
                tx.notice("hide_time")  # hands out and guesses are heard all the same
            case "time" if self._calls_time(tx.story):
                tx.play({"do": "time"}, "clock")
            case "time":  # a table that stood still, or has lost its mat, leaves it to the judge
                tx.add(Question(tx.t, "time", ("time", "play_on")))
            case about:
                tx.add(Question(tx.t, about, ("play_on", "hide_again")))

    def _calls_time(self, story: Story) -> bool:
        """Return whether the clock itself ends the game when its time is up."""
        return self.settings.mode("time") == "automatic" and bool(story.link.up) and not self._private.restarted

    def _is_conclusive(self, tx: Transaction) -> bool:
        return self._place(tx.story) is not None

    def _place(self, story: Story) -> int | None:
        """Return where the unmarked bones are, a digit each, when a sure reading shows one for each holder."""
        reading = self._private.reading
        pads = sorted(bone.pad or 0 for bone in reading.found) if reading is not None and reading.sure else []
        if len(pads) != _sheet(self.game, story)["pairs_out"]:
            return None
        place = int("".join(map(str, pads)))
        return place if place in SIGNALS else None

    def _fists(self, story: Story) -> bool:
        """Return whether all hands that hold a pair rest on their pads."""
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
        """Go on where moving the bones did not cost them: they are hidden anew, or lie where they are now."""
        match tx.game.settings["rehide"]:
            case "hide_again":
                tx.hide_again("the bones were moved")
                self._hide = 0  # where they lie now they are not hidden yet
            case "warning" if tx.story.phase == "guess":
                self._seal_again(tx)
            case _:
                pass

    def _seal_again(self, tx: Transaction) -> None:
        """The judge lets moved bones be: the old commitment is withdrawn, and they are sealed where they are now."""
        place = self._place(tx.story)
        tx.void("the bones moved")
        if place is not None:
            self._seal(tx, place)


def _sheet(game: Game[Any], story: Story) -> SlahalSheet:
    return cast("SlahalSheet", game.sheet(story.state))


def _button(tx: Transaction, name: str) -> None:
    match name, tx.story.phase:
        case "toss_a" | "toss_b", "toss":
            tx.play({"do": "duel", "A": name == "toss_a", "B": name == "toss_b"}, "sensor")
        case "ready", "hide":
            tx.add(Ready(tx.t))
        case "left" | "right" | "inside" | "outside", "guess":
            two = _sheet(tx.game, tx.story)["pairs_out"] == 2
            if tx.story.question is None and (two or name in ONE_PAIR):
                _guess(tx, {"do": "guess", "signal": name}, "sensor")
        case _:
            pass


def _guess(tx: Transaction, action: Mapping[str, Any], by: Source) -> None:
    """Settle a guess: the bones that were read say what it was worth, or the judge where none were."""
    sealed = tx.sealed
    if sealed is None:
        two = _sheet(tx.game, tx.story)["pairs_out"] == 2
        choices = tuple(dict.fromkeys(SIGNALS.values())) if two else ONE_PAIR
        flags = [flag for flag in ("block", "mirror") if action.get(flag)]
        tx.add(Question(tx.t, "actual", choices, said=" ".join([str(action["signal"]), *flags])))
    else:
        tx.play({**action, "actual": SIGNALS[sealed.open()[0]]}, by)


REFEREE = Guessing
