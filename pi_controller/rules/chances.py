"""Exact chances of winning, to show the value of a position. A game that has them brings a module `chances`.

`solve(game, first, second)` of that module returns its `Chances`; today only Hampa Apena has one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

from pi_controller.errors import MatError
from pi_controller.rules import registry
from pi_controller.rules.base import Game, Json
from pi_controller.rules.options import Value
from pi_controller.text import join_words

FIRST_HIT_CHANCE = 1 / 4
"""Default chance of the first hit: the bead is under one of four pads."""
SECOND_HIT_CHANCE = 1 / 3
"""Default chance of the second hit: three pads are left after a miss."""


class ChancesError(MatError, ValueError):
    """Chances cannot be computed: an unsupported game, a game that may never end, or an unreachable state."""

    code = "chances"


@dataclass(frozen=True, slots=True)
class ChancesTable:
    """The most telling states of a game: a row for each, with the same column heads over all."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]


class Chances(Protocol):
    """The chances of one game with its options, solved."""

    game: Game[Any]
    assumed: str
    """The assumptions behind the chances, in one line."""
    residual: float
    """The largest error of the solution in its own equations."""

    def win_chance(self, state: Any) -> float:
        """Return the chance, 0 to 1, that team A wins from `state`. Raises `ChancesError` for a finished score."""
        ...

    def win_chance_of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return `win_chance` for a state under the score sheet's keys, looked up; None if it is not known."""
        ...

    def by_player(self, state: Any) -> dict[str, float]:
        """Return the chance of each team, by letter."""
        ...

    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the chances before the first hit with a label for each side; their sum is 1."""
        ...

    def page(self) -> ChancesTable:
        """Return a short table of typical states."""
        ...


def solve(game: Game[Any], first: float = FIRST_HIT_CHANCE, second: float = SECOND_HIT_CHANCE) -> Chances:
    """Return the chances of `game`; cached for equal options and arguments.

    `first` is the chance that the first hit of a hide finds the bead, `second` that the second does after a miss.
    Fouls are not modelled. Raises `ChancesError` for a game that has no such chances.
    """
    check(game)
    for name, chance in (("first", first), ("second", second)):
        if not 0 <= chance <= 1:
            raise ChancesError(f"the chance {name} cannot be {chance}", "a chance is a number from 0 to 1")
    settings = tuple(sorted(game.settings.items(), key=lambda item: item[0]))
    return _solve_cached(type(game), settings, first, second)


def check(game: Game[Any]) -> None:
    """Raise `ChancesError` if `game` has no exact chances, without solving them."""
    chances_module(type(game))


def chances_module(game: type[Game[Any]]) -> ModuleType:
    """Return the module `chances` of a game's folder. Raises `ChancesError` if it has none."""
    own = registry.sibling_module(game, "chances")
    if own is None:
        known = [name for name in registry.built_in_names() if registry.game_module(name, "chances")]
        raise ChancesError(
            f"there are no chances of winning for {game.name}", f"there are some for {join_words(known)}"
        )
    return own


@lru_cache(maxsize=32)
def _solve_cached(
    game: type[Game[Any]], settings: tuple[tuple[str, Value], ...], first: float, second: float
) -> Chances:
    return chances_module(game).solve(game(dict(settings)), first, second)
