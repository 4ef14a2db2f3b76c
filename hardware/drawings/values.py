"""The values of the circuits, `hardware/circuits.toml`, and how they are written for people and for ngspice."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path

import msgspec

HARDWARE = Path(__file__).parent.parent
UNITS = {"ohm": "Ω", "farad": "F"}
LICENCE = "CERN-OHL-P-2.0"
"""Of everything in `hardware/` that is no program; its text is `hardware/LICENSE`."""
RIGHTS = f"SPDX-License-Identifier: {LICENCE}. Copyright 2026 The Moccasin Mat developers. Text: hardware/LICENSE."
PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M"}

Range = tuple[float, float]


class Circuit(msgspec.Struct, frozen=True):
    """One circuit: what it is called, what there is one of it for, and its parts by name."""

    title: str
    each: str
    parts: dict[str, float | str]

    def __getitem__(self, name: str) -> float:
        """Return the value of a part, in ohms or farads; KeyError for a part that has no value."""
        value = self.parts[name]
        if isinstance(value, str):
            raise KeyError(name)
        return value

    def label(self, name: str) -> str:
        """Return a part's value as it is printed: "33 kΩ"."""
        value = self.parts[name]
        return value if isinstance(value, str) else engineering(value, UNITS[name.rsplit("_", 1)[1]])


class Harness(msgspec.Struct, frozen=True):
    """Where the boxes lie, mm, what a cable is longer than its way, and the cable to the MPR121."""

    box_mm: tuple[float, float]
    muxes_mm: tuple[tuple[float, float], ...]
    slack_mm: float
    touch_m: float


class Values(msgspec.Struct, frozen=True):
    """The whole of `hardware/circuits.toml`."""

    supply_volt: float
    piezo: Circuit
    passive: Circuit
    amplifier: Circuit
    op_amp: Circuit
    fsr: Circuit
    bus: Circuit
    touch: Circuit
    shifter: Circuit
    supply: Circuit
    button: Circuit
    harness: Harness
    model: dict[str, dict[str, float]]
    limits: dict[str, dict[str, Range]]

    def circuit(self, name: str) -> Circuit:
        """Return the circuit called `name`; KeyError when there is none."""
        found = getattr(self, name, None)
        if not isinstance(found, Circuit):
            raise KeyError(name)
        return found

    def limits_of(self, name: str) -> dict[str, Range]:
        """Return the limits of `name`, those that hold for both piezo inputs among them."""
        shared = self.limits["both"] if name in {"passive", "amplifier"} else {}
        return shared | self.limits[name]


def engineering(value: float, unit: str) -> str:
    """Return `value` with the prefix that engineers give it: 3.3e-9, "F" is "3.3 nF"."""
    power = 0 if value == 0 else 3 * math.floor(math.log10(abs(value)) / 3 + 1e-9)
    power = min(max(power, -12), 6)
    if unit == "F" and power == -3:  # shops say 1000 µF
        power = -6
    return f"{value / 10.0**power:.4g} {PREFIXES[power]}{unit}"


def mat_file(name: str) -> dict[str, object]:
    """Return what stands in `hardware/<name>.toml`."""
    return tomllib.loads((HARDWARE / f"{name}.toml").read_text("utf-8"))


@cache
def values() -> Values:
    """Return the values of all circuits."""
    return msgspec.convert(mat_file("circuits"), Values)
