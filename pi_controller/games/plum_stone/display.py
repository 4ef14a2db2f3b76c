"""Display of the plum stone game: its pieces and sentences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import GameShow
from pi_controller.games.plum_stone.rules import PlumStoneSheet
from pi_controller.table.view import View
from pi_controller.text import mark

PIECES: Mapping[str, str] = {"moons": mark("moon"), "whites": mark("white")}
"""Names of the stones' faces by the keys of a throw."""


class PlumStoneShow(GameShow[PlumStoneSheet]):
    """Display of the plum stone game."""

    title: ClassVar[str] = mark("Plum Stone Game")
    whose: ClassVar[str] = mark("A game of the Omaha and kindred tribes.")
    gist: ClassVar[str] = mark(
        "Five stones are thrown from a bowl. A throw that counts wins "
        "counters, and the same player throws again. After any other throw the bowl passes."
    )
    win: ClassVar[str] = mark("{winner} holds all the counters and wins")
    slips: ClassVar[Mapping[str, str]] = {"no_throw": mark("No throw: stones spilled, or some did not move")}

    def sentence(self, view: View) -> str:
        """Return the action that the table is waiting for."""
        if self.sheet(view)["thrower"] is None:
            return self.tr.text("Draw lots for the first throw")
        return self.throws(view)

    def result(self, view: View) -> str:
        """Return the result of the last throw."""
        return self.bowl_result(view, lambda n: self.tr.plural("{n} counter", "{n} counters", n, n=self.number(n)))

    def describe_action(self, action: Mapping[str, Any], teams: Mapping[str, str]) -> str:
        """Return an action as a short sentence."""
        if action.get("do") != "throw":
            return super().describe_action(action, teams)
        none = self.tr.text("No moon and no white shows")
        return self.pieces_shown(action, PIECES, none)


SHOW = PlumStoneShow
