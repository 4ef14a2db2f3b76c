"""Registry of games by name: built in, and from other packages by entry points.

Another package adds a game with an entry point in the group `moccasin_mat.games`:

    [project.entry-points."moccasin_mat.games"]
    my_game = "my_package.my_game.rules:MyGame"

A built-in game is a folder of `pi_controller.games`; no list names it. A game's modules are imported on demand: `rules`
with its class, and beside it `referee`, `display`, `console` and `people`, each of which may be missing
(`game_module`).
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Literal, cast

from pi_controller.entry_points import GAMES, PluginError, find_entry_points, load_entry_point, unusable
from pi_controller.errors import UsageError
from pi_controller.rules.base import Game
from pi_controller.text import did_you_mean, format_value, join_words

_FOLDER = "pi_controller.games"
_FIRST = ("dakota", "ojibwe", "slahal", "bageswin", "plum_stone", "patol")
"""The order in which games are listed; others follow by name."""
DEFAULT_GAME = "dakota"
"""The game played if no other is chosen."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
Part = Literal["referee", "display", "console", "people"]


@cache
def built_in_names() -> tuple[str, ...]:
    """Return the names of the games that have a folder in `pi_controller.games`."""
    found = {module.name for module in iter_modules(import_module(_FOLDER).__path__) if module.ispkg}
    return (*(name for name in _FIRST if name in found), *sorted(found.difference(_FIRST)))


def names() -> tuple[str, ...]:
    """Return the names of all games: the built-in ones, then those of other packages that are valid names."""
    built_in = built_in_names()
    return (*built_in, *(name for name in find_entry_points(GAMES) if name not in built_in and _NAME.fullmatch(name)))


def game_class(name: str) -> type[Game[Any]]:
    """Return the class of the game `name`.

    Raises `UsageError` for an unknown name, and `PluginError` if another package's game cannot be used.
    """
    if name in built_in_names():
        return _load_built_in(name)
    if name not in find_entry_points(GAMES):
        raise UsageError(
            "there is no game {name}{suggestion}",
            "games: {names}",
            name=format_value(name),
            suggestion=did_you_mean(name, names()),
            names=join_words(names()),
        )
    return load_plugin(name)


def game(name: str, settings: Mapping[str, object] | None = None) -> Game[Any]:
    """Return the game `name` with options chosen, as text or typed. Raises `UsageError` for unknown names or values."""
    return game_class(name)(settings)


def playable(name: str) -> bool:
    """Return True if the game `name` can be played: a built-in one, or a complete one of another package."""
    try:
        game_class(name)
    except UsageError:
        return False
    return True


@cache
def _load_built_in(name: str) -> type[Game[Any]]:
    rules = import_module(f"{_FOLDER}.{name}.rules")
    for found in cast("dict[str, object]", vars(rules)).values():
        if isinstance(found, type) and issubclass(found, Game):
            made = cast("type[Game[Any]]", found)
            if getattr(made, "name", None) == name:
                return made
    raise PluginError(
        "{module} has no game class with the name {quoted}",
        'set name = "{name}" in it',
        module=rules.__name__,
        quoted=repr(name),
        name=name,
    )


@cache
def game_module(name: str, part: Part) -> ModuleType | None:
    """Return the module `part` of the game `name`, or None if it has none. Raises `UsageError` like `game_class`."""
    package, _, module = game_class(name).__module__.rpartition(".")
    if module != "rules":
        return None  # a game in a single module
    path = f"{package}.{part}"
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            return None
        raise


@cache
def load_plugin(name: str) -> type[Game[Any]]:
    """Return the class of another package's game."""
    point, *others = find_entry_points(GAMES)[name]
    if not _NAME.fullmatch(name):
        raise unusable(point, "a game's name has lowercase letters, digits and _, and begins with a letter")
    found: object = load_entry_point(point, *others)
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise unusable(point, f"{point.value} is no subclass of pi_controller.rules.base.Game")
    made = cast("type[Game[Any]]", found)
    missing = [key for key in ("version", "source", "options") if not hasattr(made, key)]
    if made.__abstractmethods__ or missing:
        lacks = join_words((*sorted(made.__abstractmethods__), *missing))
        raise unusable(point, f"{made.__name__} lacks {lacks}")
    if getattr(made, "name", None) != name:
        raise unusable(point, f"its class calls it {format_value(getattr(made, 'name', None))}")
    return made
