"""The light strips: the public view as 69 pixels, 20 of team A, 20 of team B, 20 of the middle, 9 short sticks.

In Hampa Apena every pixel lit in a team's or the middle's colour is a stick. Teams differ by place, colour and pattern
(A solid, B every second pixel dimmed), so viewers need not distinguish colours. At the far end of the hitters' row one
white pixel means that the first hit is owed, two the second. The hiding team's row is brighter, and breathes while
hands are passing; while the mat senses the bead and while a hit is owed the strips are static, because changing
currents disturb the magnetometers. A question puts a calm amber on the ends of the rows, a halted table red and white.
All changes are slower than 0.5 Hz, and the strips are independent of the bead, the commitment, the hits and the words.
Sticks that change hands walk from row to row, in the time in which they fly on a page; each pixel changes once. The
other games have the same rows, by their scoreboard.

Scenes are pure functions of view and time. A game's own rows are its `GameShow.rows`.
"""

from collections.abc import Mapping
from itertools import chain, repeat

import msgspec

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.pinmap import pinmap
from pi_controller.rules.scoreboard import Scoreboard
from pi_controller.table.view import View

_ASIDE = 0.15
"""Share of a linear value that remains if a row is dimmed for a notice."""

FLIGHT_S, DEPARTURES_S = 0.8, 0.28
"""Time from the first stick's departure to the last one's arrival, and to the last one's departure (motion.js)."""
REVEAL_S = 1.3
"""On an installation the cloth is turned back before the sticks move (exhibit.js)."""
PAGE_S = 0.08
"""How much later than the strips a page shows a change: the measured median."""
_ROWS = ("A", "B", "")
"""The rows that sticks change between; "" is the middle."""


def frame(view: View, t: float = 0.0) -> tuple[Rgb, ...]:
    """Return the pixels in the strip's order at `t` seconds, (red, green, blue) of 0..255 each.

    They are static under a notice, and while the mat senses the hidden objects: changing currents disturb it.
    """
    lights = pinmap().lights
    aside = view.phase == "halted" or view.question is not None
    still = aside or view.phase not in {"hide", "throw", "over"}
    filled = get_show(view.game, ENGLISH).rows(view, 0.0 if still else t)
    sizes = (lights.a, lights.b, lights.middle, lights.short)
    rows = [[*row[:size], *[draw.DARK] * (size - len(row))] for row, size in zip(filled, sizes, strict=True)]
    if aside:
        rows[:3] = [draw.ends([_dim_pixel(pixel) for pixel in row], _notice(view)) for row in rows[:3]]
    return tuple(chain.from_iterable(rows))


def _notice(view: View) -> tuple[Rgb, ...]:
    return (
        (draw.glow(draw.RED, 0.6), draw.glow(draw.WHITE, 0.45))
        if view.phase == "halted"
        else (draw.glow(draw.AMBER, 0.6),)
    )


def _dim_pixel(pixel: Rgb) -> Rgb:
    red, green, blue = (round(value * _ASIDE) for value in pixel)
    return (red, green, blue) if red or green or blue or pixel == draw.DARK else (1, 1, 1)


class StickWalk:
    """The strips with sticks that walk to their new owner, `delay_s` after the change.

    While the mat senses the bead they do not walk: changing currents disturb the magnetometers.
    """

    def __init__(self, delay_s: float = PAGE_S) -> None:
        self._delay_s = delay_s
        self._view: View | None = None
        self._before: dict[str, int] | None = None
        self._since = 0.0

    def frame(self, view: View, t: float) -> tuple[Rgb, ...]:
        """Return the pixels at `t` seconds, as the function `frame`. Call it with each new view, in order."""
        if view is not self._view:
            before, self._view = self._view, view
            if before is None or before.game != view.game or not _can_walk(view.scoreboard):
                self._before = None
            elif before.scoreboard.bars != view.scoreboard.bars:
                self._before, self._since = before.scoreboard.bars, t
        counts = None
        if self._before is not None and view.phase not in {"check", "hit", "over", "halted"}:
            counts = walking_sticks(self._before, view.scoreboard.bars, t - self._since - self._delay_s)
        if counts is None:
            self._before = None
            return frame(view, t)
        return frame(msgspec.structs.replace(view, scoreboard=view.scoreboard.replace_bars(counts)), t)


def _can_walk(board: Scoreboard) -> bool:
    """Return whether each pixel of the two sides and the pool is a stick."""
    sizes = [bar.of for side in board.sides for bar in side.bars]
    return (
        board.of_teams
        and board.pool is not None
        and sizes == [board.pool.of] * 2
        and sizes[0] <= pinmap().lights.middle
    )


def walking_sticks(before: Mapping[str, int], after: Mapping[str, int], t: float) -> dict[str, int] | None:
    """Return the sticks of each row of `_ROWS`, `t` seconds after the first one left; None once all have arrived.

    They leave one after another, and each is on its way for the same time.

    >>> [walking_sticks({"A": 4, "B": 0, "": 0}, {"A": 2, "B": 2, "": 0}, t) for t in (0.0, 0.6, 0.8)]
    [{'A': 3, 'B': 0, '': 0}, {'A': 2, 'B': 1, '': 0}, None]
    """
    if t >= FLIGHT_S:
        return None
    leaving = list(chain.from_iterable(repeat(row, before[row] - after[row]) for row in _ROWS))
    coming = list(chain.from_iterable(repeat(row, after[row] - before[row]) for row in _ROWS))
    counts = dict(before)
    for i, (source, target) in enumerate(zip(leaving, coming, strict=False)):
        left = t - i / len(coming) * DEPARTURES_S
        if left >= 0.0:
            counts[source] -= 1
        if left >= FLIGHT_S - DEPARTURES_S:
            counts[target] += 1
    for row in leaving[len(coming) :]:  # the number of sticks has changed: these do not walk
        counts[row] -= 1
    for row in coming[len(leaving) :]:
        counts[row] += 1
    return counts
