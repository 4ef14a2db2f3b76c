"""Which beads lie on the mat? From one reading of all magnetometers at rest: how many, where, marked or not.

Every bead holds a small magnet (dipole, `dipole.py`). Beads are added one at a time where the grid says that one would
explain most, all of them are refined together, and a bead stays only if the likelihood rises by more than noise could
make it. Where that does not decide - a residual that no bead explains, a strength between the kinds, a bead on the
very edge of a pad, a magnet held above the mat, sensors missing where a bead could hide - the fit is not sure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import MatError
from pi_controller.mat.bead_grid import Grid
from pi_controller.mat.bead_refine import (
    ANY,
    DIVIDE_AM2,
    MARKED_AM2,
    SPREAD,
    UNMARKED_AM2,
    Refined,
    Refiner,
)
from pi_controller.mat.dipole import response
from pi_controller.mat.events import Bead
from pi_controller.pinmap import PinMap, pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pi_controller.pinmap import Pads

    Array = NDArray[np.float64]

SURELY = 38.0
"""A bead must better minus twice the log likelihood by this. Noise alone reaches it once in some 10^5 readings."""
PERHAPS = 24.0
"""From here on a further bead cannot be ruled out."""
EITHER = 12.0
"""Two readings closer than this in minus twice the log likelihood are both possible."""
ENOUGH = 0.8
"""Chi squared for each reading below which a fit is so good that no other start is tried."""
WORTH = 12.0
"""A place on the grid where a magnet would better chi squared by less is not looked into."""
HIGHEST_MM = 19.0
"""A magnet higher than this above the mat is not that of a bead lying on it."""
APART_MM = 16.0
"""Two beads cannot lie closer than this: they are 20 mm across."""
CLEAR_MM = 160.0
"""Beads further apart than this do not get into each other's way in a fit."""


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
    """What a reading says. `residual` is chi squared per degree of freedom; `doubts` say why it is not sure."""

    beads: tuple[FittedBead, ...]
    residual: float
    doubts: tuple[str, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether the fit decides."""
        return not self.doubts


class BeadFitter:
    """Fits readings of one mat. Building one lays down the grid (some 50 ms); a fit keeps nothing."""

    def __init__(self, pins: PinMap | None = None, *, step_mm: float = 20.0) -> None:
        chosen = pinmap() if pins is None else pins
        self.sensors_mm: Array = np.array(chosen.magnetometer_positions())
        self._pads: Pads = chosen.pads
        self._grid = Grid(self.sensors_mm, self._pads, step_mm=step_mm)

    def fit(
        self,
        ut: Array,
        ok: NDArray[np.bool_],
        *,
        noise: float = 1.0,
        most: int = 4,
        smallest: float = MARKED_AM2,
    ) -> BeadFit:
        """Return the beads that explain a reading.

        `ut` (sensors, 3) microtesla with the sensors' own offsets taken off (a uniform field may remain), `ok`
        (sensors,) false for a sensor to leave out, `noise` microtesla: one sigma of all that is not a bead, `most`
        beads looked for, `smallest` A m^2: the weakest that could be lying there. Raises `FieldError` for other shapes.
        """
        if ut.shape != self.sensors_mm.shape or ok.shape != ut.shape[:1]:
            raise FieldError(
                f"a reading of shape {ut.shape} for {len(self.sensors_mm)} magnetometers",
                "check that the board's firmware and pinmap.toml belong together",
            )
        use = ok & np.isfinite(ut).all(axis=1)
        refiner = Refiner(self.sensors_mm, ut, use, noise)
        doubts: list[str] = []
        readings = 3 * int(use.sum())
        most = min(most, max(readings // 6 - 1, 0))
        best, gained = self._search(refiner, most, thorough=False)
        if len(best.places) and (
            gained >= PERHAPS or best.chi2 > ENOUGH * readings or _nearest(best.places) < CLEAR_MM
        ):
            best, gained = min((best, gained), self._search(refiner, most, thorough=True), key=lambda r: r[0].cost)
        best = self._kinds(refiner, best, doubts)
        if _nearest(best.places) < CLEAR_MM and self._held(refiner, best):
            doubts.append("a magnet above the mat")
        if gained >= PERHAPS:
            doubts.append("perhaps another magnet")
        count = len(best.places)
        freedom = readings - 3 - 5 * count
        if best.chi2 > freedom + 6.0 * (2.0 * max(freedom, 1)) ** 0.5:
            doubts.append("something magnetic that is no bead")
        if not count and self._grid.weakest(best.weights, smallest) < SURELY:
            doubts.append("a bead could lie where the magnetometers do not reach")
        beads = self._beads(best, doubts)
        return BeadFit(beads, best.chi2 / max(freedom, 1), tuple(dict.fromkeys(doubts)))

    def _search(self, refiner: Refiner, most: int, *, thorough: bool) -> tuple[Refined, float]:
        """Add magnets while that is worth it; return the fit and what one more would gain.

        `thorough` tries more starts.
        """
        best, loose = refiner.none(), refiner.none()
        while True:
            following, loose = self._one_more(refiner, best, loose, thorough)
            gained = best.cost - following.cost if following else 0.0
            if following is None or gained < SURELY or len(best.places) == most or _crowded(following.places):
                return best, gained
            best = following

    def _one_more(
        self, refiner: Refiner, best: Refined, loose: Refined, thorough: bool
    ) -> tuple[Refined | None, Refined]:
        """Return the best fit with one magnet more, with strengths as beads have them and with any strength.

        It starts from the likeliest places for one more beside `loose`, and where that does not do, beside `best`.
        """
        found: Refined | None = None
        freest: Refined | None = None
        for start in (loose, best) if thorough and len(best.places) else (loose,):
            for place, moment in self._likely(refiner, start, 3 if thorough else 1):
                moments = np.vstack([start.moments, moment])
                free = refiner.refine(np.vstack([start.places, place]), moments, _kinds(moments), spread=ANY)
                tried = refiner.refine(free.places, free.moments, _kinds(free.moments))
                if freest is None or free.cost < freest.cost:
                    freest = free
                nearest = _nearest(tried.places)
                if nearest < APART_MM:
                    continue
                if found is None or tried.cost < found.cost:
                    found = tried
        return found, freest or loose

    def _likely(self, refiner: Refiner, start: Refined, count: int) -> Iterator[tuple[Array, Array]]:
        """Yield places (3,) and moments (3,) from where a further magnet could be found, likeliest first."""
        weights = start.weights if len(start.places) else refiner.first_weights()
        residual = start.residual - weights @ start.residual / max(float(weights.sum()), 1e-12)
        gain = self._grid.gain(residual, weights)
        for _ in range(count):
            peak = int(gain.argmax())
            if gain[peak] < WORTH:
                return
            place = self._grid.places[peak]
            yield place, refiner.moment_at(place, residual, weights)
            gain = np.where(((self._grid.places - place) ** 2).sum(axis=1) < 45.0**2, 0.0, gain)

    def _kinds(self, refiner: Refiner, best: Refined, doubts: list[str]) -> Refined:
        """Return `best` with the other kind of magnet wherever that fits better; doubt where both fit."""
        for n in range(len(best.places)):
            axis = best.moments[n] / np.linalg.norm(best.moments[n])
            block = 6 * n + 3
            loose = best.hessian.copy()
            loose[block : block + 3, block : block + 3] -= 0.98 * np.outer(axis, axis) / (SPREAD * best.kinds[n]) ** 2
            spread = np.linalg.pinv(loose, hermitian=True)[block : block + 3, block : block + 3]
            if float(axis @ spread @ axis) ** 0.5 < 0.015:
                continue
            kinds, moments = best.kinds.copy(), best.moments.copy()
            kinds[n] = UNMARKED_AM2 if kinds[n] == MARKED_AM2 else MARKED_AM2
            moments[n] = axis * kinds[n]
            tried = refiner.refine(best.places, moments, kinds)
            if abs(tried.cost - best.cost) < EITHER:
                doubts.append("marked or not cannot be told")
            if tried.cost < best.cost:
                best = tried
        return best

    def _held(self, refiner: Refiner, best: Refined) -> bool:
        """Return whether one bead held above the mat would do as well as the two nearest of `best`."""
        count = len(best.places)
        pairs = [(i, j) for i in range(count) for j in range(i)]
        i, j = min(pairs, key=lambda pair: _nearest(best.places[list(pair)]))
        places, moments = np.delete(best.places, j, axis=0), np.delete(best.moments, j, axis=0)
        where = i - 1
        places[where] = (best.places[i] + best.places[j]) / 2 + (0.0, 0.0, 60.0)
        for kind in (MARKED_AM2, UNMARKED_AM2):
            moment = best.moments[i] + best.moments[j]
            moments[where] = moment * (kind / max(float(np.linalg.norm(moment)), 1e-4))
            held = refiner.refine(places, moments, _kinds(moments), lift=150.0)
            if held.cost < best.cost + EITHER:
                return True
        return False

    def _beads(self, best: Refined, doubts: list[str]) -> tuple[FittedBead, ...]:
        """Return the magnets of a fit as beads, left to right, and add what is doubtful about them to `doubts`."""
        count = len(best.places)
        if not count:
            return ()
        spread = np.sqrt(np.maximum(np.diagonal(np.linalg.pinv(best.hessian)), 0.0)).reshape(count, 6)
        beads: list[FittedBead] = []
        for place, moment, kind, sd in zip(best.places, best.moments, best.kinds, spread, strict=True):
            x, y, z = (float(v) for v in place)
            strength = float(np.linalg.norm(moment))
            marked = bool(kind > DIVIDE_AM2)
            if abs(strength - kind) > 3.5 * SPREAD * kind:
                doubts.append("a magnet of a strength that no bead has")
            sd_mm = float(np.hypot(sd[0], sd[1]))
            pad = self._pads.at(x, y)
            if z > HIGHEST_MM:
                doubts.append("a magnet above the mat")
                pad = None
            elif any(self._pads.at(x + dx * sd_mm, y + dy * sd_mm) != pad for dx in (-2, 2) for dy in (-2, 2)):
                doubts.append("a bead on the edge of a pad")
            mx, my, mz = (float(v) for v in moment)
            beads.append(FittedBead(x, y, z, (mx, my, mz), marked, pad, sd_mm))
        return tuple(sorted(beads, key=lambda bead: bead.x_mm))


def _kinds(moments: Array) -> Array:
    """Return the kinds' strengths nearest to those of `moments` (n, 3)."""
    return np.where(np.linalg.norm(moments, axis=1) > DIVIDE_AM2, MARKED_AM2, UNMARKED_AM2)


def _crowded(places: Array) -> bool:
    """Return whether three or more of `places` (n, 3) lie together: no beads do, but enough of them mimic anything."""
    apart = np.hypot(places[:, None, 0] - places[:, 0], places[:, None, 1] - places[:, 1])
    return bool(((apart < CLEAR_MM).sum(axis=1) > 2).any())


def _nearest(places: Array) -> float:
    """Return the distance of the two nearest of `places` (n, 3) in the plane, mm."""
    apart = [float(np.hypot(*(places[i, :2] - places[j, :2]))) for i in range(len(places)) for j in range(i)]
    return min(apart, default=float("inf"))


@cache
def shipped_fitter() -> BeadFitter:
    """Return the fitter of the pin map, built once."""
    return BeadFitter()


def fit(
    ut: Array, ok: NDArray[np.bool_], *, noise: float = 1.0, most: int = 4, smallest: float = MARKED_AM2
) -> BeadFit:
    """Return the beads that explain a reading of the pin map's magnetometers; see `BeadFitter.fit`."""
    return shipped_fitter().fit(ut, ok, noise=noise, most=most, smallest=smallest)
