"""The bead and the balls with their magnets, cut through at twice their size, and what their magnets do.

Strengths are those that the bead fit works with.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from page import GREY, RED, THIN, Page

from pi_controller.sensing.bead_solver import MARKED_AM2, UNMARKED_AM2, UT_MM3_PER_AM2

if TYPE_CHECKING:
    from collections.abc import Iterator

WOOD_KG_M3 = 700.0
BR_TESLA = 1.3
"""Remanence of N42, memory."""
TOY_KG2_MM2 = 50.0
"""Flux index that a toy's loose magnet must stay below (EN 71-1), kilogauss squared times square millimetres."""
LEAST_BALL_MM = 18.0
"""A ball smaller than this has less than 6 mm of wood over a D6x6: it splits, and the dowel holds too little."""
G = 9.81


def force(one: float, other: float, apart_mm: float) -> float:
    """Return the pull (N) between two magnets (A m^2) end to end, their middles `apart_mm` apart."""
    return 6e-7 * one * other / (apart_mm / 1000.0) ** 4


def weight(diameter_mm: float) -> float:
    """Return the weight (N) of a wooden ball."""
    return G * WOOD_KG_M3 * pi / 6 * (diameter_mm / 1000.0) ** 3


def field(moment: float, away_mm: float) -> float:
    """Return the field (microtesla) of a magnet (A m^2) on its axis."""
    return 2 * UT_MM3_PER_AM2 * moment / away_mm**3


def flux_index(diameter_mm: float, length_mm: float) -> float:
    """Return a magnet's flux index: the field (kG) in the middle of its pole, squared, times the pole's area (mm²)."""
    radius = diameter_mm / 2
    kilogauss = 10 * BR_TESLA / 2 * length_mm / (length_mm**2 + radius**2) ** 0.5
    return kilogauss**2 * pi * radius**2


def _ball(page: Page, x: float, y: float, diameter: float, magnet: float, said: str) -> None:
    scale = 2.0
    radius = diameter / 2 * scale
    page.circle(x, y, radius, fill="#f1d9c9")
    half = magnet / 2 * scale
    bore = half + 0.2
    page.line(x - bore, y + half + 0.4, x - bore, y - radius + 0.6, colour=GREY, width=THIN)
    page.line(x + bore, y + half + 0.4, x + bore, y - radius + 0.6, colour=GREY, width=THIN)
    page.rect(x - bore, y - radius + 1, 2 * bore, radius - half - 1, fill="#e3c19a", line="none")
    page.rect(x - half, y - half, 2 * half, 2 * half, fill=RED, line="none")
    page.measure(x - radius, y + radius, x + radius, y + radius, f"{diameter:g}", off=8)
    page.measure(x + radius, y - radius, x + radius, y + half, f"{diameter / 2 + magnet / 2:g} deep", off=8)
    page.text(x, y + radius + 15, said, anchor="middle", bold=True)


def bead() -> str:
    """Return the page of the bead."""
    page = Page(
        297,
        178,
        "The bead and the balls, 2:1",
        "Wooden balls, drilled past the middle, the magnet in epoxy, the hole closed with a dowel, sanded, painted.",
    )
    _ball(page, 52, 66, 25, 6, "the bead, the marked ball")
    page.text(52, 111, "magnet D6 x 6 mm, N42, bore 6.2", anchor="middle")
    _ball(page, 144, 66, 25, 4, "an unmarked ball")
    page.text(144, 111, "magnet D4 x 4 mm, N42, bore 4.2", anchor="middle")
    page.rect(206, 64, 44, 16, fill="#f1d9c9", corner=7)
    page.rect(222, 66, 12, 12, fill=RED, line="none")
    page.measure(206, 80, 250, 80, "22", off=8)
    page.measure(250, 64, 250, 80, "8", off=8)
    page.text(228, 106, "a flat bead", anchor="middle", bold=True)
    page.text(228, 111, "magnet D6 x 6 lying on its side", anchor="middle")
    rows = [("touching, end to end", "D4 and D4", "D6 and D4", "weight of a ball")]
    rows += [
        (
            f"balls of {size} mm",
            f"{1000 * force(UNMARKED_AM2, UNMARKED_AM2, size):.0f} mN",
            f"{1000 * force(MARKED_AM2, UNMARKED_AM2, size):.0f} mN",
            f"{1000 * weight(size):.0f} mN",
        )
        for size in (12, 20, 25)
    ]
    for n, row in enumerate(rows):
        for x, cell in zip((14, 62, 96, 130), row, strict=True):
            page.text(x, 124 + n * 6, cell, bold=n == 0)
    page.line(14, 126, 168, 126, width=THIN, colour=GREY)
    page.note(
        178,
        124,
        f"""
            The bead's field: {field(MARKED_AM2, 42.5):.0f} µT where a magnetometer is,

            right below (they reach 800), {field(MARKED_AM2, 150):.0f} µT at 150 mm.

            The earth has about 50.
            """,
        wide=110.0,
    )
    page.note(
        14,
        154,
        """
            Balls of 12 mm cling to each other and roll together: four balls (ojibwe) want 25 mm.
            One bead alone may be flat, or smaller: a D6 x 6 magnet wants a ball of 18 mm or more.

            A ball makes a bump under a thin cloth; under a lined or folded one it may not, nor the
            flat bead. Try before you glue.

            Loose magnets jump together and pinch; swallowed, they can kill: SAFETY.md. Nobody has
            built these yet.
            """,
    )
    return page.svg()


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of the drawing."""
    yield "bead.svg", bead()
