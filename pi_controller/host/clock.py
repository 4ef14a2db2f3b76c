"""A clock for durations: seconds since 1970 that go on steadily when somebody sets the machine's clock."""

import sys
import time
from collections.abc import Callable

JUMP_S = 5.0
"""A smaller step of the machine's clock is its slow correction."""


def since_boot() -> float:
    """Return the seconds since the start of the machine, with the time it slept if the system counts that."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class SteadyClock:
    """A clock that begins at the time of day, s since 1970, and never jumps after that.

    >>> wall, steady = 1_800_000_000.0, 100.0
    >>> clock = SteadyClock(lambda: wall, lambda: steady)
    >>> wall, steady = wall - 3600.0, steady + 5.0
    >>> clock(), clock.ahead()
    (1800000005.0, -3605.0)
    >>> again = SteadyClock(lambda: wall, lambda: steady)  # after a restart of the program
    >>> again.go_on(clock.ahead())
    >>> again()
    1800000005.0
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = since_boot) -> None:
        """Begin now, by the machine's clock `wall`; go on by `steady`."""
        self.wall, self._steady = wall, steady
        self._began = wall() - steady()

    def __call__(self) -> float:
        """Return the time, s."""
        return self._began + self._steady()

    def go_on(self, ahead_s: float) -> None:
        """Go on as an earlier clock did, of which the machine's was set `ahead_s` ahead."""
        self._began = self.wall() - ahead_s - self._steady()

    def ahead(self) -> float:
        """Return how far the machine's clock is ahead of this one, s: how far it was set."""
        return self.wall() - self()


class JumpDetector:
    """Detects that somebody set the machine's clock, which is `ahead()` s ahead of a `SteadyClock`.

    >>> ahead = 0.0
    >>> jumps = JumpDetector(lambda: ahead)
    >>> ahead = 7200.0
    >>> jumps.step(), jumps.step()
    (7200.0, 0.0)
    """

    def __init__(self, ahead: Callable[[], float]) -> None:
        self._ahead, self._before = ahead, ahead()

    def step(self) -> float:
        """Return by how much the clock was set since the last call, s; 0.0 if by less than `JUMP_S`."""
        ahead = self._ahead()
        by_s, self._before = ahead - self._before, ahead
        return by_s if abs(by_s) >= JUMP_S else 0.0
