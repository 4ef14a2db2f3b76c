"""The light strips: the public view as 69 pixels, 20 of team A, 20 of team B, 20 of the middle, 9 short sticks.

Every pixel lit in a team's or the middle's colour is a stick. Teams differ by place, colour and pattern (A solid, B
every second pixel dimmed), so no colour need be told apart. At the far end of the hitters' row one white pixel says
that the first hit is owed, two the second. The hiding team's row is brighter, and breathes while hands are passing;
while the mat looks at the bead and while a hit is owed nothing moves, because currents that change disturb the
magnetometers. A question puts a calm amber on the ends of the rows, a halted table red and white. Nothing changes
faster than 0.5 Hz, and nothing depends on the bead, the commitment, the hits or the words.

Scenes are pure: view and time in, pixels out. `SCENES` holds one for each game that wants its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View

    Scene = Callable[[View, float], tuple[Rgb, ...]]
    Light = tuple[float, float, float]

GAMMA = 2.2
DARK: Rgb = (0, 0, 0)
# colours as the eye sees them, 0..1 a channel; `glow` turns them into the strip's linear values
TEAM_A: Light = (0.25, 0.62, 1.0)
TEAM_B: Light = (1.0, 0.36, 0.10)
MIDDLE: Light = (1.0, 0.82, 0.55)
WHITE: Light = (1.0, 0.95, 0.88)
AMBER: Light = (1.0, 0.66, 0.0)
RED: Light = (1.0, 0.0, 0.0)

HIDING, WAITING, STEADY, ASIDE = 0.64, 0.44, 0.42, 0.26
"""How bright, 0..1 as seen: the hiders' row, the hitters', middle and short sticks, rows put aside for a notice."""
BREATH_HZ = 0.25
WAVE_HZ = 0.15
SECOND_DIM = 0.45

SCENES: dict[str, Scene] = {}
"""One scene a game, by the game's name; a game without one has its sticks shown."""


def glow(light: Light, level: float) -> Rgb:
    """Return the strip's values for a colour at `level` 0..1 as seen; never quite dark."""
    red, green, blue = (round(255 * (channel * level) ** GAMMA) for channel in light)
    return (red, green, blue) if red or green or blue else (1, 1, 1)


OWED = glow(WHITE, 0.5)
"""The pixel that counts the hit owed."""


def frame(view: View, t: float = 0.0) -> tuple[Rgb, ...]:
    """Return the pixels in the strip's order at `t` seconds, (red, green, blue) of 0..255 each."""
    return SCENES.get(view.game, sticks)(view, t)


def sticks(view: View, t: float) -> tuple[Rgb, ...]:
    """Return the scene of a stick game: what the module says above."""
    lights = pinmap().lights
    if view.phase == "over" and view.winner in {"A", "B"}:
        rows = _winner(view, t)
    else:
        aside = view.phase == "halted" or view.question is not None
        rows = [
            _team(view, "A", lights.a, t, aside=aside),
            _team(view, "B", lights.b, t, aside=aside),
            [glow(MIDDLE, ASIDE if aside else STEADY)] * min(max(view.middle, 0), lights.middle),
        ]
        rows = [
            row + [DARK] * (size - len(row))
            for row, size in zip(rows, (lights.a, lights.b, lights.middle), strict=True)
        ]
        if view.phase == "halted":
            rows = [_ends(row, (glow(RED, 0.6), glow(WHITE, 0.45))) for row in rows]
        elif view.question is not None:
            rows = [_ends(row, (glow(AMBER, 0.6),)) for row in rows]
        elif view.phase == "hit" and view.hider in {"A", "B"}:
            _owed(rows[1 if view.hider == "A" else 0], view.owed)
    return tuple(pixel for row in (*rows, _short(view, lights.short)) for pixel in row)


SCENES["dakota"] = sticks


def _pattern(team: str, size: int, level: Callable[[int], float]) -> list[Rgb]:
    if team == "A":
        return [glow(TEAM_A, level(i)) for i in range(size)]
    return [glow(TEAM_B, level(i) * (SECOND_DIM if i % 2 else 1.0)) for i in range(size)]


def _team(view: View, team: str, size: int, t: float, *, aside: bool) -> list[Rgb]:
    count = min(max(view.long.get(team, 0), 0), size)
    if aside:
        level = ASIDE
    elif view.hider != team:
        level = WAITING
    elif view.phase == "hide":
        level = HIDING - 0.10 * (0.5 - 0.5 * math.cos(2 * math.pi * BREATH_HZ * t))
    else:
        level = HIDING
    return _pattern(team, count, lambda _: level)


def _winner(view: View, t: float) -> list[list[Rgb]]:
    """Return the winner's whole row lit with a slow swell along it, the others dark."""
    lights = pinmap().lights
    rows = [[DARK] * lights.a, [DARK] * lights.b, [DARK] * lights.middle]
    size = lights.a if view.winner == "A" else lights.b
    swell = [0.54 + 0.10 * math.sin(2 * math.pi * (WAVE_HZ * t - i / size)) for i in range(size)]
    rows[0 if view.winner == "A" else 1] = _pattern(str(view.winner), size, swell.__getitem__)
    return rows


def _owed(row: list[Rgb], owed: str | None) -> None:
    for i in range({"first": 1, "second": 2}.get(owed or "", 0)):
        row[-1 - i] = OWED


def _ends(row: list[Rgb], inward: tuple[Rgb, ...]) -> list[Rgb]:
    n = len(inward)
    return [*inward, *row[n:-n], *reversed(inward)]


def _short(view: View, size: int) -> list[Rgb]:
    """Return the short sticks: A's from the first pixel on, B's from the last, unearned ones dark."""
    a = min(max(view.short.get("A", 0), 0), size)
    b = min(max(view.short.get("B", 0), 0), size - a)
    lit_b = list(reversed(_pattern("B", b, lambda _: HIDING)))
    return [*_pattern("A", a, lambda _: HIDING), *[DARK] * (size - a - b), *lit_b]
