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


_EYE = np.eye(3)


def response(sensors_mm: NDArray[np.float64], place_mm: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the linear map from a moment (A m^2) at `place_mm` (3,) to fields (microtesla), shape (sensors, 3, 3).

    `response(...) @ moment` is the field at each of `sensors_mm` (sensors, 3).
    """
    r = sensors_mm - place_mm
    d2 = np.einsum("ni,ni->n", r, r)
    outer = 3.0 * r[:, :, None] * r[:, None, :] / d2[:, None, None]
    return UT_MM3_PER_AM2 * (outer - np.eye(3)) / (d2 * np.sqrt(d2))[:, None, None]


def look(
    sensors_mm: NDArray[np.float64], places_mm: NDArray[np.float64], moments: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return for several magnets at once what a fit asks for.

    `places_mm` (n, 3), `moments` (n, 3) A m^2. Squared distances (sensors, n) in mm^2; fields (sensors, n, 3) in
    microtesla; and how the fields change, (sensors, 3, n, 6): by place in microtesla per mm (x, y, z), then by moment
    in microtesla per A m^2.
    """
    r = sensors_mm[:, None, :] - places_mm
    d2 = (r * r).sum(axis=2)
    cube = UT_MM3_PER_AM2 / (d2 * np.sqrt(d2))
    mr = (r * moments).sum(axis=2)
    rr = r[:, :, :, None] * r[:, :, None, :]
    rm = r[:, :, :, None] * moments[:, None, :]
    over = (3.0 * cube / d2)[:, :, None, None]
    change = np.empty((len(sensors_mm), 3, len(places_mm), 6))
    place = change[:, :, :, :3].transpose(0, 2, 1, 3)
    np.multiply(rr, (5.0 * mr / d2)[:, :, None, None], out=place)
    place -= rm
    place -= rm.transpose(0, 1, 3, 2)
    place -= mr[:, :, None, None] * _EYE
    place *= over
    moment = change[:, :, :, 3:].transpose(0, 2, 1, 3)
    np.multiply(rr, over, out=moment)
    moment -= cube[:, :, None, None] * _EYE
    return d2, (moment * moments[:, None, :]).sum(axis=3), change
