"""Checks buttons and strips: that their pins open, and that no button is shorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line
from pi_controller.drivers.gpio import header_factory
from pi_controller.drivers.ports import PinsError, StripError
from pi_controller.drivers.strips import NeoPixelStrip
from pi_controller.errors import INSTALL_PI
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpiozero import Factory

    from pi_controller.drivers.ports import Strip
    from pi_controller.table.settings import Settings

PINS = "Pins"
DIM = (12, 12, 12)


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
        factory = factory or header_factory()
    except PinsError as error:
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
