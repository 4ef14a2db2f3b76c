"""Exact chances of winning from every state of a game, for learning what a moment of it means.

A game whose next step is chance alone (or a hit that finds with a fixed chance) is a Markov chain; its chances are the
solution of linear equations, checked by putting them back in. Each game's equations are in a module of their own,
imported with numpy and scipy when it is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from pi_controller.errors import MatError
from pi_controller.games import registry
from pi_controller.games.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game, Json
    from pi_controller.games.options import Value

FIRST = 1 / 4
"""The bead lies under one of four pads."""
SECOND = 1 / 3
"""After a miss three pads are left."""


class ChancesError(MatError, ValueError):
    """Chances that cannot be given: a game without any, a game that may never end, a state out of reach."""

    code = "chances"


@dataclass(frozen=True, slots=True)
class Page:
    """The most telling states of a game: a row for each, with the same column heads over all."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]


class Chances(ABC):
    """The chances of one game with its options, solved."""

    game: Game[Any]
    assumed: str
    """What the chances take for granted, in one line."""
    residual: float
    """How far the solution misses its own equations anywhere; at most `chances_chain.EXACT`."""

    @property
    @abstractmethod
    def players(self) -> tuple[str, str]:
        """The two who play; `of` is the chance of the first."""

    @abstractmethod
    def of(self, state: Any) -> float:
        """Return the chance, 0 to 1, that the first of `players` (team A) wins from `state`.

        Where a toss or a lot comes first, both ways are taken as equally likely. Raises `ChancesError` where the state
        does not settle the chances yet (patol before the horses start).
        """

    @abstractmethod
    def of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return `of` for a state of this game under the score sheet's keys: looked up, never solved.

        None once the game is over and where the state does not settle the chances yet. For use beside a game, after
        `beside`.
        """

    def prepare(self) -> None:  # noqa: B027 - most solve all at once
        """Solve now what would be solved only when it is asked for."""

    def by_player(self, state: Any) -> dict[str, float]:
        """Return the chance of each player, by name."""
        one, two = self.players
        chance = self.of(state)
        return {one: chance, two: 1 - chance}

    @abstractmethod
    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the chances before the first hit or throw, with who has them; together 1."""

    @abstractmethod
    def page(self) -> Page:
        """Return a short table of the most telling states."""


class _Module(Protocol):
    def check(self, game: Game[Any], *, beside: bool) -> None: ...

    def solved(self, game: Game[Any], first: float, second: float) -> Chances: ...


def solve(game: Game[Any], first: float = FIRST, second: float = SECOND) -> Chances:
    """Return the chances of `game`; solved once for the same options and figures.

    `first` and `second` are for dakota alone: the chance that the first hit of a hide finds the bead, and that the
    second does after the first missed. Nobody fouls. Thrown pieces fall on either side equally, each for itself.
    Raises `ChancesError` for a game that has no such chances, or is too big to solve.
    """
    for name, chance in (("first", first), ("second", second)):
        if not 0 <= chance <= 1:
            raise ChancesError(f"the chance {name} cannot be {chance}", "a chance is a number from 0 to 1")
    _module(game.name).check(game, beside=False)
    settings = tuple(sorted(game.settings.items(), key=lambda item: item[0]))
    return _solved(game.name, settings, first, second)


@lru_cache(maxsize=32)
def _solved(name: str, settings: tuple[tuple[str, Value], ...], first: float, second: float) -> Chances:
    return _module(name).solved(registry.game(name, dict(settings)), first, second)


def check_beside(game: Game[Any]) -> None:
    """Raise `ChancesError` where `beside` would for `game`; solves nothing."""
    _module(game.name).check(game, beside=True)


def beside(game: Game[Any], first: float = FIRST, second: float = SECOND) -> Chances:
    """Return the chances of `game` with all of them solved, to be looked up while it is played.

    As `solve`, but what takes many seconds or much memory is refused too: a table's computer is small and begins to
    play soon. `python tests/benchmarks/chances_beside.py` measures what each game takes.
    """
    check_beside(game)
    solved = solve(game, first, second)
    solved.prepare()
    return solved


def games() -> tuple[str, ...]:
    """Return the names of the games that have chances."""
    return tuple(name for name in registry.names() if registry.playable(name) and registry.kind(name).solver)


def _module(name: str) -> _Module:
    solver = registry.kind(name).solver
    if not solver:
        raise ChancesError(f"{name} has no exact chances: people decide it", f"there are some for {listed(games())}")
    return cast("_Module", import_module(solver))
