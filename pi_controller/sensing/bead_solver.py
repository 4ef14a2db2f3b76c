"""Levenberg-Marquardt fit of the positions and moments of a known number of magnets, for several guesses at once.

A sensor's error is its noise plus, close to a magnet, errors of its gain and of its position. The latter two grow with
the field, so the sensor weights are computed from the model at every step. The uniform ambient field is fitted too, by
projecting it out.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


# The field of a small magnet: the formula shared by the bead fit and the simulator.
#
# Far from a magnet (a bead at 30 mm is far) its field is a dipole's, `B = mu0 / 4 pi * (3 r (m . r) / |r|^5 - m /
# |r|^3)`; in mm, A m^2 and microtesla the constant is 1e8.
UT_MM3_PER_AM2 = 1e8
"""mu0 / 4 pi in microtesla mm^3 / (A m^2)."""
_EYE = np.eye(3)
_MIRROR = np.array([1.0, 1.0, -1.0])


@dataclass(frozen=True, slots=True)
class Steel:
    """A steel plate under the mat, its top `depth_mm` below the mat's surface. Every magnet has an image dipole in it.

    The image is as far below the plate's top as the magnet is above it; its moment is the magnet's times `strength` (0
    to 1), with the horizontal part reversed.
    """

    depth_mm: float
    strength: float

    def mirror(self, sensors_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `sensors_mm` (n, 3) mirrored at the plate: the image's field is the magnet's there, mirrored back."""
        return sensors_mm * _MIRROR - [0.0, 0.0, 2.0 * self.depth_mm]

    @property
    def factors(self) -> NDArray[np.float64]:
        """Factors (3,) from a magnet's field at the mirrored sensors to its image's field at the sensors."""
        return -self.strength * _MIRROR


def response(
    sensors_mm: NDArray[np.float64], place_mm: NDArray[np.float64], steel: Steel | None = None
) -> NDArray[np.float64]:
    """Return the linear maps from a moment (A m^2) at `place_mm` (..., 3) to fields (microtesla), (..., sensors, 3, 3).

    `response(...) @ moment` is the field at each of `sensors_mm` (sensors, 3), including its image in `steel`.
    """
    if steel is not None:
        images = response(steel.mirror(sensors_mm), place_mm)
        return response(sensors_mm, place_mm) + steel.factors[:, None] * images
    r = sensors_mm - place_mm[..., None, :]
    d2 = np.einsum("...i,...i->...", r, r)
    outer = 3.0 * r[..., :, None] * r[..., None, :] / d2[..., None, None]
    return UT_MM3_PER_AM2 * (outer - _EYE) / (d2 * np.sqrt(d2))[..., None, None]


def field_and_jacobian(
    sensors_mm: NDArray[np.float64],
    places_mm: NDArray[np.float64],
    moments: NDArray[np.float64],
    steel: Steel | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return squared distances, fields and Jacobians of several magnets, for several guesses at once.

    `sensors_mm` (3, sensors), `places_mm` (guesses, n, 3), `moments` (guesses, n, 3) A m^2. Squared distances
    (guesses, n, sensors) in mm^2; fields (guesses, n, 3, sensors) in microtesla; Jacobians (guesses, n, 6, 3, sensors)
    with respect to the position in microtesla per mm (x, y, z), then to the moment in microtesla per A m^2. Fields and
    Jacobians include the images in `steel`.
    """
    if steel is not None:
        d2, fields, change = field_and_jacobian(sensors_mm, places_mm, moments)
        _, images, image_change = field_and_jacobian(steel.mirror(sensors_mm.T).T, places_mm, moments)
        factors = steel.factors[:, None]
        return d2, fields + factors * images, change + factors * image_change
    r = sensors_mm - places_mm[..., None]
    d2 = (r * r).sum(axis=2)
    away = 1.0 / d2
    cube = UT_MM3_PER_AM2 * away * np.sqrt(away)
    over = 3.0 * cube * away
    m = moments[..., None]
    mr = (r * m).sum(axis=2)
    rr = r[:, :, :, None] * r[:, :, None]
    rm = r[:, :, :, None] * m[:, :, None]
    change = np.empty((*places_mm.shape[:2], 6, 3, sensors_mm.shape[1]))
    place, moment = change[:, :, :3], change[:, :, 3:]
    np.multiply(rr, (5.0 * mr * away)[:, :, None, None], out=place)
    place -= rm
    place -= rm.swapaxes(2, 3)
    for axis in range(3):
        place[:, :, axis, axis] -= mr
    place *= over[:, :, None, None]
    np.multiply(rr, over[:, :, None, None], out=moment)
    for axis in range(3):
        moment[:, :, axis, axis] -= cube
    fields = (over * mr)[:, :, None] * r
    fields -= cube[:, :, None] * m
    return d2, fields, change


GAIN_ERROR = 0.01
"""Relative error of a sensor's gain."""
PLACE_ERROR_MM = 1.0
"""Error of a sensor's position (mm, one sigma)."""
BEAD_HEIGHT_MM = (7.0, 4.0)
"""Height of a bead's magnet above the mat's surface: mean and sigma, mm."""
MARKED_AM2 = 0.176
"""Moment of the marked bead's magnet (D6x6, N42), A m^2."""
UNMARKED_AM2 = 0.052
"""Moment of an unmarked ball's magnet (D4x4, N42), A m^2."""
KIND_BOUNDARY_AM2 = (MARKED_AM2 * UNMARKED_AM2) ** 0.5
"""Boundary between the two kinds, A m^2."""
SPREAD = 0.06
"""Relative spread (one sigma) of the magnets of one kind."""
ANY_STRENGTH = 1.5
"""A relative spread so large that the field alone decides the strength."""
MIN_DISTANCE_MM = 8.0
"""Smallest distance between magnet and sensor in the error model, so that a step cannot end on a sensor."""
MAX_STEP_MM = 30.0
"""The longest step."""
STEPS_BEFORE_CHOICE = 4
"""Steps after which only the best guesses are continued."""
RIDGE = np.array([1e-6, 1e-6, 1e-6, 1e-2, 1e-2, 1e-2])
"""Added to the diagonal so that undetermined parameters (priors of 1 m, 10 A m^2) stay solvable."""
RANGE6 = np.arange(6)


@dataclass(frozen=True, slots=True)
class MagnetFit:
    """A fit of n magnets: `places` (n, 3) mm and `moments` (n, 3) A m^2, both omitted from the repr.

    `cost` is minus twice the log likelihood up to a constant, `chi2` the sensors' part of it, `weights` (sensors,) in
    1 / microtesla^2, `residual` (sensors, 3) microtesla without its weighted mean, `hessian` (6 n, 6 n) in the order x,
    y, z, mx, my, mz of each magnet. `kinds` (n,) A m^2 are the expected strengths.
    """

    cost: float
    chi2: float
    weights: Array
    residual: Array
    places: Array
    moments: Array
    kinds: Array
    hessian: Array

    def __repr__(self) -> str:
        return f"MagnetFit(magnets={len(self.places)}, chi2={self.chi2:.1f})"


class Refiner:
    """Fits magnets to one reading: `ut` (sensors, 3) microtesla, `use` (sensors,) bool, `noise` microtesla (one sigma
    per axis; one value for all sensors, or one for each).

    `lies` is the expected height of magnets above the mat: mean and sigma, mm. `steel` is under the mat. `work` counts
    refinement steps times guesses times magnets.
    """

    def __init__(
        self,
        sensors_mm: Array,
        ut: Array,
        use: NDArray[np.bool_],
        noise: float | Array,
        lies: tuple[float, float] = BEAD_HEIGHT_MM,
        steel: Steel | None = None,
    ) -> None:
        self._places = sensors_mm
        self._sensors = np.ascontiguousarray(sensors_mm.T)
        self._ut = np.ascontiguousarray(np.where(use[:, None], ut, 0.0).T)
        self._use = use.astype(np.float64)
        self._noise2: Array = np.full(len(sensors_mm), np.square(noise))
        self._lies = lies
        self._steel = steel
        self.readings = 3 * int(use.sum())
        self.work = 0

    def isolate_magnet(self, fit: MagnetFit, n: int) -> Refiner:
        """Return a refiner for the reading minus all magnets of `fit` except number `n`, with their errors as noise."""
        rest = np.arange(len(fit.places)) != n
        d2, fields, _ = field_and_jacobian(self._sensors, fit.places[None, rest], fit.moments[None, rest], self._steel)
        ut = self._ut - fields[0].sum(axis=0)
        noise2 = self._noise2 + ((fields[0] ** 2).sum(axis=1) * relative_error2(d2[0])).sum(axis=0)
        return Refiner(self._places, ut.T, self._use > 0, np.sqrt(noise2), self._lies, self._steel)

    def with_steel(self, steel: Steel) -> Refiner:
        """Return a refiner for the same reading on a mat over `steel`."""
        found = copy(self)
        found._steel, found.work = steel, 0  # noqa: SLF001 - a copy of itself
        return found

    def fit_no_magnets(self) -> MagnetFit:
        """Return the fit without any magnet, the sensors weighted for an unknown field."""
        use = self._use > 0
        level = np.median(self._ut[:, use], axis=1) if use.any() else np.zeros(3)
        strength = ((self._ut - level[:, None]) ** 2).sum(axis=0)
        plain = self._use / self._noise2
        residual = self._ut - (self._ut @ plain / max(float(plain.sum()), 1e-12))[:, None]
        chi2 = float(plain @ (residual * residual).sum(axis=0))
        weights = self._use / (self._noise2 + strength * (GAIN_ERROR**2 + (3 * PLACE_ERROR_MM / 40.0) ** 2))
        residual = self._ut - (self._ut @ weights / max(float(weights.sum()), 1e-12))[:, None]
        empty = np.zeros((0, 3))
        return MagnetFit(chi2, chi2, weights, residual.T, empty, empty, np.zeros(0), np.zeros((0, 0)))

    def moment_at(self, place: Array, residual: Array, weights: Array) -> Array:
        """Return the moment (3,) of a magnet at `place` that reduces `residual` most."""
        maps: Array = response(self._places, place, self._steel)
        total = max(float(weights.sum()), 1e-12)
        maps = maps - np.einsum("n,nij->ij", weights, maps) / total
        weighted = (maps * weights[:, None, None]).reshape(-1, 3).T
        gram: Array = weighted @ maps.reshape(-1, 3) + np.eye(3) / MARKED_AM2**2
        return np.linalg.solve(gram, weighted @ residual.reshape(-1)).astype(np.float64)

    def refine(
        self,
        places: Array,
        moments: Array,
        kinds: Array,
        *,
        spread: float = SPREAD,
        lift: float | None = None,
        steps: int = 14,
        keep: int = 0,
    ) -> list[MagnetFit]:
        """Refine several guesses, `places` and `moments` (guesses, n, 3); return the fits, lowest cost first.

        Strengths are expected within a relative `spread` of `kinds` (guesses, n), heights within
        `lift` mm. After four steps only the `keep` best guesses are continued (0: all of them).
        """
        lift = self._lies[1] if lift is None else lift
        damping = np.full(len(places), 1e-2)
        best = self._evaluate(places, moments, kinds, spread, lift)
        done: list[MagnetFit] = []
        for step in range(steps):
            if step == STEPS_BEFORE_CHOICE and 0 < keep < len(best.cost):
                cheapest = np.argsort(best.cost)[:keep]
                best, damping = best.take(cheapest), damping[cheapest]
            lifted = best.hessian.copy()
            size = lifted.shape[1]
            diagonal = lifted.reshape(len(lifted), -1)[:, :: size + 1]
            diagonal *= 1.0 + damping[:, None]
            move = np.linalg.solve(lifted, best.gradient[..., None]).reshape(len(lifted), -1, 6)
            longest = np.abs(move[:, :, :3]).max(axis=(1, 2))
            move *= np.minimum(1.0, MAX_STEP_MM / np.maximum(longest, 1e-9))[:, None, None]
            tried = self._evaluate(
                best.places + move[:, :, :3], best.moments + move[:, :, 3:], best.kinds, spread, lift
            )
            gained = best.cost - tried.cost
            better = gained > 0
            damping = np.where(better, np.maximum(damping * 0.1, 1e-6), damping * 10.0)
            best = tried if better.all() else best.replace_where(better, tried)
            # the weights change with the model, so close to the optimum a full step can increase the cost a little
            still = (np.abs(gained) < 0.05) | ((gained < 1.0) & (longest < 0.2))
            if still.any():
                done += best.take(np.flatnonzero(still)).to_fits()
                going = np.flatnonzero(~still)
                if not len(going):
                    return sorted(done, key=_cost)
                best, damping = best.take(going), damping[going]
        return sorted([*done, *best.to_fits()], key=_cost)

    def _evaluate(self, places: Array, moments: Array, kinds: Array, spread: float, lift: float) -> _Guesses:
        """Evaluate each guess: its cost, gradient and Hessian."""
        guesses, count = places.shape[:2]
        self.work += guesses * count
        d2, fields, change = field_and_jacobian(self._sensors, places, moments, self._steel)
        sigma2 = self._noise2 + ((fields * fields).sum(axis=2) * relative_error2(d2)).sum(axis=1)
        weights = self._use / sigma2
        shares = (weights / np.maximum(weights.sum(axis=1), 1e-12)[:, None])[:, :, None]
        residual = self._ut - fields.sum(axis=1)
        residual -= residual @ shares
        weighted_off = residual * weights[:, None]
        chi2 = (weighted_off * residual).sum(axis=(1, 2))
        cost = chi2 + 3.0 * np.log(sigma2 / self._noise2) @ self._use
        jacobian = change.reshape(guesses, 18 * count, -1)
        jacobian -= jacobian @ shares
        jacobian = jacobian.reshape(guesses, 6 * count, 3, -1)
        weighted = jacobian * weights[:, None, None]
        flat = weighted.reshape(guesses, 6 * count, -1)
        hessian = flat @ jacobian.reshape(guesses, 6 * count, -1).swapaxes(1, 2)
        gradient = flat @ residual.reshape(guesses, -1, 1)
        # priors of a bead: its height, and its strength along the present axis
        blocks = np.einsum("gnknl->gnkl", hessian.reshape(guesses, count, 6, count, 6))  # a view
        pull = gradient.reshape(guesses, count, 6)
        off = (places[:, :, 2] - self._lies[0]) / lift
        long = np.maximum(np.sqrt((moments * moments).sum(axis=2)), 1e-4)
        axis = moments / long[:, :, None]
        sigma = spread * kinds
        amiss = (long - kinds) / sigma
        cost += (off * off + amiss * amiss).sum(axis=1)
        blocks[:, :, 2, 2] += 1.0 / lift**2
        blocks[:, :, 3:, 3:] += axis[:, :, :, None] * (axis / (sigma * sigma)[:, :, None])[:, :, None]
        blocks[:, :, RANGE6, RANGE6] += RIDGE
        pull[:, :, 2] -= off / lift
        pull[:, :, 3:] -= axis * (amiss / sigma)[:, :, None]
        return _Guesses(cost, chi2, weights, residual, places, moments, kinds, hessian, gradient.reshape(guesses, -1))


@dataclass(frozen=True, slots=True)
class _Guesses:
    """Fields of `MagnetFit` for several guesses at once, with the gradient; `residual` is axis first."""

    cost: Array
    chi2: Array
    weights: Array
    residual: Array
    places: Array
    moments: Array
    kinds: Array
    hessian: Array
    gradient: Array

    def _arrays(self) -> tuple[Array, ...]:
        return (
            self.cost,
            self.chi2,
            self.weights,
            self.residual,
            self.places,
            self.moments,
            self.kinds,
            self.hessian,
            self.gradient,
        )

    def take(self, which: NDArray[np.intp]) -> _Guesses:
        return _Guesses(*(array[which] for array in self._arrays()))

    def replace_where(self, better: NDArray[np.bool_], other: _Guesses) -> _Guesses:
        """Return a copy with the guesses of `other` at the positions where `better` is true."""
        if not better.any():
            return self
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return _Guesses(*(np.where(better.reshape(-1, *[1] * (mine.ndim - 1)), its, mine) for mine, its in pairs))

    def to_fits(self) -> list[MagnetFit]:
        return [
            MagnetFit(
                float(self.cost[n]),
                float(self.chi2[n]),
                self.weights[n],
                self.residual[n].T,
                self.places[n],
                self.moments[n],
                self.kinds[n],
                self.hessian[n],
            )
            for n in range(len(self.cost))
        ]


def relative_error2(d2: Array) -> Array:
    """Return the squared relative error of a reading on one axis, caused by a magnet at squared distance `d2` mm^2.

    Gain and position cause errors along the field or across it: one axis gets about half of them.
    """
    return 0.5 * (GAIN_ERROR**2 + 9.0 * PLACE_ERROR_MM**2 / np.maximum(d2, MIN_DISTANCE_MM**2))


def _cost(fit: MagnetFit) -> float:
    return fit.cost
