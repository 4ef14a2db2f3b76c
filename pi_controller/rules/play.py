"""Interactive game object for Python: push and pop actions, inspect the state.

`Play` keeps the actions so far and the state before each. It adds no rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

from pi_controller.errors import MatError
from pi_controller.rules import registry
from pi_controller.rules.base import Action, Game, IllegalActionError, InvalidActionError, Json
from pi_controller.rules.scoreboard import Side
from pi_controller.text import strip_controls

_MAX_DRAWN = 40
"""Maximum number of sticks drawn in one row; the count beside them is always complete."""


class EmptyStackError(MatError, IndexError):
    """There is no action to undo."""

    code = "empty_stack"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner, and the way it ended if the game distinguishes several (slahal's `sweep`)."""

    winner: str | None
    finish: str | None = None


class Play:
    """One game from its opening on: iterating yields its actions, `len` counts them, `repr` draws the table.

    An action is written as on the score sheet, `{"do": "hit", "found": True}`, or as its word with the rest as
    keywords: `push("hit", found=True)`.
    """

    def __init__(self, game: Game[Any]) -> None:
        """Set up `game` at its opening."""
        self.game = game
        self._states: list[Any] = [game.opening()]
        self._actions: list[dict[str, Json]] = []
        self._calls: list[tuple[str, ...]] = [()]

    @property
    def state(self) -> Any:
        """The state now, frozen, of the game's own type."""
        return self._states[-1]

    @property
    def sheet(self) -> Mapping[str, Json]:
        """The state now under the score sheet's keys, as `json.dumps` takes it."""
        return self.game.sheet(self.state)

    @property
    def calls(self) -> tuple[str, ...]:
        """The words called for the last action, in order; () at the opening."""
        return self._calls[-1]

    @property
    def stack(self) -> tuple[dict[str, Json], ...]:
        """The actions so far, oldest first; copies, so changing them changes no game."""
        return tuple(deepcopy(self._actions))

    def legal_actions(self) -> tuple[dict[str, Json], ...]:
        """Return every action that is allowed now, one for each group with the same effect."""
        return self.game.legal_actions(self.state)

    def is_legal(self, action: Action | str, **keys: Json) -> bool:
        """Return True if `action` is allowed now. A malformed action raises `InvalidActionError`."""
        try:
            self.game.play(self.state, _action(action, keys))
        except IllegalActionError:
            return False
        return True

    def push(self, action: Action | str, **keys: Json) -> tuple[str, ...]:
        """Play `action`; return the words called for it, in order.

        Raises `InvalidActionError` (no action of this game) or `IllegalActionError` (not allowed now); the game is then
        unchanged.
        """
        done = _action(action, keys)
        state, calls = self.game.play(self.state, done)
        self._actions.append(deepcopy(dict(done)))
        self._states.append(state)
        self._calls.append(calls)
        return calls

    def pop(self) -> dict[str, Json]:
        """Undo the last action and return it. Raises `EmptyStackError` if there is none."""
        if not self._actions:
            raise EmptyStackError("there is no action to undo", "the game is at its opening")
        self._states.pop()
        self._calls.pop()
        return self._actions.pop()

    def copy(self) -> Play:
        """Return the same game with the same actions, which goes on independently of this one."""
        twin = Play(self.game)
        twin._states, twin._calls, twin._actions = [*self._states], [*self._calls], deepcopy(self._actions)
        return twin

    def outcome(self) -> Outcome | None:
        """Return how the game ended, or None while it is in progress."""
        if not self.game.is_over(self.state):
            return None
        return Outcome(self.sheet.get("winner"), self.sheet.get("finish"))

    def __iter__(self) -> Iterator[dict[str, Json]]:
        """Iterate over the actions so far."""
        return iter(self.stack)

    def __len__(self) -> int:
        return len(self._actions)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return draw_sheet(self.game.name, self.game, self.sheet)


def start(name: str, **settings: object) -> Play:
    """Set up the game `name` with options chosen by name. Raises `UsageError` for an unknown game or option.

    >>> start("dakota", points=3).push("toss", winner="A")
    ()
    """
    return Play(registry.game(name, settings))


def draw_sheet(title: str, game: Game[Any], sheet: Mapping[str, Json]) -> str:
    """Return a drawing of a score sheet: a line of words, then a row of sticks for each count of its scoreboard."""
    board = game.scoreboard(sheet)
    pool = board.pool.unit if board.pool else ""
    words = [
        key if value is True else f"{key} {value}"
        for key, value in sheet.items()
        if value and key != pool and isinstance(value, str | int)
    ]
    rows = [(f"{unit} {side}".rstrip(), count) for unit, side, count in board.list_counts()]
    wide = max(len(label) for label, _ in rows)
    bars = [_bar(count) for _, count in rows]
    room = max(map(len, bars))
    lines = [f"{title}: {', '.join(words)}" if words else title]
    lines += [f"  {label:<{wide}}  {bar:<{room}}  {count:>3}" for (label, count), bar in zip(rows, bars, strict=True)]
    lines += [f"  {side.key}: {notes}" for side in board.sides if (notes := ", ".join(_remarks(side)))]
    return "\n".join(map(strip_controls, lines))


def _bar(count: int) -> str:
    """Draw `count` sticks in fives."""
    shown = min(count, _MAX_DRAWN)
    fives = ["|" * min(5, shown - laid) for laid in range(0, shown, 5)]
    return " ".join(fives) + (" ..." if count > _MAX_DRAWN else "")


def _remarks(side: Side) -> Iterator[str]:
    if side.out:
        yield "out"
    yield from (f"{note.key} {note.n}" if note.n else note.key for note in side.notes)


def _action(action: object, keys: Mapping[str, Json]) -> Action:
    """Return the action as an object, built from its word and keywords if given so; the rules validate it later."""
    if isinstance(action, str):
        return {"do": action, **keys}
    if keys:
        raise InvalidActionError(
            "keywords go with the word of an action, not with a whole one", 'push("hit", found=True)'
        )
    return cast("Action", action)
