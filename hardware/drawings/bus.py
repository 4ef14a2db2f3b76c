"""The I2C bus: how long its cables are, what they weigh in picofarads, and how fast a line rises.

A line rises from 30 to 70 per cent of the supply in 0.847 R C: R all pull-ups that are on it at once, C every pin and
every metre. An open channel of a multiplexer adds its own pull-up and its own cable to the trunk.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from values import Values

RISE = math.log(0.7 / 0.3)
CHANNELS = 8
"""Of one TCA9548A."""


@dataclass(frozen=True, slots=True)
class Line:
    """One state of the bus: which channel is open, the pull-ups in parallel, the capacitance, the cable."""

    name: str
    ohm: float
    farad: float
    metres: float

    @property
    def rise_s(self) -> float:
        """Seconds from 30 to 70 per cent."""
        return RISE * self.ohm * self.farad


def way(v: Values, *points: tuple[float, float]) -> float:
    """Return the cable through `points` (mm), laid square to the mat's edges, in metres."""
    pairs = itertools.pairwise(points)
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) + v.harness.slack_mm for a, b in pairs) / 1000.0


def multiplexers(v: Values, size: int) -> list[tuple[float, float]]:
    """Return the places of the multiplexers of a mat of `size` magnetometers, mm, in the order of their addresses."""
    places = v.harness.muxes_mm
    match -(-size // CHANNELS):
        case 1:
            return [min(places, key=lambda mux: abs(mux[0] - v.harness.box_mm[0]))]
        case 2:
            return [places[0], places[-1]]
        case _:
            return list(places)


def trunk_m(v: Values, size: int = 24) -> list[float]:
    """Return the cables of the trunk, m: from the box to the nearest multiplexer, from it to each of the others."""
    box, muxes = v.harness.box_mm, multiplexers(v, size)
    middle = min(muxes, key=lambda mux: abs(mux[0] - box[0]))
    return [way(v, box, middle), *(way(v, middle, mux) for mux in muxes if mux != middle)]


def star_m(v: Values) -> list[float]:
    """Return the trunk's cables if each multiplexer has its own from the box, m."""
    return [way(v, v.harness.box_mm, mux) for mux in v.harness.muxes_mm]


def sensor_m(v: Values, size: int = 24) -> dict[int, float]:
    """Return the cable of each magnetometer of a mat of `size` to its multiplexer, m, by its number (0 first)."""
    pins, muxes = pinmap(), multiplexers(v, size)
    places = pins.magnetometer_positions()
    built = [i for i, there in enumerate(pins.magnetometers_built(size)) if there]
    return {i: way(v, muxes[n // CHANNELS], places[i][:2]) for n, i in enumerate(built)}


def electrode_m(v: Values) -> list[float]:
    """Return the lead of each touch strip's near end to the box in wire order, m."""
    pads, strips = pinmap().pads, pinmap().touch.strips
    rows = [pads.depth_mm * ((i + 0.5) / len(strips) - 0.5) for i in range(len(strips))]
    return [way(v, v.harness.box_mm, (pads.centre(pad)[0], y)) for pad in range(1, pads.count + 1) for y in rows]


def lines(v: Values) -> list[Line]:
    """Return every state of the bus: no channel open, then each of the magnetometers'."""
    m, board = v.model["bus"], pinmap().board
    muxes = len(board.tca9548a_addresses)
    trunk = v.harness.touch_m + sum(trunk_m(v))
    pulls = [v.bus["data_pullup_ohm"], m["touch_pullup_ohm"], *[m["mux_pullup_ohm"]] * muxes]
    siemens = sum(1.0 / ohm for ohm in pulls)
    farad = m["board_farad"] + m["touch_farad"] + muxes * m["mux_farad"]
    farad += trunk * m["cable_farad_m"] + 2 * (muxes + 1) * m["plug_farad"]
    found = [Line("no channel", 1.0 / siemens, farad, trunk)]
    for i, metres in sensor_m(v).items():
        more = m["magnetometer_farad"] + metres * m["cable_farad_m"] + 2 * m["plug_farad"]
        ohm = 1.0 / (siemens + 1.0 / m["magnetometer_pullup_ohm"])
        found.append(Line(f"magnetometer {i + 1}", ohm, farad + more, trunk + metres))
    return found


def light_line(v: Values, *, bare: bool = False) -> Line:
    """Return the bus of the build without magnetometers: board and MPR121; `bare` without R1 and R2."""
    m, metres = v.model["bus"], v.harness.touch_m
    siemens = 1.0 / m["touch_pullup_ohm"] + (0.0 if bare else 1.0 / v.bus["data_pullup_ohm"])
    farad = m["board_farad"] + m["touch_farad"] + metres * m["cable_farad_m"] + 2 * m["plug_farad"]
    return Line("light, bare" if bare else "light", 1.0 / siemens, farad, metres)


def spare_m(v: Values) -> float:
    """Return how many metres of cable the slowest state of the bus could take on before it breaks the standard."""
    m = v.model["bus"]
    return min(
        (min(m["rise_s"] / (RISE * line.ohm), m["most_farad"]) - line.farad) / m["cable_farad_m"] for line in lines(v)
    )
