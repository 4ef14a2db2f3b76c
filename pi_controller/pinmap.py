"""Typed values of `hardware/pinmap.toml`, read once. Lengths in mm, rates in Hz, fields in microtesla."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import msgspec

_HERE = Path(__file__).parent


class BoardMap(msgspec.Struct, frozen=True):
    """Pins, addresses and rates of the mat board."""

    adc_pins: tuple[int, ...]
    adc_bits: int
    sample_hz: int
    block_samples: int
    i2c: dict[str, int]
    mpr121_address: int
    tca9548a_addresses: tuple[int, ...]
    qmc5883l_address: int
    qmc5883p_address: int
    touch_hz: int
    magnet_hz: int
    bias_pin: int
    strip_pin: int
    leds: dict[str, int]


class Mcp3008Map(msgspec.Struct, frozen=True):
    """The ADC on the Pi's own pins: SPI port and device, pins (BCM), the channels of the pads in order."""

    port: int
    device: int
    pins: tuple[int, ...]
    hz: int
    channels: tuple[int, ...]
    bits: int


class Mpr121Map(msgspec.Struct, frozen=True):
    """The touch chip on the Pi's own pins: its I2C pins (BCM), address and scans a second."""

    pins: tuple[int, ...]
    address: int
    hz: int


class PiMap(msgspec.Struct, frozen=True):
    """Pins of the Raspberry Pi (BCM numbers); `team_buttons` take the place of `ready` at a tournament."""

    strip_pin: int
    buttons: dict[str, int]
    team_buttons: dict[str, int]
    mcp3008: Mcp3008Map
    mpr121: Mpr121Map


class Pads(msgspec.Struct, frozen=True):
    """Number, size and spacing of the pads."""

    count: int
    width_mm: float
    depth_mm: float
    pitch_mm: float

    def centre(self, pad: int) -> tuple[float, float]:
        """Return the (x, y) of the centre of pad 1 to `count`, mm."""
        return (pad - (self.count + 1) / 2) * self.pitch_mm, 0.0

    def at(self, x: float, y: float) -> int | None:
        """Return the pad that covers the point (mm), or None between and beyond the pads."""
        for pad in range(1, self.count + 1):
            cx, cy = self.centre(pad)
            if abs(x - cx) <= self.width_mm / 2 and abs(y - cy) <= self.depth_mm / 2:
                return pad
        return None


class Magnetometers(msgspec.Struct, frozen=True):
    """Positions of the magnetometers in a pad, and the scale of their counts.

    `built` are the sizes of a mat: the number of its magnetometers, as text, and the places (from 1) in each pad.
    """

    offsets_mm: tuple[tuple[float, float], ...]
    depth_mm: float
    counts_per_ut: float
    qmc5883p_counts_per_ut: float
    range_ut: float
    built: dict[str, tuple[int, ...]]


class TouchPins(msgspec.Struct, frozen=True):
    """The touch strips of a pad, in electrode order."""

    strips: tuple[str, ...]


class Lights(msgspec.Struct, frozen=True):
    """Number of pixels of each part of the strip, in order."""

    a: int
    b: int
    middle: int
    short: int

    @property
    def count(self) -> int:
        """The number of all pixels."""
        return self.a + self.b + self.middle + self.short


class PinMap(msgspec.Struct, frozen=True):
    """The whole of `hardware/pinmap.toml`."""

    board: BoardMap
    pi: PiMap
    pads: Pads
    magnetometers: Magnetometers
    touch: TouchPins
    lights: Lights

    def magnetometer_positions(self, depth_mm: float | None = None) -> tuple[tuple[float, float, float], ...]:
        """Return (x, y, z) of every magnetometer in wire order, mm: pad 1's six first.

        `depth_mm` is how deep they lie below the mat's surface, None as the pin map says.
        """
        z = -self.magnetometers.depth_mm if depth_mm is None else -depth_mm
        return tuple(
            (self.pads.centre(pad)[0] + dx, self.pads.centre(pad)[1] + dy, z)
            for pad in range(1, self.pads.count + 1)
            for dx, dy in self.magnetometers.offsets_mm
        )

    def magnetometers_built(self, count: int | None = None) -> tuple[bool, ...]:
        """Return for each place in wire order whether a mat of `count` magnetometers has one there.

        `count` is 0 or a size in `built`; None is a whole mat.
        """
        each = range(1, len(self.magnetometers.offsets_mm) + 1)
        places = each if count is None else self.magnetometers.built[str(count)] if count else ()
        return tuple(place in places for _ in range(self.pads.count) for place in each)


def shipped_file(folder: str, name: str) -> Path:
    """Return the path of a file of `folder`, in the source tree or inside an installed package."""
    inside = _HERE / f"_{folder}" / name
    return inside if inside.exists() else _HERE.parent / folder / name


@cache
def pinmap() -> PinMap:
    """Return the pin map."""
    return msgspec.convert(tomllib.loads(shipped_file("hardware", "pinmap.toml").read_text("utf-8")), PinMap)
