"""Where could one more bead lie? Every point of a grid over the mat tried at once, for any weights of the sensors.

For a magnet at a given place the field is linear in its moment, so how much of the squared residual a magnet there
would take away is `c . G^-1 c` with a 3 x 3 matrix G. G and c are sums over sensors; the sums' terms are laid down
once, so dead, saturated and doubtful sensors are only a matter of weights. The uniform field of the surroundings is
projected out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.mat.dipole import response

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.pinmap import Pads

_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""The six different elements of a symmetric 3 x 3 matrix, in the order kept here."""


class Grid:
    """Places on the mat and `margin_mm` beyond the pads, `step_mm` apart, `height_mm` above the mat's surface."""

    def __init__(
        self,
        sensors_mm: NDArray[np.float64],
        pads: Pads,
        *,
        step_mm: float = 20.0,
        margin_mm: float = 120.0,
        height_mm: float = 6.0,
    ) -> None:
        half_x = (pads.count - 1) / 2 * pads.pitch_mm + pads.width_mm / 2 + margin_mm
        half_y = pads.depth_mm / 2 + margin_mm
        xs = np.linspace(-half_x, half_x, round(2 * half_x / step_mm) + 1)
        ys = np.linspace(-half_y, half_y, round(2 * half_y / step_mm) + 1)
        self.half_mm = (half_x, half_y)
        self.places = np.array([(x, y, height_mm) for x in xs for y in ys])
        self.in_pad = np.array([pads.at(x, y) is not None for x, y, _ in self.places], dtype=np.bool_)
        maps = np.array([response(sensors_mm, place) for place in self.places])  # (places, sensors, 3, 3)
        count, sensors = maps.shape[:2]
        self._field = np.ascontiguousarray(maps.transpose(0, 3, 1, 2).reshape(count * 3, sensors * 3))
        self._sum = _planes(maps)
        self._square = _planes(np.einsum("gnik,gnil->gnkl", maps, maps))

    def gram(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G of every place for `weights` (sensors,) in 1 / microtesla^2: six elements, shape (6, places)."""
        total = weights.sum()
        square, mean = self._square @ weights, self._sum @ weights
        if total > 0:
            full = {pair: mean[n] for n, pair in enumerate(_PAIRS)}
            full |= {(j, i): row for (i, j), row in full.items()}
            for n, (i, j) in enumerate(_PAIRS):
                square[n] -= (full[i, 0] * full[0, j] + full[i, 1] * full[1, j] + full[i, 2] * full[2, j]) / total
        return square

    def gain(
        self, residual: NDArray[np.float64], weights: NDArray[np.float64], moment: float = 0.2
    ) -> NDArray[np.float64]:
        """Return by how much chi squared would fall with a magnet at each place, shape (places,).

        `residual` (sensors, 3) microtesla has the weighted mean field taken out. A moment is expected to be of the
        order of `moment` A m^2, so a place far from every sensor cannot explain everything with a giant.
        """
        g = self.gram(weights)
        ridge = 1.0 / (moment * moment)
        a, b, c, d, e, f = g[0] + ridge, g[1], g[2], g[3] + ridge, g[4], g[5] + ridge
        u, v, w = (self._field @ (residual * weights[:, None]).ravel()).reshape(-1, 3).T
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        quad = u * (aa * u + 2 * bb * v + 2 * cc * w) + v * (dd * v + 2 * ee * w) + ff * w * w
        return quad / (a * aa + b * bb + c * cc)

    def weakest(self, weights: NDArray[np.float64], moment: float) -> float:
        """Return the chi squared by which a magnet of `moment` A m^2 under a pad shows itself where it shows least."""
        six = self.gram(weights)[:, self.in_pad]
        full = np.empty((six.shape[1], 3, 3))
        for n, (i, j) in enumerate(_PAIRS):
            full[:, i, j] = full[:, j, i] = six[n]
        return float(np.linalg.eigvalsh(full)[:, 0].min()) * moment * moment


def _planes(maps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the six different elements of (places, sensors, 3, 3) symmetric matrices as (6, places, sensors)."""
    return np.ascontiguousarray(np.stack([maps[:, :, i, j] for i, j in _PAIRS]))
