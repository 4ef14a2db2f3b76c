"""`python hardware/drawings/parts.py`: what to buy for three builds, written to `hardware/parts.md`.

Modules and cables are listed in `hardware/parts.toml`, small parts in `hardware/circuits.toml`; how many follows from
`hardware/pinmap.toml`.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from functools import cache
from typing import Literal

import bus
import msgspec
from values import HARDWARE, Circuit, engineering, mat_file
from values import values as circuits

from pi_controller.pinmap import pinmap

Build = Literal["table", "light", "paper"]
BUILDS: tuple[Build, ...] = ("table", "light", "paper")
KINDS = {"ohm": ("resistor", "Ω"), "farad": ("capacitor", "F")}
HEAD = """# Parts

Made by `python hardware/drawings/parts.py` from [`parts.toml`](parts.toml), [`circuits.toml`](circuits.toml) and
[`pinmap.toml`](pinmap.toml); change those, not this page. What the pads, the frame and the bead are made of is in
the build guide. Cables and plugs one by one: `drawings/harness-*.bom.tsv`.

* **table**: Raspberry Pi 4 or 5, the board, all sensors. **light**: Zero 2 W, the board, no magnetometers:
  the judge says where the bead was. **paper**: a laptop, no sensors.
* Prices are rough and from memory, in whatever currency: A below 2, B below 10, C below 30, D below 100 a piece or
  metre. None of this was bought or built yet.
"""


class Part(msgspec.Struct, frozen=True):
    """A thing to buy: what it does, its price class, what serves instead, and how many of it for one of what."""

    name: str
    does: str
    price: str
    instead: str = ""
    spare: int = 0
    table: dict[str, float] = {}
    light: dict[str, float] = {}
    paper: dict[str, float] = {}

    def per(self, build: Build) -> dict[str, float]:
        """Return how many for one of what."""
        return {"table": self.table, "light": self.light, "paper": self.paper}[build]


class Parts(msgspec.Struct, frozen=True):
    """The whole of `hardware/parts.toml`."""

    classes: dict[str, float]
    circuits: dict[str, list[str]]
    buttons: dict[str, int]
    part: list[Part]


@cache
def values() -> Parts:
    """Return the list of parts."""
    return msgspec.convert(mat_file("parts"), Parts)


def counted(parts: Parts, build: Build) -> dict[str, float]:
    """Return how many there are in a build of each thing that parts are counted by."""
    pins, v = pinmap(), circuits()
    box = v.harness.box_mm
    return {
        "build": 1,
        "mat": 1,
        "board": 1,
        "strip": 1,
        "pad": pins.pads.count,
        "magnetometer": len(pins.magnetometer_positions()),
        "mux": len(pins.board.tca9548a_addresses),
        "electrode": pins.pads.count * len(pins.touch.strips),
        "pixel": pins.lights.count,
        "button": parts.buttons[build],
        "bus_m": sum(bus.trunk_m(v)) + sum(bus.sensor_m(v)),
        "piezo_m": sum(bus.way(v, box, pins.pads.centre(pad)) for pad in range(1, pins.pads.count + 1)),
    }


def quantity(parts: Parts, part: Part, build: Build) -> int:
    """Return how many of a part a build takes, spares among them, in whole pieces or metres."""
    per, things = part.per(build), counted(parts, build)
    wanted = math.ceil(sum(number * things[what] for what, number in per.items()) - 1e-3)
    return wanted + part.spare if wanted else 0


def circuits_of(parts: Parts, build: Build) -> list[tuple[str, Circuit, int]]:
    """Return the circuits of a build: name, circuit, how often."""
    things = counted(parts, build)
    found: list[tuple[str, Circuit, int]] = []
    for name in parts.circuits[build]:
        circuit = circuits().circuit(name)
        found.append((name, circuit, math.ceil(things[circuit.each])))
    return found


def small(parts: Parts, build: Build) -> dict[str, tuple[int, set[str]]]:
    """Return the small parts of a build's circuits: how many of each, and the circuits that they are in."""
    many: Counter[str] = Counter()
    where: defaultdict[str, set[str]] = defaultdict(set)
    for _, circuit, times in circuits_of(parts, build):
        for name, value in circuit.parts.items():
            if isinstance(value, str):
                said = value
            else:
                kind, unit = KINDS[name.rsplit("_", 1)[1]]
                said = f"{kind} {engineering(value, unit)}"
            many[said] += times
            where[said].add(circuit.title)
    return {said: (many[said], where[said]) for said in many}


def page(parts: Parts) -> str:
    """Return `hardware/parts.md`."""
    rows = ["| part | what it does | price | table | light | paper | instead |"]
    rows += ["| --- | --- | --- | ---: | ---: | ---: | --- |"]
    for part in parts.part:
        many = " | ".join(str(quantity(parts, part, build) or "") for build in BUILDS)
        rows.append(f"| {part.name} | {part.does} | {part.price} | {many} | {part.instead} |")
    smalls = {build: small(parts, build) for build in BUILDS}
    rows += [
        "",
        "## Small parts of the circuits",
        "",
        "All resistors 1 %, capacitors below 1 µF ceramic; each is of class A.",
        "",
    ]
    rows += ["| part | table | light | in |", "| --- | ---: | ---: | --- |"]
    for said in sorted({said for one in smalls.values() for said in one}, key=str.lower):
        many = " | ".join(str(smalls[build].get(said, (0, set()))[0] or "") for build in ("table", "light"))
        where = sorted(set().union(*(one[said][1] for one in smalls.values() if said in one)))
        rows.append(f"| {said} | {many} | {'; '.join(where)} |")
    rows += ["", "## The lot", ""]
    for build in BUILDS:
        most = sum(parts.classes[part.price] * quantity(parts, part, build) for part in parts.part)
        most += parts.classes["A"] * sum(n for n, _ in smalls[build].values())
        rows.append(f"* {build}: below {most:.0f}, were every piece at the top of its class.")
    return f"{HEAD}\n" + "\n".join(rows) + "\n"


def main() -> int:
    """Write the page."""
    (HARDWARE / "parts.md").write_text(page(values()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
