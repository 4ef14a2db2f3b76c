"""Views of Hampa Apena made by hand: any key of the score sheet and any field of the view may be changed."""

from __future__ import annotations

from typing import Any

import msgspec

from pi_controller.errors import UsageError
from pi_controller.rules import registry
from pi_controller.rules.scoreboard import Scoreboard
from pi_controller.table.view import View

SHEET: dict[str, Any] = {
    "hider": "A",
    "long": {"A": 8, "B": 4},
    "middle": 8,
    "short": {"A": 1, "B": 2},
    "owed": "first",
    "situation": None,
    "winner": None,
    "finish": None,
}


def board_of(sheet: dict[str, Any], game: str = "dakota", **settings: object) -> Scoreboard:
    """Return the scoreboard of a score sheet."""
    return registry.game(game, settings).scoreboard(sheet)


def make_view(*, points: int = 5, **changed: Any) -> View:
    """Return a view of the first hit of hide 3; `points` win. Another game that is known here is at its opening."""
    told: dict[str, Any] = {
        "seq": 1,
        "game": "dakota",
        "version": "1",
        "teams": {"A": "Big Coulee", "B": "Long Hollow"},
        "phase": "hit",
        "hide": 3,
        "winner": None,
        "link": True,
    }
    told |= {key: value for key, value in changed.items() if key not in SHEET or key == "winner"}
    sheet = SHEET | {key: value for key, value in changed.items() if key in SHEET}
    board = board_of(sheet, points=points)
    try:
        game = registry.game(told["game"])
        if game.name != "dakota":
            sheet = dict(game.sheet(game.opening()))
            board = game.scoreboard(sheet)
    except UsageError:
        pass
    return View(**({"sheet": sheet, "scoreboard": board} | told))


def change_view(view: View, **changed: Any) -> View:
    """Return a view with changed fields, and with changed keys of the score sheet."""
    sheet = view.sheet | {key: value for key, value in changed.items() if key in view.sheet}
    fields = {key: value for key, value in changed.items() if key not in view.sheet or key == "winner"}
    board = board_of(sheet, view.game, **({"points": view.scoreboard.goal} if view.game == "dakota" else {}))
    return msgspec.structs.replace(view, **({"sheet": sheet, "scoreboard": board} | fields))
