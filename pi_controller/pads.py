"""How many pads a mat has. They lie in a row, numbered from the left of those at its near edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

PADS = 4
EVERY_PAD = (1, 2, 3, 4)
"""Their numbers."""


def each_once(pads: Collection[object]) -> bool:
    """Return whether `pads` are numbers of pads, none of them twice."""
    return len(set(pads)) == len(pads) and {*EVERY_PAD}.issuperset(pads)
