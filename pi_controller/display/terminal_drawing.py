"""Lines for a terminal: bars of sticks, labels of equal width, and lines cut to the width."""

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import set_cell_size
from rich.style import Style
from rich.text import Text

from pi_controller.display.drawing import TEAM_A, TEAM_B, Light, Rgb
from pi_controller.pinmap import pinmap

LABEL = 12  # cells before a strip
BAR, PLAYER_BAR = 20, 10  # places in a bar for the whole supply
GROUP = 4  # sticks are paid by fours
WIDE, NARROW = 104, 62  # from WIDE on two cells a stick; below NARROW no gaps
TEAMS: Mapping[str, tuple[str, Light, str]] = {"A": ("●", TEAM_A, "1"), "B": ("■", TEAM_B, "10")}
"""Each team's shape, colour and pattern."""
DIM, BOLD = Style(dim=True), Style(bold=True)


def solid(light: Light, *, bold: bool = True) -> Style:
    """Return a colour for text."""
    red, green, blue = (round(255 * channel) for channel in light)
    return Style(color=f"#{red:02x}{green:02x}{blue:02x}", bold=bold)


def fit(line: Text, width: int) -> Text:
    """Return `line` cut to `width` cells, with an ellipsis."""
    line.no_wrap, line.overflow, line.end = True, "ellipsis", "\n"
    line.truncate(width, overflow="ellipsis")
    return line


def label(title: str) -> Text:
    """Return `title` padded to the width of all labels."""
    return Text.assemble((set_cell_size(title, LABEL - 1), DIM), " ")


def strip(places: Iterable[tuple[str, Style]], width: int) -> Text:
    """Return places in a row, each a character and its style; the number of cells and gaps depends on `width`."""
    cells = 2 if width >= WIDE else 1
    gap, group_gap = ("", "") if width < NARROW else (" ", " ")
    line = Text()
    for i, (char, style) in enumerate(places):
        if i:
            line.append(gap if i % GROUP else gap + group_gap)
        line.append(char * cells if char in "█▒" else char.ljust(cells), style)
    return line


def bar(lit: int, of: int, width: int, light: Light, dims: str = "1") -> Text:
    """Return a bar of `of` places, the first `lit` filled; a `0` in the pattern `dims` is a hatched place."""
    filled = solid(light, bold=False)
    places = (("█" if dims[i % len(dims)] == "1" else "▒", filled) if i < lit else ("·", DIM) for i in range(of))
    return strip(places, width)


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


def pixel_lines(pixels: Sequence[Rgb]) -> list[Text]:
    """Return the light strip's rows as lines: a block in its colour for each lit pixel, a dot for a dark one."""
    lights, first, lines = pinmap().lights, 0, list[Text]()
    for name in ("a", "b", "middle", "short"):
        row = pixels[first : first + getattr(lights, name)]
        first += len(row)
        line = label(f"  {name.upper() if name in 'ab' else name}")
        for red, green, blue in row:
            line.append(
                "█" if (red, green, blue) != (0, 0, 0) else "·", Style(color=f"#{red:02x}{green:02x}{blue:02x}")
            )
        lines.append(line)
    return lines
