"""Slahal on the strips: live sticks, a gap, dead sticks dimmed, the king stick alone at the end of its holder's row.

In the middle two pixels are each pair of bones that is out, and one at the far end the king nobody has won yet. The
hiding team's live and dead sticks breathe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.slahal_state import ALL_DEAD, PER_TEAM
from pi_controller.pinmap import pinmap
from pi_controller.show.paint import DARK, MIDDLE, STEADY, WAITING, WHITE, Rows, breath, champion, glow, pattern

if TYPE_CHECKING:
    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View

KING = glow(WHITE, 0.55)
DEAD_DIM = 0.52
"""How bright a dead stick is beside a live one, as seen."""


def rows(view: View, t: float) -> Rows:
    """Return the rows of a Slahal game."""
    sheet = view.sheet
    if sheet["winner"]:
        return Rows(*champion(sheet["winner"], t))
    filled: list[list[Rgb]] = []
    for team, size in zip("AB", (pinmap().lights.a, pinmap().lights.b), strict=True):
        level = breath(t) if team == sheet["hiding"] else WAITING
        live = pattern(team, sheet["live"][team], lambda _, level=level: level)
        dead = pattern(team, sheet["dead"][team], lambda _, level=level: level * DEAD_DIM)
        row = live + [DARK] * (PER_TEAM + 1 - len(live)) + dead + [DARK] * (ALL_DEAD - len(dead))
        row += [DARK] * (size - len(row))
        if sheet["king"] == team:
            row[-1] = KING
        filled.append(row)
    bone = glow(MIDDLE, STEADY)
    middle = [bone, bone, DARK] * (sheet["pairs_out"] or 0)
    if sheet["king"] is None:
        middle += [DARK] * (pinmap().lights.middle - 1 - len(middle)) + [KING]
    return Rows(filled[0], filled[1], middle)
