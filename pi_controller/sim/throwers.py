"""The people of bageswin, the plum stone game and patol at a simulated table: who throws, and the judge who enters it.

What they do in a turn is decided by `throws`, what they did is kept in `turns`. Turns are counted by the people: one is
over when an action was taken for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.sim.people import AGAIN_S, one_of
from pi_controller.sim.plans import toss
from pi_controller.sim.throws import ThrowScript, start, throw_script
from pi_controller.sim.turn_people import TurnPeople

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pi_controller.table.view import Asked, View

TAP_AGAIN_S = 2.0
"""So long somebody who taps twice waits for the table before tapping once more."""


class Throwers(TurnPeople):
    """Throwers and judge of one table."""

    _number = 0
    """The turn in progress, counted from 1; 0 before the first."""
    _strokes = 0
    _entered: int | None = None
    """The view's number when the judge entered this turn's action."""

    def _turn(self, view: View) -> object:
        if view.phase == "throw":
            entered = self._entered is not None and view.seq > self._entered
            if not self._number or view.strokes < self._strokes or entered:
                self._number += 1
                self._entered = None
        self._strokes = view.strokes
        started = [horse["player"] for horse in view.sheet.get("horses", ()) if horse["river"]]
        return view.phase, self._number, len(started)

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss" if self.game.name == "patol":
                return self._start([horse["player"] for horse in view.sheet["horses"] if horse["river"] is None])
            case "toss":
                return self._lot()
            case "throw":
                return self._throw(throw_script(self.game.name, self.seed, self._number, self.pace, self.mischief))
            case _:
                return None

    def _lot(self) -> Iterator[float]:
        yield 0.4
        first = toss(self.seed)
        self.truth.did(0, {"do": "lot", "first": first})
        yield from self._pressing(f"toss_{first.lower()}")

    def _start(self, waiting: list[str]) -> Iterator[float]:
        """The next player chooses, knowing the throws of all who have had their turn."""
        yield 0.4
        number = len(self.game.sheet(self.game.opening())["horses"]) - len(waiting)
        begins = start(self.seed, waiting[0], number)
        turn = self.truth.turns.get(self._number)
        before = [action for action in turn.actions if action["do"] != "start"] if turn else []
        self.truth.did(self._number, *before, begins)
        while True:
            self._enter(begins)
            yield AGAIN_S

    def _throw(self, plan: ThrowScript) -> Iterator[float]:
        foul = self._foul(plan)
        action = foul or ({"do": "no_throw"} if plan.spilled and self.game.name == "plum_stone" else plan.throw)
        self.truth.begin(plan.turn, mischief=plan.mischief)
        self.truth.did(plan.turn, action)
        yield plan.start_s
        self._tap(plan)
        for after_s, level in plan.rattle:
            self._world.strike(plan.tap.pad, level, after_s=plan.tap.after_s + after_s)
        if plan.again_s is not None:
            yield plan.again_s
            self._tap(plan)
            while foul:
                yield TAP_AGAIN_S
                self._tap(plan)
        yield plan.read_s
        while True:
            self._entered = self._view.seq if self._view is not None else None
            self._enter(action)
            yield AGAIN_S

    def _tap(self, plan: ThrowScript) -> None:
        tap = plan.tap
        self._world.strike(tap.pad, tap.level_dbfs, tap.also, tap.also_after_s, tap.after_s)

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        """Return what a second tap in this turn comes to, if there is one and it counts."""
        match self.game.name:
            case "bageswin" if plan.again_s is not None:
                return {"do": "double_tap"}
            case "plum_stone" if plan.again_s is not None and plan.counts:
                return {"do": "no_throw"}
            case _:
                return None

    # the judge

    def _answer_to(self, view: View, asked: Asked) -> str | dict[str, Any]:
        del view
        plan = throw_script(self.game.name, self.seed, self._number, self.pace, self.mischief)
        return one_of(asked.choices, "foul" if self._foul(plan) else "play_on")
