"""A sheet of paper as SVG, in millimetres, and a view of the mat on it to a scale.

Written with the standard library: a line, a text and a measure are all that is needed. Passed over: drawsvg (one more
package to draw lines with; measures, tiles and crop marks would still be ours) and svgwrite (no longer maintained).
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from values import LICENCE, RIGHTS

if TYPE_CHECKING:
    from geometry import Box

BLACK, GREY, PALE = "#1a1a1a", "#666666", "#e9e9e6"
WOOD, SLAT, FOAM, COPPER = "#e8d3ad", "#cfb283", "#dbe7ef", "#e3a368"
RED, BLUE, GREEN = "#b3261e", "#1f5fa8", "#2d6a36"
TEXT_MM = 3.6
"""Legible on a screen that shows a whole A4 page, and in print."""
THIN, LINE, THICK = 0.18, 0.3, 0.6


def number(value: float) -> str:
    """Return a length as it is written: no more than three places, no minus before zero."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class Page:
    """A page of `width` x `height` mm, y downwards as on paper, with its title at the top left.

    `about` is the file's title where none stands on the page.
    """

    def __init__(self, width: float, height: float, title: str = "", under: str = "", about: str = "") -> None:
        self.width, self.height = width, height
        self.root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": f"{number(width)}mm",
                "height": f"{number(height)}mm",
                "viewBox": f"0 0 {number(width)} {number(height)}",
                "font-family": "Helvetica, Arial, sans-serif",
            },
        )
        ET.SubElement(self.root, "title").text = title or about
        ET.SubElement(self.root, "desc").text = RIGHTS
        self.into = self.root
        self.rect(0, 0, width, height, fill="#ffffff", line="none")
        if title:
            self.text(10, 14, title, size=6, bold=True)
            self.text(width - 6, 6, LICENCE, size=3, colour=GREY, anchor="end")
        if under:
            self.text(10, 20, under, colour=GREY)

    def line(self, *points: float, colour: str = BLACK, width: float = LINE, dash: str = "") -> None:
        """Draw through points x, y, x, y..."""
        pairs = " ".join(f"{number(x)},{number(y)}" for x, y in zip(points[::2], points[1::2], strict=True))
        self._put("polyline", {"points": pairs, "fill": "none", **_pen(colour, width, dash)})

    def shape(self, *points: float, fill: str = "none", line: str = BLACK, width: float = LINE) -> None:
        """Draw a closed shape through points x, y, x, y..."""
        pairs = " ".join(f"{number(x)},{number(y)}" for x, y in zip(points[::2], points[1::2], strict=True))
        self._put("polygon", {"points": pairs, "fill": fill, **_pen(line, width, "")})

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        line: str = BLACK,
        pen: float = LINE,
        dash: str = "",
        corner: float = 0.0,
    ) -> None:
        """Draw a rectangle from its upper left corner."""
        at = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
        if corner:
            at["rx"] = number(corner)
        self._put("rect", {**at, "fill": fill, **_pen(line, pen, dash)})

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str = "none",
        line: str = BLACK,
        pen: float = LINE,
        dash: str = "",
    ) -> None:
        """Draw a circle."""
        self._put(
            "circle", {"cx": number(x), "cy": number(y), "r": number(radius), "fill": fill, **_pen(line, pen, dash)}
        )

    def text(
        self,
        x: float,
        y: float,
        said: str,
        *,
        size: float = TEXT_MM,
        colour: str = BLACK,
        anchor: str = "start",
        bold: bool = False,
        turn: float = 0.0,
    ) -> None:
        """Write a line of text; (x, y) is on its baseline, `turn` degrees clockwise about it."""
        how = {"x": number(x), "y": number(y), "font-size": number(size), "fill": colour, "text-anchor": anchor}
        if bold:
            how["font-weight"] = "bold"
        if turn:
            how["transform"] = f"rotate({number(turn)} {number(x)} {number(y)})"
        self._put("text", how).text = said

    def note(
        self, x: float, y: float, said: str, *, wide: float = 277.0, size: float = 3.4, colour: str = BLACK
    ) -> None:
        """Write paragraphs (an empty line between them in `said`), each on as many lines as `wide` mm ask for."""
        lines = [line for one in said.split("\n\n") for line in wrap(" ".join(one.split()), int(wide / (size * 0.52)))]
        for n, line in enumerate(lines):
            self.text(x, y + n * size * 1.45, line, size=size, colour=colour)

    def pointer(self, x: float, y: float, to_x: float, to_y: float, said: str, *, anchor: str = "start") -> None:
        """Write a label at (x, y) with a thin line from it to what it names."""
        ahead = -1.0 if anchor == "start" else 1.0
        self.line(x + ahead, y - 1.2, to_x, to_y, colour=GREY, width=THIN)
        self.circle(to_x, to_y, 0.5, fill=GREY, line="none")
        self.text(x, y, said, anchor=anchor)

    def measure(
        self, x0: float, y0: float, x1: float, y1: float, said: str, *, off: float = 0.0, size: float = TEXT_MM
    ) -> None:
        """Draw a measure between two points, upright or level, set `off` mm aside (down or right), with its number."""
        level = y0 == y1
        dx, dy = (0.0, off) if level else (off, 0.0)
        if off:
            self.line(x0, y0, x0 + dx, y0 + dy, colour=BLUE, width=THIN)
            self.line(x1, y1, x1 + dx, y1 + dy, colour=BLUE, width=THIN)
        x0, x1, y0, y1 = x0 + dx, x1 + dx, y0 + dy, y1 + dy
        self.line(x0, y0, x1, y1, colour=BLUE, width=THIN)
        for x, y in ((x0, y0), (x1, y1)):
            self.line(x - 0.9, y + 0.9, x + 0.9, y - 0.9, colour=BLUE, width=LINE)
        if level:
            self.text((x0 + x1) / 2, y0 - 1.0, said, anchor="middle", colour=BLUE, size=size)
        else:
            self.text(x0 - 1.0, (y0 + y1) / 2, said, anchor="middle", colour=BLUE, size=size, turn=-90)

    def window(self, x: float, y: float, width: float, height: float, left: float, top: float) -> None:
        """What is drawn from now on stands with its point (left, top) at (x, y) and is cut off outside the window."""
        box = f"{number(left)} {number(top)} {number(width)} {number(height)}"
        at = {"x": number(x), "y": number(y), "width": number(width), "height": number(height), "viewBox": box}
        self.into = ET.SubElement(self.root, "svg", at)

    def whole(self) -> None:
        """What is drawn from now on stands on the page itself again."""
        self.into = self.root

    def svg(self) -> str:
        """Return the page as the text of a file."""
        ET.indent(self.root)
        return ET.tostring(self.root, encoding="unicode") + "\n"

    def _put(self, tag: str, how: dict[str, str]) -> ET.Element:
        return ET.SubElement(self.into, tag, how)


class View:
    """The mat (or a part of it) on a page: one mm of it is `scale` mm on paper, its (0, 0) at (x, y), y upwards.

    With `turned` it is seen from its other edge.
    """

    def __init__(self, page: Page, x: float, y: float, scale: float, *, turned: bool = False) -> None:
        self.page, self.x, self.y, self.scale = page, x, y, scale
        self._sign = -1.0 if turned else 1.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the mat is on the page."""
        return self.x + self._sign * x * self.scale, self.y - self._sign * y * self.scale

    def box(self, box: Box, *, fill: str = "none", line: str = BLACK, pen: float = LINE, dash: str = "") -> None:
        """Draw a rectangle of the mat."""
        (x0, y0), (x1, y1) = self.at(box.left, box.far), self.at(box.right, box.near)
        left, top = min(x0, x1), min(y0, y1)
        self.page.rect(left, top, abs(x1 - x0), abs(y1 - y0), fill=fill, line=line, pen=pen, dash=dash)

    def disc(
        self, x: float, y: float, diameter: float, *, fill: str = "none", line: str = BLACK, dash: str = ""
    ) -> None:
        """Draw a circle of the mat."""
        self.page.circle(*self.at(x, y), diameter / 2 * self.scale, fill=fill, line=line, dash=dash)

    def line(self, *points: float, colour: str = BLACK, width: float = LINE, dash: str = "") -> None:
        """Draw a line through points of the mat."""
        flat = [value for x, y in zip(points[::2], points[1::2], strict=True) for value in self.at(x, y)]
        self.page.line(*flat, colour=colour, width=width, dash=dash)

    def measure(
        self, x0: float, y0: float, x1: float, y1: float, *, off: float = 0.0, said: str = "", size: float = TEXT_MM
    ) -> None:
        """Draw a measure between two points of the mat; its number is the distance, unless `said`."""
        told = said or number(max(abs(x1 - x0), abs(y1 - y0)))
        self.page.measure(*self.at(x0, y0), *self.at(x1, y1), told, off=off, size=size)

    def text(self, x: float, y: float, said: str, **how: object) -> None:
        """Write at a point of the mat."""
        self.page.text(*self.at(x, y), said, **how)  # pyright: ignore[reportArgumentType]


def _pen(colour: str, width: float, dash: str) -> dict[str, str]:
    if colour == "none":
        return {"stroke": "none"}
    pen = {"stroke": colour, "stroke-width": number(width)}
    return pen | {"stroke-dasharray": dash} if dash else pen
