"""Bageswin on the strips: rows A and B are one long row of the players' sticks in turn order, a gap between each two.

A run is as long as the player's share of all sticks, at least one pixel, and the same measure holds for the bank in the
middle row. Players differ by their place in the order, colour and pattern. The thrower's run is brighter; who is out
has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.pinmap import pinmap
from pi_controller.show.paint import (
    DARK,
    HIDING,
    MIDDLE,
    PLAYERS,
    SECOND_DIM,
    STEADY,
    WAITING,
    Rows,
    glow,
    share,
    shares,
    swell,
)

if TYPE_CHECKING:
    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View


def rows(view: View, t: float) -> Rows:
    """Return the rows of a fish game."""
    sheet, lights = view.sheet, pinmap().lights
    players, size = sheet["players"], lights.a + lights.b
    held = [player["sticks"] for player in players]
    total = sheet["bank"] + sum(held)
    room = size - (len(players) - 1)
    line: list[Rgb] = []
    for i, (player, n) in enumerate(zip(players, shares(held, total, room), strict=True)):
        light, dims = PLAYERS[i % len(PLAYERS)]
        won = player["name"] == sheet["winner"]
        level = HIDING if player["name"] == sheet["thrower"] else WAITING
        wave = swell(max(n, 1), t)
        line += [DARK] if i else []
        line += [
            glow(light, (wave(k) if won else level) * (1.0 if dims[k % len(dims)] == "1" else SECOND_DIM))
            for k in range(n)
        ]
    bank = [glow(MIDDLE, STEADY)] * share(sheet["bank"], total, lights.middle)
    return Rows(line[: lights.a], line[lights.a :], bank)
