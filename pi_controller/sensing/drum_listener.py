"""Listen to the drums while no hit is due: how near each pad comes to firing without a stroke.

A pad that answers the drums more than its neighbours do fires at their beats, always the same pad. What it shows while
no hit is due is no stroke, so it tells how much a stroke has to exceed: the detector asks about one that does not. A
pad that fires again and again is left to the judge until it has been quiet. A hand at the pad moves it, too; what it
does is not counted.
"""

from collections import deque

import numpy as np

LISTEN_DB = 3.0
"""So far below the detector's thresholds a beat is counted, and so far above the beats a stroke is trusted."""
LISTEN_S = 30.0
"""Time listened to."""
BEATS = 3
"""Beats that tell something of a pad; and those that fired, until it is left to the judge."""
BEATS_RANK = 0.9
MAX_BEAT_DB = 12.0
"""What exceeds the thresholds by more is a stroke that does not count, not a drum."""
BEAT_S = 0.05
"""What comes so soon after the begin of a beat belongs to it."""
BEFORE_HAND_S = 0.6
"""A hand bumps a pad so long before it is detected, and the detector's samples wait meanwhile."""
AFTER_HAND_S = 0.4


class DrumListener:
    """Keeps the beats of each pad (0 first) by the time that was listened, in seconds."""

    def __init__(self, pads: int) -> None:
        self._now = 0.0
        self._beats = [deque[tuple[float, float]]() for _ in range(pads)]
        self._deaf_until = [0.0] * pads

    def listen(self, seconds: float) -> None:
        """Advance by `seconds` in which no hit was due."""
        self._now += seconds
        for beats in self._beats:
            while beats and beats[0][0] < self._now - LISTEN_S:
                beats.popleft()

    def note_beat(self, pad: int, ago_s: float, margin_db: float) -> None:
        """Note that `pad` came within `LISTEN_DB` of firing, or exceeded the thresholds by `margin_db`."""
        at, beats = self._now - ago_s, self._beats[pad]
        if at < self._deaf_until[pad] or margin_db > MAX_BEAT_DB:
            return
        if beats and at - beats[-1][0] < BEAT_S:
            at, before_db = beats.pop()
            margin_db = max(margin_db, before_db)
        beats.append((at, margin_db))

    def note_hand(self, pad: int, *, under: bool) -> None:
        """Note that a hand went under `pad`, or left it."""
        self._deaf_until[pad] = np.inf if under else self._now + AFTER_HAND_S
        beats = self._beats[pad]
        while under and beats and beats[-1][0] > self._now - BEFORE_HAND_S:
            beats.pop()

    def least_margin_db(self, pad: int) -> float:
        """Return the margin from which a stroke on `pad` is trusted; 0 if the drums tell nothing of it."""
        margins = [margin for _, margin in self._beats[pad]]
        if len(margins) < BEATS:
            return 0.0
        return float(np.quantile(margins, BEATS_RANK)) + LISTEN_DB

    @property
    def answering(self) -> list[int]:
        """The pads that the drums let fire again and again."""
        return [pad for pad, beats in enumerate(self._beats) if sum(margin > 0 for _, margin in beats) >= BEATS]
