"""The drawing of the printed board for the guide: both sides, from the shapes that the maker's files have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nets
from footprints import SCREW_HOLE_MM, SUPPLY_MM, VIA_HOLE_MM, VIA_MM, Shape
from page import BLACK, BLUE, Page
from silkscreen import INK_MM, strokes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footprints import Part, Point
    from router import Track, Via

SCALE = 1.6
WIDE_MM, HIGH_MM, TOP_MM, GAP_MM = 297.0, 264.0, 40.0, 20.0
MASK, TRACK, GOLD, INK = "#1f5b3a", "#3f9a68", "#d9b45a", "#f4f4ee"
HATCH = "#3f6f63"
SUPPLY_COLOURS = {"3V3": "#d0554c", "GND": "#8fa3b8", "5V strip": "#e08f3c"}
PLUGS = {
    "DISC": "disc",
    "PAD": "strips",
    "MUX": "mux",
    "MPR121": "touch board",
    "LIGHTS": "lights",
    "PI DATA": "Pi's data",
}
"""What is printed beside a plug -> what it is called in the drawing; a number follows both."""


def draw_board(
    parts: Sequence[Part], tracks: Sequence[Track], vias: Sequence[Via], screws: Sequence[Point], size: Point
) -> str:
    """Return the page: above the side of the parts, below the other side as one sees it after turning the board."""
    wide, deep = SCALE * size[0], SCALE * size[1]
    left = (WIDE_MM - wide) / 2
    page = Page(
        WIDE_MM,
        HIGH_MM,
        f"The printed board, {SCALE:g}:1",
        "Copper: 3.3 V red, ground grey (hatched below), the lights' 5 V orange.",
    )
    for layer, said in enumerate(("Side of the parts", "Side of the solder, turned over from left to right")):
        top = TOP_MM + layer * (deep + GAP_MM)

        def at(point: Point, top: float = top, layer: int = layer) -> Point:
            return left + SCALE * (size[0] - point[0] if layer else point[0]), top + SCALE * point[1]

        page.text(left, top - (8 if layer == 0 else 3), said, bold=True)
        page.rect(left, top, wide, deep, fill=MASK, line=BLACK)
        _draw_copper(page, [track for track in tracks if track.layer == layer], vias, at)
        for pin in (pin for part in parts for pin in part.pins):
            _draw_pad(page, pin.pad, pin.hole, at)
        for screw in screws:
            page.circle(*at(screw), SCALE * SCREW_HOLE_MM / 2, fill="#ffffff")
        for line in strokes(parts, size, bottom=bool(layer)):
            page.line(*(value for point in line for value in at(point)), colour=INK, width=SCALE * INK_MM)
        if layer == 0:
            _name_plugs(page, parts, at, (top - 2, top + deep + 4.5), size[1] / 2)
    below = TOP_MM + 2 * deep + GAP_MM
    page.measure(left, below, left + wide, below, f"{size[0]:g}", off=7)
    page.measure(left + wide, TOP_MM, left + wide, TOP_MM + deep, f"{size[1]:g}", off=8)
    page.note(left, below + 15, NOTES, wide=wide)
    return page.svg()


def _draw_copper(page: Page, tracks: list[Track], vias: Sequence[Via], at: Callable[[Point], Point]) -> None:
    for track in sorted(tracks, key=is_hatched, reverse=True):
        points = [value for point in track.shape.points for value in at(point)]
        colour = HATCH if is_hatched(track) else SUPPLY_COLOURS.get(track.net, TRACK)
        radius = SCALE * track.shape.radius
        page.line(*points, colour=colour, width=2 * radius)
        for point in track.shape.points:
            page.circle(*at(point), radius, fill=colour, line="none")
    for via in vias:
        page.circle(*at(via.at), SCALE * VIA_MM / 2, fill=SUPPLY_COLOURS.get(via.net, TRACK), line="none")
        page.circle(*at(via.at), SCALE * VIA_HOLE_MM / 2, fill="#ffffff", line="none")


def is_hatched(track: Track) -> bool:
    """Return True for the lines of the hatched ground, which are narrower than its tracks."""
    return track.net == "GND" and track.shape.radius < SUPPLY_MM / 2


def _draw_pad(page: Page, pad: Shape, hole: float, at: Callable[[Point], Point]) -> None:
    if len(pad.points) > 1:
        page.shape(*(value for point in pad.points for value in at(point)), fill=GOLD, line="none")
    else:
        page.circle(*at(pad.points[0]), SCALE * pad.radius, fill=GOLD, line="none")
    x0, y0, x1, y1 = pad.box
    page.circle(*at(((x0 + x1) / 2, (y0 + y1) / 2)), SCALE * hole / 2, fill="#ffffff", line="none")


def _name_plugs(
    page: Page, parts: Sequence[Part], at: Callable[[Point], Point], rows: tuple[float, float], middle: float
) -> None:
    """Write what each plug at the edges is for, above and below the board."""
    for part in parts:
        said = next((PLUGS[word] + part.value.removeprefix(word) for word in PLUGS if part.value.startswith(word)), "")
        if part.package.startswith("JST") and said:
            y = rows[0] if part.middle[1] < middle else rows[1]
            page.text(at(part.middle)[0], y, said, size=3.2, colour=BLUE, anchor="middle")


NOTES = f"""
    A square pad is pin 1; of a diode it is the cathode, where the band belongs. U1 and U2 stand in sockets, U3 is two
    rows of sockets for an RP2040-Zero, its USB plug at the upper edge. Plugs are JST XH headers; their wider side
    is the side of the second line.

    J1 to J4, discs: in, GND. J12 to J15, strips of a pad: hider, middle, hitter. J11 joins them, each through its R9,
    with the inputs ELE0 to ELE11 of the touch board. J7 to J10: {", ".join(nets.BUS_PINS)}. J16, first pixel of the
    lights: DIN, GND, 5 V for U2 alone; the lights' own current does not pass the board.

    R10, R11, C5 and C6 are each pad's amplifier. For a follower leave out R10, C5 and C6, and put a wire for R11.

    JP1 takes the lights' data from the board (bridge above) or from the Pi at J17 (bridge below). Without lights here
    leave out U2, R7, R8, C4, JP1, J16, J17.
    """
