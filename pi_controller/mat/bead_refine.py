"""Gauss-Newton (Levenberg's damping) for the places and moments of a known number of magnets.

What a sensor reads is off by its own noise and, close to a magnet, by its gain and by not sitting quite where the pin
map says. Both grow with the field, so a sensor's weight is taken from the model itself and renewed at every step.
The uniform field of the surroundings is fitted along with the rest by projecting it out.
"""

from __future__ import annotations

import math
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
LIES_AT_MM = (7.0, 5.0)
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
    """One reading: `ut` (sensors, 3) microtesla, `use` (sensors,) bool, `noise` microtesla (one sigma, each axis)."""

    def __init__(self, sensors_mm: Array, ut: Array, use: NDArray[np.bool_], noise: float) -> None:
        self._sensors = sensors_mm
        self._ut = np.where(use[:, None], ut, 0.0)
        self._use = use.astype(np.float64)
        self._noise2 = noise * noise

    def none(self) -> Refined:
        """Return the fit with no magnet at all."""
        empty = np.zeros((0, 3))
        return self._look(empty, empty, np.zeros(0), SPREAD, 1.0)[0]

    def first_weights(self) -> Array:
        """Return weights (sensors,) for a first look, when the field itself is all that is known."""
        use = self._use > 0
        level = np.median(self._ut[use], axis=0) if use.any() else np.zeros(3)
        strength = ((self._ut - level) ** 2).sum(axis=1)
        return self._use / (self._noise2 + strength * (GAIN_ERROR**2 + (3 * PLACE_ERROR_MM / 40.0) ** 2))

    def moment_at(self, place: Array, residual: Array, weights: Array) -> Array:
        """Return the moment (3,) of a magnet at `place` that takes most away from `residual`."""
        maps: Array = response(self._sensors, place)
        total = max(float(weights.sum()), 1e-12)
        maps = maps - np.einsum("n,nij->ij", weights, maps) / total
        gram: Array = np.einsum("n,nik,nil->kl", weights, maps, maps) + np.eye(3) / MARKED_AM2**2
        wanted: Array = np.einsum("n,nik,ni->k", weights, maps, residual)
        return np.linalg.solve(gram, wanted).astype(np.float64)

    def refine(
        self,
        places: Array,
        moments: Array,
        kinds: Array,
        *,
        spread: float = SPREAD,
        lift: float = LIES_AT_MM[1],
        steps: int = 16,
    ) -> Refined:
        """Return the best fit found from these starting `places` (n, 3) and `moments` (n, 3).

        Strengths are expected within a relative `spread` of `kinds` (n,), heights within `lift` mm of a lying bead's.
        """
        damping = 1e-2
        best, gradient = self._look(places, moments, kinds, spread, lift)
        for _ in range(steps):
            lifted = best.hessian.copy()
            lifted.flat[:: len(lifted) + 1] *= 1.0 + damping
            step = np.linalg.solve(lifted, gradient).reshape(-1, 6)
            longest = float(np.abs(step[:, :3]).max())
            if longest > 30.0:
                step *= 30.0 / longest
            tried, its_gradient = self._look(best.places + step[:, :3], best.moments + step[:, 3:], kinds, spread, lift)
            gained = best.cost - tried.cost
            if gained > 0:
                best, gradient, damping = tried, its_gradient, max(damping * 0.1, 1e-6)
            else:
                damping *= 10.0
            # the weights move with the model, so close to the best place a full step can cost a little
            if abs(gained) < 0.05 or (gained < 1.0 and longest < 0.2):
                break
        return best

    def _look(self, places: Array, moments: Array, kinds: Array, spread: float, lift: float) -> tuple[Refined, Array]:
        """Return how well these magnets explain the field, and the downhill direction (6 n,)."""
        count = len(places)
        d2, fields, change = look(self._sensors, places, moments)
        strength = (fields * fields).sum(axis=2)
        amiss2 = GAIN_ERROR**2 + 9.0 * PLACE_ERROR_MM**2 / np.maximum(d2, NEAREST_MM**2)
        sigma2 = self._noise2 + (strength * amiss2).sum(axis=1)
        weights = self._use / sigma2
        total = max(float(weights.sum()), 1e-12)
        residual = self._ut - fields.sum(axis=1)
        residual -= weights @ residual / total
        chi2 = float(weights @ (residual * residual).sum(axis=1))
        cost = chi2 + 3.0 * float(self._use @ np.log(sigma2 / self._noise2))
        if not count:
            return Refined(cost, chi2, weights, residual, places, moments, kinds, np.zeros((0, 0))), np.zeros(0)
        jacobian = change.reshape(-1, 18 * count)
        jacobian = (jacobian - weights @ jacobian / total).reshape(-1, 6 * count)
        weighted = (jacobian * np.repeat(weights, 3)[:, None]).T
        hessian = weighted @ jacobian
        gradient = weighted @ residual.reshape(-1)
        for n in range(count):
            z = 6 * n + 2
            off = (float(places[n, 2]) - LIES_AT_MM[0]) / lift
            hessian[z, z] += 1.0 / lift**2
            gradient[z] -= off / lift
            long = max(math.sqrt(float(moments[n] @ moments[n])), 1e-4)
            axis = moments[n] / long
            sigma = spread * float(kinds[n])
            amiss = (long - float(kinds[n])) / sigma
            cost += off * off + amiss * amiss
            hessian[z + 1 : z + 4, z + 1 : z + 4] += axis[:, None] * axis / sigma**2
            gradient[z + 1 : z + 4] -= axis * (amiss / sigma)
        return Refined(cost, chi2, weights, residual, places, moments, kinds, hessian), gradient
