"""Simulated players of the plum stone game: the lot, throws of the bowl, and what is no throw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.sim.plans import toss
from pi_controller.sim.throwers import Throwers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from pi_controller.sim.throws import ThrowScript
    from pi_controller.table.view import View


def thrown(random: np.random.Generator) -> dict[str, Any]:
    """Return the action for a throw in which each stone falls by itself."""
    return {"do": "throw", "moons": int(random.binomial(2, 0.5)), "whites": int(random.binomial(3, 0.5))}


class PlumThrowers(Throwers):
    """Throwers and judge of one table."""

    def _toss(self, view: View) -> Iterator[float]:
        del view
        return self._lot()

    def _lot(self) -> Iterator[float]:
        yield 0.4
        first = toss(self.seed)
        self.truth.did(0, {"do": "lot", "first": first})
        yield from self._pressing(f"toss_{first.lower()}")

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        return {"do": "no_throw"} if plan.again_s is not None and plan.counts else None

    def _entered_for(self, plan: ThrowScript) -> dict[str, Any]:
        return {"do": "no_throw"} if plan.spilled else plan.throw


PEOPLE = PlumThrowers
