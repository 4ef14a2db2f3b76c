"""Watches the page on the machine's own screen: where it does not ask any more, the screen is to be started anew.

A tab that crashed, or hangs, stands there until somebody starts the browser. The page asks every ten seconds (`/here`);
it asks by a timer, not when it is drawn, for nothing is drawn on a screen that the staff has switched off. The service
may not start anything itself: it leaves a file for which a unit of the machine's own waits (`setup.kiosk_restart`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pi_controller.exhibit.machine_watch import Fact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

SILENT_S = 120.0
"""So long the page has not asked, and is gone: it asks every ten seconds, and comes back from the staff's in sixty."""
START_S = 300.0
"""So long a browser may take to its first page."""
MOST, HOUR_S = 3, 3600.0


class KioskWatch:
    """Watches the screen; `running` says which run of it this is, None for none, and `restart` has it started anew."""

    def __init__(self, running: Callable[[], object], restart: Callable[[], None]) -> None:
        self.given_up = False
        """Whether it was started anew so often that it is left alone until the page asks, or the hour is over."""
        self.restarts: list[float] = []
        """When it was started anew, in the last hour."""
        self._running, self._restart = running, restart
        self._run: object = None
        self._since = 0.0

    def look(self, t: float, seen: float | None) -> None:
        """Look at `t`, s; `seen` is when the page asked last, None for never."""
        self.restarts = [one for one in self.restarts if t - one < HOUR_S]
        if (run := self._running()) is None or run != self._run:
            self._run, self._since = run, t
        if run is None:
            return
        asked = seen is not None and seen >= self._since
        if t - (seen if asked and seen is not None else self._since) < (SILENT_S if asked else START_S):
            self.given_up = self.given_up and not asked
            return
        self.given_up = len(self.restarts) >= MOST
        if self.given_up:
            return
        log.warning("the page on this machine's screen does not ask any more: the screen is started anew")
        self.restarts.append(t)
        self._since = t
        try:
            self._restart()
        except OSError as error:
            log.warning("the screen cannot be started anew: %s", error)

    def fact(self, text: Callable[[str], str]) -> list[Fact]:
        """Return what the staff is to know of the screen, nothing while all is well."""
        if not self.restarts and not self.given_up:
            return []
        often = text("started anew {n} times in an hour").format(n=len(self.restarts))
        gone = text("is lost, and stays as it is: switch the machine off and on")
        return [Fact(text("Visitors’ screen"), f"{often}; {gone}" if self.given_up else often, self.given_up)]


def watch_unit(running: Path, asked: Path) -> KioskWatch:
    """Return the watch of the unit whose folder `running` is there while it runs; the file `asked` has it restarted."""

    def run() -> object:
        try:
            return running.stat().st_ino
        except OSError:
            return None

    return KioskWatch(run, asked.touch)
