"""Where the mat lies in the playing area, with the lights and the Pi; one mat or two; and the board of lights."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from beads import field
from geometry import Box, around, dividers, outline, plate, service, well
from geometry import pads as pad_numbers
from page import BLUE, GREY, PALE, RED, THICK, WOOD, Page, View
from values import values

from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import MARKED_AM2

if TYPE_CHECKING:
    from collections.abc import Iterator

FOOT = 304.8
AREA = Box(-4 * FOOT, -2 * FOOT, 4 * FOOT, 2 * FOOT)
"""The usual playing area (booklet, chapter 2): 8 by 4 feet, the teams at its long sides."""
PIXEL_MM = 1000.0 / 60.0
"""A strip of 60 pixels a metre."""
LIGHTS_AWAY_MM = 100.0
"""From the mat's end to the nearest light."""
LIGHT_BOARD = (400.0, 346.0)
PI_BOX = (110.0, 80.0)
PI_AT = (AREA.right - 66.0, 0.0)
BUTTONS = ((-760.0, -500.0, "ready"), (-620.0, -500.0, "shown"), (-760.0, 500.0, "toss A"), (-620.0, 500.0, "toss B"))
"""Where the buttons lie, mm, when there is one mat."""
APART = 300.0
"""Of each of two mats' middles from the middle line."""
LIES_M = 0.3
"""What a cable on the floor is longer than its way, square to the area's edges."""


def button_m() -> float:
    """Return the cable of a button: as long as the farthest one needs, a tenth of a metre more or less."""
    return round(max(abs(PI_AT[0] - x) + abs(PI_AT[1] - y) for x, y, _ in BUTTONS) / 1000.0 + LIES_M, 1)


def usb_m(which: str = "one") -> float:
    """Return the way of the USB cable from a mat's box to the Pi: of the "one" mat, or of "A" and "B" of two."""
    box, pi = values().harness.box_mm, around(*PI_AT, *PI_BOX)
    down = pi.left + 25.0
    if which == "B":  # turned: its box's right is the left here
        left, low = outline().left - 40.0, 588.0
        y = APART - box[1]
        return (box[0] - left + abs(low - y) + down - left + low - pi.far) / 1000.0
    y = box[1] - (APART if which == "A" else 0.0)
    return (down - box[0] + pi.near - y) / 1000.0


def _mat(view: View) -> None:
    view.box(outline(), fill=WOOD, pen=THICK)
    view.box(service(), fill=PALE, line=GREY)
    view.box(well(), fill="#f6f1e6", line=GREY)
    for divider in dividers():
        view.box(divider, fill=WOOD, line=GREY)
    for pad in pad_numbers():
        view.box(plate(pad), fill="#ffffff")
        view.text(*pinmap().pads.centre(pad), str(pad), anchor="middle", bold=True, size=5)


def light_rows() -> tuple[tuple[str, int, float, bool], ...]:
    """Return the rows in the strip's order: name, pixels, y on their board (mm), whether pixel 0 is at the left."""
    lights = pinmap().lights
    return (
        ("A", lights.a, -140.0, True),
        ("B", lights.b, 140.0, False),
        ("middle", lights.middle, 30.0, True),
        ("short", lights.short, -30.0, False),
    )


def _lights(view: View, x: float) -> None:
    view.box(around(x, 0, *LIGHT_BOARD), fill="#f4f4f4")
    for name, count, y, _ in light_rows():
        half = count * PIXEL_MM / 2
        view.box(Box(x - half, y - 6, x + half, y + 6), fill="#ffe9a8", line=GREY)
        view.text(x, y + (-32 if y > 100 else 14), name, anchor="middle", size=3.4)


def one_mat() -> str:
    """Return the table with one mat, 1:10."""
    page = Page(
        297,
        210,
        "One mat in the middle, 1:10",
        "The usual playing area is 8 by 4 feet. A sits at the mat's near edge, B at its far edge.",
    )
    view = View(page, 148, 102, 0.1)
    view.box(AREA, fill="#fbfaf6", line=GREY)
    _mat(view)
    out = outline()
    board_x = out.right + LIGHTS_AWAY_MM + LIGHT_BOARD[0] / 2
    _lights(view, board_x)
    pi = around(*PI_AT, *PI_BOX)
    view.box(pi, fill="#d8e8d8")
    view.text(AREA.right - 66, -10, "Pi", anchor="middle", bold=True)
    view.line(out.right, -220, pi.left + 25, -220, pi.left + 25, pi.near, colour=RED)
    first = board_x - light_rows()[0][1] * PIXEL_MM / 2
    row = light_rows()[0][2]
    view.line(
        pi.left, 0, pi.left - 14, 0, pi.left - 14, -186, first - 45, -186, first - 45, row, first, row, colour=BLUE
    )
    view.line(pi.right - 30, pi.far, pi.right - 30, AREA.far + 60, colour=GREY)
    page.text(264, view.at(0, AREA.far)[1] - 7, "5 V supplies", anchor="end", colour=GREY)
    for x, y, said in BUTTONS:
        view.disc(x, y, 40, fill="#ffd9d6", line=RED)
        view.text(x, y - 52, said, anchor="middle", size=3)
    page.text(148, view.at(0, -480)[1], "team A: the hiders' edge when A hides", anchor="middle", size=5, bold=True)
    page.text(148, view.at(0, 460)[1], "team B", anchor="middle", size=5, bold=True)
    page.text(
        148, view.at(0, 400)[1], "when B hides the program turns the mat: pad 4 here is pad 1 for B", anchor="middle"
    )
    view.measure(AREA.left, AREA.near, AREA.right, AREA.near, off=9, said="2438 (8 feet)")
    view.measure(AREA.left, AREA.far, AREA.left, AREA.near, off=-6, said="1219 (4 feet)")
    view.measure(out.right, out.far, out.right + LIGHTS_AWAY_MM, out.far, off=-14, said="at least 100", size=3.2)
    page.note(
        10,
        186,
        """
            red: USB from the mat to the Pi.  blue: data and 5 V to the first pixel, both wires of
            the supply side by side.

            Lights, supplies, Pi and loudspeakers stay 100 mm or more from the mat: iron and
            currents disturb the bead's reading.

            Buttons lie where a player reaches them and no hand goes under a pad, each on a cable of
            @ m. Which one is which pin: pins.md.
            """.replace("@", f"{button_m():g}"),
    )
    return page.svg()


def two_mats() -> str:
    """Return the table with a mat before each team, 1:10."""
    page = Page(
        297,
        210,
        "Two mats, one before each team, 1:10",
        "As the booklet has it, each team has its own moccasins. Two mats are two boards on two USB ports.",
    )
    view = View(page, 148, 102, 0.1)
    view.box(AREA, fill="#fbfaf6", line=GREY)
    deep = APART
    for side, team in ((-1.0, "A"), (1.0, "B")):
        mat = View(page, *view.at(0, side * deep), 0.1, turned=side > 0)
        _mat(mat)
        y = view.at(0, side * (deep + 210))[1]
        page.text(148, y + 1.2, f"{team}: the hiders' edge", anchor="middle", bold=True, size=4)
    out = outline()
    board_x = out.right + LIGHTS_AWAY_MM + LIGHT_BOARD[0] / 2
    _lights(view, board_x)
    pi = around(*PI_AT, *PI_BOX)
    view.box(pi, fill="#d8e8d8")
    view.text(AREA.right - 66, -10, "Pi", anchor="middle", bold=True)
    view.line(out.right, -deep - 220, pi.left + 25, -deep - 220, pi.left + 25, pi.near, colour=RED)
    left = out.left - 40
    view.line(out.left, deep + 220, left, deep + 220, left, 588, pi.left + 25, 588, pi.left + 25, pi.far, colour=RED)
    page.text(148, view.at(0, 12)[1], "the sticks lie here", anchor="middle", colour=GREY)
    view.measure(out.right, deep, out.right, -deep, off=3, said=f"{2 * deep:g}")
    view.measure(AREA.left, AREA.near, AREA.right, AREA.near, off=9, said="2438 (8 feet)")
    page.note(
        10,
        186,
        f"""
            Each mat lies with its own hiders' edge to its team, so pad 1 is at the left hand of
            whoever hides.

            A bead at the edge of one mat's pad is 350 mm from the other's magnetometers:
            {field(MARKED_AM2, 350):.1f} µT there, about the noise of a sample.

            With a single mat it can also be handed over and turned: the hiders always sit at its
            marked edge then.

            USB cables: A's is 2 m long, B's 3 m, and just reaches ({usb_m("B"):.2f} m).
            """,
    )
    return page.svg()


def lights() -> str:
    """Return the board of lights, 1:2.5, with the way of the data."""
    page = Page(
        210,
        200,
        "The board of lights, 1:2.5",
        "Four rows of a 60 pixels a metre strip, one line of data. Seen with A at the near edge.",
    )
    scale = 0.4
    view = View(page, 105, 104, scale)
    view.box(around(0, 0, *LIGHT_BOARD), fill="#f4f4f4")
    index = 0
    ends: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for name, count, y, from_left in light_rows():
        sign = 1.0 if from_left else -1.0
        half = count * PIXEL_MM / 2
        view.box(Box(-half, y - 6, half, y + 6), fill="#ffe9a8", line=GREY)
        for n in range(count):
            x = sign * ((n + 0.5) * PIXEL_MM - half)
            view.box(around(x, y, 5, 5), fill="#ffffff", line=GREY)
        ends.append(((-sign * half, y), (sign * half, y)))
        view.text(-sign * (half - 8), y + 12, str(index), anchor="middle", size=3.2, colour=BLUE)
        view.text(sign * (half - 8), y + 12, str(index + count - 1), anchor="middle", size=3.2, colour=BLUE)
        view.text(0, y + 12, f"{name}: {count} pixels", anchor="middle", bold=True)
        index += count
    for (_, (x0, y0)), ((x1, y1), _) in pairwise(ends):
        out = (188.0 if y0 < 0 else 176.0) * (1.0 if x0 > 0 else -1.0)
        view.line(x0, y0, out, y0, out, y1, x1, y1, colour=BLUE)
    (x, y), _ = ends[0]
    view.line(-210, y, x, y, colour=BLUE)
    page.text(*view.at(-192, y - 24), "from the level shifter", colour=BLUE)
    view.measure(-200, -173, 200, -173, off=8)
    view.measure(200, 173, 200, -173, off=8)
    page.note(
        10,
        192,
        """
            Feed 5 V and ground at both ends of the chain (power.md). Cut the strip only at its
            marks.
            """,
    )
    return page.svg()


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of each drawing."""
    yield "one-mat.svg", one_mat()
    yield "two-mats.svg", two_mats()
    yield "lights.svg", lights()
