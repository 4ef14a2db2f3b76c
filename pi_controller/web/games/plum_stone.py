"""The plum stone game on the pages: the counters of each player and the pile, and the last throw.

A stroke is a share of all counters there are, a twentieth of them, so any number fits; the numbers are exact.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.plum_stone import VALUES, PlumStoneSheet
from pi_controller.show.game_show import everything
from pi_controller.show.games.plum_stone import SHOW
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.show.paint import share
from pi_controller.web.console_play import Moment, Play, Row, first_team, no_piece, pieces, throw_form
from pi_controller.web.game_page import STROKES, Card, GamePage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.table.view import View

    Text = Callable[[str], str]


class PlumStonePage(GamePage[PlumStoneSheet]):
    """How the game stands on the pages."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    replaced: ClassVar[frozenset[str]] = frozenset({"lot", "throw"})

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return what the template takes."""
        heaps, total = {**self.sheet(view)["counters"], "pile": self.sheet(view)["pile"]}, everything(view.sheet)
        return {
            "sides": self.sides(view, language),
            "lit": {heap: share(n, total, STROKES) for heap, n in heaps.items()},
            "each": _each(total / STROKES, language),
        }

    def unit(self, text: Text) -> str:
        """Return what is counted."""
        return text("counters")

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the pile."""
        return [Card("middle", text("In the pile"), "", [(self.sheet(view)["pile"], self.unit(text))])]

    def form(self, moment: Moment) -> Play | None:
        """Return the form of the lot, or of a throw."""
        text = moment.text
        if "lot" in moment.words:
            label = text("{team} throws first")
            return first_team(moment, ("lot", "first"), text("Who drew the lot?"), label, player_name)
        if "throw" not in moment.words:
            return None
        moons, whites = text("Touch each stone that shows its moon"), text("Touch each stone that shows white")
        rows = (
            Row("moons", moons, pieces("moon", text("moon"), 2), 2, needed=False),
            Row("whites", whites, pieces("white", text("white"), 3), 3, needed=False),
            no_piece(text("No moon and no white shows")),
        )
        return throw_form(moment, rows, ("no_throw", SHOW.slips["no_throw"]), VALUES)


def _each(counters: float, language: str) -> str:
    """Return what a counter that is drawn is worth."""
    n = f"{counters:.1f}".removesuffix(".0")
    template = catalogue(language).ngettext(
        "One that is drawn stands for {n} counter", "One that is drawn stands for {n} counters", math.ceil(counters)
    )
    return template.format(n=n)


PAGE = PlumStonePage()
