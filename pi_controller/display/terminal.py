"""Render the table in a terminal: the light strips as coloured blocks, with names, counts and the called words.

Team names are last on their line and there are no frames, so a name wider than the terminal assumes displaces no other
text. Without colour the blocks keep their pattern; without Unicode they become ASCII.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text

from pi_controller.display import drawing as draw
from pi_controller.display import terminal_drawing
from pi_controller.display.game_display import GameShow, PadMark, get_show
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import ISOLATES, player_name
from pi_controller.display.terminal_drawing import BAR, BOLD, DIM, PLAYER_BAR, TEAMS, bar_line, fit, solid, team_line
from pi_controller.rules.scoreboard import Count, Side
from pi_controller.table.view import View
from pi_controller.text import strip_controls

HEIGHT = 23
"""Lines of a picture: leaves room for the input line on a terminal of 24."""
_ASCII = str.maketrans("█▒·○●■—–─…▶≈◖◗", "#=.oox---~>~()")


@dataclass(frozen=True)
class TerminalTable:
    """A view as a rich renderable, also for `rich.live.Live`; `t` seconds as for `lights.frame`.

    It is at most `height` lines high.
    """

    view: View
    tr: Translator
    t: float = 0.0
    height: int = HEIGHT

    @cached_property
    def _show(self) -> GameShow[Any]:
        return get_show(self.view.game, self.tr)

    @cached_property
    def _say(self) -> Phrases:
        return Phrases(self.tr)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines, each no wider than the console."""
        for line in _within(self._lines(options.max_width), self.height):
            if (seen := strip_controls(line.plain)) != line.plain:
                line.plain = seen
            if options.ascii_only:
                line.plain = line.plain.translate(_ASCII)
            yield line

    def _lines(self, width: int) -> list[Text]:
        tr, view = self.tr, self.view
        left = Text.assemble((self._show.name, BOLD))
        facts = [tr.text("hide {n}", n=view.hide)] if view.hide else []
        facts += [tr.text("first to {points}", points=view.scoreboard.goal)] if view.scoreboard.goal else []
        left.append(f"  {', '.join(facts)}", DIM)
        mat = tr.text("mat connected") if view.sensors else tr.text("sensors off")
        right = Text(mat if view.link else tr.text("no mat"), DIM)
        head = left.append(" " * max(2, width - left.cell_len - right.cell_len)).append_text(right)
        lines = [fit(head, width), fit(Text("─" * width, DIM), width), Text("")]
        lines += self._table(width)
        lines += [Text(clock, BOLD) for clock in self._say.clocks(view, self.t)] if self.t else []
        lines += [part for line in self._messages() for part in _wrap_line(line, width, 2)]
        return lines

    def _table(self, width: int) -> list[Text]:
        """Return the game's own lines and the scoreboard: several lines for a team, one for a player."""
        board, show = self.view.scoreboard, self._show
        lines = show.own_lines(self.view, width)
        for number, side in enumerate(board.sides, 1):
            lines += self._two_sided(side, width) if board.of_teams else [self._player(side, number, width)]
        if board.pool:
            lines.append(self._bar(board.pool, draw.MIDDLE, "1", width))
        if pads := show.pads(self.view):
            lines.append(self._pads(pads, width))
        if board.notes:
            lines.append(fit(Text(f"  {' · '.join(map(show.describe_note, board.notes))}"), width))
        return [*lines, Text("")]

    def _bar(self, count: Count, light: draw.Light, dims: str, width: int) -> Text:
        of = min(count.of, BAR)
        lit = draw.count_pixels(count.n, count.of, of)
        return bar_line(self._show.label(count.unit), terminal_drawing.bar(lit, of, width, light, dims), count.n, width)

    def _doing(self, side: Side) -> str:
        """Return what a side does, and the notes on it."""
        keys = (side.role, "out" if side.out else "")
        words = [self._show.label(key) for key in keys if key]
        return " · ".join((*words, *map(self._show.describe_note, side.notes)))

    def _two_sided(self, side: Side, width: int) -> list[Text]:
        _, light, dims = TEAMS[side.key]
        score = side.score if side.bars != side.counts else ""
        lines = [team_line(side.key, player_name(self.view, side.key), score, width)]
        lines += [self._bar(bar, light, dims, width) for bar in side.bars]
        return [*lines, fit(Text(f"  {self._doing(side)}".rstrip(), BOLD), width)]

    def _player(self, side: Side, number: int, width: int) -> Text:
        light, dims = draw.PLAYERS[(number - 1) % len(draw.PLAYERS)]
        at_turn = side.key in (self.view.scoreboard.turn, self.view.scoreboard.winner)
        line = Text.assemble(("▶ " if at_turn else "  ", BOLD), (f"{number} ", solid(light)))
        (count, *_) = side.counts
        lit = draw.count_pixels(count.n, count.of, PLAYER_BAR)
        line.append_text(terminal_drawing.bar(lit, PLAYER_BAR, width, light, dims))
        line.append(f" {count.n:>3}  ", BOLD).append(f"{self._doing(side)}  ".lstrip(), DIM)
        return fit(line.append(player_name(self.view, side.key), solid(light)), width)

    def _pads(self, pads: Sequence[PadMark], width: int) -> Text:
        line = terminal_drawing.label("  " + self.tr.text("pads"))
        for number, pad in enumerate(pads, 1):
            line.append(f"[{number}]", Style(dim=not pad.said and not pad.mark)).append(
                f" {pad.worth}" if pad.worth else "", DIM
            )
            line.append(f" {pad.said}" if pad.said else "", BOLD).append("   ")
        return fit(line, width)

    def _messages(self) -> list[Text]:
        view, say, yellow = self.view, self._say, Style(color="yellow")
        lines = [Text(say.sentence(view), BOLD)]
        if status := say.describe_status(view):
            lines.append(Text(status, yellow))
        if note := say.notice(view):
            lines.append(Text(note))
        if faults := say.faults(view):
            lines.append(Text(faults, yellow))
        if view.question is not None and view.phase not in {"halted", "over"}:
            question = say.question(view.question, view.teams)
            lines.append(Text(f"? {question}", Style(bold=True, color="yellow")))
            choices = " / ".join(map(say.choice, view.question.choices))
            lines += [Text(f"  {line}") for line in (choices, say.describe_default_answer(view.question)) if line]
        elif turn_worth := say.describe_stakes(view):
            lines.append(Text(turn_worth))
        lines += map(self._call, view.calls)
        if view.hits:
            lines.append(Text(". ".join(say.hit(i, one) for i, one in enumerate(view.hits, 1)), DIM))
        if view.commit:
            lines.append(Text(self._seal(view.commit), DIM))
        for line in lines:
            line.plain = ISOLATES.sub("", line.plain)
        return lines

    def _call(self, call: str) -> Text:
        """Return a called word with its pronunciation and meaning."""
        known, foul = self._show.word(call), self.view.foul
        line = Text.assemble((known.shown, BOLD))
        line.append(f" ({known.spoken})" if known.spoken else "", DIM)
        meaning = self._say.foul(foul) if call == "foul" and foul else known.meaning
        return line.append(f"  {meaning}" if meaning else "")

    def _seal(self, commitment: str) -> str:
        sealed, opening = self.tr.text("Sealed {hash}", hash=f"{commitment[:16]}…"), self.view.opening
        if opening is None or opening.hash != commitment:
            return sealed
        return f"{sealed}, {self.tr.text('opened: it was under pad {pad}', pad=opening.pad)}"


def render_text(view: View, tr: Translator, width: int = 80) -> str:
    """Return the view as at most `HEIGHT` plain lines of at most `width` cells: no colour, no control characters."""
    console = Console(
        file=io.StringIO(), width=width, no_color=True, force_terminal=False, color_system=None, legacy_windows=False
    )
    # use the fitted lines directly: a second layout takes longer than drawing them
    lines = TerminalTable(view, tr).__rich_console__(console, console.options)
    return "\n".join(line.plain.rstrip() for line in lines) + "\n"


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
