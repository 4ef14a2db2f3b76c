"""Bageswin on the strips: rows A and B form one long row of the players' sticks in turn order, with gaps between.

A run is proportional to the player's share of all sticks, at least one pixel; the bank in the middle row has the same
scale. Players differ by their place in the order, colour and pattern. The thrower's run is brighter; eliminated players
have none.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text

from pi_controller.board.interfaces import Rgb
from pi_controller.display import drawing as draw
from pi_controller.display.game_display import BAR, GameShow, bowl_result, number, pieces_shown, throws
from pi_controller.display.i18n import catalogue, mark
from pi_controller.games.bageswin.rules import BageswinSheet
from pi_controller.pinmap import pinmap
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
    roles: ClassVar[tuple[str, str]] = (mark("throws"), "")
    win: ClassVar[str] = mark("{winner} holds all the sticks and wins")
    slips: ClassVar[Mapping[str, str]] = {"double_tap": mark("Tapped twice: no score, the bowl passes")}

    def rows(self, view: View, t: float) -> draw.Rows:
        """Return the rows of a fish game."""
        sheet, lights = self.sheet(view), pinmap().lights
        players, size = sheet["players"], lights.a + lights.b
        held = [player["sticks"] for player in players]
        total = sheet["bank"] + sum(held)
        room = size - (len(players) - 1)
        line: list[Rgb] = []
        for i, (player, n) in enumerate(zip(players, draw.divide_pixels(held, total, room), strict=True)):
            light, dims = draw.PLAYERS[i % len(draw.PLAYERS)]
            won = player["name"] == sheet["winner"]
            level = draw.HIDING if player["name"] == sheet["thrower"] else draw.WAITING
            wave = draw.swell(max(n, 1), t)
            line += [draw.DARK] if i else []
            line += [
                draw.glow(light, (wave(k) if won else level) * (1.0 if dims[k % len(dims)] == "1" else draw.SECOND_DIM))
                for k in range(n)
            ]
        bank = [draw.glow(draw.MIDDLE, draw.STEADY)] * draw.scale_to_pixels(sheet["bank"], total, lights.middle)
        return draw.Rows(line[: lights.a], line[lights.a :], bank)

    def terminal_lines(self, view: View, language: str, width: int) -> list[Text]:
        """Return the table as lines for a terminal."""
        text, sheet = catalogue(language).gettext, self.sheet(view)
        players = sheet["players"]
        total = sheet["bank"] + sum(player["sticks"] for player in players)
        lines = [
            draw.bar_line(
                text("bank"),
                draw.bar(draw.scale_to_pixels(sheet["bank"], total, BAR), BAR, width, draw.MIDDLE),
                sheet["bank"],
                width,
            )
        ]
        for i, player in enumerate(players):
            light, dims = draw.PLAYERS[i % len(draw.PLAYERS)]
            mark = "▶" if player["name"] == sheet["thrower"] and not sheet["winner"] else " "
            line = draw.bar_line(
                "",
                draw.bar(draw.scale_to_pixels(player["sticks"], total, BAR), BAR, width, light, dims),
                player["sticks"],
                width,
            )
            line.plain = f"{mark} {i + 1}" + line.plain[3:]
            line.append(f"  {text('out')}" if player["out"] else "", draw.DIM)
            lines.append(
                draw.fit(line.append("  ").append(draw.player_name(view, player["name"]), draw.solid(light)), width)
            )
        return lines

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

    def score(self, view: View, before: View) -> str:
        """Return each player's sticks, and the bank unless it is empty."""
        sheet = self.sheet(view)
        counts = "  ".join(f"{draw.player_name(view, one['name'])} {one['sticks']:>3}" for one in sheet["players"])
        return counts + (f"  bank {sheet['bank']}" if sheet["bank"] or self.sheet(before)["bank"] else "")


SHOW = BageswinShow()
