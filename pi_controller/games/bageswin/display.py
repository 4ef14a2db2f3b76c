"""Display of bageswin: its pieces and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import GameShow
from pi_controller.games.bageswin.rules import BageswinSheet
from pi_controller.table.view import View
from pi_controller.text import mark

PIECES: Mapping[str, str] = {
    "woman": mark("woman"),
    "fish": mark("fish"),
    "knives": mark("knife"),
    "buttons": mark("button"),
}
"""Names of the pieces in the bowl by the keys of a throw."""


class BageswinShow(GameShow[BageswinSheet]):
    """Display of bageswin."""

    title: ClassVar[str] = mark("Bageswin (Fish Game)")
    whose: ClassVar[str] = mark("A game of the Mille Lacs Band of Ojibwe.")
    gist: ClassVar[str] = mark(
        "Eight pieces are thrown from a bowl. A throw that counts wins "
        "sticks, and the same player throws again. After any other throw the bowl passes."
    )
    win: ClassVar[str] = mark("{winner} holds all the sticks and wins")
    slips: ClassVar[Mapping[str, str]] = {"double_tap": mark("Tapped twice: no score, the bowl passes")}

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        return self.throws(view)

    def result(self, view: View) -> str:
        """Return the result of the last throw."""
        return self.bowl_result(view, lambda n: self.tr.plural("{n} stick", "{n} sticks", n, n=self.number(n)))

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        match action:
            case {"do": "throw", "red": {**red}}:
                return self.pieces_shown(red, PIECES, self.tr.text("No piece shows red"))
            case _:
                return super().describe_action(action, teams)


SHOW = BageswinShow
