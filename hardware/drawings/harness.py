"""`python hardware/drawings/harness.py`: every cable of three builds, from the pin map, for WireViz.

Writes `hardware/drawings/harness-*.yml` (which `wireviz` reads as they are), the list of cables and plugs,
`harness-*.bom.tsv`, and where Graphviz is installed their pages of A4 as SVG. `table` is the whole table in three
sheets, `light` a Zero 2 W and the board without magnetometers, `paper` a laptop.
"""

from __future__ import annotations

import copy
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import bus
import places
import power
import yaml
from pins import header_pin
from values import RIGHTS, values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Ends = tuple[Mapping[str, float], Mapping[str, float]]

HERE = Path(__file__).parent
STRIP_M = 0.5
FIELD = ("SDA", "3V3", "GND", "SCL")
"""As they lie side by side in a ribbon: data and clock apart, each beside a wire that stands still."""
FIELD_COLOURS = ["BU", "RD", "BK", "YE"]
FIRST = "pin 1 is SDA, blue: mark it"
"""A plug turned round puts 3.3 V on backwards."""
SOLDERED: Mapping[str, float] = {"soldered": 1}
SOCKET_4, SOCKET_2 = {"socket 4": 1}, {"socket 2": 1}
PAIR = ["WH", "BK"]
PAGE_ROWS, CABLE_ROWS = 40, 5
"""As many rows fit on A4 with letters of 2.5 mm; a cable takes so many and one for each wire."""
A4_MM, MARGIN_MM, HEADING_MM = (297.0, 210.0), 10.0, 12.0
GROUND = "GND"


class Harness:
    """One sheet: plugs and the cables between them, as WireViz wants them."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._plugs: dict[str, dict[str, Any]] = {}
        self._cables: dict[str, dict[str, Any]] = {}
        self._joins: list[list[dict[str, Any]]] = []
        self._ends: list[Mapping[str, float]] = []

    def plug(self, name: str, kind: str, pins: list[str], note: str = "") -> str:
        """Add a plug or terminal block with its pins and return its name."""
        self._plugs[name] = {"type": kind, "pinlabels": pins, **({"notes": note} if note else {})}
        return name

    def cable(
        self, start: str, start_pins: list[str], end: str, end_pins: list[str], metres: float, colours: list[str],
        kind: str = "ribbon", awg: int = 28, *, ends: Ends = (SOLDERED, SOLDERED),
    ) -> None:  # fmt: skip
        """Join pins of two plugs one to one by a cable of so many metres; `ends` says what is crimped to it."""
        name = f"W{len(self._cables) + 1}"
        self._cables[name] = {
            "type": kind,
            "gauge": f"{awg} AWG",
            "length": round(metres, 2),
            "colors": colours,
            "wirecount": len(colours),
            "notes": "ends: " + ", ".join(" + ".join(_how_many(*one) for one in end.items()) for end in ends),
        }
        self._ends += ends
        wires = list(range(1, len(colours) + 1))
        self._joins.append([{start: start_pins}, {name: wires}, {end: end_pins}])

    def metres(self) -> Counter[tuple[str, int]]:
        """Return the cable of each kind and gauge (AWG), m."""
        found: Counter[tuple[str, int]] = Counter()
        for cable in self._cables.values():
            found[cable["type"], int(cable["gauge"].split()[0])] += cable["length"]
        return found

    def plugs(self) -> Counter[str]:
        """Return how many there are of each kind of plug at the cables' ends."""
        found: Counter[str] = Counter()
        for end in self._ends:
            for kind, count in end.items():
                found[kind] += count  # type: ignore[assignment] - leads share the plug of the touch board
        return Counter({kind: round(count) for kind, count in found.items() if kind != "soldered"})

    def document(self) -> dict[str, Any]:
        """Return the sheet as WireViz reads it."""
        sheet = {
            "metadata": {"title": self.title},
            "options": {"fontname": "DejaVu Sans"},
            "connectors": self._plugs,
            "cables": self._cables,
            "connections": self._joins,
        }
        return copy.deepcopy(sheet)  # WireViz writes into what it reads

    def pages(self) -> list[Harness]:
        """Return the sheet in parts that fit on A4, each with cables of one plug."""
        groups: list[tuple[str, list[int]]] = []
        rows = [CABLE_ROWS + cable["wirecount"] for cable in self._cables.values()]
        for i, (start, _, _) in sorted(
            enumerate(self._joins), key=lambda one: list(self._plugs).index(next(iter(one[1][0])))
        ):
            (plug,) = start
            if not groups or groups[-1][0] != plug or sum(rows[n] for n in groups[-1][1]) + rows[i] > PAGE_ROWS:
                groups.append((plug, []))
            groups[-1][1].append(i)
        return [self._part(sorted(some), n, len(groups)) for n, (_, some) in enumerate(groups, 1)]

    def _part(self, some: list[int], number: int, count: int) -> Harness:
        """Return page `number`: the cables at these places, and the pins that they use."""
        part = Harness(f"{self.title}, page {number} of {count}")
        names = list(self._cables)
        part._joins = [self._joins[i] for i in some]
        part._cables = {names[i]: self._cables[names[i]] for i in some}
        used = [
            (plug, pin) for start, _, end in part._joins for one in (start, end) for plug in one for pin in one[plug]
        ]
        for name, plug in self._plugs.items():
            pins = [n for n, pin in enumerate(plug["pinlabels"], 1) if (name, pin) in used]
            if pins:
                labels = [plug["pinlabels"][n - 1] for n in pins]
                part._plugs[name] = {**plug, "pins": pins, "pinlabels": labels}
        return part

    def text(self) -> str:
        """Return the sheet as YAML."""
        return f"# {RIGHTS}\n" + yaml.safe_dump(self.document(), sort_keys=False, allow_unicode=True, width=110)


def _how_many(kind: str, count: float) -> str:
    return kind if count <= 1 else f"{count:g} x {kind}"


def _gpio(pin: int) -> str:
    return f"GPIO{pin} (pin {header_pin(pin)})"


BUTTON: Ends = ({"screw terminal 2": 1}, {"blade": 2})


def _buttons(sheet: Harness, pi: str, names: list[str]) -> None:
    for name in names:
        label = name.replace("_", " ")
        button = sheet.plug(f"Button {label}", "push button, closes", ["1", "2"])
        pin = _gpio(pinmap().pi.buttons[name])
        sheet.cable(
            pi, [pin, GROUND], button, ["1", "2"], places.button_m(), PAIR, "two wires, twisted", 24, ends=BUTTON
        )


def _strip(sheet: Harness, source: str, data: str) -> None:
    wires, rows = power.values().wires, "first pixel (row A)"
    shifter = sheet.plug(
        "74AHCT125", "level shifter", ["1A", "GND", "1Y", "5V"], "330 ohm behind 1Y, 10 kohm from 1A to GND"
    )
    sheet.cable(source, [data, GROUND], shifter, ["1A", "GND"], STRIP_M, ["GN", "BK"], "two wires, twisted", 24,
                ends=(SOCKET_2, SOLDERED))  # fmt: skip
    strip = sheet.plug("Strip, start", rows, ["DIN", "GND", "5V"])
    sheet.cable(shifter, ["1Y", "GND", "5V"], strip, ["DIN", "GND", "5V"], 0.1, ["GN", "BK", "RD"], "three wires", 22)
    end = sheet.plug("Strip, end", "last pixel (short row)", ["GND", "5V"])
    fuse = f"{power.values().supply.fuse_amp:g} A ATO blade fuse in +5V"
    supply = sheet.plug("5 V supply", "terminal block", ["GND", "+5V"], f"{fuse}, 1000 µF after it")
    for name, wire in (("feed", strip), ("far_feed", end)):
        one = wires[name]
        sheet.cable(supply, ["GND", "+5V"], wire, ["GND", "5V"], one.metres, ["BK", "RD"], "two wires", one.awg,
                    ends=({"screw terminal 2": 1}, SOLDERED))  # fmt: skip


def table_pi() -> Harness:
    """Return the sheet of the Pi: buttons, strip, board."""
    sheet, pins = Harness("Table: Raspberry Pi"), pinmap().pi
    names = list(pins.buttons)
    labels = [*(_gpio(pins.buttons[name]) for name in names), _gpio(pins.strip_pin), GROUND]
    pi = sheet.plug("Raspberry Pi", "GPIO header", labels, "grounds: pins 6, 9, 14, 20, 25, 30, 34, 39")
    _buttons(sheet, pi, names)
    _strip(sheet, pi, _gpio(pins.strip_pin))
    return sheet


def _board(sheet: Harness, note: str, *more: str) -> tuple[str, str]:
    """Add the board with piezos and touch strips; return it and its perfboard. `more` pins it has are given."""
    v, pins = values(), pinmap()
    adc = [f"GPIO{pin}" for pin in pins.board.adc_pins]
    i2c = [f"GPIO{pins.board.i2c['sda']}", "3V3", GROUND, f"GPIO{pins.board.i2c['scl']}"]
    bias = f"GPIO{pins.board.bias_pin}"
    board = sheet.plug("Board", "RP2040", [*adc, bias, *i2c, *more], note)
    inputs = [f"in {pad}" for pad in range(1, pins.pads.count + 1)]
    front = sheet.plug(
        "Piezo inputs",
        "perfboard",
        [*inputs, *adc, bias, *FIELD],
        "perfboard.svg; the bus is joined here, SDA (blue) first",
    )
    seven = [*adc[:2], "3V3", GROUND, *adc[2:], bias]
    socket = {"socket 7": 1}
    colours = ["BN", "OG", "RD", "BK", "YE", "PK", "VT"]
    sheet.cable(board, seven, front, seven, 0.1, colours, "wires", ends=(socket, socket))
    for pad, name in enumerate(inputs, 1):
        disc = sheet.plug(f"Piezo {pad}", "27 mm disc", ["hot", "brass"])
        metres = bus.way(v, v.harness.box_mm, pins.pads.centre(pad))
        sheet.cable(
            front, [name, GROUND], disc, ["hot", "brass"], metres, PAIR, "screened", 28, ends=(SOCKET_2, SOLDERED)
        )
    touch = sheet.plug("MPR121", "touch", [*FIELD, *(f"ELE{i}" for i in range(12))], f"1 kohm in each lead; {FIRST}")
    half = v.harness.touch_m / 2
    sheet.cable(board, i2c, front, list(FIELD), half, FIELD_COLOURS, ends=(SOCKET_4, SOLDERED))
    sheet.cable(front, list(FIELD), touch, list(FIELD), half, FIELD_COLOURS, ends=(SOLDERED, SOCKET_4))
    strips = pins.touch.strips
    for i, metres in enumerate(bus.electrode_m(v)):
        name = f"Pad {i // len(strips) + 1} {strips[i % len(strips)]}"
        strip = sheet.plug(name, "copper strip", ["1"])
        sheet.cable(touch, [f"ELE{i}"], strip, ["1"], metres, ["GY"], "one wire, away from the others", 28,
                    ends=({"socket 12": 1 / 12}, SOLDERED))  # fmt: skip
    return board, front


def table_mat(size: int = 24) -> Harness:
    """Return the sheet of the mat board: piezos, touch strips, trunk of the bus of a mat of `size` magnetometers."""
    sheet = Harness("Table: mat board")
    _, front = _board(sheet, "USB cable to the Pi")
    middle, *others = _muxes(sheet, size)
    first, *rest = bus.trunk_m(values(), size)
    sheet.cable(front, list(FIELD), middle, list(FIELD), first, FIELD_COLOURS, ends=(SOCKET_4, SOCKET_4))
    for mux, metres in zip(others, rest, strict=True):
        sheet.cable(middle, list(FIELD), mux, list(FIELD), metres, FIELD_COLOURS, ends=(SOCKET_4, SOCKET_4))
    return sheet


def _muxes(sheet: Harness, size: int) -> list[str]:
    """Add the multiplexers' trunk side, the nearest one to the box first."""
    addresses, places, box = (
        pinmap().board.tca9548a_addresses,
        bus.multiplexers(values(), size),
        values().harness.box_mm,
    )
    nearest = min(range(len(places)), key=lambda i: abs(places[i][0] - box[0]))
    order = sorted(range(len(places)), key=lambda i: (i != nearest, i))
    return [sheet.plug(f"TCA9548A {i + 1}", f"multiplexer 0x{addresses[i]:02X}", list(FIELD), FIRST) for i in order]


def table_field(size: int = 24) -> Harness:
    """Return the sheet of the magnetometers of a mat of `size`: each behind its own channel."""
    sheet, pins, v = Harness("Table: magnetometers"), pinmap(), values()
    metres = bus.sensor_m(v, size)
    per_pad = len(pins.magnetometers.offsets_mm)
    for m, address in enumerate(pins.board.tca9548a_addresses):
        mine = list(metres)[m * bus.CHANNELS : (m + 1) * bus.CHANNELS]
        if not mine:
            break
        labels = ["3V3", GROUND, *(f"{line}{channel}" for channel in range(len(mine)) for line in ("SD", "SC"))]
        mux = sheet.plug(f"TCA9548A {m + 1}", f"multiplexer 0x{address:02X}", labels)
        for channel, i in enumerate(mine):
            sensor = sheet.plug(
                f"M{i + 1}", f"QMC5883L, pad {i // per_pad + 1}, {i % per_pad + 1} of {per_pad}", list(FIELD), FIRST
            )
            sheet.cable(
                mux, [f"SD{channel}", "3V3", GROUND, f"SC{channel}"], sensor, list(FIELD), metres[i], FIELD_COLOURS,
                ends=({"socket 2": 2}, SOCKET_4),
            )  # fmt: skip
    return sheet


def light() -> Harness:
    """Return the sheet of the light build: Zero 2 W, the board with piezos, touch strips and the lights, buttons."""
    sheet, pins = Harness("Light: Zero 2 W, no magnetometers"), pinmap()
    names = ["ready", "shown", "toss_a", "toss_b"]
    labels = [*(_gpio(pins.pi.buttons[name]) for name in names), GROUND]
    pi = sheet.plug("Zero 2 W", "GPIO header", labels, "grounds: pins 6, 9, 14, 20, 25, 30, 34, 39")
    data = f"GPIO{pins.board.strip_pin}"
    board, _ = _board(sheet, "USB cable to the Zero 2 W", data)
    _buttons(sheet, pi, names)
    _strip(sheet, board, data)
    return sheet


def paper() -> Harness:
    """Return the sheet of the paper build: a laptop, and a screen for those who watch."""
    sheet = Harness("Paper: a laptop")
    laptop = sheet.plug("Laptop", "HDMI", ["HDMI"])
    screen = sheet.plug("Screen", "HDMI", ["HDMI"], "for those who watch; may be left out")
    sheet.cable(laptop, ["HDMI"], screen, ["HDMI"], 3.0, ["BK"], "HDMI cable", 28,
                ends=({"HDMI plug": 1}, {"HDMI plug": 1}))  # fmt: skip
    return sheet


SHEETS = {
    "table-pi": table_pi,
    "table-mat": table_mat,
    "table-field": table_field,
    "light": light,
    "paper": paper,
}


def metres(sheets: Iterable[Harness]) -> Counter[tuple[str, int]]:
    """Return the cable of each kind and gauge (AWG) in several sheets, m."""
    return sum((sheet.metres() for sheet in sheets), Counter())


def plugs(sheets: Iterable[Harness]) -> Counter[str]:
    """Return how many there are of each kind of plug in several sheets."""
    return sum((sheet.plugs() for sheet in sheets), Counter())


def bom(sheet: Harness) -> str:
    """Return the cables and plugs of a sheet as WireViz counts them, tab separated."""
    from wireviz.wireviz import parse  # noqa: PLC0415 - not everybody who draws has it
    from wireviz.wv_bom import bom_list  # noqa: PLC0415
    from wireviz.wv_helper import tuplelist2tsv  # noqa: PLC0415

    return tuplelist2tsv(bom_list(parse(sheet.document(), return_types="harness").bom()))


def picture(page: Harness) -> str:
    """Return a page drawn on A4, as SVG; it looks a little different with each version of Graphviz."""
    from wireviz.wireviz import parse  # noqa: PLC0415

    text = re.sub(r"<!--.*?-->\n?", "", parse(page.document(), return_types="svg"), flags=re.DOTALL)
    drawn = text[text.index("<svg") :]
    wide, high = A4_MM
    room = (wide - 2 * MARGIN_MM, high - 2 * MARGIN_MM - HEADING_MM)
    at = f'x="{MARGIN_MM:g}" y="{MARGIN_MM + HEADING_MM:g}" width="{room[0]:g}" height="{room[1]:g}"'
    drawn = re.sub(r'<svg width="[^"]*" height="[^"]*"', f'<svg {at} preserveAspectRatio="xMidYMin"', drawn, count=1)
    title, size = escape(page.title), f'width="{wide:g}mm" height="{high:g}mm" viewBox="0 0 {wide:g} {high:g}"'
    heading = f'<text x="{MARGIN_MM:g}" y="{MARGIN_MM + 5:g}" font-family="sans-serif" font-size="5">{title}</text>'
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{title}</title>",
        f"<desc>{escape(RIGHTS)}</desc>",
        f'<rect width="{wide:g}" height="{high:g}" fill="#ffffff"/>',
        heading,
        drawn.rstrip(),
        "</svg>",
    )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write every sheet; pictures only where Graphviz is installed."""
    for name, make in SHEETS.items():
        sheet = make()
        (HERE / f"harness-{name}.yml").write_text(sheet.text(), "utf-8")
        (HERE / f"harness-{name}.bom.tsv").write_text(bom(sheet), "utf-8")
        if shutil.which("dot"):
            for number, page in enumerate(sheet.pages(), 1):
                (HERE / f"harness-{name}-{number}.svg").write_text(picture(page), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
