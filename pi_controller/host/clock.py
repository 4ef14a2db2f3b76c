"""Clocks for durations: seconds since 1970 that go on steadily when somebody sets the machine's clock."""

import time
from collections.abc import Callable


def steady_clock(
    wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock that begins at the time of day, s since 1970, and never jumps after that.

    >>> now = 100.0
    >>> clock = steady_clock(lambda: 1_800_000_000.0, lambda: now)
    >>> now += 5.0
    >>> clock()
    1800000005.0
    """
    ahead = wall() - steady()
    return lambda: ahead + steady()
