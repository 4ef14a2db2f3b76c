"""Play a million games by chance and see how far the winners' share lies from the solved chance.

python tests/games/million_games.py [GAME] [--games 1000000] [--seed 1] [--set OPTION=VALUE] [--first P] [--second P]

Nothing of the solver is used but its answer: where a throw or a hit leads comes from the rules (`Game.play`), and
how likely it is from counting how the pieces can fall.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, fields, replace
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.games import chances, registry
from pi_controller.games.options import from_text

if TYPE_CHECKING:
    from pi_controller.games.base import Game

_AT_ONCE = 100_000
BEGUN: dict[str, list[dict[str, Any]]] = {
    "dakota": [{"do": "toss", "winner": "A"}],
    "plum_stone": [{"do": "lot", "first": "A"}],
    "bageswin": [],
    "patol": [{"do": "start", "player": player, "river": "north", "direction": "clockwise"} for player in "AB"],
}
"""What settles who begins."""


def ways(game: Game[Any], state: Any, first: float, second: float) -> list[tuple[float, dict[str, Any]]]:
    """Return every action that chance may bring now, with its chance. A toss or a lot falls either way equally."""
    match game.name:
        case "dakota" if state.hider is None:
            return [(1 / 2, {"do": "toss", "winner": team}) for team in "AB"]
        case "dakota":
            finds = first if state.owed == "first" else second
            return [(finds, {"do": "hit", "found": True}), (1 - finds, {"do": "hit", "found": False})]
        case "plum_stone" if state.thrower is None:
            return [(1 / 2, {"do": "lot", "first": team}) for team in "AB"]
        case "plum_stone":
            falls = Counter((sum(fall[:2]), sum(fall[2:])) for fall in product((0, 1), repeat=5))
            return [(n / 32, {"do": "throw", "moons": moons, "whites": whites}) for (moons, whites), n in falls.items()]
        case "bageswin":
            falls = Counter((f[0], f[1], f[2] + f[3], sum(f[4:])) for f in product((0, 1), repeat=8))
            pieces = ("woman", "fish", "knives", "buttons")
            return [(n / 256, {"do": "throw", "red": dict(zip(pieces, red, strict=True))}) for red, n in falls.items()]
        case "patol":
            falls = Counter(sum(fall) for fall in product((0, 1), repeat=3))
            return [(n / 8, {"do": "throw", "marked": marked}) for marked, n in falls.items()]
    raise ValueError(game.name)


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
        won.append(-1 if not game.over(state) else int(state.winner == "A"))
        for chance, action in () if game.over(state) else ways(game, state, first, second):
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
    start = game.opening()
    for action in BEGUN[game.name]:
        start, _ = game.play(start, action)
    share = wins(table(game, start, first, second), games, np.random.default_rng(seed)) / games
    return Compared(games, share, chances.solve(game, first, second).of(start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="dakota", choices=chances.games())
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--first", type=float, default=chances.FIRST)
    parser.add_argument("--second", type=float, default=chances.SECOND)
    args = parser.parse_args()
    began = time.perf_counter()
    found = compared(registry.game(args.game, from_text(args.set)), args.games, args.seed, args.first, args.second)
    print(
        f"{args.game}: {found.games:,} games, the first player won {found.observed:.6f}; solved {found.solved:.6f}; "
        f"distance {found.observed - found.solved:+.6f}, standard error {found.error:.6f} ({found.sigmas:+.2f}); "
        f"{time.perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
