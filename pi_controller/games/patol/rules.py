"""Patol: three marked sticks are thrown, and each player's horse runs round a ring of forty stones.

As C. F. Lummis describes it at Isleta (1891), quoted in Alice C. Fletcher's "Indian Hazard Games" (Pa-tol Stick Game).
That text lacks the diagram with the values of the throws, so they come from the project's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict, TypeVar

from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Flag, Names, Option, WholeNumber, names
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.validation import require
from pi_controller.text import format_value, join_words, mark

T = TypeVar("T")
River = Literal["north", "east", "south", "west"]
Direction = Literal["clockwise", "counterclockwise"]

STONES = 40
"""Stones in the ring, and so notches: 0 to 39, rising clockwise from north by east."""
RIVERS: dict[River, int] = {"north": 0, "east": 10, "south": 20, "west": 30}
"""The notch behind each river, in which a horse may start."""
DIRECTIONS: dict[Direction, int] = {"clockwise": 1, "counterclockwise": -1}
THROWS = {"isleta_1891": (5, 3, 2, 10), "zuni_1891": (5, 2, 3, 10)}
"""The value of a throw with 0, 1, 2 or 3 marked faces up."""
EXTRA_THROW_VALUE = 10
"""The value of the throw that gives another throw."""


@dataclass(frozen=True, slots=True)
class Horse:
    """One player's horse: its start, its direction, and the number of notches it has run since.

    Before its start it has no river and no direction. A killed horse is back at its start: its progress is 0. If its
    player is `out` the horse has left the ring.
    """

    player: str
    river: River | None = None
    direction: Direction | None = None
    progress: int = 0
    out: bool = False

    @property
    def waiting(self) -> bool:
        """True if it has not started yet."""
        return self.river is None and not self.out

    @property
    def notch(self) -> int | None:
        """The notch it is in, 0 to 39; None before its start and after it has left the ring."""
        if self.river is None or self.direction is None or self.out:
            return None
        return (RIVERS[self.river] + DIRECTIONS[self.direction] * self.progress) % STONES


@dataclass(frozen=True, slots=True)
class PatolState:
    """One moment of a game: the horses in turn order. After the first start `thrower` is the player to move.

    A player whose horse has not started does so first.
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
    def moving_horse(self) -> Horse | None:
        """The horse of the player to move; None before the first start."""
        return None if self.thrower is None else self.horse(self.thrower)

    @property
    def next_to_start(self) -> str | None:
        """The first player in turn order whose horse has not started."""
        return next((horse.player for horse in self.horses if horse.waiting), None)

    def following(self, player: str) -> str:
        """Return the player whose turn comes after that of `player`, skipping those who are out."""
        at = self.horses.index(self.horse(player))
        return next(horse.player for horse in (*self.horses[at + 1 :], *self.horses) if not horse.out)

    def with_horse(self, changed: Horse) -> PatolState:
        """Return the state with `changed` in place of its player's horse."""
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
    """The score sheet's keys. `horses` are in turn order, `value` is the value of the last throw."""

    thrower: str | None
    horses: list[HorseRow]
    value: int | None
    winner: str | None
    finish: Literal["forfeit"] | None


def _describe_horse(horse: HorseRow) -> tuple[Note, ...]:
    if horse["out"]:
        return ()
    if horse["river"] is None or horse["direction"] is None:
        return (Note("has_not_started"),)
    return (Note("from", horse["river"]), Note(horse["direction"]))


class Patol(base.WonGame[PatolState]):
    """Patol with its options chosen."""

    name: ClassVar[str] = "patol"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Alice C. Fletcher, Indian Hazard Games, Pa-tol Stick Game (C. F. Lummis at Isleta, 1891)"
    side_keys: ClassVar[frozenset[str]] = frozenset({"thrower", "winner"})
    fixed_keys: ClassVar[frozenset[str]] = frozenset({"player"})
    options: ClassVar[tuple[Option, ...]] = (
        Names("players", "A,B", "Who plays, in turn order.", 2, 8),
        Flag("killing", True, "Whether a horse sends back another whose notch it comes to."),
        Choice(
            "throws",
            "isleta_1891",
            "What 0, 1, 2, 3 marked faces are worth: 5, 3, 2, 10 or 5, 2, 3, 10.",
            ("isleta_1891", "zuni_1891"),
            (
                "No, one, two or three marked faces are worth 5, 3, 2 or 10.",
                "No, one, two or three marked faces are worth 5, 2, 3 or 10.",
            ),
            {
                "isleta_1891": "C. F. Lummis at Isleta, 1891, quoted by Alice C. Fletcher",
                "zuni_1891": "John G. Owens, Some Games of the Zuñi, Popular Science Monthly 39, May 1891",
            },
        ),
        WholeNumber("circuits", 1, "How often a horse goes round to win.", 1, 99),
    )
    forms: ClassVar[base.Forms] = {
        "start": (
            base.FormPlace("player", asks="who"),
            base.FormPlace("river", asks="a river"),
            base.FormPlace("direction", asks="clockwise or counterclockwise"),
        ),
        "throw": (base.FormPlace("marked", words={str(n): n for n in range(4)}, asks="how many marked"),),
        "forfeit": (base.FormPlace("by", asks="by whom"),),
    }
    short_form: ClassVar[str] = "how many marked: 0 to 3"

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        self._players = names(self.settings["players"])
        self._values = THROWS[str(self.settings["throws"])]
        self._course = STONES * self.whole_setting("circuits")

    def opening(self) -> PatolState:
        """Return the state before any horse has started."""
        return PatolState(tuple(Horse(player) for player in self._players))

    def thrower(self, state: PatolState) -> str | None:
        """Return the player to throw; None if a start comes first."""
        return (
            state.moving_horse.player
            if state.moving_horse and not state.moving_horse.waiting and state.winner is None
            else None
        )

    def settles(self, action: base.Action) -> bool:
        """Return True if `action` ends the throw in progress; the start of another player's horse does not."""
        return action.get("do") not in ("start", "forfeit")

    def sheet(self, state: PatolState) -> PatolSheet:
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

    def scoreboard(self, sheet: PatolSheet) -> Scoreboard:
        """Return how many notches each horse has run, where it started and which way, and the last throw."""
        sides = (
            Side(
                horse["player"],
                (Count("notches", horse["progress"], self._course),),
                notes=_describe_horse(horse),
                out=horse["out"],
            )
            for horse in sheet["horses"]
        )
        notes = () if sheet["value"] is None else (Note("last_throw", sheet["value"]),)
        return make_board(sides, ("throws", ""), sheet["thrower"], sheet["winner"], notes=notes)

    def restore(self, sheet: Mapping[str, base.Json]) -> PatolState:
        """Return the state described by the complete `sheet`. Raises `InvalidActionError`."""
        validation.parse_object(sheet, ("thrower", "horses", "value", "winner", "finish"))
        thrower = validation.parse_choice_or_null(sheet, "thrower", self._players)
        winner = validation.parse_choice_or_null(sheet, "winner", self._players)
        value = validation.parse_whole_or_null(sheet, "value", {*self._values})
        needed, follow = ("player", "river", "direction", "progress"), ("notch", "out")
        rows = validation.parse_rows(sheet, "horses", len(self._players), needed, follow)
        named = tuple(row["player"] for row in rows)
        require(named == self._players, "the players are {players}, in this order", players=join_words(self._players))
        most = self._course + max(self._values) - 1
        horses = tuple(
            Horse(
                player,
                validation.parse_choice_or_null(row, "river", tuple(RIVERS)),
                validation.parse_choice_or_null(row, "direction", tuple(DIRECTIONS)),
                validation.parse_whole(row, "progress", 0, most),
                "out" in row and validation.parse_flag(row, "out"),
            )
            for player, row in zip(self._players, rows, strict=True)
        )
        state = PatolState(horses, thrower, value, winner, validation.parse_finish(sheet, winner))
        self._check_starts(state)
        self._check_course(state)
        for row, own in zip(rows, self.sheet(state)["horses"], strict=True):
            validation.check_derived(row, own, follow)
        return state

    def _check_starts(self, state: PatolState) -> None:
        waiting = [horse.waiting for horse in state.horses if not horse.out]
        require(waiting == sorted(waiting), "horses start in the order of the players")
        started = any(horse.river for horse in state.horses)
        require((state.thrower is None) != started, "thrower is null before the first start, then a player")
        unplayed = state.value is None and (not state.winner or state.finish)
        require(started or unplayed, "no throw or win comes before the first start")
        moving = state.moving_horse
        require(not moving or not moving.out, "thrower is a player who is not out")
        words = mark("{first} starts before {thrower} does")
        first = state.next_to_start
        require(not moving or not moving.waiting or state.thrower == first, words, first=first, thrower=state.thrower)

    def _check_course(self, state: PatolState) -> None:
        left = [horse.player for horse in state.horses if not horse.out]
        ended = left and (len(left) == 1) == (state.finish is not None) and (not state.finish or state.winner in left)
        require(ended, "finish is forfeit exactly if one player, the winner, is left")
        for horse in state.horses:
            placed = (horse.river is None) == (horse.direction is None) and (horse.river or not horse.progress)
            require(placed, "{player} has a river and a direction, or has not started", player=horse.player)
            has_won = horse.player == state.winner and state.finish is None
            require(
                (horse.progress >= self._course) == has_won,
                "{player} has gone {n} of {course}: the winner by play has gone all",
                player=horse.player,
                n=horse.progress,
                course=self._course,
            )
        words = mark("the last throw was the winner's: thrower is {winner}")
        require(state.winner is None or state.thrower in (None, state.winner), words, winner=state.winner)

    def play(self, state: PatolState, action: base.Action) -> tuple[PatolState, tuple[str, ...]]:
        """Return the state after a start, a throw or a forfeit; `killed` is called for a horse sent back."""
        match validation.parse_verb(action, ("start", "throw", "forfeit")):
            case "start":
                validation.check_keys(action, ("player", "river", "direction"))
                player = validation.parse_choice(action, "player", self._players)
                river = validation.parse_choice(action, "river", tuple(RIVERS))
                direction = validation.parse_choice(action, "direction", tuple(DIRECTIONS))
                return _add_horse(state, Horse(player, river, direction)), ()
            case "throw":
                validation.check_keys(action, ("marked",))
                return self._move_horse(state, self._values[validation.parse_whole(action, "marked", 0, 3)])
            case "forfeit":
                return _apply_forfeit(state, validation.parse_forfeit(action, self._players).by)

    def legal_actions(self, state: PatolState) -> tuple[dict[str, base.Json], ...]:
        """Return every start of the next player to start, and the four throws unless a start comes first.

        Forfeits are not included.
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

    def _move_horse(self, state: PatolState, value: int) -> tuple[PatolState, tuple[str, ...]]:
        """Move the thrower's horse by `value`.

        It sends back only horses in the notch it reaches, not those it jumps over.
        """
        base.check_not_over(state.winner and format_value(state.winner))
        mover = state.moving_horse
        if mover is None:
            raise base.IllegalActionError(
                "no horse has started", "{next_to_start} starts first", next_to_start=format_value(state.next_to_start)
            )
        if mover.waiting:
            raise base.IllegalActionError(
                "{player} has not started", "a river and a direction come first", player=format_value(mover.player)
            )
        moved = replace(mover, progress=mover.progress + value)
        if moved.progress >= self._course:  # the winner's throw kills no horse
            return replace(state.with_horse(moved), value=value, winner=mover.player), ()
        following = mover.player if value == EXTRA_THROW_VALUE else state.following(mover.player)
        after, calls = state.with_horse(moved), list[str]()
        for horse in state.horses if self.settings["killing"] else ():
            if horse is not mover and horse.progress > 0 and horse.notch == moved.notch:
                after = after.with_horse(replace(horse, progress=0))
                calls.append("killed")
        return replace(after, thrower=following, value=value), tuple(calls)


def _add_horse(state: PatolState, started: Horse) -> PatolState:
    """Put the horse of the next player in turn order at its river; the first to start is the first to throw."""
    base.check_not_over(state.winner and format_value(state.winner))
    known = state.horse(started.player)
    if known.out or known.river is not None:
        raise base.IllegalActionError(
            "{player} {out}", player=format_value(started.player), out="is out" if known.out else "has started already"
        )
    if started.player != state.next_to_start:
        raise base.IllegalActionError(
            "it is not {player}'s turn to start",
            "{next_to_start} starts next",
            player=format_value(started.player),
            next_to_start=format_value(state.next_to_start),
        )
    return replace(state.with_horse(started), thrower=state.thrower or started.player)


def _apply_forfeit(state: PatolState, by: str) -> tuple[PatolState, tuple[str, ...]]:
    """Take a horse out of the ring; the turn passes on if it was its player's, and the last remaining player wins."""
    base.check_not_over(state.winner and format_value(state.winner))
    leaver = state.horse(by)
    if leaver.out:
        raise base.IllegalActionError("{by} is out already", by=format_value(by))
    after = state.with_horse(replace(leaver, out=True))
    if state.thrower == by:
        after = replace(after, thrower=after.following(by))
    left = [horse.player for horse in after.horses if not horse.out]
    if len(left) > 1:
        return after, ("forfeit",)
    return replace(after, winner=left[0], finish="forfeit"), ("forfeit", "game")
