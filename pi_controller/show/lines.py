"""Lines for a terminal: sticks drawn from counts, labels of one width, and lines that never run over the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import set_cell_size
from rich.style import Style
from rich.text import Text

from pi_controller.show.paint import TEAM_A, TEAM_B

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.show.paint import Light

LABEL = 12  # cells before a strip
GROUP = 4  # sticks are paid by fours
WIDE, NARROW = 104, 62  # from here on two cells a stick; below this no gaps
TEAMS: Mapping[str, tuple[str, Light, str]] = {"A": ("●", TEAM_A, "1"), "B": ("■", TEAM_B, "10")}
"""Each team's shape, colour and pattern."""
DIM, BOLD = Style(dim=True), Style(bold=True)


def solid(light: Light, *, bold: bool = True) -> Style:
    """Return a colour for text."""
    red, green, blue = (round(255 * channel) for channel in light)
    return Style(color=f"#{red:02x}{green:02x}{blue:02x}", bold=bold)


def fit(line: Text, width: int) -> Text:
    """Return `line` cut to `width` cells."""
    line.no_wrap, line.overflow, line.end = True, "ellipsis", "\n"
    line.truncate(width, overflow="ellipsis")
    return line


def label(title: str) -> Text:
    """Return `title` in the width of all labels."""
    return Text.assemble((set_cell_size(title, LABEL - 1), DIM), " ")


def bar(lit: int, of: int, width: int, light: Light, dims: str = "1") -> Text:
    """Return `of` places of which the first `lit` hold a stick; a `0` of the pattern `dims` is a hatched one."""
    cells = 2 if width >= WIDE else 1
    gap, group_gap = ("", "") if width < NARROW else (" ", " ")
    strip = Text()
    for i in range(of):
        if i:
            strip.append(gap if i % GROUP else gap + group_gap)
        if i < lit:
            strip.append(("█" if dims[i % len(dims)] == "1" else "▒") * cells, solid(light, bold=False))
        else:
            strip.append("·".ljust(cells), DIM)
    return strip


def team_line(team: str, name: str, score: object, width: int) -> Text:
    """Return a team's line: its shape and letter, its score, its name."""
    shape, light, _ = TEAMS[team]
    head = Text.assemble((f"{shape} {team}  ", solid(light)))
    if score != "":
        head.append(f"{score}  ", BOLD)
    return fit(head.append(name, solid(light)), width)


def bar_line(title: str, strip: Text, count: object, width: int) -> Text:
    """Return a line with a label, a strip and its count."""
    return fit(label(f"  {title}").append_text(strip).append(f"  {count}", BOLD), width)
