"""One step of the running table or exhibit: readings to the journal, and the view to lights and pages.

`Daemon.step(t)` is the only entry point; it never reads a clock and never sleeps. It is driven by `run` with the wall
clock, by `demo` in simulated time, and by tests in lock step with a simulated mat in another process.

If the board is missing, the daemon logs it and tries again once a second. If the journal cannot be written, play stops
but the daemon runs on: the table reports it and tries again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from pi_controller.board.interfaces import Buttons, Rgb, Strip, StripError
from pi_controller.board.message_source import Source
from pi_controller.board.messages import BoardEvent, Message
from pi_controller.board.strips import scale_brightness
from pi_controller.display.lights import StickWalk
from pi_controller.sensing.events import Button
from pi_controller.table.mats import MAT_TEAMS, Mat, Mats
from pi_controller.table.stepped_table import SteppedTable

if TYPE_CHECKING:
    from pi_controller.table.table import Observer
    from pi_controller.table.view import View

log = logging.getLogger(__name__)


TableT = TypeVar("TableT", bound=SteppedTable)


RETRY_S = 1.0
"""Interval between retries of a failing LED strip."""
FRAME_S = 1 / 25
"""Interval between frames of an animated scene; a change is shown at once."""


class Daemon(Generic[TableT]):
    """Connects one table to its mats, buttons, lights and pages.

    `mats` is the one between the teams, or the one before A and the one before B. `publish` is called with each new
    view; `observers` are called with everything that happens. `brightness` returns the share of the strip's own
    brightness that is allowed now. `scene` returns the strip's colours for a view and a time; None is the sticks.
    """

    def __init__(
        self,
        table: TableT,
        mats: Sequence[Mat],
        buttons: Buttons | None = None,
        strip: Strip | None = None,
        publish: Callable[[View], None] | None = None,
        observers: Sequence[Observer[TableT]] = (),
        brightness: Callable[[], float] | None = None,
        scene: Callable[[View, float], Sequence[Rgb]] | None = None,
    ) -> None:
        self.table = table
        self.mats = mats
        self.strip_fault = ""
        """Why the LED strip is off; "" if it works."""
        self.lights_move = False
        """True if the last frame changed the lights."""
        self.observers = list(observers)
        self._seated = Mats(table, mats)
        self._buttons = buttons
        self._strip = strip
        self._publish = publish
        self._brightness = brightness
        self._scene = scene or StickWalk().frame
        self._now = 0.0
        self._presses: list[Button] = []
        self._drawn_at = float("-inf")
        self._shown: View | None = None
        self._lit: Sequence[Rgb] = ()
        if buttons is not None:
            buttons.listen(self._queue_press)

    @property
    def source(self) -> Source:
        """The source of the mat before the hiders."""
        return self._seated.active_mat.source

    @property
    def idle(self) -> bool:
        """True if no strike is expected and neither a press nor a clock sync is pending, so the readings may wait."""
        return not (self._presses or self.table.strike_reporting or any(mat.source.pinging for mat in self.mats))

    @property
    def sent(self) -> int:
        """The number of bytes sent to the boards so far."""
        return sum(mat.source.sent for mat in self.mats)

    def step(self, t: float, at_least: int = 0) -> None:
        """Process waiting readings, advance to time `t`, and show changes. In lock step, wait for `at_least` bytes."""
        self._now = t
        for mat in self.mats:
            self._take(mat.source.step(t, at_least), mat)
        if self._buttons is not None:
            self._buttons.tick(t)
        self._pass_on_presses()
        self.table.tick(t)
        self._show(t)
        self.table.maintain(t)
        for observer in self.observers:
            observer.on_step(t, self.table, self.table.strike_reporting)

    def close(self) -> None:
        """Disconnect from the boards and release the ports, pins and LED strip. The table closes its journal itself."""
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
            if isinstance(message, BoardEvent) and message.is_public:
                which = f"mat {MAT_TEAMS[self.mats.index(mat)]}: " if len(self.mats) > 1 else ""
                log.log(logging.INFO if message.is_good else logging.WARNING, "%s%s", which, message.line)
        for observer in self.observers:
            observer.on_messages(self._now, messages, self.table.strike_reporting)
        events = self._seated.feed(messages, mat)
        for observer in self.observers:
            observer.on_events(events, self.table.strike_reporting)

    def _queue_press(self, name: str, t: float) -> None:
        self._presses.append(Button(t=t, name=name))

    def _pass_on_presses(self) -> None:
        """Pass on the button presses up to the time that the touch strips have been scanned.

        Buttons are faster than the mat: until the strips were scanned at the time of the press, the table may not know
        of a hand that was there, and the loss of a board may not have been noticed.
        """
        mat = self._seated.active_mat
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
        if new and view is not None and self._publish is not None:
            self._publish(view)

    def _light(self, strip: Strip, view: View | None, t: float) -> None:
        lit: Sequence[Rgb] = [(0, 0, 0)] * strip.count if view is None else self._scene(view, t)
        if self._brightness is not None and (share := self._brightness()) < 1.0:
            lit = scale_brightness(lit, share)
        self.lights_move = lit != self._lit
        if not self.lights_move:
            return  # a constant scene must not disturb the magnetometers beside the wire
        try:
            strip.show(lit)
            self._lit, self.strip_fault = lit, ""
        except StripError as error:  # the game goes on without lights
            if error.message != self.strip_fault:
                log.warning("the light strips are off: %s", error.message)
            self._lit, self.strip_fault, self._drawn_at = (), error.sentences[0], t + RETRY_S
