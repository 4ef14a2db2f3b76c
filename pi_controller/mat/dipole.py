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
    """Return the linear map from a moment (A m^2) at `place_mm` (..., 3) to fields (microtesla), (..., sensors, 3, 3).

    `response(...) @ moment` is the field at each of `sensors_mm` (sensors, 3).
    """
    r = sensors_mm - place_mm[..., None, :]
    d2 = np.einsum("...i,...i->...", r, r)
    outer = 3.0 * r[..., :, None] * r[..., None, :] / d2[..., None, None]
    return UT_MM3_PER_AM2 * (outer - _EYE) / (d2 * np.sqrt(d2))[..., None, None]


def look(
    sensors_mm: NDArray[np.float64], places_mm: NDArray[np.float64], moments: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return for several magnets, in several guesses at once, what a fit asks for.

    `sensors_mm` (3, sensors), `places_mm` (guesses, n, 3), `moments` (guesses, n, 3) A m^2. Squared distances
    (guesses, n, sensors) in mm^2; fields (guesses, n, 3, sensors) in microtesla; and how the fields change, (guesses,
    n, 6, 3, sensors): by place in microtesla per mm (x, y, z), then by moment in microtesla per A m^2.
    """
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
