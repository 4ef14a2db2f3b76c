"""Model selection: finds the fewest magnets that explain a reading, with a bounded amount of work.

A magnet is added at the grid's best position and all magnets are refined together; it is kept only if the likelihood
rises by more than noise could cause. Magnets far apart are added at once; magnets close together look like one, so
several guesses are followed in parallel. A reading that takes more than `MAX_WORK` (a telephone's, for example) is
abandoned, and its fit is reported as unsure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pi_controller.sensing import bead_solver, grid_search

Array = NDArray[np.float64]


STEEL_DEPTHS_MM = (36.0, 45.0, 56.0, 70.0, 90.0, 120.0)
"""Depths below the mat's surface at which steel is tried first; the modules are at 30 mm, in a flat mat at 18."""
FINEST_STEEL = 0.04
"""Relative step of the depth and step of the strength at which the search for steel ends."""
MIN_GAIN = 38.0
"""A magnet must reduce minus twice the log likelihood by this. Noise alone does so once in about 10^5 readings."""
POSSIBLE_GAIN = 14.0
"""From this gain on a further magnet cannot be ruled out: two beads side by side look like one, but for so little."""
SEEN_CHI2 = 24.0
"""A bead that would change chi squared by less than this could go unnoticed."""
MIN_PEAK_GAIN = 16.0
"""Grid positions whose reduction of chi squared is smaller are not tried."""
CLEAR_PEAK_GAIN = 150.0
"""A grid position with a larger reduction of chi squared has a magnet, unless a better position is near."""
APART_MM = 16.0
"""Two beads cannot be closer than this: they are 20 mm across."""
INDEPENDENT_MM = 160.0
"""Magnets further apart than this do not affect each other's fit."""
MAX_WORK = 400
"""Refinement steps times guesses times magnets after which no further magnet is searched for."""


class Search:
    """Searches one reading. `gained` is the gain of one more magnet; `gave_up` is true at the work limit."""

    def __init__(self, refiner: bead_solver.Refiner, grid: grid_search.FieldGrid, most: int) -> None:
        self._refiner = refiner
        self._grid = grid
        self._most = most
        self.gained = 0.0
        self.gave_up = False
        self._first: Peaks = []
        self._free: bead_solver.MagnetFit | None = None  # the last fit with free strengths

    def search_from_scratch(self) -> bead_solver.MagnetFit:
        """Return the best fit without prior knowledge of the beads."""
        best = self._refiner.fit_no_magnets()
        if not self._most:
            return best
        self._first = self.find_peaks(best, 70.0, 4)
        plain: list[Start] = []
        for gain, start in self._first:
            if (
                gain > CLEAR_PEAK_GAIN
                and len(plain) < self._most
                and _distance(start[0], [p for p, _ in plain]) > INDEPENDENT_MM
            ):
                plain.append(start)
        if len(plain) > 1:
            together = self._refine_guesses([(best, plain)])
            if (magnet_gains(together) > 2.0 * MIN_GAIN).all():
                found = self._add_magnets(together)
                if self._fair(found) or self._refiner.work > MAX_WORK / 2:
                    return found
        self._free = None
        return self._add_magnets(best, self._first)

    def refit_known(self, known: list[Start]) -> bead_solver.MagnetFit | None:
        """Return the fit with magnets near (some of) the `known` ones; None if that leaves a residual."""
        empty = self._refiner.fit_no_magnets()
        there = self._worthy(self._refine_guesses([(empty, known)]))
        if there is None or not self._fair(there):
            return None
        if min_distance(there.places) < INDEPENDENT_MM:  # two magnets close together need all guesses
            return None
        if len(there.places) < self._most and self.find_peaks(there, INDEPENDENT_MM, 1):
            return None
        return there

    def _fair(self, fit: bead_solver.MagnetFit) -> bool:
        return is_noise(fit.chi2, self._refiner.readings - 3 - 5 * len(fit.places))

    def _add_magnets(self, best: bead_solver.MagnetFit, peaks: Peaks | None = None) -> bead_solver.MagnetFit:
        """Add magnets while each gains enough, the next one at one of `peaks`."""
        while True:
            peaks = self.find_peaks(best, 45.0, 3) if peaks is None else peaks
            self.gained = 0.0
            if not peaks:
                return best
            if self._refiner.work > MAX_WORK:
                self.gave_up = True
                return best
            places = best.places
            near = np.hypot(*(places[:, :2] - peaks[0][1][0][:2]).T) < INDEPENDENT_MM
            if near.sum() > 1:  # three beads are never so close together: the judge decides in any case
                self.gained = peaks[0][0]
                return best
            free = self._free
            following = self._try_one_more(best, peaks, bool(near.any()))
            self.gained = best.cost - following.cost
            if self.gained < MIN_GAIN or len(places) == self._most or _is_crowded(following.places):
                self._free = free
                return best
            best, peaks = following, None

    def _try_one_more(self, best: bead_solver.MagnetFit, peaks: Peaks, near: bool) -> bead_solver.MagnetFit:
        """Return the best fit with one more magnet, at any of `peaks`."""
        if not len(best.places):
            return self._refine_guesses([(best, [start]) for gain, start in peaks[:2] if gain > 0.5 * peaks[0][0]])
        if not near:
            return self._refine_guesses([(best, [peaks[0][1]])])
        guesses: Guesses = [(best, [start]) for _, start in peaks[:2]]
        # one magnet of free strength imitates two magnets better than one of a bead's strength: start from that, too
        free = self._free
        if free is not None and len(free.places) == len(best.places):
            guesses += [(free, [start]) for _, start in self.find_peaks(free, 45.0, 2)]
        if len(best.places) == 1 and len(self._first) > 1:  # or from the two best positions of the first grid search
            nothing = self._refiner.fit_no_magnets()
            guesses += [(nothing, [self._first[0][1], start]) for _, start in self._first[1:3]]
        return self._refine_guesses(guesses)

    def _refine_guesses(self, guesses: Guesses) -> bead_solver.MagnetFit:
        """Refine the `guesses` (fits plus starts), first with free strengths, then with a bead's; return the best."""
        places = np.array([[*fit.places, *(place for place, _ in starts)] for fit, starts in guesses])
        moments = np.array([[*fit.moments, *(moment for _, moment in starts)] for fit, starts in guesses])
        free = self._refiner.refine(
            places, moments, kinds_of(moments), spread=bead_solver.ANY_STRENGTH, steps=8, keep=2
        )
        found: list[bead_solver.MagnetFit] = []
        seen: set[tuple[float, ...]] = set()
        for fit in free[:2]:
            like = (round(fit.cost, 0), *np.round(np.sort(fit.places[:, 0]), 0).tolist())
            if like not in seen:
                seen.add(like)
                found.append(fit)
        moments = np.array([fit.moments for fit in found])
        tried = self._refiner.refine(np.array([fit.places for fit in found]), moments, kinds_of(moments), steps=8)
        self._free = free[0]
        return next((fit for fit in tried if min_distance(fit.places) >= APART_MM), tried[0])

    def find_peaks(self, base: bead_solver.MagnetFit, apart_mm: float, count: int) -> Peaks:
        """Return gain, position (3,) and moment (3,) of possible further magnets, likeliest first."""
        weights = base.weights
        residual = base.residual - weights @ base.residual / max(float(weights.sum()), 1e-12)
        gain = self._grid.gain(residual, weights)
        found: Peaks = []
        for _ in range(count):
            peak = int(gain.argmax())
            if gain[peak] < MIN_PEAK_GAIN:
                break
            place = self._grid.places[peak]
            found.append((float(gain[peak]), (place, self._refiner.moment_at(place, residual, weights))))
            gain = np.where(((self._grid.places - place) ** 2).sum(axis=1) < apart_mm**2, 0.0, gain)
        return found

    def _worthy(self, fit: bead_solver.MagnetFit) -> bead_solver.MagnetFit | None:
        """Return `fit` without magnets that do not improve it; None if none are left."""
        keep = magnet_gains(fit) > 2.0 * MIN_GAIN
        if keep.all():
            return fit
        if not keep.any():
            return None
        return self._refiner.refine(fit.places[None, keep], fit.moments[None, keep], fit.kinds[None, keep])[0]


Guesses = list[tuple[bead_solver.MagnetFit, "list[Start]"]]
"""Fits, each with the magnets to add to it."""
Peaks = list[tuple[float, "Start"]]
"""Gains in chi squared and the magnets that bring them, largest first."""
Start = tuple["Array", "Array"]
"""Position (3,) mm and moment (3,) A m^2 at the start of a refinement."""


def kinds_of(moments: Array) -> Array:
    """Return the strength of the kind closest to each of `moments` (..., 3), A m^2."""
    return np.where(
        np.linalg.norm(moments, axis=-1) > bead_solver.KIND_BOUNDARY_AM2,
        bead_solver.MARKED_AM2,
        bead_solver.UNMARKED_AM2,
    )


def min_distance(places: Array) -> float:
    """Return the distance of the closest two of `places` (n, 3) in the plane, mm."""
    apart = [float(np.hypot(*(places[i, :2] - places[j, :2]))) for i in range(len(places)) for j in range(i)]
    return min(apart, default=float("inf"))


def is_noise(chi2: float, freedom: int) -> bool:
    """Return True if `chi2` is consistent with noise alone, within six sigma."""
    return chi2 <= freedom + 6.0 * (2.0 * max(freedom, 1)) ** 0.5


def strengths(fit: bead_solver.MagnetFit) -> tuple[Array, Array]:
    """Return each magnet's direction (n, 3), and its strength's sigma from the field alone (n,), A m^2."""
    axes, blocks = _without_kinds(fit)
    return axes, np.sqrt(np.einsum("ni,nij,nj->n", axes, blocks, axes))


def magnet_gains(fit: bead_solver.MagnetFit) -> Array:
    """Return the approximate rise of chi squared without each magnet, (n,)."""
    _, blocks = _without_kinds(fit)
    return np.einsum("ni,nij,nj->n", fit.moments, np.linalg.inv(blocks), fit.moments)


def _without_kinds(fit: bead_solver.MagnetFit) -> tuple[Array, Array]:
    """Return the directions (n, 3) and the covariance (n, 3, 3) of the moments without the prior of the kinds."""
    count = len(fit.places)
    axes: Array = np.asarray(fit.moments / np.maximum(np.linalg.norm(fit.moments, axis=1), 1e-6)[:, None], np.float64)
    loose = fit.hessian.copy()
    for n in range(count):
        block = slice(6 * n + 3, 6 * n + 6)
        loose[block, block] -= 0.98 * np.outer(axes[n], axes[n]) / (bead_solver.SPREAD * fit.kinds[n]) ** 2
    spread = np.linalg.inv(loose).reshape(count, 6, count, 6)
    return axes, np.array([spread[n, 3:, n, 3:] for n in range(count)], dtype=np.float64)


def merge_closest(fit: bead_solver.MagnetFit) -> tuple[int, int, Array, Array]:
    """Return the closest two magnets i > j, the places with i halfway to j and without j, and their joint moment."""
    pairs = [(i, j) for i in range(len(fit.places)) for j in range(i)]
    i, j = min(pairs, key=lambda pair: min_distance(fit.places[list(pair)]))
    places = fit.places.copy()
    places[i] = (places[i] + places[j]) / 2
    return i, j, np.delete(places, j, axis=0), fit.moments[i] + fit.moments[j]


SteelReading = tuple[bead_solver.Refiner, "Array", "Array", "Array"]
"""A reading, and guesses of the places, moments and kinds of its magnets."""


def fit_steel(
    readings: Sequence[SteelReading], *, enough: float = float("-inf"), hopeless: float
) -> tuple[bead_solver.Steel, float]:
    """Fit the steel under the mat to all `readings` together; return it and the sum of their costs.

    The search ends as soon as the cost is below `enough`, or if no depth of `STEEL_DEPTHS_MM` brings it below
    `hopeless`.
    """
    best, least = bead_solver.Steel(STEEL_DEPTHS_MM[0], 0.8), float("inf")

    def is_better(depth_mm: float, strength: float) -> bool:
        nonlocal best, least
        depth_mm = min(max(depth_mm, STEEL_DEPTHS_MM[0]), 2.0 * STEEL_DEPTHS_MM[-1])
        steel = bead_solver.Steel(depth_mm, min(max(strength, 0.1), 1.0))
        cost = 0.0
        for refiner, places, moments, kinds in readings:
            over = refiner.with_steel(steel)
            cost += over.refine(places, moments, kinds, steps=8, keep=1)[0].cost
            refiner.work += over.work
        if better := cost < least:
            best, least = steel, cost
        return better

    for depth_mm in STEEL_DEPTHS_MM:
        is_better(depth_mm, best.strength)
    step = 0.16 if least < hopeless else 0.0
    while step > FINEST_STEEL and least >= enough:
        depth, strength = best.depth_mm, best.strength
        tries = ((depth * (1 + step), strength), (depth / (1 + step), strength))
        tries += ((depth, strength + step), (depth, strength - step))
        if not sum(is_better(*each) for each in tries):
            step /= 2
    return best, least


def _distance(place: Array, others: list[Array]) -> float:
    """Return the distance of `place` from the closest of `others` in the plane, mm."""
    return min((float(np.hypot(*(place - other)[:2])) for other in others), default=float("inf"))


def _is_crowded(places: Array) -> bool:
    """Return True if three or more of `places` (n, 3) are close together; beads never are."""
    apart = np.hypot(places[:, None, 0] - places[:, 0], places[:, None, 1] - places[:, 1])
    return bool(((apart < INDEPENDENT_MM).sum(axis=1) > 2).any())
