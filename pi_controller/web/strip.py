"""Score bar of the stream overlay: players, points, sticks, what the table waits for, and the word called.

Every game has the same shape here: a cell for each team or player, and one for the sticks that nobody holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.pads import EVERY_PAD
from pi_controller.show.game_show import show_of
from pi_controller.show.names import player_name
from pi_controller.web.game_page import page_of
from pi_controller.web.page_content import CALLS, Board
from pi_controller.web.room import room
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View

_TEXTS = {
    "title",
    "heading",
    "sentence",
    "result",
    "meaning_1",
    "turn_worth",
    "label_as_of",
    "label_live",
    "label_stale",
    "label_ends",
    "label_limit",
}
_PADS = {f"{key}_{pad}" for key in ("pad", "worth") for pad in EVERY_PAD}
_TEXTS |= _PADS | {f"call_{i + 1}" for i in range(CALLS)}
_MARKS = {"phase", "turn_worth", "ends", "ends_stood", "limit", "limit_stood", "calls", "moment", "asked", "struck_by"}
_MARKS |= {f"{key}_{pad}" for key in ("pad", "high") for pad in EVERY_PAD}


def overlay(view: View, language: str = "en", chances: ShownChances | None = None) -> Board:  # noqa: ARG001 - shows none
    """Return what the overlay shows of `view`, with its strip as the table."""
    whole = room(view, language)
    texts = dict.fromkeys(_PADS, "") | {key: value for key, value in whole.texts.items() if key in _TEXTS}
    marks = dict.fromkeys(_MARKS, "") | {key: mark for key, mark in whole.marks.items() if key in _MARKS}
    marks["pads"] = "yes" if whole.layout == "pads" else ""
    return Board(texts, marks, {}, "overlay", strip(view, language))


def strip(view: View, language: str = "en") -> str:
    """Return the strip as HTML: team A has a circle and B a square, players the shapes they have on the other pages."""
    page = page_of(view)
    shown = page.strip(view, language)
    who = [card for card in page.cards(view, language) if card.number or card.look in {"a", "b"}]
    return render(
        "strip.html",
        language,
        strip=shown,
        teams=not show_of(view.game).of_players(view.sheet),
        names={cell.player: player_name(view, cell.player) for cell in shown.cells},
        turn=page.turn(view),
        roles={cell.player: card.role for cell, card in zip(shown.cells, who, strict=True)},
    )
