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
from pi_controller.link.messages import BoardEvent, Piezo, Touch
from pi_controller.link.source import listening
from pi_controller.mat.events import Button
from pi_controller.mats import Mats
from pi_controller.show.lights import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.drivers.ports import Buttons, Port, Rgb, Strip
    from pi_controller.link.messages import Message
    from pi_controller.link.source import Source, Waits
    from pi_controller.mat.events import MatEvent
    from pi_controller.mat.sensors import MatSensors
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

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Messages of the link are about to be felt, in the step at `t`."""
        ...

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """The mat events they gave, as the mat felt them, were told to the table as the hiders see them."""
        ...

    def on_press(self, t: float, press: Button) -> None:
        """A press is about to be passed on to the table, in the step at `t`."""
        ...

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """The step at `t` is over, and shown."""
        ...


class Daemon:
    """Board, buttons, table, lights and pages of one table, wired together.

    `open_port` opens the board's port or raises `PortError`; None is a table without a board. `publish` is called with
    each new view; `observers` look on. Where each team has a mat, `feel` and `open_port` are of the one before A, and
    `second` are those of the one before B.
    """

    def __init__(
        self,
        table: Table,
        mat_sensors: MatSensors,
        open_port: Source | Callable[[], Port] | None,
        buttons: Buttons | None = None,
        strip: Strip | None = None,
        publish: Callable[[View], None] | None = None,
        observers: Sequence[Observer] = (),
        second: tuple[MatSensors, Source | Callable[[], Port] | None] | None = None,
    ) -> None:
        self.table = table
        mats = [(mat_sensors, open_port), *filter(None, (second,))]
        self.connections = [listening(opens) for _, opens in mats]
        self.observers = list(observers)
        self._mats = Mats(table, [felt for felt, _ in mats])
        self._buttons = buttons
        self._strip = strip
        self._publish = publish
        self._now = 0.0
        self._presses: list[Button] = []
        self._felt = [float("-inf")] * len(mats)
        self._retry_at = self._drawn_at = float("-inf")
        self._shown: View | None = None
        self._lit: Sequence[Rgb] = ()
        if buttons is not None:
            buttons.listen(self._pressed)

    @property
    def connection(self) -> Source | None:
        """Who listens to the board of the mat before the hiders."""
        return self.connections[self._mats.faced]

    @property
    def port(self) -> Waits | None:
        """The port of that board, while it is open."""
        return self.connection.port if self.connection is not None else None

    @property
    def calm(self) -> bool:
        """Whether what the boards say may wait a moment: no stroke is due, and no board is about to tell its time."""
        return not self.table.strike_reporting and not any(
            one.session.pinging for one in self.connections if one is not None
        )

    @property
    def sent(self) -> int:
        """Bytes sent to the boards so far."""
        return sum(connection.sent for connection in self.connections if connection is not None)

    def step(self, t: float, at_least: int = 0) -> None:
        """Take in what waits (in lock step, `at_least` bytes), let time pass to `t`, show what changed."""
        self._now = t
        self._mats.look_round(t)
        for mat, connection in enumerate(self.connections):
            if connection is not None:
                self._take(connection.step(t, at_least), mat)
        if self._buttons is not None:
            self._buttons.tick(t)
        self._pass_on_presses()
        self.table.tick(t)
        if self.table.halted is None:
            self._retry_at = t + AGAIN_S  # people are to see that it stopped, even for a moment
        elif t >= self._retry_at:
            self._retry_at = t + AGAIN_S
            self.table.retry(t)
        self._mats.look_round(t)
        self._show(t)
        self.table.tend(t)
        for observer in self.observers:
            observer.on_step(t, self.table, self.table.strike_reporting)

    def close(self) -> None:
        """Say goodbye to the board; give back the port, the pins and the strip. The journal belongs to the table."""
        for connection in self.connections:
            if connection is not None:
                connection.close()
        if self._buttons is not None:
            self._buttons.close()
        if self._strip is not None:
            with suppress(StripError):
                self._strip.close()

    def _take(self, messages: Sequence[Message], mat: int = 0) -> None:
        if not messages:
            return
        for message in messages:
            if isinstance(message, Touch):
                self._felt[mat] = message.t
            elif isinstance(message, Piezo):
                # should the touch strips be dead, the board's samples tell a little later that it lives
                self._felt[mat] = max(self._felt[mat], message.t - NO_TOUCH_S)
            elif isinstance(message, BoardEvent) and message.public:
                which = f"mat {'AB'[mat]}: " if len(self.connections) > 1 else ""
                log.log(logging.INFO if message.good else logging.WARNING, "%s%s", which, message.line)
        for observer in self.observers:
            observer.on_messages(self._now, messages, self.table.strike_reporting)
        events = self._mats.feed(messages, mat)
        for observer in self.observers:
            observer.on_events(events, self.table.strike_reporting)

    def _pressed(self, name: str, t: float) -> None:
        self._presses.append(Button(t=t, name=name))

    def _pass_on_presses(self) -> None:
        """Pass on the presses that the mat's own news has caught up with.

        A button is quicker than the mat: until the touch strips have told of the moment of the press, a hand that
        was there may not be known, and a board that has just died not missed.
        """
        up = self.connection is not None and self.connection.session.up
        felt = self._felt[self._mats.faced]
        while self._presses and (not up or felt >= self._presses[0].t):
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
