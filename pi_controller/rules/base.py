"""Base class of games: options as data, an opening, and a pure `play`.

A rule set is data with a name, a version and its source; a community's own rules prevail over all of them. There are
two errors, as in chess libraries: *invalid* is not an action of this game, *illegal* is an action that is not allowed
now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pi_controller.errors import MatError
from pi_controller.rules.options import Option, Value, resolve_options

if TYPE_CHECKING:
    from pi_controller.rules.scoreboard import Scoreboard

Team = Literal["A", "B"]
Json = Any
"""A value that `json.dumps` takes: the score sheet's keys and values."""
Action = Mapping[str, Json]
TEAMS: tuple[Team, ...] = ("A", "B")
S = TypeVar("S")
T = TypeVar("T")


def opposing_team(team: str) -> Team:
    """Return the opposing team."""
    return "B" if team == "A" else "A"


class InvalidActionError(MatError, ValueError):
    """Not an action of this game: unknown word, wrong type, pad 7."""

    code = "invalid"


class IllegalActionError(MatError, RuntimeError):
    """An action of this game, but not allowed now."""

    code = "illegal"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden pieces of a game as the mat reads them: their number, each with a magnet.

    `unmarked`: some of them have the weaker magnet of an unmarked one. `in_fists`: they are held in four fists on the
    pads rather than put under them. `found_by` is the phase in which the other team looks for them.
    """

    pieces: int = 1
    unmarked: bool = False
    in_fists: bool = False
    found_by: Literal["hit", "guess"] = "hit"


Phase = Literal["toss", "hide", "hit", "throw", "over"]
"""What a game waits for: the toss or a start, a hide or the next hit in it, a throw, or nothing more."""


@dataclass(frozen=True, slots=True)
class Roster:
    """The size of a team at a tournament: at most `registered` members, of whom `playing` play at a time.

    None if the source sets no number. `leader` is the source's title of the team's leader, if it has one.
    """

    registered: int | None = None
    playing: int | None = None
    leader: str = ""


def check_not_over(winner: str | None) -> None:
    """Raise `IllegalActionError` if there is a `winner`, as errors name it."""
    if winner is not None:
        raise IllegalActionError("the game is over: {winner} has won", winner=winner)


class Game(ABC, Generic[S]):
    """One rule set with its options chosen. States are frozen and hashable; the object itself keeps no state."""

    name: ClassVar[str]
    """The word on the command line, e.g. `dakota`."""
    version: ClassVar[str]
    source: ClassVar[str]
    """The written source of the rules, with chapter or rule numbers."""
    options: ClassVar[tuple[Option, ...]]
    forms: ClassVar[Forms] = MappingProxyType({})
    """The short forms of its actions in a record and at the judge's terminal; an action without one is written with
    keys.
    """
    hidden: ClassVar[Hidden | None] = None
    """The hidden and sealed pieces; None for games of throws."""
    hand_passes: ClassVar[bool] = False
    """True if hides have hand passes, two hits and fouls of the hider, and the display follows them (Hampa Apena).

    All other games are displayed by their score sheet.
    """
    foul_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"hider": (), "hitter": ()})
    """The fouls that its action `foul` knows, by who committed them."""
    side_keys: ClassVar[frozenset[str]] = frozenset({"winner"})
    """The keys of the score sheet whose value is a side or null."""
    fixed_keys: ClassVar[frozenset[str]] = frozenset()
    """The keys of the score sheet that a judge cannot change: the names of the players."""
    finishes: ClassVar[tuple[str, ...]] = ("forfeit",)
    """The values of `finish` on the score sheet, besides null."""
    roster: ClassVar[Roster] = Roster()
    """The size of a team at a tournament."""
    second_tap: ClassVar[str | None] = None
    """The action that a second tap of the bowl in one turn may lead to, by the judge's ruling or the settings."""
    settings: Mapping[str, Value]
    """Every option with the value chosen for it. Read-only."""

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        self.settings = resolve_options(self.name, self.options, settings or {})

    short_form: ClassVar[str] = ""
    """Help for typing the shortest form of an action, for games whose examples do not show it."""

    def whole_setting(self, name: str) -> int:
        """Return the value of the option `name`, which is a whole number."""
        value = self.settings[name]
        assert isinstance(value, int)
        return value

    @property
    def minutes(self) -> int | None:
        """The length of a game by the option `minutes`; None if it has no time limit."""
        minutes = self.settings.get("minutes")
        return minutes if isinstance(minutes, int) else None

    @property
    def chosen_settings(self) -> dict[str, Value]:
        """The settings that differ from their defaults, in the options' order."""
        return {
            option.name: self.settings[option.name]
            for option in self.options
            if self.settings[option.name] != option.default
        }

    @abstractmethod
    def opening(self) -> S:
        """Return the state before anything has happened."""

    @abstractmethod
    def play(self, state: S, action: Action) -> tuple[S, tuple[str, ...]]:
        """Return the state after `action` and the words called for it, in order.

        Raises `InvalidActionError` or `IllegalActionError`; `state` is never changed.
        """

    @abstractmethod
    def sheet(self, state: S) -> Mapping[str, Json]:
        """Return the state under the score sheet's keys, as a dict; the built-in games define a TypedDict for it."""

    @abstractmethod
    def is_over(self, state: S) -> bool:
        """Return True if the game is finished."""

    @abstractmethod
    def scoreboard(self, sheet: Any) -> Scoreboard:
        """Return the scoreboard of a score sheet (`sheet`), which all displays draw."""

    @classmethod
    def check_slip(cls, won: int, lost: int, finish: str) -> None:
        """Check the sticks of winner and loser on the captains' slip.

        `finish` is one of `finishes`, or "" for one that the slip does not name.
        Raises `IllegalActionError` if no game of this kind ends so.
        """

    def restore(self, sheet: Mapping[str, Json]) -> S:  # noqa: ARG002
        """Return the state described by `sheet`, as set by a judge.

        Values that the sheet does not hold, such as an undoable hit, are lost. Raises `InvalidActionError` with every
        fault (keys, names, sums of sticks).
        """
        raise InvalidActionError(
            "the score of {name} cannot be set by hand", "undo, or start a new game", name=self.name
        )

    def hiders(self, state: S) -> Team | None:  # noqa: ARG002
        """Return the team that hides now; None before that is decided, and in games of throws."""
        return None

    def hiders_before(self, state: S) -> Team | None:  # noqa: ARG002
        """Return the team that hid in the hide just settled; None if the state does not keep it."""
        return None

    def thrower(self, state: S) -> str | None:  # noqa: ARG002
        """Return the player who may throw now; None if a lot or a start comes first, and in games of hiding."""
        return None

    def phase_of(self, state: S) -> Phase:
        """Return what `state` waits for. Override it if a hide takes more than one action."""
        if self.is_over(state):
            return "over"
        if self.hidden is None:
            return "throw" if self.thrower(state) else "toss"
        return "toss" if self.hiders(state) is None else "hide"

    def after_action(self, before: Any, after: Any, done: Any) -> Any:  # noqa: ARG002
        """Return the referee's story after an action (`referee.story`), if hides of this game take more than one.

        `before` is the story it was played in, `after` the same with the new state, `done` the fact. None: one action
        settles a hide, and the referee derives the story itself.
        """
        return None

    def settles(self, action: Action) -> bool:
        """Return True if `action` ends the hide or the throw in progress, so that the next one follows.

        Not used for games with hand passes, in which that also depends on the state.
        """
        return action.get("do") != "forfeit"

    @abstractmethod
    def legal_actions(self, state: S) -> tuple[dict[str, Json], ...]:
        """Return every action of play that is allowed now, one for each group with the same effect.

        Forfeits are allowed at any time before the game is over and are not included.
        """


class HasWinner(Protocol):
    """A state that names its winner, None until the game is over."""

    @property
    def winner(self) -> str | None:
        """The team or player who has won."""


W = TypeVar("W", bound=HasWinner)


class WonGame(Game[W]):
    """A game that is over once its state has a winner."""

    def is_over(self, state: W) -> bool:
        """Return True if a team or a player has won."""
        return state.winner is not None


# The short human form of an action as data: the parts that are written without their key, and their order.
#
# A game defines the forms of its actions (`Game.forms`); lines are read and written by `record.notation`.
@dataclass(frozen=True, slots=True)
class FormPlace:
    """One part of an action: its `path` (`red.woman` is the key `woman` inside `red`) and its notation.

    `words` are the words for some values; the first word for a value is the one written. With a `label`, that word
    comes before the value. A `closed` place takes its words only and may be left out. `listing`: numbers
    with commas. `most` is the number of pieces that a place counts: one word with the first letter of the label of each
    (`wkk`, or 0 for none) then fills the places that are left. `asks` is the prompt if the part is missing. A part that
    the mat may have read can be left out; `stands_in` takes its place when the rest is checked.
    """

    path: str
    label: str = ""
    words: Mapping[str, Json] | None = None
    closed: bool = False
    listing: bool = False
    most: int = 0
    asks: str = ""
    stands_in: Json = None


Forms = Mapping[str, tuple[FormPlace, ...]]
"""For each word of a game the parts of its action in their order.

The word itself may be left out if what follows can begin only this action: `found 2` is `hit found 2`.
"""
TEAM: Mapping[str, Json] = {"A": "A", "B": "B", "a": "A", "b": "B"}
YES: Mapping[str, Json] = {"yes": True, "no": False}
FOUND: Mapping[str, Json] = {"found": True, "missed": False, "find": True, "miss": False}
NONE: Mapping[str, Json] = {"-": None}
