"""A sheet for a circuit by schemdraw: its style, the few elements that every circuit shares, and its SVG."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import register_namespace
from xml.sax.saxutils import escape

import schemdraw
import schemdraw.elements as elm
from values import RIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from values import Circuit

e: Any = elm  # it has no types that a checker could follow
GREY = "#555555"
SVG = "http://www.w3.org/2000/svg"
Point = tuple[float, float]


@contextmanager
def sheet(heading: str, at: Point) -> Iterator[Any]:
    """Draw on a new sheet under its heading; the drawing is what the block is given."""
    schemdraw.use("svg")
    drawing: Any = schemdraw.Drawing(show=False, canvas="svg")
    drawing.config(fontsize=13, font="sans-serif", lw=1.6, bgcolor="white", margin=0.6, unit=2.6)
    drawing.heading = heading
    with drawing:
        title(at, heading)
        yield drawing


def svg(drawing: Any) -> str:
    """Return the drawing as SVG text with its heading as title, on white: a page may be dark."""
    register_namespace("", SVG)  # schemdraw does so when it is imported, and another library may have taken it back
    text = drawing.get_imagedata("svg").decode("utf-8").rstrip("\n") + "\n"
    x, y, width, height = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', text).groups()  # type: ignore[union-attr]
    end = text.index(">", text.index("<svg")) + 1
    about = f"<title>{escape(drawing.heading)}</title>\n<desc>{escape(RIGHTS)}</desc>\n"
    white = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="white" />'
    return f"{text[:end]}\n{about}{white}{text[end:]}"


def named(name: str, circuit: Circuit, part: str) -> str:
    """Return a part's label: its name in the drawing and its value."""
    return f"{name}\n{circuit.label(part)}"


def line(*points: Point) -> None:
    """Draw a wire through `points`."""
    for a, b in itertools.pairwise(points):
        e.Line().at(a).to(b)


def dot(at: Point) -> None:
    """Draw a joint."""
    e.Dot().theta(0).at(at)


def part(kind: str, at: Point, to: Point, label: str, loc: str = "top", **how: Any) -> None:
    """Draw a part of two leads between two points, with its label at `loc`."""
    getattr(e, kind)().at(at).to(to).label(label, loc=loc, **how)


def down(kind: str, at: Point, label: str, size: float = 2.0, loc: str = "bottom") -> None:
    """Draw a part from `at` down to ground."""
    end = (at[0], at[1] - size)
    part(kind, at, end, label, loc)
    e.Ground().theta(0).at(end)


def up(at: Point, label: str) -> None:
    """Draw the symbol of a supply at `at`."""
    e.Vdd().theta(0).at(at).label(label)


def note(at: Point, text: str, size: float = 11.0, align: tuple[str, str] = ("left", "top")) -> None:
    """Write a note whose first line begins at `at`."""
    e.Label().theta(0).at(at).label(text, fontsize=size, color=GREY, halign=align[0], valign=align[1], ofst=0)


def title(at: Point, text: str) -> None:
    """Write what the sheet is."""
    e.Label().theta(0).at(at).label(text, fontsize=16, halign="left", valign="bottom", ofst=0)


def port(at: Point, text: str, side: str = "right") -> None:
    """Draw an open end with its name."""
    e.Dot(open=True).theta(0).at(at).label(text, loc=side)
