"""The pads of a mat: four in a row, numbered from the left as seen from the near edge."""

from __future__ import annotations

from collections.abc import Collection

PADS = 4
EVERY_PAD = (1, 2, 3, 4)
"""The pad numbers."""


def are_distinct_pads(pads: Collection[object]) -> bool:
    """Return whether `pads` are numbers of pads without repeats."""
    return len(set(pads)) == len(pads) and {*EVERY_PAD}.issuperset(pads)
