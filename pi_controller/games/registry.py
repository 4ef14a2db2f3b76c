"""The games by name. A game's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from pi_controller.errors import UsageError
from pi_controller.games.wording import listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game

_GAMES = {
    "dakota": ("pi_controller.games.dakota", "Dakota"),
    "ojibwe": ("pi_controller.games.ojibwe", "Ojibwe"),
    "slahal": ("pi_controller.games.slahal", "Slahal"),
    "bageswin": ("pi_controller.games.bageswin", "Bageswin"),
    "plum_stone": ("pi_controller.games.plum_stone", "PlumStone"),
    "patol": ("pi_controller.games.patol", "Patol"),
}
"""To add a game, write its module and a line here."""


def names() -> tuple[str, ...]:
    """Return the names of all games."""
    return tuple(_GAMES)


def kind(name: str) -> type[Game[Any]]:
    """Return the class of the game `name`; `UsageError` where there is none."""
    if name not in _GAMES:
        raise UsageError(f"there is no game {shown(name)}{nearest(name, _GAMES)}", f"games: {listed(_GAMES)}")
    module, cls = _GAMES[name]
    return cast("type[Game[Any]]", getattr(import_module(module), cls))


def game(name: str, settings: Mapping[str, object] | None = None) -> Game[Any]:
    """Return the game `name` with options chosen, as text or typed; `UsageError` where anything is not known."""
    return kind(name)(settings)
