"""Detects faulty strike channels (silent, saturated, noisy, just after missing samples) and swapped pads.

A channel that was cut and comes back produces an edge that looks like a stroke, but is no larger than its movement
before. So a channel that stopped moving keeps its floor; one that never moved beside channels that never rest gets
theirs. A channel that was at its rail is *deaf* until some time afterwards, because its return can look like anything.

Rest alone is no fault: a clean converter rests on one count between two strokes. A channel that moves by no more than a
flickering last count, or was struck while at rest, is expected to rest and is never called silent.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pi_controller.sensing.events import HUM

Array = NDArray[np.float64]

ALIVE_S = 0.5
"""A channel that moved this long should go on (but a quiet 12-bit input may rest on one count, and a hand move it)."""
ALWAYS_S = 60.0
"""A channel that moved by several counts for this long always moves: no hand rubs for a minute."""
HOLD_S = 2.0
"""How long a channel that stopped keeps its floor, if no neighbour shows that it should move."""
SILENT_S = 2.0
MISSING_S = 1.0  # how long the gap is reported
NOISY_S = 40.0  # a hand may rest and rub under a pad for half a minute
NOISY = 100.0  # times the floor of its neighbours
RAIL_S = 0.3
RAIL = 0.99  # of the full scale
DROWNED_DB = -59.0
"""A floor above this in most bands, dB of the full scale, hides a stroke whose peak is 40 dB below the rail."""
DROWNED_S = 90.0
HUM_DB = -46.0
"""Subtracted hum above this, dB of the full scale, rms, still costs one feather-light stroke in fifteen."""
HUM_S = 2.0
UNMOVED_STRIKES = 6
"""Strikes of other pads that a disc may fail to feel before it is suspected to be dead; one if it never moved."""
DEAD_STRIKES = 8
"""The same, until no strike is sure any more: its pad may have been the first of two."""
MOVED_DB = -64.0
"""Below this, dB of the full scale, what a disc shows may be the flicker of a wire that is off."""
PICKED_UP_RATIO = 100.0
"""Energy of a disc above that of what a wire that is off picks up of it."""
MIN_SHAKEN = 2
MISSED_BEATS = 30
"""Times that several other discs were shaken until one that was not is named: 7 to 35 s of drums."""
SILENT_HANDS = 3
"""Hands at a suspected disc that it does not feel before it is named."""
TINY = 1e-12
STUCK_S = 0.02  # longer than a stroke stays at the rail
DEAF_S = 0.4  # after the rail, until a floor is known


@dataclass(slots=True)
class _Channel:
    """State of one channel; times in seconds."""

    level: NDArray[np.float64]
    """Its floor (bands,) when it last moved."""
    alive: float = 0.0
    restless: float = 0.0
    """How long it has moved by more than a flickering last count."""
    still: float = 0.0
    held: float = 0.0
    """How much longer its floor is held."""
    noisy: float = 0.0
    moving: bool = False
    rests: bool = False
    """True if it is known to rest at times."""
    unlike: bool = False
    """True if most other channels never rest, and this one is not known to."""
    silent: bool = False
    stuck: bool = False
    drowned: float = 0.0
    """How long its floor has hidden soft strokes."""
    hum: float = 0.0
    """How long there has been much hum."""
    unmoved: int = UNMOVED_STRIKES - 1
    """Strikes of other pads since it last moved."""
    hands: int = 0
    """Hands at its pad since it last moved."""
    missed: int = 0
    """Times that several others were shaken since it last moved."""

    def note_movement(self, share_still: float, floor: float, flicker: float, step: float) -> None:
        """Update from its movement since the last check."""
        self.moving = share_still == 0
        if self.moving:
            self.held = 0.0
            self.alive += step
            self.restless = self.restless + step if floor > flicker else 0.0
            self.rests = (self.rests or floor <= flicker) and self.restless < ALWAYS_S
        else:
            if self.alive >= ALIVE_S:  # it has just stopped
                self.held = math.inf if self.restless >= ALWAYS_S else HOLD_S + step
            self.alive = self.restless = 0.0
        self.still = self.still + step if share_still == 1 else 0.0

    def compare_with_others(self, *, restless: bool, step: float) -> None:
        """Update from whether most other channels never rest (`restless`)."""
        self.unlike = restless and not self.rests
        if not self.unlike:
            self.held = max(0.0, self.held - step)
        if self.alive >= ALIVE_S:
            self.silent = False
        if self.still >= SILENT_S and (self.unlike or self.held == math.inf):
            self.silent = True

    @property
    def doubtful(self) -> bool:
        """True if strokes on this channel or its neighbours are doubtful."""
        return self.silent or (self.held > 0 and not self.rests)


class ChannelMonitor:
    """Monitors the channels of one detector, at regular intervals."""

    def __init__(
        self, channels: int, rate: float, every_s: float, full_scale: float, flicker: float, at_once: int
    ) -> None:
        """Take the interval between checks `every_s`, `full_scale` in counts, and the energy `flicker` of one count.

        At most `at_once` samples are fed per call.
        """
        self._channels, self._every, self._flicker = channels, every_s, flicker
        self._rail_at = RAIL * full_scale
        self._drowned_at = (full_scale * 10 ** (DROWNED_DB / 20)) ** 2
        self._hum_at = full_scale * 10 ** (HUM_DB / 20)
        self.least_movement = (full_scale * 10 ** (MOVED_DB / 20)) ** 2
        """The least energy that shows a disc to be connected."""
        self._rail_n, self._stuck_n = round(RAIL_S * rate), round(STUCK_S * rate)
        self._recent_n = round(DEAF_S * rate) + self._stuck_n
        self._kept = np.zeros((self._recent_n + at_once, channels))
        self.restart(0, missing=False)

    def restart(self, fed: int, *, missing: bool = True) -> None:
        """Restart at sample number `fed`, before which samples are missing, and forget the channels' movement."""
        self._each = [_Channel(np.zeros(1)) for _ in range(self._channels)]
        self._missing = MISSING_S if missing else 0.0
        self._first_kept = fed  # the sample in row 0
        self.held_floor: NDArray[np.float64] | None = None

    def feed(self, x: NDArray[np.float64], first: int) -> None:
        """Add samples `x` (n, channels) in counts, numbered from `first` on."""
        at, keep = first - self._first_kept, self._recent_n
        if at + len(x) > len(self._kept):
            self._kept[:keep] = self._kept[at - keep : at]
            self._first_kept, at = first - keep, keep
        self._kept[at : at + len(x)] = x

    def saturated_channels(self, at: int) -> NDArray[np.bool_]:
        """Return a mask of the channels saturated at sample `at`, or just before it."""
        high, low = self._at_rail(at, self._recent_n)
        deaf = np.zeros(self._channels, dtype=np.bool_)
        for rail in (high, low):
            if rail.any() and len(rail) > self._stuck_n:
                count = np.zeros((len(rail) + 1, self._channels), dtype=np.int64)
                np.cumsum(rail, axis=0, out=count[1:])
                deaf |= (count[self._stuck_n :] - count[: -self._stuck_n] == self._stuck_n).any(axis=0)
        return deaf

    def _at_rail(self, at: int, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks (n, channels) of the samples before `at` that were at the upper rail, and at the lower."""
        end = at - self._first_kept
        recent = self._kept[max(0, end - n) : end]
        return recent >= self._rail_at, recent <= -self._rail_at

    def recent_samples(self, first: int, until: int) -> NDArray[np.float64]:
        """Return the samples `first` to `until` (n, channels), as far back as they are kept."""
        return self._kept[max(0, first - self._first_kept) : until - self._first_kept]

    def own_share(self, channel: int, first: int, until: int) -> float | None:
        """Return the share of the channel's movement in these samples that is no copy of another's; None if unknown.

        A wire that is off picks up what a neighbour's disc shows, at the same instant; a disc feels it later and moves
        in its own way. While another channel is at its rail it cannot be told.
        """
        x = self.recent_samples(first, until)
        at_rail: list[bool] = np.logical_or.reduce(np.abs(x) >= self._rail_at, axis=0).tolist()
        if any(at_rail) and not at_rail[channel]:
            return None
        moves = x[2:] - x[:-2]  # without the rest level and the highest noise
        energy = np.maximum((moves * moves).sum(axis=0), TINY)
        together = np.maximum((moves * moves[:, [channel]]).sum(axis=0), 0.0)
        alike = np.where(energy > PICKED_UP_RATIO * energy[channel], together**2 / energy / energy[channel], 0.0)
        return 1.0 - float(alike.max())

    def note_movement(self, moved: Sequence[bool], *, shaken: int = 0) -> None:
        """Note which channels moved more than a wire that is off can, so their discs are connected.

        If several were `shaken`, as a drum shakes the whole mat, the others should have moved.
        """
        for one, itself in zip(self._each, moved, strict=True):
            if itself:
                one.unmoved = one.hands = one.missed = 0
            elif shaken >= MIN_SHAKEN:
                one.missed += 1

    def note_hand(self, channel: int) -> None:
        """Note a hand at the pad of this channel (0 first)."""
        self._each[channel].hands += 1

    def may_hide_strike(self, channels: Sequence[int], margin_db: float, suspect_db: float) -> bool:
        """Return True if a strike felt by these channels (0 first) may be one on a pad with a dead disc.

        Of a small margin it may be what its neighbours felt of it; else that pad may have been the first of two that
        lie side by side.
        """
        for dead, one in enumerate(self._each):
            if one.silent or one.unmoved < UNMOVED_STRIKES:
                continue
            beside = any(abs(dead - channel) == 1 for channel in channels)
            if margin_db < suspect_db or (beside and one.unmoved >= DEAD_STRIKES):
                return True
        return False

    def note_strike(self, channels: Sequence[int], felt: Sequence[bool]) -> None:
        """Note that these channels (0 first) were struck, so they work; of the others some may not have `felt` it."""
        for one, itself in zip(self._each, felt, strict=True):
            one.unmoved += not itself
        for one in (self._each[i] for i in channels):
            if one.held < math.inf:
                one.rests = one.rests or not one.moving
                one.held = 0.0
            one.still, one.silent, one.unmoved, one.hands = 0.0, False, 0, 0

    def update(self, at: int, floor: Array, least: float, still: Array, hum_rms: Array) -> None:
        """Check the channels at sample `at`.

        `floor` (bands, channels) is the energy floor, `least` its smallest meaningful value, `still` (channels,)
        the share of time at rest, `hum_rms` (channels,) the hum that is subtracted.
        """
        for one, rms in zip(self._each, hum_rms.tolist(), strict=True):
            one.hum = one.hum + self._every if rms > self._hum_at else 0.0
        step, floors = self._every, floor[0].tolist()
        if len(floor) > 1:  # drums reach up one band of several, and pause
            middle = len(floor) // 2
            for one, level in zip(self._each, np.partition(floor, middle, axis=0)[middle].tolist(), strict=True):
                one.drowned = one.drowned + step if level > self._drowned_at else 0.0
        for i, (one, level, share) in enumerate(zip(self._each, floors, still.tolist(), strict=True)):
            one.note_movement(share, level, self._flicker, step)
            if one.moving:
                one.level = floor[:, i]
        restless = [one.restless >= ALIVE_S for one in self._each]
        for one, itself in zip(self._each, restless, strict=True):
            others = sum(restless) - itself
            one.compare_with_others(restless=others > 0 and 2 * others >= self._channels - 1, step=step)
        self._hold(floor)
        if self._channels > 2:
            usual = max(sorted(floors)[self._channels // 2 - 1], least)
            for one, level in zip(self._each, floors, strict=True):
                one.noisy = one.noisy + step if level > usual * NOISY else 0.0
        self._stuck_at_rail(at)
        self._missing -= step

    def _hold(self, floor: NDArray[np.float64]) -> None:
        """Set `held_floor` for channels that stopped, and for those that never moved beside restless ones."""
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
        """Return True if strokes on any of these channels (0 first) are doubtful."""
        return any(self._each[i].doubtful or self._each[i].noisy >= NOISY_S for i in channels)

    @property
    def may_miss_strikes(self) -> bool:
        """True if some channel may miss a stroke."""
        return any(one.doubtful for one in self._each)

    @property
    def faults(self) -> dict[int, str]:
        """The faulty channels (1 first) with their faults in a few words."""
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
            elif one.drowned >= DROWNED_S:
                faults[i + 1] = "drowned by hum or noise"
            elif one.missed >= MISSED_BEATS or (one.unmoved >= UNMOVED_STRIKES and one.hands >= SILENT_HANDS):
                faults[i + 1] = "feeling nothing"
            elif one.hum >= HUM_S:
                faults[i + 1] = HUM
        return faults


def compare_knocks(knocked: Sequence[int], felt: Sequence[int]) -> dict[int, str]:
    """Compare the pads `knocked` in turn with the pads `felt` for them, both 1 first.

    Return pad -> fault, empty if all is well. Swapped pads cannot be detected from signals alone.
    """
    if len(knocked) != len(felt):
        return dict.fromkeys(sorted(set(knocked)), f"{len(knocked)} knocks, {len(felt)} felt")
    faults: dict[int, str] = {}
    for pad in sorted(set(knocked)):
        as_pad = Counter(f for k, f in zip(knocked, felt, strict=True) if k == pad).most_common(1)[0][0]
        if as_pad != pad:
            faults[pad] = f"felt as pad {as_pad}"
    return faults


def find_swapped_pads(felt_as: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return the groups of pads whose plugs are swapped, from the pad that each one's taps or hands were felt on.

    Swapped plugs close a circle: what is done to one pad is felt on the next, and so on back to the first. Without it
    the pad's own sensor is missing, and its neighbour felt it through the floor.
    """
    groups: list[tuple[int, ...]] = []
    for first in sorted(felt_as):
        group = [first]
        while (to := felt_as.get(group[-1], 0)) not in {0, *group}:
            group.append(to)
        if to == first == min(group) and len(group) > 1:
            groups.append(tuple(group))
    return groups
