"""Whether a magnetometer is built in turned: on the empty mat all feel one earth, and it feels it from another side.

Each chip also reads some field of its own, and a turned one looks just like one whose own field is large. How large
they are shows in how much the chips differ; a turn is told only where it is far beyond that. Where it is not, laying
the bead on each pad tells it (`moccasin-mat calibrate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.mat.bead_baseline import scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

TURNS = {
    "a quarter to the left": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "a quarter to the right": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "a half": np.diag([-1.0, -1.0, 1.0]),
    "upside down, its arrow as it should be": np.diag([1.0, -1.0, -1.0]),
    "upside down, its arrow the other way": np.diag([-1.0, 1.0, -1.0]),
}
"""How a module lies, seen from above, and what it then reads of a field."""
LIKELIER = 18.0
"""Twice the log of how much likelier the turn must be: some 4 sigma where a turn is easiest mistaken for chance."""
FITS = 16.0
"""Squared distance from what a turned one would read, in variances, up to which it fits: one in 1000 is farther."""
FEW = 8
"""With fewer sensors nobody knows what the others read."""


def turned(ut: NDArray[np.float64], there: NDArray[np.bool_]) -> dict[int, str]:
    """Return sensor (0 first) -> how it is turned, from the readings `ut` (sensors, 3) of an empty mat, microtesla."""
    if there.sum() < FEW:
        return {}
    spread = scatter(ut, there)
    found: dict[int, str] = {}
    for i in np.flatnonzero(there).tolist():
        others = there.copy()
        others[i] = False
        earth = np.median(ut[others], axis=0)
        off = {how: _variances(ut[i] - turn @ earth, spread) for how, turn in TURNS.items()}
        how = min(off, key=off.__getitem__)
        if off[how] < FITS and _variances(ut[i] - earth, spread) - off[how] > LIKELIER:
            found[i] = how
    return found


def _variances(off: NDArray[np.float64], spread: float) -> float:
    return float(off @ off) / spread**2
