"""Simulated players of throwing games: the thrower, and the judge who enters the throw.

Their plan for a turn comes from `throws`, their true actions are recorded in `turns`. The players count the turns: a
turn is over when an action was accepted for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_controller.table.view import QuestionView, View
from pi_controller.simulation.people import RETRY_S, TurnPeople, choose_answer
from pi_controller.simulation.throw_plans import ThrowScript, throw_script

TAP_AGAIN_S = 2.0
"""Time that a thrower who taps twice waits for the table before the next tap."""


class Throwers(TurnPeople):
    """Throwers and judge of one table."""

    _number = 0
    """The turn in progress, counted from 1; 0 before the first."""
    _strokes = 0
    _entered: int | None = None
    """The view's number when the judge entered this turn's action."""

    def _turn_key(self, view: View) -> object:
        if view.phase == "throw":
            entered = self._entered is not None and view.seq > self._entered
            if not self._number or view.strokes < self._strokes or entered:
                self._number += 1
                self._entered = None
        self._strokes = view.strokes
        return view.phase, self._number

    def _begin(self, view: View) -> Iterator[float] | None:
        match view.phase:
            case "toss":
                return self._toss(view)
            case "throw":
                return self._throw(throw_script(self.game.name, self.seed, self._number, self.pace, self.mischief))
            case _:
                return None

    def _throw(self, plan: ThrowScript) -> Iterator[float]:
        foul = self._foul(plan)
        action = foul or self._entered_for(plan)
        self.truth.begin(plan.turn, mischief=plan.mischief)
        self.truth.record_actions(plan.turn, action)
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
            yield RETRY_S

    def _tap(self, plan: ThrowScript) -> None:
        tap = plan.tap
        self._world.strike(tap.pad, tap.level_dbfs, tap.also, tap.also_after_s, tap.after_s)

    def _toss(self, view: View) -> Iterator[float] | None:
        """Return the plan before the first throw, if any."""
        del view
        return None

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        """Return the foul action for a second tap in this turn, if there is one and it counts."""
        del plan
        return None

    def _entered_for(self, plan: ThrowScript) -> dict[str, Any]:
        """Return the action that the judge enters for a throw without a foul."""
        return plan.throw

    # the judge

    def answer_to(self, view: View, asked: QuestionView) -> str | dict[str, Any]:
        """Return the judge\'s true answer, or the action that the judge enters instead."""
        del view
        plan = throw_script(self.game.name, self.seed, self._number, self.pace, self.mischief)
        return choose_answer(asked.choices, "foul" if self._foul(plan) else "play_on")
