"""The referee of slahal: fists on the pads, the bones read when the hands are out, the guess, and the two clocks.

The four pads are the four hands of the two bone holders, who sit as the hider does: pads 1 and 2 are the left and the
right hand of one, pads 3 and 4 of the other. The unmarked bones hold magnets. Once the hands are out front the bones
cannot be hidden again (Lahal sheet, Game Play).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.slahal_state import ONE_PAIR
from pi_controller.mat.events import Beads, Button, HandIn, HandOut, MatEvent
from pi_controller.referee import calls
from pi_controller.referee.facts import ByEye, FoulSeen, Question, Ready, Source
from pi_controller.referee.keeper import Keeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.turn import Turn

SIGNALS = {13: "right", 24: "left", 23: "inside", 14: "outside", 1: "right", 3: "right", 2: "left", 4: "left"}
"""The signal that catches the unmarked bones, from the guesser's side, by the pads they are on (a digit each)."""
HOLDERS = ({1, 2}, {3, 4})
"""The pads of each holder's two hands."""
OUT_S = 1.0
"""Fists that rest on the pads so long, with the bones in them read, are out."""


class Guessing(Keeper):
    """One table's referee for `slahal`."""

    _rest_from: float | None = None
    """Since when the fists have rested on the pads with the bones well read."""
    _left = False
    """Whether the bones were away from the mat since they were read."""
    _hide = 0
    """The hide that the readings are of."""

    def _act(self, turn: Turn, call: JudgeAction) -> None:
        action = call.action
        if action.get("do") != "guess" or "actual" in action:
            turn.play(action, "judge")
            if action.get("do") == "rehide":
                self._rehidden(turn)
            return
        turn.game.play(turn.story.state, {**action, "actual": "left"})  # what is wrong with the guess is told
        _guess(turn, action, "judge")

    def _answered(self, turn: Turn, asked: Question, answer: str) -> None:
        match asked.about, answer:
            case _, "hide_again":
                calls.hide_anew(turn)
            case "actual", actual:
                signal, *flags = asked.said.split()
                turn.play({"do": "guess", "signal": signal, "actual": actual} | dict.fromkeys(flags, True), turn.by)
            case _, "foul":
                self._rehide(turn, turn.by)
            case _, "time":
                turn.play({"do": "time"}, turn.by)
            case "foul", "play_on":
                self._seal_again(turn)
            case _:
                pass

    def _felt(self, turn: Turn, event: MatEvent) -> None:
        senses = self._senses
        match event:
            case HandIn(pad=pad):
                senses.moved()
                senses.hands[pad] = True
            case HandOut(pad=pad):
                senses.moved()
                senses.hands.pop(pad, None)
            case Beads():
                senses.reading = event
            case Button(name=name):
                _button(turn, name)
            case _:
                pass

    def _look(self, turn: Turn) -> None:
        if turn.story.hide != self._hide:  # bones that lie where they lay are not hidden yet
            self._hide, self._rest_from, self._senses.reading = turn.story.hide, None, None
        reading, place = self._senses.reading, self._place(turn.story)
        out = turn.story.phase == "hide" and place is not None and self._fists(turn.story)
        if not out:
            self._rest_from = None
        elif self._rest_from is None:
            self._rest_from = turn.t
        match turn.story.phase:
            case "check" if self.settings.beads == "judge":
                turn.add(ByEye(turn.t))
            case "check" if place is not None:
                self._seal(turn, place)
            case "check" if reading is not None:
                about = "bones" if reading.sure else "no_reading"
                turn.add(Question(turn.t, about, ("play_on", "hide_again")))
            case "guess" if reading is not None and reading.sure:
                self._watch(turn, place)
            case _:
                pass

    def _watch(self, turn: Turn, place: int | None) -> None:
        """See whether the bones are still where they were when the hands came out."""
        sealed = turn.sealed
        if place is None:
            self._left = True  # hands are opened after a guess, often before somebody enters it
        elif sealed is None:
            if not turn.story.by_hand:
                self._left = False
                turn.seal_late(place)
        elif not sealed.found(place) and "rehide" not in turn.story.waived:
            mode = self.settings.mode("rehide")
            if mode == "automatic" and not self._left:
                self._rehide(turn, "sensor")
            elif mode != "off":
                turn.add(Question(turn.t, "foul", ("foul", "play_on"), foul="rehide"))

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
            times["no_reading"] = self._senses.since + self.settings.check_timeout_s
        if story.phase == "hide" and self._rest_from is not None:
            times["out"] = self._rest_from + OUT_S
        noticed = story.notice is not None and story.notice.about == "hide_time"
        if story.phase == "hide" and story.link and not noticed:
            times["hide_time"] = story.waiting.began + seconds
        kept = story.link is not None and self.settings.mode("time") != "off"  # a table without a mat keeps no watch
        if kept and story.playing is not None and "time" not in story.waived:
            times["time"] = story.playing.began + 60.0 * minutes
        return times if story.phase != "over" else {}

    def _overdue(self, turn: Turn) -> None:
        times = self._times(turn.story)
        match min(times, key=times.__getitem__):
            case "out":
                turn.add(Ready(turn.t))
            case "hide_time":
                turn.notice("hide_time")  # hands out and guesses are heard all the same
            case "time" if self.settings.mode("time") == "automatic" and turn.story.link and not self._senses.restarted:
                turn.play({"do": "time"}, "clock")
            case "time":  # a table that stood still, or has lost its mat, leaves it to the judge
                turn.add(Question(turn.t, "time", ("time", "play_on")))
            case about:
                turn.add(Question(turn.t, about, ("play_on", "hide_again")))

    def _tells(self, turn: Turn) -> bool:
        return self._place(turn.story) is not None

    def _place(self, story: Story) -> int | None:
        """Return where the unmarked bones are, a digit each, when a sure reading shows one for each holder."""
        reading = self._senses.reading
        pads = sorted(bone.pad or 0 for bone in reading.found) if reading is not None and reading.sure else []
        if len(pads) != self.game.sheet(story.state)["pairs_out"]:
            return None
        place = int("".join(map(str, pads)))
        return place if place in SIGNALS else None

    def _fists(self, story: Story) -> bool:
        """Return whether all hands that hold a pair rest on their pads."""
        hands = set(self._senses.hands)
        return hands == HOLDERS[0] | HOLDERS[1] if self._pairs(story) == 2 else hands in HOLDERS

    def _pairs(self, story: Story) -> int:
        return int(self.game.sheet(story.state)["pairs_out"] or 0)

    def _seal(self, turn: Turn, place: int) -> None:
        self._left = False
        turn.seal(place)

    def _rehide(self, turn: Turn, by: Source) -> None:
        hiding = turn.game.sheet(turn.story.state)["hiding"]
        turn.add(FoulSeen(turn.t, "rehide", str(hiding)))
        turn.play({"do": "rehide"}, by)
        self._rehidden(turn)

    def _rehidden(self, turn: Turn) -> None:
        """Go on where moving the bones did not cost them: they are hidden anew, or lie where they are now."""
        match turn.game.settings["rehide"]:
            case "hide_again":
                turn.hide_again("the bones were moved")
                self._hide = 0  # where they lie now they are not hidden yet
            case "warning" if turn.story.phase == "guess":
                self._seal_again(turn)
            case _:
                pass

    def _seal_again(self, turn: Turn) -> None:
        """The judge lets moved bones be: the old commitment is withdrawn, and they are sealed where they are now."""
        place = self._place(turn.story)
        turn.void("the bones moved")
        if place is not None:
            self._seal(turn, place)


def _button(turn: Turn, name: str) -> None:
    match name, turn.story.phase:
        case "toss_a" | "toss_b", "toss":
            turn.play({"do": "duel", "A": name == "toss_a", "B": name == "toss_b"}, "sensor")
        case "ready", "hide":
            turn.add(Ready(turn.t))
        case "left" | "right" | "inside" | "outside", "guess":
            two = turn.game.sheet(turn.story.state)["pairs_out"] == 2
            if turn.story.question is None and (two or name in ONE_PAIR):
                _guess(turn, {"do": "guess", "signal": name}, "sensor")
        case _:
            pass


def _guess(turn: Turn, action: Mapping[str, Any], by: Source) -> None:
    """Settle a guess: the bones that were read say what it was worth, or the judge where none were."""
    sealed = turn.sealed
    if sealed is None:
        two = turn.game.sheet(turn.story.state)["pairs_out"] == 2
        choices = tuple(dict.fromkeys(SIGNALS.values())) if two else ONE_PAIR
        flags = [flag for flag in ("block", "mirror") if action.get(flag)]
        turn.add(Question(turn.t, "actual", choices, said=" ".join([str(action["signal"]), *flags])))
    else:
        turn.play({**action, "actual": SIGNALS[sealed.open()[0]]}, by)
