"""The daemon: one step carries what the board says down to the table, and what the table shows out to people.

`Daemon.step(t)` is all there is; it never reads a clock and never sleeps. Three edges drive it: `run` on the wall's
clock, `demo` in the simulator's time, and a test in lock step with a simulated mat in another process.

A board that is not there is no reason to stop: the daemon says so and looks again once a second. A journal that cannot
be written stops play, not the daemon: the table says so and tries again.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from pi_controller.drivers.ports import StripError
from pi_controller.errors import PortError
from pi_controller.link.join import joined
from pi_controller.link.messages import LinkDown, Piezo, Touch
from pi_controller.link.session import Session
from pi_controller.mat.events import Button, Link
from pi_controller.show.lights import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_controller.drivers.ports import Buttons, Port, Rgb, Strip
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent
    from pi_controller.mat.feel import Feel
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

AGAIN_S = 1.0
"""How often a missing board is looked for, and a failing journal tried."""
NO_TOUCH_S = 0.2
"""So much older than a scan of the touch strips may a press be before it is passed on without one."""
FRAME_S = 1 / 25
"""A scene that breathes is redrawn this often; a change is shown at once."""


class Observer(Protocol):
    """Who looks on: sees everything in the order it happens, changes nothing and never raises.

    `armed` is whether the mat's strikes count.
    """

    def took(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Messages of the link are about to be felt, in the step at `t`."""
        ...

    def told(self, events: Sequence[MatEvent], armed: bool) -> None:
        """The mat events they gave were told to the table."""
        ...

    def pressed(self, t: float, press: Button) -> None:
        """A press is about to be passed on to the table, in the step at `t`."""
        ...

    def stepped(self, t: float, table: Table, armed: bool) -> None:
        """The step at `t` is over, and shown."""
        ...


def carry(messages: Iterable[Message], feel: Feel, table: Table) -> list[MatEvent]:
    """Feel `messages` and tell the table what happened; return that. What happened first is told first.

    Samples come in longer blocks than scans, so events are put in order over all the messages.
    """
    events = [event for message in messages for event in feel.feed(message)]
    events.sort(key=lambda event: event.t)
    for event in events:
        table.mat_event(event)
        feel.armed = table.armed
    return events


class Daemon:
    """Board, buttons, table, lights and pages of one table, wired together.

    `open_port` opens the board's port or raises `PortError`; None is a table without a board. `publish` is called with
    each new view; `observers` look on.
    """

    def __init__(
        self,
        table: Table,
        feel: Feel,
        open_port: Callable[[], Port] | None,
        buttons: Buttons | None = None,
        strip: Strip | None = None,
        publish: Callable[[View], None] | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.table = table
        self.port: Port | None = None
        self.session = Session(self._send)
        self.sent = 0
        """Bytes sent to the board so far."""
        self.observers = list(observers)
        self._feel = feel
        self._open_port = open_port
        self._buttons = buttons
        self._strip = strip
        self._publish = publish
        self._now = 0.0
        self._presses: list[Button] = []
        self._look_at = self._retry_at = self._drawn_at = self._felt = float("-inf")
        self._why = ""
        self._shown: View | None = None
        self._lit: Sequence[Rgb] = ()
        if buttons is not None:
            buttons.listen(self._pressed)

    def step(self, t: float, at_least: int = 0) -> None:
        """Take in what waits (in lock step, `at_least` bytes), let time pass to `t`, show what changed."""
        self._now = t
        self._listen(t, at_least)
        if self._buttons is not None:
            self._buttons.tick(t)
        self._pass_on_presses()
        self.table.tick(t)
        if self.table.halted is None:
            self._retry_at = t + AGAIN_S  # people are to see that it stopped, even for a moment
        elif t >= self._retry_at:
            self._retry_at = t + AGAIN_S
            self.table.retry(t)
        self._feel.armed = self.table.armed
        self._show(t)
        for observer in self.observers:
            observer.stepped(t, self.table, self._feel.armed)

    def close(self) -> None:
        """Say goodbye to the board; give back the port, the pins and the strip. The journal belongs to the table."""
        if self.port is not None:
            with suppress(PortError):  # it may be gone already, which is what a goodbye is for
                self.session.close()
            self.port.close()
            self.port = None
        if self._buttons is not None:
            self._buttons.close()
        if self._strip is not None:
            with suppress(StripError):
                self._strip.close()

    def _listen(self, t: float, at_least: int) -> None:
        if self._open_port is None:
            return
        try:
            if self.port is None:
                if t < self._look_at:
                    return
                self._look_at = t + AGAIN_S
                self.port = self._open_port()
                self.session.start(t)
            self._take(self.session.feed(self.port.read(at_least), t))
            self._take(self.session.tick(t))
        except PortError as error:
            self._lost(t, error.what)

    def _lost(self, t: float, why: str) -> None:
        if self.port is not None:
            self.port.close()
            self.port = None
        messages = self.session.lost(t, why)
        if not messages and why != self._why:
            messages = [LinkDown(t, why)]  # there has been no link yet: say once why not
        self._take(messages)

    def _take(self, messages: Iterable[Message]) -> None:
        messages = joined(messages)
        if not messages:
            return
        for message in messages:
            if isinstance(message, Touch):
                self._felt = message.t
            elif isinstance(message, Piezo):
                # should the touch strips be dead, the board's samples tell a little later that it lives
                self._felt = max(self._felt, message.t - NO_TOUCH_S)
        for observer in self.observers:
            observer.took(self._now, messages, self._feel.armed)
        events = carry(messages, self._feel, self.table)
        for event in events:
            if isinstance(event, Link):
                self._why = event.why
        for observer in self.observers:
            observer.told(events, self._feel.armed)

    def _send(self, data: bytes) -> None:
        if self.port is not None:
            self.port.write(data)
            self.sent += len(data)

    def _pressed(self, name: str, t: float) -> None:
        self._presses.append(Button(t=t, name=name))

    def _pass_on_presses(self) -> None:
        """Pass on the presses that the mat's own news has caught up with.

        A button is quicker than the mat: until the touch strips have told of the moment of the press, a hand that
        was there may not be known, and a board that has just died not missed.
        """
        while self._presses and (not self.session.up or self._felt >= self._presses[0].t):
            press = self._presses.pop(0)
            for observer in self.observers:
                observer.pressed(self._now, press)
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
