"""What is wrong with a strike channel: silent, at its rail, noisy, just after missing samples; and pads swapped.

A channel that was cut and comes back brings an edge that looks like a stroke, but no more than it moved before. So for
one that stopped moving, the floor is held where it was; for one that never moved beside channels that never rest, it is
theirs. A channel that stood at its rail is *deaf* until some time after, for it may come back by any way.

That a channel rests says little: a clean converter rests on one count between two strokes. Who moves by no more than a
last count that flickers, or was struck while at rest, rests by nature and is never called silent for it.
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
"""One that moved by counts for so long always moves: no hand rubs for a minute."""
HOLD_S = 2.0
"""How long the floor is held for a channel that stopped, when no neighbour shows that it ought to move."""
SILENT_S = 2.0
MISSING_S = 1.0  # for so long the gap is told of
NOISY_S = 40.0  # a hand may lie and rub under a pad for half a minute
NOISY = 100.0  # times the floor of its neighbours
RAIL_S = 0.3
RAIL = 0.99  # of the full scale
STUCK_S = 0.02  # a stroke that runs into the rail does not stay there for so long
DEAF_S = 0.4  # after the rail: until a floor is known


class ChannelWatch:
    """Follows the channels of one detector, a look every so often."""

    def __init__(self, channels: int, rate: float, every_s: float, full_scale: float, flicker: float) -> None:
        """`every_s` from look to look, `full_scale` in counts; above the energy `flicker` more than one count moves."""
        self._channels, self._rate, self._every, self._flicker = channels, rate, every_s, flicker
        self._rail_at = RAIL * full_scale
        self.restart(0, missing=False)

    def restart(self, fed: int, *, missing: bool = True) -> None:
        """Samples are missing before number `fed`: what was known of the channels' movement is over."""
        none, no = np.zeros(self._channels), np.zeros(self._channels, dtype=np.bool_)
        # how long each moved, moved by counts, rested, has its floor held, and was loud, in seconds
        self._alive, self._restless, self._still, self._held, self._noise = (none.copy() for _ in range(5))
        self._moving, self._rests, self._silent = no.copy(), no.copy(), no.copy()
        self._level = np.zeros((1, self._channels))  # the floor when it last moved
        self._missing = MISSING_S if missing else 0.0
        # at which rail each is, since which sample, and the times it stayed there: (from, to), `to` not included
        self._rail, self._rail_from = np.zeros(self._channels, dtype=np.int8), [fed] * self._channels
        self._stays: list[tuple[int, int, int]] = []
        self._stuck = no
        self.doubtful, self.noisy = no, no
        self.held_floor = self._level

    def hear(self, x: NDArray[np.float64], first: int) -> None:
        """`x` (n, channels) in counts, numbered from `first` on: is one at its rail?"""
        if not self._rail.any() and x.max() < self._rail_at and x.min() > -self._rail_at:
            return
        rail = (x >= self._rail_at).astype(np.int8) - (x <= -self._rail_at)
        changed = np.diff(rail, axis=0, prepend=self._rail[None])
        for at, i in np.argwhere(changed).tolist():
            self._left_rail(i, first + at)
            self._rail_from[i] = first + at
            self._rail[i] = rail[at, i]
        self._stays = [stay for stay in self._stays if first - stay[2] < (DEAF_S + self._every) * self._rate + len(x)]

    def _left_rail(self, channel: int, at: int) -> None:
        since = self._rail_from[channel]
        if self._rail[channel] and at - since >= STUCK_S * self._rate:
            self._stays.append((channel, since, at))

    def deaf(self, at: int) -> NDArray[np.bool_]:
        """The channels that stood at their rail just before sample `at`, or stand there."""
        deaf = np.zeros(self._channels, dtype=np.bool_)
        for i, since, until in self._at_rail(at):
            if at - since >= STUCK_S * self._rate and at - until < DEAF_S * self._rate:
                deaf[i] = True
        return deaf

    def _at_rail(self, at: int) -> list[tuple[int, int, int]]:
        standing = [(int(i), self._rail_from[i], at) for i in np.flatnonzero(self._rail)]
        return self._stays + standing if standing else self._stays

    def felt(self, channels: Sequence[int]) -> None:
        """These (0 first) were struck: they are alive."""
        for i in channels:
            if self._held[i] < np.inf:
                self._rests[i] |= not self._moving[i]
                self._held[i] = 0.0
            self._still[i] = 0.0
        self._silent[channels] = False
        self._decide()

    def look(self, at: int, floor: NDArray[np.float64], least: float, still: NDArray[np.float64]) -> None:
        """At sample `at`: `floor` (bands, channels) of energy, of which `least` counts; `still`: share at rest."""
        step = self._every
        moving = self._moving = still == 0
        stopped = ~moving & (self._alive >= ALIVE_S)
        self._held[stopped] = np.where(self._restless >= ALWAYS_S, np.inf, HOLD_S)[stopped]
        self._alive = np.where(moving, self._alive + step, 0.0)
        counts = moving & (floor[0] > self._flicker)
        self._restless = np.where(counts, self._restless + step, 0.0)
        self._rests = (self._rests | (moving & ~counts)) & (self._restless < ALWAYS_S)
        others = self._others_restless()
        self._held[(~others | self._rests) & ~stopped] -= step  # a neighbour that moves says that this one should
        self._held[moving] = 0.0
        self._level = np.where(moving, floor, self._level)
        self._still = np.where(still == 1, self._still + step, 0.0)
        silent = (self._still >= SILENT_S) & ((others & ~self._rests) | np.isinf(self._held))
        self._silent = (self._silent & (self._alive < ALIVE_S)) | silent
        self.held_floor = np.where(self._held > 0, self._level, 0.0)
        strange = ~moving & others & ~self._rests
        if strange.any():
            theirs = np.median(floor[:, self._restless > 0], axis=1, keepdims=True)
            self.held_floor = np.where(strange, np.maximum(self.held_floor, theirs), self.held_floor)
        if self._channels > 2:
            loud = np.maximum(floor[0], least)
            middle = float(np.sort(loud)[self._channels // 2 - 1])
            self._noise = np.where(loud > middle * NOISY, self._noise + step, 0.0)
        self.noisy = self._noise >= NOISY_S
        self._stuck = np.zeros(self._channels, dtype=np.bool_)
        for i, since, until in self._at_rail(at):
            self._stuck[i] |= since <= at - RAIL_S * self._rate and until >= at
        self._missing -= step
        self._decide()

    def _decide(self) -> None:
        """What is felt on these, or on their neighbours, is a doubt."""
        self.doubtful = self._silent | ((self._held > 0) & ~self._rests)

    @property
    def faults(self) -> dict[int, str]:
        """Channel (1 first) -> what is wrong with it, in a few words."""
        told: dict[int, str] = {}
        for i in range(self._channels):
            if self._stuck[i]:
                told[i + 1] = "at its rail"
            elif self._missing > 0:
                told[i + 1] = "samples are missing"
            elif self._silent[i]:
                told[i + 1] = "silent"
            elif self.noisy[i]:
                told[i + 1] = "noisy"
        return told

    def _others_restless(self) -> NDArray[np.bool_]:
        """For each channel: whether at least half of the others move by more than a last count that flickers."""
        restless = self._restless >= ALIVE_S
        others = int(np.count_nonzero(restless)) - restless
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
