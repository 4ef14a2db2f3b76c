"""Maps board time to host time, monotonically, with offset and drift from ping bounds.

A PONG holds the board's time at some moment between sending the PING and receiving the answer. So each ping bounds the
map from both sides; over a minute of pings the tightest bounds count, not the mean, and the estimate is the middle of
the interval between them. A slow answer gives wide bounds and does no harm. A constant asymmetry of the two directions
looks like an offset; half of it remains as an error. The map is a line that changes only at its end: after each ping it
is steered gently towards the new estimate, so that consecutive blocks of samples overlap by no more than a third of a
sample while a large error is corrected, and a hundredth of one otherwise.
"""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RECENT = 20
"""Round trips (10 s of pings) over which `rtt` is the shortest."""
_WINDOW = 120
"""Pings (a minute) whose bounds are used: crystals drift slowly enough."""
_DRIFT = 200e-6
"""Crystals differ by 100 ppm at worst; an estimate beyond that is noise."""
_COARSE, _FINE = np.arange(-200, 201, 10) * 1e-6, np.arange(-10, 11) * 1e-6
_PRIOR_S = 1.0
"""Widening of the bounds that a new drift must bring, for each unit of difference from the previous drift."""
_HORIZON_S = 2.0
"""Time in which an error is corrected, if the steering limit allows it."""
_STEER, _STEER_HARD = 50e-6, 0.005
_LARGE_S = 0.001
_STEP_S = 0.02
"""If the map is behind by more than this, it jumps: a jump forwards causes no overlap."""


class BoardClock:
    """Converts board seconds to host seconds. Deterministic: all times are passed in.

    `rtt` is the shortest recent round trip (s), `drift` the relative rate by which the host's clock is faster.
    """

    def __init__(self) -> None:
        self.rtt = float("inf")
        self.drift = 0.0
        self.pings = 0
        self._rtts: deque[float] = deque(maxlen=_RECENT)
        self._bounds: deque[tuple[float, float, float]] = deque(maxlen=_WINDOW)  # board time, host time bounds
        self._doubted = False
        self._estimate: tuple[float, float] | None = None  # board time, host time
        self._anchor = (0.0, 0.0)
        self._anchored = False
        self._slope = 1.0
        self._steer = 0.0
        self._edge = 0.0

    @property
    def known(self) -> bool:
        """True once a ping has been answered; until then `to_host` is based on arrivals."""
        return self._estimate is not None

    def take_arrival(self, board: float, t: float) -> None:
        """Note the arrival at `t` of a frame of board time `board`, the only estimate before the first PONG."""
        if not self._anchored:
            self._anchor = (board, t)
            self._anchored = True

    def take_pong(self, sent: float, t: float, board: float) -> None:
        """Process a PONG of board time `board`, received at `t`; its PING was sent at `sent` (host s)."""
        if self._bounds and board <= self._bounds[-1][0]:
            return
        rtt = max(t - sent, 0.0)
        self._rtts.append(rtt)
        self.rtt = min(self._rtts)
        self.pings += 1
        self._bounds.append((board, sent, sent + rtt))
        left = self._bound_host_time(board)
        if left is None:
            if not self._doubted:  # perhaps a false answer: the next one decides
                self._doubted = True
                self._bounds.pop()
                return
            self._bounds.clear()
            self._bounds.append((board, sent, sent + rtt))
            left = sent + rtt / 2
        self._doubted = False
        self._estimate = (board, left)
        self._bend(board)

    def _bound_host_time(self, board: float) -> float | None:
        """Return the middle of the bounds at `board`, or None if they contradict each other; update the drift."""
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
        # bend the map at its end: times already mapped stay unchanged
        assert self._estimate is not None
        at = max(board, self._edge)
        aim = self._estimate[1] + (at - self._estimate[0]) * (1 + self.drift)
        if not self._anchored:
            self._anchor = (at, aim)
            self._anchored = True
        now = self.peek_host(at)
        error = aim - now
        if error > _STEP_S:
            now, error = aim, 0.0
        most = _STEER_HARD if abs(error) > _LARGE_S else _STEER
        self._steer = min(max(error / _HORIZON_S, -most), most)
        self._slope = 1 + self.drift
        self._anchor = (at, now)

    def to_host(self, board: float, until: float = 0.0) -> float:
        """Return the host time of `board` (s), and freeze the map up to there, or up to `until` if that is later."""
        self._edge = max(self._edge, board, until)
        return self.peek_host(board)

    def past_to_host(self, board: float) -> float:
        """Return the host time of `board` (s), which may be long before the map began. Requires a PONG."""
        assert self._estimate is not None
        return self._estimate[1] + (board - self._estimate[0]) * (1 + self.drift)

    def peek_host(self, board: float) -> float:
        """Return the host time of `board` (s) without freezing the map; valid after the first pong or arrival."""
        since = board - self._anchor[0]
        return self._anchor[1] + since * self._slope + min(since, _HORIZON_S) * self._steer
