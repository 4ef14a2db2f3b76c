"""Decisions of a tournament as facts, strict typed JSON (`{"do": "confirm", ...}`), and what they make: calls, reports.

Frozen, and never changed once they are made. `director.Tournament` is what they come to, `history` keeps their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from pi_controller.games import registry
from pi_controller.tournament.competition import Competition, Then, Why
from pi_controller.tournament.elimination import Elimination, Kind
from pi_controller.tournament.groups import Groups
from pi_controller.tournament.registration import Absence
from pi_controller.tournament.round_robin import PlayOff, RoundRobin, Withdrawn

HUB = "hub"
"""Who decides by itself: the program."""
MOST_TEXT = 400
Format = Literal["double", "single", "round_robin", "groups"]
_Text = Annotated[str, Meta(max_length=MOST_TEXT)]
_Name = Annotated[str, Meta(max_length=10_000)]
"""What is checked, and refused in plain words, by `names_of`."""
_Word = Annotated[str, Meta(max_length=80)]


class _Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="do"):
    """A decision; its class's tag is the word it is written by."""


class Planned(_Fact, frozen=True, tag="plan"):
    """What is played, and how; before the drawing. `tournament` is the hub's own name of it, the same in every plan.

    `results`: a table's result counts at once, or waits for somebody who confirms it. `calling`: matches go to tables
    by themselves as these come free, or as the director says. `judges`: the hub knows who may judge and gives each
    match one, or the tables see to that. `rest_s` is the time between two matches of a team. `clock`: each game has its
    own time, or one clock ends all games of a round (Lahal's round robin).
    """

    tournament: _Word
    title: _Text = "Tournament"
    game: _Word = registry.DEFAULT
    options: dict[str, Any] = {}
    format: Format = "double"
    best_of: Literal[1, 3, 5] = 1
    withdrawn: Literal["forfeit", "annul"] = "forfeit"
    play_off: Literal["first", "all", "none"] = "first"
    groups: Annotated[int, Meta(ge=2, le=26)] = 2
    through: Annotated[int, Meta(ge=1, le=16)] = 2
    knockout: Literal["single", "double"] = "single"
    results: Literal["confirm", "at_once"] = "confirm"
    calling: Literal["automatic", "director"] = "automatic"
    judges: Literal["hub", "tables"] = "tables"
    rest_s: Annotated[float, Meta(ge=0, le=86_400)] = 0.0
    clock: Literal["tables", "round"] = "tables"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A team with its players; `leader` where the game has one."""

    name: _Name
    players: tuple[_Name, ...] = ()
    leader: _Name = ""


class Entered(_Fact, frozen=True, tag="enter"):
    """These teams take part; one that is there already has its players anew. Before the drawing."""

    teams: Annotated[tuple[Entry, ...], Meta(min_length=1, max_length=512)]


class Scratched(_Fact, frozen=True, tag="scratch"):
    """A team is not drawn: it does not take part."""

    team: _Name


class Drawn(_Fact, frozen=True, tag="draw"):
    """The teams have their places: by the drawing of `seed`, or where that is "" in `order`, by hand."""

    seed: _Text = ""
    order: tuple[_Name, ...] = ()


class Appointed(_Fact, frozen=True, tag="appoint"):
    """These people may judge, appointed or volunteering."""

    judges: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=512)]


class Dismissed(_Fact, frozen=True, tag="dismiss"):
    """Somebody judges no more."""

    judge: _Name


class TableUsed(_Fact, frozen=True, tag="table"):
    """A table gets matches, or none."""

    table: _Word
    on: bool


class Assigned(_Fact, frozen=True, tag="assign"):
    """A match is called to a table. `order` is this giving's own name; "" of `judge`: the table sees to it."""

    match: _Word
    table: _Word
    order: _Word
    judge: _Name = ""


class Recalled(_Fact, frozen=True, tag="recall"):
    """A match is taken back from its table, where it has not begun."""

    match: _Word
    why: _Text = ""


class Begun(_Fact, frozen=True, tag="begin"):
    """The first thing was played of a match."""

    match: _Word


class Reported(_Fact, frozen=True, tag="report"):
    """A table's game is over: `winner` won, by the journal with this `epoch` up to record `seq`.

    `sticks` by team and `sweep` where the game has them.
    """

    match: _Word
    order: _Word
    table: _Word
    epoch: _Word
    seq: int
    winner: _Name
    sweep: bool = False
    sticks: dict[str, int] = {}


class Retracted(_Fact, frozen=True, tag="retract"):
    """The table's judge has taken the end of a game back: it is played on."""

    order: _Word


class Confirmed(_Fact, frozen=True, tag="confirm"):
    """A reported result counts."""

    order: _Word


class Rejected(_Fact, frozen=True, tag="reject"):
    """A reported result does not count; the match is to be played."""

    order: _Word
    why: _Text = ""


class Result(_Fact, frozen=True, tag="result"):
    """A game of a match is over, as the captains' slip says."""

    match: _Word
    winner: _Name
    sweep: bool = False
    sticks: dict[str, int] = {}


class Tied(_Fact, frozen=True, tag="tie"):
    """Nobody won a match: the time of its round was up before the duel was decided (Lahal, tournament)."""

    match: _Word


class ClockSet(_Fact, frozen=True, tag="clock"):
    """The clock of a round starts, stands, or goes on; once its time is up it starts anew, for games still to play."""

    round: Annotated[int, Meta(ge=1, le=10_000)]
    running: bool


class Corrected(_Fact, frozen=True, tag="correct"):
    """A result was another; `game`: which of the match, the last for none. `then` as in `competition`."""

    match: _Word
    winner: _Name
    sweep: bool = False
    sticks: dict[str, int] = {}
    game: int | None = None
    then: Then | None = None


class Gone(_Fact, frozen=True, tag="withdraw"):
    """A team plays no more."""

    team: _Name
    why: Why = "withdrawn"


class Reinstated(_Fact, frozen=True, tag="reinstate"):
    """A team that had gone plays on, before anything that hangs on its going has begun."""

    team: _Name
    why: _Text = ""


class Absent(_Fact, frozen=True, tag="absent"):
    """A player is not there; the team plays on with fewer."""

    player: _Name
    why: Absence = "absent"


class Back(_Fact, frozen=True, tag="back"):
    """A player who was absent is there."""

    player: _Name


class Protested(_Fact, frozen=True, tag="protest"):
    """A team protests about a match; no result of it counts until the committee has decided."""

    match: _Word
    team: _Name
    text: _Text


class Ruled(_Fact, frozen=True, tag="ruling"):
    """The committee has decided a protest; what follows from it is entered apart. `protest` counts from 1."""

    protest: int
    ruling: Literal["upheld", "denied"]
    reason: Annotated[str, Meta(min_length=1, max_length=MOST_TEXT)]


class Announced(_Fact, frozen=True, tag="announce"):
    """Words for all boards; "" takes them down."""

    text: _Text


class Pointed(_Fact, frozen=True, tag="stream"):
    """The stream shows this table, "" for none."""

    table: _Word


class Undone(_Fact, frozen=True, tag="undo"):
    """These decisions no longer count: the last one somebody made, and what follows from it alone."""

    taken_back: tuple[int, ...]
    reason: _Text = ""


Fact = (
    Planned
    | Entered
    | Scratched
    | Drawn
    | Appointed
    | Dismissed
    | TableUsed
    | Assigned
    | Recalled
    | Begun
    | Reported
    | Retracted
    | Confirmed
    | Rejected
    | Result
    | Tied
    | ClockSet
    | Corrected
    | Gone
    | Reinstated
    | Absent
    | Back
    | Protested
    | Ruled
    | Announced
    | Pointed
    | Undone
)
OF_THE_HUB = (Assigned, Begun, Reported, Retracted, Confirmed, Recalled)
"""What the hub itself decides; some of them people may, too."""
PLAYED = (Begun, Reported, Confirmed, Result, Tied)
"""What an undo never takes along: people have played."""


class Decision(NamedTuple):
    """A fact with its number from 1, when it was decided (s since 1970), and by whom."""

    seq: int
    t: float
    actor: str
    fact: Fact


@dataclass(frozen=True, slots=True)
class Call:
    """A match at a table since `t`; `order` names the game of it that is to be played now."""

    match: str
    teams: tuple[str, str]
    table: str
    judge: str
    order: str
    t: float
    begun: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A result that waits for somebody. `expected`: the game was the one that this table was given."""

    fact: Reported
    t: float
    expected: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Where a game that counts was played; its table and the journal's `epoch` are "" for one that was typed."""

    table: str
    epoch: str
    order: str
    judge: str
    t: float


@dataclass(frozen=True, slots=True)
class RoundClock:
    """The clock of a round: `left_s` to go at `since`, from when on it runs; None: it stands."""

    round: int
    left_s: float
    since: float | None = None

    @property
    def ends(self) -> float | None:
        """When its time is up, s since 1970; None where it stands."""
        return None if self.since is None else self.since + self.left_s

    def left(self, t: float) -> float:
        """Return the seconds to go at `t`."""
        return self.left_s if self.since is None else max(0.0, self.since + self.left_s - t)


@dataclass(frozen=True, slots=True)
class Protest:
    """A protest; `ruling` is "" while it is open."""

    number: int
    t: float
    match: str
    team: str
    text: str
    ruling: str = ""
    reason: str = ""


def competition_of(plan: Planned) -> Competition:
    """Return the kind of tournament with the options of a plan; of the same options the same object."""
    match plan.format:
        case "round_robin":
            return _round_robin(plan.best_of, plan.withdrawn, plan.play_off)
        case "groups":
            return _groups(plan.groups, plan.through, plan.knockout, plan.best_of, plan.withdrawn)
        case kind:
            return _elimination(kind, plan.best_of)


@cache
def _round_robin(best_of: int, withdrawn: Withdrawn, play_off: PlayOff) -> Competition:
    return RoundRobin(best_of, withdrawn=withdrawn, play_off=play_off)


@cache
def _groups(groups: int, through: int, kind: Kind, best_of: int, withdrawn: Withdrawn) -> Competition:
    return Groups(groups, through, kind, best_of, withdrawn=withdrawn)


@cache
def _elimination(kind: Kind, best_of: int) -> Competition:
    return Elimination(kind, best_of)
