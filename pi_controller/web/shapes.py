"""SVG shapes of up to eight players, each with its number, distinct without colour."""

from __future__ import annotations

import math
from typing import NamedTuple

from markupsafe import Markup

RADIUS = 13
"""How far a shape reaches from its middle, in the units of the drawing."""


class Shape(NamedTuple):
    """A shape as SVG, and how far below its middle the number stands, in the units of the drawing."""

    drawn: Markup
    down: float = 4.8


def _corners(count: int, radius: float, turn: float = 0.0, inner: float | None = None) -> Markup:
    """Return a polygon of `count` corners, the first one up and turned by `turn` degrees; with `inner` a star."""
    points: list[str] = []
    steps = count * (1 if inner is None else 2)
    for i in range(steps):
        reach = radius if inner is None or i % 2 == 0 else inner
        angle = math.radians(turn + 360 * i / steps)
        points.append(f"{reach * math.sin(angle):.1f},{-reach * math.cos(angle):.1f}")
    return Markup('<polygon points="{}"/>').format(" ".join(points))


SHAPES = (
    Shape(Markup('<circle r="12"/>')),
    Shape(Markup('<rect x="-11" y="-11" width="22" height="22"/>')),
    Shape(_corners(3, 17.5), 6.8),
    Shape(_corners(4, 14.5)),
    Shape(_corners(6, 13, 30)),
    Shape(_corners(3, 17.5, 180), 4.4),
    Shape(_corners(8, 14, inner=10)),
    Shape(Markup('<rect x="-13" y="-8.5" width="26" height="17" rx="8.5"/>')),
)
