"""Check the Pi's pins: those of buttons and strips open, no button is shorted, and sensors on the pins answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pi_controller.board.buttons import open_contact
from pi_controller.board.gpio import header_factory
from pi_controller.board.interfaces import ButtonsError, Strip, StripError
from pi_controller.board.message_source import NoSource
from pi_controller.board.pins import PinsSource
from pi_controller.board.resampler import LATE_S, RATES
from pi_controller.board.wled import read_info
from pi_controller.calibration.sensor_listener import SensorListener
from pi_controller.config import Settings
from pi_controller.entry_points import PluginError
from pi_controller.host.findings import Finding, Group
from pi_controller.pinmap import pinmap
from pi_controller.runtime.assembly import make_strip

if TYPE_CHECKING:
    from gpiozero import Factory
from pi_controller.tools.doctor_checks import LINK

PINS = Group("Pins")
DIM = (12, 12, 12)
FIRST_PIXELS = ((60, 0, 0), (0, 60, 0), (0, 0, 60))
"""Red, green, blue: a strip of another colour order shows them exchanged."""
GAPS_S = 1.0
"""Shortest acceptable interval between gaps: while a hit is due, each one is a question to the judge."""
NOTE = "slower than the board: soft strokes may be missed, and the judge confirms the bead"


def buttons(settings: Settings, factory: Factory | None = None) -> Iterator[Finding]:
    """Yield a line for each button: its pin opens and reads released. `factory` is gpiozero's, for tests."""
    wanted = settings.button_pins
    if settings.buttons.kind != "pi":
        for name in wanted:
            yield PINS.absent(f"button {name}", f'on no pin: [buttons] kind = "{settings.buttons.kind}"')
        return
    try:
        factory = factory or header_factory(ButtonsError)
    except ButtonsError as error:
        for name in wanted:
            yield PINS.fails(f"button {name}", error.message, error.hint)
        return
    for name, pin in wanted.items():
        what = f"button {name}"
        try:
            with open_contact(pin, factory) as device:
                held = device.is_active
        except ButtonsError as error:
            yield PINS.fails(what, error.message, error.hint)
        else:
            if held:
                hint = f"check GPIO{pin} for a short to ground; let go of the button"
                yield PINS.fails(what, "it reads pressed", hint)
            else:
                yield PINS.passes(what, f"released, GPIO{pin}")


def strips(settings: Settings, opened: Callable[[], Strip] | None = None) -> Iterator[Finding]:
    """Yield the line for the strips: they open and accept a dim frame. Only a person can see whether they shone."""
    wanted, count = settings.strips, pinmap().lights.count
    if wanted.kind == "board" and opened is None:
        yield PINS.absent("light strips", "on the board: only a person can see whether they shine")
        return
    if wanted.kind in {"memory", "none"} and opened is None:
        yield PINS.absent("light strips", f'none driven: [strips] kind = "{wanted.kind}"')
        return
    try:
        if wanted.kind == "wled" and opened is None:
            yield _check_wled(wanted.address, count)
            return
        strip = opened() if opened else make_strip(settings, NoSource())
        assert strip is not None
        try:
            strip.show([*FIRST_PIXELS, *[DIM] * (count - len(FIRST_PIXELS))])
        finally:
            strip.close()
    except (StripError, PluginError) as error:
        yield PINS.fails("light strips", error.message, error.hint)
    else:
        asked = "the first three red, green and blue, the rest dim white: did you see that?"
        wrong = "Other colours: the strip has another order than a WS2812"
        yield PINS.passes("light strips", f"{count} pixels were lit for a moment, {asked} {wrong}")


def _check_wled(host: str, count: int) -> Finding:
    """Return the line of a WLED controller. Raises `StripError` if it does not answer."""
    info = read_info(host)
    found = f"{info.name}, WLED {info.version}, has {info.pixels} pixels"
    if info.pixels < count:
        return PINS.fails("light strips", found, f"the table lights {count}: set their number on the controller's page")
    return PINS.passes("light strips", f"{found}: set its own limit of current, too")


def sensors(source: PinsSource, ears: SensorListener) -> Iterator[Finding]:
    """Yield the lines for `source` and its messages in `ears`; call this before `source` is closed."""
    yield LINK.passes("kind", f"the Pi's own pins, no mat board; {NOTE}")
    names = ("samples", "losses", "touch chip")
    if source.missing is not None or ears.up is None:
        missing = source.missing
        what, hint = (
            (missing.message, missing.hint) if missing else (source.why or "no readings yet", "run the check again")
        )
        yield LINK.fails("port", what, hint)
        yield from (LINK.absent(name, "the piezos are not read") for name in names)
        return
    yield LINK.passes("port", source.port.name if source.port else "")
    yield _pin_samples(source, ears)
    yield _pin_losses(ears)
    missing = source.strips_missing
    if missing is not None:
        yield LINK.fails("touch chip", missing.message, missing.hint)
    else:
        yield LINK.passes("touch chip", f"{ears.readings.scans} scans")


def _pin_samples(source: PinsSource, ears: SensorListener) -> Finding:
    board = pinmap().board.sample_hz
    found = f"{source.reads_per_s:,.0f} samples a second for each pad; the board gives {board:,}"
    grid = f"resampled to {ears.grid:,.0f}"
    if source.reads_per_s < 1.25 * RATES[-1]:
        return LINK.passes("samples", f"{found}; {grid}, the minimum for detecting strikes")
    return LINK.passes("samples", f"{found}; {grid}")


def _pin_losses(ears: SensorListener) -> Finding:
    seconds = max(ears.last_at - ears.first_at, 1e-3)
    restarts = ears.ups - 1
    found = f"{ears.gaps} stretches of more than {1000 * LATE_S:.0f} ms unread in {seconds:.0f} s"
    if restarts:
        found += f", restarted {restarts} times"
    if restarts or ears.gaps > seconds / GAPS_S:
        return LINK.fails("losses", found, "stop other programs on this Pi; give it a better supply")
    return LINK.passes("losses", found)
