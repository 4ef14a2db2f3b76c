"""Dipole fit: counts and locates the beads on the mat, marked or not, from one magnetometer reading at rest.

Every bead holds a small magnet (a dipole). `bead_solver.py` finds the magnets that explain the reading best;
this module classifies them and lists doubts. A fit is in doubt if a residual is left that no bead explains, a strength
is between the two kinds, a bead is on the very edge of a pad, a magnet is above the mat, a telephone would look the
same, one bead over steel would look like two, or sensors are missing so that a bead could go unnoticed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from pi_controller.errors import MatError
from pi_controller.pinmap import Pads, PinMap, pinmap
from pi_controller.sensing import bead_solver, grid_search
from pi_controller.sensing.events import Bead

Array = NDArray[np.float64]

# Model selection: finds the fewest magnets that explain a reading, with a bounded amount of work.
#
# A magnet is added at the grid's best position and all magnets are refined together; it is kept only if the likelihood
# rises by more than noise could cause. Magnets far apart are added at once; magnets close together look like one, so
# several guesses are followed in parallel. A reading that takes more than `MAX_WORK` (a telephone's, for example) is
# abandoned, and its fit is reported as unsure.


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

    def refit_known(self, beads: Sequence[FittedBead]) -> bead_solver.MagnetFit | None:
        """Return the fit with magnets near the positions of (some of) `beads`; None if that leaves a residual."""
        start = [(np.array([b.x_mm, b.y_mm, b.z_mm]), np.array(b.moment)) for b in beads]
        empty = self._refiner.fit_no_magnets()
        there = self._worthy(self._refine_guesses([(empty, start)]))
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


def _merge_closest(fit: bead_solver.MagnetFit) -> tuple[int, int, Array, Array]:
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


AMBIGUOUS_COST = 12.0
"""Two fits closer than this in minus twice the log likelihood are both possible."""
STEEL_COST = 50.0
"""The same for one bead over steel, for a real plate has an end and its image is not exact. Two beads gain hundreds."""
HOPELESS_COST = 300.0
"""A cost that is more than this above the wanted one at all of `STEEL_DEPTHS_MM` is not searched further."""
HIGHEST_MM = 16.0
"""A magnet that is, or may be, higher than this above the mat does not belong to a bead on it; a bead's is 2 to 12."""
EDGE_SIGMAS = (1.3, 1.7)
"""A bead closer to a pad's edge than this many sigmas could be on either side; for one fitted inside, outside.

Beads are inside far more often, and the reported sigmas are slightly too large (95 %,
`tests/sensing/measure_beads.py`).
"""
MAX_STRENGTH_SIGMAS = 2.2
"""A magnet whose strength is more sigmas than this from its kind's is no bead."""
BEAD_RADIUS_MM = 10.0
"""Radius of a bead: one whose centre is closer to a pad's edge would be visible."""
FIST_MM = 30.0
"""A bead in a fist that rests on a pad is at least this far inside the pad's edge."""
MAX_STRENGTH_ERROR = 0.25
"""Largest relative difference of a freely fitted strength from the kind's strength."""
VAGUE_MM = 7.0
"""A magnet beside the pads with a larger position uncertainty (one sigma) than this need not be a bead."""
FREE_LIFT_MM = 40.0
"""Sigma of the height in a fit without expectations."""
KIND_CLEAR = 0.015
"""Strength uncertainty (A m^2, one sigma, kinds not assumed) below which the kind is certain."""


STEEL_DEPTHS_MM = (36.0, 45.0, 56.0, 70.0, 90.0, 120.0)
"""Depths below the mat's surface at which steel is tried first; the modules are at 30 mm, in a flat mat at 18."""
FINEST_STEEL = 0.04
"""Relative step of the depth and step of the strength at which the search for steel ends."""


class FieldError(MatError, ValueError):
    """The shape of a reading does not match the magnetometers of the pin map."""

    code = "field"


@dataclass(frozen=True, slots=True)
class FittedBead:
    """One magnet: position (mm, as in the pin map), `moment` (A m^2, x y z), `sd_mm` the uncertainty of the position.

    The repr omits the position, which is secret.
    """

    x_mm: float = field(repr=False)
    y_mm: float = field(repr=False)
    z_mm: float = field(repr=False)
    moment: tuple[float, float, float] = field(repr=False)
    marked: bool
    pad: int | None = field(repr=False)
    sd_mm: float = field(repr=False)

    def field_at(self, sensors_mm: Array) -> Array:
        """Return the magnet's field at `sensors_mm` (n, 3) in microtesla, (n, 3)."""
        return bead_solver.response(sensors_mm, np.array([self.x_mm, self.y_mm, self.z_mm])) @ np.array(self.moment)

    def bead(self) -> Bead:
        """Return the bead as it appears in an event, its position rounded to a tenth of a mm."""
        return Bead(self.pad, self.marked, round(self.x_mm, 1), round(self.y_mm, 1))


@dataclass(frozen=True, slots=True)
class BeadFit:
    """Result of a fit. `residual` is chi squared per degree of freedom; `doubts` are the reasons why it is not sure.

    `work` is the cost: refinement steps times magnets. It must not be shown, for it depends on the beads' positions.
    """

    beads: tuple[FittedBead, ...]
    residual: float
    doubts: tuple[str, ...] = ()
    work: int = field(default=0, repr=False, compare=False)

    @property
    def sure(self) -> bool:
        """True if there are no doubts."""
        return not self.doubts


class BeadFitter:
    """Fits readings of one mat. The first fit computes the grids (about 20 ms each); fits share no other state.

    `highest_mm` is the greatest height above the mat's surface that counts as on the mat. Set it above the default if
    hands that hold magnets rest on the mat; an uncertain kind is then no doubt. `depth_mm` is how deep the
    magnetometers lie (`PinMap.magnetometer_positions`).
    """

    def __init__(
        self,
        pins: PinMap | None = None,
        *,
        step_mm: float = 25.0,
        highest_mm: float = HIGHEST_MM,
        depth_mm: float | None = None,
    ) -> None:
        chosen = pinmap() if pins is None else pins
        self.sensors_mm: Array = np.array(chosen.magnetometer_positions(depth_mm))
        self._pads: Pads = chosen.pads
        self._highest = highest_mm
        self._lifted = highest_mm > HIGHEST_MM
        self._lies = (highest_mm / 2, highest_mm / 3) if self._lifted else bead_solver.BEAD_HEIGHT_MM
        self._step_mm = step_mm

    @cached_property
    def _grid(self) -> grid_search.FieldGrid:  # built on first use: a mat without magnetometers needs none
        return grid_search.FieldGrid(self.sensors_mm, self._pads, step_mm=self._step_mm, height_mm=self._lies[0] - 1.0)

    @cached_property
    def _reach(self) -> grid_search.Detectability:
        far = self._highest if self._lifted else bead_solver.BEAD_HEIGHT_MM[0] - 1.0
        inset = FIST_MM if self._lifted else BEAD_RADIUS_MM
        return grid_search.Detectability(self.sensors_mm, self._pads, height_mm=far, inset_mm=inset)

    def fit(
        self,
        ut: Array,
        ok: NDArray[np.bool_],
        *,
        noise: float = 1.0,
        most: int = 4,
        smallest: float = bead_solver.MARKED_AM2,
        start: tuple[FittedBead, ...] = (),
        steel: bead_solver.Steel | None = None,
    ) -> BeadFit:
        """Fit beads to a reading.

        `ut` (sensors, 3) microtesla minus the sensors' own offsets (a uniform field may remain); `ok` (sensors,) false
        for sensors to leave out; `noise` microtesla, one sigma of everything but beads; `most` is the largest number of
        beads; `smallest` A m^2 is the weakest bead in play; `start` are beads that may still be at their places;
        `steel` is known to be under the mat.
        Raises `FieldError` for other shapes.
        """
        if ut.shape != self.sensors_mm.shape or ok.shape != ut.shape[:1]:
            raise FieldError(
                f"a reading of shape {ut.shape} for {len(self.sensors_mm)} magnetometers",
                "check that the board's firmware and pinmap.toml belong together",
            )
        use = ok & np.isfinite(ut).all(axis=1)
        readings = 3 * int(use.sum())
        most = min(most, max(readings // 6 - 1, 0))
        refiner = bead_solver.Refiner(self.sensors_mm, ut, use, noise, self._lies, steel)
        search = Search(refiner, self._grid, most)
        known = start[:most]
        best = search.refit_known(known) if known else None
        if best is None:
            best = search.search_from_scratch()
        doubts: list[str] = ["too much to look into"] if search.gave_up else []
        freedom = readings - 3 - 5 * len(best.places)
        if search.gained >= POSSIBLE_GAIN:
            doubts.append("perhaps another magnet")
        if not is_noise(best.chi2, freedom):
            doubts.append("something magnetic that is no bead")
        if not doubts:  # with a doubt the judge decides anyway
            best = self._kinds(refiner, best, doubts)
        if not (doubts or self._lifted):
            if self._need_not_be_beads(refiner, best):
                doubts.append("a magnet that need not be a bead")
            elif min_distance(best.places) < INDEPENDENT_MM and self._fits_held_bead(refiner, best):
                doubts.append("a magnet above the mat")
            elif min_distance(best.places) < INDEPENDENT_MM and self._fits_bead_over_steel(refiner, best):
                doubts.append("one bead over steel could look like two")
        if (best.kinds < 0.9 * smallest).any():
            doubts.append("a magnet weaker than any bead in play")
        full = len(best.places) == most  # no bead is missing
        if not (full and most) and self._reach.min_chi2(use, noise, smallest, best.places) < SEEN_CHI2:
            doubts.append("a bead could lie where the magnetometers do not reach")
        beads = self._beads(best, doubts)
        return BeadFit(beads, best.chi2 / max(freedom, 1), tuple(dict.fromkeys(doubts)), refiner.work)

    def _kinds(
        self, refiner: bead_solver.Refiner, best: bead_solver.MagnetFit, doubts: list[str]
    ) -> bead_solver.MagnetFit:
        """Return `best` with each magnet's kind exchanged if that fits better; add a doubt if both kinds fit."""
        if not len(best.places):
            return best
        axes, spread = strengths(best)
        open_to = [n for n in range(len(axes)) if spread[n] > KIND_CLEAR]
        if not open_to:
            return best
        other = np.where(best.kinds == bead_solver.MARKED_AM2, bead_solver.UNMARKED_AM2, bead_solver.MARKED_AM2)
        if min_distance(best.places) < INDEPENDENT_MM:
            guesses = [np.where(np.arange(len(other)) == n, other, best.kinds) for n in open_to]
            guesses += [np.where(np.isin(np.arange(len(other)), open_to), other, best.kinds)] * (len(open_to) > 1)
            kinds = np.array(guesses)
        else:  # each for itself
            kinds, turned = best.kinds.copy(), False
            for n in open_to:
                pair = np.array([[best.kinds[n]], [other[n]]])
                moments = axes[None, n : n + 1] * pair[..., None]
                alone = refiner.isolate_magnet(best, n)
                tried = alone.refine(np.repeat(best.places[None, n : n + 1], 2, axis=0), moments, pair, steps=6)
                if tried[1].cost - tried[0].cost < AMBIGUOUS_COST and not self._lifted:
                    doubts.append("marked or not cannot be told")
                if tried[0].kinds[0] == other[n]:
                    kinds[n], turned = other[n], True
            if not turned:
                return best
            kinds = kinds[None]
        moments = np.where((kinds == best.kinds)[..., None], best.moments, axes * kinds[..., None])
        found = refiner.refine(np.repeat(best.places[None], len(kinds), axis=0), moments, kinds, steps=6)[0]
        if abs(found.cost - best.cost) < AMBIGUOUS_COST and not self._lifted:
            doubts.append("marked or not cannot be told")
        return min(best, found, key=lambda fit: fit.cost)

    def _fits_held_bead(self, refiner: bead_solver.Refiner, best: bead_solver.MagnetFit) -> bool:
        """Return True if one bead held above the mat fits as well as the two closest magnets of `best`."""
        i, j, places, moment = _merge_closest(best)
        moments, where = np.delete(best.moments, j, axis=0), i - 1
        places[where, 2] += 60.0
        kinds = np.repeat(kinds_of(moments)[None], 2, axis=0)
        kinds[:, where] = bead_solver.MARKED_AM2, bead_solver.UNMARKED_AM2
        many = np.repeat(moments[None], 2, axis=0)
        many[:, where] = moment * (kinds[:, where] / max(float(np.linalg.norm(moment)), 1e-4))[:, None]
        held = refiner.refine(np.repeat(places[None], 2, axis=0), many, kinds, lift=150.0, steps=8)
        return held[0].cost < best.cost + AMBIGUOUS_COST

    def _fits_bead_over_steel(self, refiner: bead_solver.Refiner, best: bead_solver.MagnetFit) -> bool:
        """Return True if one bead over steel fits as well as the two closest magnets of `best`."""
        i, j, merged, moment = _merge_closest(best)
        places, moments = np.repeat(merged[None], 3, axis=0), np.repeat(np.delete(best.moments, j, axis=0)[None], 3, 0)
        places[:2, i - 1] = best.places[[i, j]]
        moments[:, i - 1] = best.moments[i], best.moments[j], moment
        enough = best.cost + STEEL_COST
        case = (refiner, places, moments, kinds_of(moments))
        return fit_steel([case], enough=enough, hopeless=enough + HOPELESS_COST)[1] < enough

    def find_steel(self, readings: Sequence[tuple[Array, NDArray[np.bool_]]], noise: float) -> bead_solver.Steel | None:
        """Return the steel that explains `readings` of one marked bead each markedly better than none, or None.

        A reading is `ut` (sensors, 3) microtesla and `ok` (sensors,), as for `fit`.
        """
        tried: list[SteelReading] = []
        plain = 0.0
        for ut, ok in readings:
            refiner = bead_solver.Refiner(self.sensors_mm, ut, ok, noise, self._lies)
            starts = [
                start for _, start in Search(refiner, self._grid, 1).find_peaks(refiner.fit_no_magnets(), 70.0, 3)
            ]
            if not starts:
                return None
            places, moments = (np.array(each)[:, None] for each in zip(*starts, strict=True))
            kinds = np.full(moments.shape[:2], bead_solver.MARKED_AM2)
            plain += refiner.refine(places, moments, kinds)[0].cost
            tried.append((refiner, places, moments, kinds))
        steel, cost = fit_steel(tried, hopeless=plain - MIN_GAIN)
        excess = cost - sum(refiner.readings for refiner, *_ in tried)
        return steel if plain - cost > max(2.0 * MIN_GAIN, 2.0 * excess) else None

    def _need_not_be_beads(self, refiner: bead_solver.Refiner, best: bead_solver.MagnetFit) -> bool:
        """Return True if magnets beside the pads, or close together, look like beads only because beads are expected.

        A telephone or a chair leg can look like that; a fit without expectations then gives another strength or height.
        """
        apart = np.hypot(*(best.places[:, None, axis] - best.places[:, axis] for axis in (0, 1)))
        np.fill_diagonal(apart, np.inf)
        odd = [
            n
            for n, (x, y, _) in enumerate(best.places)
            if self._pads.at(float(x), float(y)) is None or apart[n].min() < INDEPENDENT_MM
        ]
        if not odd:
            return False
        free = refiner.refine(
            best.places[None],
            best.moments[None],
            best.kinds[None],
            spread=bead_solver.ANY_STRENGTH,
            lift=FREE_LIFT_MM,
            steps=6,
        )[0]
        off = np.abs(np.linalg.norm(free.moments[odd], axis=1) / best.kinds[odd] - 1.0)
        return bool((off > MAX_STRENGTH_ERROR).any() or (free.places[odd, 2] > self._highest + 6.0).any())

    def _beads(self, best: bead_solver.MagnetFit, doubts: list[str]) -> tuple[FittedBead, ...]:
        """Return the magnets of a fit as beads, left to right, and add their doubts to `doubts`."""
        count = len(best.places)
        if not count:
            return ()
        spread = np.sqrt(np.diagonal(np.linalg.inv(best.hessian))).reshape(count, 6)
        beads: list[FittedBead] = []
        for place, moment, kind, sd in zip(best.places, best.moments, best.kinds, spread, strict=True):
            x, y, z = (float(v) for v in place)
            mx, my, mz = (float(v) for v in moment)
            strength = math.hypot(mx, my, mz)
            marked = bool(kind > bead_solver.KIND_BOUNDARY_AM2)
            if abs(strength - kind) > MAX_STRENGTH_SIGMAS * bead_solver.SPREAD * kind:
                doubts.append("a magnet of a strength that no bead has")
            pad = self._pads.at(x, y)
            dx, dy = (EDGE_SIGMAS[pad is None] * float(v) for v in sd[:2])
            if pad is not None and not self._lifted:  # closer to the edge a bead would be visible
                dx, dy = max(dx, BEAD_RADIUS_MM), max(dy, BEAD_RADIUS_MM)
            if z > self._highest + (EDGE_SIGMAS[1] if self._lifted else -EDGE_SIGMAS[0]) * float(sd[2]):
                doubts.append("a magnet above the mat")
                pad = None
            elif any(self._pads.at(*at) != pad for at in ((x - dx, y), (x + dx, y), (x, y - dy), (x, y + dy))):
                doubts.append("a bead on the edge of a pad")
            if pad is None and float(np.hypot(sd[0], sd[1])) > VAGUE_MM:
                doubts.append("a magnet that need not be a bead")
            beads.append(FittedBead(x, y, z, (mx, my, mz), marked, pad, float(np.hypot(sd[0], sd[1]))))
        if len(beads) > 1 and any(bead.pad is None for bead in beads):
            doubts.append("a magnet that need not be a bead")  # beside the pads, while other beads are on them
        return tuple(sorted(beads, key=lambda bead: bead.x_mm))


@cache
def shipped_fitter(highest_mm: float = HIGHEST_MM, depth_mm: float | None = None) -> BeadFitter:
    """Return the shared fitter for the pin map, magnets up to `highest_mm` above the mat and chips `depth_mm` deep."""
    return BeadFitter(highest_mm=highest_mm, depth_mm=depth_mm)


def fit(
    ut: Array, ok: NDArray[np.bool_], *, noise: float = 1.0, most: int = 4, smallest: float = bead_solver.MARKED_AM2
) -> BeadFit:
    """Fit beads to a reading of the pin map's magnetometers; see `BeadFitter.fit`."""
    return shipped_fitter().fit(ut, ok, noise=noise, most=most, smallest=smallest)
