"""What is wrong with a strike channel: silent, at its rail, noisy, just after missing samples; and pads swapped.

A channel that stops dead and comes back brings an edge that looks like a stroke. So a channel that was alive and froze,
one that is silent while its neighbours are not, and one held at its rail are *deaf*: nothing is felt on that pad until
it has moved without a pause for as long as a floor takes. What the others feel meanwhile may be a stroke on the deaf
pad, so it takes a clearer lead to be sure of it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ALIVE_S = 0.5
"""One that moved for so long should go on (but a quiet 12-bit input may rest on one count, and a hand move it)."""
ALWAYS_S = 60.0
"""One that moved for so long always moves: no hand rubs for a minute."""
HOLD_S = 2.0
"""How long a channel that froze is deaf for that alone, when no neighbour shows that it ought to move."""
SILENT_S = 2.0
MISSING_S = 1.0  # for so long the gap is told of
NOISY_S = 40.0  # a hand may lie and rub under a pad for half a minute
NOISY = 100.0  # times the floor of its neighbours
RAIL_S = 0.3
RAIL = 0.99  # of the full scale


class ChannelWatch:
    """Follows the channels of one detector, a look every `every_s` seconds."""

    def __init__(self, channels: int, every_s: float, full_scale: float) -> None:
        """`full_scale` in counts."""
        self._channels, self._every, self._rail_at = channels, every_s, RAIL * full_scale
        self.deaf = np.zeros(channels, dtype=np.bool_)
        self.noisy = np.zeros(channels, dtype=np.bool_)
        self.restart(missing=False)

    def restart(self, *, missing: bool = True) -> None:
        """Samples are missing before the next one: what was known of the channels' movement is over."""
        none = np.zeros(self._channels)
        # how long each moved, rested, is deaf, and was at which rail, in seconds
        self._alive, self._still, self._held, self._noise, self._rail = (none.copy() for _ in range(5))
        self._missing = MISSING_S if missing else 0.0
        self._silent = np.zeros(self._channels, dtype=np.bool_)
        self.deaf, self.noisy = self._silent, self._silent

    def look(self, floor: NDArray[np.float64], still: NDArray[np.float64], latest: NDArray[np.float64]) -> None:
        """`floor` (bands, channels) of energy, `still` which share of its time did not move, `latest` samples."""
        step = self._every
        moving = still == 0
        before = self._alive
        froze = ~moving & (before >= ALIVE_S)
        self._alive = np.where(moving, self._alive + step, 0.0)
        others = self._others_alive()
        self._held[froze] = np.where(before >= ALWAYS_S, np.inf, HOLD_S)[froze]
        self._held[~others & ~froze] -= step  # a neighbour that moves says that this one should
        self._held[moving] = 0.0
        self._still = np.where(still == 1, self._still + step, 0.0)
        self._silent = (self._silent & (self._alive < ALIVE_S)) | ((self._still >= SILENT_S) & others)
        if self._channels > 2:
            middle = float(np.sort(floor[0])[self._channels // 2 - 1])
            self._noise = np.where(floor[0] > middle * NOISY, self._noise + step, 0.0)
        rail = np.sign(latest) * (np.abs(latest) >= self._rail_at)
        self._rail = np.where(rail * self._rail > 0, self._rail, 0.0) + rail * step
        self._missing -= step
        self.deaf = self._silent | (self._held > 0)
        self.noisy = self._noise >= NOISY_S

    @property
    def faults(self) -> dict[int, str]:
        """Channel (1 first) -> what is wrong with it, in a few words."""
        told: dict[int, str] = {}
        for i in range(self._channels):
            if abs(self._rail[i]) >= RAIL_S:
                told[i + 1] = "at its rail"
            elif self._missing > 0:
                told[i + 1] = "samples are missing"
            elif self.deaf[i]:
                told[i + 1] = "silent"
            elif self.noisy[i]:
                told[i + 1] = "noisy"
        return told

    def _others_alive(self) -> NDArray[np.bool_]:
        """For each channel: whether at least half of the others are alive."""
        alive = self._alive >= ALIVE_S
        others = int(np.count_nonzero(alive)) - alive
        return (others > 0) & (2 * others >= self._channels - 1)


def swapped(knocked: Sequence[int], felt: Sequence[int]) -> dict[int, str]:
    """What a knock on each pad shows: `knocked` pads in turn, `felt` the pads told for them, both 1 first.

    Returns pad -> what is wrong with it; nothing when all is well. No signal alone can show pads that are swapped.
    """
    if len(knocked) != len(felt):
        return dict.fromkeys(sorted(set(knocked)), f"{len(knocked)} knocks, {len(felt)} felt")
    told: dict[int, str] = {}
    for pad in sorted(set(knocked)):
        as_pad = Counter(f for k, f in zip(knocked, felt, strict=True) if k == pad).most_common(1)[0][0]
        if as_pad != pad:
            told[pad] = f"felt as pad {as_pad}"
    return told
