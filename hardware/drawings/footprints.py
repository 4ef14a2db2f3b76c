"""Shapes of copper and the parts of the printed board: where a part's holes are and how it is drawn. All in mm.

x to the right, y downwards, seen from the side of the parts. Sizes of bodies are those of the usual parts with leads;
plugs are JST XH (2.5 mm), which fit one way round.
"""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]
BOARD_MM = (165.0, 44.5)
"""The printed board. It lies where the perfboard and the RP2040 board lay, in the box of 200 x 46 mm."""
GRID_MM = 1.27
HEADER_MM, XH_MM = 2.54, 2.5
PAD_MM, VIA_MM, VIA_HOLE_MM = 1.6, 0.8, 0.4
SIGNAL_MM, SUPPLY_MM = 0.4, 1.0
"""Width of a track."""
SCREW_HOLE_MM, SCREW_HEAD_MM = 3.2, 6.0
LEAD_HOLE_MM, POST_HOLE_MM = 0.8, 1.0
"""Round leads up to 0.6 mm, square posts of 0.64 mm."""
XH_BODY_MM = (2.45, 2.35, 3.4)
"""How far the body goes beyond the first and last post, and to either side of the row."""
ZERO_MM = (18.0, 23.5)
"""An RP2040-Zero."""


class Shape(NamedTuple):
    """Copper: a point, a line or a convex polygon, grown by a radius all round."""

    points: tuple[Point, ...]
    radius: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        xs, ys = zip(*self.points, strict=True)
        return min(xs) - self.radius, min(ys) - self.radius, max(xs) + self.radius, max(ys) + self.radius


class Pin(NamedTuple):
    """A lead: its name, its place, its hole, and whether it is the first one, which has a square pad."""

    name: str
    at: Point
    hole: float
    first: bool = False

    @property
    def pad(self) -> Shape:
        """Its pad, on both sides."""
        if not self.first:
            return Shape((self.at,), PAD_MM / 2)
        (x, y), half = self.at, PAD_MM / 2
        return Shape(((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)), 0.0)


class Part(NamedTuple):
    """A part on the board: name, value, footprint, its leads, and the lines of its outline."""

    name: str
    value: str
    package: str
    pins: tuple[Pin, ...]
    lines: tuple[tuple[Point, ...], ...]

    @property
    def middle(self) -> Point:
        """The middle of its leads."""
        xs, ys = zip(*(pin.at for pin in self.pins), strict=True)
        return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2

    @property
    def turn(self) -> int:
        """Degrees that the way from its first to its last lead is turned from the right, anticlockwise."""
        (x0, y0), (x1, y1) = self.pins[0].at, self.pins[1].at
        return round(math.degrees(math.atan2(y0 - y1, x1 - x0))) % 360

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of its outline and pads."""
        points = [point for line in self.lines for point in line]
        points += [corner for pin in self.pins for corner in (pin.pad.box[:2], pin.pad.box[2:])]
        xs, ys = zip(*points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


def draw_rectangle(left: float, top: float, right: float, bottom: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle, the first one again at the end."""
    return (left, top), (right, top), (right, bottom), (left, bottom), (left, top)


def make_axial(name: str, value: str, a: Point, b: Point, half: float = 0.0) -> Part:
    """Return a resistor (R), diode (D) or ceramic capacitor (C) with its leads at `a` and `b`.

    `half` is half of the body's width, 0 for the usual one.
    """
    kind = name[0]
    length, usual = {"R": (6.3, 1.15), "D": (4.0, 0.95), "C": (2.6, 1.25)}[kind]
    half = half or usual
    span = math.dist(a, b)
    ux, uy = (b[0] - a[0]) / span, (b[1] - a[1]) / span
    mx, my = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2

    def at(along: float, across: float) -> Point:
        return mx + along * ux - across * uy, my + along * uy + across * ux

    end, pad = length / 2, span / 2 - PAD_MM / 2 - 0.25
    body = (at(-end, -half), at(end, -half), at(end, half), at(-end, half), at(-end, -half))
    lines = [body, (at(-pad, 0), at(-end, 0)), (at(end, 0), at(pad, 0))]
    if kind == "D":  # the cathode's band, at the first lead
        lines += [(at(x - end, -half), at(x - end, half)) for x in (0.6, 0.75, 0.9)]
    package = f"{ {'R': 'axial', 'D': 'DO-35', 'C': 'ceramic'}[kind] }, {span:.2f} mm"
    pins = (Pin("a", a, LEAD_HOLE_MM, first=kind == "D"), Pin("b", b, LEAD_HOLE_MM))
    return Part(name, value, package, pins, tuple(line for line in lines if line[0] != line[-1] or len(line) > 2))


def make_chip(name: str, value: str, at: Point) -> Part:
    """Return a DIP-14 with its pin 1 at `at`, its notch above."""
    rows, across = 7, 3 * HEADER_MM
    left = [(at[0], at[1] + n * HEADER_MM) for n in range(rows)]
    right = [(at[0] + across, y) for _, y in reversed(left)]
    pins = [Pin(str(n), place, LEAD_HOLE_MM, first=n == 1) for n, place in enumerate([*left, *right], 1)]
    middle, top, bottom = at[0] + across / 2, at[1] - 1.4, left[-1][1] + 1.4
    inner = 1.15
    notch = tuple((middle + math.cos(a) * 1.0, top + math.sin(a) * 1.0) for a in (math.pi * n / 8 for n in range(9)))
    body = draw_rectangle(at[0] + inner, top, at[0] + across - inner, bottom)
    return Part(name, value, "DIP-14, 7.62 mm, in a socket", tuple(pins), (body, notch))


def make_plug(name: str, value: str, at: Point, pins: Sequence[str]) -> Part:
    """Return an upright JST XH header with its first post at `at`, the others to the right, its wider side below."""
    beyond, above, below = XH_BODY_MM
    posts = tuple(Pin(pin, (at[0] + n * XH_MM, at[1]), POST_HOLE_MM, first=n == 0) for n, pin in enumerate(pins))
    left, right = at[0] - beyond, posts[-1].at[0] + beyond
    outline = draw_rectangle(left, at[1] - above, right, at[1] + below)
    inner = ((left, at[1] + below - 0.8), (right, at[1] + below - 0.8))
    return Part(name, value, f"JST XH, {len(pins)} ways, upright", posts, (outline, inner))


def make_row(name: str, value: str, at: Point, pins: Sequence[str], step: Point, kind: str) -> Part:
    """Return a row of 2.54 mm posts or sockets that starts at `at` and goes on by `step` (in posts)."""
    posts = tuple(
        Pin(pin, (at[0] + n * step[0] * HEADER_MM, at[1] + n * step[1] * HEADER_MM), POST_HOLE_MM, first=n == 0)
        for n, pin in enumerate(pins)
    )
    (x0, y0), (x1, y1), half = posts[0].at, posts[-1].at, 1.27
    outline = draw_rectangle(min(x0, x1) - half, min(y0, y1) - half, max(x0, x1) + half, max(y0, y1) + half)
    return Part(name, value, f"{kind}, 2.54 mm, 1 x {len(pins)}", posts, (outline,))


def make_zero(name: str, value: str, at: Point) -> Part:
    """Return two rows of sockets for an RP2040-Zero, its 5V at `at`, its USB plug above."""
    left, right = ("5V", "GND", "3V3", "29", "28", "27", "26", "15", "14"), [str(pin) for pin in range(9)]
    across = 6 * HEADER_MM
    pins = [
        Pin(pin, (at[0] + column * across, at[1] + n * HEADER_MM), POST_HOLE_MM, first=(column, n) == (0, 0))
        for column, names in enumerate((left, right))
        for n, pin in enumerate(names)
    ]
    middle, centre = at[0] + across / 2, at[1] + 4 * HEADER_MM
    wide, deep = ZERO_MM
    body = draw_rectangle(middle - wide / 2, centre - deep / 2, middle + wide / 2, centre + deep / 2)
    usb = (
        (middle - 4.5, body[0][1]),
        (middle - 4.5, body[0][1] + 5),
        (middle + 4.5, body[0][1] + 5),
        (middle + 4.5, body[0][1]),
    )
    return Part(name, value, "two sockets, 2.54 mm, 1 x 9, 15.24 mm apart", tuple(pins), (body, usb))


def distance(a: Shape, b: Shape) -> float:
    """Return how far two shapes are apart, mm; below zero if they overlap."""
    if _inside(a.points[0], b.points) or _inside(b.points[0], a.points):
        return -a.radius - b.radius - 1e-9
    return min(_apart(one, two) for one, two in product(_edges(a.points), _edges(b.points))) - a.radius - b.radius


def _edges(points: tuple[Point, ...]) -> list[tuple[Point, Point]]:
    if len(points) < 3:
        return [(points[0], points[-1])]
    return list(pairwise((*points, points[0])))


def _inside(point: Point, polygon: tuple[Point, ...]) -> bool:
    if len(polygon) < 3:
        return False
    turns = [_cross(a, b, point) for a, b in _edges(polygon)]
    return all(turn >= 0 for turn in turns) or all(turn <= 0 for turn in turns)


def _cross(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _apart(one: tuple[Point, Point], two: tuple[Point, Point]) -> float:
    (a, b), (c, d) = one, two
    if _cross(a, b, c) * _cross(a, b, d) < 0 and _cross(c, d, a) * _cross(c, d, b) < 0:
        return 0.0
    return min(_to_line(a, c, d), _to_line(b, c, d), _to_line(c, a, b), _to_line(d, a, b))


def _to_line(p: Point, a: Point, b: Point) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    squared = dx * dx + dy * dy
    t = 0.0 if squared == 0 else max(0.0, min(1.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / squared))
    return math.hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy)
