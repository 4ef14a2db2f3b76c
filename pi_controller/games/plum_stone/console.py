"""Pages of the plum stone game: the counters of each player and the pile, and the last throw.

A stroke is a twentieth of all counters, so any number fits; the numbers are exact.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from pi_controller.display.drawing import player_name, scale_to_pixels
from pi_controller.display.game_display import total_count
from pi_controller.display.i18n import catalogue
from pi_controller.games.plum_stone.display import SHOW
from pi_controller.games.plum_stone.rules import VALUES, PlumStoneSheet
from pi_controller.table.view import View
from pi_controller.web import game_page as page

Text = Callable[[str], str]


class PlumStonePage(page.GamePage[PlumStoneSheet]):
    """Shows the plum stone game."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"lot", "throw"})

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return the template's values."""
        heaps, total = {**self.sheet(view)["counters"], "pile": self.sheet(view)["pile"]}, total_count(view.sheet)
        return {
            "sides": self.sides(view, language),
            "lit": {heap: scale_to_pixels(n, total, page.MAX_STROKES) for heap, n in heaps.items()},
            "each": _describe_counter(total / page.MAX_STROKES, language),
        }

    def unit(self, text: Text) -> str:
        """Return the unit of the numbers."""
        return text("counters")

    def rest_card(self, view: View, text: Text) -> list[page.Card]:
        """Return the pile's card."""
        return [page.Card("middle", text("In the pile"), "", [(self.sheet(view)["pile"], self.unit(text))])]

    def form(self, moment: page.FormContext) -> page.Play | None:
        """Return the form of the lot, or of a throw."""
        text = moment.text
        if "lot" in moment.words:
            label = text("{team} throws first")
            return page.first_team(
                moment, ("lot", "first"), text("Who drew the lot and throws first?"), label, player_name
            )
        if "throw" not in moment.words:
            return None
        moons, whites = text("Touch each stone that shows its moon"), text("Touch each stone that shows white")
        rows = (
            page.Row("moons", moons, page.piece_choices("moon", text("moon"), 2), 2, needed=False),
            page.Row("whites", whites, page.piece_choices("white", text("white"), 3), 3, needed=False),
            page.no_piece(text("No moon and no white shows")),
        )
        return page.throw_form(moment, rows, ("no_throw", SHOW.slips["no_throw"]), VALUES)


def _describe_counter(counters: float, language: str) -> str:
    """Return how many counters one drawn counter represents, as text."""
    n = f"{counters:.1f}".removesuffix(".0")
    template = catalogue(language).ngettext(
        "Each one drawn counts as {n} counter", "Each one drawn counts as {n} counters", math.ceil(counters)
    )
    return template.format(n=n)


PAGE = PlumStonePage()
