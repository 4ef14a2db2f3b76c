"""Score sheet of a game for people: its rows for the page of a past game, and the sheet to print and sign.

The printed sheet is one self-contained page for A4 or Letter, without scripts. Names may have any Unicode characters:
every text is escaped and isolated in its writing direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH, Translator
from pi_controller.display.shown_names import clean_name, isolate_name
from pi_controller.host.pdf import Paper
from pi_controller.journal.chain import SHORT_HASH_CHARS
from pi_controller.journal.sheet import Sheet, SheetLine
from pi_controller.text import strip_controls
from pi_controller.web.templates import render

MAX_HEAD_CHARS = 36
"""Most characters of all column headings (longest words); with more, the counts are written below each line."""


class SheetRow(NamedTuple):
    """One line of a sheet: its time, its turn if it begins one, what was done by whom, the words, and the counts."""

    time: str
    turn: str
    what: str
    by: str
    calls: str
    counts: tuple[int, ...]
    kind: str
    counted: bool


class SheetText:
    """The texts of `sheet` in the language of `tr`."""

    def __init__(self, sheet: Sheet, tr: Translator) -> None:
        self.sheet, self._tr, self.show = sheet, tr, get_show(sheet.game, tr)
        self.heads = sheet.rules.scoreboard(sheet.state).list_counts()
        """The counts of the last line: (unit, side, n)."""
        keys = sheet.rules.scoreboard(sheet.state).scores
        self.names = {key: clean_name(sheet.teams.get(key, "")) or clean_name(key) or "?" for key in keys}
        """The names of the sides by their keys."""
        self.signs = {key: key for key in sheet.teams} or self.names
        """What names a side in a row: the letter of a team, the name of a player."""

    @property
    def columns(self) -> list[str]:
        """The headings of the counts."""
        return [
            " ".join(filter(None, (self.show.label(unit), self.signs.get(side, "")))) for unit, side, _ in self.heads
        ]

    @property
    def result(self) -> str:
        """Who has won, and how."""
        winner = self.sheet.state.get("winner")
        if not winner:
            return self._tr.text("Finished without a winner") if self.sheet.over else self._tr.text("Not finished")
        name = self.names.get(str(winner), "?")
        if self.sheet.state.get("finish") == "forfeit":
            return self._tr.text("{winner} wins by forfeit", winner=isolate_name(name))
        return self.show.describe_score(self.sheet.rules.scoreboard(self.sheet.state), str(winner), name)

    def rows(self, most: int | None = None) -> Iterator[SheetRow]:
        """Yield the rows of the first `most` lines."""
        last = 0
        for line in self.sheet.lines[:most]:
            counts = self.sheet.rules.scoreboard(line.state).list_counts() if line.state else []
            begins, last = line.turn not in (0, last), line.turn
            yield SheetRow(
                _format_clock(line.t),
                " ".join((str(line.turn), self.signs.get(line.side, ""))).strip() if begins else "",
                self._describe_line(line),
                strip_controls(line.by),
                self.show.list_words(line.calls),
                tuple(n for _, _, n in counts) if len(counts) == len(self.heads) else (),
                line.kind,
                line.counts,
            )

    def _describe_line(self, line: SheetLine) -> str:
        what = self.show.describe_action(line.action, self.sheet.teams) if line.kind == "action" else ""
        return what or strip_controls(line.what).replace("_", " ")


def print_sheet(sheet: Sheet, paper: Paper = "A4", tr: Translator = ENGLISH) -> str:
    """Return the HTML page of `sheet` to print and sign."""
    texts = SheetText(sheet, tr)
    width = sum(max(map(len, column.split())) for column in texts.columns)
    epoch, (number, head) = sheet.epoch, sheet.head
    return render(
        "score_sheet.html",
        tr,
        sheet=sheet,
        texts=texts,
        rows=list(texts.rows()),
        paper=paper,
        wide=width > MAX_HEAD_CHARS,
        teams=[(key, texts.names[key]) for key in sorted(sheet.teams)],
        hides=sheet.rules.hidden is not None,
        foot=f"{sheet.game}, {head[:SHORT_HASH_CHARS]}",
        epoch=epoch,
        number=number,
        head=" ".join(head[at : at + 8] for at in range(0, len(head), 8)),
    )


def _format_clock(t: float) -> str:
    if t < 0:
        return ""  # the clock was set back
    minutes, seconds = divmod(int(t), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
