"""Checks the Pi's pins: that those of buttons and strips open, no button is shorted, and sensors on them answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line
from pi_controller.drivers.gpio import header_factory
from pi_controller.drivers.ports import ButtonsError, StripError
from pi_controller.drivers.strips import NeoPixelStrip
from pi_controller.errors import INSTALL_PI
from pi_controller.link.resample import LATE_S, RATES
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpiozero import Factory

    from pi_controller.doctor.sensor_checks import Ears
    from pi_controller.drivers.ports import Strip
    from pi_controller.link.pins import PinsSource
    from pi_controller.table.settings import Settings

PINS = "Pins"
DIM = (12, 12, 12)

LINK = "Link"
GAPS_S = 1.0
"""A gap is a question to the judge while a hit is due: not more than one in so many seconds."""
NOTE = "slower than the board: soft strokes may go unfelt, and the judge confirms the bead"


def buttons(settings: Settings, factory: Factory | None = None) -> Iterator[Line]:
    """Yield a line for each button: its pin opens, and it reads released. `factory` is gpiozero's, for tests."""
    wanted = {name: pin for name, pin in settings.buttons.pins if pin}
    if settings.buttons.kind == "none":
        for name in wanted:
            yield Line(PINS, f"button {name}", "not here", 'no buttons: [buttons] kind = "none"')
        return
    from gpiozero import DigitalInputDevice  # noqa: PLC0415 - it takes long to import on a small Pi
    from gpiozero.exc import BadPinFactory, GPIOZeroError  # noqa: PLC0415

    try:
        factory = factory or header_factory(ButtonsError)
    except ButtonsError as error:
        for name in wanted:
            yield Line(PINS, f"button {name}", "fail", error.what, error.todo)
        return
    for name, pin in wanted.items():
        what = f"button {name}"
        try:
            with DigitalInputDevice(pin, pull_up=True, pin_factory=factory) as device:
                held = device.is_active
        except BadPinFactory:
            yield Line(PINS, what, "fail", "this machine has no pins", INSTALL_PI)
        except (GPIOZeroError, OSError) as error:
            todo = "stop the table while the doctor looks, or choose another pin in [buttons.pins]"
            yield Line(PINS, what, "fail", f"GPIO{pin} cannot be opened: {' '.join(str(error).split())}", todo)
        else:
            if held:
                todo = f"check GPIO{pin} for a short to ground; let go of the button"
                yield Line(PINS, what, "fail", "it reads pressed", todo)
            else:
                yield Line(PINS, what, "pass", f"released, GPIO{pin}")


def strips(settings: Settings, opened: Callable[[], Strip] | None = None) -> Iterator[Line]:
    """Yield the strips' line: they open and take a dim frame. Whether they shone only a person can see."""
    wanted, count = settings.strips, pinmap().lights.count
    if wanted.kind == "board" and opened is None:
        yield Line(PINS, "light strips", "not here", "they hang on the board: only a person sees whether they shine")
        return
    if wanted.kind != "pi" and opened is None:
        yield Line(PINS, "light strips", "not here", f'none driven: [strips] kind = "{wanted.kind}"')
        return
    try:
        strip = opened() if opened else NeoPixelStrip(count, wanted.pin, wanted.brightness, wanted.current_cap_ma)
        try:
            strip.show([DIM] * count)
        finally:
            strip.close()
    except StripError as error:
        yield Line(PINS, "light strips", "fail", error.what, error.todo)
    else:
        yield Line(PINS, "light strips", "pass", f"{count} pixels were lit dimly for a moment; did you see them all?")


def sensors(source: PinsSource, ears: Ears) -> Iterator[Line]:
    """Yield the lines of `source`, which `ears` have listened to; to be asked before it is closed."""
    yield Line(LINK, "kind", "pass", f"the Pi's own pins, no mat board; {NOTE}")
    names = ("samples", "losses", "touch chip")
    if source.missing is not None or ears.up is None:
        missing = source.missing
        what, todo = (missing.what, missing.todo) if missing else (source.why or "nothing is read yet", "look again")
        yield Line(LINK, "port", "fail", what, todo)
        yield from (Line(LINK, name, "not here", "the piezos are not read") for name in names)
        return
    yield Line(LINK, "port", "pass", source.port.name if source.port else "")
    yield _samples(source, ears)
    yield _losses(ears)
    missing = source.strips_missing
    if missing is not None:
        yield Line(LINK, "touch chip", "fail", missing.what, missing.todo)
    else:
        yield Line(LINK, "touch chip", "pass", f"{ears.scans} scans")


def _samples(source: PinsSource, ears: Ears) -> Line:
    board = pinmap().board.sample_hz
    found = f"{source.reads:,.0f} samples a second for each pad; the board gives {board:,}"
    grid = f"told as {ears.grid:,.0f}"
    if source.reads < 1.25 * RATES[-1]:
        return Line(LINK, "samples", "pass", f"{found}; {grid}, the least that strikes can be felt with")
    return Line(LINK, "samples", "pass", f"{found}; {grid}")


def _losses(ears: Ears) -> Line:
    seconds = max(ears.last_at - ears.first_at, 1e-3)
    restarts = ears.ups - 1
    found = f"{ears.gaps} stretches of more than {1000 * LATE_S:.0f} ms unread in {seconds:.0f} s"
    if restarts:
        found += f", begun anew {restarts} times"
    if restarts or ears.gaps > seconds / GAPS_S:
        return Line(LINK, "losses", "fail", found, "stop other programs on this Pi; give it a better supply")
    return Line(LINK, "losses", "pass", found)
