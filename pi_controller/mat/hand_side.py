"""Which edge of the mat a hand came over, from the last scans before it reached the middle of a pad.

A hand covers the strip of its own edge first, then the middle, and the far strip last. What does not look so - both
edges touched before the middle, all strips at once, a hand coming while another rests at the edge - is left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.mat.events import Side

    Array = NDArray[np.float64]

SCANS = 8
"""How many scans to keep for `side`: 0.16 s at 50 scans a second."""
LEAD = 4.5
"""By so many counts, weighed over the scans, the nearer edge strip must have been ahead: two sigma of a noisy mat."""
OTHER = 7.0
"""Counts that the far edge strip may lose before the middle does, two scans running; more is another hand."""
RISE = 9.0
"""Counts that the far edge strip may gain while the nearer one, touched before, gains less."""


def side(rows: Array, crosstalk: float) -> Side | None:
    """Return the side that the hand came from, or None when that cannot be told.

    `rows` of shape (scans, strips), hider's edge first, are the counts lost in the last scans, up to the first in which
    the middle strip was touched; `crosstalk` is what hands at other pads can have added.
    """
    if rows.shape[1] < 3 or len(rows) < 2:
        return None
    hider, middle, hitter = rows[:, 0], rows[:, rows.shape[1] // 2], rows[:, -1]
    weight = np.maximum(rows.max(axis=1), 1.0)
    ahead = float((hider - hitter) @ weight / np.sqrt(weight @ weight))
    if abs(ahead) < LEAD + crosstalk:
        return None
    own, far = (hider, hitter) if ahead > 0 else (hitter, hider)
    first = np.minimum(far, far - middle)
    if np.minimum(first[1:], first[:-1]).max() > OTHER + crosstalk:
        return None
    if far[-1] - far.min() > max(RISE + crosstalk, own[-1] - own.min()):
        return None
    return "hider" if ahead > 0 else "hitter"
