"""The people of slahal at a simulated table: two bone holders with four fists, a guesser, and the judge.

What they do in a hide is decided by `bones`, what they did is kept in `turns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.sim.bone_plans import HOLDERS, PADS_OF, BonesPlan, bones_plan, duels
from pi_controller.sim.people import AGAIN_S, one_of
from pi_controller.sim.turn_people import TurnPeople

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pi_controller.games.slahal_state import Signal
    from pi_controller.table.view import Asked, View

BONES = ("bone 1", "bone 2")
"""The unmarked ones; there is no magnet in a marked bone, so the mat knows nothing of it."""
TICK_S = 0.1
"""So much later than people act the table may say what came of it."""
LAST_S = 1.0
"""So shortly before the game's time is up nobody begins anything."""
LATE_S = 20.0
"""Holders are late only where the time to hide is no longer than this: nobody wants to watch for a minute."""


class BoneHolders(TurnPeople):
    """Bone holders, guesser and judge of one table."""

    _ends: float | None = None

    def watch(self, view: View) -> None:
        """Look at what the table shows; and at the clock, which ends the game without anybody doing a thing."""
        super().watch(view)
        self._ends = view.ends or self._ends
        if view.phase == "over" and view.sheet["finish"] == "time" and self._ends and self._t > self._ends - TICK_S:
            self.truth.did(view.hide, {"do": "time"})

    def _turn(self, view: View) -> object:
        return view.phase, view.hide

    def _begin(self, view: View) -> Iterator[float] | None:
        plan = self._script(view)
        match view.phase:
            case "toss":
                return self._duel()
            case "hide":
                return self._hide(plan, self._out(view, plan))
            case "guess":
                return self._guess(plan, self._out(view, plan))
            case "over":
                return self._open_hands()
            case _:
                return None

    def _script(self, view: View) -> BonesPlan:
        return bones_plan(self.seed, view.hide, self.pace, self._allowed(view.hide))

    def _out(self, view: View, plan: BonesPlan) -> tuple[int, ...]:
        """Return which bone holders' pairs are out (0 and 1): after a split only the one who was not caught."""
        if view.sheet["pairs_out"] != 1:
            return (0, 1)
        for number in range(view.hide - 1, 0, -1):
            for action in reversed(self.truth.turns[number].actions if number in self.truth.turns else []):
                if action["do"] == "guess" and action["actual"] in PADS_OF:
                    caught = {*PADS_OF[action["signal"]]} & {*PADS_OF[action["actual"]]}
                    if len(str(self.truth.turns[number].place)) == 2 and len(caught) == 1:
                        return (1,) if caught & {*HOLDERS[0]} else (0,)
        return (plan.stays,)

    def _duel(self) -> Iterator[float]:
        rounds = duels(self.seed)
        self.truth.did(0, *({"do": "duel", "A": a, "B": b} for a, b in rounds))
        for a, b in rounds[:-1]:
            yield 0.6
            self._enter({"do": "duel", "A": a, "B": b})
        yield 0.6
        yield from self._pressing("toss_a" if rounds[-1][0] else "toss_b")

    # hiding

    def _hide(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        world = self._world
        yield from self._open_hands()
        yield plan.start_s
        pads = [plan.bones[holder] for holder in out]
        self.truth.begin(plan.hide, _digits(pads), plan.mischief)
        for holder in range(len(HOLDERS)):
            if holder in out:
                world.carry(BONES[holder], marked=False, side=plan.bones[holder])
            else:
                world.take(BONES[holder])
        yield plan.swap_s
        limit = self.game.settings["hide_seconds"]
        assert isinstance(limit, int)
        if plan.late and limit <= LATE_S:
            yield limit + 0.5
        for holder in out:
            for pad in HOLDERS[holder]:
                fist = plan.fists[pad - 1]
                world.rest(pad, fist.off_mm, fist.style, fist.high_mm)
        yield AGAIN_S
        yield from self._pressing("ready")

    def _open_hands(self) -> Iterator[float]:
        """Show what was in the hands, and draw them back."""
        yield 0.3
        for pad in (1, 2, 3, 4):
            self._world.hand_home(pad)
        yield 0.5

    # guessing

    def _guess(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        number = plan.hide
        yield plan.look_s
        if plan.king is not None:
            self.truth.did(number, {"do": "king_moved", "by": plan.king})
            self._enter({"do": "king_moved", "by": plan.king})
            yield AGAIN_S
        if plan.switch:
            yield from self._switch(plan, out)
        while self._ends is not None and self._t > self._ends - LAST_S:
            yield AGAIN_S
        signal = plan.signal if len(out) == 2 else plan.one_signal
        guess: dict[str, Any] = {"do": "guess", "signal": signal}
        by_hand = plan.by_hand or plan.block or (plan.mirror and len(out) == 1)
        if plan.block:
            guess["block"] = True
        if plan.mirror and len(out) == 1:
            guess["mirror"] = True
        done = {**guess, "actual": _actual(plan, out)}
        self.truth.did(number, done)
        while True:
            if by_hand:  # where the mat has not seen the bones the judge says all of it
                self._enter(guess if self._sealed() else done)
            else:
                self._press(signal)
            yield AGAIN_S

    def _switch(self, plan: BonesPlan, out: tuple[int, ...]) -> Iterator[float]:
        """A holder slips the bone over to the other fist; where the mat does not see it, the judge does."""
        holder = out[0]
        left, right = HOLDERS[holder]
        there = right if plan.bones[holder] == left else left
        self.truth.did(plan.hide, {"do": "rehide"})
        self._world.carry(BONES[holder], marked=False, side=there)
        if not self._sealed():
            pads = sorted({*(plan.bones[other] for other in out), there} - {plan.bones[holder]})
            self.truth.turns[plan.hide].place = _digits(pads)
        yield AGAIN_S
        while True:
            self._enter({"do": "rehide"})
            yield AGAIN_S

    def _sealed(self) -> bool:
        return self._view is not None and self._view.commit is not None

    # the judge

    def _answer_to(self, view: View, asked: Asked) -> str | dict[str, Any]:
        plan = self._script(view)
        match asked.about:
            case "actual":
                return _actual(plan, self._out(view, plan))
            case "foul":
                return one_of(asked.choices, "foul" if plan.switch else "play_on")
            case "time" if self._ends and self._t > self._ends - TICK_S:
                return "time"
            case _:
                return one_of(asked.choices, "play_on")


def _actual(plan: BonesPlan, out: tuple[int, ...]) -> Signal:
    """Return the signal that would catch the unmarked bones that are out."""
    pads = {plan.bones[holder] for holder in out}
    return next(signal for signal in PADS_OF if pads <= {*PADS_OF[signal]})


def _digits(pads: list[int]) -> int:
    """Return pads as a reveal tells them: a digit for each."""
    return int("".join(map(str, pads)))
