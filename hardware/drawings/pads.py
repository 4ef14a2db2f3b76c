"""One pad: cut through from side to side at full size, and taken apart layer by layer."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

from geometry import Box, Build, blocks, build, columns, flat, strips
from page import BLACK, BLUE, FOAM, GREEN, GREY, RED, SLAT, THICK, THIN, WOOD, Page, View

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

BALL_MM = 25.0
LEFT, RIGHT = -158.0, 34.0
"""The part of the pad that the section shows, x from its centre."""


def levels(built: Build) -> dict[str, tuple[float, float]]:
    """Return the top and the bottom of each layer, z in mm, from the cover down."""
    top = 0.0
    found: dict[str, tuple[float, float]] = {}
    for name in ("cover", "plate", "foam", "slat", "base"):
        thick = getattr(built, f"{name}_mm")
        found[name] = (top, top - thick)
        top -= thick
    return found


def section(built: Build) -> str:
    """Return the cut through a pad along its middle row of magnetometers, 1:1."""
    page = Page(
        297,
        150,
        "A pad of the flat mat, cut through, 1:1" if built == flat() else "A pad, cut through, 1:1",
        "Along its middle (y = 0), from the gap beside it to past its centre. Print at 100 %: the blue bar is 100 mm.",
    )
    view = View(page, 172, 74, 1.0)
    depth = -built.chip_z
    at = levels(built)
    half_pad, half_way = pinmap().pads.width_mm / 2, built.channel_mm / 2
    column = columns()[0]
    clear = built.clear_mm
    _layer(view, LEFT, RIGHT, *at["base"], WOOD)
    shown = [one for one in blocks() if one.near <= 0 <= one.far and one.left < RIGHT]
    _layer(view, -half_pad, RIGHT, *at["foam"], "#ffffff")
    if built == flat():
        for block in shown:
            _layer(view, block.left, block.right, *at["slat"], SLAT)
    else:
        _layer(view, LEFT, column - half_way, *at["slat"], SLAT)
        _layer(view, column + half_way, RIGHT, *at["slat"], SLAT)
    divider_right = -half_pad - clear
    _layer(view, LEFT, divider_right, at["plate"][0], at["slat" if built == flat() else "foam"][1], WOOD)
    for block in shown:
        _layer(view, block.left, block.right, *at["foam"], FOAM)
    _layer(view, -half_pad, RIGHT, *at["plate"], "#f3e6c8")
    _layer(view, LEFT, RIGHT, *at["cover"], "#b9c9b0")
    strip = strips(1)[1]
    inset = (pinmap().pads.width_mm - (strip.right - strip.left)) / 2
    view.line(-half_pad + inset, at["plate"][0], RIGHT, at["plate"][0], colour="#b4641a", width=0.9)
    disc, middle = built.disc_mm / 2, built.disc_at_mm[0]
    _layer(view, middle - disc, min(middle + disc, RIGHT), at["plate"][1], at["plate"][1] - 0.5, "#d8b200")
    _module(view, built, column)
    _bead_and_cloth(page, view, column)
    view.measure(column + 22, 0, column + 22, -depth, said=f"{depth:g}")
    page.line(172 + column + 1, 74 + depth, 172 + column + 24, 74 + depth, colour=BLUE, width=THIN)
    view.measure(column - 24, BALL_MM / 2, column - 24, -depth, said=f"{depth + BALL_MM / 2:g}")
    page.line(172 + column - 26, 74 - BALL_MM / 2, 172 + column, 74 - BALL_MM / 2, colour=BLUE, width=THIN)
    page.line(172 + column - 26, 74 + depth, 172 + column - 8, 74 + depth, colour=BLUE, width=THIN)
    _names(page, view, built)
    page.line(172, 44, 172, 118, colour=GREY, width=THIN, dash="4 1 1 1")
    page.text(172, 123, "the pad's centre", anchor="middle", colour=GREY, size=3.2)
    page.line(14, 128, 114, 128, colour=BLUE, width=THICK)
    for x in (14, 64, 114):
        page.line(x, 126, x, 130, colour=BLUE)
    page.text(64, 134, "100 mm", anchor="middle", colour=BLUE)
    said = "The disc's middle is beside this cut, the blocks of foam shown are those nearest to it."
    if built != flat():
        said += """
            Instead of the disc: an FSR 406 on the middle slat, in the plate's very middle, under a rubber
            block half a millimetre higher than the foam.
            """
    page.note(14, 143, said)
    return page.svg()


def _layer(view: View, left: float, right: float, top: float, bottom: float, fill: str) -> None:
    view.box(Box(left, bottom, right, top), fill=fill, pen=THIN)


def _module(view: View, built: Build, x: float) -> None:
    """Draw a magnetometer's module on the base: tape, board, chip."""
    top, half = built.base_top, build().module_mm[0] / 2
    _layer(view, x - half, x + half, top + 1.0, top, "#ffffff")
    _layer(view, x - half, x + half, top + 2.6, top + 1.0, "#5b8bc9")
    _layer(view, x - 1.5, x + 1.5, top + 3.4, top + 2.6, BLACK)


def _bead_and_cloth(page: Page, view: View, x: float) -> None:
    radius = BALL_MM / 2
    view.disc(x, radius, BALL_MM, fill="#f1d9c9")
    view.box(Box(x - 3, radius - 3, x + 3, radius + 3), fill=RED, line="none")
    points = [(-140, 2), (-100, 4), (x - 30, 9), (x - 16, 22), (x, BALL_MM + 2.5), (x + 16, 22), (x + 30, 9), (0, 5)]
    flat = [value for px, py in [*points, (RIGHT, 4)] for value in view.at(px, py)]
    page.line(*flat, colour="#7a3b69", width=1.2)


def _names(page: Page, view: View, built: Build) -> None:
    at, right = levels(built), 214.0
    under, x = (f"square, hardboard {built.slat_mm:g}", min(blocks()).left + 30) if built == flat() else ("", RIGHT - 8)
    middle = {name: (top + bottom) / 2 for name, (top, bottom) in at.items()}
    labels = (
        (4.3, 25.0, "moccasin: loose cloth, lined or folded"),
        (middle["cover"], RIGHT - 4, f"cover, felt {build().cover_mm:g}"),
        (at["plate"][0], RIGHT - 7, "touch strips, copper under clear tape"),
        (middle["plate"], RIGHT - 10, f"plate, plywood {build().plate_mm:g}, floats"),
        (middle["slat"], x, under or f"slat, {built.slat_mm:g}"),
        (middle["base"], RIGHT - 6, f"base, {built.base_mm:g}"),
    )
    for n, (z, x, said) in enumerate(labels):
        px, py = view.at(x, z)
        page.pointer(right, 62 + n * 9.4, px, py, said)
    page.pointer(100, 40, *view.at(columns()[0] - 1, BALL_MM / 2 + 1), "bead with its magnet", anchor="end")
    page.pointer(60, 122, *view.at(columns()[0] - 5, built.base_top + 1.8), "magnetometer, chip up", anchor="end")
    page.pointer(168, 47, *view.at(middle_of_disc() - 4, at["plate"][1] - 0.3), "disc, glued", anchor="end")
    page.text(*view.at(-half_gap(), -11.3), "divider", anchor="middle", size=3.4)
    left = min(blocks()).left
    page.text(*view.at(left + 2, middle["foam"] - 1.2), f"foam, {built.foam_mm:g}", size=3.4)


def middle_of_disc() -> float:
    """Return where the disc's middle is, x from the pad's centre."""
    return build().disc_at_mm[0]


def half_gap() -> float:
    """Return where the middle of the drawn part of the divider is, x to the left of the centre."""
    return (-LEFT + pinmap().pads.width_mm / 2 + build().clear_mm) / 2


def apart() -> str:
    """Return a pad taken apart, 1:4, in slanting projection."""
    page = Page(210, 297, "A pad taken apart, 1:4", "From the bottom up: the order in which it is put together.")
    maps = pinmap()
    layers = (
        ("8", "moccasin: the players' own cloth", "#c9a6c0"),
        ("7", "cover of felt over the whole mat", "#b9c9b0"),
        ("6", "three touch strips, copper under tape", "none"),
        ("5", "stiff plate, plywood", "#f3e6c8"),
        ("4", "piezo disc, under the plate", "none"),
        ("3", "eight blocks of foam on the slats", "none"),
        ("2", "slats with two channels", SLAT),
        ("1", "base with six magnetometers", WOOD),
    )
    step = 29.5
    for n, (number, said, fill) in enumerate(layers):
        low = 62.0 + n * step
        slant = Slant(page, 16.0, low)
        if number not in {"6", "4", "3"}:
            wide = maps.pads.width_mm + (20 if number in {"7", "2", "1"} else 0)
            slant.sheet(-wide / 2, maps.pads.depth_mm / 2, wide, maps.pads.depth_mm, fill)
        _draw_layer(slant, number)
        page.circle(124, low - 14, 4, fill=BLUE, line="none")
        page.text(124, low - 12.6, number, anchor="middle", colour="#ffffff", bold=True, size=4)
        page.text(131, low - 12.7, said)
    return page.svg()


class Slant:
    """A slanting view of a level sheet: x to the right, y up and to the right."""

    SCALE, LEAN, LIFT = 0.25, 0.12, 0.085

    def __init__(self, page: Page, x: float, y: float) -> None:
        self.page, self.x, self.y = page, x + 36.0, y - 13.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where (x, y) of the pad is on the page."""
        return self.x + x * self.SCALE + (y + 150.0) * self.LEAN, self.y - y * self.LIFT

    def sheet(self, left: float, far: float, width: float, depth: float, fill: str, line: str = BLACK) -> None:
        """Draw a level rectangle."""
        corners = ((left, far), (left + width, far), (left + width, far - depth), (left, far - depth))
        self.page.shape(*(value for x, y in corners for value in self.at(x, y)), fill=fill, line=line)

    def spot(self, x: float, y: float, diameter: float, fill: str) -> None:
        """Draw a disc lying level."""
        px, py = self.at(x, y)
        wide, high = diameter / 2 * self.SCALE, diameter / 2 * self.LIFT * 1.1
        points = [(cos(n * pi / 16), sin(n * pi / 16)) for n in range(32)]
        self.page.shape(*(v for a, b in points for v in (px + a * wide, py + b * high)), fill=fill)


def _draw_layer(slant: Slant, number: str) -> None:
    maps, built = pinmap(), build()
    if number == "6":
        centre = maps.pads.centre(1)[0]
        for strip in strips(1):
            slant.sheet(strip.left - centre, strip.far, strip.right - strip.left, strip.far - strip.near, "#eebf92")
    elif number == "4":
        slant.spot(*built.disc_at_mm, built.disc_mm, "#e8c511")
    elif number == "3":
        for block in blocks():
            slant.sheet(block.left, block.far, block.right - block.left, block.far - block.near, FOAM)
    elif number == "2":
        for x in columns():
            slant.sheet(x - built.channel_mm / 2, 150, built.channel_mm, 300, "#ffffff")
    elif number == "1":
        for x, y in maps.magnetometers.offsets_mm:
            wide, deep = built.module_mm
            slant.sheet(x - wide / 2, y + deep / 2, wide, deep, "#5b8bc9")
        ends = [slant.at(columns()[-1] + 20, -60), slant.at(columns()[-1] + 50, -60), slant.at(columns()[-1] + 20, 40)]
        slant.page.line(*ends[0], *ends[1], colour=GREEN)
        slant.page.text(ends[1][0] + 0.6, ends[1][1] + 1, "x", colour=GREEN, size=3.2)
        slant.page.line(*ends[0], *ends[2], colour=GREEN)
        slant.page.text(ends[2][0] + 0.6, ends[2][1], "y", colour=GREEN, size=3.2)


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of each drawing."""
    yield "pad-section.svg", section(build())
    yield "pad-section-flat.svg", section(flat())
    yield "pad-apart.svg", apart()
