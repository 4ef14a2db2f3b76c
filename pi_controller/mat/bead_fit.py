"""Dipole fit: how many beads lie on the mat, where, marked or not, from one reading of all magnetometers at rest.

Every bead holds a small magnet (dipole, `dipole.py`). The magnets that explain the reading best are searched for
(`bead_search.py`); here it is judged what they are, and whether that is beyond doubt. It is not where a residual is
left that no bead explains, a strength lies between the kinds, a bead on the very edge of a pad, a magnet above the
mat, where a telephone would look the same, or where sensors are missing and a bead could hide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import MatError
from pi_controller.mat.bead_grid import Grid, Reach
from pi_controller.mat.bead_refine import (
    ANY,
    DIVIDE_AM2,
    LIES_AT_MM,
    MARKED_AM2,
    SPREAD,
    UNMARKED_AM2,
    Refined,
    Refiner,
)
from pi_controller.mat.bead_search import CLEAR_MM, PERHAPS, Search, fair, kinds_of, nearest, strengths
from pi_controller.mat.dipole import response
from pi_controller.mat.events import Bead
from pi_controller.pinmap import PinMap, pinmap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.pinmap import Pads

    Array = NDArray[np.float64]

EITHER = 12.0
"""Two readings closer than this in minus twice the log likelihood are both possible."""
HIGHEST_MM = 19.0
"""A magnet higher than this above the mat is not that of a bead lying on it."""
EDGE_SIGMAS = (1.3, 1.7)
"""A bead nearer to a pad's edge than so many sigmas could lie on either side: one that seems to lie inside, outside.

Beads lie inside far more often, and the sigmas are told rather too large (`tests/mat/measure_beads.py`, 95 %).
"""
OTHER = 2.2
"""Sigmas from its kind at which a magnet's strength is that of no bead."""
BEAD_MM = 10.0
"""Half a bead: one whose middle is nearer to a pad's edge shows."""
FIST_MM = 30.0
"""What a fist that rests on a pad holds is at least so far inside the pad's edge."""
LOOSE = 0.25
"""How far off its kind a magnet's strength may seem, when nothing is expected of it."""
VAGUE_MM = 7.0
"""A magnet beside the pads whose place is known no better (one sigma) need not be a bead either."""
FREE_LIFT_MM = 40.0
"""Sigma of the height when nothing is expected."""
KIND_CLEAR = 0.015
"""A strength known this well (A m^2, one sigma) without knowing the kinds tells the kind."""


class FieldError(MatError, ValueError):
    """A reading whose shape does not fit the magnetometers of the pin map."""

    code = "field"


@dataclass(frozen=True, slots=True)
class FittedBead:
    """One magnet: place (mm, as in the pin map), `moment` (A m^2, x y z), `sd_mm` the uncertainty of the place.

    The place stays out of the repr.
    """

    x_mm: float = field(repr=False)
    y_mm: float = field(repr=False)
    z_mm: float = field(repr=False)
    moment: tuple[float, float, float] = field(repr=False)
    marked: bool
    pad: int | None = field(repr=False)
    sd_mm: float = field(repr=False)

    def field_at(self, sensors_mm: Array) -> Array:
        """Return its field at `sensors_mm` (n, 3) in microtesla, (n, 3)."""
        return response(sensors_mm, np.array([self.x_mm, self.y_mm, self.z_mm])) @ np.array(self.moment)

    def bead(self) -> Bead:
        """Return it as the event's part: place to a tenth of a mm."""
        return Bead(self.pad, self.marked, round(self.x_mm, 1), round(self.y_mm, 1))


@dataclass(frozen=True, slots=True)
class BeadFit:
    """What a reading says. `residual` is chi squared per degree of freedom; `doubts` say why it is not sure.

    `work` is what it cost: steps of the refinement times magnets. Not to be shown: it depends on what lies where.
    """

    beads: tuple[FittedBead, ...]
    residual: float
    doubts: tuple[str, ...] = ()
    work: int = field(default=0, repr=False, compare=False)

    @property
    def sure(self) -> bool:
        """Whether the fit decides."""
        return not self.doubts


class BeadFitter:
    """Fits readings of one mat. The first fit lays down the grids (some 20 ms each); else a fit keeps nothing.

    `highest_mm` is how far above the mat's surface a magnet may be without being held: more than the default where
    hands that hold magnets rest on the mat. Kinds are then not told apart as surely, and that is no doubt.
    """

    def __init__(self, pins: PinMap | None = None, *, step_mm: float = 25.0, highest_mm: float = HIGHEST_MM) -> None:
        chosen = pinmap() if pins is None else pins
        self.sensors_mm: Array = np.array(chosen.magnetometer_positions())
        self._pads: Pads = chosen.pads
        self._highest = highest_mm
        self._lifted = highest_mm > HIGHEST_MM
        self._lies = (highest_mm / 2, highest_mm / 3) if self._lifted else LIES_AT_MM
        self._step_mm = step_mm

    @cached_property
    def _grid(self) -> Grid:  # a table whose mat has no magnetometers needs none
        return Grid(self.sensors_mm, self._pads, step_mm=self._step_mm, height_mm=self._lies[0] - 1.0)

    @cached_property
    def _reach(self) -> Reach:
        far = self._highest if self._lifted else LIES_AT_MM[0] - 1.0
        inset = FIST_MM if self._lifted else BEAD_MM
        return Reach(self.sensors_mm, self._pads, height_mm=far, inset_mm=inset)

    def fit(
        self,
        ut: Array,
        ok: NDArray[np.bool_],
        *,
        noise: float = 1.0,
        most: int = 4,
        smallest: float = MARKED_AM2,
        start: tuple[FittedBead, ...] = (),
    ) -> BeadFit:
        """Return the beads that explain a reading.

        `ut` (sensors, 3) microtesla with the sensors' own offsets taken off (a uniform field may remain), `ok`
        (sensors,) false for a sensor to leave out, `noise` microtesla: one sigma of all that is not a bead, `most`
        beads looked for, `smallest` A m^2: the weakest that could be lying there, `start`: beads that may lie there
        still. Raises `FieldError` for other shapes.
        """
        if ut.shape != self.sensors_mm.shape or ok.shape != ut.shape[:1]:
            raise FieldError(
                f"a reading of shape {ut.shape} for {len(self.sensors_mm)} magnetometers",
                "check that the board's firmware and pinmap.toml belong together",
            )
        use = ok & np.isfinite(ut).all(axis=1)
        readings = 3 * int(use.sum())
        most = min(most, max(readings // 6 - 1, 0))
        refiner = Refiner(self.sensors_mm, ut, use, noise, self._lies)
        search = Search(refiner, self._grid, most)
        known = start[:most]
        best = search.from_known(known) if known else None
        if best is None:
            best = search.from_nothing()
        doubts: list[str] = ["too much to look into"] if search.gave_up else []
        freedom = readings - 3 - 5 * len(best.places)
        if search.gained >= PERHAPS:
            doubts.append("perhaps another magnet")
        if not fair(best.chi2, freedom):
            doubts.append("something magnetic that is no bead")
        if not doubts:  # else it is for the judge in any case
            best = self._kinds(refiner, best, doubts)
        if not (doubts or self._lifted):
            if self._no_beads(refiner, best):
                doubts.append("a magnet that need not be a bead")
            elif nearest(best.places) < CLEAR_MM and self._held(refiner, best):
                doubts.append("a magnet above the mat")
        if (best.kinds < 0.9 * smallest).any():
            doubts.append("a magnet weaker than any bead in play")
        full = len(best.places) == most  # no bead is missing
        if not (full and most) and self._reach.weakest(use, noise, smallest, best.places) < PERHAPS:
            doubts.append("a bead could lie where the magnetometers do not reach")
        beads = self._beads(best, doubts)
        return BeadFit(beads, best.chi2 / max(freedom, 1), tuple(dict.fromkeys(doubts)), refiner.work)

    def _kinds(self, refiner: Refiner, best: Refined, doubts: list[str]) -> Refined:
        """Return `best` with the other kind of magnet wherever that fits better; doubt where both fit."""
        if not len(best.places):
            return best
        axes, spread = strengths(best)
        open_to = [n for n in range(len(axes)) if spread[n] > KIND_CLEAR]
        if not open_to:
            return best
        other = np.where(best.kinds == MARKED_AM2, UNMARKED_AM2, MARKED_AM2)
        if nearest(best.places) < CLEAR_MM:
            guesses = [np.where(np.arange(len(other)) == n, other, best.kinds) for n in open_to]
            guesses += [np.where(np.isin(np.arange(len(other)), open_to), other, best.kinds)] * (len(open_to) > 1)
            kinds = np.array(guesses)
        else:  # each for itself
            kinds, turned = best.kinds.copy(), False
            for n in open_to:
                pair = np.array([[best.kinds[n]], [other[n]]])
                moments = axes[None, n : n + 1] * pair[..., None]
                alone = refiner.alone(best, n)
                tried = alone.refine(np.repeat(best.places[None, n : n + 1], 2, axis=0), moments, pair, steps=6)
                if tried[1].cost - tried[0].cost < EITHER and not self._lifted:
                    doubts.append("marked or not cannot be told")
                if tried[0].kinds[0] == other[n]:
                    kinds[n], turned = other[n], True
            if not turned:
                return best
            kinds = kinds[None]
        moments = np.where((kinds == best.kinds)[..., None], best.moments, axes * kinds[..., None])
        found = refiner.refine(np.repeat(best.places[None], len(kinds), axis=0), moments, kinds, steps=6)[0]
        if abs(found.cost - best.cost) < EITHER and not self._lifted:
            doubts.append("marked or not cannot be told")
        return min(best, found, key=lambda fit: fit.cost)

    def _held(self, refiner: Refiner, best: Refined) -> bool:
        """Return whether one bead held above the mat would do as well as the two nearest of `best`."""
        count = len(best.places)
        pairs = [(i, j) for i in range(count) for j in range(i)]
        i, j = min(pairs, key=lambda pair: nearest(best.places[list(pair)]))
        places, moments = np.delete(best.places, j, axis=0), np.delete(best.moments, j, axis=0)
        where = i - 1
        places[where] = (best.places[i] + best.places[j]) / 2 + (0.0, 0.0, 60.0)
        moment = best.moments[i] + best.moments[j]
        kinds = np.repeat(kinds_of(moments)[None], 2, axis=0)
        kinds[:, where] = MARKED_AM2, UNMARKED_AM2
        many = np.repeat(moments[None], 2, axis=0)
        many[:, where] = moment * (kinds[:, where] / max(float(np.linalg.norm(moment)), 1e-4))[:, None]
        held = refiner.refine(np.repeat(places[None], 2, axis=0), many, kinds, lift=150.0, steps=8)
        return held[0].cost < best.cost + EITHER

    def _no_beads(self, refiner: Refiner, best: Refined) -> bool:
        """Return whether magnets beside the pads, or near each other, are beads only because that is expected.

        A telephone or a chair's leg can look like that; then the field alone gives another strength or height.
        """
        apart = np.hypot(*(best.places[:, None, axis] - best.places[:, axis] for axis in (0, 1)))
        np.fill_diagonal(apart, np.inf)
        odd = [
            n
            for n, (x, y, _) in enumerate(best.places)
            if self._pads.at(float(x), float(y)) is None or apart[n].min() < CLEAR_MM
        ]
        if not odd:
            return False
        free = refiner.refine(
            best.places[None], best.moments[None], best.kinds[None], spread=ANY, lift=FREE_LIFT_MM, steps=6
        )[0]
        off = np.abs(np.linalg.norm(free.moments[odd], axis=1) / best.kinds[odd] - 1.0)
        return bool((off > LOOSE).any() or (free.places[odd, 2] > self._highest + 6.0).any())

    def _beads(self, best: Refined, doubts: list[str]) -> tuple[FittedBead, ...]:
        """Return the magnets of a fit as beads, left to right, and add what is doubtful about them to `doubts`."""
        count = len(best.places)
        if not count:
            return ()
        spread = np.sqrt(np.diagonal(np.linalg.inv(best.hessian))).reshape(count, 6)
        beads: list[FittedBead] = []
        for place, moment, kind, sd in zip(best.places, best.moments, best.kinds, spread, strict=True):
            x, y, z = (float(v) for v in place)
            strength = float(np.linalg.norm(moment))
            marked = bool(kind > DIVIDE_AM2)
            if abs(strength - kind) > OTHER * SPREAD * kind:
                doubts.append("a magnet of a strength that no bead has")
            pad = self._pads.at(x, y)
            dx, dy = (EDGE_SIGMAS[pad is None] * float(v) for v in sd[:2])
            if pad is not None and not self._lifted:  # nearer to the edge a bead would show
                dx, dy = max(dx, BEAD_MM), max(dy, BEAD_MM)
            if z > self._highest + (1.7 * float(sd[2]) if self._lifted else 0.0):
                doubts.append("a magnet above the mat")
                pad = None
            elif any(self._pads.at(*at) != pad for at in ((x - dx, y), (x + dx, y), (x, y - dy), (x, y + dy))):
                doubts.append("a bead on the edge of a pad")
            mx, my, mz = (float(v) for v in moment)
            if pad is None and float(np.hypot(sd[0], sd[1])) > VAGUE_MM:
                doubts.append("a magnet that need not be a bead")
            beads.append(FittedBead(x, y, z, (mx, my, mz), marked, pad, float(np.hypot(sd[0], sd[1]))))
        if len(beads) > 1 and any(bead.pad is None for bead in beads):
            doubts.append("a magnet that need not be a bead")  # beside the pads, while others lie where beads belong
        return tuple(sorted(beads, key=lambda bead: bead.x_mm))


@cache
def shipped_fitter(highest_mm: float = HIGHEST_MM) -> BeadFitter:
    """Return the fitter of the pin map for magnets up to `highest_mm` above the mat, built once."""
    return BeadFitter(highest_mm=highest_mm)


def fit(
    ut: Array, ok: NDArray[np.bool_], *, noise: float = 1.0, most: int = 4, smallest: float = MARKED_AM2
) -> BeadFit:
    """Return the beads that explain a reading of the pin map's magnetometers; see `BeadFitter.fit`."""
    return shipped_fitter().fit(ut, ok, noise=noise, most=most, smallest=smallest)
