"""The mat as it is built: what `[build]` in the pin map says, and every piece that follows from it. Lengths in mm.

x to the right as the hider sees it, y away from the hider, z up from the top of the cover, as in the pin map.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from values import values

from pi_controller.pinmap import pinmap

HARDWARE = Path(__file__).parent.parent


class Flat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[build.flat]` of the pin map: what is different in the flat mat."""

    depth_mm: float
    slat_mm: float
    base_mm: float


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[build]` of the pin map."""

    cover_mm: float
    plate_mm: float
    foam_mm: float
    slat_mm: float
    base_mm: float
    chip_mm: float
    clear_mm: float
    rim_mm: float
    channel_mm: float
    service_mm: float
    usb_notch_mm: tuple[float, float]
    strip_gap_mm: float
    foam_block_mm: float
    foam_blocks_mm: tuple[tuple[float, float], ...]
    disc_mm: float
    disc_at_mm: tuple[float, float]
    module_mm: tuple[float, float]
    flat: Flat

    @property
    def chip_z(self) -> float:
        """Where the stack puts the middle of a magnetometer's chip; the pin map's depth, or the stack is wrong."""
        return self.base_top + self.chip_mm

    @property
    def base_top(self) -> float:
        """The top of the base."""
        return -(self.cover_mm + self.plate_mm + self.foam_mm + self.slat_mm)

    @property
    def height_mm(self) -> float:
        """The height of the whole mat."""
        return self.base_mm - self.base_top


class Box(NamedTuple):
    """An upright rectangle."""

    left: float
    near: float
    right: float
    far: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and depth."""
        return self.right - self.left, self.far - self.near


@cache
def build() -> Build:
    """Return `[build]`."""
    return msgspec.convert(tomllib.loads((HARDWARE / "pinmap.toml").read_text("utf-8"))["build"], Build)


@cache
def flat() -> Build:
    """Return the flat mat: squares of hardboard under the blocks in place of the slats, and a thinner base."""
    changes = build().flat
    return msgspec.structs.replace(build(), slat_mm=changes.slat_mm, base_mm=changes.base_mm)


def around(x: float, y: float, width: float, depth: float) -> Box:
    """Return the rectangle with its middle at (x, y)."""
    return Box(x - width / 2, y - depth / 2, x + width / 2, y + depth / 2)


def pads() -> range:
    """Return the pads' numbers."""
    return range(1, pinmap().pads.count + 1)


def plate(pad: int) -> Box:
    """Return the plate of a pad."""
    maps = pinmap().pads
    return around(*maps.centre(pad), maps.width_mm, maps.depth_mm)


def well() -> Box:
    """Return the space that the plates lie in: all of them and what is clear around."""
    first, last, clear = plate(1), plate(pinmap().pads.count), build().clear_mm
    return Box(first.left - clear, first.near - clear, last.right + clear, first.far + clear)


def outline() -> Box:
    """Return the outline of the mat: the base."""
    inner, built = well(), build()
    rim = built.rim_mm
    return Box(inner.left - rim, inner.near - built.service_mm - rim, inner.right + rim, inner.far + rim)


def service() -> Box:
    """Return the inside of the tray along the hiders' edge."""
    inner, near = well(), well().near
    return Box(inner.left, near - build().service_mm, inner.right, near)


def strips(pad: int) -> list[Box]:
    """Return the touch strips of a pad, the hider's first."""
    at, count, gap = plate(pad), len(pinmap().touch.strips), build().strip_gap_mm
    deep = pinmap().pads.depth_mm / count
    return [
        Box(at.left + gap / 2, at.near + n * deep + gap / 2, at.right - gap / 2, at.near + (n + 1) * deep - gap / 2)
        for n in range(count)
    ]


def columns() -> list[float]:
    """Return the x of the columns of magnetometers, from the pad's centre."""
    return sorted({x for x, _ in pinmap().magnetometers.offsets_mm})


def channels() -> list[Box]:
    """Return the channels of the whole mat, from the left."""
    half, near, far = build().channel_mm / 2, well().near, outline().far
    return [
        Box(pinmap().pads.centre(pad)[0] + x - half, near, pinmap().pads.centre(pad)[0] + x + half, far)
        for pad in pads()
        for x in columns()
    ]


def slats() -> list[Box]:
    """Return the boards between the channels, from the left."""
    ways, out = channels(), outline()
    lefts = [out.left, *(way.right for way in ways)]
    rights = [*(way.left for way in ways), out.right]
    return [Box(left, ways[0].near, right, out.far) for left, right in zip(lefts, rights, strict=True)]


def dividers() -> list[Box]:
    """Return the battens between neighbouring plates, on the slats, as high as foam and plate."""
    clear = build().clear_mm
    return [
        Box(plate(pad).right + clear, well().near, plate(pad + 1).left - clear, well().far) for pad in list(pads())[:-1]
    ]


def beside_channels(x: float, wide: float) -> float:
    """Return where a piece stands, x from its pad's centre: at `x`, or to the right of a channel that is there."""
    for way in columns():
        clear = (wide + build().channel_mm) / 2
        if abs(x - way) < clear:
            return way + clear + build().clear_mm
    return x


def blocks() -> list[Box]:
    """Return the blocks of foam under a plate, from its centre: where the pin map has them, or beside a channel."""
    side = build().foam_block_mm
    spots = [(beside_channels(x, side) if y < 0 else -beside_channels(-x, side), y) for x, y in build().foam_blocks_mm]
    return [around(x, y, side, side) for x, y in spots]


def posts() -> list[Box]:
    """Return the posts that bear the lid's free edge: one at each pad's middle, or beside the channel that is there."""
    inner, built = well(), build()
    wide = built.channel_mm
    middles = [pinmap().pads.centre(pad)[0] + beside_channels(0.0, wide) for pad in pads()]
    return [Box(x - wide / 2, inner.near - built.rim_mm, x + wide / 2, inner.near) for x in middles]


def usb_notch() -> Box:
    """Return the notch in the tray's right wall, level with the board's box, that the USB cable leaves through."""
    y = values().harness.box_mm[1]
    return Box(service().right, y - build().usb_notch_mm[0] / 2, outline().right, y + build().usb_notch_mm[0] / 2)


def tape_m(wide_mm: float, beyond_mm: float = 0.0) -> float:
    """Return the tape of a width that covers all touch strips and `beyond_mm` around each, m."""
    return (
        sum(
            math.ceil((strip.size[1] + 2 * beyond_mm) / wide_mm) * (strip.size[0] + 2 * beyond_mm)
            for pad in pads()
            for strip in strips(pad)
        )
        / 1000.0
    )


def pieces(built: Build | None = None) -> list[tuple[str, int, str, str]]:
    """Return what is to be cut for the mat, or for the `flat` one: name, how many, size, and of what."""
    built, out, maps = built or build(), outline(), pinmap()
    is_flat = built == flat()
    high = built.plate_mm + built.foam_mm
    wall = built.slat_mm + built.foam_mm
    wide, deep = out.size
    side, count = built.foam_block_mm, maps.pads.count * len(blocks())
    found = [
        ("base", 1, _size(wide, deep, built.base_mm), "plywood"),
        ("plate", maps.pads.count, _size(maps.pads.width_mm, maps.pads.depth_mm, built.plate_mm), "plywood, stiff"),
        ("lid of the tray", 1, _size(wide, built.service_mm + built.rim_mm, built.plate_mm), "plywood"),
        ("block of foam", count, _size(side, side, built.foam_mm), "camping mat, PE"),
    ]
    if is_flat:  # rim and dividers stand on the base
        found.append(("square under a block", count, _size(side, side, built.slat_mm), "hardboard"))
        high += built.slat_mm
    else:
        sizes = [(round(slat.right - slat.left, 1), slat.far - slat.near) for slat in slats()]
        names = {sizes[0]: "slat, at the ends", sizes[1]: "slat, under a pad's middle", sizes[2]: "slat, between pads"}
        found += [
            (name, sizes.count(size), _size(*size, built.slat_mm), "plywood or MDF") for size, name in names.items()
        ]
    divider = dividers()[0].size
    found += [
        ("divider", len(dividers()), _size(*divider, high), "wood"),
        ("rim, far edge", 1, _size(wide, built.rim_mm, high), "wood"),
        ("rim, left and right", 2, _size(built.rim_mm, well().far - well().near, high), "wood"),
        ("tray's wall, hiders' edge", 1, _size(wide, built.rim_mm, wall), "wood"),
        ("tray's wall, left", 1, _size(built.rim_mm, built.service_mm, wall), "wood"),
        (f"tray's wall, right, {_way_out(wall)}", 1, _size(built.rim_mm, built.service_mm, wall), "wood"),
        ("post under the lid", len(posts()), _size(*posts()[0].size, wall), "wood"),
        ("cover", 1, _size(wide, deep, built.cover_mm), "felt, and as much more as is tucked under"),
    ]
    return found


def _way_out(wall_mm: float) -> str:
    """Return how the tray's right wall is cut for the USB cable: a low one has a gap instead of a notch."""
    (wide, high), near = build().usb_notch_mm, usb_notch().near - service().near
    if 2 * high > wall_mm:
        return f"with a gap of {wide:g}, {near:g} from its near end"
    return f"with a notch {wide:g} x {high:g} in its lower edge, {near:g} from its near end"


def _size(width: float, depth: float, height: float) -> str:
    return f"{width:g} x {depth:g} x {height:g}"
