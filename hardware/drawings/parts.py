"""`python hardware/drawings/parts.py`: what to buy for each build, as `hardware/parts.csv`, and costs in `parts.md`.

Modules, cables and wood are listed in `hardware/parts.toml`, small parts in `hardware/circuits.toml`; how many follows
from `hardware/pinmap.toml`, the geometry of the drawings and the harness.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import bus
import geometry
import harness
import msgspec
import power
import small_mat
from values import HARDWARE, Circuit, engineering, mat_file
from values import values as circuits

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Sequence

Build = Literal["two mats", "table", "16", "12", "8", "small", "light", "paper"]
BUILDS: tuple[Build, ...] = ("two mats", "table", "16", "12", "8", "small", "light", "paper")
BOUGHT_AS: dict[Build, str] = {
    "two mats": "table",
    "table": "table",
    "16": "table",
    "12": "table",
    "8": "table",
    "small": "small",
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
DISTRIBUTORS = {
    "Mouser": "https://www.mouser.com/c/?q={}",
    "Digi-Key": "https://www.digikey.com/en/products/result?keywords={}",
}
"""Addresses that search for a maker's number; the distributors' own order numbers are not known here."""
HEAD = """# Parts to buy

**[parts.csv](parts.csv) is the list**, for any spreadsheet: each part with its number in every build, what it is for,
what serves instead, the price of a piece, the maker's number, and a search for that number at two distributors.
Sizes of the wood: [cutting.md](cutting.md).

* **table**: Raspberry Pi 4 or 5, board, all sensors; **16**, **12**, **8**: with fewer magnetometers; **two mats**: one
  before each team, one Pi. **small**: [the small mat](SMALL_MAT.md), without its Pi. **light**: Zero 2 W, no
  magnetometers. **paper**: only {paper}.
* **No part has been bought yet.** Prices are rough and from memory, estimated {estimated}. Makers' numbers
  are from memory too: compare each with its data sheet before you order.
* **Magnetometers** of one kind, from one lot, with two spares ([why](README.md#the-magnetometers)). **MPR121**: no
  other chip serves, and it is no longer made: buy a spare. **Lights**: RGB, never RGBW. **Fuse**: a blade in a holder,
  no glass fuse ([power](power.md)).
* **Magnets** D6x6 and D4x4 kill if swallowed: read [SAFETY.md](SAFETY.md) before you open the bag.
* The printed board replaces the perfboards and takes the parts of its own column. Its plugs: {plugs}.
"""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A thing to buy: what it does, its price, what serves instead, and how many of it for one of what."""

    group: str
    name: str
    does: str
    price: float
    instead: str = ""
    spare: int = 0
    table: dict[str, float] = {}
    small: dict[str, float] = {}
    light: dict[str, float] = {}
    paper: dict[str, float] = {}

    def note(self) -> str:
        """Return what the part is for and what serves instead."""
        return f"{self.does}; or {self.instead}" if self.instead else self.does

    def per(self, build: Build) -> dict[str, float]:
        """Return how many for one of what."""
        lists = {"table": self.table, "small": self.small, "light": self.light, "paper": self.paper}
        return lists[BOUGHT_AS[build]]


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
    if build == "small":
        return small_mat.SIZE
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
    return wanted + part.spare if wanted and build != "small" else wanted


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


def search_addresses(number: str) -> list[str]:
    """Return the address that searches for a maker's number, at each distributor; "" for none."""
    first = number.partition(",")[0].partition(" (")[0]
    words = first if first.startswith("Adafruit") else first.rpartition(" ")[2]
    return [address.format(quote(words)) if number else "" for address in DISTRIBUTORS.values()]


def list_rows(parts: Parts) -> list[list[str]]:
    """Return the rows of `hardware/parts.csv`, the head first."""
    printed = small(parts, "table", PRINTED)
    smalls = {build: small(parts, build) for build in BUILDS}
    rows = [["group", "part", *BUILDS, "printed board", "for", "euros each", "maker's number", *DISTRIBUTORS]]

    def add(group: str, name: str, many: Sequence[int], note: str, price: float) -> None:
        number = parts.numbers.get(name, "")
        counts = [str(count or "") for count in many]
        rows.append([group, name_kind(parts, name), *counts, note, f"{price:.2f}", number, *search_addresses(number)])

    for part in parts.part:
        add(part.group, part.name, [*(quantity(part, build) for build in BUILDS), 0], part.note(), part.price)
    for said in sorted({*printed, *(said for one in smalls.values() for said in one)}, key=str.lower):
        many = [one.get(said, (0, set()))[0] for one in (*smalls.values(), printed)]
        add("small parts", said, many, "", small_price(parts, said))
    return rows


def format_csv(parts: Parts) -> str:
    """Return `hardware/parts.csv`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(list_rows(parts))
    return text.getvalue()


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
    paper = ", ".join(part.name for part in parts.part if quantity(part, "paper"))
    plugs = "; ".join(f"{name}: {number}" for name, number in parts.numbers_of_the_board.items())
    return HEAD.format(estimated=parts.estimated, paper=paper, plugs=plugs) + "\n".join(_sum(parts)) + "\n"


def main() -> None:
    """Write the list and the page."""
    (HARDWARE / "parts.csv").write_text(format_csv(values()), "utf-8")
    (HARDWARE / "parts.md").write_text(page(values()), "utf-8")


if __name__ == "__main__":
    main()
