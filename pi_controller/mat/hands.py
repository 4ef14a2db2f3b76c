"""The hider's hands: capacitive strips in, `HandIn` and `HandOut` for each pad.

A hand lowers the counts of the strips it lies over. Each electrode has a baseline of its own making (the chip's would
swallow a hand that rests): it follows damp and warmth slowly while the pad is free, stands still under a hand but for
what the free electrodes drift together, and comes up at once when the counts rise above it, as they do when a hand
leaves that was there before the first scan. A hand is *in* when it is over the middle strip - over the hider's edge
alone it has only brushed the pad - and *out* when every strip of the pad is clear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import MatError
from pi_controller.mat.events import HandIn, HandOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.link.messages import Touch

    Array = NDArray[np.float64]


class TouchError(MatError, ValueError):
    """A scan whose shape does not fit the strips of the pin map."""

    code = "touch"


@dataclass(frozen=True, slots=True)
class HandSettings:
    """What counts as a hand. Counts are those of an MPR121 near 700 at rest; times in seconds."""

    touch: float = 9.0
    """A strip that has lost so many counts is under a hand."""
    clear: float = 5.5
    """A strip that has lost fewer is free."""
    crosstalk: float = 0.14
    """A strip beside a hand loses up to this share of what the hand takes; both thresholds rise by it."""
    in_scans: int = 2
    out_scans: int = 3
    follow_s: float = 6.0
    """How slowly the baseline follows a free strip."""
    swallow_s: float = 60.0
    """How slowly it follows a touched strip of a pad that no hand is in: a hand resting at the edge."""
    rise: float = 8.0
    """A strip reading so far above its baseline, scan after scan, has been let go of: the baseline is wrong."""
    drift_per_s: float = 0.15
    """How fast a baseline under a long resting hand can go wrong; the clear threshold rises with it."""
    drift_share: float = 0.4
    """... up to this share of what the resting hand takes."""
    adrift_scans: int = 50
    """So long the strips must keep below that raised threshold before the hand counts as out."""
    least_count: int = 20
    """An electrode reading less is not there (chip off, wire broken)."""


class HandDetector:
    """Turns touch scans of `pads` pads with `strips` strips (hider's edge first) into hands going in and out."""

    def __init__(self, pads: int = 4, strips: int = 3, settings: HandSettings | None = None) -> None:
        self._shape = (pads, strips)
        self._middle = strips // 2
        self._set = settings or HandSettings()
        self.reset()

    def reset(self) -> None:
        """Start over with no baseline and no hand in (another board, or the board was off)."""
        self._base: Array | None = None
        self._t = 0.0
        self._last = np.zeros(self._shape)
        self._above = np.zeros(self._shape, dtype=np.int64)
        self._there = np.ones(self._shape, dtype=np.bool_)
        self._in = np.zeros(self._shape[0], dtype=np.bool_)
        self._run = np.zeros(self._shape[0], dtype=np.int64)
        self._since = np.zeros(self._shape[0])
        self._held = np.zeros(self._shape[0])
        self._adrift = np.zeros(self._shape[0], dtype=np.bool_)
        self._scans = 0

    @property
    def inside(self) -> tuple[int, ...]:
        """The pads (1 first) that a hand is under."""
        return tuple(int(pad) + 1 for pad in np.flatnonzero(self._in))

    def feed(self, touch: Touch) -> list[HandIn | HandOut]:
        """Take one scan; return the hands that went in or came out with it. Raises `TouchError` for another shape."""
        if touch.counts.shape != self._shape:
            raise TouchError(
                f"a touch scan of shape {touch.counts.shape} for {self._shape[0]} pads of {self._shape[1]} strips",
                "check that the board's firmware and pinmap.toml belong together",
            )
        counts = touch.counts.astype(np.float64)
        there = counts >= self._set.least_count
        base = self._base
        if base is None:
            self._base, self._last, self._there, self._t = counts.copy(), counts.copy(), there, touch.t
            return []
        back = there & ~self._there
        base[back] = self._last[back] = counts[back]
        counts = np.where(there, counts, self._last)
        now, before = base - counts, base - self._last
        elapsed = min(max(touch.t - self._t, 0.0), 0.5)
        self._t, self._last, self._there = touch.t, counts, there
        depth = (now + before) / 2
        sag = self._sag(depth)
        raised = self._crosstalk(depth - sag)
        events = self._hands(touch.t, elapsed, np.minimum(now, before) - sag, np.maximum(now, before) - sag, raised)
        self._follow(base, elapsed, depth, depth - sag > self._set.clear + raised)
        return events

    def _sag(self, depth: Array) -> float:
        """Return what all strips have lost at once: the supply, not hands. Nobody has a hand under three pads."""
        return max(float(np.partition(depth.ravel(), 2)[2]), 0.0) if self._shape[0] > 2 else 0.0

    def _crosstalk(self, depth: Array) -> Array:
        """Return by how much the hands at the other pads can lower each pad's strips (pads, 1)."""
        strongest = depth.max(axis=1)
        beside = np.zeros(len(strongest))
        beside[1:] = strongest[:-1]
        beside[:-1] = np.maximum(beside[:-1], strongest[1:])
        own = strongest > beside  # the stronger of two neighbours is the hand
        return (self._set.crosstalk * np.maximum(np.where(own, 0.0, beside), 0.0))[:, None]

    def _hands(
        self, t: float, elapsed: float, at_least: Array, at_most: Array, raised: Array
    ) -> list[HandIn | HandOut]:
        """Decide for each pad; `at_least` and `at_most` are the counts lost in the last two scans."""
        events: list[HandIn | HandOut] = []
        middle = at_least[:, self._middle] - raised[:, 0]
        deepest = at_most.max(axis=1)
        for pad in range(self._shape[0]):
            wait = self._set.in_scans
            if not self._in[pad]:
                turning = middle[pad] >= self._set.touch
            else:
                clear = self._set.clear + float(raised[pad, 0])
                resting = (t - self._since[pad]) * self._set.drift_per_s
                adrift = max(clear, min(resting, self._set.drift_share * self._held[pad]))
                turning = deepest[pad] < adrift
                wait = self._set.out_scans if deepest[pad] < clear else self._set.adrift_scans
                if not turning:
                    self._held[pad] += min(elapsed / 2.0, 1.0) * (deepest[pad] - self._held[pad])
            self._run[pad] = self._run[pad] + 1 if turning else 0
            if self._run[pad] < wait:
                continue
            self._run[pad] = 0
            self._in[pad] = not self._in[pad]
            if self._in[pad]:
                self._since[pad], self._held[pad] = t, deepest[pad]
                events.append(HandIn(t, pad + 1))
            else:
                self._adrift[pad] = wait == self._set.adrift_scans
                events.append(HandOut(t, pad + 1))
        return events

    def _follow(self, base: Array, elapsed: float, depth: Array, touched: NDArray[np.bool_]) -> None:
        """Move the baseline in place."""
        self._scans += 1
        share = max(elapsed / self._set.follow_s, 1.0 / (self._scans + 1))
        free = ~self._in[:, None] & self._there
        calm = free & ~touched
        step = np.where(calm, -depth * share, 0.0)
        step[free & touched] = -depth[free & touched] * (elapsed / self._set.swallow_s)
        if calm.sum() >= self._shape[1]:
            step[self._in[:, None] & self._there] = float(np.median(step[calm]))
        base += step
        self._above = np.where(-depth > self._set.rise, self._above + 1, 0)
        wrong = (self._above >= self._set.out_scans) | self._adrift[:, None]
        base[wrong] -= depth[wrong]
        self._adrift[:] = False
