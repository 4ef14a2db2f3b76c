"""Magnetometer baseline: each chip's offset, learned while the mat is empty.

At power-up it is unknown whether the mat is empty. The offsets are then assumed to scatter about the uniform ambient
field by as much as the sensors themselves do, and a first reading without a visible bead becomes a *provisional*
baseline: a bead too faint against that scatter may be part of it. When such a bead is removed, the reading looks as if
a bead had been added. The scatter decides between the two: the empty mat has the smaller scatter.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pi_controller.sensing.bead_solver import Steel

Array = NDArray[np.float64]

EMPTY_PRIOR = 3.0
"""Log prior ratio that a mat is empty when the table is switched on, before any reading."""
CERTAIN_LOG_ODDS = 9.0
"""Log posterior ratio at which a decision is final: a ghost is read again and again, each time with new noise."""
DOUBT_LOG_ODDS = 6.0
"""Log posterior ratio up to which a single bead is uncertain."""
UNDECIDED_LOG_ODDS = 1.5
"""Log posterior ratio up to which it is undecided whether a bead was added or removed."""


@dataclass(slots=True)
class Baseline:
    """The magnetometers' reading of the empty mat.

    `offsets` (sensors, 3) microtesla, `known` (sensors,) is true for sensors whose offset has been learned, `scans` is
    the number of scans averaged.

    `scatter` microtesla is the spread between the sensors; `firm` is false while the baseline may include a bead.
    `level` (3,) microtesla is the uniform field at the time of learning. `steel` is under the mat, see `calibration`.
    """

    offsets: Array
    known: NDArray[np.bool_]
    scans: float
    scatter: float
    firm: bool
    level: Array
    steel: Steel | None = None

    def bead_log_odds(self, field: Array) -> float:
        """Return the log posterior ratio of a bead with `field` (sensors, 3) being added to it being removed."""
        if self.firm:
            return float("inf")
        with_it = subtract_uniform_field(self.offsets + field, self.known)
        without = subtract_uniform_field(self.offsets, self.known)
        return EMPTY_PRIOR + float((with_it**2).sum() - (without**2).sum()) / (2.0 * self.scatter**2)

    def field_change_ut(self, ut: Array, use: NDArray[np.bool_]) -> float:
        """Return the change of the uniform field since learning, microtesla: the mat was turned, or a door opened."""
        here = use & self.known
        return float(np.linalg.norm(np.median((ut - self.offsets)[here], axis=0) - self.level)) if here.any() else 0.0

    def follow(self, ut: Array, use: NDArray[np.bool_], scans: float) -> None:
        """Update the baseline with a further reading `ut` of the empty mat, weighted as `scans` scans."""
        off = subtract_uniform_field(ut - self.offsets, use & self.known)
        share = max(scans / (self.scans + scans), 0.1)
        self.offsets += share * off
        if (here := use & self.known).any():
            self.level = self.level + share * (np.median((ut - self.offsets)[here], axis=0) - self.level)
        fresh = use & ~self.known
        if fresh.any():
            self.offsets[fresh] = (ut - np.median((ut - self.offsets)[use & self.known], axis=0))[fresh]
            self.known = self.known | fresh
        self.scans = min(self.scans + scans, 400.0)


def learn_baseline(ut: Array, use: NDArray[np.bool_], scans: float, *, firm: bool) -> Baseline:
    """Return the baseline of an empty mat from its reading `ut` (sensors, 3), microtesla, of the sensors in `use`."""
    offsets = subtract_uniform_field(ut, use)
    level = np.median((ut - offsets)[use], axis=0) if use.any() else np.zeros(3)
    return Baseline(offsets, use.copy(), scans, field_scatter(ut, use), firm, level)


def subtract_uniform_field(ut: Array, use: NDArray[np.bool_]) -> Array:
    """Return `ut` (sensors, 3) minus the uniform field, the mean of the sensors in `use`; zero for the others."""
    if not use.any():
        return np.zeros_like(ut)
    return np.where(use[:, None], ut - ut[use].mean(axis=0), 0.0)


def field_scatter(ut: Array, use: NDArray[np.bool_]) -> float:
    """Return a robust standard deviation across the sensors, microtesla; a bead near a few of them has no effect."""
    if not use.any():
        return 1.0
    off = ut[use] - np.median(ut[use], axis=0)
    return max(0.5, 1.4826 * float(np.median(np.abs(off))))
