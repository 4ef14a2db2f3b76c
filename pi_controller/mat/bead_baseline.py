"""Magnetometer baseline: each chip's offset, learned while the mat is empty.

At power-up nobody knows whether the mat is empty. The offsets are then taken to scatter about the uniform field of the
surroundings by as much as the sensors themselves show, and a first reading with no bead in it becomes a *provisional*
baseline: a bead too faint against that scatter may hide in it. Such a bead shows itself later as one that seems to
come where it was in truth taken away; which of the two it is, the scatter tells: the empty mat is the more even one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

EMPTY_PRIOR = 3.0
"""Log prior ratio that a mat is empty when the table is switched on, before any reading."""
FIRM = 9.0
"""Log posterior ratio that settles a question for good: one ghost is read again and again, each time with new noise."""
DOUBT = 6.0
"""Log posterior ratio up to which one bead alone is in doubt."""
OPEN = 1.5
"""Log posterior ratio up to which it is open whether one has come or gone."""


@dataclass(slots=True)
class Baseline:
    """`offsets` (sensors, 3) microtesla, `known` (sensors,) which of them have been learned, `scans` averaged in them.

    `scatter` microtesla is how much the sensors differ; `firm` is false while a bead may hide in it. `level` (3,)
    microtesla is the uniform field that it was learned in.
    """

    offsets: Array
    known: NDArray[np.bool_]
    scans: float
    scatter: float
    firm: bool
    level: Array

    def in_favour(self, field: Array) -> float:
        """Return the log posterior ratio of a bead with `field` (sensors, 3) having come to one being taken away."""
        if self.firm:
            return float("inf")
        with_it = even(self.offsets + field, self.known)
        without = even(self.offsets, self.known)
        return EMPTY_PRIOR + float((with_it**2).sum() - (without**2).sum()) / (2.0 * self.scatter**2)

    def turned(self, ut: Array, use: NDArray[np.bool_]) -> float:
        """Return by how many microtesla the uniform field has changed since: the mat was turned, or a door opened."""
        here = use & self.known
        return float(np.linalg.norm(np.median((ut - self.offsets)[here], axis=0) - self.level)) if here.any() else 0.0

    def follow(self, ut: Array, use: NDArray[np.bool_], scans: float) -> None:
        """Update with a further reading `ut` of the empty mat, which counts as `scans` scans."""
        off = even(ut - self.offsets, use & self.known)
        share = max(scans / (self.scans + scans), 0.1)
        self.offsets += share * off
        if (here := use & self.known).any():
            self.level = self.level + share * (np.median((ut - self.offsets)[here], axis=0) - self.level)
        fresh = use & ~self.known
        if fresh.any():
            self.offsets[fresh] = (ut - np.median((ut - self.offsets)[use & self.known], axis=0))[fresh]
            self.known = self.known | fresh
        self.scans = min(self.scans + scans, 400.0)


def learn(ut: Array, use: NDArray[np.bool_], scans: float, *, firm: bool) -> Baseline:
    """Return the baseline of a mat that reads `ut` when empty."""
    offsets = even(ut, use)
    level = np.median((ut - offsets)[use], axis=0) if use.any() else np.zeros(3)
    return Baseline(offsets, use.copy(), scans, scatter(ut, use), firm, level)


def even(ut: Array, use: NDArray[np.bool_]) -> Array:
    """Return `ut` (sensors, 3) without the uniform field: less the mean of the sensors in use; zero for others."""
    if not use.any():
        return np.zeros_like(ut)
    return np.where(use[:, None], ut - ut[use].mean(axis=0), 0.0)


def scatter(ut: Array, use: NDArray[np.bool_]) -> float:
    """Return a robust standard deviation across the sensors, microtesla; a bead near a few does not count."""
    if not use.any():
        return 1.0
    off = ut[use] - np.median(ut[use], axis=0)
    return max(0.5, 1.4826 * float(np.median(np.abs(off))))
