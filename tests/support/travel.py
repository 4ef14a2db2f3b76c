"""An event loop that travels through time: asyncio code runs as it is, and no test waits.

The loop is the clock of asyncio code (`loop.time`, `sleep`, `timeout`, `call_later`, `to_thread`). Here it leaps to the
next timer whenever all is idle, and work for a thread is done at once.
"""

import asyncio
import selectors
from contextlib import contextmanager

START_S = 1_000.0
MOMENT_S = 1e-6
LONGEST_S = 10 * 365 * 86_400.0


class StuckError(AssertionError):
    """Everything waits, and no timer will ever wake it."""


class _Leap(selectors.SelectSelector):
    """Select without waiting: the time until the next timer passes at once."""

    def __init__(self, pass_s):
        super().__init__()
        self._pass_s = pass_s

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready:
            self._pass_s(timeout)
        return ready


class TravelLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own, which begins at `now`.

    >>> with travelling() as loop:
    ...     loop.run(asyncio.sleep(3_600)), loop.time()
    (None, 4600.0)
    """

    def __init__(self, now=START_S):
        super().__init__(_Leap(self._pass))
        self._now = now
        self.work_s = 0.0
        """How long work in a thread takes."""

    def time(self):
        """Return the loop's own time, s."""
        return self._now

    def run(self, awaitable):
        """Run `awaitable`, with all timers before its end in their order; return its result."""
        around = asyncio._get_running_loop()  # a browser that an earlier test started has its loop run for ever
        asyncio._set_running_loop(None)
        try:
            return self.run_until_complete(awaitable)
        finally:
            asyncio._set_running_loop(around)

    def advance(self, seconds):
        """Let `seconds` pass: every timer until then runs, in order."""
        self.run(asyncio.sleep(seconds))

    def settle(self):
        """Run all that can run now."""
        self.advance(MOMENT_S)

    def leap(self):
        """Let the time until the next timer pass. Raises `StuckError` without one."""
        timers = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        if not timers:
            raise StuckError
        self.advance(max(0.0, min(timers) - self._now) + MOMENT_S)

    def run_in_executor(self, executor, func, *args):
        """Call `func` at once, in this thread; its result comes after `work_s`."""
        done = self.create_future()
        try:
            result = func(*args)
            if self.work_s:
                self.call_later(self.work_s, lambda: done.cancelled() or done.set_result(result))
            else:
                done.set_result(result)
        except Exception as error:  # noqa: BLE001 - the awaiting code gets it, as from a thread
            done.set_exception(error)
        return done

    def _pass(self, seconds):
        if seconds is None or seconds > LONGEST_S:
            raise StuckError
        self._now += seconds


@contextmanager
def travelling(now=START_S):
    """Yield a `TravelLoop`; at the end its tasks are cancelled and it is closed, as `asyncio.run` does."""
    loop = TravelLoop(now)
    try:
        yield loop
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run(asyncio.gather(*left, return_exceptions=True))
        loop.run(loop.shutdown_asyncgens())
    finally:
        loop.close()


def run(awaitable):
    """Run `awaitable` in a new loop that travels; return its result. It is `asyncio.run` without the wait."""
    with travelling() as loop:
        return loop.run(awaitable)
