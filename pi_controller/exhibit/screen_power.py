"""Switch the machine's own screen off while the installation is closed, and on before it opens.

The service may not do that itself: it creates a file that triggers a unit of the machine (`card.kiosk`), which ends the
browser and its compositor and then switches the display's signal off. Rejected: `wlopm`, as cage has no protocol for
the power of an output; `wlr-randr --off`, which takes the only output away from under the browser; `vcgencmd
display_power`, which does nothing with the kernel's own display driver; CEC, which few monitors know.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pi_controller.errors import describe_error
from pi_controller.exhibit.health import log
from pi_controller.host.request import OFF, ON
from pi_controller.host.status import SCREEN_IS_OFF

REPEAT_S = 60.0
"""A request is repeated after this time if the machine has not fulfilled it."""


class ScreenPower:
    """Asks the machine for its screen by files in `folder`, the service's run folder.

    `running` returns True while the screen's unit runs. A file in the folder tells that the screen is off by this
    request, also over a restart of the service: a screen that somebody else has stopped stays off.
    """

    def __init__(self, running: Callable[[], bool], folder: Path) -> None:
        self._running = running
        self._off, self._on, self._is_off = (folder / name for name in (OFF.file, ON.file, SCREEN_IS_OFF))
        self._asked: tuple[Path, float] | None = None

    def check(self, t: float, *, off: bool) -> None:
        """Ask the machine at `t`, s, for the screen to be `off`, if it is not."""
        running = self._running()
        try:
            if off and running:
                self._is_off.touch()
                self._ask(t, self._off)
            elif not off and self._is_off.exists():
                if running:
                    self._is_off.unlink(missing_ok=True)
                else:
                    self._ask(t, self._on)
        except OSError as error:
            log.warning("the screen cannot be switched: %s", describe_error(error))

    def _ask(self, t: float, file: Path) -> None:
        if self._asked is not None and self._asked[0] == file and t - self._asked[1] < REPEAT_S:
            return
        self._asked = file, t
        log.info("the screen is to be switched %s", "off" if file == self._off else "on")
        file.touch()
