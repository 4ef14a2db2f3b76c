"""The template of a pad at full size, and the same in pages of A4 and A3 to print, glue together and work from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from geometry import Box, around, beside_channels, blocks, build, columns, strips
from page import BLACK, BLUE, GREEN, GREY, RED, THICK, THIN, Page, View

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELD = Box(-132.0, -160.0, 132.0, 180.0)
"""What the template shows, from the pad's centre."""
MARGIN_MM = 12.0
"""What printers leave white, and room for the page's name."""
OVERLAP_MM = 10.0
BAR_MM = 100.0


class Paper(NamedTuple):
    """A size of paper, upright."""

    name: str
    width: float
    height: float


PAPERS = (Paper("A4", 210.0, 297.0), Paper("A3", 297.0, 420.0))


class Tile(NamedTuple):
    """One page: where it stands among them, and its part of the field, from the field's upper left corner, mm."""

    row: int
    column: int
    left: float
    top: float
    width: float
    height: float


def tiles(paper: Paper) -> list[Tile]:
    """Return the pages that cover the field, each overlapping its neighbours, all of one size."""
    wide, high = FIELD.size
    across, width = _shares(wide, paper.width - 2 * MARGIN_MM)
    down, height = _shares(high, paper.height - 2 * MARGIN_MM)
    return [
        Tile(row, column, column * (width - OVERLAP_MM), row * (height - OVERLAP_MM), width, height)
        for row in range(down)
        for column in range(across)
    ]


def _shares(length: float, most: float) -> tuple[int, float]:
    """Return how many pieces of at most `most` mm cover `length`, and how long each is."""
    count = 1
    while count * most - (count - 1) * OVERLAP_MM < length:
        count += 1
    return count, (length + (count - 1) * OVERLAP_MM) / count


def _draw(page: Page, left: float, top: float) -> None:
    """Draw the template with the upper left corner of its field at (left, top)."""
    view = View(page, left - FIELD.left, top + FIELD.far, 1.0)
    pads, built = pinmap().pads, build()
    half = built.channel_mm / 2
    plate = around(0, 0, pads.width_mm, pads.depth_mm)
    centre = pads.centre(1)[0]
    for strip, name in zip(strips(1), pinmap().touch.strips, strict=True):
        box = Box(strip.left - centre, strip.near, strip.right - centre, strip.far)
        view.box(box, line="#b4641a", dash="3 1.5")
        view.text(box.left + 4, box.far - 8, f"touch strip, {name}", colour="#b4641a")
    for x in columns():
        for edge in (x - half, x + half):
            view.line(edge, FIELD.near, edge, FIELD.far, colour=GREEN)
        view.text(x, plate.far + 10, "channel", anchor="middle", colour=GREEN)
    view.text(beside_channels(0, built.channel_mm), plate.far + 10, "slat", anchor="middle", colour=GREEN)
    view.box(plate, pen=THICK)
    view.text(0, plate.far + 2.5, "plate: cut at the thick line", anchor="middle", bold=True, size=3.2)
    view.line(0, -4, 0, 4, width=THIN)
    view.line(-4, 0, 4, 0, width=THIN)
    x, y = built.disc_at_mm
    view.disc(x, y, built.disc_mm, line=BLACK)
    view.line(x - 4, y, x + 4, y, width=THIN)
    view.line(x, y - 4, x, y + 4, width=THIN)
    view.text(x, y + 16, f"disc {built.disc_mm:g}, under the plate", anchor="middle", size=3.2)
    for block in blocks():
        view.box(block, line=GREY, dash="2 2")
        view.text(block.left + 12, block.near + 4, "foam block", colour=GREY, size=3.2)
    for n, (x, y) in enumerate(pinmap().magnetometers.offsets_mm):
        view.box(around(x, y, *built.module_mm), line=BLUE)
        view.line(x - 4, y, x + 4, y, colour=RED, width=THIN)
        view.line(x, y - 4, x, y + 4, colour=RED, width=THIN)
        view.text(x, y + 11, f"{n + 1}, +6 a pad", anchor="middle", colour=BLUE, size=3)
        view.text(x, y - 14, f"x {x:g}  y {y:g}", anchor="middle", colour=BLUE, size=3)
    _axes(view)
    view.text(0, plate.near - 6, "THE HIDERS' EDGE", anchor="middle", bold=True, size=5, colour=RED)
    view.text(0, FIELD.far - 6, "the hitters' edge", anchor="middle", bold=True, colour=GREY)


def _axes(view: View) -> None:
    x, y = 82.0, -92.0
    view.line(x, y, x + 26, y, x + 23, y + 1.5, colour=GREEN)
    view.line(x, y, x, y + 26, x + 1.5, y + 23, colour=GREEN)
    view.text(x + 27, y - 1, "x", colour=GREEN)
    view.text(x - 1, y + 28, "y", colour=GREEN)
    view.text(x + 1, y - 5, "of each module, chip up", colour=GREEN, size=3)


def whole() -> str:
    """Return the whole template on one sheet of its own size."""
    wide, high = FIELD.size
    page = Page(
        wide + 20,
        high + 34,
        "Template of a pad, 1:1",
        "Red crosses: the middle of each magnetometer's chip. Lengths in mm.",
    )
    _draw(page, 10, 24)
    _bar(page, 10, high + 29)
    return page.svg()


def _bar(page: Page, x: float, y: float) -> None:
    """Draw what shows whether a print is true to size."""
    page.line(x, y, x + BAR_MM, y, width=THICK)
    for n in range(11):
        page.line(x + n * BAR_MM / 10, y - (2.5 if n % 5 == 0 else 1.5), x + n * BAR_MM / 10, y)
    page.text(x + BAR_MM + 2, y, f"this bar must be {BAR_MM:g} mm long", size=3.2)


def tile(paper: Paper, number: int, count: int, part: Tile) -> str:
    """Return one page."""
    name = f"pad, {paper.name}, page {number} of {count}: row {part.row + 1}, column {part.column + 1}"
    page = Page(paper.width, paper.height, about=f"Template of a {name}")
    x, y = (paper.width - part.width) / 2, (paper.height - part.height) / 2
    page.window(x, y, part.width, part.height, part.left, part.top)
    _draw(page, 0, 0)
    page.whole()
    for cx, dx in ((x, -1), (x + part.width, 1)):
        for cy, dy in ((y, -1), (y + part.height, 1)):
            page.line(cx + dx * 1, cy, cx + dx * 7, cy, width=THIN)
            page.line(cx, cy + dy * 1, cx, cy + dy * 7, width=THIN)
    if part.left > 0:
        page.rect(x, y, OVERLAP_MM, part.height, line=GREY, pen=THIN, dash="1 3")
    if part.top > 0:
        page.rect(x, y, part.width, OVERLAP_MM, line=GREY, pen=THIN, dash="1 3")
    page.text(x + 10, y - 4, name, bold=True)
    page.text(x + 10 + 96, y - 4, "print at 100 %", size=3.2)
    if part.left or part.top:
        page.text(
            x + 10, y + part.height + 20, "lay the dotted strip over the page before it, crosses on crosses", size=3.2
        )
    _bar(page, x + 10, y + part.height + 13)
    return page.svg()


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of each drawing."""
    yield "pad-template.svg", whole()
    for paper in PAPERS:
        parts = tiles(paper)
        for number, part in enumerate(parts, 1):
            yield f"pad-{paper.name.lower()}-{number}.svg", tile(paper, number, len(parts), part)
