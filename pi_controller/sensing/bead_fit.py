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
from pi_controller.sensing.bead_search import (
    INDEPENDENT_MM,
    MIN_GAIN,
    POSSIBLE_GAIN,
    SEEN_CHI2,
    Search,
    Start,
    SteelReading,
    fit_steel,
    is_noise,
    kinds_of,
    merge_closest,
    min_distance,
    strengths,
)
from pi_controller.sensing.events import Bead

Array = NDArray[np.float64]

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
`tests/tools/measure_beads.py`).
"""
MAX_STRENGTH_SIGMAS = 2.2
"""A magnet whose strength is more sigmas than this from its kind's is no bead."""
BEAD_RADIUS_MM = 10.0
"""Radius of a bead: one whose centre is closer to a pad's edge would be visible."""
FIST_MM = 30.0
"""A bead in a fist that rests on a pad is at least this far inside the pad's edge."""
MAX_STRENGTH_ERROR = 0.25
"""Largest relative difference of a freely fitted strength from the kind's strength."""
MAX_FREE_GAIN = (10.0, 4.0)
"""A fit without expectations may gain the first of these, and the second for each magnet, over a fit of beads."""
MAX_SPLIT_GAIN = 11.0
"""A magnet beside the pads that gains more than this as two magnets is no bead."""
SPLIT_MM = 12.0
"""Where the search for two magnets in place of one begins: so far from it, each way."""
VAGUE_MM = 7.0
"""A magnet beside the pads with a larger position uncertainty (one sigma) than this need not be a bead."""
FREE_LIFT_MM = 40.0
"""Sigma of the height in a fit without expectations."""
FREE_HEIGHT_SIGMAS = 1.65
"""A magnet beside the pads may, in a fit without expectations, be so many sigmas higher than fitted."""
KIND_CLEAR = 0.015
"""Strength uncertainty (A m^2, one sigma, kinds not assumed) below which the kind is certain."""


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

    @property
    def start(self) -> Start:
        """The start of another fit: position mm, moment A m^2."""
        return np.array([self.x_mm, self.y_mm, self.z_mm]), np.array(self.moment)

    def field_at(self, sensors_mm: Array) -> Array:
        """Return the magnet's field at `sensors_mm` (n, 3) in microtesla, (n, 3)."""
        place, moment = self.start
        return bead_solver.response(sensors_mm, place) @ moment

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
        best = search.refit_known([bead.start for bead in known]) if known else None
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
        i, j, places, moment = merge_closest(best)
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
        i, j, merged, moment = merge_closest(best)
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
        """Return True if the magnets look like beads only because beads are expected.

        A telephone, a bracelet or a chair leg can look like that; a fit without expectations is then much better, has
        another strength or height, or splits a magnet in two.
        """
        count = len(best.places)
        if not count:
            return False
        free = _refine_freely(refiner, best.places, best.moments, best.kinds)
        if best.cost - free.cost > MAX_FREE_GAIN[0] + MAX_FREE_GAIN[1] * count:
            return True
        apart = np.hypot(*(best.places[:, None, axis] - best.places[:, axis] for axis in (0, 1)))
        np.fill_diagonal(apart, np.inf)
        beside = np.array([self._pads.at(float(x), float(y)) is None for x, y, _ in best.places])
        odd = beside | (apart.min(axis=1) < INDEPENDENT_MM)
        off = np.abs(np.linalg.norm(free.moments, axis=1) / best.kinds - 1.0)
        height_sd = np.sqrt(np.diagonal(np.linalg.inv(free.hessian))[2::6])
        too_high = free.places[:, 2] + FREE_HEIGHT_SIGMAS * height_sd * beside > self._highest + 6.0
        if (odd & ((off > MAX_STRENGTH_ERROR) | too_high)).any():
            return True
        return any(free.cost - _split(refiner, free, int(n)).cost > MAX_SPLIT_GAIN for n in np.flatnonzero(beside))

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


def _refine_freely(refiner: bead_solver.Refiner, places: Array, moments: Array, kinds: Array) -> bead_solver.MagnetFit:
    """Return the fit from these places (n, 3), moments (n, 3) and kinds (n,) by the field alone."""
    guess = (places[None], moments[None], kinds[None])
    return refiner.refine(*guess, spread=bead_solver.ANY_STRENGTH, lift=FREE_LIFT_MM, steps=6)[0]


def _split(refiner: bead_solver.Refiner, free: bead_solver.MagnetFit, n: int) -> bead_solver.MagnetFit:
    """Return the free fit with two magnets in place of number `n`."""
    places, moments = (
        np.append(free.places, free.places[n : n + 1], axis=0),
        np.append(free.moments, free.moments[n : n + 1], axis=0),
    )
    places[[n, -1], 0] += -SPLIT_MM, SPLIT_MM
    moments[[n, -1]] /= 2.0
    return _refine_freely(refiner, places, moments, kinds_of(moments))


@cache
def shipped_fitter(highest_mm: float = HIGHEST_MM, depth_mm: float | None = None) -> BeadFitter:
    """Return the shared fitter for the pin map, magnets up to `highest_mm` above the mat and chips `depth_mm` deep."""
    return BeadFitter(highest_mm=highest_mm, depth_mm=depth_mm)


def fit(
    ut: Array, ok: NDArray[np.bool_], *, noise: float = 1.0, most: int = 4, smallest: float = bead_solver.MARKED_AM2
) -> BeadFit:
    """Fit beads to a reading of the pin map's magnetometers; see `BeadFitter.fit`."""
    return shipped_fitter().fit(ut, ok, noise=noise, most=most, smallest=smallest)
