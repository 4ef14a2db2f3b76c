"""The detector's decision on one stroke, in sample numbers; `Strike` is the same on the host's clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """One stroke: pads (1 first) in order of arrival, sample numbers counted from the first sample ever fed.

    `onsets` are when each of them was touched. `decided_index` is how many samples had been fed when it was known.
    `margin_db`: by how much it passed the comparison it passed by least; `sure` is false when that is too little, when
    two pads cannot be put in order, or when a faulty channel leaves a doubt.
    """

    pads: tuple[int, ...]
    onsets: tuple[int, ...]
    decided_index: int
    margin_db: float
    sure: bool

    @property
    def pad(self) -> int:
        """The pad struck first."""
        return self.pads[0]

    @property
    def onset_index(self) -> int:
        """When that pad was touched."""
        return self.onsets[0]
