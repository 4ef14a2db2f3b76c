"""The pages of tables: `pins.md`, every pin, address and channel, and `cutting.md`, every piece of the mat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geometry import build, flat, pieces
from gpiozero.pins.pi import PiBoardInfo

from pi_controller.pinmap import pinmap
from pi_controller.sensing.magnetometer_diagnosis import magnetometer_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PI_3B = 0xA02082
"""A Pi's revision; its 40 pins are those of every Pi with 40."""
MADE = "Made from [`pinmap.toml`](pinmap.toml): change that file."
BOARDS = (
    # board; what it calls GPIO26 to 29, the bias pin, the two bus pins, the pin of the strip; what to know
    ("Adafruit KB2040", "A0, A1, A2, A3", "D3", "D4, D5", "D6", "fits"),
    ("Waveshare RP2040-Zero", "26, 27, 28, 29", "3", "4, 5", "6", "fits"),
    ("Waveshare RP2350-Zero", "26, 27, 28, 29", "3", "4, 5", "6", "should fit; no RP2350 has been tried"),
    ("Adafruit ItsyBitsy RP2040", "A0, A1, A2, A3", "SCL", "D4, D3", "D7", "fits"),
    ("Adafruit QT Py RP2040", "A3, A2, A1, A0", "MO", "MI, RX", "SCK", "fits; labels reversed"),
    (
        "Adafruit Feather RP2040",
        "A0, A1, A2, A3",
        "SCL",
        "not out",
        "D4",
        "with changes, see below",
    ),
    ("Seeed XIAO RP2040", "D0, D1, D2, D3", "D10", "D9, not out", "D4", "with changes, see below"),
    ("Raspberry Pi Pico", "26, 27, 28 only", "GP3", "GP4, GP5", "GP6", "no: three analogue pins"),
)
"""For the pins that the pin map has now; a test says when they change."""
FEATHER = (
    "For a Feather write 2 and 3 into `i2c` of the pin map and `SDA` and `SCL` of `firmware/wiring.py`, another pin "
    "into `bias_pin` and `BIAS_PIN`. For a XIAO write 0 and 1, which it calls D6 and D7, into `i2c`, `SDA` and `SCL`."
)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def header_pin(gpio: int) -> str:
    """Return which of the 40 pins of a Pi's header bears GPIO number `gpio`."""
    header, pin = next(iter(PiBoardInfo.from_revision(PI_3B).find_pin(f"GPIO{gpio}")))
    assert header.name == "J8"
    return str(pin.number)


def _address_pins(address: int) -> str:
    """Return where A0, A1 and A2 of a TCA9548A go for an address."""
    high = [f"A{bit}" for bit in range(3) if (address - 0x70) >> bit & 1]
    low = [f"A{bit}" for bit in range(3) if f"A{bit}" not in high]
    return "; ".join(f"{', '.join(some)} to {rail}" for some, rail in ((high, "3.3 V"), (low, "ground")) if some)


def board_tables() -> Iterator[str]:
    """Yield the mat board's part of the page."""
    maps = pinmap()
    board = maps.board
    yield "## The mat board (RP2040 or RP2350A)"
    rows: list[tuple[object, ...]] = [(f"GPIO{pin}", f"piezo of pad {n}") for n, pin in enumerate(board.adc_pins, 1)]
    rows += [
        (f"GPIO{board.bias_pin}", "bias resistors R1 of all pads"),
        (f"GPIO{board.i2c['sda']}", "I2C data: touch board and multiplexers"),
        (f"GPIO{board.i2c['scl']}", f"I2C clock, {board.i2c['hz'] // 1000} kHz"),
        (f"GPIO{board.strip_pin}", 'data of the light strips, with `[strips] kind = "board"`'),
    ]
    yield table(("pin", "goes to"), rows)
    first, last = board.adc_pins[0], board.adc_pins[-1]
    bus = f"GPIO{board.i2c['sda']}, {board.i2c['scl']}"
    yield "Pin labels, pad 1 first; from memory, so compare with your board:"
    yield table(("board", f"GPIO{first} to {last}", f"GPIO{board.bias_pin}", bus, f"GPIO{board.strip_pin}", ""), BOARDS)
    yield FEATHER
    yield "## The bus"
    chips: list[tuple[object, ...]] = [
        ("MPR121", f"0x{board.mpr121_address:02X}", "ADDR to ground; 12 touch strips, 1 kΩ in each lead")
    ]
    chips += [
        (
            f"TCA9548A, {n}",
            f"0x{address:02X}",
            f"magnetometers {8 * n - 7} to {8 * n}; {_address_pins(address)}",
        )
        for n, address in enumerate(board.tca9548a_addresses, 1)
    ]
    chips.append(
        (
            "QMC5883L, each",
            f"0x{board.qmc5883l_address:02X}",
            "or QMC5883P, 0x2C; one kind a mat",
        )
    )
    yield table(("chip", "address", ""), chips)
    yield "RST of each TCA9548A goes to 3.3 V."


def sensor_tables() -> Iterator[str]:
    """Yield the touch strips and the magnetometers."""
    maps = pinmap()
    yield "## Touch strips"
    strips = maps.touch.strips
    yield table(
        ("pad", *strips),
        [(pad, *((pad - 1) * len(strips) + n for n in range(len(strips)))) for pad in range(1, maps.pads.count + 1)],
    )
    yield ("Inputs ELE0 to ELE11 of the MPR121. The check's strip n is ELE(n - 1).")
    yield "## Magnetometers"
    yield "Number: multiplexer, channel. The [template](README.md#print-the-template) has the places."
    pads = range(1, maps.pads.count + 1)
    places: dict[str, list[str]] = {}
    for index in range(len(maps.magnetometer_positions())):
        address = maps.board.tca9548a_addresses[index // 8]
        place = magnetometer_name(index).split(", ")[1].rstrip(")")
        places.setdefault(place, []).append(f"{index + 1}: 0x{address:02X}, {index % 8}")
    head = ("place", *(f"pad {pad}" for pad in pads))
    yield table(head, [(place, *row) for place, row in places.items()])
    yield (
        f"Chips {maps.magnetometers.depth_mm:g} mm below the top of the cover, chip up, x to the hider's right, y away "
        "from the hider."
    )


def pi_tables() -> Iterator[str]:
    """Yield the Pi's pins and the order of the lights."""
    maps = pinmap()
    yield "## The Raspberry Pi"
    rows: list[tuple[object, ...]] = [
        (f"GPIO{maps.pi.strip_pin}", header_pin(maps.pi.strip_pin), "light strips, through the level shifter")
    ]
    rows += [
        (
            f"GPIO{pin}",
            header_pin(pin),
            f"button {name}" + ("" if n < 4 else "*"),
        )
        for n, (name, pin) in enumerate(maps.pi.buttons.items())
    ]
    yield table(("pin", "on the header", "is"), rows)
    a, b = (maps.pi.team_buttons[name] for name in ("ready_a", "ready_b"))
    yield (
        f"At a tournament each team has a ready button of its own: GPIO{a}, on {header_pin(a)}, is A's, and GPIO{b}, "
        f"on {header_pin(b)}, is B's. The buttons of slahal (*) are off at first. Buttons go to ground. Ground is on "
        "the header's pins 6, 9, 14, 20, 25, 30, 34 and 39."
    )
    yield "## The Raspberry Pi without a mat board"
    yield (
        'With `[board] port = "pins"` the Pi reads piezos and touch strips itself: slower, and without magnetometers. '
        "The lights then hang on a WLED controller in the network: another pin, as GPIO18, needs **root** on a Pi up "
        "to 4, which the service does not have. [The school mat](SCHOOL_MAT.md) is built this way."
    )
    converter, touch = maps.pi.mcp3008, maps.pi.mpr121
    names = ("select", "data in (DOUT)", "data out (DIN)", "clock")
    rows = [
        (f"GPIO{pin}", header_pin(pin), f"MCP3008, {name}") for pin, name in zip(converter.pins, names, strict=True)
    ]
    rows += [
        (f"GPIO{pin}", header_pin(pin), f"MPR121, {name}")
        for pin, name in zip(touch.pins, ("data", "clock"), strict=True)
    ]
    yield table(("pin", "on the header", "is"), rows)
    channels = ", ".join(f"CH{channel} pad {pad}" for pad, channel in enumerate(converter.channels, 1))
    yield f"MCP3008: {channels}. MPR121: address 0x{touch.address:02X}."
    yield "## The lights"
    lights = maps.lights
    first, told = 0, []
    for name, count, what in (
        ("A", lights.a, "A's long sticks"),
        ("B", lights.b, "B's long sticks"),
        ("middle", lights.middle, "sticks in the middle"),
        ("short", lights.short, "short sticks: A's and B's from either end"),
    ):
        told.append((name, f"{first} to {first + count - 1}", what))
        first += count
    yield table(("row", "pixels", "shows"), told)
    yield f"{lights.count} WS2812 pixels on one line of data, in this order ([drawing](drawings/lights.svg))."


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    parts = ["# Pins, addresses, channels", MADE, *board_tables(), *sensor_tables(), *pi_tables()]
    yield "pins.md", "\n\n".join(parts) + "\n"
    built, depth = build(), pinmap().magnetometers.depth_mm
    stack = " + ".join(f"{part:g}" for part in (built.cover_mm, built.plate_mm, built.foam_mm, built.slat_mm))
    whole = pieces()
    different = [piece for piece in pieces(flat()) if piece not in whole]
    same = ", ".join(piece[0] for piece in pieces(flat()) if piece in whole)
    cutting = [
        "# Cutting list",
        MADE,
        table(("piece", "how many", "width x depth x height, mm", "of"), whole),
        (
            f"Cover, plate, foam and slat ({stack} mm), less {built.chip_mm:g} mm for tape and module, put the chips "
            f"{depth:g} mm below the surface ([a pad cut through](drawings/pad-section.svg)). "
            "If your wood or foam is thinner, put card under the slats."
        ),
        "## The flat mat",
        (
            f"{flat().height_mm:g} mm high instead of {built.height_mm:g}, without slats: [how to build "
            f"it](README.md#the-flat-mat). These pieces are different; {same} are as above."
        ),
        table(("piece", "how many", "width x depth x height, mm", "of"), different),
    ]
    yield "cutting.md", "\n\n".join(cutting) + "\n"
