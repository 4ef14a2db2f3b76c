"""Pages of Bageswin: the players round the bowl with its bank and the last value.

A stroke is a twentieth of all sticks, so any number of sticks fits; the numbers are exact.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from pi_controller.display.drawing import scale_to_pixels
from pi_controller.display.game_display import player_rows, total_count
from pi_controller.display.i18n import catalogue
from pi_controller.games.bageswin import display as show
from pi_controller.games.bageswin.rules import PIECES, VALUES, BageswinSheet
from pi_controller.table.view import View
from pi_controller.web import game_page as page

Text = Callable[[str], str]


_PLACES = {
    2: ("left", "right"),
    3: ("top", "low-right", "low-left"),
    4: ("top", "right", "low", "left"),
    5: ("top", "right", "low-right", "low-left", "left"),
    6: ("top-left", "top", "top-right", "low-right", "low", "low-left"),
    7: ("top-left", "top", "top-right", "right", "low-right", "low-left", "left"),
    8: ("top-left", "top", "top-right", "right", "low-right", "low", "low-left", "left"),
}
"""The seats by number of players; the bowl passes to the left, which is clockwise seen from above."""


class BageswinPage(page.GamePage[BageswinSheet]):
    """Shows Bageswin."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"throw"})

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return the template's values: the bank, and the players' seats in turn order."""
        total, players = total_count(view.sheet), self.players(view, language)
        seats = [
            {"place": place, "player": player, "lit": scale_to_pixels(row["sticks"], total, page.MAX_STROKES)}
            for place, player, row in zip(_PLACES[len(players)], players, self.sheet(view)["players"], strict=True)
        ]
        return {"bank": scale_to_pixels(self.sheet(view)["bank"], total, page.MAX_STROKES), "seats": seats}

    def players(self, view: View, language: str) -> list[page.Player]:
        """Return the players; those who are out are marked."""
        out = page.Player("", 0, "out", catalogue(language).gettext("out"))
        rows = player_rows(view.sheet).values()
        return [
            player._replace(state=out.state, role=out.role) if row["out"] and not player.state else player
            for player, row in zip(super().players(view, language), rows, strict=True)
        ]

    def unit(self, text: Text) -> str:
        """Return the unit of the numbers."""
        return text("sticks")

    def form(self, moment: page.FormContext) -> page.Play | None:
        """Return the form of a throw."""
        if "throw" not in moment.words:
            return None
        text, label = moment.text, moment.text("Touch each piece that shows red")
        rows = [
            page.Row(kind, "" if i else label, page.piece_choices(kind, text(show.PIECES[kind]), n), n, needed=False)
            for i, (kind, n) in enumerate(PIECES.items())
        ]
        slip = ("double_tap", show.SHOW.slips["double_tap"])
        values = VALUES.get(str(moment.options.get("table")))
        return page.throw_form(moment, (*rows, page.no_piece(text("No piece shows red"))), slip, values)


PAGE = BageswinPage()
