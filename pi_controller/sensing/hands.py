"""Hand detector: turns scans of the capacitive strips into `HandIn` and `HandOut` events for each pad.

A hand lowers the counts of the strips below it. Each electrode's baseline is computed here, because the chip's own
baseline adapts to a resting hand. It follows humidity and temperature slowly while the pad is free; under a hand it
follows only the common drift of the free electrodes; it jumps up when the counts rise above it, as they do when a hand
leaves that was there before the first scan. A hand is *in* when it covers the middle strip (an edge strip alone means
it only brushed the pad) and *out* when the strips that it covered have their counts back. Cases in between are reported
as unsure: fingertips at the rim of the middle strip, a hand half drawn back and put in again, a pad whose middle strip
is faulty.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from pi_controller.board.messages import Touch
from pi_controller.errors import MatError
from pi_controller.pads import PADS
from pi_controller.sensing.events import HandIn, HandOut, HandSide, Side
from pi_controller.sensing.strip_faults import StripFault, StripMonitor

Array = NDArray[np.float64]
Row = list[float]
"""A number for each strip, pad by pad: twelve plain floats are faster than numpy's arrays."""


class TouchError(MatError, ValueError):
    """The shape of a scan does not match the strips of the pin map."""

    code = "touch"


@dataclass(frozen=True, slots=True)
class HandSettings:
    """Thresholds of the hand detector. Counts are those of an MPR121 near 700 at rest; times in seconds."""

    touch: float = 9.0
    """A strip that has lost this many counts is under a hand."""
    clear: float = 5.5
    """A strip that has lost fewer is free."""
    brushed: float = 6.5
    """A middle strip that has lost this many counts in two scans in a row, beside a touched edge: perhaps a hand."""
    crosstalk: float = 0.14
    """A strip beside a hand loses up to this share of the hand's counts; the thresholds rise by it."""
    crosstalk_margin: float = 0.03
    """... or by this mat's share, measured while one hand alone is at a pad, plus this margin."""
    in_scans: int = 2
    out_scans: int = 3
    released: float = 0.35
    """A strip that has lost less than this share of the hand's counts is free, too: its baseline has drifted."""
    stepped: float = 0.65
    """... or one that has recently risen by this share of the counts lost in the hand's first half second, and stays
    there: its baseline drifted far during a long rest."""
    lately_s: float = 5.0
    step_scans: int = 20
    dropped: float = 0.35
    """A hand whose middle strip loses less than recently by this share of its counts ..."""
    remainder_s: float = 3.0
    """... for this long may be out: the rest is damp, drift or a pushed cloth. Reported as unsure."""
    remainder: float = 2.5
    """A strip that has lost more counts than this when the hand leaves takes them into its baseline."""
    back: float = 0.7
    """A released strip that loses this share again before the hand is out: the hand may have been out and in again."""
    follow_s: float = 3.0
    """Time constant of the baseline of a free strip."""
    follow_per_s: float = 2.0
    """... and its fastest fall, counts per second: wet cloth is slower, a hand faster."""
    sag_s: float = 0.5
    """Time constant of what all strips lose together, which no hand causes."""
    rise_s: float = 0.3
    """Time constant while a strip reads above its baseline, which no hand causes."""
    swallow_s: float = 60.0
    """Time constant of a touched strip of a pad without a hand: a hand rests at the edge."""
    jump: float = 6.0
    """A hand takes at least this many counts from a strip within `jump_scans`; what takes them slower is drift."""
    jump_scans: int = 25
    rise: float = 8.0
    """A strip that stays this far above its baseline has been released: the baseline is wrong."""


class HandDetector:
    """Turns touch scans of `pads` pads with `strips` strips each (hider's edge first) into hand events.

    Up to `most_hands` may be at the pads at once. With as many hands as pads a sagging supply is harder to distinguish
    from hands: at least two strips must then stay free, as the far edge does under fists that rest on the pads.
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
        self._beside = [[near for near in (pad - 1, pad + 1) if 0 <= near < pads] for pad in range(pads)]
        self._set = settings or HandSettings()
        self.reset()

    def reset(self) -> None:
        """Reset to no baseline and no hand (another board, or the board was off)."""
        pads, strips = self._shape
        self._base: Row | None = None
        self._t = 0.0
        self._scans = 0
        self._faults = StripMonitor(self._shape)
        self._last = [0.0] * (pads * strips)
        self._there = [True] * (pads * strips)
        self._above = [0] * (pads * strips)
        self._share = [self._set.crosstalk] * pads
        self._recent: deque[Row] = deque(maxlen=SIDE_SCANS)
        self._means: deque[Row] = deque(maxlen=self._set.jump_scans)
        self._jumped = [False] * (pads * strips)
        self._pads = [_Pad() for _ in range(pads)]
        self._hands: list[_Hand | None] = [None] * pads
        self._stirs = [False] * pads

    @property
    def occupied_pads(self) -> tuple[int, ...]:
        """The pads (1 first) that a hand is under."""
        return tuple(pad + 1 for pad, hand in enumerate(self._hands) if hand is not None)

    def side(self, pad: int) -> Side | None:
        """Return the side of the hand under `pad`; None if it is unknown or there is no hand."""
        hand = self._hands[pad - 1]
        return None if hand is None else hand.side

    def is_touched(self, pad: int) -> bool:
        """Return True if any strip of `pad` was touched in the last scan, even if not yet by a detected hand."""
        return self._stirs[pad - 1]

    @property
    def faults(self) -> tuple[StripFault, ...]:
        """The faulty strips. Their pads are judged by the other strips, and as unsure without the middle one."""
        return self._faults.faults

    def feed(self, touch: Touch) -> list[HandIn | HandOut]:
        """Process one scan; return the hands that went in or came out. Raises `TouchError` for another shape."""
        if touch.counts.shape != self._shape:
            raise TouchError(
                f"a touch scan of shape {touch.counts.shape} for {self._shape[0]} pads of {self._shape[1]} strips",
                "check that the board's firmware and pinmap.toml belong together",
            )
        counts: Row = list(map(float, touch.counts.ravel().tolist()))
        there = [not wrong for wrong in self._faults.feed(counts)]
        base, last = self._base, self._last
        if base is None:
            self._base, self._last, self._there, self._t = counts[:], counts, there, touch.t
            return []
        for k, known in enumerate(self._there):
            if not there[k]:
                counts[k] = last[k]
            elif not known:
                base[k] = last[k] = counts[k]
        now = [b - c if here else 0.0 for b, c, here in zip(base, counts, there, strict=True)]
        before = [b - c if here else 0.0 for b, c, here in zip(base, last, there, strict=True)]
        elapsed = min(max(touch.t - self._t, 0.0), 0.5)
        self._t, self._last, self._there = touch.t, counts, there
        depth = [(n + b) / 2 for n, b in zip(now, before, strict=True)]
        at_most, at_least = list(map(max, now, before)), list(map(min, now, before))
        sag = self._sag(depth)
        now = [n - sag for n in now]
        mean = [d - sag for d in depth]
        raised = self._crosstalk(mean, elapsed)
        self._recent.append(now)
        self._note_jumps(mean)
        events = self._judge(touch.t, elapsed, [a - sag for a in at_least], [a - sag for a in at_most], raised)
        touched = self._find_touched_strips(now, mean, raised)
        self._follow(base, elapsed, depth, mean, at_most, touched, sag)
        return events

    def _sag(self, depth: Row) -> float:
        """Return the counts that all strips lost, including those no hand can cover: the supply's sag."""
        losses = sorted(d for d, here in zip(depth, self._there, strict=True) if here)
        at = self._sure_free - 1 - (len(depth) - len(losses))
        return max(losses[at], 0.0) if 0 <= at < len(losses) else 0.0

    def _note_jumps(self, mean: Row) -> None:
        """Note which strips lost their counts as fast as a hand takes them, until they have them back."""
        self._means.append(mean)
        fast, back = self._set.jump, self._set.clear / 2
        self._jumped = [
            lost - then >= fast or (jumped and lost >= back)
            for lost, then, jumped in zip(mean, self._means[0], self._jumped, strict=True)
        ]

    def _crosstalk(self, depth: Row, elapsed: float) -> Row:
        """Return how far hands at other pads can lower each pad's strips; learn that share from a single hand."""
        pads, strips = self._shape
        strongest = [max(depth[strips * pad : strips * (pad + 1)]) for pad in range(pads)]
        most, margin = self._set.crosstalk, self._set.crosstalk_margin
        lost = [min(share + margin, most) * max(s, 0.0) for share, s in zip(self._share, strongest, strict=True)]
        raised = [0.0] * pads
        for pad, own in enumerate(strongest):
            beside = self._beside[pad]
            for near in beside:
                if strongest[near] >= own and lost[near] > raised[pad]:
                    raised[pad] = lost[near]
            if self._hands[pad] is None or own <= 2 * self._set.touch:
                continue
            if all(self._hands[near] is None for near in beside):
                seen = max((strongest[near] for near in beside), default=0.0) / own
                self._share[pad] += min(elapsed / 2.0, 1.0) * (min(max(seen, 0.0), 1.0) - self._share[pad])
        return raised

    def _judge(self, t: float, elapsed: float, at_least: Row, at_most: Row, raised: Row) -> list[HandIn | HandOut]:
        """Judge each pad by the least and the most counts its strips lost in the last two scans."""
        strips = self._shape[1]
        events: list[HandIn | HandOut] = []
        for pad, hand in enumerate(self._hands):
            own = slice(strips * pad, strips * (pad + 1))
            if hand is not None:
                events += self._leaving(t, elapsed, pad, hand, at_most[own], raised[pad])
            else:
                events += self._coming(t, pad, at_least[own], at_most[own], raised[pad])
        return events

    def _coming(self, t: float, pad: int, at_least: Row, at_most: Row, raised: float) -> list[HandIn | HandOut]:
        """Detect a hand at a free pad, or one that may have been there."""
        this, touch = self._pads[pad], self._set.touch + raised
        k = self._shape[1] * pad + self._middle
        sure = self._there[k]
        middle = at_least[self._middle] if sure else max(at_least)
        this.run = this.run + 1 if middle >= touch else 0
        if this.run >= self._set.in_scans:
            sure = sure and self._jumped[k]
            hand = _Hand(self._came_over(pad, raised), t, at_most[:], at_most[:], at_most[:], doubt=not sure)
            self._hands[pad], self._pads[pad] = hand, _Pad()
            return [HandIn(t, pad + 1, self._side_of(hand), sure)]
        if sure and middle >= self._set.brushed + raised:
            this.brushed = True
        if [edge for edge in self._edges if at_least[edge] >= touch]:
            this.edged, this.calm = True, 0
        elif max(at_most) < touch:
            this.calm += 1
        if this.calm < self._set.out_scans:
            return []
        doubt = this.brushed and this.edged
        self._pads[pad] = _Pad(run=this.run)
        return [HandIn(t, pad + 1, sure=False), HandOut(t, pad + 1, sure=False)] if doubt else []

    def _leaving(
        self, t: float, elapsed: float, pad: int, hand: _Hand, at_most: Row, raised: float
    ) -> list[HandIn | HandOut]:
        chosen, strips, middle = self._set, self._shape[1], self._middle
        held, took, peak = hand.held, hand.took, hand.peak
        touch, clear = chosen.touch + raised, chosen.clear + raised
        free = [lost < max(clear, chosen.released * h) for lost, h in zip(at_most, held, strict=True)]
        lay = [
            h >= touch and here for h, here in zip(held, self._there[strips * pad : strips * (pad + 1)], strict=True)
        ]
        if hand.side is not None:  # no hand covers the far edge alone: that strip has drifted
            lay[-1 if hand.side == "hider" else 0] = False
        lay[middle] = lay[middle] or not any(lay)
        if t - hand.since < 0.5:
            took[:] = map(max, took, at_most)
        faded = elapsed / chosen.lately_s
        peak[:] = [max(lost, p - k * faded) for lost, p, k in zip(at_most, peak, took, strict=True)]
        all_free = all(free[k] for k in range(strips) if lay[k])
        up = all(
            free[k] or peak[k] - at_most[k] >= max(chosen.stepped * took[k], chosen.touch)
            for k in range(strips)
            if lay[k]
        )
        hand.free = hand.free + 1 if all_free else 0
        hand.up = hand.up + 1 if up else 0
        judged = middle if self._there[strips * pad + middle] else held.index(max(held))
        remainder = hand.is_remainder(t, judged, at_most[judged], free[judged], chosen)
        if hand.free >= chosen.out_scans or hand.up >= chosen.step_scans or remainder:
            self._hands[pad], self._pads[pad] = None, _Pad(left=True)
            return [HandOut(t, pad + 1, self._side_of(hand), not (hand.doubt or remainder))]
        if free[middle]:
            hand.dipped = True
            return []
        if hand.dipped and at_most[middle] >= max(chosen.touch, chosen.back * held[middle]):
            hand.doubt = True
        for k, lost in enumerate(at_most):
            held[k] += min(elapsed / (0.06 if lost > held[k] else 2.0), 1.0) * (lost - held[k])
        return []

    def _side_of(self, hand: _Hand) -> HandSide:
        """Return the side to report; unset if the pads have too few strips to detect sides."""
        return hand.side if self._shape[1] >= SIDE_STRIPS else UNSET

    def _came_over(self, pad: int, crosstalk: float) -> Side | None:
        """Return the side of the hand that just went in, from the scans up to the first that touched the middle."""
        own = slice(self._shape[1] * pad, self._shape[1] * (pad + 1))
        if not all(self._there[own]):
            return None
        rows = np.array([scan[own] for scan in self._recent])
        return edge_side(rows[: len(rows) - self._set.in_scans], crosstalk)

    def _find_touched_strips(self, now: Row, mean: Row, raised: Row) -> list[bool]:
        """Return which strips are touched, and update which pads are; the rows are without the sag."""
        strips = self._shape[1]
        touched: list[bool] = []
        for pad, hand in enumerate(self._hands):
            limit, own = self._set.clear + raised[pad], slice(strips * pad, strips * (pad + 1))
            touched += [lost > limit for lost in mean[own]]
            self._stirs[pad] = hand is not None or max(now[own]) > limit
        return touched

    def _follow(
        self, base: Row, elapsed: float, depth: Row, mean: Row, at_most: Row, touched: list[bool], sag: float
    ) -> None:
        """Update the baseline in place.

        `depth` and `at_most` are mean and maximum of the counts lost in two scans, `mean` is `depth` without the sag.
        """
        chosen, strips, there = self._set, self._shape[1], self._there
        self._scans += 1
        share = max(elapsed / chosen.follow_s, 1.0 / (self._scans + 1))
        rising = max(share, min(elapsed / chosen.rise_s, 1.0))
        slowest = -max(chosen.follow_per_s * elapsed, 20.0 / (self._scans + 1))
        swallowed = elapsed / chosen.swallow_s
        held = [hand is not None for hand in self._hands for _ in range(strips)]
        common = sag * min(elapsed / chosen.sag_s, 1.0)
        drift = self._drift(mean, touched, held, share) if True in held else 0.0
        for k, lost in enumerate(depth):
            if held[k] or not there[k]:
                step = drift if there[k] else 0.0
            elif touched[k] and self._jumped[k]:
                step = -mean[k] * swallowed
            else:
                own = mean[k] if lost > sag else min(lost, 0.0)
                step = max(-own * (rising if at_most[k] < -2.5 else share), slowest)
            base[k] += step - common
            self._above[k] = self._above[k] + 1 if -lost > chosen.rise else 0
            this = self._pads[k // strips]  # the loss that remains after a hand left is drift
            if self._above[k] >= chosen.out_scans or (this.left and mean[k] > chosen.remainder):
                base[k] -= lost
        for this in self._pads:
            this.left = False

    def _drift(self, depth: Row, touched: list[bool], held: list[bool], share: float) -> float:
        """Return the baseline's step under a hand: the common drift of the untouched strips."""
        here = [k for k, there in enumerate(self._there) if there]
        free = [k for k in here if not held[k]]
        calm = [depth[k] for k in free or here if not touched[k]]  # with hands at all pads: the strips that none covers
        if len(free) == len(held) or len(calm) < self._shape[1]:
            return 0.0
        return -share * median(calm)


@dataclass(slots=True)
class _Pad:
    """State of a pad without a hand, since it was last untouched."""

    run: int = 0
    """Consecutive scans in which the middle strip was touched."""
    edged: bool = False
    """An edge strip is touched, or was a few scans ago."""
    brushed: bool = False
    """The middle strip was nearly touched."""
    calm: int = 0
    """Consecutive scans without a touch."""
    left: bool = False
    """A hand has just gone out."""


@dataclass(slots=True)
class _Hand:
    """State of a hand in a pad; rows have one number per strip."""

    side: Side | None
    since: float
    held: Row
    """Counts that its strips lose now, smoothed."""
    took: Row
    """... and the most they lost in its first half second."""
    peak: Row
    """... and recently."""
    doubt: bool
    """The hand is unsure."""
    free: int = 0
    """Consecutive scans in which the strips that it covered were free."""
    up: int = 0
    """... or far above their counts under it."""
    dipped: bool = False
    """The middle strip was released before the hand was out."""
    dropped_at: float | None = None
    """When the middle strip began to lose far fewer counts than before."""
    level: float = 0.0
    """The least counts it has lost since then."""

    def is_remainder(self, t: float, strip: int, lost: float, free: bool, chosen: HandSettings) -> bool:
        """Return True if `strip` has lost only a remainder of the hand's counts for long enough; `lost` is its loss."""
        step = max(chosen.dropped * self.took[strip], chosen.touch)
        if self.dropped_at is None:
            if free or self.peak[strip] - lost >= step:
                self.dropped_at, self.level = t, lost
            return False
        self.level = min(self.level, lost)
        if lost - self.level >= step:  # it has come back
            self.dropped_at = None
        return self.dropped_at is not None and t - self.dropped_at >= chosen.remainder_s


SIDE_STRIPS = 3
"""Strips a pad needs to detect the edge a hand came over."""
SIDE_SCANS = 8
"""Scans kept for `side`: 0.16 s at 50 scans a second."""
LEAD = 4.5
"""Weighted lead, counts, that the near edge strip must have over the far one: two sigma of a noisy mat."""
MAX_FAR_EDGE_LOSS = 7.0
"""Counts that the far edge strip may lose before the middle in two scans in a row; more means another hand."""
RISE = 9.0
"""Counts that the far edge strip may gain while the near one, touched before, gains less."""


def edge_side(rows: Array, crosstalk: float) -> Side | None:
    """Return the side that the hand came from, or None if it is unclear.

    `rows` of shape (scans, strips), hider's edge first, are the counts lost in the last scans, up to the first in which
    the middle strip was touched; `crosstalk` is the largest contribution of hands at other pads.
    """
    if rows.shape[1] < SIDE_STRIPS or len(rows) < 2:
        return None
    hider, middle, hitter = rows[:, 0], rows[:, rows.shape[1] // 2], rows[:, -1]
    weight = np.maximum(rows.max(axis=1), 1.0)
    ahead = float((hider - hitter) @ weight / np.sqrt(weight @ weight))
    if abs(ahead) < LEAD + crosstalk:
        return None
    own, far = (hider, hitter) if ahead > 0 else (hitter, hider)
    first = np.minimum(far, far - middle)
    if np.minimum(first[1:], first[:-1]).max() > MAX_FAR_EDGE_LOSS + crosstalk:
        return None
    if far[-1] - far.min() > max(RISE + crosstalk, own[-1] - own.min()):
        return None
    return "hider" if ahead > 0 else "hitter"
