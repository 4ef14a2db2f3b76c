"""The chances of the Dakota game: a chain of hits within a score, and one score after the other from the last point.

The rules themselves (`Dakota.play`) say where a hit leads, so every option counts. Between two points only sticks and
roles change, so one chain serves all scores; a point leaves it for the score after.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.games.base import Team
from pi_controller.games.chances import Chances, ChancesError, Page
from pi_controller.games.chances_chain import Chain, sparse
from pi_controller.games.dakota import Dakota
from pi_controller.games.dakota_state import MIDDLE, TEAMS, Mode, Owed, State
from pi_controller.games.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_controller.games.base import Game, Json

_MOST_POINTS = 99
_MODES: dict[str, Mode] = {"sahdogan": "sahdogan", "yawapi": "yawapi", "eyeya": "eyeya"}
Key = tuple[Team | None, Sticks, Mode, Owed | None]
"""All of a moment that what follows depends on, but for the score."""

_POSITIONS: tuple[tuple[str, int, int, Mode], ...] = (
    ("4/0/16, as after the toss", 4, 0, "ordinary"),
    ("0/0/20, after a point that returns all", 0, 0, "ordinary"),
    ("16/0/4, wheya", 16, 0, "ordinary"),
    ("16/4/0, wheya", 16, 4, "ordinary"),
    ("12/8/0, sahdogan", 12, 8, "sahdogan"),
    ("6/14/0, yawapi", 6, 14, "yawapi"),
    ("4/16/0, eyeya", 4, 16, "eyeya"),
)


class DakotaChances(Chances):
    """`of` is the chance of team A."""

    def __init__(self, game: Dakota, first: float, second: float) -> None:
        self.game = game
        self.assumed = (
            f"the first hit finds with chance {first:.4g}, after a miss the second with {second:.4g}; no fouls"
        )
        points = game.settings["points"]
        assert isinstance(points, int)
        self._points = points
        # as many points as can be: no single one ends the game, so the chain is that of any score
        self._endless = Dakota({**game.settings, "points": _MOST_POINTS})
        self._finds: dict[Owed, float] = {"first": first, "second": second}
        self._index: dict[Key, int] = {}
        tossed = self._endless.play(self._endless.opening(), {"do": "toss", "winner": "A"})[0]
        self._grow([tossed])

    @property
    def players(self) -> tuple[str, str]:
        """The two teams."""
        return TEAMS[0], TEAMS[1]

    def of(self, state: State) -> float:
        """Return the chance that team A wins from `state`; before the toss, the mean of both ways it may fall."""
        if state.winner:
            return float(state.winner == "A")
        if state.hider is None:
            return sum(self.of(self.game.play(state, {"do": "toss", "winner": team})[0]) for team in TEAMS) / 2
        if max(state.short) >= self._points:
            raise ChancesError(f"at {state.short[0]} to {state.short[1]} the game is over", "choose more points")
        key = _key(state)
        if key not in self._index:
            self._grow([*map(_moment, self._index), _moment(key)])
        return float(self._chances[state.short[0], state.short[1], self._index[key]])

    def of_sheet(self, sheet: Mapping[str, Json]) -> float | None:
        """Return the chance that team A wins; None once the game is over, or where no hit or foul leads."""
        if sheet["winner"]:
            return None
        if sheet["hider"] is None:
            return self.of(self.game.opening())
        held, short = sheet["long"], sheet["short"]
        sticks = Sticks.of(A=held["A"], B=held["B"], **{MIDDLE: sheet["middle"]})
        at = self._index.get((sheet["hider"], sticks, _MODES.get(sheet["situation"], "ordinary"), sheet["owed"]))
        if at is None or max(short.values()) >= self._points:
            return None
        return float(self._chances[short["A"], short["B"], at])

    def openings(self) -> tuple[tuple[str, float], ...]:
        """Return the hider's and the hitter's chance after the toss."""
        chance = self.of(_at(4, 0))
        return (("the hider after the toss", chance), ("the hitter after the toss", 1 - chance))

    def page(self) -> Page:
        """Return the hider's chances, first hit owed, at some scores (hider:hitter)."""
        middle, last = (self._points - 1) // 2, self._points - 1
        scores = sorted({(a, b) for a in (0, middle, last) for b in (0, middle, last)}, key=lambda s: (s[1] - s[0], s))
        return Page(
            "the hider's chance; hider/hitter/middle, and above the score hider:hitter",
            tuple(f"{a}:{b}" for a, b in scores),
            tuple(
                (label, tuple(self.of(_at(h, t, mode, score)) for score in scores)) for label, h, t, mode in _POSITIONS
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
        self._chances = self._solved(index, steps)
        self._index = index

    def _solved(
        self, index: dict[Key, int], steps: list[tuple[int, Key, float, int]]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the chances that A wins, points of A x points of B x moments; a step says who scored (1 A, -1 B)."""
        size, points = len(index), self._points
        source = np.array([step[0] for step in steps])
        target = np.array([index[step[1]] for step in steps])
        chance = np.array([step[2] for step in steps])
        scored = np.array([step[3] for step in steps])
        chain = Chain(size, source, np.where(scored, size, target), chance)
        by_a, by_b = (
            sparse.csr_matrix((chance[scored == who], (source[scored == who], target[scored == who])), (size, size))
            for who in (1, -1)
        )
        chances = np.zeros((points + 1, points + 1, size))
        chances[points] = 1.0
        for total in range(2 * points - 2, -1, -1):
            a = np.arange(max(0, total - points + 1), min(points, total + 1))
            b = total - a
            chances[a, b] = chain.solve(by_a @ chances[a + 1, b].T + by_b @ chances[a, b + 1].T).T
        self.residual = chain.residual
        return chances


def check(game: Game[Any], *, beside: bool) -> None:
    """Raise nothing: every Dakota game is small."""


def solved(game: Game[Any], first: float, second: float) -> Chances:
    """Return the chances of a Dakota game."""
    assert isinstance(game, Dakota)
    return DakotaChances(game, first, second)


def _key(state: State) -> Key:
    return (state.hider, state.sticks, state.mode, state.owed)


def _moment(key: Key) -> State:
    """Return a state at 0:0 with this key. Where the second hit is owed, the hide's beginning only marks that."""
    hider, sticks, mode, owed = key
    bare = State(sticks, (0, 0), hider, mode, "first")
    return replace(bare, owed=owed, before=bare) if owed == "second" else bare


def _at(h: int, t: int, mode: Mode = "ordinary", short: tuple[int, int] = (0, 0)) -> State:
    """Return a hide of team A about to be hit."""
    return State(Sticks.of(A=h, B=t, **{MIDDLE: 20 - h - t}), short, hider="A", mode=mode, owed="first")
