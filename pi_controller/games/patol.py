"""Patol: three marked sticks are thrown, and each player's horse runs round a ring of forty stones.

As C. F. Lummis describes it at Isleta (1891), quoted in Alice C. Fletcher's "Indian Hazard Games" (Pa-tol Stick Game);
the diagram with the values of the throws is not in that text, so they come from the project's rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, cast

from pi_controller.games import actions
from pi_controller.games.base import Action, Game, IllegalActionError, Json
from pi_controller.games.forms import Forms, Place
from pi_controller.games.options import Choice, Flag, Names, Option, Whole, names
from pi_controller.games.restoring import Sheet
from pi_controller.games.wording import listed, shown

T = TypeVar("T")
River = Literal["north", "east", "south", "west"]
Direction = Literal["clockwise", "counterclockwise"]

STONES = 40
"""Stones in the ring, and so notches: 0 to 39, rising clockwise from north by east."""
RIVERS: dict[River, int] = {"north": 0, "east": 10, "south": 20, "west": 30}
"""The notch that each river lies before: where a horse may start."""
DIRECTIONS: dict[Direction, int] = {"clockwise": 1, "counterclockwise": -1}
_FORMER: dict[object, Direction] = {"sunwise": "clockwise", "against": "counterclockwise"}
"""The directions as older versions wrote them."""
THROWS = {"isleta_1891": (5, 3, 2, 10), "zuni_1891": (5, 2, 3, 10)}
"""What a throw with 0, 1, 2 or 3 marked faces up is worth."""
AGAIN = 10
"""The throw that gives another."""


@dataclass(frozen=True, slots=True)
class Horse:
    """One player's horse: where it started, which way it runs, and how many notches it has run since.

    Before its start it has no river and no direction. A killed horse is back at its start: its progress is 0. The horse
    of a player who is `out` is in no notch any more.
    """

    player: str
    river: River | None = None
    direction: Direction | None = None
    progress: int = 0
    out: bool = False

    @property
    def waiting(self) -> bool:
        """Whether it is still to start."""
        return self.river is None and not self.out

    @property
    def notch(self) -> int | None:
        """The notch it is in, 0 to 39; None before its start and when it has left the ring."""
        if self.river is None or self.direction is None or self.out:
            return None
        return (RIVERS[self.river] + DIRECTIONS[self.direction] * self.progress) % STONES


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game: the horses in turn order. Once anybody has started, `thrower` is whose turn it is.

    Who has not started then does so first.
    """

    horses: tuple[Horse, ...]
    thrower: str | None = None
    value: int | None = None
    winner: str | None = None
    finish: Literal["forfeit"] | None = None

    def horse(self, player: str) -> Horse:
        """Return the horse of `player`."""
        return next(horse for horse in self.horses if horse.player == player)

    @property
    def turn(self) -> Horse | None:
        """The horse of whose turn it is; None before anybody has started."""
        return None if self.thrower is None else self.horse(self.thrower)

    @property
    def next_to_start(self) -> str | None:
        """The first in turn order who is still to start."""
        return next((horse.player for horse in self.horses if horse.waiting), None)

    def following(self, player: str) -> str:
        """Return whose turn comes after that of `player`: the next who is not out."""
        at = self.horses.index(self.horse(player))
        return next(horse.player for horse in (*self.horses[at + 1 :], *self.horses) if not horse.out)

    def with_horse(self, changed: Horse) -> State:
        """Return the state with this horse in the place of its player's."""
        return replace(self, horses=tuple(changed if one.player == changed.player else one for one in self.horses))


class HorseRow(TypedDict):
    """A player's horse on the score sheet: a `Horse`, and the notch it is in."""

    player: str
    river: River | None
    direction: Direction | None
    progress: int
    notch: int | None
    out: bool


class PatolSheet(TypedDict):
    """The score sheet's keys. `horses` are in turn order, `value` is what the last throw was worth."""

    thrower: str | None
    horses: list[HorseRow]
    value: int | None
    winner: str | None
    finish: Literal["forfeit"] | None


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
    forms: ClassVar[Forms] = {
        "start": (
            Place("player", asks="who"),
            Place("river", asks="a river"),
            Place("direction", asks="clockwise or counterclockwise"),
        ),
        "throw": (Place("marked", asks="how many marked"),),
        "forfeit": (Place("by", asks="by whom"),),
    }
    short_form: ClassVar[str] = "how many marked: 0 to 3"
    solver: ClassVar[str] = "pi_controller.games.chances_patol"

    @classmethod
    def shorthand(cls, words: Sequence[str]) -> dict[str, Json] | None:
        """Return the action that a judge's `words` say shorter than its form, or None where they say none."""
        return {"do": "throw", "marked": int(words[0])} if words in (["0"], ["1"], ["2"], ["3"]) else None

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

    @classmethod
    def current(cls, written: T) -> T | dict[str, Json]:
        """Return an action or a score sheet with its directions in the words of this version, wherever they stand."""
        return cast("dict[str, Json]", _renamed(written)) if isinstance(written, Mapping) else written

    def over(self, state: State) -> bool:
        """Return whether a player has won."""
        return state.winner is not None

    def score(self, state: State) -> Mapping[str, int]:
        """Return how many notches each horse has run."""
        return {horse.player: horse.progress for horse in state.horses}

    def thrower(self, state: State) -> str | None:
        """Return whose turn it is to throw; None where a start comes first."""
        return state.turn.player if state.turn and not state.turn.waiting and state.winner is None else None

    def settles(self, action: Action) -> bool:
        """Return whether `action` ends the throw in progress: the horse of another player that starts does not."""
        return action.get("do") not in ("start", "forfeit")

    def sheet(self, state: State) -> PatolSheet:
        """Return thrower, horses, value, winner and finish."""
        return {
            "thrower": state.thrower,
            "horses": [
                {
                    "player": horse.player,
                    "river": horse.river,
                    "direction": horse.direction,
                    "progress": horse.progress,
                    "notch": horse.notch,
                    "out": horse.out,
                }
                for horse in state.horses
            ],
            "value": state.value,
            "winner": state.winner,
            "finish": state.finish,
        }

    def restore(self, sheet: Mapping[str, Json]) -> State:
        """Return the state with `sheet`'s keys, all of it. Raises `InvalidActionError` with every fault.

        An older sheet has no `out` and no `finish`, its directions have other names, and it has no thrower until all
        have started.
        """
        read = Sheet(self.current(sheet), ("thrower", "horses", "value", "winner"), optional=("finish",))
        thrower, winner = read.word("thrower", self._players), read.word("winner", self._players)
        value = read.whole_or_null("value", self._values)
        needed = ("player", "river", "direction", "progress")
        rows = read.parts("horses", len(self._players), needed, ("notch", "out"))
        if tuple(row.word("player", self._players) for row in rows) != self._players:
            read.wrong(f"the players are {listed(self._players)}, in this order", "horses")
        most = self._course + max(self._values) - 1
        horses = tuple(
            Horse(
                player,
                row.word("river", tuple(RIVERS)),
                row.word("direction", tuple(DIRECTIONS)),
                row.whole("progress", most),
                row.flag("out"),
            )
            for player, row in zip(self._players, rows, strict=True)
        )
        finish = read.forfeit(winner)
        if thrower is None and value is None and winner is None:  # older sheets: null until all have started
            thrower = next((horse.player for horse in horses if horse.river and not horse.out), None)
        state = State(horses, thrower, value, winner, finish)
        self._check_starts(read, state)
        self._check_course(read, state)
        for row, own in zip(rows, self.sheet(state)["horses"], strict=True):
            row.agree(own)
        read.check()
        return state

    def _check_starts(self, read: Sheet, state: State) -> None:
        waiting = [horse.waiting for horse in state.horses if not horse.out]
        if waiting != sorted(waiting):
            read.wrong("horses start in the order of the players", "horses")
        started = any(horse.river for horse in state.horses)
        if (state.thrower is None) == started:
            read.wrong("thrower is a player once anybody has started, and null before", "thrower", "horses")
        if not started and (state.value is not None or (state.winner and not state.finish)):
            read.wrong("nothing is thrown or won before anybody has started", "thrower", "value", "winner")
        if state.turn and state.turn.out:
            read.wrong("thrower is a player who is not out", "thrower", "horses")
        if state.turn and state.turn.waiting and state.thrower != state.next_to_start:
            read.wrong(f"{state.next_to_start} starts before {state.thrower} does", "thrower", "horses")

    def _check_course(self, read: Sheet, state: State) -> None:
        left = [horse.player for horse in state.horses if not horse.out]
        if not left or (len(left) == 1) != (state.finish is not None) or (state.finish and state.winner not in left):
            read.wrong("who is left alone has won by forfeit, and only then is finish so", "horses", "winner", "finish")
        for horse in state.horses:
            if (horse.river is None) != (horse.direction is None) or (horse.river is None and horse.progress):
                read.wrong(f"{horse.player} has a river and a direction, or has not started", "horses")
            won = horse.player == state.winner and state.finish is None
            if (horse.progress >= self._course) != won:
                has = "is the winner" if horse.player == state.winner else "is not the winner"
                read.wrong(f"{horse.player} {has} with {horse.progress} of {self._course}", "horses", "winner")
        if state.winner is not None and state.thrower not in (None, state.winner):
            read.wrong(f"the last throw was the winner's: thrower is {state.winner}", "thrower", "winner")

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after a start, a throw or a forfeit; `killed` is called for a horse sent back."""
        action = self.current(action)
        match actions.word(action, ("start", "throw", "forfeit")):
            case "start":
                actions.only(action, ("player", "river", "direction"))
                player = actions.choice(action, "player", self._players)
                river = actions.choice(action, "river", tuple(RIVERS))
                direction = actions.choice(action, "direction", tuple(DIRECTIONS))
                return _started(state, Horse(player, river, direction)), ()
            case "throw":
                actions.only(action, ("marked",))
                return self._thrown(state, self._values[actions.whole(action, "marked", 0, 3)])
            case "forfeit":
                return _forfeited(state, actions.forfeit(action, self._players).by)

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return the four throws of whose turn it is, unless a start comes first, and every start of who is the next.

        Forfeits are not among them.
        """
        if state.winner is not None:
            return ()
        throws = range(len(self._values)) if self.thrower(state) else ()
        rivers = RIVERS if state.next_to_start else ()
        return (
            *({"do": "throw", "marked": marked} for marked in throws),
            *(
                {"do": "start", "player": state.next_to_start, "river": river, "direction": direction}
                for river in rivers
                for direction in DIRECTIONS
            ),
        )

    def _thrown(self, state: State, value: int) -> tuple[State, tuple[str, ...]]:
        """Move the thrower's horse by `value`; jumping over others does not count, only the notch it comes to."""
        _not_over(state)
        mover = state.turn
        if mover is None:
            raise IllegalActionError("nobody has started", f"{shown(state.next_to_start)} starts first")
        if mover.waiting:
            raise IllegalActionError(f"{shown(mover.player)} has not started", "a river and a direction come first")
        moved = replace(mover, progress=mover.progress + value)
        if moved.progress >= self._course:  # the winner's throw kills nobody
            return replace(state.with_horse(moved), value=value, winner=mover.player), ()
        following = mover.player if value == AGAIN else state.following(mover.player)
        after, calls = state.with_horse(moved), list[str]()
        for horse in state.horses if self.settings["killing"] else ():
            if horse is not mover and horse.progress > 0 and horse.notch == moved.notch:
                after = after.with_horse(replace(horse, progress=0))
                calls.append("killed")
        return replace(after, thrower=following, value=value), tuple(calls)


def _renamed(written: Any) -> Any:
    """Return the directions of older versions under their names of today, and all else as it is."""
    match written:
        case Mapping():
            pairs = cast("Mapping[str, Json]", written).items()
            return {
                key: _FORMER.get(value, value) if isinstance(value, str) and _is_direction(key) else _renamed(value)
                for key, value in pairs
            }
        case list() | tuple():
            return [_renamed(value) for value in cast("Sequence[Json]", written)]
        case _:
            return written


def _is_direction(key: object) -> bool:
    return isinstance(key, str) and key.rpartition(".")[2] == "direction"


def _not_over(state: State) -> None:
    if state.winner is not None:
        raise IllegalActionError(f"the game is over: {shown(state.winner)} has won")


def _started(state: State, started: Horse) -> State:
    """Put the horse of the next player in turn order at its river; the first to start is the first to throw."""
    _not_over(state)
    known = state.horse(started.player)
    if known.out or known.river is not None:
        raise IllegalActionError(f"{shown(started.player)} {'is out' if known.out else 'has started already'}")
    if started.player != state.next_to_start:
        raise IllegalActionError(
            f"it is not the turn of {shown(started.player)} to start", f"{shown(state.next_to_start)} starts next"
        )
    return replace(state.with_horse(started), thrower=state.thrower or started.player)


def _forfeited(state: State, by: str) -> tuple[State, tuple[str, ...]]:
    """Take a horse out of the ring; the turn passes on where it was its player's, and who is left alone wins."""
    _not_over(state)
    leaver = state.horse(by)
    if leaver.out:
        raise IllegalActionError(f"{shown(by)} is out already")
    after = state.with_horse(replace(leaver, out=True))
    if state.thrower == by:
        after = replace(after, thrower=after.following(by))
    left = [horse.player for horse in after.horses if not horse.out]
    if len(left) > 1:
        return after, ("forfeit",)
    return replace(after, winner=left[0], finish="forfeit"), ("forfeit", "game")
