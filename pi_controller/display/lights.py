"""The light strips: the public view as 69 pixels, 20 of team A, 20 of team B, 20 of the middle, 9 short sticks.

In Hampa Apena every pixel lit in a team's or the middle's colour is a stick. Teams differ by place, colour and pattern
(A solid, B every second pixel dimmed), so viewers need not distinguish colours. At the far end of the hitters' row one
white pixel means that the first hit is owed, two the second. The hiding team's row is brighter, and breathes while
hands are passing; while the mat senses the bead and while a hit is owed the strips are static, because changing
currents disturb the magnetometers. A question puts a calm amber on the ends of the rows, a halted table red and white.
All changes are slower than 0.5 Hz, and the strips are independent of the bead, the commitment, the hits and the words.
The other games are drawn in `games/`.

Scenes are pure functions of view and time. A game's own rows are its `GameShow.rows`.
"""

from itertools import chain

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.game_display import get_show, has_sheet
from pi_controller.pinmap import pinmap
from pi_controller.table.view import View

_ASIDE = 0.15
"""Share of a linear value that remains if a row is dimmed for a notice."""


def frame(view: View, t: float = 0.0) -> tuple[Rgb, ...]:
    """Return the pixels in the strip's order at `t` seconds, (red, green, blue) of 0..255 each."""
    return tuple(chain.from_iterable(_sheet_rows(view, t) if has_sheet(view) else _stick_rows(view, t)))


def _stick_rows(view: View, t: float) -> list[list[Rgb]]:
    """Return the rows of a stick game as described above; without sticks in the view, a static middle row."""
    lights = pinmap().lights
    if view.phase == "over" and view.winner in {"A", "B"}:
        rows = [*draw.winner_rows(str(view.winner), t)]
    else:
        aside = view.phase == "halted" or view.question is not None
        middle = view.middle if view.long else lights.middle
        rows = [
            _team(view, "A", lights.a, t, aside=aside),
            _team(view, "B", lights.b, t, aside=aside),
            [draw.glow(draw.MIDDLE, draw.ASIDE if aside else draw.STEADY)] * min(max(middle, 0), lights.middle),
        ]
        rows = [
            row + [draw.DARK] * (size - len(row))
            for row, size in zip(rows, (lights.a, lights.b, lights.middle), strict=True)
        ]
        if aside:
            rows = [draw.ends(row, _notice(view)) for row in rows]
        elif view.phase == "hit" and view.hider in {"A", "B"}:
            hitters = rows[1 if view.hider == "A" else 0]
            for i in range({"first": 1, "second": 2}.get(view.owed or "", 0)):
                hitters[-1 - i] = draw.OWED
    return [*rows, draw.short_row(view.short, lights.short)]


def _sheet_rows(view: View, t: float) -> list[list[Rgb]]:
    """Return the rows of a game with a score sheet.

    They are static under a notice, and while the mat senses the hidden objects: changing currents disturb it.
    """
    lights = pinmap().lights
    aside = view.phase == "halted" or view.question is not None
    still = aside or view.phase in {"check", "hit", "guess"}
    filled = get_show(view.game).rows(view, 0.0 if still else t)
    sizes = (lights.a, lights.b, lights.middle, lights.short)
    rows = [[*row[:size], *[draw.DARK] * (size - len(row))] for row, size in zip(filled, sizes, strict=True)]
    if aside:
        rows[:3] = [draw.ends([_dim_pixel(pixel) for pixel in row], _notice(view)) for row in rows[:3]]
    return rows


def _notice(view: View) -> tuple[Rgb, ...]:
    return (
        (draw.glow(draw.RED, 0.6), draw.glow(draw.WHITE, 0.45))
        if view.phase == "halted"
        else (draw.glow(draw.AMBER, 0.6),)
    )


def _dim_pixel(pixel: Rgb) -> Rgb:
    red, green, blue = (round(value * _ASIDE) for value in pixel)
    return (red, green, blue) if red or green or blue or pixel == draw.DARK else (1, 1, 1)


def _team(view: View, team: str, size: int, t: float, *, aside: bool) -> list[Rgb]:
    count = min(max(view.long.get(team, 0), 0), size)
    if aside:
        level = draw.ASIDE
    elif view.hider != team:
        level = draw.WAITING
    elif view.phase == "hide":
        level = draw.breath(t)
    else:
        level = draw.HIDING
    return draw.pattern(team, count, lambda _: level)
