"""`python hardware/drawings/harness.py`: every cable of three builds, from the pin map, for WireViz.

Writes `hardware/drawings/harness-*.yml` (which `wireviz` reads as they are), and where Graphviz is installed their SVG
and the list of cables and plugs, `harness-*.bom.tsv`. `table` is the whole table in three sheets, `light` a Zero 2 W
and the board without magnetometers, `paper` a laptop.
"""

from __future__ import annotations

import copy
import shutil
import sys
from pathlib import Path
from typing import Any

import bus
import power
import yaml
from pins import header_pin
from values import values

from pi_controller.pinmap import pinmap

HERE = Path(__file__).parent
BUTTON_M, STRIP_M = 1.5, 0.5
FIELD = ("3V3", "GND", "SDA", "SCL")
FIELD_COLOURS = ["RD", "BK", "BU", "YE"]
PAIR = ["WH", "BK"]
GROUND = "GND"


class Harness:
    """One sheet: plugs and the cables between them, as WireViz wants them."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._plugs: dict[str, dict[str, Any]] = {}
        self._cables: dict[str, dict[str, Any]] = {}
        self._joins: list[list[dict[str, Any]]] = []

    def plug(self, name: str, kind: str, pins: list[str], note: str = "") -> str:
        """Add a plug or terminal block with its pins and return its name."""
        self._plugs[name] = {"type": kind, "pinlabels": pins, **({"notes": note} if note else {})}
        return name

    def cable(
        self, start: str, start_pins: list[str], end: str, end_pins: list[str], metres: float, colours: list[str],
        kind: str = "ribbon", awg: int = 28,
    ) -> None:  # fmt: skip
        """Join pins of two plugs one to one by a cable of so many metres."""
        name = f"W{len(self._cables) + 1}"
        self._cables[name] = {
            "type": kind,
            "gauge": f"{awg} AWG",
            "length": round(metres, 2),
            "colors": colours,
            "wirecount": len(colours),
        }
        wires = list(range(1, len(colours) + 1))
        self._joins.append([{start: start_pins}, {name: wires}, {end: end_pins}])

    def document(self) -> dict[str, Any]:
        """Return the sheet as WireViz reads it."""
        sheet = {
            "metadata": {"title": self._title},
            "options": {"fontname": "DejaVu Sans"},
            "connectors": self._plugs,
            "cables": self._cables,
            "connections": self._joins,
        }
        return copy.deepcopy(sheet)  # WireViz writes into what it reads

    def text(self) -> str:
        """Return the sheet as YAML."""
        return yaml.safe_dump(self.document(), sort_keys=False, allow_unicode=True, width=110)


def _gpio(pin: int) -> str:
    return f"GPIO{pin} (pin {header_pin(pin)})"


def _buttons(sheet: Harness, pi: str, names: list[str]) -> None:
    for name in names:
        label = name.replace("_", " ")
        button = sheet.plug(f"Button {label}", "push button, closes", ["1", "2"])
        pin = _gpio(pinmap().pi.buttons[name])
        sheet.cable(pi, [pin, GROUND], button, ["1", "2"], BUTTON_M, PAIR, "two wires, twisted", 24)


def _strip(sheet: Harness, source: str, data: str) -> None:
    wires, rows = power.values().wires, "first pixel (row A)"
    shifter = sheet.plug("74AHCT125", "level shifter", ["1A", "GND", "1Y", "5V"], "330 ohm behind 1Y")
    sheet.cable(source, [data, GROUND], shifter, ["1A", "GND"], STRIP_M, ["GN", "BK"], "two wires, twisted", 24)
    strip = sheet.plug("Strip, start", rows, ["DIN", "GND", "5V"])
    sheet.cable(shifter, ["1Y", "GND", "5V"], strip, ["DIN", "GND", "5V"], 0.1, ["GN", "BK", "RD"], "three wires", 22)
    end = sheet.plug("Strip, end", "last pixel (short row)", ["GND", "5V"])
    fuse = f"{power.values().supply.fuse_amp:g} A fuse in +5V"
    supply = sheet.plug("5 V supply", "terminal block", ["GND", "+5V"], f"{fuse}, 1000 µF after it")
    for name, wire in (("feed", strip), ("far_feed", end)):
        one = wires[name]
        sheet.cable(supply, ["GND", "+5V"], wire, ["GND", "5V"], one.metres, ["BK", "RD"], "two wires", one.awg)


def table_pi() -> Harness:
    """Return the sheet of the Pi: buttons, strip, board."""
    sheet, pins = Harness("Table: Raspberry Pi"), pinmap().pi
    names = list(pins.buttons)
    labels = [*(_gpio(pins.buttons[name]) for name in names), _gpio(pins.strip_pin), GROUND]
    pi = sheet.plug("Raspberry Pi", "GPIO header", labels, "grounds: pins 6, 9, 14, 20, 25, 30, 34, 39")
    _buttons(sheet, pi, names)
    _strip(sheet, pi, _gpio(pins.strip_pin))
    return sheet


def _board(sheet: Harness, note: str, *more: str) -> tuple[str, list[str]]:
    """Add the board with piezos and touch strips; return it and its pins of the bus. `more` pins it has are given."""
    v, pins = values(), pinmap()
    adc = [f"GPIO{pin}" for pin in pins.board.adc_pins]
    i2c = ["3V3", GROUND, f"GPIO{pins.board.i2c['sda']}", f"GPIO{pins.board.i2c['scl']}"]
    board = sheet.plug("Board", "RP2040", [*adc, *i2c, *more], note)
    inputs = [f"in {pad}" for pad in range(1, pins.pads.count + 1)]
    front = sheet.plug("Piezo inputs", "perfboard, circuit-piezo", [*inputs, *adc, "3V3", GROUND])
    sheet.cable(
        board, [*adc, "3V3", GROUND], front, [*adc, "3V3", GROUND], 0.1, ["BN", "RD", "OG", "YE", "PK", "BK"], "wires"
    )
    for pad, name in enumerate(inputs, 1):
        disc = sheet.plug(f"Piezo {pad}", "27 mm disc", ["hot", "brass"])
        metres = bus.way(v, v.harness.box_mm, pins.pads.centre(pad))
        sheet.cable(front, [name, GROUND], disc, ["hot", "brass"], metres, PAIR, "screened", 28)
    touch = sheet.plug("MPR121", "touch", [*FIELD, *(f"ELE{i}" for i in range(12))])
    sheet.cable(board, i2c, touch, list(FIELD), 0.1, FIELD_COLOURS)
    strips = pins.touch.strips
    for i, metres in enumerate(bus.electrode_m(v)):
        name = f"Pad {i // len(strips) + 1} {strips[i % len(strips)]}"
        strip = sheet.plug(name, "copper strip", ["1"])
        sheet.cable(touch, [f"ELE{i}"], strip, ["1"], metres, ["GY"], "one wire, away from the others", 28)
    return board, i2c


def table_mat() -> Harness:
    """Return the sheet of the mat board: piezos, touch strips, trunk of the bus."""
    sheet = Harness("Table: mat board")
    board, i2c = _board(sheet, "USB cable to the Pi")
    middle, *others = _muxes(sheet)
    first, *rest = bus.trunk_m(values())
    sheet.cable(board, i2c, middle, list(FIELD), first, FIELD_COLOURS)
    for mux, metres in zip(others, rest, strict=True):
        sheet.cable(middle, list(FIELD), mux, list(FIELD), metres, FIELD_COLOURS)
    return sheet


def _muxes(sheet: Harness) -> list[str]:
    """Add the multiplexers' trunk side, the middle one first."""
    addresses, box = pinmap().board.tca9548a_addresses, values().harness
    order = sorted(range(len(addresses)), key=lambda i: (abs(box.muxes_mm[i][0] - box.box_mm[0]) > 1, i))
    return [sheet.plug(f"TCA9548A {i + 1}", f"multiplexer 0x{addresses[i]:02X}", list(FIELD)) for i in order]


def table_field() -> Harness:
    """Return the sheet of the magnetometers: each behind its own channel."""
    sheet, pins, v = Harness("Table: magnetometers"), pinmap(), values()
    metres = bus.sensor_m(v)
    per_pad = len(pins.magnetometers.offsets_mm)
    for m, address in enumerate(pins.board.tca9548a_addresses):
        mine = list(range(m * bus.CHANNELS, min((m + 1) * bus.CHANNELS, len(metres))))
        labels = ["3V3", GROUND, *(f"{line}{i % bus.CHANNELS}" for i in mine for line in ("SD", "SC"))]
        mux = sheet.plug(f"TCA9548A {m + 1}", f"multiplexer 0x{address:02X}", labels)
        for i in mine:
            channel = i % bus.CHANNELS
            sensor = sheet.plug(
                f"M{i + 1}", f"QMC5883L, pad {i // per_pad + 1}, {i % per_pad + 1} of {per_pad}", list(FIELD)
            )
            sheet.cable(
                mux, ["3V3", GROUND, f"SD{channel}", f"SC{channel}"], sensor, list(FIELD), metres[i], FIELD_COLOURS
            )
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
    sheet.cable(laptop, ["HDMI"], screen, ["HDMI"], 3.0, ["BK"], "HDMI cable", 28)
    return sheet


SHEETS = {
    "table-pi": table_pi,
    "table-mat": table_mat,
    "table-field": table_field,
    "light": light,
    "paper": paper,
}


def bom(sheet: Harness) -> str:
    """Return the cables and plugs of a sheet as WireViz counts them, tab separated."""
    from wireviz.wireviz import parse  # noqa: PLC0415 - not everybody who draws has it
    from wireviz.wv_bom import bom_list  # noqa: PLC0415
    from wireviz.wv_helper import tuplelist2tsv  # noqa: PLC0415

    return tuplelist2tsv(bom_list(parse(sheet.document(), return_types="harness").bom()))


def picture(sheet: Harness) -> str:
    """Return the sheet drawn, as SVG; it looks a little different with each version of Graphviz."""
    from wireviz.wireviz import parse  # noqa: PLC0415

    return parse(sheet.document(), return_types="svg")


def main() -> int:
    """Write every sheet; pictures only where Graphviz is installed."""
    for name, make in SHEETS.items():
        sheet = make()
        (HERE / f"harness-{name}.yml").write_text(sheet.text(), "utf-8")
        (HERE / f"harness-{name}.bom.tsv").write_text(bom(sheet), "utf-8")
        if shutil.which("dot"):
            (HERE / f"harness-{name}.svg").write_text(picture(sheet), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
