"""Building blocks of light scenes: colours, gamma, patterns, animation, and proportional counts."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pi_controller.board.interfaces import Rgb
from pi_controller.pinmap import pinmap

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
RIVER: Light = (0.30, 0.75, 0.95)

HIDING, WAITING, STEADY = 0.64, 0.44, 0.42
"""Perceived brightness, 0..1: the row whose turn it is, the other row, the middle."""
BAR_DIM = 0.52
"""Perceived brightness of a side's second bar relative to its first."""
BREATH_HZ = 0.25
WAVE_HZ = 0.15
SECOND_DIM = 0.45

PLAYERS: tuple[tuple[Light, str], ...] = (
    (TEAM_A, "1"),
    (TEAM_B, "10"),
    ((0.35, 0.90, 0.35), "110"),
    ((1.0, 0.80, 0.15), "100"),
    ((0.85, 0.40, 0.95), "1110"),
    ((0.20, 0.90, 0.80), "1000"),
    ((1.0, 0.45, 0.60), "1100"),
    ((0.95, 0.95, 0.75), "11100"),
)
"""Colours and patterns of up to eight players in turn order; a `0` in a pattern is a dimmed pixel."""


class Rows(NamedTuple):
    """The parts of the strip, each of any length: missing pixels are dark, extra ones are dropped."""

    a: Sequence[Rgb]
    b: Sequence[Rgb]
    middle: Sequence[Rgb]
    short: Sequence[Rgb] = ()


@lru_cache(1024)  # a row is drawn over and over, mostly of the same few lights
def glow(light: Light, level: float) -> Rgb:
    """Return the strip's values for a colour at the perceived brightness `level` 0..1; at least 1 in a channel."""
    red, green, blue = (round(255 * (channel * level) ** GAMMA) for channel in light)
    return (red, green, blue) if red or green or blue else (1, 1, 1)


OWED = glow(WHITE, 0.5)
"""The pixel that marks an owed hit."""


def pattern(team: str, size: int, level: Callable[[int], float]) -> list[Rgb]:
    """Return `size` sticks of a team: A solid, B every second pixel dimmed."""
    if team == "A":
        return [glow(TEAM_A, level(i)) for i in range(size)]
    return [glow(TEAM_B, level(i) * (SECOND_DIM if i % 2 else 1.0)) for i in range(size)]


def breath(t: float) -> float:
    """Return the brightness of the hiding team's row at `t` seconds, breathing at 0.25 Hz."""
    return HIDING - 0.10 * (0.5 - 0.5 * math.cos(2 * math.pi * BREATH_HZ * t))


def swell(size: int, t: float) -> Callable[[int], float]:
    """Return the brightness by pixel of a winner's row of `size` at `t` seconds: a slow wave along it."""
    return lambda i: 0.54 + 0.10 * math.sin(2 * math.pi * (WAVE_HZ * t - i / size))


def winner_rows(winner: str, t: float) -> tuple[list[Rgb], list[Rgb], list[Rgb]]:
    """Return the three long rows with the winning team's row fully lit, the others dark."""
    lights = pinmap().lights
    size = lights.a if winner == "A" else lights.b
    lit = pattern(winner, size, swell(size, t))
    middle = [DARK] * lights.middle
    return (lit, [DARK] * lights.b, middle) if winner == "A" else ([DARK] * lights.a, lit, middle)


def ends(row: Sequence[Rgb], inward: tuple[Rgb, ...]) -> list[Rgb]:
    """Return `row` with the notice pixels `inward` at both ends."""
    n = len(inward)
    return [*inward, *row[n:-n], *reversed(inward)]


def short_row(short: Mapping[str, int], size: int) -> list[Rgb]:
    """Return the short sticks: A's from the first pixel on, B's from the last, unearned ones dark."""
    a, b = (max(short.get(team, 0), 0) for team in "AB")
    if a + b > size:
        a, b = divide_pixels([a, b], a + b, size)
    lit_b = list(reversed(pattern("B", b, lambda _: HIDING)))
    return [*pattern("A", a, lambda _: HIDING), *[DARK] * (size - a - b), *lit_b]


def scale_to_pixels(count: int, total: int, size: int) -> int:
    """Return how many of `size` pixels represent `count` of `total`: none only for 0, all only for `total`."""
    if count <= 0 or size <= 0:
        return 0
    if count >= total:
        return size
    return min(max(1, round(count * size / total)), max(1, size - 1))


def count_pixels(n: int, of: int, size: int) -> int:
    """Return how many of `size` pixels show `n` of `of`: one each if they all fit, else a share."""
    return min(max(n, 0), of) if of <= size else scale_to_pixels(n, of, size)


def divide_pixels(counts: Sequence[int], total: int, size: int) -> list[int]:
    """Return the pixels of several counts that share `size` pixels; there must be a pixel for each."""
    parts = [scale_to_pixels(count, total, size) for count in counts]
    while sum(parts) > size:
        parts[parts.index(max(parts))] -= 1
    return parts
