"""Play a million games by chance and see how far the winners' share lies from the solved chance.

python tests/games/million_games.py [--games 1000000] [--seed 1] [--set OPTION=VALUE] [--first P] [--second P]

Nothing of the solver is used but its answer: where a hit leads comes from the rules (`Dakota.play`).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.rules import chances, registry
from pi_controller.rules.options import from_text

if TYPE_CHECKING:
    from pi_controller.rules.base import Game

_AT_ONCE = 100_000


def ways(state: Any, first: float, second: float) -> list[tuple[float, dict[str, Any]]]:
    """Return every action that chance may bring now, with its chance. A toss falls either way equally."""
    if state.hider is None:
        return [(1 / 2, {"do": "toss", "winner": team}) for team in "AB"]
    finds = first if state.owed == "first" else second
    return [(finds, {"do": "hit", "found": True}), (1 - finds, {"do": "hit", "found": False})]


def bare(state: Any) -> Any:
    """Return the state without what it only tells of the past, so that as many as can be are one."""
    told = {field.name for field in fields(state)} & {"last", "first_pad", "value"}
    return replace(state, **dict.fromkeys(told))


@dataclass
class Table:
    """All states a game can come to: `towards[state, way]` follows where a random number first is below `bounds`."""

    towards: np.ndarray
    bounds: np.ndarray
    won: np.ndarray
    """1 where the first player has won, 0 where the second has, -1 where the game goes on."""


def table(game: Game[Any], start: Any, first: float, second: float) -> Table:
    """Return every state after `start` (number 0) and the chances between them."""
    start = bare(start)
    numbers = {start: 0}
    rows: list[dict[int, float]] = []
    won: list[int] = []
    queue = [start]
    for state in queue:
        row: dict[int, float] = {}
        won.append(-1 if not game.is_over(state) else int(state.winner == "A"))
        for chance, action in () if game.is_over(state) else ways(state, first, second):
            after = bare(game.play(state, action)[0])
            if after not in numbers:
                numbers[after] = len(queue)
                queue.append(after)
            row[numbers[after]] = row.get(numbers[after], 0) + chance
        rows.append(row)
    wide = max(map(len, rows))
    towards = np.zeros((len(rows), wide), np.int32)
    bounds = np.ones((len(rows), wide))
    for number, row in enumerate(rows):
        likely = sorted(row.items(), key=lambda way: -way[1])
        towards[number, : len(row)] = [to for to, _ in likely]
        bounds[number, : len(row)] = np.cumsum([chance for _, chance in likely])
        bounds[number, max(len(row) - 1, 0) :] = 1.0
    return Table(towards, bounds, np.array(won))


def wins(played: Table, games: int, rng: np.random.Generator) -> int:
    """Return how many of `games` the first player wins."""
    total = 0
    for done in range(0, games, _AT_ONCE):
        at = np.zeros(min(_AT_ONCE, games - done), np.int32)
        while len(at):
            throws = rng.random(len(at))
            way = np.zeros(len(at), np.int8)
            for column in range(played.bounds.shape[1] - 1):
                way += throws >= played.bounds[at, column]
            at = played.towards[at, way]
            result = played.won[at]
            total += int((result == 1).sum())
            at = at[result < 0]
    return total


@dataclass
class Compared:
    """The observed share of games that the first player won, and the solved chance."""

    games: int
    observed: float
    solved: float

    @property
    def error(self) -> float:
        """The standard error of the observed share."""
        return sqrt(self.solved * (1 - self.solved) / self.games)

    @property
    def sigmas(self) -> float:
        """The distance in standard errors."""
        return (self.observed - self.solved) / self.error


def compared(game: Game[Any], games: int, seed: int, first: float, second: float) -> Compared:
    """Play and solve."""
    start, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    share = wins(table(game, start, first, second), games, np.random.default_rng(seed)) / games
    return Compared(games, share, chances.solve(game, first, second).win_chance(start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--first", type=float, default=chances.FIRST_HIT_CHANCE)
    parser.add_argument("--second", type=float, default=chances.SECOND_HIT_CHANCE)
    args = parser.parse_args()
    began = time.perf_counter()
    found = compared(registry.game("dakota", from_text(args.set)), args.games, args.seed, args.first, args.second)
    print(
        f"{found.games:,} games, the first player won {found.observed:.6f}; solved {found.solved:.6f}; "
        f"distance {found.observed - found.solved:+.6f}, standard error {found.error:.6f} ({found.sigmas:+.2f}); "
        f"{time.perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
