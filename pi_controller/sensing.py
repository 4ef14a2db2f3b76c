"""How the mat is felt in each game: which magnets are in play, and how many hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.registry import kind
from pi_controller.mat.bead_fit import HIGHEST_MM
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
    hidden = kind(game).hidden
    if hidden is None or not hidden.unmarked:
        hands, beads = HandDetector(settings=touch), BeadTracker(baseline=base)
    else:
        hands = HandDetector(settings=touch, most_hands=4 if hidden.in_fists else 2)
        beads = BeadTracker(
            smallest=UNMARKED_AM2,
            most=hidden.pieces,
            in_play=hidden.pieces,
            highest_mm=IN_A_FIST_MM if hidden.in_fists else HIGHEST_MM,
            baseline=base,
        )
    return MatSensors(strikes, hands=hands, beads=beads, board_id=board)
