"""Watch the page on the machine's own screen and restart the browser if the page stops polling.

A crashed or hung tab stays on the screen until the browser is restarted. The page polls `/here` every ten seconds: by
a timer, because a screen that the staff has switched off draws no frames, and when the service sends something,
because a browser that is too slow for its page starves timers. The service may not restart units itself: it creates a
file that triggers a unit of the machine (`card.kiosk`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pi_controller.display.i18n import Translator
from pi_controller.errors import describe_error
from pi_controller.exhibit.health import WatchFact, log

SILENCE_TIMEOUT_S = 120.0
"""The page counts as lost after this time without a poll.

The page polls every ten seconds, and a browser returns from the staff page within sixty.
"""
START_TIMEOUT_S = 300.0
"""Time for a browser to reach the installation's page. The unit itself waits for a first sign of life
(`kiosk.FIRST_SIGN_TIMEOUT_S`).

A shorter time here would interrupt a slow start.
"""
MAX_RESTARTS, HOUR_S = 3, 3600.0


class KioskWatch:
    """Watches the screen.

    `running` identifies the current run of its unit (None: not running), `restart` restarts it.
    """

    def __init__(self, running: Callable[[], object], restart: Callable[[], None]) -> None:
        self.given_up = False
        """True after too many restarts; no more are tried until the page polls again or the hour has passed."""
        self.restarts: list[float] = []
        """Times of the restarts in the last hour."""
        self._running, self._restart = running, restart
        self._run: object = None
        self._since = 0.0

    def check(self, t: float, seen: float | None) -> None:
        """Restart the screen if its page is lost at `t`, s.

        `seen` is the time of the page's last poll, None for never.
        """
        self.restarts = [one for one in self.restarts if t - one < HOUR_S]
        if (run := self._running()) is None or run != self._run:
            self._run, self._since = run, t
        if run is None:
            return
        asked = seen is not None and seen >= self._since
        if t - (seen if asked and seen is not None else self._since) < (
            SILENCE_TIMEOUT_S if asked else START_TIMEOUT_S
        ):
            self.given_up = self.given_up and not asked
            return
        self.given_up = len(self.restarts) >= MAX_RESTARTS
        if self.given_up:
            return
        log.warning("the page on this machine's screen stopped polling: the screen is restarted")
        self.restarts.append(t)
        self._since = t
        try:
            self._restart()
        except OSError as error:
            log.warning("the screen cannot be restarted: %s", describe_error(error))

    def facts(self, tr: Translator) -> list[WatchFact]:
        """Return what the staff page says of the screen; [] if all is well."""
        if not self.restarts and not self.given_up:
            return []
        often = tr.text("restarted {n} times in an hour", n=len(self.restarts))
        gone = tr.text("has failed: switch the machine off and on")
        return [
            WatchFact(
                tr.text("Visitors’ screen"), f"{often}; {gone}" if self.given_up else often, self.given_up, "screen"
            )
        ]


def watch_unit(running: Path, asked: Path) -> KioskWatch:
    """Return the watch of the unit whose folder `running` exists while it runs; the file `asked` restarts it."""

    def run() -> object:
        try:
            return running.stat().st_ino
        except OSError:
            return None

    return KioskWatch(run, asked.touch)
