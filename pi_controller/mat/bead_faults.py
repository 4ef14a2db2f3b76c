"""Detects faulty magnetometers: silent, saturated, stuck at one reading, or noisy.

A sensor is judged by its own readings against those of the others, scan by scan, and believed again when it reads like
them. What beads do is told apart from faults: a magnet that moves changes a reading smoothly where noise jumps to and
fro, and one that lies right over a sensor drives it to its rail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Wrong = Literal["silent", "rail", "stuck", "noisy"]

SILENT_SCANS = 30
"""So many scans (1.5 s) without a reading: the chip does not answer, or is at its rail."""
STUCK_SCANS = 3
"""A reading repeated so many times, to the last bit on all three axes, while most of the others change."""
RAIL = 0.98
"""Share of the range from which a reading is at the rail."""
TOWARDS_RAIL = 0.5
"""Share of the range: a sensor whose last reading was beyond, and is without one now, has gone to its rail."""
NOISY = 2.2
"""Times the others' noise from which a sensor is noisy; below `CALM` it is no longer."""
CALM = 1.6
NOISE_SCANS = 40
"""Over about so many scans (2 s)."""
JUMPS = -0.3
"""Correlation of one step with the next: -0.5 for noise, above 0 for what moves."""


class SensorFaults:
    """Watches `count` magnetometers; feed it every scan.

    `explained` (count,) bool says at which of them a bead lies so close that its rail is no fault.
    """

    def __init__(self, count: int, range_ut: float | None = None) -> None:
        self._range = pinmap().magnetometers.range_ut if range_ut is None else range_ut
        self.explained: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        self._last: Array | None = None
        self._was_ok = np.zeros(count, dtype=np.bool_)
        self._step: Array = np.zeros((count, 3))
        self._missing = np.zeros(count, dtype=np.int64)
        self._high = np.zeros(count, dtype=np.bool_)
        self._same = np.zeros(count, dtype=np.int64)
        self._scans = 0
        self._power: Array = np.zeros(count)
        self._to_and_fro: Array = np.zeros(count)
        self._noisy = np.zeros(count, dtype=np.bool_)
        self._rail = np.zeros(count, dtype=np.bool_)

    @property
    def wrong(self) -> dict[int, Wrong]:
        """What is wrong, by sensor (0 first, in wire order). "silent" may be a rail from the start: both are mute."""
        found: dict[int, Wrong] = {}
        mute = self._mute
        for n in np.flatnonzero(self.left_out).tolist():
            if self._rail[n] or (mute[n] and self._high[n]):
                found[n] = "rail"
            elif mute[n]:
                found[n] = "silent"
            else:
                found[n] = "stuck" if self._stuck[n] else "noisy"
        return found

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Which sensors (count,) something is wrong with."""
        return self._mute | self._stuck | self._noisy | (self._rail & ~self.explained)

    @property
    def _mute(self) -> NDArray[np.bool_]:
        return (self._missing >= SILENT_SCANS) & ~self.explained

    @property
    def _stuck(self) -> NDArray[np.bool_]:
        return self._same >= STUCK_SCANS

    def feed(self, ut: Array, ok: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Take one scan (count, 3) microtesla; return which sensors can be believed."""
        peak = np.abs(ut).max(axis=1)
        self._rail = ok & (peak >= RAIL * self._range)
        self._missing = np.where(ok, 0, self._missing + 1)
        self._high = np.where(ok, peak > TOWARDS_RAIL * self._range, self._high)
        if self._last is not None:
            both = ok & self._was_ok
            step = np.where(both[:, None], ut - self._last, 0.0)
            still = both & ~step.any(axis=1)
            others_change = 2 * int(still.sum()) < int(both.sum())
            self._same = np.where(still & others_change, self._same + 1, np.where(both, 0, self._same))
            self._listen(step, both & ~still)
        self._last, self._was_ok = ut, ok
        return ok & ~(self._rail | self._stuck | self._noisy)

    def _listen(self, step: Array, both: NDArray[np.bool_]) -> None:
        """Follow each sensor's noise by its steps (count, 3) from scan to scan."""
        self._scans += 1
        share = max(1.0 / NOISE_SCANS, 1.0 / self._scans)
        own = (step * step).sum(axis=1)
        again = (step * self._step).sum(axis=1)
        self._power += np.where(both, share * (own - self._power), 0.0)
        self._to_and_fro += np.where(both, share * (again - self._to_and_fro), 0.0)
        self._step = step
        if self._scans < NOISE_SCANS or not both.any():
            return
        power = self._power[both]
        usual = max(float(np.partition(power, power.size // 2)[power.size // 2]), 1e-6)  # a median, quickly
        jumps = self._to_and_fro < JUMPS * self._power
        self._noisy = np.where(self._noisy, self._power > CALM**2 * usual, jumps & (self._power > NOISY**2 * usual))
