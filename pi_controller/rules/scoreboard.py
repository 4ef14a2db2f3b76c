"""Scoreboard of a game: who has how many of what, whose turn it is, who has won, and what belongs to nobody.

Each game makes it from its score sheet (`Game.scoreboard`). All displays draw it and need no knowledge of the game: the
terminal, the lights, the judge's cards, the live page, the room, the stream, the hub's tables and the voice. Its words
(units, roles, pools, notes) are keys; a display translates them (`GameShow.labels`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pi_controller.rules.base import TEAMS


@dataclass(frozen=True, slots=True)
class Count:
    """A number with the key of its unit. `of` is the most that there can be; 0: the number is not drawn as a bar."""

    unit: str
    n: int
    of: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A short remark, by its key, with the number or the key of the word that it contains."""

    key: str
    n: int | str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """A team (`A` or `B`) or a player (by name). The first of `counts` decides the game.

    `role` is the key of what the side does now, such as `hides`; `out` is whether it has left the game.
    """

    key: str
    counts: tuple[Count, ...]
    role: str = ""
    notes: tuple[Note, ...] = ()
    out: bool = False

    @property
    def score(self) -> int:
        """The number that decides the game."""
        return self.counts[0].n

    @property
    def bars(self) -> tuple[Count, ...]:
        """The counts that are drawn as bars: those beside the score, or the score if there is no other."""
        return self.counts[1:] or self.counts


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """The sides in turn order, the side whose `turn` it is, the `winner`, and the `pool`, named by its unit.

    `goal` is the score that wins, if the score is points that are won by the next count; else 0.

    >>> sides = [Side("A", (Count("sticks", 4, 20),)), Side("B", (Count("sticks", 6, 20),))]
    >>> board = make_board(sides, ("hides", "hits"), "A", None)
    >>> [(side.key, side.role, side.score) for side in board.sides], board.of_teams
    ([('A', 'hides', 4), ('B', 'hits', 6)], True)
    """

    sides: tuple[Side, ...]
    turn: str | None = None
    winner: str | None = None
    pool: Count | None = None
    notes: tuple[Note, ...] = ()
    goal: int = 0

    @property
    def of_teams(self) -> bool:
        """Whether the sides are the teams A and B, and no players with names of their own."""
        return tuple(side.key for side in self.sides) == TEAMS

    @property
    def scores(self) -> dict[str, int]:
        """The number that decides the game, by side."""
        return {side.key: side.score for side in self.sides}

    @property
    def bars(self) -> dict[str, int]:
        """The first bar of each side by its key, and of the pool as ""."""
        return {side.key: side.bars[0].n for side in self.sides} | ({"": self.pool.n} if self.pool else {})

    def list_counts(self) -> list[tuple[str, str, int]]:
        """Return every number as (unit, side, number), unit by unit, and then the pool, whose side is ""."""
        by_unit = zip(*(side.counts for side in self.sides), strict=True)
        found = [(one.unit, side.key, one.n) for row in by_unit for side, one in zip(self.sides, row, strict=True)]
        return [*found, (self.pool.unit, "", self.pool.n)] if self.pool else found

    @property
    def stakes(self) -> dict[str, int]:
        """The number that the turns are played for, by side: the score, or the next count if the score has a goal."""
        return {side.key: side.counts[1 if self.goal else 0].n for side in self.sides}

    def side(self, key: str) -> Side:
        """Return the side with this key. Raises `KeyError` if there is none."""
        for side in self.sides:
            if side.key == key:
                return side
        raise KeyError(key)

    def replace_bars(self, bars: Mapping[str, int]) -> Scoreboard:
        """Return the scoreboard with other numbers for `bars`."""

        def change(side: Side) -> Side:
            head, (first, *rest) = side.counts[: -len(side.bars)], side.bars
            return replace(side, counts=(*head, replace(first, n=bars[side.key]), *rest))

        pool = replace(self.pool, n=bars[""]) if self.pool else None
        return replace(self, sides=tuple(map(change, self.sides)), pool=pool)


def gains(before: Scoreboard | None, now: Scoreboard) -> dict[str, int]:
    """Return what each side has gained of its stake since `before`; {} if that is not known."""
    earlier = before.stakes if before else {}
    return {side: n - earlier[side] for side, n in now.stakes.items() if side in earlier}


def make_board(
    sides: Iterable[Side],
    roles: tuple[str, str],
    turn: str | None,
    winner: str | None,
    pool: Count | None = None,
    notes: Iterable[Note] = (),
    goal: int = 0,
) -> Scoreboard:
    """Return the scoreboard with the role of each side.

    `roles` are what the side at its `turn` does, and what the others do; the winner `wins`.
    """

    def role(side: str) -> str:
        if winner:
            return "wins" if side == winner else ""
        return "" if turn is None else roles[turn != side]

    given = tuple(replace(side, role="" if side.out else role(side.key)) for side in sides)
    return Scoreboard(given, None if winner else turn, winner, pool, tuple(notes), goal)
