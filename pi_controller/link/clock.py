"""The board's clock on the host's: pings give offset and drift, and the map between them never jumps backwards.

A PONG holds the board's time at some moment between sending the PING and its answer's arrival; the middle is wrong by
half the round trip at most. So short round trips count and long ones do not. The map is a line, bent only where it
ends: after each ping it is steered towards the new estimate, gently, so that blocks of samples follow one another
without overlap (of more than a third of a sample while a large error is worked off, a hundredth of one otherwise).
"""

from __future__ import annotations

from collections import deque

_RECENT = 20
"""Round trips (10 s of pings) whose shortest says what short is."""
_DRIFT = 200e-6
"""Crystals differ by 100 ppm at worst; an estimate beyond that is noise."""
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
        """Take the arrival at `t` of something of board time `board`: all there is to go by before the first PONG."""
        if not self._anchored:
            self._anchor = (board, t)
            self._anchored = True

    def ponged(self, sent: float, t: float, board: float) -> None:
        """Take a PONG: the PING went at `sent`, the answer came at `t` (host s) and says `board` (board s)."""
        rtt = max(t - sent, 0.0)
        self._rtts.append(rtt)
        self.rtt = min(self._rtts)
        middle = (sent + t) / 2
        if self._estimate is None:
            self._estimate = (board, middle)
        else:
            was_board, was_host = self._estimate
            apart = board - was_board
            if apart <= 0 or rtt > 1.5 * self.rtt + 0.0005:
                return
            self.pings += 1
            line = was_host + apart * (1 + self.drift)
            error = middle - line
            surely = error - min(max(error, -rtt / 2), rtt / 2)  # the truth lies within the round trip
            line += surely
            error -= surely
            # a mean at first, then a slow filter: a tenth of each error to the offset, a hundredth to the drift
            gain = max(1 / (self.pings + 1), 0.1)
            self._estimate = (board, line + gain * error)
            drift = self.drift + min(gain * gain, 0.01) * error / max(apart, 0.1)
            self.drift = min(max(drift, -_DRIFT), _DRIFT)
        self._bend(board)

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

    def peek(self, board: float) -> float:
        """Return the host time of `board` (s) as the map stands; means nothing before `ponged` or `arrived`."""
        since = board - self._anchor[0]
        return self._anchor[1] + since * self._slope + min(since, _HORIZON_S) * self._steer
