"""`python hardware/drawings/meter.py`: what a multimeter reads on the wiring before its first power.

Prints the table of `hardware/CHECKLIST.md`. Resistors and netlist are the circuits'; modules are their pull-ups, chips
are out of their sockets, and diodes do not conduct with the red probe at the more positive wire.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import nets
import numpy as np
from values import engineering, values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nets import Nets

    Resistor = tuple[str, str, float]
    """Two nets and the ohms between them."""

OPEN_OHM = 1e12
"""Between any two nets, so that a net without a resistor has an answer too."""


METER_OHM = 1e8
"""The most that a multimeter shows."""


class Reading(NamedTuple):
    """One measurement: what is plugged in, the wires of both probes, and the ohms."""

    state: str
    red: str
    black: str
    ohm: float


def board_resistors(found: Nets) -> list[Resistor]:
    """Return the resistors of the perfboard or the printed board between its nets."""
    v = values()
    ohms = {
        "R1": v.passive["bias_high_ohm"],
        "R2": v.piezo["series_ohm"],
        "R3": v.passive["bias_low_ohm"],
        "R4": v.passive["pole_ohm"],
        "R5": v.bus["data_pullup_ohm"],
        "R6": v.bus["clock_pullup_ohm"],
        "R7": v.shifter["data_ohm"],
        "R8": v.shifter["pulldown_ohm"],
        "R9": v.touch["electrode_ohm"],
        "R10": v.amplifier["gain_ohm"],
        "R11": v.amplifier["feedback_ohm"],
    }
    ends: dict[str, list[str]] = {}
    for net, leads in found.items():
        for lead in leads:
            if lead.startswith("R"):
                ends.setdefault(lead.split()[0], []).append(net)
    return [(a, b, ohms[name.split(".")[0]]) for name, (a, b) in ends.items()]


def module_resistors(ohm: float) -> list[Resistor]:
    """Return the pull-ups that a module has on the bus."""
    return [("SDA", "3V3", ohm), ("SCL", "3V3", ohm)]


def resistance(resistors: Iterable[Resistor], red: str, black: str) -> float:
    """Return the ohms between two nets."""
    known = list(resistors)
    names = sorted({name for a, b, _ in known for name in (a, b)} | {red, black})
    at = {name: n for n, name in enumerate(names)}
    conductance = np.full((len(names), len(names)), -1.0 / OPEN_OHM)
    for a, b, ohm in known:
        conductance[at[a], at[b]] -= 1.0 / ohm
        conductance[at[b], at[a]] -= 1.0 / ohm
    np.fill_diagonal(conductance, 0.0)
    np.fill_diagonal(conductance, -conductance.sum(axis=0))
    keep = [n for name, n in at.items() if name != black]
    current = np.array([1.0 if n == at[red] else 0.0 for n in keep])
    return float(np.linalg.solve(conductance[np.ix_(keep, keep)], current)[keep.index(at[red])])


def readings() -> list[Reading]:
    """Return what the meter must read, step by step."""
    v, muxes = values(), len(pinmap().board.tca9548a_addresses)
    model = v.model["bus"]
    alone = board_resistors(nets.perfboard_nets())
    touch = alone + module_resistors(model["touch_pullup_ohm"])
    everything = touch + module_resistors(model["mux_pullup_ohm"]) * muxes
    sensor = module_resistors(model["magnetometer_pullup_ohm"])
    told = (
        (
            "board alone",
            alone,
            (nets.BIAS, "GND"),
            ("3V3", "GND"),
            ("SDA", "3V3"),
            ("SCL", "3V3"),
            ("SDA", "GND"),
        ),
        ("touch board plugged in", touch, ("SDA", "3V3"), ("SCL", "3V3")),
        (f"and {muxes} multiplexers", everything, ("SDA", "3V3"), ("SCL", "3V3")),
        ("a magnetometer on its cable alone", sensor, ("SDA", "3V3"), ("SCL", "3V3")),
    )
    return [
        Reading(state, red, black, resistance(resistors, red, black))
        for state, resistors, *probes in told
        for red, black in probes
    ]


def describe_reading(ohm: float) -> str:
    """Return what a multimeter shows."""
    return engineering(float(f"{ohm:.3g}"), "Ω") if ohm < METER_OHM else "open"


def table() -> str:
    """Return the readings as a table in Markdown."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for one in readings():
        alike.setdefault((one.state, one.black, describe_reading(one.ohm)), []).append(one.red)
    rows = [f"| {state} | {' or '.join(red)} | {black} | {reads} |" for (state, black, reads), red in alike.items()]
    return "\n".join(["| plugged in | red probe | black probe | reads |", "| --- | --- | --- | ---: |", *rows]) + "\n"


def main() -> int:
    """Print the table."""
    sys.stdout.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
