"""Eight shapes for eight players, each with a number in it, so that no two need be told apart by colour."""

from __future__ import annotations

import math

from pi_controller.web.markup import safe

RADIUS = 13
"""How far a shape reaches from its middle, in the units of the drawing."""


def _corners(count: int, radius: float, turn: float = 0.0, inner: float | None = None) -> str:
    """Return a polygon of `count` corners, the first one up and turned by `turn` degrees; with `inner` a star."""
    points: list[str] = []
    steps = count * (1 if inner is None else 2)
    for i in range(steps):
        reach = radius if inner is None or i % 2 == 0 else inner
        angle = math.radians(turn + 360 * i / steps)
        points.append(f"{reach * math.sin(angle):.1f},{-reach * math.cos(angle):.1f}")
    return f'<polygon points="{" ".join(points)}"/>'


SHAPES = (
    '<circle r="12"/>',
    '<rect x="-11" y="-11" width="22" height="22"/>',
    _corners(3, 17.5),
    _corners(4, 14.5),
    _corners(6, 13, 30),
    _corners(3, 17.5, 180),
    _corners(8, 14, inner=10),
    '<rect x="-13" y="-8.5" width="26" height="17" rx="8.5"/>',
)
_LOWER = {3: 2.0, 6: -0.4}  # where the number sits in a triangle


def horse(number: int, x: float, y: float, state: str = "") -> str:
    """Return the shape of player `number` (1 to 8) at (x, y) of a drawing."""
    down = 4.8 + _LOWER.get(number, 0.0)
    return (
        f'<g class="horse p{number} {state}" transform="translate({x:.1f} {y:.1f})">{SHAPES[(number - 1) % 8]}'
        f'<text y="{down:.1f}">{number}</text></g>'
    )


def drawn(number: int, said: str) -> str:
    """Return the shape of player `number` as a picture of its own; `said` is what it is to those who cannot see it."""
    return (
        f'<svg class="token" viewBox="-18 -18 36 36" role="img" aria-label="{safe(said)}">{horse(number, 0, 0)}</svg>'
    )
