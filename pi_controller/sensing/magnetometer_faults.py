"""Detects faulty magnetometers: silent, saturated, stuck at one reading, or noisy.

Each sensor is compared with the others, scan by scan, and is trusted again when it reads like them. Beads are
distinguished from faults: a moving magnet changes a reading smoothly while noise jumps back and forth, and a magnet
directly over a sensor saturates it.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pi_controller.pinmap import pinmap
from pi_controller.sensing.faults import Array

MagnetometerFault = Literal["silent", "rail", "stuck", "noisy"]

SILENT_SCANS = 30
"""Scans (1.5 s) without a reading after which the sensor is silent: the chip does not answer, or is at its rail."""
FIELD_STUCK_SCANS = 3
"""Identical readings in a row, on all three axes while most other sensors change, that make a sensor stuck."""
FIELD_RAIL = 0.98
"""A reading above this share of the range is at the rail."""
TOWARDS_RAIL = 0.5
"""Share of the range: a sensor without a reading whose last one was above this is taken to be at its rail."""
NOISY_UT = 2.2
"""A sensor with this multiple of the others' noise is noisy, until it is below `CALM`."""
CALM = 1.6
NOISE_SCANS = 40
"""Time constant of the noise average, scans (2 s)."""
JUMPS = -0.3
"""Correlation of one step with the next below which it counts as noise: -0.5 for noise, above 0 for a moving magnet."""


class MagnetometerMonitor:
    """Monitors `count` magnetometers, of which those that are not `built` are excluded; feed it every scan.

    `explained` (count,) bool is true for sensors with a bead so close that being at the rail is no fault.
    """

    def __init__(self, count: int, range_ut: float | None = None, built: NDArray[np.bool_] | None = None) -> None:
        self._built: NDArray[np.bool_] = np.ones(count, dtype=np.bool_) if built is None else built
        self._range = pinmap().magnetometers.range_ut if range_ut is None else range_ut
        self.explained: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        self._last: Array | None = None
        self._was_ok = np.zeros(count, dtype=np.bool_)
        self._step: Array = np.zeros((count, 3))
        self._none = np.zeros(count, dtype=np.int64)
        self._missing = self._same = self._none
        self._high = np.zeros(count, dtype=np.bool_)
        self._scans = 0
        self._power: Array = np.zeros(count)
        self._to_and_fro: Array = np.zeros(count)
        self._noisy = np.zeros(count, dtype=np.bool_)
        self._rail = np.zeros(count, dtype=np.bool_)

    @property
    def faults(self) -> dict[int, MagnetometerFault]:
        """Fault of each faulty sensor (0 first, in wire order). "silent" may be a sensor at its rail from the start."""
        found: dict[int, MagnetometerFault] = {}
        mute = self._mute
        for n in np.flatnonzero(self.excluded & self._built).tolist():
            if self._rail[n] or (mute[n] and self._high[n]):
                found[n] = "rail"
            elif mute[n]:
                found[n] = "silent"
            else:
                found[n] = "stuck" if self._stuck[n] else "noisy"
        return found

    @property
    def excluded(self) -> NDArray[np.bool_]:
        """The faulty sensors, a mask (count,)."""
        return ~self._built | self._mute | self._stuck | self._noisy | (self._rail & ~self.explained)

    @property
    def _mute(self) -> NDArray[np.bool_]:
        return (self._missing >= SILENT_SCANS) & ~self.explained

    @property
    def _stuck(self) -> NDArray[np.bool_]:
        return self._same >= FIELD_STUCK_SCANS

    def feed(self, ut: Array, ok: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Process one scan `ut` (count, 3) microtesla; return a mask (count,) of the sensors that can be trusted."""
        peak = np.maximum.reduce(np.abs(ut), axis=1)
        high = peak > TOWARDS_RAIL * self._range
        all_ok = bool(np.logical_and.reduce(ok))
        self._rail = ok & (peak >= FIELD_RAIL * self._range)
        self._missing = self._none if all_ok else np.where(ok, 0, self._missing + 1)
        self._high = high if all_ok else np.where(ok, high, self._high)
        if self._last is not None:
            both = ok & self._was_ok
            step = np.where(both[:, None], ut - self._last, 0.0)
            moved = np.logical_or.reduce(step != 0.0, axis=1)
            if np.logical_and.reduce(moved):
                self._same = self._none
            else:
                still = both & ~moved
                others_change = 2 * int(still.sum()) < int(both.sum())
                self._same = np.where(still & others_change, self._same + 1, np.where(both, 0, self._same))
            self._listen(step, moved)
        self._last, self._was_ok = ut, ok
        return ok & ~(self._rail | self._stuck | self._noisy)

    def _listen(self, step: Array, both: NDArray[np.bool_]) -> None:
        """Update each sensor's noise from its steps (count, 3) between scans."""
        self._scans += 1
        share = max(1.0 / NOISE_SCANS, 1.0 / self._scans)
        own = np.add.reduce(step * step, axis=1)
        again = np.add.reduce(step * self._step, axis=1)
        self._power += np.where(both, share * (own - self._power), 0.0)
        self._to_and_fro += np.where(both, share * (again - self._to_and_fro), 0.0)
        self._step = step
        if self._scans < NOISE_SCANS or not np.logical_or.reduce(both):
            return
        power = self._power[both]
        usual = max(float(np.partition(power, power.size // 2)[power.size // 2]), 1e-6)  # a median, quickly
        jumps = self._to_and_fro < JUMPS * self._power
        self._noisy = np.where(self._noisy, self._power > CALM**2 * usual, jumps & (self._power > NOISY_UT**2 * usual))
