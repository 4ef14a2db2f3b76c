"""Bageswin on the page: the players round the bowl with its bank and the last value.

A stroke is a share of all sticks there are, a twentieth of them, so any number of sticks fits; the numbers are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.show.paint import share
from pi_controller.web.markup import bowl_value, safe, strokes
from pi_controller.web.shapes import drawn

if TYPE_CHECKING:
    from pi_controller.table.view import View

_STROKES = 20
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


def table(view: View, language: str) -> str:
    """Return the fish game as HTML: the bowl with bank and last value, the players round it in turn order."""
    text, sheet = catalogue(language).gettext, view.sheet
    players = sheet["players"]
    total = sheet["bank"] + sum(player["sticks"] for player in players)
    seats = ""
    for i, player in enumerate(players, 1):
        throws = player["name"] == sheet["thrower"] and not sheet["winner"]
        won = player["name"] == sheet["winner"]
        state = "won" if won else "throws" if throws else "out" if player["out"] else ""
        said = {"won": text("wins"), "throws": text("throws"), "out": text("out")}.get(state, "")
        does = f'<span class="role">{safe(said)}</span>' if said else ""
        seats += (
            f'<li class="seat at-{_PLACES[len(players)][i - 1]} p{i}" data-value="{state}" data-player="{i}">'
            f'<div class="who">{drawn(i, str(i))}<h2><bdi>{safe(player_name(view, player["name"]))}</bdi></h2></div>'
            f'<div class="holds"><b>{player["sticks"]}</b>{does}</div>'
            f"{strokes('part', share(player['sticks'], total, _STROKES), _STROKES)}</li>"
        )
    bank = strokes("part", share(sheet["bank"], total, _STROKES), _STROKES)
    return (
        f'<section class="round"><div class="bowl">{bowl_value(sheet["value"], text("last throw"))}'
        f'<div class="bank"><p class="label">{safe(text("bank"))} <b>{sheet["bank"]}</b></p>{bank}</div></div>'
        f'<ol class="seats">{seats}</ol></section>'
    )
