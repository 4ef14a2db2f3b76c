"""The daemon's step: from readings to the table's journal, and from its view to lights and pages.

`Daemon.step(t)` is all there is; it never reads a clock and never sleeps. Three edges drive it: `run` on the wall's
clock, `demo` in the simulator's time, and a test in lock step with a simulated mat in another process.

A board that is not there is no reason to stop: the daemon says so and looks again once a second. A journal that cannot
be written stops play, not the daemon: the table says so and tries again.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_controller.drivers.ports import StripError
from pi_controller.link.messages import BoardEvent
from pi_controller.mat.events import Button
from pi_controller.mats import BEFORE, Mats
from pi_controller.show.lights import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.drivers.ports import Buttons, Rgb, Strip
    from pi_controller.link.messages import Message
    from pi_controller.link.source import Source
    from pi_controller.mats import Mat
    from pi_controller.table.observer import Observer
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

AGAIN_S = 1.0
"""How often a failing journal is tried again."""
FRAME_S = 1 / 25
"""A scene that breathes is redrawn this often; a change is shown at once."""


class Daemon:
    """One table, wired together: its mats, buttons, lights and pages.

    `mats` are the one between the teams, or where each team has its own, the one before A and the one before B.
    `publish` is called with each new view; `observers` look on.
    """

    def __init__(
        self,
        table: Table,
        mats: Sequence[Mat],
        buttons: Buttons | None = None,
        strip: Strip | None = None,
        publish: Callable[[View], None] | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.table = table
        self.mats = mats
        self.observers = list(observers)
        self._seated = Mats(table, mats)
        self._buttons = buttons
        self._strip = strip
        self._publish = publish
        self._now = 0.0
        self._presses: list[Button] = []
        self._retry_at = self._drawn_at = float("-inf")
        self._shown: View | None = None
        self._lit: Sequence[Rgb] = ()
        if buttons is not None:
            buttons.listen(self._pressed)

    @property
    def source(self) -> Source:
        """The source of the mat before the hiders."""
        return self._seated.faced.source

    @property
    def calm(self) -> bool:
        """Whether readings may wait a moment: no stroke is due, and no board is being synchronised."""
        return not self.table.strike_reporting and not any(mat.source.pinging for mat in self.mats)

    @property
    def sent(self) -> int:
        """Bytes sent to the boards so far."""
        return sum(mat.source.sent for mat in self.mats)

    def step(self, t: float, at_least: int = 0) -> None:
        """Take in what waits (in lock step, `at_least` bytes), let time pass to `t`, show what changed."""
        self._now = t
        self._seated.look_round(t)
        for mat in self.mats:
            self._take(mat.source.step(t, at_least), mat)
        if self._buttons is not None:
            self._buttons.tick(t)
        self._pass_on_presses()
        self.table.tick(t)
        if self.table.halted is None:
            self._retry_at = t + AGAIN_S  # people are to see that it stopped, even for a moment
        elif t >= self._retry_at:
            self._retry_at = t + AGAIN_S
            self.table.retry(t)
        self._seated.look_round(t)
        self._show(t)
        self.table.tend(t)
        for observer in self.observers:
            observer.on_step(t, self.table, self.table.strike_reporting)

    def close(self) -> None:
        """Say goodbye to the board; give back the port, the pins and the strip. The journal belongs to the table."""
        for mat in self.mats:
            mat.source.close()
        if self._buttons is not None:
            self._buttons.close()
        if self._strip is not None:
            with suppress(StripError):
                self._strip.close()

    def _take(self, messages: Sequence[Message], mat: Mat) -> None:
        if not messages:
            return
        for message in messages:
            if isinstance(message, BoardEvent) and message.public:
                which = f"mat {BEFORE[self.mats.index(mat)]}: " if len(self.mats) > 1 else ""
                log.log(logging.INFO if message.good else logging.WARNING, "%s%s", which, message.line)
        for observer in self.observers:
            observer.on_messages(self._now, messages, self.table.strike_reporting)
        events = self._seated.feed(messages, mat)
        for observer in self.observers:
            observer.on_events(events, self.table.strike_reporting)

    def _pressed(self, name: str, t: float) -> None:
        self._presses.append(Button(t=t, name=name))

    def _pass_on_presses(self) -> None:
        """Pass on the presses that the mat's own readings have caught up with.

        A button is quicker than the mat: until the touch strips were scanned at the moment of the press, a hand that
        was there may not be known, and a board that has just died not missed.
        """
        mat = self._seated.faced
        while self._presses and (not mat.source.up or mat.scanned_until >= self._presses[0].t):
            press = self._presses.pop(0)
            for observer in self.observers:
                observer.on_press(self._now, press)
            self.table.mat_event(press)

    def _show(self, t: float) -> None:
        view = self.table.view
        new = view is not self._shown
        self._shown = view
        if self._strip is not None and (new or t - self._drawn_at >= FRAME_S):
            self._drawn_at = t
            self._light(self._strip, view, t)
        if new and self._publish is not None:
            self._publish(view)

    def _light(self, strip: Strip, view: View, t: float) -> None:
        lit = frame(view, t)
        if lit == self._lit:
            return  # a scene that stands still leaves the wire, and the magnetometers beside it, in peace
        self._lit = lit
        try:
            strip.show(lit)
        except StripError as error:  # the game does not wait for its lights
            log.warning("the light strips are off: %s", error.what)
            self._strip = None
