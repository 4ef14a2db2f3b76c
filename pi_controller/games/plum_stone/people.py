"""Simulated players of the plum stone game: the lot, throws of the bowl, and invalid throws."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pi_controller.simulation.plans import toss
from pi_controller.simulation.throw_plans import ThrowScript
from pi_controller.simulation.throwing_people import Throwers
from pi_controller.table.view import View


def throw_action(random: np.random.Generator) -> dict[str, Any]:
    """Return the action of a random throw, each stone falling independently."""
    return {"do": "throw", "moons": int(random.binomial(2, 0.5)), "whites": int(random.binomial(3, 0.5))}


class PlumThrowers(Throwers):
    """Throwers and judge of one table."""

    def _toss(self, view: View) -> Iterator[float]:
        del view
        return self._lot()

    def _lot(self) -> Iterator[float]:
        yield 0.4
        first = toss(self.seed)
        self.truth.record_actions(0, {"do": "lot", "first": first})
        yield from self._press_until_taken(f"toss_{first.lower()}")

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        return {"do": "no_throw"} if plan.again_s is not None and plan.counts else None

    def _entered_for(self, plan: ThrowScript) -> dict[str, Any]:
        return {"do": "no_throw"} if plan.spilled else plan.throw


PEOPLE = PlumThrowers
