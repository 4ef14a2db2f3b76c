"""The buttons at the mat: on the Pi's pins by gpiozero, or simulated. Both go through `Debounce`.

On real hardware gpiozero calls back from its own thread, so an edge is queued with its time, and `tick` processes it in
the daemon's thread. Edges can be lost or late on a busy machine, so `tick` also polls the level: a press is never
reported while the contact is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pi_controller.board.gpio import header_factory, no_pins, read_pi_model
from pi_controller.board.interfaces import ButtonOptions, ButtonsError
from pi_controller.errors import describe_error
from pi_controller.extras import install_hint

if TYPE_CHECKING:
    from gpiozero import DigitalInputDevice, Factory

NAMES = ("ready", "ready_a", "ready_b", "shown", "toss_a", "toss_b", "left", "right", "inside", "outside")
MIN_PRESS_S = 0.005
"""A contact closed without a break for this long is a press. Spikes are shorter, fingers far longer (30 ms and up)."""
NO_BUTTONS_HINT = "set [buttons] kind to 'none'"
SETTLE_S = 0.020
"""A contact open without a break for this long is released; the next press can begin."""


class Debounce:
    """Debounces one button: edges with their times in, presses out. Pure; time is passed in.

    It handles two faults. A contact chatters when it closes and opens, which must not turn one press into two; and a
    long wire beside a light strip picks up spikes, which must not cause a press. Reporting the first edge at once would
    be some milliseconds faster but would take every spike for a press. A false "ready" ends the hide before the bead is
    in place, and 5 ms are not noticeable, so a press counts only after the contact has stayed closed for `min_press_s`
    without a break. Its recorded time is still that of the first touch.

    `edge(t, closed)` reports a level seen at time `t` (s); an unchanged level has no effect, so samples can be fed as
    well as edges. `settle(t)` returns the time of a press once it is certain, else None. A time before the latest one
    is replaced by it. A contact that is closed at the start must be released before it counts as a press.
    """

    def __init__(
        self, closed: bool = False, t: float = 0.0, min_press_s: float = MIN_PRESS_S, settle_s: float = SETTLE_S
    ) -> None:
        self.closed = closed
        self._min_press_s = min_press_s
        self._settle_s = settle_s
        self._since = t
        self._touched = t
        self._released = not closed
        self._down: float | None = None

    def take_edge(self, t: float, closed: bool) -> None:
        """Process an edge at `t` to the level `closed`."""
        if closed == self.closed:
            return
        t = max(t, self._since)
        self._pass(t)
        if closed and t - self._since >= self._min_press_s:
            # after a real break this is a new touch, not more chatter of the last
            self._touched = t
        self.closed = closed
        self._since = t

    def take_level(self, t: float, closed: bool) -> None:
        """Process the level polled at `t`, after the edges; it differs only if an edge was lost or is late."""
        if closed:
            self.take_edge(t, closed=True)
        elif self.closed:
            # it is unknown when the contact opened, so the time before proves no press
            self.closed = False
            self._since = max(t, self._since)

    def take_press(self, t: float) -> float | None:
        """Advance to `t`; return the time of a press that is now certain, once, else None."""
        self._pass(t)
        down, self._down = self._down, None
        return down

    def _pass(self, t: float) -> None:
        """Detect a press or a release from the constant level up to `t`."""
        held = t - self._since
        if self.closed and self._released and held >= self._min_press_s:
            self._released = False
            self._down = self._touched
        elif not self.closed and held >= self._settle_s:
            self._released = True


class GpioButtons:
    """Buttons between pins (BCM numbers, by name) and ground, with the Pi's own pull-up.

    `clock` returns the time of an edge in seconds, on the same clock as `tick`; it is called from gpiozero's thread.
    The default pin factory is the one for the chip with the header, or gpiozero's choice (`GPIOZERO_PIN_FACTORY`).
    Raises `ButtonsError`.
    """

    def __init__(
        self,
        pins: Mapping[str, int],
        clock: Callable[[], float],
        settle_s: float = SETTLE_S,
        min_press_s: float = MIN_PRESS_S,
        factory: Factory | None = None,
    ) -> None:
        self._clock = clock
        self._edges: SimpleQueue[tuple[str, float, bool]] = SimpleQueue()
        self._pressed: Callable[[str, float], None] | None = None
        self.devices: dict[str, DigitalInputDevice] = {}
        self._contacts: dict[str, Debounce] = {}
        self._own = header_factory(ButtonsError) if factory is None else None
        for name, pin in pins.items():
            try:
                device = open_contact(pin, factory or self._own)
            except ButtonsError:
                self.close()
                raise
            self.devices[name] = device
            self._contacts[name] = Debounce(device.is_active, clock(), min_press_s, settle_s)
            device.when_activated = partial(self._edge, name, True)
            device.when_deactivated = partial(self._edge, name, False)

    def __repr__(self) -> str:
        return f"<GpioButtons {', '.join(f'{name} on {d.pin}' for name, d in self.devices.items()) or 'closed'}>"

    def listen(self, pressed: Callable[[str, float], None]) -> None:
        """Call `pressed(name, t)` once for each press, from `tick`."""
        self._pressed = pressed

    def tick(self, t: float) -> None:
        """Process the queued edges, poll each contact, and report the presses that are certain at `t`."""
        while True:
            try:
                name, at, closed = self._edges.get_nowait()
            except Empty:
                break
            self._contacts[name].take_edge(at, closed)
        for name, device in self.devices.items():
            self._contacts[name].take_level(t, device.is_active)
        _report_presses(self._contacts, t, self._pressed)

    def close(self) -> None:
        """Release the pins."""
        for device in self.devices.values():
            device.close()
        self.devices.clear()
        if self._own is not None:
            self._own.close()
            self._own = None
        self._pressed = None

    def _edge(self, name: str, closed: bool) -> None:
        self._edges.put((name, self._clock(), closed))


def make_gpio_buttons(options: ButtonOptions) -> GpioButtons:
    """Return the buttons on pins of the Pi. Raises `ButtonsError`."""
    return GpioButtons(options.pins, options.clock, options.settle_s)


class MockButtons:
    """Simulated buttons: `press("ready", t)` closes a contact from `t` for `held_s` seconds."""

    def __init__(self, names: Iterable[str] = NAMES) -> None:
        self._contacts = {name: Debounce() for name in names}
        self._edges: list[tuple[float, str, bool]] = []
        self._pressed: Callable[[str, float], None] | None = None

    def press(self, name: str, t: float, held_s: float = 0.1) -> None:
        """Press button `name` at `t`. Raises `ButtonsError` for an unknown name."""
        self.contact(name, t, closed=True)
        self.contact(name, t + held_s, closed=False)

    def contact(self, name: str, t: float, closed: bool) -> None:
        """Close or open the contact of `name` at `t`."""
        if name not in self._contacts:
            raise ButtonsError(f"there is no button {name!r}", f"the buttons are: {', '.join(self._contacts)}")
        self._edges.append((t, name, closed))
        self._edges.sort(key=lambda edge: edge[0])

    def listen(self, pressed: Callable[[str, float], None]) -> None:
        """Call `pressed(name, t)` once for each press, from `tick`."""
        self._pressed = pressed

    def tick(self, t: float) -> None:
        """Process the edges up to `t`, and report the presses that are certain."""
        while self._edges and self._edges[0][0] <= t:
            at, name, closed = self._edges.pop(0)
            self._contacts[name].take_edge(at, closed)
        _report_presses(self._contacts, t, self._pressed)

    def close(self) -> None:
        """Stop reporting presses."""
        self._pressed = None


def _report_presses(contacts: Mapping[str, Debounce], t: float, pressed: Callable[[str, float], None] | None) -> None:
    """Report all presses that are certain at `t`, earliest first."""
    downs = [(down, name) for name, contact in contacts.items() if (down := contact.take_press(t)) is not None]
    if pressed is not None:
        for down, name in sorted(downs):
            pressed(name, down)


def open_contact(pin: int, factory: Factory | None) -> DigitalInputDevice:
    """Return the contact between `pin` and ground, with the pull-up on. Raises `ButtonsError`."""
    try:
        from gpiozero import DigitalInputDevice  # noqa: PLC0415  # gpiozero takes long to import on a small Pi
        from gpiozero.exc import BadPinFactory, GPIOZeroError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise no_pins(ButtonsError, install_hint("pi") if read_pi_model() else NO_BUTTONS_HINT) from error

    try:
        # bounce_time stays None: the pin factories disagree on what it means, and the mock does not have it
        return DigitalInputDevice(pin, pull_up=True, bounce_time=None, pin_factory=factory)
    except (BadPinFactory, ImportError, RuntimeError) as error:
        raise no_pins(ButtonsError, NO_BUTTONS_HINT) from error
    except (GPIOZeroError, OSError) as error:
        raise ButtonsError(
            f"the button pin GPIO{pin} cannot be used: {describe_error(error)}",
            "stop the table or program that uses it, or choose another pin in [buttons.pins]",
        ) from error
