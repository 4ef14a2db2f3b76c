"""Exact chances of winning from every state of the Dakota game, as a learning aid.

A hit finds with a fixed chance, so the game is a Markov chain: hits within a score, and one score after the other from
the last point. `Dakota.play` says where a hit leads, so every option counts. Between two points only sticks and roles
change (184 states without a judge's corrections), so one chain serves all scores; a point leaves it for the score
after. The solution of its linear equations is checked by putting it back in. numpy is imported only to solve.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pi_controller.games.dakota.rules import MIDDLE, Dakota, Mode, Owed, State
from pi_controller.rules.base import TEAMS
from pi_controller.rules.chances import ChancesError, ChancesTable
from pi_controller.rules.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from pi_controller.rules.base import Json, Team

    Key = tuple[Team | None, Sticks, Mode, Owed | None]
    """All of a moment that what follows depends on, but for the score."""

EXACT = 1e-12
"""A solution that misses its equations by more is refused."""

_MAX_POINTS = 99
_MODES: dict[str, Mode] = {"sahdogan": "sahdogan", "yawapi": "yawapi", "eyeya": "eyeya"}
_POSITIONS: tuple[tuple[str, int, int, Mode], ...] = (
    ("4/0/16, as after the toss", 4, 0, "ordinary"),
    ("0/0/20, after a point that returns all", 0, 0, "ordinary"),
    ("16/0/4, wheya", 16, 0, "ordinary"),
    ("16/4/0, wheya", 16, 4, "ordinary"),
    ("12/8/0, sahdogan", 12, 8, "sahdogan"),
    ("6/14/0, yawapi", 6, 14, "yawapi"),
    ("4/16/0, eyeya", 4, 16, "eyeya"),
)


class DakotaChances:
    """The chances of a Dakota game with its options, solved."""

    assumed: str
    """What the chances take for granted, in one line."""
    residual: float
    """How far the solution misses its own equations anywhere; at most `EXACT`."""

    def __init__(self, game: Dakota, first: float, second: float) -> None:
        """Solve the equations. Raises `ChancesError` if the game may never end with these chances."""
        self.game = game
        self.assumed = (
            f"the first hit finds with chance {first:.4g}, after a miss the second with {second:.4g}; no fouls"
        )
        self._points = game.points
        # as many points as can be: no single one ends the game, so the chain is that of any score
        self._endless = Dakota({**game.settings, "points": _MAX_POINTS})
        self._finds: dict[Owed, float] = {"first": first, "second": second}
        self._index: dict[Key, int] = {}
        tossed = self._endless.play(self._endless.opening(), {"do": "toss", "winner": "A"})[0]
        self._grow([tossed])

    def win_chance(self, state: State) -> float:
        """Return the chance, 0 to 1, that team A wins from `state`; before the toss, the mean of both ways it may fall.

        Raises `ChancesError` if the score ends the game by its options.
        """
        if state.winner:
            return float(state.winner == "A")
        if state.hider is None:
            return sum(self.win_chance(self.game.play(state, {"do": "toss", "winner": team})[0]) for team in TEAMS) / 2
        if max(state.short) >= self._points:
            raise ChancesError(f"at {state.short[0]} to {state.short[1]} the game is over", "choose more points")
        key = _key(state)
        if key not in self._index:
            self._grow([*map(_moment, self._index), _moment(key)])
        return float(self._chances[state.short[0], state.short[1], self._index[key]])

    def win_chance_of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return `win_chance` for a state under the score sheet's keys: looked up, never solved, for use beside a game.

        None once the game is over, and for a state that no hit or foul leads to.
        """
        if sheet["winner"]:
            return None
        if sheet["hider"] is None:
            return self.win_chance(self.game.opening())
        held, short = sheet["long"], sheet["short"]
        sticks = Sticks.of(A=held["A"], B=held["B"], **{MIDDLE: sheet["middle"]})
        at = self._index.get((sheet["hider"], sticks, _MODES.get(sheet["situation"], "ordinary"), sheet["owed"]))
        if at is None or max(short.values()) >= self._points:
            return None
        return float(self._chances[short["A"], short["B"], at])

    def by_player(self, state: State) -> dict[str, float]:
        """Return the chance of each team, by letter."""
        one, two = TEAMS
        chance = self.win_chance(state)
        return {one: chance, two: 1 - chance}

    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the hider's and the hitter's chance after the toss; together 1."""
        chance = self.win_chance(_at(4, 0))
        return (("the hider after the toss", chance), ("the hitter after the toss", 1 - chance))

    def page(self) -> ChancesTable:
        """Return the hider's chances, first hit owed, at some scores (hider:hitter)."""
        middle, last = (self._points - 1) // 2, self._points - 1
        scores = sorted({(a, b) for a in (0, middle, last) for b in (0, middle, last)}, key=lambda s: (s[1] - s[0], s))
        return ChancesTable(
            "the hider's chance; hider/hitter/middle, and above the score hider:hitter",
            tuple(f"{a}:{b}" for a, b in scores),
            tuple(
                (label, tuple(self.win_chance(_at(h, t, mode, score)) for score in scores))
                for label, h, t, mode in _POSITIONS
            ),
        )

    def _grow(self, starts: Iterable[State]) -> None:
        """Find all moments that fouls or hits lead to from `starts`, and solve their chances at every score."""
        steps: list[tuple[int, Key, float, int]] = []
        index: dict[Key, int] = {}
        left = [_key(state) for state in starts]
        while left:
            key = left.pop()
            if key in index:
                continue
            index[key] = len(index)
            state = _moment(key)
            for action in self._endless.legal_actions(state):
                after, _ = self._endless.play(state, action)
                left.append(_key(after))
                if action["do"] == "hit":
                    finds = self._finds[state.owed or "first"]
                    chance = finds if action["found"] else 1 - finds
                    steps.append((index[key], _key(after), chance, after.short[0] - after.short[1]))
        self._chances = self._solve(index, steps)
        self._index = index

    def _solve(self, index: dict[Key, int], steps: list[tuple[int, Key, float, int]]) -> NDArray[np.float64]:
        """Return the chances that A wins, points of A x points of B x moments; a step says who scored (1 A, -1 B)."""
        import numpy as np  # noqa: PLC0415 - a program that shows no chances does without

        size, points = len(index), self._points
        ways = np.zeros((3, size, size))  # from x to, without a point, with one of A, with one of B (the last)
        for source, target, chance, scored in steps:
            ways[scored, source, index[target]] += chance
        within, by_a, by_b = ways
        leaving = (by_a + by_b).any(axis=1)
        while (more := leaving | (within[:, leaving] > 0).any(axis=1)).sum() > leaving.sum():
            leaving = more
        if not leaving.all():
            raise ChancesError("with these chances a game may never end", "choose chances between 0 and 1")
        equations = np.identity(size) - within
        self.residual = 0.0
        chances = np.zeros((points + 1, points + 1, size))
        chances[points] = 1.0
        for total in range(2 * points - 2, -1, -1):
            a = np.arange(max(0, total - points + 1), min(points, total + 1))
            b = total - a
            worth = by_a @ chances[a + 1, b].T + by_b @ chances[a, b + 1].T
            found = np.linalg.solve(equations, worth)
            self.residual = max(self.residual, float(abs(worth - equations @ found).max()))
            chances[a, b] = np.clip(found, 0.0, 1.0).T
        if not self.residual <= EXACT:
            raise ChancesError(f"the chances miss their own equations by {self.residual:.1e}", "choose other chances")
        return chances


def solve(game: Dakota, first: float, second: float) -> DakotaChances:
    """Return the chances of `game`, solved."""
    return DakotaChances(game, first, second)


def _key(state: State) -> Key:
    return (state.hider, state.sticks, state.mode, state.owed)


def _moment(key: Key) -> State:
    """Return a state at 0:0 with this key. If the second hit is owed, the hide's beginning only marks that."""
    hider, sticks, mode, owed = key
    bare = State(sticks, (0, 0), hider, mode, "first")
    return replace(bare, owed=owed, before=bare) if owed == "second" else bare


def _at(h: int, t: int, mode: Mode = "ordinary", short: tuple[int, int] = (0, 0)) -> State:
    """Return a hide of team A about to be hit."""
    return State(Sticks.of(A=h, B=t, **{MIDDLE: 20 - h - t}), short, hider="A", mode=mode, owed="first")
