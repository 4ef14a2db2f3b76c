"""`python hardware/drawings/parts.py`: what to buy for each build and what it costs, written to `hardware/parts.md`.

With names of builds it prints their lists instead: `python hardware/drawings/parts.py "two mats"`.

Modules, cables and wood are listed in `hardware/parts.toml`, small parts in `hardware/circuits.toml`; how many follows
from `hardware/pinmap.toml`, the geometry of the drawings and the harness.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Literal

import bus
import geometry
import harness
import msgspec
import power
from values import HARDWARE, Circuit, engineering, mat_file
from values import values as circuits

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Sequence

Build = Literal["two mats", "table", "16", "12", "8", "light", "paper"]
BUILDS: tuple[Build, ...] = ("two mats", "table", "16", "12", "8", "light", "paper")
BOUGHT_AS: dict[Build, str] = {
    "two mats": "table",
    "table": "table",
    "16": "table",
    "12": "table",
    "8": "table",
    "light": "light",
    "paper": "paper",
}
"""Which list of `parts.toml` a build buys by."""
PRINTED = "printed"
"""The list of `[circuits]` that the printed board has beside those of its build."""
KINDS = {"ohm": ("resistor", "Ω"), "farad": ("capacitor", "F")}
CABLES = {
    "ribbon": ("ribbon", 28),
    "screened": ("screened", 28),
    "single": ("one wire, away from the others", 28),
    "pair": ("two wires, twisted", 24),
    "three": ("three wires", 22),
    "feed": ("two wires", 18),
}
"""What `parts.toml` calls a cable of the harness."""
COPPER_MM, CLEAR_MM, CLEAR_BEYOND_MM = 30.0, 50.0, 5.0
"""Widths of the tapes, and how far the clear one goes beyond the copper."""
WHOLE_PACKS = 4 / 3
"""What is paid for the sum of the pieces."""
HEAD = """# Parts

Made by `python hardware/drawings/parts.py` from [`parts.toml`](parts.toml), [`circuits.toml`](circuits.toml) and
[`pinmap.toml`](pinmap.toml). Sizes of the wood: [cutting.md](cutting.md). Each cable: `drawings/harness-*.yml`.

* **table**: Raspberry Pi 4 or 5, board, all sensors. **light**: Zero 2 W, no magnetometers. **paper**: only {paper}.
* `python hardware/drawings/parts.py "two mats"` prints the list for a mat before each team and one Pi; `16`, `12` or
  `8` prints the list for a table with that many magnetometers.
* No part has been bought yet. Prices (in `parts.toml`) are **rough and from memory**, estimated {estimated}.
* After a semicolon: makers' numbers, from memory. Compare each with its data sheet before you order.
"""
LISTED: tuple[Build, ...] = ("table", "light")
"""The builds with a column in the page's lists of parts."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A thing to buy: what it does, its price, what serves instead, and how many of it for one of what."""

    group: str
    name: str
    does: str
    price: float
    instead: str = ""
    spare: int = 0
    table: dict[str, float] = {}
    light: dict[str, float] = {}
    paper: dict[str, float] = {}

    def note(self) -> str:
        """Return what the part is for and what serves instead."""
        return f"{self.does}; or {self.instead}" if self.instead else self.does

    def per(self, build: Build) -> dict[str, float]:
        """Return how many for one of what."""
        return {"table": self.table, "light": self.light, "paper": self.paper}[BOUGHT_AS[build]]


class Parts(msgspec.Struct, frozen=True):
    """The whole of `hardware/parts.toml`."""

    circuits: dict[str, list[str]]
    buttons: dict[str, int]
    small: dict[str, float]
    kinds: dict[str, str]
    estimated: str
    numbers: dict[str, str]
    numbers_of_the_board: dict[str, str]
    part: list[Part]


@cache
def values() -> Parts:
    """Return the list of parts."""
    return msgspec.convert(mat_file("parts"), Parts)


def sheets(build: Build) -> list[harness.Harness]:
    """Return the sheets of a build's cables, a mat's twice where there are two."""
    if BOUGHT_AS[build] != "table":
        return [harness.light()] if build == "light" else []
    a_mat = [harness.table_mat(magnetometers(build)), harness.table_field(magnetometers(build))]
    return [harness.table_pi(), *a_mat * mats(build)]


def magnetometers(build: Build) -> int:
    """Return how many magnetometers each mat of a build has."""
    return int(build) if build.isdecimal() else len(pinmap().magnetometer_positions())


def mats(build: Build) -> int:
    """Return how many mats a build has."""
    return 2 if build == "two mats" else 1


@cache
def counted(build: Build) -> dict[str, float]:
    """Return how many there are in a build of each thing that parts are counted by."""
    pins, many, found = pinmap(), mats(build), sheets(build)
    metres, plugs = harness.metres(found), harness.plugs(found)
    wide, deep = geometry.outline().size
    ways = {kind: int(kind.split()[1]) for kind in plugs if kind.startswith("socket")}
    contacts = sum(plugs[kind] * count for kind, count in ways.items())
    things: dict[str, float] = {
        "once": 1,
        "strip": 1,
        "second": many - 1,
        "button": values().buttons[BOUGHT_AS[build]],
        "pixel": pins.lights.count,
        "link": sum(power.links_m(power.values())),
        "contact": contacts,
        "blade": plugs["blade"],
    }
    of_a_mat = {
        "mat": 1,
        "board": 1,
        "pad": pins.pads.count,
        "magnetometer": magnetometers(build),
        "mux": len(bus.multiplexers(circuits(), magnetometers(build))),
        "electrode": pins.pads.count * len(pins.touch.strips),
        "copper": geometry.tape_m(COPPER_MM),
        "clear": geometry.tape_m(CLEAR_MM, CLEAR_BEYOND_MM),
        "edge": 2 * (wide + deep) / 1000,
    }
    things |= {name: count * many for name, count in of_a_mat.items()}
    things |= {kind: plugs[kind] for kind in ("socket 2", "socket 4", "socket 7", "socket 12")}
    return things | {name: metres[kind] for name, kind in CABLES.items()}


def quantity(part: Part, build: Build) -> int:
    """Return how many of a part a build takes, spares among them, in whole pieces or metres."""
    per, things = part.per(build), counted(build)
    wanted = math.ceil(sum(number * things[what] for what, number in per.items()) - 1e-3)
    return wanted + part.spare if wanted else 0


def circuits_of(parts: Parts, build: Build, bought_as: str = "") -> list[tuple[str, Circuit, int]]:
    """Return the circuits of a build: name, circuit, how often; `bought_as` is their list if not the build's own."""
    found: list[tuple[str, Circuit, int]] = []
    for name in parts.circuits[bought_as or BOUGHT_AS[build]]:
        circuit = circuits().circuit(name)
        found.append((name, circuit, math.ceil(counted(build)[circuit.each])))
    return found


def small(parts: Parts, build: Build, bought_as: str = "") -> dict[str, tuple[int, set[str]]]:
    """Return the small parts of the circuits of `circuits_of`: how many of each, and the circuits that they are in."""
    many: Counter[str] = Counter()
    where: defaultdict[str, set[str]] = defaultdict(set)
    for _, circuit, times in circuits_of(parts, build, bought_as):
        for name, value in circuit.parts.items():
            if isinstance(value, str):
                said = value
            else:
                kind, unit = KINDS[name.rsplit("_", 1)[1]]
                said = f"{kind} {engineering(value, unit)}"
            many[said] += times
            where[said].add(circuit.title)
    return {said: (many[said], where[said]) for said in many}


def small_price(parts: Parts, said: str) -> float:
    """Return what a small part costs, euros; raises `KeyError` where `[small]` has no beginning of its name."""
    for begins, price in parts.small.items():
        if said.startswith(begins):
            return price
    raise KeyError(said)


def name_kind(parts: Parts, said: str) -> str:
    """Return a small part with the kind that it must be: "capacitor 1 nF, C0G"."""
    return f"{said}, {parts.kinds[said]}" if said in parts.kinds else said


def costs(parts: Parts, build: Build) -> dict[str, float]:
    """Return what each group of a build costs, euros, the small parts last."""
    found: dict[str, float] = {}
    for part in parts.part:
        found[part.group] = found.get(part.group, 0.0) + part.price * quantity(part, build)
    found["small parts"] = sum(small_price(parts, said) * n for said, (n, _) in small(parts, build).items())
    return found


def name_number(parts: Parts, name: str) -> str:
    """Return a part's name with its kind and the manufacturers' numbers, if there are any."""
    number = parts.numbers.get(name)
    return f"{name_kind(parts, name)}; {number}" if number else name_kind(parts, name)


def _list_group(parts: Parts, group: str, builds: Sequence[Build]) -> list[str]:
    """Return the table of a group of parts, with a column for each build."""
    rows = ["", f"## {group.capitalize()}", "", f"| part | {' | '.join(builds)} | for |"]
    rows += [f"| --- |{' ---: |' * len(builds)} --- |"]
    for part in parts.part:
        wanted = [quantity(part, build) for build in builds]
        if part.group == group and any(wanted):
            many = " | ".join(str(number or "") for number in wanted)
            rows.append(f"| {name_number(parts, part.name)} | {many} | {part.note()} |")
    return rows


def _list_small(parts: Parts, builds: Sequence[Build]) -> list[str]:
    """Return the table of the small parts of the circuits."""
    rows = ["", "## Small parts of the circuits", "", "Resistors 1 %, with leads; capacitors below 1 µF ceramic.", ""]
    rows += [f"| part | {' | '.join(builds)} |", f"| --- |{' ---: |' * len(builds)}"]
    smalls = {build: small(parts, build) for build in builds}
    for said in sorted({said for one in smalls.values() for said in one}, key=str.lower):
        many = " | ".join(str(smalls[build].get(said, (0, set()))[0] or "") for build in builds)
        rows.append(f"| {name_number(parts, said)} | {many} |")
    return rows


def lists(parts: Parts, builds: Sequence[Build]) -> list[str]:
    """Return the tables of all parts, with a column for each build."""
    groups = dict.fromkeys(part.group for part in parts.part)
    return [row for group in groups for row in _list_group(parts, group, builds)] + _list_small(parts, builds)


def _list_printed(parts: Parts) -> list[str]:
    """Return what the printed board has beside the perfboard's small parts."""
    rows = ["", "The printed board takes these too:", ""]
    rows += ["| part | a mat |", "| --- | ---: |"]
    for said, (count, _) in small(parts, "table", PRINTED).items():
        rows.append(f"| {name_number(parts, said)} | {count} |")
    plugs = "; ".join(f"{name}: {number}" for name, number in parts.numbers_of_the_board.items())
    return [*rows, "", f"Its plugs: {plugs}."]


def _sum(parts: Parts) -> list[str]:
    """Return the table of what each build costs."""
    builds = [build for build in BUILDS if any(costs(parts, build).values())]
    each = {build: costs(parts, build) for build in builds}
    rows = ["", "## The lot, euros", "", f"| | {' | '.join(builds)} |", f"| --- |{' ---: |' * len(builds)}"]
    rows.append(f"| **all** | {' | '.join(f'**{sum(each[build].values()):.0f}**' for build in builds)} |")
    paid = [10 * math.ceil(WHOLE_PACKS * sum(each[build].values()) / 10) for build in builds]
    rows.append(f"| **to be paid, about** | {' | '.join(f'**{euros}**' for euros in paid)} |")
    return [
        *rows,
        "",
        "*To be paid*: a third more, for whole packs and postage. Tools, screen, laptop, cloths: not included.",
    ]


def page(parts: Parts) -> str:
    """Return `hardware/parts.md`."""
    rows = lists(parts, LISTED) + _list_printed(parts) + _sum(parts)
    paper = ", ".join(part.name for part in parts.part if quantity(part, "paper"))
    return HEAD.format(estimated=parts.estimated, paper=paper) + "\n".join(rows) + "\n"


def main(names: Sequence[str]) -> int:
    """Write the page, or print the lists of the builds that are named; return the exit status."""
    chosen = [build for build in BUILDS if build in names]
    if len(chosen) < len(names):
        sys.stderr.write(f"the builds are {', '.join(BUILDS)}\n")
        return 2
    if chosen:
        sys.stdout.write("\n".join(lists(values(), chosen)) + "\n")
    else:
        (HARDWARE / "parts.md").write_text(page(values()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
