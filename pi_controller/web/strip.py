"""The score in one strip, for a picture laid over a stream: who plays, points, sticks, what is waited for, the word.

Every game has the same shape here: a cell for each team or player, and one for the sticks that nobody holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_controller.games.ojibwe_state import COUNTERS
from pi_controller.pinmap import pinmap
from pi_controller.show.game_show import POOL_NAMES, everything, held, plain, pool, show_of
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.show.paint import share
from pi_controller.show.sheet_phrases import has_sheet
from pi_controller.web.markup import safe, strokes
from pi_controller.web.page_content import CALLS, Board, board
from pi_controller.web.shapes import drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View

_STROKES = 20
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


class _Cell(NamedTuple):
    """A team or player: the large number, the sticks where those are another number, and strokes lit of twenty."""

    player: str
    points: int
    sticks: int | None
    lit: int | None


def overlay(view: View, language: str = "en", chances: ShownChances | None = None) -> Board:  # noqa: ARG001 - shows none
    """Return what the overlay shows of `view`, with its strip as the table."""
    whole = board(view, language)
    texts = {key: said for key, said in whole.texts.items() if key in _TEXTS}
    marks = {key: mark for key, mark in whole.marks.items() if key in _MARKS}
    return Board(texts, marks, {}, "overlay", strip(view, language))


def strip(view: View, language: str = "en") -> str:
    """Return the strip as HTML."""
    text, sheet = catalogue(language).gettext, view.sheet
    cells: list[_Cell]
    middle: tuple[str, int] | None = None
    match view.game if has_sheet(view) else "":
        case "ojibwe":
            turn = sheet["hider"]
            cells = _teams(sheet["short"], sheet["counters"], COUNTERS)
            middle = (text("pool"), sheet["pool"])
        case "patol":
            turn = sheet["thrower"]
            cells = [_Cell(one["player"], one["progress"], None, None) for one in sheet["horses"]]
        case "":
            turn = view.hider if view.phase not in {"toss", "over"} else None
            cells = _teams(view.short, view.long, pinmap().lights.a)
            middle = (text("middle"), view.middle) if view.long else None
        case _:
            turn, rest = show_of(view.game).turn(view), pool(sheet)
            cells = _held(held(sheet), everything(sheet))
            middle = (text(POOL_NAMES.get(rest[0], plain(rest[0]))), rest[1]) if rest else None
    winner = sheet.get("winner") or view.winner
    shown = [_cell(view, cell, i, turn=cell.player == (winner or turn)) for i, cell in enumerate(cells, 1)]
    if middle is not None:
        said = f'<span class="label">{safe(middle[0])}</span><b>{middle[1]}</b>'
        shown.insert(1 if len(shown) == len("AB") else len(shown), f'<li class="rest">{said}</li>')
    return f'<ul class="cells" data-players="{len(cells)}">{"".join(shown)}</ul>'


def _cell(view: View, cell: _Cell, number: int, *, turn: bool) -> str:
    """Return a cell: team A is a circle and B a square, players have the shapes they have on the other pages."""
    team = not show_of(view.game).of_players(view.sheet)
    shape = f'<span class="shape" aria-hidden="true">{cell.player}</span>' if team else drawn(number, str(number))
    sticks = "" if cell.sticks is None else f'<span class="held">{cell.sticks}</span>'
    row = strokes("long", cell.lit, _STROKES) if cell.lit is not None else ""
    return (
        f'<li class="{cell.player.lower() if team else f"p{number}"}" data-turn="{"yes" if turn else ""}">'
        f'{shape}<bdi>{safe(player_name(view, cell.player))}</bdi><b class="points">{cell.points}</b>{row}{sticks}</li>'
    )


def _held(held: Mapping[str, int], total: int) -> list[_Cell]:
    return [_Cell(player, count, None, share(count, total, _STROKES)) for player, count in held.items()]


def _teams(points: Mapping[str, int], sticks: Mapping[str, int], total: int) -> list[_Cell]:
    return [
        _Cell(team, points.get(team, 0), sticks.get(team, 0), share(sticks.get(team, 0), total, _STROKES))
        for team in "AB"
    ]
