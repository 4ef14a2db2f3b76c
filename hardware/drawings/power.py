"""`python hardware/drawings/power.py`: who draws how much, and how many volts arrive at the last pixel.

The strip is a ladder: two copper traces from pixel to pixel, wires between the rows, one or two feeds. A pixel draws
what `pi_controller/board/strips.py` says, whatever its voltage: a little too pessimistic. Figures from
`hardware/power.toml`.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import bus
import msgspec
import numpy as np
import places
from values import mat_file
from values import values as circuits

from pi_controller.board.strips import current_ma, limit_current
from pi_controller.config.model import StripsSection
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pi_controller.board.interfaces import Rgb

COPPER_OHM_M = 1.72e-8
WHITE: Rgb = (255, 255, 255)
DARK: Rgb = (0, 0, 0)


class Supply(msgspec.Struct, frozen=True):
    """What is bought: volts, amperes; ohms of the fuse and of a contact."""

    volt: float
    low_volt: float
    amp: float
    fuse_amp: float
    fuse_ohm: float
    plug_ohm: float


class Strip(msgspec.Struct, frozen=True):
    """The strip's copper, and how it is fed."""

    pixels_m: float
    copper_mm: float
    copper_um: float
    joint_m: float
    lowest_volt: float
    fed: str


class Wire(msgspec.Struct, frozen=True):
    """A wire: AWG, and metres one way."""

    awg: int
    metres: float = 0.0


class Gauge(msgspec.Struct, frozen=True):
    """A gauge of copper wire: ohms a metre, amperes."""

    ohm_m: float
    amp: float


class Board(msgspec.Struct, frozen=True):
    """What stands on the board's 3.3 V, mA."""

    regulator_ma: float
    usb_ma: float
    rp2040_ma: float
    magnetometer_ma: float
    touch_ma: float
    mux_ma: float
    amplifier_ma: float
    module_light_ma: float


class Power(msgspec.Struct, frozen=True):
    """The whole of `hardware/power.toml`."""

    supply: Supply
    strip: Strip
    wires: dict[str, Wire]
    awg: dict[str, Gauge]
    board: Board
    pi: dict[str, float]

    def gauge(self, wire: str) -> Gauge:
        """Return the gauge of a wire by its name."""
        return self.awg[str(self.wires[wire].awg)]

    def ohm(self, wire: str, metres: float | None = None) -> float:
        """Return the resistance of a wire there and back, ohms."""
        return 2 * self.gauge(wire).ohm_m * (self.wires[wire].metres if metres is None else metres)


@cache
def values() -> Power:
    """Return the figures of the supplies."""
    return msgspec.convert(mat_file("power"), Power)


def cap_ma() -> float:
    """Return the current that the program allows the strip, by default, mA."""
    return StripsSection().current_cap_ma


def links_m(power: Power) -> list[float]:
    """Return the wires from each row's end to the next row's beginning, m, as the board of lights has them."""
    found: list[float] = []
    for (_, count, y, rightward), (_, after, y2, rightward2) in pairwise(places.light_rows()):
        end = (1 if rightward else -1) * count * places.PIXEL_MM / 2
        start = (-1 if rightward2 else 1) * after * places.PIXEL_MM / 2
        found.append((abs(end - start) + abs(y - y2)) / 1000.0 + power.strip.joint_m)
    return found


def steps_ohm(power: Power) -> list[float]:
    """Return the resistance from each pixel to the next, there and back, ohms."""
    strip = power.strip
    copper = COPPER_OHM_M / (strip.copper_mm * strip.copper_um * 1e-9)
    inside = 2 * copper / strip.pixels_m
    steps: list[float] = []
    links = links_m(power)
    for i, (_, count, _, _) in enumerate(places.light_rows()):
        steps += [inside] * (count - 1)
        if i < len(links):
            steps.append(power.ohm("link", links[i]) + inside)
    return steps


def volts(power: Power, milliamps: ArrayLike, fed: str | None = None) -> NDArray[np.float64]:
    """Return the volts at each pixel when pixel n draws `milliamps[n]`, from the supply at its lowest.

    Several frames at once stand side by side, shape (pixels, frames). `fed` is "start" or "both", by default what
    `power.toml` says.
    """
    drawn = np.asarray(milliamps, dtype=np.float64)
    n, fed, supply = len(drawn), fed or power.strip.fed, power.supply
    # nodes: the pixels, then the point behind the fuse where the feeds begin
    siemens = np.zeros((n + 1, n + 1))

    def join(a: int, b: int, ohm: float) -> None:
        siemens[[a, b], [a, b]] += 1 / ohm
        siemens[[a, b], [b, a]] -= 1 / ohm

    for i, ohm in enumerate(steps_ohm(power)):
        join(i, i + 1, ohm)
    join(n, 0, power.ohm("feed") + 2 * supply.plug_ohm)
    if fed == "both":
        join(n, n - 1, power.ohm("far_feed") + 2 * supply.plug_ohm)
    source = supply.fuse_ohm + 2 * supply.plug_ohm
    siemens[n, n] += 1 / source
    amps = np.zeros((n + 1, *drawn.shape[1:]))
    amps[:n] = -drawn / 1000.0
    amps[n] += supply.low_volt / source
    return np.asarray(np.linalg.solve(siemens, amps), dtype=np.float64)[:n]


def drawn_ma(frame: Sequence[Rgb]) -> list[float]:
    """Return what each pixel of a frame draws, mA."""
    return [current_ma([pixel]) for pixel in frame]


def lowest_volt(power: Power, frame: Sequence[Rgb], fed: str | None = None) -> float:
    """Return the volts at the pixel that gets least."""
    return float(volts(power, drawn_ma(frame), fed).min())


def run_of_white(first: int, count: int) -> list[Rgb]:
    """Return a frame with `count` white pixels from `first` on, the others dark, under the cap as it would leave."""
    n = pinmap().lights.count
    return limit_current([WHITE if first <= i < first + count else DARK for i in range(n)], cap_ma())


def worst_under_cap(power: Power, fed: str | None = None) -> float:
    """Return the volts at the worst pixel of the worst run of white that the cap lets through."""
    n = pinmap().lights.count
    runs = [run_of_white(first, count) for count in range(1, n + 1, 2) for first in range(n - count + 1)]
    return float(volts(power, np.array([drawn_ma(run) for run in runs]).T, fed).min())


def board_ma(power: Power) -> dict[str, float]:
    """Return what stands on the board's 3.3 V, mA, each kind with all its pieces."""
    board, pins = power.board, pinmap()
    muxes = len(pins.board.tca9548a_addresses)
    return {
        "RP2040 with its flash": board.rp2040_ma,
        f"{len(pins.magnetometer_positions())} QMC5883L, all measuring": len(pins.magnetometer_positions())
        * board.magnetometer_ma,
        "MPR121": board.touch_ma,
        f"{muxes} TCA9548A": muxes * board.mux_ma,
        "MCP6004": board.amplifier_ma,
        f"power lights of {muxes + 1} modules": (muxes + 1) * board.module_light_ma,
        "I2C pull-ups, both lines low": 2
        * 1000.0
        * circuits().supply_volt
        / min(line.ohm for line in bus.lines(circuits())),
    }


def tables(power: Power) -> str:
    """Return the budget as Markdown."""
    lights, cap = pinmap().lights, cap_ma()
    white = [WHITE] * lights.count
    whites = limit_current(white, cap)
    rows = [
        "| strip shows | draws, A | lowest pixel, V, fed at the start | fed at both ends |",
        "| --- | ---: | ---: | ---: |",
    ]
    shown: list[tuple[str, Sequence[Rgb]]] = [
        ("none", [DARK] * lights.count),
        ("all white, under the cap", whites),
        ("all white, were there no cap", white),
    ]
    for name, frame in shown:
        ends = " | ".join(f"{lowest_volt(power, frame, fed):.2f}" for fed in ("start", "both"))
        rows.append(f"| {name} | {current_ma(frame) / 1000:.2f} | {ends} |")
    ends = " | ".join(f"{worst_under_cap(power, fed):.2f}" for fed in ("start", "both"))
    rows += [f"| the worst run of white under the cap | {cap / 1000:.2f} | {ends} |", "", wire_table(power)]
    rows += ["", f"The board's 3.3 V gives {sum(board_ma(power).values()):.0f} of {power.board.regulator_ma:.0f} mA."]
    return "\n".join(rows)


def wire_table(power: Power) -> str:
    """Return the wires as Markdown, each with its drop there and back at the cap."""
    rows = ["| wire | AWG | one way, m | drop, V |", "| --- | ---: | ---: | ---: |"]
    for name, wire in power.wires.items():
        metres = wire.metres or max(links_m(power))
        drop = power.ohm(name, metres) * cap_ma() / 1000
        rows.append(f"| {name.replace('_', ' ')} | {wire.awg} | {metres:.2f} | {drop:.2f} |")
    return "\n".join(rows)


def main() -> int:
    """Print the budget."""
    print(tables(values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
