"""Patol: three marked sticks are thrown, and each player's horse runs round a ring of forty stones.

As C. F. Lummis describes it at Isleta (1891), quoted in Alice C. Fletcher's "Indian Hazard Games" (Pa-tol Stick Game);
the diagram with the values of the throws is not in that text, so they come from the project's rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from pi_controller.games import actions
from pi_controller.games.base import Action, Game, IllegalActionError, Json
from pi_controller.games.options import Choice, Flag, Names, Option, Whole, names
from pi_controller.games.restoring import Sheet
from pi_controller.games.wording import listed, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

River = Literal["north", "east", "south", "west"]
Direction = Literal["sunwise", "against"]

STONES = 40
"""Stones in the ring, and so notches: 0 to 39, rising sunwise from north by east."""
RIVERS: dict[River, int] = {"north": 0, "east": 10, "south": 20, "west": 30}
"""The notch that each river lies before: where a horse may start."""
DIRECTIONS: dict[Direction, int] = {"sunwise": 1, "against": -1}
THROWS = {"isleta_1891": (5, 3, 2, 10), "zuni_1891": (5, 2, 3, 10)}
"""What a throw with 0, 1, 2 or 3 marked faces up is worth."""
AGAIN = 10
"""The throw that gives another."""


@dataclass(frozen=True, slots=True)
class Horse:
    """One player's horse: where it started, which way it runs, and how many notches it has run since.

    Before its start it has no river and no direction. A killed horse is back at its start: its progress is 0.
    """

    player: str
    river: River | None = None
    direction: Direction | None = None
    progress: int = 0

    @property
    def notch(self) -> int | None:
        """The notch it is in, 0 to 39; None before its start."""
        if self.river is None or self.direction is None:
            return None
        return (RIVERS[self.river] + DIRECTIONS[self.direction] * self.progress) % STONES


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game: the horses in turn order. Nobody throws before all have started."""

    horses: tuple[Horse, ...]
    thrower: str | None = None
    value: int | None = None
    winner: str | None = None


class Patol(Game[State]):
    """Patol with its options chosen."""

    name: ClassVar[str] = "patol"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Alice C. Fletcher, Indian Hazard Games, Pa-tol Stick Game (C. F. Lummis, 1891)"
    options: ClassVar[tuple[Option, ...]] = (
        Names("players", "A,B", "Who plays, in turn order.", 2, 8),
        Flag("killing", True, "Whether a horse sends back another whose notch it comes to."),
        Choice(
            "throws",
            "isleta_1891",
            "What 0, 1, 2, 3 marked faces are worth: 5, 3, 2, 10 or 5, 2, 3, 10.",
            ("isleta_1891", "zuni_1891"),
        ),
        Whole("circuits", 1, "How often a horse goes round to win.", 1, 99),
    )

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        self._players = names(self.settings["players"])
        self._values = THROWS[str(self.settings["throws"])]
        circuits = self.settings["circuits"]
        assert isinstance(circuits, int)
        self._course = STONES * circuits

    def opening(self) -> State:
        """Return the state before any horse has started."""
        return State(tuple(Horse(player) for player in self._players))

    def over(self, state: State) -> bool:
        """Return whether a horse has run its course."""
        return state.winner is not None

    def sheet(self, state: State) -> dict[str, Json]:
        """Return thrower, horses, value and winner."""
        return {
            "thrower": state.thrower,
            "horses": [
                {
                    "player": horse.player,
                    "river": horse.river,
                    "direction": horse.direction,
                    "progress": horse.progress,
                    "notch": horse.notch,
                }
                for horse in state.horses
            ],
            "value": state.value,
            "winner": state.winner,
        }

    def restore(self, sheet: Mapping[str, Json]) -> State:
        """Return the state with `sheet`'s keys, all of it. Raises `InvalidActionError` with every fault."""
        read = Sheet(sheet, ("thrower", "horses", "value", "winner"))
        thrower, winner = read.word("thrower", self._players), read.word("winner", self._players)
        value = read.whole_or_null("value", self._values)
        rows = read.parts("horses", len(self._players), ("player", "river", "direction", "progress"), ("notch",))
        if tuple(row.word("player", self._players) for row in rows) != self._players:
            read.wrong(f"the players are {listed(self._players)}, in this order", "horses")
        most = self._course + max(self._values) - 1
        horses = tuple(
            Horse(
                player,
                row.word("river", tuple(RIVERS)),
                row.word("direction", tuple(DIRECTIONS)),
                row.whole("progress", most),
            )
            for player, row in zip(self._players, rows, strict=True)
        )
        self._check_course(read, State(horses, thrower, value, winner))
        for row, own in zip(rows, self.sheet(State(horses))["horses"], strict=True):
            row.agree(own)
        read.check()
        return State(horses, thrower, value, winner)

    def _check_course(self, read: Sheet, state: State) -> None:
        waiting = [horse.river is None for horse in state.horses]
        if waiting != sorted(waiting):
            read.wrong("horses start in the order of the players", "horses")
        if (state.thrower is None) != any(waiting):
            read.wrong("thrower is a player when all have started, and null before", "thrower", "horses")
        if state.thrower is None and (state.winner is not None or state.value is not None):
            read.wrong("nothing is thrown or won before all have started", "thrower", "value", "winner")
        for horse in state.horses:
            if (horse.river is None) != (horse.direction is None) or (horse.river is None and horse.progress):
                read.wrong(f"{horse.player} has a river and a direction, or has not started", "horses")
            if (horse.progress >= self._course) != (horse.player == state.winner):
                has = "is the winner" if horse.player == state.winner else "is not the winner"
                read.wrong(f"{horse.player} {has} with {horse.progress} of {self._course}", "horses", "winner")
        if state.winner is not None and state.thrower != state.winner:
            read.wrong(f"the last throw was the winner's: thrower is {state.winner}", "thrower", "winner")

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after a start or a throw; `killed` is called for a horse sent back."""
        match actions.word(action, ("start", "throw")):
            case "start":
                actions.only(action, ("player", "river", "direction"))
                player = actions.choice(action, "player", self._players)
                river = actions.choice(action, "river", tuple(RIVERS))
                direction = actions.choice(action, "direction", tuple(DIRECTIONS))
                return _started(state, Horse(player, river, direction)), ()
            case "throw":
                actions.only(action, ("marked",))
                return self._thrown(state, self._values[actions.whole(action, "marked", 0, 3)])

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return every start of the player whose turn it is to start; after them, the four throws."""
        if state.winner is not None:
            return ()
        if state.thrower is not None:
            return tuple({"do": "throw", "marked": marked} for marked in range(len(self._values)))
        player = _waiting(state)[0].player
        return tuple(
            {"do": "start", "player": player, "river": river, "direction": direction}
            for river in RIVERS
            for direction in DIRECTIONS
        )

    def _thrown(self, state: State, value: int) -> tuple[State, tuple[str, ...]]:
        """Move the thrower's horse by `value`; jumping over others does not count, only the notch it comes to."""
        if state.winner is not None:
            raise IllegalActionError(f"the game is over: {shown(state.winner)} has won")
        if state.thrower is None:
            raise IllegalActionError("not all have started", f"{shown(_waiting(state)[0].player)} starts next")
        at = self._players.index(state.thrower)
        horses = list(state.horses)
        moved = horses[at] = replace(horses[at], progress=horses[at].progress + value)
        calls: list[str] = []
        if self.settings["killing"]:
            for index, horse in enumerate(horses):
                if index != at and horse.progress > 0 and horse.notch == moved.notch:
                    horses[index] = replace(horse, progress=0)
                    calls.append("killed")
        won = moved.progress >= self._course
        following = state.thrower if won or value == AGAIN else self._players[(at + 1) % len(self._players)]
        return State(tuple(horses), following, value, state.thrower if won else None), tuple(calls)


def _waiting(state: State) -> tuple[Horse, ...]:
    """Return the horses that have not started yet."""
    return tuple(horse for horse in state.horses if horse.river is None)


def _started(state: State, started: Horse) -> State:
    """Put the horse of the player whose turn it is at its river; after the last of them the first player throws."""
    waiting = _waiting(state)
    if not waiting:
        raise IllegalActionError("all have started")
    if started.player != waiting[0].player:
        raise IllegalActionError(
            f"it is not the turn of {shown(started.player)}", f"{shown(waiting[0].player)} starts next"
        )
    horses = tuple(started if horse is waiting[0] else horse for horse in state.horses)
    return State(horses, thrower=horses[0].player if len(waiting) == 1 else None)
