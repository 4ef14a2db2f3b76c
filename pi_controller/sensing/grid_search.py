"""Grid search for one more dipole: evaluates every point over the mat at once, for any sensor weights.

For a magnet at a given position the field is linear in its moment, so a magnet there reduces the squared residual by
`c . G^-1 c` with a 3 x 3 matrix G. G and c are sums over sensors whose terms are computed once, so dead, saturated
and doubtful sensors only change the weights. The uniform ambient field is projected out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pi_controller.pads import PADS
from pi_controller.pinmap import Pads
from pi_controller.sensing.bead_solver import response

_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Indices of the six distinct elements of a symmetric 3 x 3 matrix, in storage order."""
SINGLE = np.float32
"""Single precision suffices to find starting points and halves the memory traffic."""


class FieldGrid:
    """Grid of positions over the pads and `margin_mm` beyond, `step_mm` apart, `height_mm` above the mat's surface."""

    def __init__(
        self,
        sensors_mm: NDArray[np.float64],
        pads: Pads,
        *,
        step_mm: float = 25.0,
        margin_mm: float = 120.0,
        height_mm: float = 6.0,
    ) -> None:
        half_x = (PADS - 1) / 2 * pads.pitch_mm + pads.width_mm / 2 + margin_mm
        half_y = pads.depth_mm / 2 + margin_mm
        xs = np.linspace(-half_x, half_x, round(2 * half_x / step_mm) + 1)
        ys = np.linspace(-half_y, half_y, round(2 * half_y / step_mm) + 1)
        self.places = np.array([(x, y, height_mm) for x in xs for y in ys])
        maps = response(sensors_mm, self.places)  # (places, sensors, 3, 3)
        count, sensors = maps.shape[:2]
        self._field = np.ascontiguousarray(maps.transpose(0, 3, 1, 2).reshape(count * 3, sensors * 3), SINGLE)
        self._sum = _planes(maps)
        self._square = _planes(np.einsum("gnik,gnil->gnkl", maps, maps))

    def gram(self, weights: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return G of every position for `weights` (sensors,) in 1 / microtesla^2: six elements, shape (6, places)."""
        single = weights.astype(SINGLE)
        total = single.sum()
        square, mean = self._square @ single, self._sum @ single
        if total > 0:
            full = {pair: mean[n] for n, pair in enumerate(_PAIRS)}
            full |= {(j, i): row for (i, j), row in full.items()}
            for n, (i, j) in enumerate(_PAIRS):
                square[n] -= (full[i, 0] * full[0, j] + full[i, 1] * full[1, j] + full[i, 2] * full[2, j]) / total
        return square

    def gain(
        self, residual: NDArray[np.float64], weights: NDArray[np.float64], moment: float = 0.2
    ) -> NDArray[np.float32]:
        """Return the reduction of chi squared by a magnet at each grid position, shape (places,).

        `residual` (sensors, 3) microtesla has the weighted mean field removed. `moment` A m^2 is the expected order of
        magnitude, so that a position far from every sensor cannot explain everything with a giant magnet.
        """
        g = self.gram(weights)
        ridge = SINGLE(1.0 / (moment * moment))
        a, b, c, d, e, f = g[0] + ridge, g[1], g[2], g[3] + ridge, g[4], g[5] + ridge
        u, v, w = np.ascontiguousarray(
            (self._field @ (residual * weights[:, None]).ravel().astype(SINGLE)).reshape(-1, 3).T
        )
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        quad = u * (aa * u + 2 * bb * v + 2 * cc * w) + v * (dd * v + 2 * ee * w) + ff * w * w
        return quad / (a * aa + b * bb + c * cc)


class Detectability:
    """Detectability of a magnet at least `inset_mm` inside a pad's edge and `height_mm` above the mat."""

    def __init__(
        self,
        sensors_mm: NDArray[np.float64],
        pads: Pads,
        *,
        height_mm: float,
        inset_mm: float = 10.0,
        step_mm: float = 20.0,
    ) -> None:
        self._grid = FieldGrid(sensors_mm, pads, step_mm=step_mm, margin_mm=0.0, height_mm=height_mm)
        x, y, _ = self._grid.places.T
        corners = [(x + dx, y + dy) for dx in (-inset_mm, inset_mm) for dy in (-inset_mm, inset_mm)]
        inside = [[pads.at(*at) is not None for at in zip(*corner, strict=True)] for corner in corners]
        self._inside = np.all(inside, axis=0)
        self._places = self._grid.places[self._inside]
        self._known: dict[bytes, NDArray[np.float64]] = {}

    def min_chi2(
        self, use: NDArray[np.bool_], noise: float, moment: float, beside: NDArray[np.float64], clear_mm: float = 100.0
    ) -> float:
        """Return the chi squared of a magnet of `moment` A m^2 at the position where the sensors detect it worst.

        `use` (sensors,), `noise` microtesla. Positions within `clear_mm` of the magnets at `beside` (n, 3) are ignored.
        """
        least = self._known.get(use.tobytes())
        if least is None:
            six = self._grid.gram(use.astype(np.float64))[:, self._inside]
            full = np.empty((six.shape[1], 3, 3))  # double precision: computed once for each set of sensors
            for n, (i, j) in enumerate(_PAIRS):
                full[:, i, j] = full[:, j, i] = six[n]
            least = np.linalg.eigvalsh(full)[:, 0].astype(np.float64)
            if len(self._known) > 200:
                self._known.clear()
            self._known[use.tobytes()] = least
        if len(beside):
            off = self._places[:, None, :2] - beside[:, :2]
            least = least[((off * off).sum(axis=2) > clear_mm**2).all(axis=1)]
        return float(least.min(initial=np.inf)) * (moment / noise) ** 2


def _planes(maps: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the six distinct elements of symmetric matrices (places, sensors, 3, 3) as (6, places, sensors)."""
    return np.ascontiguousarray(np.stack([maps[:, :, i, j] for i, j in _PAIRS]), SINGLE)
