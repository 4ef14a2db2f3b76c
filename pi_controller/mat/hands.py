"""Hand detector: capacitive strips in, `HandIn` and `HandOut` for each pad out.

A hand lowers the counts of the strips it lies over. Each electrode has a baseline of its own making (the chip's would
swallow a hand that rests): it follows damp and warmth slowly while the pad is free, stands still under a hand but for
what the free electrodes drift together, and comes up at once when the counts rise above it, as they do when a hand
leaves that was there before the first scan. A hand is *in* when it is over the middle strip - over an edge strip alone
it has only brushed the pad - and *out* when the strips that it lay over have their counts back. What lies between is
told as unsure: fingertips at the rim of the middle strip, a hand half drawn back and put in again, a pad whose middle
strip is out of order.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import MatError
from pi_controller.mat.events import HandIn, HandOut
from pi_controller.mat.strip_faults import StripFaults
from pi_controller.pads import PADS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pi_controller.link.messages import Touch
    from pi_controller.mat.events import Side
    from pi_controller.mat.strip_faults import StripFault

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]


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
    brushed: float = 6.5
    """A middle strip that has lost so many, two scans running, beside a touched edge: perhaps a hand."""
    crosstalk: float = 0.14
    """A strip beside a hand loses up to this share of what the hand takes; the thresholds rise by it."""
    crosstalk_margin: float = 0.03
    """... or by what a hand alone at a pad has shown this mat's share to be, and so much more."""
    in_scans: int = 2
    out_scans: int = 3
    released: float = 0.35
    """A strip is free, too, when it has lost less than this share of what the hand took: the baseline has drifted."""
    stepped: float = 0.65
    """... or when it has lately come up by this share of what the hand took in its first half second, and stays there:
    far drifted under a long rest."""
    lately_s: float = 5.0
    step_scans: int = 20
    back: float = 0.7
    """A strip let go of that loses this share again before the hand was out: perhaps out and in again."""
    follow_s: float = 3.0
    """How slowly the baseline follows a free strip."""
    follow_per_s: float = 1.5
    """... and how fast at most downward, counts a second: wet cloth is slower, a hand faster."""
    rise_s: float = 0.3
    """How slowly it follows a strip that reads above it, which no hand does."""
    swallow_s: float = 60.0
    """How slowly it follows a touched strip of a pad that no hand is in: a hand resting at the edge."""
    rise: float = 8.0
    """A strip reading so far above its baseline, scan after scan, has been let go of: the baseline is wrong."""


class HandDetector:
    """Turns touch scans of `pads` pads with `strips` strips (hider's edge first) into hands going in and out.

    Up to `most_hands` may be at the pads at once. With as many hands as pads there is less that tells a sagging supply
    from hands: then two strips at least must stay free, as the far edge does under fists that rest on the pads.
    """

    def __init__(
        self, pads: int = PADS, strips: int = 3, settings: HandSettings | None = None, *, most_hands: int = 2
    ) -> None:
        if most_hands < 1:
            raise TouchError(f"most_hands = {most_hands}", "count the hands that may be at the pads at once, 1 or more")
        self._shape = (pads, strips)
        free = strips * (pads - most_hands) if pads > most_hands else strips - 1 if pads > 2 else 0
        self._sure_free = min(free, 3)
        self._middle = strips // 2
        self._edges = [strip for strip in {0, strips - 1} if strip != self._middle]
        self._set = settings or HandSettings()
        self.reset()

    def reset(self) -> None:
        """Start over with no baseline and no hand in (another board, or the board was off)."""
        pads = self._shape[0]
        self._base: Array | None = None
        self._t = 0.0
        self._scans = 0
        self._faults = StripFaults(self._shape)
        self._last = np.zeros(self._shape)
        self._there = np.ones(self._shape, dtype=np.bool_)
        self._above = np.zeros(self._shape, dtype=np.int64)
        self._in = np.zeros(pads, dtype=np.bool_)
        self._stirs = np.zeros(pads, dtype=np.bool_)
        self._run = np.zeros(pads, dtype=np.int64)
        self._held = np.zeros(self._shape)
        self._took = np.zeros(self._shape)
        self._peak = np.zeros(self._shape)
        self._share = np.full(pads, self._set.crosstalk)
        self._recent: deque[Array] = deque(maxlen=SIDE_SCANS)
        self._pads = [_Pad() for _ in range(pads)]

    @property
    def inside(self) -> tuple[int, ...]:
        """The pads (1 first) that a hand is under."""
        return tuple(int(pad) + 1 for pad in np.flatnonzero(self._in))

    def side(self, pad: int) -> Side | None:
        """Return the side of the hand that is under `pad`; None when that cannot be told, or none is."""
        return self._pads[pad - 1].side if self._in[pad - 1] else None

    def stirs(self, pad: int) -> bool:
        """Return whether something was at `pad` in the last scan, over whichever strip: a hand, or not one yet."""
        return bool(self._stirs[pad - 1])

    @property
    def faults(self) -> tuple[StripFault, ...]:
        """The strips that cannot be believed now. Their pads are judged by the others, unsurely without the middle."""
        return self._faults.found

    def feed(self, touch: Touch) -> list[HandIn | HandOut]:
        """Take one scan; return the hands that went in or came out with it. Raises `TouchError` for another shape."""
        if touch.counts.shape != self._shape:
            raise TouchError(
                f"a touch scan of shape {touch.counts.shape} for {self._shape[0]} pads of {self._shape[1]} strips",
                "check that the board's firmware and pinmap.toml belong together",
            )
        counts = touch.counts.astype(np.float64)
        there = ~self._faults.feed(counts)
        base = self._base
        if base is None:
            self._base, self._last, self._there, self._t = counts.copy(), counts.copy(), there, touch.t
            return []
        back = there & ~self._there
        base[back] = self._last[back] = counts[back]
        counts = np.where(there, counts, self._last)
        now, before = np.where(there, base - counts, 0.0), np.where(there, base - self._last, 0.0)
        elapsed = min(max(touch.t - self._t, 0.0), 0.5)
        self._t, self._last, self._there = touch.t, counts, there
        depth = (now + before) / 2
        sag = self._sag(depth)
        raised = self._crosstalk(depth - sag, elapsed)
        self._recent.append(now - sag)
        events = self._hands(touch.t, elapsed, np.minimum(now, before) - sag, np.maximum(now, before) - sag, raised)
        self._stirs = self._in | (now - sag > self._set.clear + raised[:, None]).any(axis=1)
        touched = depth - sag > self._set.clear + raised[:, None]
        self._follow(base, elapsed, depth, np.maximum(now, before), touched)
        return events

    def _sag(self, depth: Array) -> float:
        """Return what all strips have lost at once, those too that no hand can be over: the supply, not hands."""
        losses = np.sort(depth[self._there])
        at = self._sure_free - 1 - (depth.size - losses.size)
        return max(float(losses[at]), 0.0) if 0 <= at < losses.size else 0.0

    def _crosstalk(self, depth: Array, elapsed: float) -> Array:
        """Return by how much the hands at the other pads can lower each pad's strips, and learn from a hand alone."""
        strongest = depth.max(axis=1)
        share = np.minimum(self._share + self._set.crosstalk_margin, self._set.crosstalk)
        lost = share * np.maximum(strongest, 0.0)
        raised = np.zeros(len(strongest))
        for pad in range(len(strongest)):
            beside = [near for near in (pad - 1, pad + 1) if 0 <= near < len(strongest)]
            raised[pad] = max([lost[near] for near in beside if strongest[near] >= strongest[pad]], default=0.0)
            if self._in[pad] and strongest[pad] > 2 * self._set.touch and not self._in[beside].any():
                seen = max((float(depth[near].max()) for near in beside), default=0.0) / float(strongest[pad])
                self._share[pad] += min(elapsed / 2.0, 1.0) * (min(max(seen, 0.0), 1.0) - self._share[pad])
        return raised

    def _hands(
        self, t: float, elapsed: float, at_least: Array, at_most: Array, raised: Array
    ) -> list[HandIn | HandOut]:
        """Decide for each pad; `at_least` and `at_most` are the counts lost in the last two scans."""
        events: list[HandIn | HandOut] = []
        for pad in range(self._shape[0]):
            if self._in[pad]:
                events += self._leaving(t, elapsed, pad, at_most[pad], float(raised[pad]))
            else:
                events += self._coming(t, pad, at_least[pad], at_most[pad], float(raised[pad]))
        return events

    def _coming(self, t: float, pad: int, at_least: Array, at_most: Array, raised: float) -> list[HandIn | HandOut]:
        """Look for a hand at a free pad, and for one that may have been there."""
        this, touch = self._pads[pad], self._set.touch + raised
        sure = bool(self._there[pad, self._middle])
        middle = float(at_least[self._middle] if sure else at_least.max())
        self._run[pad] = self._run[pad] + 1 if middle >= touch else 0
        if self._run[pad] >= self._set.in_scans:
            self._run[pad] = 0
            self._in[pad] = True
            self._held[pad] = self._took[pad] = self._peak[pad] = at_most
            self._pads[pad] = _Pad(self._came_over(pad, raised), doubt=not sure, since=t)
            return [HandIn(t, pad + 1, self._pads[pad].side, sure)]
        if sure and middle >= self._set.brushed + raised:
            this.brushed = True
        if any(at_least[edge] >= touch for edge in self._edges):
            this.edged, this.calm = True, 0
        elif at_most.max() < touch:
            this.calm += 1
        if this.calm < self._set.out_scans:
            return []
        doubt = this.brushed and this.edged
        self._pads[pad] = _Pad()
        return [HandIn(t, pad + 1, sure=False), HandOut(t, pad + 1, sure=False)] if doubt else []

    def _leaving(self, t: float, elapsed: float, pad: int, at_most: Array, raised: float) -> list[HandIn | HandOut]:
        """Look whether the hand in this pad has left it."""
        this, held = self._pads[pad], self._held[pad]
        free = at_most < np.maximum(self._set.clear + raised, self._set.released * held)
        lay = (held >= self._set.touch + raised) & self._there[pad]
        if this.side is not None:  # no hand is over the far edge alone: that strip has drifted
            lay[-1 if this.side == "hider" else 0] = False
        lay[self._middle] |= not lay.any()
        took, peak = self._took[pad], self._peak[pad]
        if t - this.since < 0.5:
            np.maximum(took, at_most, out=took)
        peak[:] = np.maximum(at_most, peak - took * (elapsed / self._set.lately_s))
        up = free | (peak - at_most >= np.maximum(self._set.stepped * took, self._set.touch))
        self._run[pad] = self._run[pad] + 1 if free[lay].all() else 0
        this.up = this.up + 1 if up[lay].all() else 0
        if self._run[pad] >= self._set.out_scans or this.up >= self._set.step_scans:
            self._run[pad] = 0
            self._in[pad] = False
            self._pads[pad] = _Pad(left=True)
            return [HandOut(t, pad + 1, this.side, not this.doubt)]
        if free[self._middle]:
            this.dipped = True
        elif this.dipped and at_most[self._middle] >= max(self._set.touch, self._set.back * held[self._middle]):
            this.doubt = True
        if not free[self._middle]:
            slow = np.where(at_most > held, 0.06, 2.0)
            held += np.minimum(elapsed / slow, 1.0) * (at_most - held)
        return []

    def _came_over(self, pad: int, crosstalk: float) -> Side | None:
        """Return the side of the hand that has just gone in: by the scans up to the first that touched the middle."""
        if not self._there[pad].all():
            return None
        rows = np.array([scan[pad] for scan in self._recent])
        return edge_side(rows[: len(rows) - self._set.in_scans], crosstalk)

    def _follow(self, base: Array, elapsed: float, depth: Array, at_most: Array, touched: Mask) -> None:
        """Move the baseline in place; `depth` and `at_most`: mean and maximum of the counts lost in two scans."""
        self._scans += 1
        free = ~self._in[:, None] & self._there
        calm = free & ~touched
        share = max(elapsed / self._set.follow_s, 1.0 / (self._scans + 1))
        rising = np.where(at_most < -2.5, max(share, min(elapsed / self._set.rise_s, 1.0)), share)
        slowest = -max(self._set.follow_per_s * elapsed, 20.0 / (self._scans + 1))
        step = np.where(calm, np.maximum(-depth * rising, slowest), 0.0)
        step[free & touched] = -depth[free & touched] * (elapsed / self._set.swallow_s)
        if not free.any():  # hands at all pads: the strips that none of them covers
            calm = self._there & ~touched
        if not free.all() and calm.sum() >= self._shape[1]:
            step[~free & self._there] = -share * float(np.median(depth[calm]))
        base += step
        self._above = np.where(-depth > self._set.rise, self._above + 1, 0)
        wrong = self._above >= self._set.out_scans
        for pad, this in enumerate(self._pads):  # what a hand left behind is drift
            if this.left:
                wrong[pad] |= touched[pad]
                this.left = False
        base[wrong] -= depth[wrong]


@dataclass(slots=True)
class _Pad:
    """What the detector remembers of one pad since it was last free, or since a hand went in."""

    side: Side | None = None
    since: float = 0.0
    up: int = 0
    """For so many scans the strips have been high above what they were under the hand."""
    doubt: bool = False
    """The hand in it is unsure."""
    dipped: bool = False
    """The middle strip was let go of while the hand was not out."""
    edged: bool = False
    """An edge strip is touched, or was a few scans ago."""
    brushed: bool = False
    """The middle strip was nearly touched since."""
    calm: int = 0
    """For so many scans nothing has been touched."""
    left: bool = False
    """A hand has just gone out."""


SIDE_SCANS = 8
"""How many scans to keep for `side`: 0.16 s at 50 scans a second."""
LEAD = 4.5
"""By so many counts, weighed over the scans, the nearer edge strip must have been ahead: two sigma of a noisy mat."""
OTHER = 7.0
"""Counts that the far edge strip may lose before the middle does, two scans running; more is another hand."""
RISE = 9.0
"""Counts that the far edge strip may gain while the nearer one, touched before, gains less."""


def edge_side(rows: Array, crosstalk: float) -> Side | None:
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
