"""Display of bageswin: its pieces and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import GameShow, bowl_result, number, pieces_shown, throws
from pi_controller.display.i18n import catalogue, mark
from pi_controller.games.bageswin.rules import BageswinSheet
from pi_controller.table.view import View

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
        "Eight pieces are thrown from a bowl. A figure that counts is paid in "
        "sticks, and the same player throws again; else the bowl passes."
    )
    win: ClassVar[str] = mark("{winner} holds all the sticks and wins")
    slips: ClassVar[Mapping[str, str]] = {"double_tap": mark("Tapped twice: no score, the bowl passes")}

    def sentence(self, view: View, language: str = "en") -> str:
        """Return the action that the table is waiting for."""
        return throws(view, language)

    def result(self, view: View, language: str = "en") -> str:
        """Return the result of the last throw."""
        plural = catalogue(language).ngettext
        return bowl_result(view, language, lambda n: plural("{n} stick", "{n} sticks", n).format(n=number(n, language)))

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return an action as a short sentence."""
        match action:
            case {"do": "throw", "red": {**red}}:
                return pieces_shown(red, PIECES, catalogue(language).gettext("No piece shows red"), language)
            case _:
                return super().describe_action(action, teams, language)


SHOW = BageswinShow()
