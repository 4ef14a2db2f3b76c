"""The chances of the two bowl games, plum_stone and bageswin, for two players with fair pieces.

Both are one chain: who scores takes counters from the pile and, where it falls short, from the other, and throws again;
who does not passes the bowl; who has all has won. In bageswin two players have split the sticks and there is no pile.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.games import plum_stone
from pi_controller.games.bageswin import PIECES, VALUES, Bageswin
from pi_controller.games.chances import Chances, ChancesError, Page
from pi_controller.games.chances_chain import Chain
from pi_controller.games.plum_stone import PLAYERS, PlumStone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from pi_controller.games.base import Game, Json

_LARGEST = 500
"""Counters at most: with a pile the states grow with their square."""
_LARGEST_BESIDE = 200
"""The same for use beside a game, where there is a pile."""
_STONES = (2, 3)
"""Moon and star stones, white and black ones."""


def fair(kinds: Iterable[int], values: Mapping[tuple[int, ...], int]) -> dict[int, float]:
    """Return the chance of each value when `kinds` of two-sided pieces fall on either side equally.

    `values` has what a throw is worth by how many of each kind show their first side; what is missing is worth 0.
    """
    chances: Counter[int] = Counter()
    kinds = tuple(kinds)
    for showing in product(*(range(count + 1) for count in kinds)):
        chances[values.get(showing, 0)] += prod(map(comb, kinds, showing))
    return {value: ways / 2 ** sum(kinds) for value, ways in chances.items()}


class BowlChances(Chances):
    """`of` is the chance of the first player."""

    def __init__(self, game: Game[Any], total: int, *, pile: bool, throws: Mapping[int, float]) -> None:
        self.game = game
        self.assumed = "all pieces fall on either side equally, each for itself; every throw counts"
        self._total = total
        self._pile = pile
        a, b = _holdings(total, pile=pile)
        self._at = np.full((total + 1, total + 1), -1)
        self._at[a, b] = np.arange(len(a))
        chain, worth = self._chain(a, b, throws)
        self._chances = chain.solve(worth)
        self.residual = chain.residual

    @property
    def players(self) -> tuple[str, str]:
        """The two who play, in turn order."""
        if isinstance(self.game, PlumStone):
            return PLAYERS[0], PLAYERS[1]
        one, two = self.game.opening().players
        return one, two

    def of(self, state: Any) -> float:
        """Return the chance that the first player wins; before the lot, the mean of both ways it may fall."""
        one, two = self.players
        if state.winner:
            return float(state.winner == one)
        if state.sticks.total != self._total:
            raise ChancesError(
                f"this state has {state.sticks.total} in play, not {self._total}", "take one of this game"
            )
        a, b = state.sticks[one], state.sticks[two]
        if state.thrower is None:
            return (self._of(a, b, 0) + self._of(a, b, 1)) / 2
        return self._of(a, b, (one, two).index(state.thrower))

    def of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return the chance that the first player wins; None once the game is over."""
        if sheet["winner"]:
            return None
        if self._pile:
            a, b = (sheet["counters"][player] for player in self.players)
        else:
            a, b = (player["sticks"] for player in sheet["players"])
        if sheet["thrower"] is None:
            return (self._of(a, b, 0) + self._of(a, b, 1)) / 2
        return self._of(a, b, self.players.index(sheet["thrower"]))

    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the first thrower's and the other's chance."""
        state = self.game.opening()
        one, two = self.players
        chance = self._of(state.sticks[one], state.sticks[two], 0)
        return (("who throws first", chance), ("the other", 1 - chance))

    def page(self) -> Page:
        """Return the thrower's chances at some holdings of both."""
        marks = sorted({self._total * tenth // 10 for tenth in (0, 1, 2, 3, 5, 7, 8, 9)} | {1, self._total - 1})
        if not self._pile:
            return Page(
                "the thrower's chance, by the thrower's sticks; the other has the rest",
                ("chance",),
                tuple((str(a), (self._of(a, self._total - a, 0),)) for a in marks if 0 < a < self._total),
            )
        others = [mark for mark in marks if mark <= self._total // 2]
        return Page(
            "the thrower's chance, by the thrower's counters; above, the other's counters; the pile has the rest",
            tuple(map(str, others)),
            tuple(
                (str(a), tuple(self._of(a, b, 0) for b in others))
                for a in marks
                if a < self._total and a + others[-1] <= self._total
            ),
        )

    def _of(self, a: int, b: int, thrower: int) -> float:
        return float(self._chances[2 * self._at[a, b] + thrower])

    def _chain(
        self, a: NDArray[Any], b: NDArray[Any], throws: Mapping[int, float]
    ) -> tuple[Chain, NDArray[np.float64]]:
        """Return the chain and the chance that the first player wins at once."""
        steps: list[tuple[NDArray[Any], NDArray[Any], float]] = []
        worth = np.zeros(2 * len(a))
        for value, chance in throws.items():
            for thrower, (mine, theirs) in enumerate(((a, b), (b, a))):
                source = 2 * self._at[a, b] + thrower
                got = np.minimum(mine + value, self._total)
                left = np.minimum(theirs, self._total - got)  # the pile pays first
                won = got == self._total
                following = thrower if value else 1 - thrower
                target = 2 * (self._at[got, left] if thrower == 0 else self._at[left, got]) + following
                steps.append((source, np.where(won, 2 * len(a), target), chance))
                if thrower == 0:
                    worth[source] += chance * won
        source, target = (np.concatenate([step[part] for step in steps]) for part in (0, 1))
        return Chain(2 * len(a), source, target, np.repeat([p for *_, p in steps], len(a)), ordered=True), worth


def _holdings(total: int, *, pile: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what both may hold while nobody has all, the smallest pile first: no throw makes it greater."""
    a, b = (side.ravel() for side in np.mgrid[:total, :total])
    may = a + b <= total if pile else a + b == total
    a, b = a[may], b[may]
    order = np.lexsort((a, -(a + b)))
    return a[order], b[order]


def check(game: Game[Any], *, beside: bool) -> None:
    """Raise `ChancesError` where there are not two players, or too many counters."""
    opening, pile = game.opening(), isinstance(game, PlumStone)
    if isinstance(game, Bageswin) and len(opening.players) != 2:
        raise ChancesError("the chances of bageswin are for two players", "choose two players")
    largest = _LARGEST_BESIDE if beside and pile else _LARGEST
    if opening.sticks.total > largest:
        raise ChancesError(f"{opening.sticks.total} are too many to solve for", f"choose at most {largest}")


def solved(game: Game[Any], first: float, second: float) -> Chances:  # noqa: ARG001 - nobody hits here
    """Return the chances of a plum stone or bageswin game for two."""
    if isinstance(game, PlumStone):
        total = game.opening().sticks.total
        return BowlChances(game, total, pile=True, throws=fair(_STONES, plum_stone.VALUES))
    assert isinstance(game, Bageswin)
    throws = fair(PIECES.values(), VALUES[str(game.settings["table"])])
    return BowlChances(game, game.opening().sticks.total, pile=False, throws=throws)
