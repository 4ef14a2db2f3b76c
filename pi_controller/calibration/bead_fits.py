"""Fit one bead to each of many readings at once, with or without tolerance of modules that contradict it.

All arrays are in wire order: `sensors` is the number of magnetometers, lengths are mm, fields microtesla.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pi_controller.sensing.bead_solver import (
    BEAD_HEIGHT_MM,
    MARKED_AM2,
    Steel,
    field_and_jacobian,
    relative_error2,
    response,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOLERANT_SCALES = (1000.0, 30.0)
"""Chi squared of a module (three axes) from which a tolerant fit ignores it more and more: at first, and at its end."""
FIRST_STEPS = 6
RELATIVE_ERROR2 = 2.0
"""Factor of the variances of gains and places: modules may be 1.5 mm beside their places."""
STRENGTH_SPREAD = 0.3
"""Relative sigma of the bead's strength: wide, because a wrong bead is reported elsewhere."""
FIT_STEPS = 14
MAX_STEP_MM = 30.0


class BeadFits(NamedTuple):
    """Fits of one bead to each of n readings.

    `cost` (n,) is minus twice the log likelihood, `chi2` (n, sensors), `places` (n, 3), `moments` (n, 3) A m^2, `level`
    (n, 3) the uniform field.
    """

    cost: Array
    chi2: Array
    places: Array
    moments: Array
    level: Array

    def take(self, which: NDArray[np.intp]) -> BeadFits:
        """Return the fits number `which`."""
        return BeadFits(*(array[which] for array in self))


class BeadReadings(NamedTuple):
    """Readings `ut` (n, sensors, 3), `use` (n, sensors) and starting points `starts` (n, 3) of a fit."""

    ut: Array
    use: Mask
    starts: Array

    def take(self, which: Sequence[int] | NDArray[np.intp]) -> BeadReadings:
        """Return the readings number `which`."""
        return BeadReadings(self.ut[which], self.use[which], self.starts[which])


class BeadSolver:
    """Levenberg-Marquardt fit with the error model of `sensing.bead_solver`. `noise` is one sigma of each axis."""

    def __init__(self, sensors_mm: Array, noise: float, steel: Steel | None = None) -> None:
        self.sensors_mm = sensors_mm
        self.noise2 = noise * noise
        self._steel = steel

    def fit(self, problem: BeadReadings, *, tolerant: bool = False) -> BeadFits:
        """Fit a bead to each reading. `tolerant` fits ignore modules that contradict the others, gradually more."""
        places, moments = problem.starts, self._first_moments(problem, problem.use.astype(np.float64))
        scales = TOLERANT_SCALES if tolerant else (None,)
        for scale in scales[:-1]:
            fits = self._descend(problem, places, moments, scale, FIRST_STEPS)
            places, moments = fits.places, fits.moments
        return self._descend(problem, places, moments, scales[-1], FIT_STEPS)

    def _descend(
        self, problem: BeadReadings, places: Array, moments: Array, scale: float | None, steps: int
    ) -> BeadFits:
        """Refine beads at `places` (n, 3) with `moments` (n, 3). From a chi squared of `scale` a module counts less."""
        use = problem.use.astype(np.float64)
        damping = np.full(len(places), 1e-2)
        best, hessian, gradient = self._evaluate(problem.ut, use, places, moments, scale)
        for _ in range(steps):
            lifted = hessian.copy()
            diagonal = lifted.reshape(len(lifted), 36)[:, ::7]
            diagonal *= 1.0 + damping[:, None]
            move = np.linalg.solve(lifted, gradient[..., None])[..., 0]
            longest = np.abs(move[:, :3]).max(axis=1)
            move *= np.minimum(1.0, MAX_STEP_MM / np.maximum(longest, 1e-9))[:, None]
            tried, its_hessian, its_gradient = self._evaluate(
                problem.ut, use, best.places + move[:, :3], best.moments + move[:, 3:], scale
            )
            better = tried.cost < best.cost
            damping = np.where(better, np.maximum(damping * 0.1, 1e-6), damping * 10.0)
            gained = np.abs(best.cost - tried.cost).max()
            best = BeadFits(*(_choose(better, its, mine) for its, mine in zip(tried, best, strict=True)))
            hessian, gradient = _choose(better, its_hessian, hessian), _choose(better, its_gradient, gradient)
            if gained < 0.1:
                break
        return best

    def predict(self, fits: BeadFits) -> tuple[Array, Array]:
        """Return the field (n, sensors, 3) of each bead and the ambient field, and its variance (n, sensors)."""
        d2, fields, _ = field_and_jacobian(
            np.ascontiguousarray(self.sensors_mm.T), fits.places[:, None], fits.moments[:, None], self._steel
        )
        field = fields[:, 0].swapaxes(1, 2)
        relative2 = RELATIVE_ERROR2 * relative_error2(d2[:, 0])
        return field + fits.level[:, None], self.noise2 + (field**2).sum(axis=2) * relative2

    def _first_moments(self, problem: BeadReadings, use: Array) -> Array:
        maps = response(self.sensors_mm, problem.starts, self._steel)
        strength2 = (problem.ut**2).sum(axis=2)
        weights = use / (self.noise2 + 0.05 * strength2)
        gram = np.einsum("ns,nsij,nsik->njk", weights, maps, maps) + np.eye(3) / MARKED_AM2**2
        pull = np.einsum("ns,nsij,nsi->nj", weights, maps, problem.ut)
        moments = np.linalg.solve(gram, pull[..., None])[..., 0]
        long = np.maximum(np.linalg.norm(moments, axis=1), 1e-6)
        return moments * (np.clip(long, 0.5 * MARKED_AM2, 1.5 * MARKED_AM2) / long)[:, None]

    def _evaluate(
        self, ut: Array, use: Array, places: Array, moments: Array, scale: float | None
    ) -> tuple[BeadFits, Array, Array]:
        d2, fields, change = field_and_jacobian(
            np.ascontiguousarray(self.sensors_mm.T), places[:, None], moments[:, None], self._steel
        )
        field = fields[:, 0]  # (n, 3, sensors)
        sigma2 = self.noise2 + (field * field).sum(axis=1) * RELATIVE_ERROR2 * relative_error2(d2[:, 0])
        off = ut.swapaxes(1, 2) - field
        precision = weights = use / sigma2
        level, chi2 = _subtract_level(off, weights, precision)
        loss = chi2
        if scale is not None:
            weights = precision * (scale / (scale + chi2)) ** 2
            level, chi2 = _subtract_level(off, weights, precision)
            weights = precision * (scale / (scale + chi2)) ** 2
            loss = scale * chi2 / (scale + chi2)
        residual = off - level[:, :, None]
        cost = loss.sum(axis=1) + 3.0 * (use * np.log(sigma2 / self.noise2)).sum(axis=1)
        jacobian = change[:, 0]  # (n, 6, 3, sensors)
        shares = weights / np.maximum(weights.sum(axis=1), 1e-12)[:, None]
        jacobian = jacobian - np.einsum("njks,ns->njk", jacobian, shares)[..., None]
        weighted = jacobian * weights[:, None, None]
        hessian = np.matmul(weighted.reshape(len(places), 6, -1), jacobian.reshape(len(places), 6, -1).swapaxes(1, 2))
        gradient = np.matmul(weighted.reshape(len(places), 6, -1), residual.reshape(len(places), -1, 1))[..., 0]
        # the bead's height and strength are expected
        high, lift = BEAD_HEIGHT_MM
        long = np.maximum(np.linalg.norm(moments, axis=1), 1e-4)
        axis, sigma = moments / long[:, None], STRENGTH_SPREAD * MARKED_AM2
        above, excess = (places[:, 2] - high) / lift, (long - MARKED_AM2) / sigma
        cost = cost + above**2 + excess**2
        hessian[:, range(6), range(6)] += [1e-6] * 3 + [1e-2] * 3
        hessian[:, 2, 2] += 1.0 / lift**2
        hessian[:, 3:, 3:] += axis[:, :, None] * axis[:, None] / sigma**2
        gradient[:, 2] -= above / lift
        gradient[:, 3:] -= axis * (excess / sigma)[:, None]
        return BeadFits(cost, chi2, places, moments, level), hessian, gradient


def _subtract_level(off: Array, weights: Array, precision: Array) -> tuple[Array, Array]:
    """Return the weighted mean (n, 3) of `off` (n, 3, sensors), and the chi squared (n, sensors) of the rest."""
    level = np.einsum("nks,ns->nk", off, weights) / np.maximum(weights.sum(axis=1), 1e-12)[:, None]
    return level, precision * ((off - level[:, :, None]) ** 2).sum(axis=1)


def _choose(better: Mask, yes: Array, no: Array) -> Array:
    return np.where(better.reshape(-1, *[1] * (yes.ndim - 1)), yes, no)
