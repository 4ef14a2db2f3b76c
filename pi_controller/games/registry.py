"""Registry of games by name: built in, and from other packages by entry points.

Another package brings a game with an entry point in the group `moccasin_mat.games`:

    [project.entry-points."moccasin_mat.games"]
    my_game = "my_package.games.my_game:MyGame"

A game's module is imported when it is asked for. What the other floors have of a game (`floor`) are modules of its name
beside the `games` package that it is in: `my_package.referee.my_game`. Each may be left out.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, cast

from pi_controller.errors import UsageError
from pi_controller.games.base import Game
from pi_controller.games.wording import listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

GROUP = "moccasin_mat.games"
"""The group of entry points by which other packages bring games."""
_BUILT_IN = {
    "dakota": "Dakota",
    "ojibwe": "Ojibwe",
    "slahal": "Slahal",
    "bageswin": "Bageswin",
    "plum_stone": "PlumStone",
    "patol": "Patol",
}
"""The class of each game, in the module of the game's name. A new one of ours is a module and a line here."""
DEFAULT = "dakota"
"""What is played where nobody says anything else."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
Floor = Literal["referee", "sim", "show.games", "web.games"]


class GamePackageError(UsageError):
    """Another package's game that cannot be played; `what` names the package."""

    code = "game_package"


@cache
def installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of other packages' games by name; several of one name, where packages disagree.

    Looked up once: `installed.cache_clear()` after a package came or went.
    """
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if point not in found.get(point.name, ()):
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def names() -> tuple[str, ...]:
    """Return the names of all games: ours, then those of other packages, where the names are ones that can be typed."""
    return (*_BUILT_IN, *(name for name in installed() if name not in _BUILT_IN and _NAME.fullmatch(name)))


def kind(name: str) -> type[Game[Any]]:
    """Return the class of the game `name`.

    Raises `UsageError` where there is none, `GamePackageError` where another package's cannot be used.
    """
    if name in _BUILT_IN:
        return cast("type[Game[Any]]", getattr(import_module(f"pi_controller.games.{name}"), _BUILT_IN[name]))
    if name not in installed():
        raise UsageError(f"there is no game {shown(name)}{nearest(name, names())}", f"games: {listed(names())}")
    return loaded(name)


def game(name: str, settings: Mapping[str, object] | None = None) -> Game[Any]:
    """Return the game `name` with options chosen, as text or typed; `UsageError` where anything is not known."""
    return kind(name)(settings)


def playable(name: str) -> bool:
    """Return whether the game `name` can be played: ours can, another package's if it is whole."""
    try:
        kind(name)
    except UsageError:
        return False
    return True


@cache
def floor(name: str, where: Floor) -> ModuleType | None:
    """Return the module of the game `name` on the floor `where`, or None where it has none of its own.

    A game of the module `PACKAGE.games.NAME` has it as `PACKAGE.WHERE.NAME`. Raises `UsageError` as `kind` does.
    """
    package, inside, _ = kind(name).__module__.rpartition(".games.")
    if not inside:
        return None
    path = f"{package}.{where}.{name}"
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            return None
        raise


@cache
def loaded(name: str) -> type[Game[Any]]:
    """Return the class of another package's game."""
    point, *others = installed()[name]
    if others:
        raise _refused(name, point, f"{_package(others[0])} has a game of that name too")
    if not _NAME.fullmatch(name):
        raise _refused(name, point, "a game's name is of small letters, digits and _, the first a letter")
    try:
        found: object = point.load()
    except Exception as error:
        raise _refused(name, point, f"{type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise _refused(name, point, f"{point.value} is no subclass of pi_controller.games.base.Game")
    made = cast("type[Game[Any]]", found)
    missing = [key for key in ("version", "source", "options") if not hasattr(made, key)]
    if made.__abstractmethods__ or missing:
        raise _refused(name, point, f"{made.__name__} lacks {listed((*sorted(made.__abstractmethods__), *missing))}")
    if getattr(made, "name", None) != name:
        raise _refused(name, point, f"its class calls it {shown(getattr(made, 'name', None))}")
    return made


def _refused(name: str, point: EntryPoint, why: str) -> GamePackageError:
    return GamePackageError(
        f"the game {shown(name)} of the package {_package(point)} cannot be played: {why}",
        "update or uninstall that package; the other games can be played",
    )


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
