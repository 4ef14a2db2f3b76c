"""Four balls, and a mat nobody has calibrated: once all that are in play are seen, none hides in the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from cases import cases

from pi_controller.board.messages import Field
from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import MARKED_AM2, UNMARKED_AM2
from pi_controller.sensing.beads import BeadTracker

if TYPE_CHECKING:
    from pi_controller.sensing.events import BeadsAtRest

SENSORS = np.array(pinmap().magnetometer_positions())
LYING_MM = 6.0


class Mat:
    """A mat scanned 20 times a second, with balls lying on it by name."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.offsets = self.rng.normal(0.0, 6.0, SENSORS.shape)
        self.tracker = BeadTracker(smallest=UNMARKED_AM2, most=4, in_play=4)
        self.balls: dict[str, np.ndarray] = {}
        self.t = 10.0

    def lay(self, name: str, pad: int, strength: float) -> None:
        pads = pinmap().pads
        x, y = pads.centre(pad)
        axis = self.rng.normal(0.0, 1.0, 3)
        place = [
            x + self.rng.uniform(-0.35, 0.35) * pads.width_mm,
            y + self.rng.uniform(-0.35, 0.35) * pads.depth_mm,
            LYING_MM,
        ]
        moment = strength * axis / np.linalg.norm(axis)
        r = SENSORS - np.array(place)
        d = np.linalg.norm(r, axis=1, keepdims=True)
        self.balls[name] = 1e8 * (3 * r * (r @ moment)[:, None] / d**5 - moment / d**3)

    def rest(self, seconds: float = 2.0) -> BeadsAtRest | None:
        """Let time pass; return the last thing said."""
        said = None
        for _ in range(round(seconds * 20)):
            self.t += 0.05
            ut = np.array([18.0, 3.0, -47.0]) + self.offsets + self.rng.normal(0.0, 0.7, SENSORS.shape)
            ut = ut + sum(self.balls.values(), np.zeros(SENSORS.shape))
            for one in self.tracker.feed(Field(self.t, ut, np.ones(len(SENSORS), dtype=np.bool_))):
                said = one
        return said


@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_four_balls_are_read_surely_after_power_up(seed: int) -> None:
    mat = Mat(seed)
    marked = 1 + seed % 4
    mat.rest()
    for hide in range(2):
        for pad in (1, 2, 3, 4):
            mat.lay(f"ball {pad}", pad, MARKED_AM2 if pad == marked else UNMARKED_AM2)
            last = mat.rest(0.7)
        last = mat.rest(1.5) or last
        assert last is not None
        if last.sure:
            assert sorted((ball.pad, ball.marked) for ball in last.found) == [(p, p == marked) for p in (1, 2, 3, 4)]
        assert last.sure or hide == 0
        mat.balls.clear()
        away = mat.rest()
        assert away is not None
        assert away.found == ()
    assert away.sure


@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_ball_removed_after_power_up_is_not_counted(seed: int) -> None:
    mat = Mat(100 + seed)
    mat.lay("forgotten", 1 + seed % 4, UNMARKED_AM2)
    mat.rest()
    del mat.balls["forgotten"]
    mat.rest()
    others = [pad for pad in (1, 2, 3, 4) if pad != 1 + seed % 4]
    for pad in others:
        mat.lay(f"ball {pad}", pad, MARKED_AM2 if pad == others[0] else UNMARKED_AM2)
        mat.rest(0.7)
    said = mat.rest(1.5) or mat.tracker.last_report
    assert said is not None
    if said.sure:
        assert sorted(ball.pad or 0 for ball in said.found) == others
