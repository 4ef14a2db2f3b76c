"""The plum stone game on the strips: each player's counters and the pile as shares of all, at least one pixel each.

The row of the player who throws is brighter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.pinmap import pinmap
from pi_controller.show.paint import HIDING, MIDDLE, STEADY, WAITING, Rows, champion, glow, pattern, share

if TYPE_CHECKING:
    from pi_controller.table.view import View


def rows(view: View, t: float) -> Rows:
    """Return the rows of a plum stone game."""
    sheet, lights = view.sheet, pinmap().lights
    if sheet["winner"]:
        return Rows(*champion(sheet["winner"], t))
    counters = sheet["counters"]
    total = sheet["pile"] + sum(counters.values())
    filled = [
        pattern(
            team,
            share(counters[team], total, size),
            lambda _, level=HIDING if team == sheet["thrower"] else WAITING: level,
        )
        for team, size in zip("AB", (lights.a, lights.b), strict=True)
    ]
    return Rows(filled[0], filled[1], [glow(MIDDLE, STEADY)] * share(sheet["pile"], total, lights.middle))
