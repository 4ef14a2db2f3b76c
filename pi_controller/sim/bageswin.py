"""Simulated players of bageswin: throws of the bowl, and the double tap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.bageswin import PIECES
from pi_controller.sim.throwers import Throwers

if TYPE_CHECKING:
    import numpy as np

    from pi_controller.sim.throws import ThrowScript


def thrown(random: np.random.Generator) -> dict[str, Any]:
    """Return the action for a throw in which each piece falls by itself."""
    return {"do": "throw", "red": {piece: int(random.binomial(most, 0.5)) for piece, most in PIECES.items()}}


class FishThrowers(Throwers):
    """Throwers and judge of one table."""

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        return None if plan.again_s is None else {"do": "double_tap"}


PEOPLE = FishThrowers
