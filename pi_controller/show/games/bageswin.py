"""Bageswin on the strips: rows A and B are one long row of the players' sticks in turn order, a gap between each two.

A run is as long as the player's share of all sticks, at least one pixel, and the same measure holds for the bank in the
middle row. Players differ by their place in the order, colour and pattern. The thrower's run is brighter; who is out
has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.bageswin import BageswinSheet
from pi_controller.pinmap import pinmap
from pi_controller.show.game_show import BAR, GameShow, bowl_result, number, pieces_shown, throws
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.lines import DIM, bar, bar_line, fit, solid
from pi_controller.show.names import inline, player_name
from pi_controller.show.paint import (
    DARK,
    HIDING,
    MIDDLE,
    PLAYERS,
    SECOND_DIM,
    STEADY,
    WAITING,
    Rows,
    glow,
    share,
    shares,
    swell,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

    from pi_controller.drivers.ports import Rgb
    from pi_controller.table.view import View


PIECES: Mapping[str, str] = {
    "woman": mark("woman"),
    "fish": mark("fish"),
    "knives": mark("knife"),
    "buttons": mark("button"),
}
"""The pieces in the bowl by what their counts are called in a throw."""


class BageswinShow(GameShow[BageswinSheet]):
    """How the game is shown."""

    title: ClassVar[str] = mark("Bageswin (Fish Game)")
    whose: ClassVar[str] = mark("A game of the Mille Lacs Band of Ojibwe.")
    gist: ClassVar[str] = mark(
        "Eight pieces are thrown from a bowl. A figure that counts is paid in "
        "sticks, and the same player throws again; else the bowl passes."
    )
    if_even: ClassVar[str] = mark("if every piece falls on either side equally")
    roles: ClassVar[tuple[str, str]] = (mark("throws"), "")
    slips: ClassVar[Mapping[str, str]] = {"double_tap": mark("Tapped twice: nothing, the bowl passes")}

    def rows(self, view: View, t: float) -> Rows:
        """Return the rows of a fish game."""
        sheet, lights = self.sheet(view), pinmap().lights
        players, size = sheet["players"], lights.a + lights.b
        held = [player["sticks"] for player in players]
        total = sheet["bank"] + sum(held)
        room = size - (len(players) - 1)
        line: list[Rgb] = []
        for i, (player, n) in enumerate(zip(players, shares(held, total, room), strict=True)):
            light, dims = PLAYERS[i % len(PLAYERS)]
            won = player["name"] == sheet["winner"]
            level = HIDING if player["name"] == sheet["thrower"] else WAITING
            wave = swell(max(n, 1), t)
            line += [DARK] if i else []
            line += [
                glow(light, (wave(k) if won else level) * (1.0 if dims[k % len(dims)] == "1" else SECOND_DIM))
                for k in range(n)
            ]
        bank = [glow(MIDDLE, STEADY)] * share(sheet["bank"], total, lights.middle)
        return Rows(line[: lights.a], line[lights.a :], bank)

    def drawn(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal."""
        text, sheet = catalogue(language).gettext, self.sheet(view)
        players = sheet["players"]
        total = sheet["bank"] + sum(player["sticks"] for player in players)
        lines = [
            bar_line(text("bank"), bar(share(sheet["bank"], total, BAR), BAR, width, MIDDLE), sheet["bank"], width)
        ]
        for i, player in enumerate(players):
            light, dims = PLAYERS[i % len(PLAYERS)]
            mark = "▶" if player["name"] == sheet["thrower"] and not sheet["winner"] else " "
            line = bar_line(
                "", bar(share(player["sticks"], total, BAR), BAR, width, light, dims), player["sticks"], width
            )
            line.plain = f"{mark} {i + 1}" + line.plain[3:]
            line.append(f"  {text('out')}" if player["out"] else "", DIM)
            lines.append(fit(line.append("  ").append(player_name(view, player["name"]), solid(light)), width))
        return lines

    def sentence(self, view: View, language: str = "en") -> str:
        """Return what the table waits for."""
        return throws(view, language)

    def won(self, view: View, winner: str, language: str = "en") -> str:
        """Return who has won."""
        template = catalogue(language).gettext("{winner} holds all the sticks and wins")
        return template.format(winner=inline(player_name(view, winner)))

    def result(self, view: View, language: str = "en") -> str:
        """Return what came of the last throw."""
        plural = catalogue(language).ngettext
        return bowl_result(view, language, lambda n: plural("{n} stick", "{n} sticks", n).format(n=number(n, language)))

    def played(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return in a short sentence what an action does."""
        match action:
            case {"do": "throw", "red": {**red}}:
                return pieces_shown(red, PIECES, catalogue(language).gettext("No piece shows red"), language)
            case _:
                return super().played(action, teams, language)

    def score(self, view: View, before: View) -> str:
        """Return each player's sticks, and the bank while anything is in it."""
        sheet = self.sheet(view)
        counts = "  ".join(f"{player_name(view, one['name'])} {one['sticks']:>3}" for one in sheet["players"])
        return counts + (f"  bank {sheet['bank']}" if sheet["bank"] or self.sheet(before)["bank"] else "")


SHOW = BageswinShow()
