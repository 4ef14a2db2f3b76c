"""Pa-tol on the strips: rows A and B are the ring of forty notches from north clockwise, the middle row the last throw.

The four rivers glow faintly where no horse stands. Every horse has a colour and a rhythm of its own, eight beats of
half a second between bright and dim, so nothing blinks faster than 1 Hz and no colour need be told apart. Horses in one
notch take turns, a whole rhythm each. The thrower's horse is brighter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.patol import RIVERS, STONES
from pi_controller.pinmap import pinmap
from pi_controller.show.paint import (
    DARK,
    HIDING,
    MIDDLE,
    PLAYERS,
    RIVER,
    SECOND_DIM,
    STEADY,
    WAITING,
    Rows,
    glow,
    swell,
)

if TYPE_CHECKING:
    from pi_controller.table.view import View

BEAT_S = 0.5
RHYTHMS = ("11111111", "11110000", "10000000", "11111110", "11001100", "10100000", "11111010", "10101010")
"""One for each horse in turn order: `1` is a bright beat, `0` a dim one. No two are alike, wherever one begins."""
RIVER_LEVEL = 0.20


def rows(view: View, t: float) -> Rows:
    """Return the rows of a Pa-tol game."""
    sheet, lights = view.sheet, pinmap().lights
    value = [glow(MIDDLE, STEADY)] * min(sheet["value"] or 0, lights.middle)
    players = [horse["player"] for horse in sheet["horses"]]
    if sheet["winner"]:
        light, _ = PLAYERS[players.index(sheet["winner"]) % len(PLAYERS)]
        wave = swell(STONES, t)
        ring = [glow(light, wave(i)) for i in range(STONES)]
        return Rows(ring[: lights.a], ring[lights.a :], value)
    ring = [glow(RIVER, RIVER_LEVEL) if i in RIVERS.values() else DARK for i in range(STONES)]
    beat = int(t / BEAT_S)
    standing: dict[int, list[int]] = {}
    for i, horse in enumerate(sheet["horses"]):
        if horse["notch"] is not None:
            standing.setdefault(horse["notch"], []).append(i)
    for notch, here in standing.items():
        i = here[beat // len(RHYTHMS[0]) % len(here)]
        light, _ = PLAYERS[i % len(PLAYERS)]
        level = HIDING if players[i] == sheet["thrower"] else WAITING
        rhythm = RHYTHMS[i % len(RHYTHMS)]
        ring[notch] = glow(light, level if rhythm[beat % len(rhythm)] == "1" else level * SECOND_DIM)
    return Rows(ring[: lights.a], ring[lights.a :], value)
