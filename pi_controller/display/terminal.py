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

from pi_controller.display import drawing as draw
from pi_controller.display import phrases, terminal_drawing
from pi_controller.display.game_display import PadMark, describe_note, game_name, get_show, label, word
from pi_controller.display.i18n import catalogue
from pi_controller.display.shown_names import ISOLATES, player_name
from pi_controller.display.terminal_drawing import BAR, BOLD, DIM, PLAYER_BAR, TEAMS, bar_line, fit, solid, team_line
from pi_controller.rules.scoreboard import Count, Side
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
    board = view.scoreboard
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(max_width=44, overflow="fold")
    units = [label(view.game, count.unit, language) for count in board.sides[0].counts]
    for _ in units:
        grid.add_column(justify="right")
    grid.add_row("", *(unit.capitalize() for unit in units))
    for side in board.sides:
        name = ISOLATES.sub("", player_name(view, side.key))
        shown = f"{name} ({side.key})" if side.key in view.teams and name != side.key else name
        grid.add_row(Text(shown), *(str(count.n) for count in side.counts))
    console = Console(file=io.StringIO(), width=80, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(grid)
    pools = [f"{label(view.game, board.pool.unit, language)} {board.pool.n}"] if board.pool else []
    lines = [ISOLATES.sub("", phrases.sentence(view, language)), "", *capture.get().splitlines(), *pools]
    return "".join(f"{strip_controls(line.rstrip())}\n" for line in lines)


def _within(lines: list[Text], height: int) -> list[Text]:
    """Return at most `height` of the lines: drop empty lines from the end first, then the last ones."""
    kept = list(lines)
    for i in reversed(range(len(kept))):
        if len(kept) > height and not kept[i].plain:
            del kept[i]
    return kept[:height]


def _wrap_line(line: Text, width: int, indent: int) -> list[Text]:
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    parts = line.wrap(console, max(16, width - indent))
    return [fit(Text(" " * indent if i else "").append_text(part), width) for i, part in enumerate(parts)]


def _lines(view: View, t: float, language: str, width: int) -> list[Text]:
    text = catalogue(language).gettext
    left = Text.assemble((game_name(view.game, language), BOLD))
    facts = [text("hide {n}").format(n=view.hide)] if view.hide else []
    facts += [text("first to {points}").format(points=view.scoreboard.goal)] if view.scoreboard.goal else []
    left.append(f"  {', '.join(facts)}", DIM)
    mat = text("mat connected") if view.sensors else text("sensors off")
    right = Text(mat if view.link else text("no mat"), DIM)
    head = left.append(" " * max(2, width - left.cell_len - right.cell_len)).append_text(right)
    lines = [
        fit(head, width),
        fit(Text("─" * width, DIM), width),
        Text(""),
    ]
    lines += _table(view, language, width)
    lines += _clocks(view, t, language)
    lines += [part for line in _messages(view, language) for part in _wrap_line(line, width, 2)]
    return lines


def _table(view: View, language: str, width: int) -> list[Text]:
    """Return the game's own lines and the scoreboard: several lines for a team, one for a player."""
    board, show = view.scoreboard, get_show(view.game)
    lines = show.own_lines(view, language, width)
    for number, side in enumerate(board.sides, 1):
        lines += (
            _two_sided(view, side, language, width)
            if board.of_teams
            else [_player(view, side, number, width, language)]
        )
    if board.pool:
        lines.append(_bar(view, board.pool, draw.MIDDLE, "1", language, width))
    if pads := show.pads(view, language):
        lines.append(_pads(pads, language, width))
    if board.notes:
        notes = " · ".join(describe_note(view.game, note, language) for note in board.notes)
        lines.append(fit(Text(f"  {notes}"), width))
    return [*lines, Text("")]


def _bar(view: View, count: Count, light: draw.Light, dims: str, language: str, width: int) -> Text:
    of = min(count.of, BAR)
    lit = draw.count_pixels(count.n, count.of, of)
    return bar_line(
        label(view.game, count.unit, language), terminal_drawing.bar(lit, of, width, light, dims), count.n, width
    )


def _doing(view: View, side: Side, language: str) -> str:
    """Return what a side does, and the notes on it."""
    keys = (side.role, "out" if side.out else "")
    words = [label(view.game, key, language) for key in keys if key]
    return " · ".join((*words, *(describe_note(view.game, note, language) for note in side.notes)))


def _two_sided(view: View, side: Side, language: str, width: int) -> list[Text]:
    _, light, dims = TEAMS[side.key]
    score = side.score if side.bars != side.counts else ""
    lines = [team_line(side.key, player_name(view, side.key), score, width)]
    lines += [_bar(view, bar, light, dims, language, width) for bar in side.bars]
    return [
        *lines,
        fit(Text(f"  {_doing(view, side, language)}".rstrip(), BOLD), width),
    ]


def _player(view: View, side: Side, number: int, width: int, language: str) -> Text:
    light, dims = draw.PLAYERS[(number - 1) % len(draw.PLAYERS)]
    at_turn = side.key in (view.scoreboard.turn, view.scoreboard.winner)
    line = Text.assemble(("▶ " if at_turn else "  ", BOLD), (f"{number} ", solid(light)))
    (count, *_) = side.counts
    line.append_text(
        terminal_drawing.bar(
            draw.count_pixels(count.n, count.of, PLAYER_BAR),
            PLAYER_BAR,
            width,
            light,
            dims,
        )
    )
    line.append(f" {count.n:>3}  ", BOLD).append(f"{_doing(view, side, language)}  ".lstrip(), DIM)
    return fit(line.append(player_name(view, side.key), solid(light)), width)


def _pads(pads: Sequence[PadMark], language: str, width: int) -> Text:
    line = terminal_drawing.label("  " + catalogue(language).gettext("pads"))
    for number, pad in enumerate(pads, 1):
        line.append(f"[{number}]", Style(dim=not pad.said and not pad.mark)).append(
            f" {pad.worth}" if pad.worth else "", DIM
        )
        line.append(f" {pad.said}" if pad.said else "", BOLD).append("   ")
    return fit(line, width)


def _clocks(view: View, t: float, language: str) -> list[Text]:
    return [Text(clock, BOLD) for clock in phrases.clocks(view, t, language)] if t else []


def _messages(view: View, language: str) -> list[Text]:
    text = catalogue(language).gettext
    lines = [Text(phrases.sentence(view, language), BOLD)]
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
        line = Text.assemble((known.shown, BOLD))
        line.append(f" ({known.spoken})" if known.spoken else "", DIM)
        meaning = phrases.foul(view.foul, language) if call == "foul" and view.foul else known.meaning
        lines.append(line.append(f"  {meaning}" if meaning else ""))
    if view.hits:
        lines.append(Text(". ".join(phrases.hit(i, one, language) for i, one in enumerate(view.hits, 1)), DIM))
    if view.commit:
        opened = view.opening is not None and view.opening.hash == view.commit
        state = text("opened: it was under pad {pad}").format(pad=view.opening.pad) if opened and view.opening else ""
        lines.append(
            Text(
                text("Sealed {hash}").format(hash=view.commit[:16] + "…") + (f", {state}" if state else ""),
                DIM,
            )
        )
    for line in lines:
        line.plain = ISOLATES.sub("", line.plain)
    return lines
