"""How the mat is felt in each game: which magnets are in play, and how many hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.mat.bead_refine import UNMARKED_AM2
from pi_controller.mat.beads import BeadTracker
from pi_controller.mat.feel import Feel
from pi_controller.mat.hands import HandDetector

if TYPE_CHECKING:
    from pi_controller.mat.strikes import StrikeSettings


def feel_for(game: str, strikes: StrikeSettings | None = None) -> Feel:
    """Return the feel of a mat on which `game` is played; `strikes` are the strike detector's settings."""
    match game:
        case "ojibwe":  # four balls, the three that are not marked with the weaker magnet
            return Feel(strikes, beads=BeadTracker(smallest=UNMARKED_AM2, most=4))
        case "slahal":  # two unmarked bones in two of four fists
            return Feel(
                strikes, hands=HandDetector(most_hands=4), beads=BeadTracker(smallest=UNMARKED_AM2, most=2)
            )
        case _:
            return Feel(strikes)
