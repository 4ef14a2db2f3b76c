"""Gauss-Newton (Levenberg's damping) for the places and moments of a known number of magnets, several guesses at once.

What a sensor reads is off by its own noise and, close to a magnet, by its gain and by not sitting quite where the pin
map says. Both grow with the field, so a sensor's weight is taken from the model itself and renewed at every step.
The uniform field of the surroundings is fitted along with the rest by projecting it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.mat.dipole import look, response

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

GAIN_ERROR = 0.01
"""Relative error of a sensor's gain."""
PLACE_ERROR_MM = 1.0
"""How far off its place a sensor may sit (mm, one sigma)."""
LIES_AT_MM = (7.0, 4.0)
"""Height of a bead's magnet above the mat's surface: mean and sigma, mm."""
MARKED_AM2 = 0.176
"""Moment of the marked bead's magnet (D6x6, N42), A m^2."""
UNMARKED_AM2 = 0.052
"""Moment of an unmarked ball's magnet (D4x4, N42), A m^2."""
DIVIDE_AM2 = (MARKED_AM2 * UNMARKED_AM2) ** 0.5
"""Between the kinds."""
SPREAD = 0.06
"""Relative spread (one sigma) of the magnets of one kind."""
ANY = 1.5
"""A spread that leaves the strength to the field."""
NEAREST_MM = 8.0
"""No magnet comes closer to a sensor than this; keeps a step from landing on one."""
FARTHEST_MM = 30.0
"""The longest step."""
STEPS_BEFORE_CHOICE = 4
"""After so many steps only the best guesses go on."""
RIDGE = np.array([1e-6, 1e-6, 1e-6, 1e-2, 1e-2, 1e-2])
"""Added to the diagonal: keeps what nothing is known about (1 m, 10 A m^2) from being solved for."""
RANGE6 = np.arange(6)


@dataclass(frozen=True, slots=True)
class Refined:
    """Magnets that explain a field: `places` (n, 3) mm, `moments` (n, 3) A m^2, kept out of the repr.

    `cost` is minus twice the log likelihood up to a constant, `chi2` its part from the sensors, `weights` (sensors,) in
    1 / microtesla^2, `residual` (sensors, 3) microtesla without its weighted mean, `hessian` (6 n, 6 n) in the order x,
    y, z, mx, my, mz of each magnet. `kinds` (n,) A m^2 is the strength that each was expected to have.
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
        return f"Refined(magnets={len(self.places)}, chi2={self.chi2:.1f})"


class Refiner:
    """One reading: `ut` (sensors, 3) microtesla, `use` (sensors,) bool, `noise` microtesla (one sigma, each
    axis; one for all, or one for each sensor).

    `lies` is the height that magnets are expected at above the mat: mean and sigma, mm. `work` counts what has been
    done so far: a step of one guess, for each magnet in it.
    """

    def __init__(
        self,
        sensors_mm: Array,
        ut: Array,
        use: NDArray[np.bool_],
        noise: float | Array,
        lies: tuple[float, float] = LIES_AT_MM,
    ) -> None:
        self._places = sensors_mm
        self._sensors = np.ascontiguousarray(sensors_mm.T)
        self._ut = np.ascontiguousarray(np.where(use[:, None], ut, 0.0).T)
        self._use = use.astype(np.float64)
        self._noise2: Array = np.full(len(sensors_mm), np.square(noise))
        self._lies = lies
        self.readings = 3 * int(use.sum())
        self.work = 0

    def alone(self, fit: Refined, n: int) -> Refiner:
        """Return the same reading with all magnets of `fit` but number `n` taken off, as far as they are known."""
        rest = np.arange(len(fit.places)) != n
        d2, fields, _ = look(self._sensors, fit.places[None, rest], fit.moments[None, rest])
        ut = self._ut - fields[0].sum(axis=0)
        noise2 = self._noise2 + ((fields[0] ** 2).sum(axis=1) * _amiss2(d2[0])).sum(axis=0)
        return Refiner(self._places, ut.T, self._use > 0, np.sqrt(noise2), self._lies)

    def none(self) -> Refined:
        """Return the fit with no magnet at all, the sensors weighted for a first look at a field nobody knows."""
        use = self._use > 0
        level = np.median(self._ut[:, use], axis=1) if use.any() else np.zeros(3)
        strength = ((self._ut - level[:, None]) ** 2).sum(axis=0)
        plain = self._use / self._noise2
        residual = self._ut - (self._ut @ plain / max(float(plain.sum()), 1e-12))[:, None]
        chi2 = float(plain @ (residual * residual).sum(axis=0))
        weights = self._use / (self._noise2 + strength * (GAIN_ERROR**2 + (3 * PLACE_ERROR_MM / 40.0) ** 2))
        residual = self._ut - (self._ut @ weights / max(float(weights.sum()), 1e-12))[:, None]
        empty = np.zeros((0, 3))
        return Refined(chi2, chi2, weights, residual.T, empty, empty, np.zeros(0), np.zeros((0, 0)))

    def moment_at(self, place: Array, residual: Array, weights: Array) -> Array:
        """Return the moment (3,) of a magnet at `place` that takes most away from `residual`."""
        maps: Array = response(self._places, place)
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
    ) -> list[Refined]:
        """Return the best fits found from several guesses, cheapest first: `places` and `moments` (guesses, n, 3).

        Strengths are expected within a relative `spread` of `kinds` (guesses, n), heights within `lift` mm. After four
        steps only the `keep` cheapest guesses go on (0: all of them).
        """
        lift = self._lies[1] if lift is None else lift
        damping = np.full(len(places), 1e-2)
        best = self._look(places, moments, kinds, spread, lift)
        done: list[Refined] = []
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
            move *= np.minimum(1.0, FARTHEST_MM / np.maximum(longest, 1e-9))[:, None, None]
            tried = self._look(best.places + move[:, :, :3], best.moments + move[:, :, 3:], best.kinds, spread, lift)
            gained = best.cost - tried.cost
            better = gained > 0
            damping = np.where(better, np.maximum(damping * 0.1, 1e-6), damping * 10.0)
            best = tried if better.all() else best.where(better, tried)
            # the weights move with the model, so close to the best place a full step can cost a little
            still = (np.abs(gained) < 0.05) | ((gained < 1.0) & (longest < 0.2))
            if still.any():
                done += best.take(np.flatnonzero(still)).each()
                going = np.flatnonzero(~still)
                if not len(going):
                    return sorted(done, key=_cost)
                best, damping = best.take(going), damping[going]
        return sorted([*done, *best.each()], key=_cost)

    def _look(self, places: Array, moments: Array, kinds: Array, spread: float, lift: float) -> _Guesses:
        """Return how well each guess explains the field, and the downhill direction."""
        guesses, count = places.shape[:2]
        self.work += guesses * count
        d2, fields, change = look(self._sensors, places, moments)
        sigma2 = self._noise2 + ((fields * fields).sum(axis=2) * _amiss2(d2)).sum(axis=1)
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
        # what is expected of a bead: its height, and its strength along the present axis
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
    """What `Refined` holds, for several guesses at once, with the downhill direction; `residual` is axis first."""

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
        """Return the guesses `which`."""
        return _Guesses(*(array[which] for array in self._arrays()))

    def where(self, better: NDArray[np.bool_], other: _Guesses) -> _Guesses:
        """Return the guesses of `other` where they are `better`, else these."""
        if not better.any():
            return self
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return _Guesses(*(np.where(better.reshape(-1, *[1] * (mine.ndim - 1)), its, mine) for mine, its in pairs))

    def each(self) -> list[Refined]:
        """Return them one by one."""
        return [
            Refined(
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


def _amiss2(d2: Array) -> Array:
    """Return the square of how far off a reading is on one axis, as a share of the field of a magnet `d2` mm^2 away.

    Gain and place make errors along the field or across it: one axis gets about half of them.
    """
    return 0.5 * (GAIN_ERROR**2 + 9.0 * PLACE_ERROR_MM**2 / np.maximum(d2, NEAREST_MM**2))


def _cost(fit: Refined) -> float:
    return fit.cost
