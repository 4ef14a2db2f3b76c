"""Simulated players of bageswin: throws of the bowl, and the double tap."""

from typing import Any

import numpy as np

from pi_controller.games.bageswin.rules import PIECES
from pi_controller.simulation.throw_plans import ThrowScript
from pi_controller.simulation.throwing_people import Throwers


def throw_action(random: np.random.Generator) -> dict[str, Any]:
    """Return the action of a random throw, each piece falling independently."""
    return {"do": "throw", "red": {piece: int(random.binomial(most, 0.5)) for piece, most in PIECES.items()}}


class FishThrowers(Throwers):
    """Throwers and judge of one table."""

    def _foul(self, plan: ThrowScript) -> dict[str, Any] | None:
        return None if plan.again_s is None else {"do": "double_tap"}


PEOPLE = FishThrowers
