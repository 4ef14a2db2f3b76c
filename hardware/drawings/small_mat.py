"""The small mat of `hardware/SMALL_MAT.md`: from above, cut through, and its strip of lights.

It lies in the plan of the whole mat (`geometry.py`), on hardboard and foam instead of slats, rim and dividers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footprints import BOARD_MM
from geometry import Box, around, blocks, build, columns, outline, pads, plate, service, strips
from page import BLACK, BLUE, COPPER, FOAM, GREEN, GREY, PALE, RED, THICK, THIN, WOOD, Page, View
from places import light_rows
from values import values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 8
"""Magnetometers."""
BLANKET_MM, HARDBOARD_MM, FOAM_LAYERS = 2.5, 3.2, 2
MUX = (31.0, 21.0)
TOUCH = (31.0, 20.0)
"""Sides of the multiplexer's and of the MPR121's module, mm: measure yours."""
LID_LAYER_MM = 50.0
"""Width of the strip that stiffens the lid from below, and brings it level with the plates."""
PIXELS_M, PIXELS = 144, 72


def layers() -> list[tuple[str, float, str]]:
    """Return name, thickness in mm and colour of each layer, from the blanket down."""
    return [
        ("blanket", BLANKET_MM, "#b9c9b0"),
        ("plate, two layers of hardboard, glued", 2 * HARDBOARD_MM, "#f3e6c8"),
        ("block, two layers of camping mat", FOAM_LAYERS * build().foam_mm, FOAM),
        ("square of hardboard", HARDBOARD_MM, "#e2c9a0"),
        ("base of hardboard", HARDBOARD_MM, WOOD),
    ]


def chip_depth_mm() -> float:
    """Return how deep below the blanket's top the chips lie, stuck to the base."""
    return sum(thick for _, thick, _ in layers()[:-1]) - build().chip_mm


def height_mm() -> float:
    """Return the height of the whole mat."""
    return sum(thick for _, thick, _ in layers())


def lid_blocks() -> list[Box]:
    """Return the blocks under the lid, one before each pad at the hiders' edge, away from the cables."""
    side, tray = build().foam_block_mm, service()
    return [around(pinmap().pads.centre(pad)[0], tray.near + side / 2, side, side) for pad in pads()]


def touch_module() -> Box:
    """Return the MPR121's module, beside the board."""
    x, y = values().harness.box_mm
    return around(x - (BOARD_MM[0] + TOUCH[0]) / 2 - 8.0, y, *TOUCH)


def pieces() -> list[tuple[str, int, str]]:
    """Return what is to be cut: name, how many, size in mm."""
    maps, (wide, deep), side = pinmap().pads, outline().size, build().foam_block_mm
    each = maps.count * len(blocks()) + len(lid_blocks())
    return [
        ("base, hardboard", 1, f"{wide:g} x {deep:g}"),
        ("lid over the cables, hardboard", 1, f"{wide:g} x {build().service_mm + build().rim_mm:g}"),
        ("second layer under the lid, hardboard", 1, f"{wide:g} x {LID_LAYER_MM:g}"),
        ("half of a plate, hardboard", 2 * maps.count, f"{maps.width_mm:g} x {maps.depth_mm:g}"),
        ("square under a block, hardboard", each, f"{side:g} x {side:g}"),
        ("layer of a block, camping mat", FOAM_LAYERS * each, f"{side:g} x {side:g}"),
    ]


def above() -> str:
    """Return the small mat from above, 1:5, without blanket and lid."""
    page = Page(
        297,
        190,
        "The small mat from above, 1:5",
        "Blanket and lid taken off. Left and right as the hider sees them; lengths in mm.",
    )
    view = View(page, 146, 94, 0.2)
    maps, harness = pinmap(), values().harness
    view.box(outline(), fill=WOOD, pen=THICK)
    view.box(service(), fill=PALE, line=GREY)
    for pad in pads():
        view.box(plate(pad), fill="#ffffff")
        for strip in strips(pad):
            view.box(strip, fill="#f7e3cf", line=COPPER)
        cx, cy = maps.pads.centre(pad)
        for block in blocks():
            view.box(Box(block.left + cx, block.near + cy, block.right + cx, block.far + cy), line=GREY, dash="1 1")
        view.disc(cx + build().disc_at_mm[0], cy + build().disc_at_mm[1], build().disc_mm, fill="#fff3b0")
        view.text(cx, cy - 32, f"pad {pad}", anchor="middle", bold=True, size=4.5)
    built = maps.magnetometers_built(SIZE)
    there = [place for place, has in zip(maps.magnetometer_positions(), built, strict=True) if has]
    trunk = harness.muxes_mm[1][1] - 16.0
    for channel, (x, y, _) in enumerate(there):
        view.box(around(x, y, *build().module_mm), fill="#dce6f5", line=BLUE)
        view.line(x + 12, y, x + 12, trunk, colour=GREEN, width=THIN, dash="1.2 0.8")
        view.text(
            x + (-12 if channel % 2 else 18),
            y - 7,
            f"channel {channel}",
            anchor=("start", "end")[channel % 2],
            size=3.2,
        )
    view.line(there[0][0] + 12, trunk, there[-1][0] + 12, trunk, colour=GREEN, dash="1.2 0.8")
    for block in lid_blocks():
        view.box(block, line=GREY, dash="1 1")
    touch = touch_module()
    for box in (around(*harness.muxes_mm[1], *MUX), around(*harness.box_mm, *BOARD_MM), touch):
        view.box(box, fill="#d8e8d8", line=GREEN)
    view.line(touch.right, harness.box_mm[1], harness.box_mm[0] - BOARD_MM[0] / 2, harness.box_mm[1], colour=GREEN)
    for pad in pads():
        view.line(maps.pads.centre(pad)[0], plate(pad).near, touch.left, harness.box_mm[1], colour=COPPER, width=THIN)
    out, (bx, by) = outline(), harness.box_mm
    view.line(bx + BOARD_MM[0] / 2, by, out.right + 20, by, out.right + 20, out.near - 12, colour=RED)
    page.text(*view.at(out.right + 24, out.near - 28), "USB, to the Pi", anchor="end", colour=RED)
    page.text(146, 38, "the hitters' edge", anchor="middle", size=5, bold=True, colour=GREY)
    page.text(146, 158, "the hiders' edge: mark it on the blanket", anchor="middle", size=5, bold=True, colour=RED)
    view.measure(out.left, out.far, out.right, out.far, off=-12)
    view.measure(out.right, out.far, out.right, out.near, off=14)
    view.measure(maps.pads.centre(1)[0], out.far, maps.pads.centre(2)[0], out.far, off=-5)
    page.note(
        10,
        168,
        """
            blue: the eight magnetometers on the base, at the first and the sixth cross of each template; x to the
            right, y away from the hider

            green: printed board, multiplexer (above it), MPR121 (left of it, with the strips' leads) and the ways of
            the cables, under the lid.  broken: blocks

            brown: touch strips on the plates.  yellow: discs under the plates
            """,
    )
    return page.svg()


def section() -> str:
    """Return the cut through a pad, 1:1."""
    page = Page(
        240,
        110,
        "A pad of the small mat, cut through, 1:1",
        f"Through a magnetometer and the blocks of foam behind it. The mat is {height_mm():.0f} mm high.",
    )
    view = View(page, 140, 52, 1.0)
    column, left, right, top = columns()[0], -130.0, 5.0, 0.0
    for name, thick, colour in layers():
        bottom = top - thick
        whole = [Box(left if name.startswith(("blanket", "base")) else -125.0, bottom, right, top)]
        found = [
            Box(box.left, bottom, min(box.right, right), top) for box in blocks() if box.near > 50 and box.left < right
        ]
        for box in found if name.startswith(("block", "square")) else whole:
            view.box(box, fill=colour, pen=THIN)
        top = bottom
    base = -sum(thick for _, thick, _ in layers()[:-1])
    half = build().module_mm[0] / 2
    view.box(Box(column - half, base, column + half, base + 1.0), fill="#ffffff", pen=THIN)
    view.box(Box(column - half, base + 1.0, column + half, base + 2.6), fill="#5b8bc9", pen=THIN)
    view.box(Box(column - 1.5, base + 2.6, column + 1.5, base + 3.4), fill=BLACK, pen=THIN)
    view.disc(column, 12.5, 25.0, fill="#f1d9c9")
    view.box(Box(column - 3, 9.5, column + 3, 15.5), fill=RED, line="none")
    view.measure(column + 12, 0, column + 12, -chip_depth_mm(), said=f"{chip_depth_mm():.1f}")
    at, names = 0.0, [(name, thick) for name, thick, _ in layers()]
    for n, (name, thick) in enumerate(names):
        x = 1.0 if not name.startswith(("block", "square")) else max(b.right for b in blocks() if b.left < right) - 20
        page.pointer(152, 50 + n * 8.5, *view.at(min(x, right - 1), at - thick / 2), f"{name}, {thick:g}")
        at -= thick
    page.pointer(96, 100, *view.at(column + 5, base + 1.8), "magnetometer on foam tape, chip up")
    page.pointer(60, 36, *view.at(column - 4, 14), "bead with its magnet", anchor="end")
    return page.svg()


def lights() -> str:
    """Return the strip of lights, 1:2."""
    page = Page(
        297,
        62,
        "The strip of the small mat, 1:2",
        f"Half a metre with {PIXELS_M} pixels a metre, in one piece.",
    )
    view, step = View(page, 24, 38, 0.5), 1000.0 / PIXELS_M
    view.box(Box(0, -6, PIXELS * step, 6), fill="#ffe9a8", line=GREY)
    for n in range(PIXELS):
        view.box(around((n + 0.5) * step, 0, 4, 4), fill="#ffffff", line=GREY)
    index = 0
    for name, count, *_ in light_rows():
        first, last = index * step, (index + count) * step
        view.line(first + 1, 14, last - 1, 14, colour=BLUE)
        view.text((first + last) / 2, 20, f"{name}: {index} to {index + count - 1}", anchor="middle", size=3.4)
        index += count
    view.text(PIXELS * step, -16, f"{index} to {PIXELS - 1} stay dark", anchor="end", size=3.4)
    view.line(-24, 0, 0, 0, colour=BLUE)
    page.text(10, 54, "all at this end: data from the board's J16, 5 V and ground from the supply's fuse", colour=BLUE)
    return page.svg()


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of each drawing."""
    yield "small-mat.svg", above()
    yield "small-section.svg", section()
    yield "small-lights.svg", lights()
