"""How the mat is felt in each game: which magnets are in play, and how many hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.mat.bead_refine import UNMARKED_AM2
from pi_controller.mat.beads import BeadTracker
from pi_controller.mat.hands import HandDetector, HandSettings
from pi_controller.mat.sensors import MatSensors

if TYPE_CHECKING:
    from pi_controller.calibration.profile import Profile
    from pi_controller.mat.strikes import StrikeSettings

IN_A_FIST_MM = 45.0
"""So high above the mat a bone may be in a fist that rests on it."""


def mat_sensors_for(game: str, strikes: StrikeSettings | None = None, profile: Profile | None = None) -> MatSensors:
    """Return the feel of a mat on which `game` is played; `strikes` are the strike detector's settings.

    `profile` is what a calibration found out about this mat.
    """
    touch = HandSettings() if profile is None else profile.hand_settings()
    base = None if profile is None else profile.baseline()
    board = "" if profile is None else profile.board_id
    hands = HandDetector(settings=touch)
    match game:
        case "ojibwe":  # four balls, the three that are not marked with the weaker magnet
            beads = BeadTracker(smallest=UNMARKED_AM2, most=4, in_play=4, baseline=base)
            return MatSensors(strikes, hands=hands, beads=beads, board_id=board)
        case "slahal":  # two unmarked bones in two of four fists
            bones = BeadTracker(smallest=UNMARKED_AM2, most=2, in_play=2, highest_mm=IN_A_FIST_MM, baseline=base)
            return MatSensors(strikes, hands=HandDetector(settings=touch, most_hands=4), beads=bones, board_id=board)
        case _:
            return MatSensors(strikes, hands=hands, beads=BeadTracker(baseline=base), board_id=board)
