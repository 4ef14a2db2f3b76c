"""Render the table in a terminal: the light strips as coloured blocks, with names, counts and the called words.

Team names are last on their line and there are no frames, so a name wider than the terminal assumes displaces no other
text. Without colour the blocks keep their pattern; without Unicode they become ASCII.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.table import Table as Grid
from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display import phrases
from pi_controller.display.game_display import game_name, get_show, has_sheet, key_to_words, word
from pi_controller.display.i18n import catalogue
from pi_controller.display.lights import frame
from pi_controller.journal.sheet import columns
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View
from pi_controller.text import strip_controls

HEIGHT = 23
"""Lines of a picture: leaves room for the input line on a terminal of 24."""
_ASCII = str.maketrans("█▒·○●■—–─…▶≈◖◗", "#=.oox---~>~()")


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """A view as a rich renderable, also for `rich.live.Live`; `t` seconds as for `lights.frame`.

    It is at most `height` lines high.
    """

    view: View
    t: float = 0.0
    language: str = "en"
    height: int = HEIGHT

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines, each no wider than the console."""
        width = options.max_width
        lines = _lines(self.view, self.t, self.language, width)
        for line in _within(lines, self.height):
            if (seen := strip_controls(line.plain)) != line.plain:
                line.plain = seen
            if options.ascii_only:
                line.plain = line.plain.translate(_ASCII)
            yield line


def render_text(view: View, width: int = 80, *, language: str = "en") -> str:
    """Return the view as at most `HEIGHT` plain lines of at most `width` cells: no colour, no control characters."""
    console = Console(
        file=io.StringIO(), width=width, no_color=True, force_terminal=False, color_system=None, legacy_windows=False
    )
    # use the fitted lines directly: a second layout takes longer than drawing them
    lines = TerminalTable(view, language=language).__rich_console__(console, console.options)
    return "\n".join(line.plain.rstrip() for line in lines) + "\n"


def score_sheet(view: View, language: str = "en") -> str:
    """Return the state of the game as plain text: a sentence, then each side's counts, in lines of at most 80 cells."""
    counts = list(columns(view.sheet))
    heads = list(dict.fromkeys(what for what, whose, _ in counts if whose))
    sides = list(dict.fromkeys(whose for _, whose, _ in counts if whose))
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(max_width=44, overflow="fold")
    for _ in heads:
        grid.add_column(justify="right")
    grid.add_row("", *(key_to_words(head) for head in heads))
    held = {(what, whose): str(many) for what, whose, many in counts}
    for side in sides:
        name = draw.ISOLATES.sub("", draw.player_name(view, side))
        shown = f"{name} ({side})" if side in view.teams and name != side else name
        grid.add_row(Text(shown), *(held.get((head, side), "") for head in heads))
    console = Console(file=io.StringIO(), width=80, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(grid)
    pools = [f"{key_to_words(what)} {many}" for what, whose, many in counts if not whose]
    lines = [draw.ISOLATES.sub("", phrases.sentence(view, language)), "", *capture.get().splitlines(), *pools]
    return "".join(f"{strip_controls(line.rstrip())}\n" for line in lines)


def _within(lines: list[Text], height: int) -> list[Text]:
    """Return at most `height` of the lines: drop empty lines from the end first, then the last ones."""
    kept = list(lines)
    for i in reversed(range(len(kept))):
        if len(kept) > height and not kept[i].plain:
            del kept[i]
    return kept[:height]


def _pixel_style(pixel: Rgb) -> Style:
    """Return the style of a pixel on a screen: its hue, with the brightness raised for text."""
    brightest = max(pixel)
    lift = 0.42 + 0.70 * (brightest / 255) ** (1 / draw.GAMMA)
    red, green, blue = (min(255, round(255 * lift * (value / brightest) ** (1 / draw.GAMMA))) for value in pixel)
    return Style(color=f"#{red:02x}{green:02x}{blue:02x}")


def _blocks(pixels: Sequence[Rgb], width: int) -> Text:
    """Return a strip: full blocks for pixels at least half as bright as the brightest, else hatched ones."""
    brightest = max((max(pixel) for pixel in pixels), default=0)

    def place(pixel: Rgb) -> tuple[str, Style]:
        if not any(pixel):
            return "·", draw.DIM
        if pixel == draw.OWED:
            return "○", _pixel_style(pixel)
        return "█" if max(pixel) * 2 >= brightest else "▒", _pixel_style(pixel)

    return draw.strip(map(place, pixels), width)


def _wrap_line(line: Text, width: int, indent: int) -> list[Text]:
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    parts = line.wrap(console, max(16, width - indent))
    return [draw.fit(Text(" " * indent if i else "").append_text(part), width) for i, part in enumerate(parts)]


def _lines(view: View, t: float, language: str, width: int) -> list[Text]:
    text = catalogue(language).gettext
    if has_sheet(view):
        head = draw.fit(Text(game_name(view.game, language), draw.BOLD), width)
        drawn = get_show(view.game).terminal_lines(view, language, width)
        wrapped = [part for line in _messages(view, language) for part in _wrap_line(line, width, 2)]
        wrapped[:0] = _clocks(view, t, language)
        return [head, draw.fit(Text("─" * width, draw.DIM), width), Text(""), *drawn, Text(""), *wrapped]
    lights, pixels = pinmap().lights, frame(view, t)
    row_a, row_b = pixels[: lights.a], pixels[lights.a : lights.a + lights.b]
    middle = pixels[lights.a + lights.b : -lights.short]

    left = Text.assemble((game_name(view.game, language), draw.BOLD))
    left.append("  " + text("hide {n}, first to {points}").format(n=view.hide, points=view.points), draw.DIM)
    mat = text("mat connected") if view.sensors else text("sensors off")
    right = Text(mat if view.link else text("no mat"), draw.DIM)
    head = left.append(" " * max(2, width - left.cell_len - right.cell_len)).append_text(right)
    lines = [draw.fit(head, width), draw.fit(Text("─" * width, draw.DIM), width), Text("")]

    roles: dict[str | None, str] = {}
    if view.hider is not None and view.phase not in {"toss", "over"}:
        roles = {view.hider: text("hides"), opposing_team(view.hider): text("hits")}
    for team, row in (("A", row_a), ("B", row_b)):
        lines.append(draw.team_line(team, draw.team_name(view, team), view.short.get(team, 0), width))
        lines.append(draw.bar_line(roles.get(team, ""), _blocks(row, width), view.long.get(team, 0), width))
        lines.append(Text(""))
    lines.append(draw.bar_line(text("middle"), _blocks(middle, width), view.middle, width))
    score = f"{view.short.get('A', 0)}–{view.short.get('B', 0)}"
    lines.append(draw.bar_line(text("points"), _blocks(pixels[-lights.short :], width), score, width))
    lines += [_pads(view, language, width), Text("")]
    lines += _clocks(view, t, language)
    lines += [part for line in _messages(view, language) for part in _wrap_line(line, width, 2)]
    return lines


def _pads(view: View, language: str, width: int) -> Text:
    text, line = catalogue(language).gettext, draw.label("  " + catalogue(language).gettext("pads"))
    opened = view.opening if view.opening is not None and view.opening.hide == view.hide else None
    for pad in EVERY_PAD:
        marks = [text("found") if hit.found else text("not found") for hit in view.hits if hit.pad == pad]
        marks += [text("the bead")] if opened is not None and opened.pad == pad and "found" not in marks else []
        line.append(f"[{pad}]", Style(dim=not marks)).append(f" {', '.join(marks)}" if marks else "", draw.BOLD)
        line.append("   ")
    return draw.fit(line, width)


def _clocks(view: View, t: float, language: str) -> list[Text]:
    return [Text(clock, draw.BOLD) for clock in phrases.clocks(view, t, language)] if t else []


def _messages(view: View, language: str) -> list[Text]:
    text = catalogue(language).gettext
    lines = [Text(phrases.sentence(view, language), draw.BOLD)]
    if standing := phrases.describe_status(view, language):
        lines.append(Text(standing, Style(color="yellow")))
    if note := phrases.notice(view, language):
        lines.append(Text(note))
    if faults := phrases.faults(view, language):
        lines.append(Text(faults, Style(color="yellow")))
    if view.question is not None and view.phase not in {"halted", "over"}:
        choices = " / ".join(phrases.choice(one, language) for one in view.question.choices)
        lines.append(
            Text("? " + phrases.question(view.question, language, view.teams), Style(bold=True, color="yellow"))
        )
        lines += [
            Text(f"  {line}") for line in (choices, phrases.describe_default_answer(view.question, language)) if line
        ]
    elif turn_worth := phrases.describe_stakes(view, language):
        lines.append(Text(turn_worth))
    for call in view.calls:
        known = word(call, language, view.game)
        line = Text.assemble((known.shown, draw.BOLD))
        line.append(f" ({known.spoken})" if known.spoken else "", draw.DIM)
        meaning = phrases.foul(view.foul, language) if call == "foul" and view.foul else known.meaning
        lines.append(line.append(f"  {meaning}" if meaning else ""))
    if view.hits:
        lines.append(Text(". ".join(phrases.hit(i, one, language) for i, one in enumerate(view.hits, 1)), draw.DIM))
    if view.commit:
        opened = view.opening is not None and view.opening.hash == view.commit
        state = text("opened: it was under pad {pad}").format(pad=view.opening.pad) if opened and view.opening else ""
        lines.append(
            Text(text("Sealed {hash}").format(hash=view.commit[:16] + "…") + (f", {state}" if state else ""), draw.DIM)
        )
    for line in lines:
        line.plain = draw.ISOLATES.sub("", line.plain)
    return lines
