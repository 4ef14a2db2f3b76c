"""Score bar of the stream overlay: players, points, sticks, what the table waits for, and the word called.

Every game has the same shape here: a cell for each team or player, and one for the sticks that nobody holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.show.game_show import show_of
from pi_controller.show.names import player_name
from pi_controller.web.game_page import page_of
from pi_controller.web.page_content import CALLS, Board, board
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View

_TEXTS = {
    "title",
    "heading",
    "sentence",
    "turn_worth",
    "label_as_of",
    "label_live",
    "label_stale",
    "label_ends",
    "label_limit",
}
_TEXTS |= {f"call_{i + 1}" for i in range(CALLS)}
_MARKS = {"phase", "turn_worth", "ends", "ends_stood", "limit", "limit_stood", "calls"}


def overlay(view: View, language: str = "en", chances: ShownChances | None = None) -> Board:  # noqa: ARG001 - shows none
    """Return what the overlay shows of `view`, with its strip as the table."""
    whole = board(view, language)
    texts = {key: value for key, value in whole.texts.items() if key in _TEXTS}
    marks = {key: mark for key, mark in whole.marks.items() if key in _MARKS}
    return Board(texts, marks, {}, "overlay", strip(view, language))


def strip(view: View, language: str = "en") -> str:
    """Return the strip as HTML: team A has a circle and B a square, players the shapes they have on the other pages."""
    page = page_of(view)
    shown = page.strip(view, language)
    return render(
        "strip.html",
        language,
        strip=shown,
        teams=not show_of(view.game).of_players(view.sheet),
        names={cell.player: player_name(view, cell.player) for cell in shown.cells},
        turn=page.turn(view),
    )
