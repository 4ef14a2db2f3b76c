"""Read a maker's files of a board again and measure them: which pins the copper joins, and what is too near to what.

It has the files and the places of the pins, and neither netlist nor router: so it finds faults of the router and of the
writer of the files.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from footprints import Shape, distance
from gerbonara import MM, ExcellonFile, GerberFile
from gerbonara.apertures import CircleAperture, RectangleAperture
from gerbonara.graphic_objects import Flash, Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from footprints import Point
    from numpy.typing import NDArray

SIDES = ("gtl", "gbl")
NEAR_MM = 2.0
"""Pairs that are farther apart are not measured."""


class Hole(NamedTuple):
    """A hole: its middle, its diameter, and whether it joins both sides."""

    at: Point
    size: float
    plated: bool


class Copper(NamedTuple):
    """What a board's files have: the shapes of each side, the holes, and the lines of the edge."""

    sides: tuple[list[Shape], list[Shape]]
    holes: list[Hole]
    edge: list[Shape]


class Gaps(NamedTuple):
    """The least distances on a board, mm; `ring` is the copper round a plated hole, `tracks` the narrowest track."""

    copper: float
    edge: float
    screws: float
    holes: float
    ring: float
    tracks: float


def read_copper(files: Mapping[str, str], name: str) -> Copper:
    """Read the files of the board called `name`; raises `ValueError` for anything but pads and tracks."""
    top, bottom = (list(_read_shapes(files[f"{name}.{side}"])) for side in SIDES)
    holes = [
        Hole((hole.x, hole.y), hole.aperture.diameter, plated)
        for ending, plated in (("plated", True), ("screws", False))
        for hole in ExcellonFile.from_string(files[f"{name}-{ending}.drl"], plated=plated).drills()
    ]
    return Copper((top, bottom), holes, list(_read_shapes(files[f"{name}.gko"])))


def _read_shapes(text: str) -> Iterator[Shape]:
    for thing in GerberFile.from_string(text).objects:
        thing.convert_to(MM)
        aperture = thing.aperture
        match thing:
            case Line() if isinstance(aperture, CircleAperture):
                yield Shape(((thing.x1, thing.y1), (thing.x2, thing.y2)), aperture.diameter / 2)
            case Flash() if isinstance(aperture, CircleAperture):
                yield Shape(((thing.x, thing.y),), aperture.diameter / 2)
            case Flash() if isinstance(aperture, RectangleAperture):
                x, y, half_w, half_h = thing.x, thing.y, aperture.w / 2, aperture.h / 2
                corners = ((-half_w, -half_h), (half_w, -half_h), (half_w, half_h), (-half_w, half_h))
                yield Shape(tuple((x + dx, y + dy) for dx, dy in corners), 0.0)
            case _:
                raise ValueError(f"neither a pad nor a track: {thing}")


def number_nets(copper: Copper) -> tuple[list[int], list[int]]:
    """Return for each shape of each side the number of what it is joined with: by touching, and by plated holes."""
    top, bottom = copper.sides
    shapes = [*top, *bottom]
    root = list(range(len(shapes)))

    def find(n: int) -> int:
        while root[n] != n:
            root[n] = root[root[n]]
            n = root[n]
        return n

    for start, side in ((0, top), (len(top), bottom)):
        for a, b in near_pairs(side, side, 0.0):
            if a < b and distance(side[a], side[b]) <= 0.0:
                root[find(start + a)] = find(start + b)
    drilled = [Shape((hole.at,), hole.size / 2) for hole in copper.holes if hole.plated]
    first: dict[int, int] = {}
    for k, n in near_pairs(drilled, shapes, 0.0):
        if distance(drilled[k], shapes[n]) <= 0:
            root[find(n)] = find(first.setdefault(k, n))
    found = [find(n) for n in range(len(shapes))]
    return found[: len(top)], found[len(top) :]


def join_pins(copper: Copper, pins: Mapping[str, Point]) -> set[frozenset[str]]:
    """Return which pins the copper joins, in sets; raises `ValueError` if a pin has no hole or no copper on a side."""
    names, points = list(pins), [Shape((at,), 0.0) for at in pins.values()]
    plated = [Shape((hole.at,), 1e-3) for hole in copper.holes if hole.plated]
    bored = {names[a] for a, b in near_pairs(points, plated, 0.0) if distance(points[a], plated[b]) <= 0}
    if len(bored) != len(names):
        raise ValueError(f"{min(set(names) - bored)} has no hole")
    found: dict[int, set[str]] = {}
    for side, numbers in zip(copper.sides, number_nets(copper), strict=True):
        under: dict[str, set[int]] = {name: set() for name in names}
        for a, b in near_pairs(points, side, 0.0):
            if distance(points[a], side[b]) <= 0:
                under[names[a]].add(numbers[b])
        for name, nets in under.items():
            if len(nets) != 1:
                raise ValueError(f"{name} has {len(nets)} pieces of copper on a side")
            found.setdefault(nets.pop(), set()).add(name)
    return {frozenset(names) for names in found.values()}


def measure_gaps(copper: Copper) -> Gaps:
    """Return the least distances of a board."""
    numbers = number_nets(copper)
    drilled = [Shape((hole.at,), hole.size / 2) for hole in copper.holes]
    apart, edge, screws, ring = [NEAR_MM], [NEAR_MM], [NEAR_MM], [NEAR_MM]
    for side, side_numbers in zip(copper.sides, numbers, strict=True):
        for a, b in near_pairs(side, side, NEAR_MM):
            if a < b and side_numbers[a] != side_numbers[b]:
                apart.append(distance(side[a], side[b]))
        edge += [distance(side[a], copper.edge[b]) for a, b in near_pairs(side, copper.edge, NEAR_MM)]
        rings: dict[int, float] = {}  # the widest piece of copper with the hole in its middle
        for k, n in near_pairs(drilled, side, NEAR_MM):
            if not copper.holes[k].plated:
                screws.append(distance(drilled[k], side[n]))
            else:
                rings[k] = max(rings.get(k, 0.0), _ring(side[n], copper.holes[k]))
        ring += rings.values()
    holes = [distance(drilled[a], drilled[b]) for a, b in near_pairs(drilled, drilled, NEAR_MM) if a < b]
    widths = [2 * shape.radius for side in copper.sides for shape in side if len(shape.points) == 2]
    return Gaps(min(apart), min(edge), min(screws), min(holes), min(ring), min(widths))


def _ring(shape: Shape, hole: Hole) -> float:
    left, top, right, bottom = shape.box
    if math.dist(hole.at, ((left + right) / 2, (top + bottom) / 2)) > 1e-3:
        return 0.0
    return min(right - left, bottom - top) / 2 - hole.size / 2


def _box_gap(a: Shape, b: Shape) -> float:
    (a0, b0, a1, b1), (c0, d0, c1, d1) = a.box, b.box
    return max(a0 - c1, c0 - a1, b0 - d1, d0 - b1)


def near_pairs(some: list[Shape], others: list[Shape], reach: float) -> Iterable[tuple[int, int]]:
    """Return the pairs of shapes whose boxes are not farther apart than `reach`."""
    if not some or not others:
        return []
    a: NDArray[np.float64] = np.array([shape.box for shape in some])[:, None, :]
    b: NDArray[np.float64] = np.array([shape.box for shape in others])[None, :, :]
    gaps = np.maximum.reduce(
        [a[..., 0] - b[..., 2], b[..., 0] - a[..., 2], a[..., 1] - b[..., 3], b[..., 1] - a[..., 3]]
    )
    return [(int(i), int(j)) for i, j in zip(*np.nonzero(gaps <= reach), strict=True)]
