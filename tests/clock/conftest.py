"""A machine in Berlin whose clock is set, or changed to and from summer time, while programs run."""

import time
from contextlib import ExitStack
from datetime import datetime

import pytest
from travel import travelling

from pi_controller.host.clock import SteadyClock
from pi_controller.host.retention import Retention

CHANGES = {
    "three years ahead": ("2036-11-18T09:00Z", 3 * 365 * 86_400.0),
    "two hours back": ("2036-11-18T09:00Z", -2 * 3600.0),
    "to summer time": ("2036-03-30T00:57Z", 0.0),
    "to winter time": ("2036-10-26T00:57Z", 0.0),
}
"""When each begins, and by how much the clock is set, s; summer time begins and ends three minutes later."""


class Machine:
    """A machine on whose `loop` programs run, with their files in `folder`."""

    def __init__(self, folder, loop, begins, by_s):
        self.folder, self.loop, self.by_s, self._set_s = folder, loop, by_s, 0.0
        self.began = datetime.fromisoformat(begins).timestamp()
        self._offset = self.began - loop.time()

    def wall(self):
        """Return the time of day, s since 1970."""
        return self._offset + self.loop.time() + self._set_s

    def set_clock(self):
        self._set_s += self.by_s

    @property
    def passed_s(self):
        """How long programs have run by now."""
        return self._offset + self.loop.time() - self.began


@pytest.fixture(params=CHANGES.values(), ids=CHANGES)
def machine(request, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    with ExitStack() as stack:
        stack.callback(time.tzset)
        stack.callback(monkeypatch.undo)
        made = Machine(tmp_path, stack.enter_context(travelling()), *request.param)
        monkeypatch.setattr(time, "time", made.wall)
        monkeypatch.setattr(SteadyClock.__init__, "__defaults__", (made.wall, made.loop.time))
        monkeypatch.setitem(Retention.__init__.__kwdefaults__, "wall", made.wall)
        monkeypatch.setitem(Retention.__init__.__kwdefaults__, "steady", made.loop.time)
        yield made
