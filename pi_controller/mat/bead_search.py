"""Model selection: the fewest magnets that explain a reading, found with a bounded amount of work.

Magnets are added where the grid says that one more would explain most, all of them are refined together, and one stays
only if the likelihood rises by more than noise could make it. Magnets far from each other are added at once; near each
other they mimic one, so there several guesses are followed side by side. A reading that takes more than `MOST_WORK`
(a telephone's, say) is given up: nothing sure is said about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.mat.bead_refine import ANY, DIVIDE_AM2, MARKED_AM2, SPREAD, UNMARKED_AM2, Refined, Refiner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pi_controller.mat.bead_fit import FittedBead
    from pi_controller.mat.bead_grid import Grid

    Array = NDArray[np.float64]

SURELY = 38.0
"""A magnet must better minus twice the log likelihood by this. Noise alone reaches it once in some 10^5 readings."""
PERHAPS = 24.0
"""From here on a further magnet cannot be ruled out."""
WORTH = 16.0
"""A place on the grid where a magnet would better chi squared by less is not looked into."""
PLAIN = 150.0
"""A place where a magnet would better chi squared by more has one, if there is no better place near."""
APART_MM = 16.0
"""Two beads cannot lie closer than this: they are 20 mm across."""
CLEAR_MM = 160.0
"""Magnets further apart than this do not get into each other's way."""
MOST_WORK = 400
"""Steps of the refinement, times guesses, times magnets, after which no further magnet is looked for."""


class Search:
    """The search in one reading. `gained` is what one more magnet would still better; `gave_up` that work ran out."""

    def __init__(self, refiner: Refiner, grid: Grid, most: int) -> None:
        self._refiner = refiner
        self._grid = grid
        self._most = most
        self.gained = 0.0
        self.gave_up = False
        self._first: Peaks = []
        self._free: Refined | None = None  # what the last fit came from, with strengths left open

    def from_nothing(self) -> Refined:
        """Return the best fit, when it is not known what to expect."""
        best = self._refiner.none()
        if not self._most:
            return best
        self._first = self._peaks(best, 70.0, 4)
        plain: list[Start] = []
        for gain, start in self._first:
            if gain > PLAIN and len(plain) < self._most and _distance(start[0], [p for p, _ in plain]) > CLEAR_MM:
                plain.append(start)
        if len(plain) > 1:
            together = self._refined([(best, plain)])
            if (worth(together) > 2.0 * SURELY).all():
                found = self._more(together)
                if self._fair(found) or self._refiner.work > MOST_WORK / 2:
                    return found
        self._free = None
        return self._more(best, self._first)

    def from_known(self, beads: Sequence[FittedBead]) -> Refined | None:
        """Return the fit with magnets about where `beads` were, or some of them, if that explains everything."""
        start = [(np.array([b.x_mm, b.y_mm, b.z_mm]), np.array(b.moment)) for b in beads]
        empty = self._refiner.none()
        there = self._worthy(self._refined([(empty, start)]))
        if there is None or not self._fair(there):
            return None
        if nearest(there.places) < CLEAR_MM:  # what two near each other are is for all guesses to say
            return None
        if len(there.places) < self._most and self._peaks(there, CLEAR_MM, 1):
            return None
        return there

    def _fair(self, fit: Refined) -> bool:
        return fair(fit.chi2, self._refiner.readings - 3 - 5 * len(fit.places))

    def _more(self, best: Refined, peaks: Peaks | None = None) -> Refined:
        """Add magnets while that is worth it, the next one at one of `peaks`."""
        while True:
            peaks = self._peaks(best, 45.0, 3) if peaks is None else peaks
            self.gained = 0.0
            if not peaks:
                return best
            if self._refiner.work > MOST_WORK:
                self.gave_up = True
                return best
            places = best.places
            near = np.hypot(*(places[:, :2] - peaks[0][1][0][:2]).T) < CLEAR_MM
            if near.sum() > 1:  # three beads do not lie so near each other: it is for the judge in any case
                self.gained = peaks[0][0]
                return best
            free = self._free
            following = self._one_more(best, peaks, bool(near.any()))
            self.gained = best.cost - following.cost
            if self.gained < SURELY or len(places) == self._most or _crowded(following.places):
                self._free = free
                return best
            best, peaks = following, None

    def _one_more(self, best: Refined, peaks: Peaks, near: bool) -> Refined:
        """Return the best fit with one magnet more, at any of `peaks`."""
        if not len(best.places):
            return self._refined([(best, [start]) for gain, start in peaks[:2] if gain > 0.5 * peaks[0][0]])
        if not near:
            return self._refined([(best, [peaks[0][1]])])
        guesses: Guesses = [(best, [start]) for _, start in peaks[:2]]
        # one magnet with its strength left open stands in for two better than one as beads are: start from that, too
        free = self._free
        if free is not None and len(free.places) == len(best.places):
            guesses += [(free, [start]) for _, start in self._peaks(free, 45.0, 2)]
        if len(best.places) == 1 and len(self._first) > 1:  # or from where both seem to be at first sight
            nothing = self._refiner.none()
            guesses += [(nothing, [self._first[0][1], start]) for _, start in self._first[1:3]]
        return self._refined(guesses)

    def _refined(self, guesses: Guesses) -> Refined:
        """Return the best of the `guesses`, fits with starts added: first of any strength, then as beads are."""
        places = np.array([[*fit.places, *(place for place, _ in starts)] for fit, starts in guesses])
        moments = np.array([[*fit.moments, *(moment for _, moment in starts)] for fit, starts in guesses])
        free = self._refiner.refine(places, moments, kinds_of(moments), spread=ANY, steps=8, keep=2)
        found: list[Refined] = []
        seen: set[tuple[float, ...]] = set()
        for fit in free[:2]:
            like = (round(fit.cost, 0), *np.round(np.sort(fit.places[:, 0]), 0).tolist())
            if like not in seen:
                seen.add(like)
                found.append(fit)
        moments = np.array([fit.moments for fit in found])
        tried = self._refiner.refine(np.array([fit.places for fit in found]), moments, kinds_of(moments), steps=8)
        self._free = free[0]
        return next((fit for fit in tried if nearest(fit.places) >= APART_MM), tried[0])

    def _peaks(self, base: Refined, apart_mm: float, count: int) -> Peaks:
        """Return gains, places (3,) and moments (3,) where a further magnet could be found, likeliest first."""
        weights = base.weights
        residual = base.residual - weights @ base.residual / max(float(weights.sum()), 1e-12)
        gain = self._grid.gain(residual, weights)
        found: Peaks = []
        for _ in range(count):
            peak = int(gain.argmax())
            if gain[peak] < WORTH:
                break
            place = self._grid.places[peak]
            found.append((float(gain[peak]), (place, self._refiner.moment_at(place, residual, weights))))
            gain = np.where(((self._grid.places - place) ** 2).sum(axis=1) < apart_mm**2, 0.0, gain)
        return found

    def _worthy(self, fit: Refined) -> Refined | None:
        """Return `fit` without the magnets that explain next to nothing, None when that is all of them."""
        keep = worth(fit) > 2.0 * SURELY
        if keep.all():
            return fit
        if not keep.any():
            return None
        return self._refiner.refine(fit.places[None, keep], fit.moments[None, keep], fit.kinds[None, keep])[0]


Guesses = list[tuple[Refined, "list[Start]"]]
"""Fits, each with magnets to be added to it."""
Peaks = list[tuple[float, "Start"]]
"""Gains in chi squared, and what would bring them, largest first."""
Start = tuple["Array", "Array"]
"""Place (3,) mm and moment (3,) A m^2 that a refinement starts from."""


def kinds_of(moments: Array) -> Array:
    """Return the kinds' strengths nearest to those of `moments` (..., 3)."""
    return np.where(np.linalg.norm(moments, axis=-1) > DIVIDE_AM2, MARKED_AM2, UNMARKED_AM2)


def nearest(places: Array) -> float:
    """Return the distance of the two nearest of `places` (n, 3) in the plane, mm."""
    apart = [float(np.hypot(*(places[i, :2] - places[j, :2]))) for i in range(len(places)) for j in range(i)]
    return min(apart, default=float("inf"))


def fair(chi2: float, freedom: int) -> bool:
    """Return whether `chi2` is consistent with noise alone, within six sigma."""
    return chi2 <= freedom + 6.0 * (2.0 * max(freedom, 1)) ** 0.5


def strengths(fit: Refined) -> tuple[Array, Array]:
    """Return each magnet's direction (n, 3), and how well the field alone tells its strength: one sigma (n,), A m^2."""
    axes, blocks = _without_kinds(fit)
    return axes, np.sqrt(np.einsum("ni,nij,nj->n", axes, blocks, axes))


def worth(fit: Refined) -> Array:
    """Return about how much chi squared would rise without each magnet, (n,)."""
    _, blocks = _without_kinds(fit)
    return np.einsum("ni,nij,nj->n", fit.moments, np.linalg.inv(blocks), fit.moments)


def _without_kinds(fit: Refined) -> tuple[Array, Array]:
    """Return the directions, and the covariance (n, 3, 3) of the moments when the kinds are not counted on."""
    count = len(fit.places)
    axes: Array = np.asarray(fit.moments / np.maximum(np.linalg.norm(fit.moments, axis=1), 1e-6)[:, None], np.float64)
    loose = fit.hessian.copy()
    for n in range(count):
        block = slice(6 * n + 3, 6 * n + 6)
        loose[block, block] -= 0.98 * np.outer(axes[n], axes[n]) / (SPREAD * fit.kinds[n]) ** 2
    spread = np.linalg.inv(loose).reshape(count, 6, count, 6)
    return axes, np.array([spread[n, 3:, n, 3:] for n in range(count)], dtype=np.float64)


def _distance(place: Array, others: list[Array]) -> float:
    """Return how far `place` is from the nearest of `others` in the plane, mm."""
    return min((float(np.hypot(*(place - other)[:2])) for other in others), default=float("inf"))


def _crowded(places: Array) -> bool:
    """Return whether three or more of `places` (n, 3) lie together: no beads do, but enough of them mimic anything."""
    apart = np.hypot(places[:, None, 0] - places[:, 0], places[:, None, 1] - places[:, 1])
    return bool(((apart < CLEAR_MM).sum(axis=1) > 2).any())
