"""The field of a small magnet: the one formula that the bead fit and the simulator share.

Far from a magnet (a bead at 30 mm is far) its field is a dipole's,
`B = mu0 / 4 pi * (3 r (m . r) / |r|^5 - m / |r|^3)`; in mm, A m^2 and microtesla the constant is 1e8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UT_MM3_PER_AM2 = 1e8
"""mu0 / 4 pi in microtesla mm^3 / (A m^2)."""


def response(sensors_mm: NDArray[np.float64], place_mm: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the linear map from a moment (A m^2) at `place_mm` (3,) to fields (microtesla), shape (sensors, 3, 3).

    `response(...) @ moment` is the field at each of `sensors_mm` (sensors, 3).
    """
    r = sensors_mm - place_mm
    d2 = np.einsum("ni,ni->n", r, r)
    outer = 3.0 * r[:, :, None] * r[:, None, :] / d2[:, None, None]
    return UT_MM3_PER_AM2 * (outer - np.eye(3)) / (d2 * np.sqrt(d2))[:, None, None]
