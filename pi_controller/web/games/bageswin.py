"""Bageswin on the pages: the players round the bowl with its bank and the last value.

A stroke is a share of all sticks there are, a twentieth of them, so any number of sticks fits; the numbers are exact.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.bageswin import PIECES, VALUES, BageswinSheet
from pi_controller.show.game_show import everything, player_rows
from pi_controller.show.games import bageswin as show
from pi_controller.show.i18n import catalogue
from pi_controller.show.paint import share
from pi_controller.web.console_play import Moment, Play, Row, no_piece, pieces, throw_form
from pi_controller.web.game_page import STROKES, GamePage, Player

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.table.view import View

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
"""Where each of so many players sits; the bowl passes to the left, which from above is clockwise."""


class BageswinPage(GamePage[BageswinSheet]):
    """How the game stands on the pages."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    replaced: ClassVar[frozenset[str]] = frozenset({"throw"})

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return what the template takes: the bank, and the players' seats in turn order."""
        total, players = everything(view.sheet), self.players(view, language)
        seats = [
            {"place": place, "player": player, "lit": share(row["sticks"], total, STROKES)}
            for place, player, row in zip(_PLACES[len(players)], players, self.sheet(view)["players"], strict=True)
        ]
        return {"bank": share(self.sheet(view)["bank"], total, STROKES), "seats": seats}

    def players(self, view: View, language: str) -> list[Player]:
        """Return the players; who is out is marked so."""
        out = Player("", 0, "out", catalogue(language).gettext("out"))
        rows = player_rows(view.sheet).values()
        return [
            player._replace(state=out.state, role=out.role) if row["out"] and not player.state else player
            for player, row in zip(super().players(view, language), rows, strict=True)
        ]

    def unit(self, text: Text) -> str:
        """Return what is counted."""
        return text("sticks")

    def form(self, moment: Moment) -> Play | None:
        """Return the form of a throw."""
        if "throw" not in moment.words:
            return None
        text, label = moment.text, moment.text("Touch each piece that shows red")
        rows = [
            Row(kind, "" if i else label, pieces(kind, text(show.PIECES[kind]), n), n, needed=False)
            for i, (kind, n) in enumerate(PIECES.items())
        ]
        slip = ("double_tap", show.SHOW.slips["double_tap"])
        values = VALUES.get(str(moment.options.get("table")))
        return throw_form(moment, (*rows, no_piece(text("No piece shows red"))), slip, values)


PAGE = BageswinPage()
