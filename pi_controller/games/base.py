"""Base class of games: options as data, an opening, and a pure `play`.

A rule set is data with a name, a version and its source; a community's own rules prevail over all of them. The two
errors are told apart as at a chess board: *invalid* is no action of this game, *illegal* is one that is not allowed
now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, cast

from pi_controller.errors import MatError
from pi_controller.games.options import chosen

if TYPE_CHECKING:
    from pi_controller.games.forms import Forms
    from pi_controller.games.options import Option, Value

Team = Literal["A", "B"]
Json = Any
"""A value that `json.dumps` takes: the score sheet's keys and values."""
Action = Mapping[str, Json]
S = TypeVar("S")
T = TypeVar("T")


def other(team: str) -> Team:
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
    """What is hidden in a game, as the mat feels it: so many `pieces` with a magnet.

    `unmarked`: some of them have the weaker magnet of an unmarked one. `in_fists`: they are held in four fists on the
    pads, and lie under none. `found_by` is the phase in which the other team looks for them.
    """

    pieces: int = 1
    unmarked: bool = False
    in_fists: bool = False
    found_by: Literal["hit", "guess"] = "hit"


@dataclass(frozen=True, slots=True)
class Roster:
    """Who may be in a team of a game at a tournament: at most so many `registered`, of whom so many are `playing`.

    None where the source sets no number. `leader` is what the source calls the one who leads a team, if it has one.
    """

    registered: int | None = None
    playing: int | None = None
    leader: str = ""


class Game(ABC, Generic[S]):
    """One rule set with its options chosen. States are frozen and hashable; nothing here remembers anything."""

    name: ClassVar[str]
    """The word on the command line, e.g. `dakota`."""
    version: ClassVar[str]
    source: ClassVar[str]
    """Where the rules are written down, with chapter or rule numbers."""
    options: ClassVar[tuple[Option, ...]]
    renamed: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Words of actions and keys of the score sheet as older versions wrote them, with what they are called now."""
    forms: ClassVar[Forms] = MappingProxyType({})
    """The short forms of its actions in a record and at the judge's terminal; an action without one has its keys."""
    hidden: ClassVar[Hidden | None] = None
    """What is hidden and sealed; None where nothing is."""
    hand_passes: ClassVar[bool] = False
    """Whether hides have passes of the hand, two hits and fouls of the hider, and are told by them (Hampa Apena).

    All other games are told by their score sheet.
    """
    finishes: ClassVar[tuple[str, ...]] = ("forfeit",)
    """What may stand under `finish` on the score sheet, beside nothing."""
    roster: ClassVar[Roster] = Roster()
    """Who may be in a team at a tournament."""
    second_tap: ClassVar[str | None] = None
    """The action that a second tap of the bowl in one turn may come to, by the judge's word or the settings."""
    solver: ClassVar[str] = ""
    """The module that solves its chances of winning (`games.chances`); empty where people decide it."""
    settings: Mapping[str, Value]
    """Every option with the value chosen for it. Read-only."""

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        self.settings = chosen(self.name, self.options, settings or {})

    @classmethod
    def current(cls, written: T) -> T | dict[str, Json]:
        """Return an action or a score sheet, perhaps of an older version, in the words of this one (`renamed`).

        Whatever it is, nothing is checked here. What has both names of one thing is returned as it is, to be refused
        for the older one.
        """
        if not cls.renamed or not isinstance(written, Mapping):
            return written
        older = cast("Mapping[str, Json]", written)
        now = {cls.renamed.get(key, key): value for key, value in older.items()}
        do: object = older.get("do")
        if isinstance(do, str) and do in cls.renamed:
            now["do"] = cls.renamed[do]
        return now if len(now) == len(older) else dict(older)

    short_form: ClassVar[str] = ""
    """How a judge types the shortest form of an action (`shorthand`), where examples do not show it."""

    @classmethod
    def shorthand(cls, words: Sequence[str]) -> dict[str, Json] | None:  # noqa: ARG003
        """Return the action that a judge's `words` say shorter than its form, or None where they say none."""
        return None

    @property
    def minutes(self) -> int | None:
        """How long a game lasts by the option `minutes`; None where it has no end in time."""
        minutes = self.settings.get("minutes")
        return minutes if isinstance(minutes, int) else None

    @property
    def chosen_settings(self) -> dict[str, Value]:
        """The settings that are not what they are when nobody chooses, in the options' order."""
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
        """Return the state under the score sheet's keys, a dict; each game of ours has a TypedDict of them."""

    @abstractmethod
    def over(self, state: S) -> bool:
        """Return whether the game is finished."""

    def score(self, state: S) -> Mapping[str, int]:  # noqa: ARG002
        """Return what the game is won by, points, sticks, counters or notches, by side or player; empty for neither."""
        return {}

    def restore(self, sheet: Mapping[str, Json]) -> S:  # noqa: ARG002
        """Return the state that has `sheet`'s keys: how a judge says that the table stands.

        What the sheet does not hold (a hit that can no longer be taken back) is not there. Raises `InvalidActionError`
        with every fault for a sheet that is none of this game's: keys, names, sticks that do not add up.
        """
        raise InvalidActionError(f"a table of {self.name} cannot be set", "undo, or begin a new game")

    def hiders(self, state: S) -> Team | None:  # noqa: ARG002
        """Return the team that hides now; None before that is known, and where nothing is hidden."""
        return None

    def hiders_before(self, state: S) -> Team | None:  # noqa: ARG002
        """Return the team that hid in the hide just settled; None where the state does not remember one."""
        return None

    def thrower(self, state: S) -> str | None:  # noqa: ARG002
        """Return who may throw now; None where a lot or a start comes first, and where nothing is thrown."""
        return None

    def settles(self, action: Action) -> bool:
        """Return whether `action` ends the hide or the throw in progress, so that the next one follows.

        Where hides have passes of the hand that also depends on the state, and nobody asks this.
        """
        return self.current(action).get("do") != "forfeit"

    @abstractmethod
    def legal_actions(self, state: S) -> tuple[dict[str, Json], ...]:
        """Return every action of play that is allowed now, one for all that come to the same.

        A forfeit is allowed at any time before the game is over, and is not among them.
        """
