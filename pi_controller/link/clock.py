"""Maps board time to host time: offset and drift from ping midpoints, monotonic.

A PONG holds the board's time at some moment between sending the PING and its answer's arrival. So each ping bounds the
map from both sides, and over a minute of them the tightest bounds count, not the mean: the map lies in the middle of
what is left between them. A slow answer bounds little and does no harm. What always comes later one way than the
other cannot be told from an offset: half of that stays. The map is a line, bent only where it ends: after each ping it
is steered towards the new estimate, gently, so that blocks of samples follow one another without overlap (of more than
a third of a sample while a large error is worked off, a hundredth of one otherwise).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RECENT = 20
"""Round trips (10 s of pings) whose shortest is told."""
_WINDOW = 120
"""Pings (a minute) whose bounds count: crystals wander slowly enough."""
_DRIFT = 200e-6
"""Crystals differ by 100 ppm at worst; an estimate beyond that is noise."""
_COARSE, _FINE = np.arange(-200, 201, 10) * 1e-6, np.arange(-10, 11) * 1e-6
_PRIOR_S = 1.0
"""What a drift must gain on the bounds to be believed, for each unit that it differs from the one believed before."""
_HORIZON_S = 2.0
"""An error is worked off within this time, where the steering allows it."""
_STEER, _STEER_HARD = 50e-6, 0.005
_LARGE_S = 0.001
_STEP_S = 0.02
"""So far behind, the map jumps: forwards nothing can overlap."""


class BoardClock:
    """Board seconds to host seconds. Deterministic: all times are passed in.

    `rtt` is the shortest recent round trip (s), `drift` how much faster than the board's the host's clock runs.
    """

    def __init__(self) -> None:
        self.rtt = float("inf")
        self.drift = 0.0
        self.pings = 0
        self._rtts: deque[float] = deque(maxlen=_RECENT)
        self._bounds: deque[tuple[float, float, float]] = deque(maxlen=_WINDOW)  # board time, no earlier, no later
        self._doubted = False
        self._estimate: tuple[float, float] | None = None  # board time, host time
        self._anchor = (0.0, 0.0)
        self._anchored = False
        self._slope = 1.0
        self._steer = 0.0
        self._edge = 0.0

    @property
    def known(self) -> bool:
        """Whether a ping has been answered; before, `host` goes by arrivals."""
        return self._estimate is not None

    def arrived(self, board: float, t: float) -> None:
        """Take the arrival at `t` of a frame of board time `board`: the only estimate before the first PONG."""
        if not self._anchored:
            self._anchor = (board, t)
            self._anchored = True

    def ponged(self, sent: float, t: float, board: float) -> None:
        """Take a PONG: the PING went at `sent`, the answer came at `t` (host s) and says `board` (board s)."""
        if self._bounds and board <= self._bounds[-1][0]:
            return
        rtt = max(t - sent, 0.0)
        self._rtts.append(rtt)
        self.rtt = min(self._rtts)
        self.pings += 1
        self._bounds.append((board, sent, sent + rtt))
        left = self._between(board)
        if left is None:
            if not self._doubted:  # a false answer: the next one tells
                self._doubted = True
                self._bounds.pop()
                return
            self._bounds.clear()
            self._bounds.append((board, sent, sent + rtt))
            left = sent + rtt / 2
        self._doubted = False
        self._estimate = (board, left)
        self._bend(board)

    def _between(self, board: float) -> float | None:
        """Return the middle of what the bounds leave at `board`, and keep the drift that leaves most; None: nothing."""
        at, low, high = np.array(self._bounds).T
        at = at - board
        low, high = low - at, high - at

        def best(drifts: NDArray[np.floating[Any]]) -> float:
            tilt = drifts[:, None] * at
            room = (high - tilt).min(axis=1) - (low - tilt).max(axis=1) - _PRIOR_S * np.abs(drifts - self.drift)
            return float(drifts[room.argmax()])

        drift = best(np.append(_COARSE, self.drift))
        drift = min(max(best(drift + _FINE), -_DRIFT), _DRIFT)
        lowest, highest = float((low - drift * at).max()), float((high - drift * at).min())
        if lowest > highest + 1e-6:
            return None
        self.drift = drift
        return (lowest + highest) / 2

    def _bend(self, board: float) -> None:
        # bend the map at its end: what has been mapped stays mapped
        assert self._estimate is not None
        at = max(board, self._edge)
        aim = self._estimate[1] + (at - self._estimate[0]) * (1 + self.drift)
        if not self._anchored:
            self._anchor = (at, aim)
            self._anchored = True
        now = self.peek(at)
        error = aim - now
        if error > _STEP_S:
            now, error = aim, 0.0
        most = _STEER_HARD if abs(error) > _LARGE_S else _STEER
        self._steer = min(max(error / _HORIZON_S, -most), most)
        self._slope = 1 + self.drift
        self._anchor = (at, now)

    def host(self, board: float, until: float = 0.0) -> float:
        """Return the host time of `board` (s) and keep the map as it is up to there, or up to `until` when later."""
        self._edge = max(self._edge, board, until)
        return self.peek(board)

    def long_ago(self, board: float) -> float:
        """Return the host time of `board` (s), which may lie far back, before the map began. Needs a ping."""
        assert self._estimate is not None
        return self._estimate[1] + (board - self._estimate[0]) * (1 + self.drift)

    def peek(self, board: float) -> float:
        """Return the host time of `board` (s) as the map stands; means nothing before `ponged` or `arrived`."""
        since = board - self._anchor[0]
        return self._anchor[1] + since * self._slope + min(since, _HORIZON_S) * self._steer
