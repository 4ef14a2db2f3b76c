"""The chances of patol for two: three sticks, each marked side up as often as not.

The chain's states are how far both horses have run and who throws. Where two horses can meet depends on their rivers
and directions, so each way to start has a chain of its own, solved when it is asked for. A kill leads back: a circle,
so all states of a chain are solved together.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.games.chances import Chances, ChancesError, Page
from pi_controller.games.chances_chain import Chain
from pi_controller.games.patol import AGAIN, DIRECTIONS, RIVERS, STONES, THROWS, Direction, Horse, Patol, River, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pi_controller.games.base import Game, Json

_MOST_CIRCUITS = 2
_MOST_CIRCUITS_BESIDE = 1
"""For use beside a game; two take most of a minute to solve for every start."""
_STICKS = 3
Start = tuple[int, int]
"""Where the second horse starts, in notches ahead of the first as the first runs; 1 if it runs the same way, or -1."""


class PatolChances(Chances):
    """`of` is the chance of the first player."""

    def __init__(self, game: Patol) -> None:
        self.game = game
        self.assumed = "each stick falls marked side up with chance 1/2"
        self.residual = 0.0
        self._names = tuple(horse.player for horse in game.opening().horses)
        circuits = game.settings["circuits"]
        assert isinstance(circuits, int)
        self._course = STONES * circuits
        self._throws = {
            value: comb(_STICKS, marked) / 2**_STICKS
            for marked, value in enumerate(THROWS[str(game.settings["throws"])])
        }
        self._starts: dict[Start, NDArray[np.float64]] = {}

    @property
    def players(self) -> tuple[str, str]:
        """The two who play, in turn order."""
        return self._names[0], self._names[1]

    def of(self, state: State) -> float:
        """Return the chance that the first player wins; `ChancesError` before both horses have started."""
        one, two = state.horses
        if state.winner:
            return float(state.winner == one.player)
        if one.river is None or two.river is None:
            raise ChancesError("the chances depend on where the horses start", "let both start first")
        if max(one.progress, two.progress) >= self._course:
            raise ChancesError(f"a horse has run the {self._course} notches of the course", "choose more circuits")
        thrower = self._names.index(state.thrower)
        return float(self._solved(_start(one, two))[thrower, one.progress, two.progress])

    def of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return the chance that the first player wins; None before both have started and once the game is over."""
        one, two = (
            Horse(*(horse[key] for key in ("player", "river", "direction", "progress"))) for horse in sheet["horses"]
        )
        if sheet["winner"] or one.river is None or two.river is None:
            return None
        return float(self._solved(_start(one, two))[self._names.index(sheet["thrower"]), one.progress, two.progress])

    def prepare(self) -> None:
        """Solve every way to start."""
        self.page()

    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the first thrower's and the other's chance, where both horses start at one river the same way."""
        chance = self.of(self._started("north", "clockwise"))
        return (
            ("who throws first, from one river the same way", chance),
            ("the other, from one river the same way", 1 - chance),
        )

    def page(self) -> Page:
        """Return the first thrower's chances for every way to start; all others are turned or mirrored ones."""
        return Page(
            "the first thrower's chance before the first throw, that horse at north and running clockwise",
            tuple(f"other {direction}" for direction in DIRECTIONS),
            tuple(
                (f"other at {river}", tuple(self.of(self._started(river, direction)) for direction in DIRECTIONS))
                for river in RIVERS
            ),
        )

    def _started(self, river: River, direction: Direction) -> State:
        one, two = self._names
        return State((Horse(one, "north", "clockwise"), Horse(two, river, direction)), thrower=one)

    def _solved(self, start: Start) -> NDArray[np.float64]:
        """Return the first player's chances: thrower x the first's progress x the second's."""
        if not self.game.settings["killing"]:
            start = (0, 1)  # horses that never meet: all starts are the same
        if start not in self._starts:
            chain, worth = self._chain(start)
            self._starts[start] = chain.solve(worth).reshape(2, self._course, self._course)
            self.residual = max(self.residual, chain.residual)
        return self._starts[start]

    def _chain(self, start: Start) -> tuple[Chain, NDArray[np.float64]]:
        ahead, way = start
        course = self._course
        shape = (2, course, course)
        size = 2 * course * course
        own, other = (side.ravel() for side in np.mgrid[:course, :course])
        worth = np.zeros(size)
        steps: list[tuple[NDArray[Any], NDArray[Any], float]] = []
        for thrower in (0, 1):
            for value, chance in self._throws.items():
                to = own + value
                won = to >= course
                moved, still = (to, ahead + way * other) if thrower == 0 else (ahead + way * to, other)
                met = (moved - still) % STONES == 0
                left = np.where(met & bool(self.game.settings["killing"]), 0, other)
                following = thrower if value == AGAIN else 1 - thrower
                source, target = _indices(thrower, own, other, shape), _indices(following, to, left, shape, thrower)
                steps.append((source, np.where(won, size, target), chance))
                if thrower == 0:
                    worth[source] += chance * won
        source, target = (np.concatenate([step[part] for step in steps]) for part in (0, 1))
        return Chain(size, source, target, np.repeat([chance for *_, chance in steps], len(own))), worth


def _indices(
    throwing: int, own: NDArray[Any], other: NDArray[Any], shape: tuple[int, int, int], mover: int | None = None
) -> NDArray[Any]:
    """Return the states where `throwing` throws and the mover (if not given, the same) has run `own` notches.

    What lies past the course is not looked at: the mover has won there.
    """
    runs = (own, other) if (throwing if mover is None else mover) == 0 else (other, own)
    return np.ravel_multi_index((np.full(len(own), throwing), *runs), shape, mode="clip")


def _start(one: Horse, two: Horse) -> Start:
    """Return how the second horse's start lies to the first's, as the first runs."""
    if one.river is None or one.direction is None or two.river is None or two.direction is None:
        raise ChancesError("the chances depend on where the horses start", "let both start first")
    way = DIRECTIONS[one.direction]
    return (RIVERS[two.river] - RIVERS[one.river]) * way % STONES, way * DIRECTIONS[two.direction]


def check(game: Game[Any], *, beside: bool) -> None:
    """Raise `ChancesError` where there are not two players, or too many circuits."""
    if len(game.opening().horses) != 2:
        raise ChancesError("the chances of patol are for two players", "choose two players")
    circuits, most = game.settings["circuits"], _MOST_CIRCUITS_BESIDE if beside else _MOST_CIRCUITS
    if isinstance(circuits, int) and circuits > most:
        raise ChancesError(
            f"{circuits} circuits are too many to solve for", f"choose {'one' if most == 1 else f'at most {most}'}"
        )


def solved(game: Game[Any], first: float, second: float) -> Chances:  # noqa: ARG001 - nobody hits here
    """Return the chances of patol for two."""
    assert isinstance(game, Patol)
    return PatolChances(game)
