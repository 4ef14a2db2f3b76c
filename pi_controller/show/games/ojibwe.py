"""The Mille Lacs Moccasin game on the strips: a pixel is a counter, in a team's row or in the pool's.

The hiders' row breathes. A white pixel at its far end: the next find does not pass the hide. In the emptier of the two
rows, away from the counters, four white pixels are the pads in their order when one of them is high: it bright, its
mate less, the others faint. Short sticks come from both ends, as in Hampa Apena.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.ojibwe import HIGH, HIGH_MATE, value
from pi_controller.games.ojibwe_state import COUNTERS, PADS
from pi_controller.pinmap import pinmap
from pi_controller.show.paint import (
    DARK,
    MIDDLE,
    STEADY,
    WAITING,
    WHITE,
    Rows,
    breath,
    champion,
    glow,
    pattern,
    shares,
    short_row,
)

if TYPE_CHECKING:
    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View

HIDES_ON = glow(WHITE, 0.5)
PAD = {HIGH: glow(WHITE, 0.56), HIGH_MATE: glow(WHITE, 0.34)}
PLAIN_PAD = glow(WHITE, 0.17)


def rows(view: View, t: float) -> Rows:
    """Return the rows of a Moccasin game."""
    sheet, size = view.sheet, pinmap().lights.short
    short = sheet["short"]
    if sum(short.values()) > size:
        short = dict(zip("AB", shares([short["A"], short["B"]], sum(short.values()), size), strict=True))
    short = short_row(short, size)
    if sheet["winner"]:
        return Rows(*champion(sheet["winner"], t), short)
    hider, counters = sheet["hider"], sheet["counters"]
    filled: dict[str, list[Rgb]] = {}
    for team in "AB":
        level = breath(t) if team == hider else WAITING
        lit = pattern(team, counters[team], lambda _, level=level: level)
        filled[team] = lit + [DARK] * (COUNTERS - len(lit))
    if sheet["high"] is not None:
        hitters = "B" if hider == "A" else "A"
        emptier = hider if counters[hider] < counters[hitters] else hitters
        filled[emptier][-5:-1] = [PAD.get(value(pad, sheet["high"]), PLAIN_PAD) for pad in PADS]
    if sheet["hides_left"] > 1:
        filled[hider][-1] = HIDES_ON
    return Rows(filled["A"], filled["B"], [glow(MIDDLE, STEADY)] * sheet["pool"], short)
