"""Model of the twelve touch strips: about 700 counts at rest, less under a hand, with drift and noise.

A simulation, not evidence about a real mat. The reading is a function of time only, on a grid of 10 ms.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.simulation.conditions import Conditions, Stream, rng
from pi_controller.simulation.hand_motion import Cover, Hand

TOUCH_GRID_HZ = 100
REST = 700.0
STRIP_PF = 65.0
"""Capacitance of a strip with its wire, within 15 %."""


class TouchStrips:
    """All strips of all pads, electrode (pad - 1) * 3 + strip."""

    def __init__(self, seed: int, conditions: Conditions) -> None:
        self.count = PADS * len(pinmap().touch.strips)
        self._seed = seed
        self._conditions = conditions
        self._cover = Cover()
        fixed = rng(seed, Stream.MAT, 2)
        self._rest = REST + fixed.uniform(-15.0, 15.0, self.count)
        self._gain = fixed.uniform(0.85, 1.15, self.count)
        self._period = fixed.uniform(90.0, 700.0, self.count)
        self._phase = fixed.uniform(0.0, 2 * np.pi, self.count)
        self.picofarads: NDArray[np.float64] = STRIP_PF * fixed.uniform(0.85, 1.15, self.count)
        """Capacitance of each strip without a hand."""
        self._second = -1
        self._rows: NDArray[np.float64] = np.zeros((TOUCH_GRID_HZ, self.count))
        self._bytes = b""
        self._bad: NDArray[np.bool_] = np.zeros(TOUCH_GRID_HZ, bool)

    def read(self, t: float, hands: Iterable[Hand]) -> bytes | None:
        """Return all counts at time `t` as u16 little endian, or None on a bus error."""
        row = int(t * TOUCH_GRID_HZ)
        second, i = divmod(row, TOUCH_GRID_HZ)
        if second != self._second:
            self._load(second)
        if self._bad[i]:
            return None
        loss: list[float] | None = None
        for hand in hands:
            covered = self._cover.counts(hand, row / TOUCH_GRID_HZ)
            if covered is not None:
                loss = covered if loss is None else [a + b for a, b in zip(loss, covered, strict=True)]
        if loss is None:
            return self._bytes[i * 2 * self.count : (i + 1) * 2 * self.count]
        return _counts(self._rows[i] - np.array(loss) * self._gain)

    def _load(self, second: int) -> None:
        conditions = self._conditions
        random = rng(self._seed, Stream.TOUCH, second)
        drift = conditions.touch_drift * np.sin(2 * np.pi * second / self._period + self._phase)
        self._rows = self._rest + drift + conditions.touch_noise * random.standard_normal((TOUCH_GRID_HZ, self.count))
        self._bad = random.random(TOUCH_GRID_HZ) < conditions.i2c_error_rate
        self._bytes = _counts(self._rows)
        self._second = second


def _counts(values: NDArray[np.float64]) -> bytes:
    return np.minimum(np.maximum(np.rint(values), 0.0), 1023.0).astype("<u2").tobytes()
