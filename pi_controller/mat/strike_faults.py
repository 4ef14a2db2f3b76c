"""Health of the strike channels: silent, saturated, noisy, just after missing samples; and pads swapped.

A channel that was cut and comes back brings an edge that looks like a stroke, but no more than it moved before. So for
one that stopped moving, the floor is held where it was; for one that never moved beside channels that never rest, it is
theirs. A channel that stood at its rail is *deaf* until some time after, for it may come back by any way.

That a channel rests says little: a clean converter rests on one count between two strokes. Who moves by no more than a
last count that flickers, or was struck while at rest, rests by nature and is never called silent for it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
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
MISSING_S = 1.0  # for so long the gap is reported
NOISY_S = 40.0  # a hand may lie and rub under a pad for half a minute
NOISY = 100.0  # times the floor of its neighbours
RAIL_S = 0.3
RAIL = 0.99  # of the full scale
STUCK_S = 0.02  # a stroke that runs into the rail does not stay there for so long
DEAF_S = 0.4  # after the rail: until a floor is known


@dataclass(slots=True)
class _Channel:
    """What is known of one channel; times in seconds."""

    level: NDArray[np.float64]
    """Its floor (bands,) when it last moved."""
    alive: float = 0.0
    restless: float = 0.0
    """For so long it moved by more than a last count that flickers."""
    still: float = 0.0
    held: float = 0.0
    """For so long its floor is held."""
    noisy: float = 0.0
    moving: bool = False
    rests: bool = False
    """It may rest: it was seen to."""
    unlike: bool = False
    """Most of the others never rest, and it is not known why it should."""
    silent: bool = False
    stuck: bool = False

    def moved(self, share_still: float, floor: float, flicker: float, step: float) -> None:
        """Note how it moved since the last look."""
        self.moving = share_still == 0
        if self.moving:
            self.held = 0.0
            self.alive += step
            self.restless = self.restless + step if floor > flicker else 0.0
            self.rests = (self.rests or floor <= flicker) and self.restless < ALWAYS_S
        else:
            if self.alive >= ALIVE_S:  # it stops just now
                self.held = math.inf if self.restless >= ALWAYS_S else HOLD_S + step
            self.alive = self.restless = 0.0
        self.still = self.still + step if share_still == 1 else 0.0

    def among(self, *, restless: bool, step: float) -> None:
        """Note whether most of the others never rest."""
        self.unlike = restless and not self.rests
        if not self.unlike:
            self.held = max(0.0, self.held - step)
        if self.alive >= ALIVE_S:
            self.silent = False
        if self.still >= SILENT_S and (self.unlike or self.held == math.inf):
            self.silent = True

    @property
    def doubtful(self) -> bool:
        """Whether what is felt on it, or on its neighbours, is a doubt."""
        return self.silent or (self.held > 0 and not self.rests)


class ChannelWatch:
    """Monitors the channels of one detector, at regular intervals."""

    def __init__(
        self, channels: int, rate: float, every_s: float, full_scale: float, flicker: float, at_once: int
    ) -> None:
        """`every_s` from look to look, `full_scale` in counts; above the energy `flicker` more than one count moves.

        At most `at_once` samples are fed at once.
        """
        self._channels, self._every, self._flicker = channels, every_s, flicker
        self._rail_at = RAIL * full_scale
        self._rail_n, self._stuck_n = round(RAIL_S * rate), round(STUCK_S * rate)
        self._recent_n = round(DEAF_S * rate) + self._stuck_n
        self._kept = np.zeros((self._recent_n + at_once, channels))
        self.restart(0, missing=False)

    def restart(self, fed: int, *, missing: bool = True) -> None:
        """Samples are missing before number `fed`: what was known of the channels' movement is over."""
        self._each = [_Channel(np.zeros(1)) for _ in range(self._channels)]
        self._missing = MISSING_S if missing else 0.0
        self._first_kept = fed  # the sample in row 0
        self.held_floor: NDArray[np.float64] | None = None

    def feed(self, x: NDArray[np.float64], first: int) -> None:
        """`x` (n, channels) in counts, numbered from `first` on."""
        at, keep = first - self._first_kept, self._recent_n
        if at + len(x) > len(self._kept):
            self._kept[:keep] = self._kept[at - keep : at]
            self._first_kept, at = first - keep, keep
        self._kept[at : at + len(x)] = x

    def deaf(self, at: int) -> NDArray[np.bool_]:
        """The channels saturated at sample `at`, or just before it."""
        high, low = self._at_rail(at, self._recent_n)
        deaf = np.zeros(self._channels, dtype=np.bool_)
        for rail in (high, low):
            if rail.any() and len(rail) > self._stuck_n:
                count = np.zeros((len(rail) + 1, self._channels), dtype=np.int64)
                np.cumsum(rail, axis=0, out=count[1:])
                deaf |= (count[self._stuck_n :] - count[: -self._stuck_n] == self._stuck_n).any(axis=0)
        return deaf

    def _at_rail(self, at: int, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each of the `n` samples before `at` was at the upper rail, and at the lower."""
        end = at - self._first_kept
        recent = self._kept[max(0, end - n) : end]
        return recent >= self._rail_at, recent <= -self._rail_at

    def felt(self, channels: Sequence[int]) -> None:
        """These (0 first) were struck: they are alive."""
        for one in (self._each[i] for i in channels):
            if one.held < math.inf:
                one.rests = one.rests or not one.moving
                one.held = 0.0
            one.still, one.silent = 0.0, False

    def look(self, at: int, floor: NDArray[np.float64], least: float, still: NDArray[np.float64]) -> None:
        """At sample `at`: `floor` (bands, channels) of energy, of which `least` counts; `still`: share at rest."""
        step, floors = self._every, floor[0].tolist()
        for i, (one, level, share) in enumerate(zip(self._each, floors, still.tolist(), strict=True)):
            one.moved(share, level, self._flicker, step)
            if one.moving:
                one.level = floor[:, i]
        restless = [one.restless >= ALIVE_S for one in self._each]
        for one, itself in zip(self._each, restless, strict=True):
            others = sum(restless) - itself
            one.among(restless=others > 0 and 2 * others >= self._channels - 1, step=step)
        self._hold(floor)
        if self._channels > 2:
            middle = max(sorted(floors)[self._channels // 2 - 1], least)
            for one, level in zip(self._each, floors, strict=True):
                one.noisy = one.noisy + step if level > middle * NOISY else 0.0
        self._stuck_at_rail(at)
        self._missing -= step

    def _hold(self, floor: NDArray[np.float64]) -> None:
        """Hold the floors of channels that stopped, and of those that never moved beside restless ones."""
        self.held_floor = None
        if all(one.moving or not (one.held or one.unlike) for one in self._each):
            return
        self.held_floor = np.zeros_like(floor)
        theirs = [floor[:, i] for i, one in enumerate(self._each) if one.restless]
        for i, one in enumerate(self._each):
            if one.held:
                self.held_floor[:, i] = one.level
            if one.unlike and not one.moving:
                self.held_floor[:, i] = np.maximum(self.held_floor[:, i], np.median(theirs, axis=0))

    def _stuck_at_rail(self, at: int) -> None:
        for i, last in enumerate(np.abs(self._kept[at - self._first_kept - 1]).tolist()):
            self._each[i].stuck = last >= self._rail_at and self._stood_at_rail(i, at)

    def _stood_at_rail(self, channel: int, at: int) -> bool:
        high, low = (rail[:, channel] for rail in self._at_rail(at, self._rail_n))
        return len(high) == self._rail_n and bool(high.all() or low.all())

    def doubtful(self, channels: Sequence[int]) -> bool:
        """Whether what is felt on these (0 first) is a doubt for what they are."""
        return any(self._each[i].doubtful or self._each[i].noisy >= NOISY_S for i in channels)

    @property
    def unheard(self) -> bool:
        """Whether a stroke may go unfelt on some channel."""
        return any(one.doubtful for one in self._each)

    @property
    def faults(self) -> dict[int, str]:
        """Channel (1 first) -> what is wrong with it, in a few words."""
        faults: dict[int, str] = {}
        for i, one in enumerate(self._each):
            if one.stuck:
                faults[i + 1] = "at its rail"
            elif self._missing > 0:
                faults[i + 1] = "samples are missing"
            elif one.silent:
                faults[i + 1] = "silent"
            elif one.noisy >= NOISY_S:
                faults[i + 1] = "noisy"
        return faults


def swapped(knocked: Sequence[int], felt: Sequence[int]) -> dict[int, str]:
    """What a knock on each pad shows: `knocked` pads in turn, `felt` the pads reported for them, both 1 first.

    Returns pad -> what is wrong with it; nothing when all is well. No signal alone can show pads that are swapped.
    """
    if len(knocked) != len(felt):
        return dict.fromkeys(sorted(set(knocked)), f"{len(knocked)} knocks, {len(felt)} felt")
    faults: dict[int, str] = {}
    for pad in sorted(set(knocked)):
        as_pad = Counter(f for k, f in zip(knocked, felt, strict=True) if k == pad).most_common(1)[0][0]
        if as_pad != pad:
            faults[pad] = f"felt as pad {as_pad}"
    return faults
