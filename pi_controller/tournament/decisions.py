"""Decisions of a tournament as facts, strict typed JSON (`{"do": "confirm", ...}`), and their results: calls, reports.

All are frozen. `director.Tournament` is the state after them, `decision_history.DecisionHistory` keeps their order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from pi_controller.rules import registry
from pi_controller.tournament.actions import (
    MAX_TEXT_CHARS,
    Corrected,
    Finish,
    Forfeited,
    MatchStarted,
    Name,
    Reinstated,
    Replayed,
    Result,
    Sticks,
    TeamRenamed,
    TeamWithdrawn,
    Text,
    TieEntered,
    TournamentAction,
    Word,
)
from pi_controller.tournament.competition import Competition
from pi_controller.tournament.elimination import Elimination
from pi_controller.tournament.groups import Groups
from pi_controller.tournament.round_robin import RoundRobin
from pi_controller.tournament.teams import Absence

HUB = "hub"
"""Actor of decisions that the program makes."""
DEFAULT_REST_S = 600.0
"""The rest between two matches of a team, if the plan has none."""
DEFAULT_GRACE_S = 600.0
"""The time to come to the table after a call, if the plan has none."""
Format = Literal["double", "single", "round_robin", "groups"]


class Planned(TournamentAction, frozen=True, tag="plan"):
    """The plan of the tournament, made before the drawing. `tournament` is the hub's id of it, the same in every plan.

    `results`: a table's result counts at once, or after somebody has confirmed it. `calling`: matches are assigned to
    free tables automatically, or by the director. `judges`: the hub knows who may judge and gives each match a judge,
    or the tables find their own. `rest_s` is the time between two matches of a team, `grace_s` the time to come to the
    table after a call, 0 for no limit ("be prepared when called", chapter 12); the hub adds its defaults to a plan sent
    without them, and a stored plan without them has none. `clock`: each game has its own time, or one clock ends all
    games of a round (Lahal's round robin). `third_place`: a single elimination, also that after groups, has a match for
    the third place.
    """

    tournament: Word
    title: Text = "Tournament"
    game: Word = registry.DEFAULT_GAME
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    format: Format = "double"
    best_of: Literal[1, 3, 5] = 1
    withdrawn: Literal["forfeit", "annul"] = "forfeit"
    play_off: Literal["first", "all", "none"] = "first"
    groups: Annotated[int, Meta(ge=2, le=26)] = 2
    through: Annotated[int, Meta(ge=1, le=16)] = 2
    knockout: Literal["single", "double"] = "single"
    third_place: bool = False
    results: Literal["confirm", "at_once"] = "confirm"
    calling: Literal["automatic", "director"] = "automatic"
    judges: Literal["hub", "tables"] = "tables"
    rest_s: Annotated[float, Meta(ge=0, le=86_400)] = 0.0
    grace_s: Annotated[float, Meta(ge=0, le=86_400)] = 0.0
    clock: Literal["tables", "round"] = "tables"


class SettingsChanged(TournamentAction, frozen=True, tag="settings"):
    """Change these settings of the plan from now on, also after the drawing; None leaves a setting as it is.

    A new grace time applies to the calls that are open, too.
    """

    results: Literal["confirm", "at_once"] | None = None
    calling: Literal["automatic", "director"] | None = None
    judges: Literal["hub", "tables"] | None = None
    rest_s: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    grace_s: Annotated[float, Meta(ge=0, le=86_400)] | None = None


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A team with its players; `leader` if the game has one."""

    name: Name
    players: tuple[Name, ...] = ()
    leader: Name = ""


class Entered(TournamentAction, frozen=True, tag="enter"):
    """Enter teams, before the drawing; a team that is entered already gets new players."""

    teams: Annotated[tuple[Entry, ...], Meta(min_length=1, max_length=512)]


class Scratched(TournamentAction, frozen=True, tag="scratch"):
    """Remove a team before the drawing."""

    team: Name


class TeamAdded(TournamentAction, frozen=True, tag="add"):
    """Enter a late team after the drawing: it takes a bye of the first round."""

    team: Entry


class TeamsDrawn(TournamentAction, frozen=True, tag="draw"):
    """Place the teams: by the drawing with `seed`, or if that is "" by hand, in `order`."""

    seed: Text = ""
    order: tuple[Name, ...] = ()


class Appointed(TournamentAction, frozen=True, tag="appoint"):
    """Add people who may judge, appointed or volunteering."""

    judges: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=512)]


class Dismissed(TournamentAction, frozen=True, tag="dismiss"):
    """Remove somebody from the judges."""

    judge: Name


class TableUsed(TournamentAction, frozen=True, tag="table"):
    """Assign matches to a table from now on, or no longer."""

    table: Word
    on: bool


class Assigned(TournamentAction, frozen=True, tag="assign"):
    """Call a match to a table. `order` is the id of this call; if `judge` is "" the table finds one."""

    match: Word
    table: Word
    order: Word
    judge: Name = ""


class Recalled(TournamentAction, frozen=True, tag="recall"):
    """Recall a match from its table before it has started."""

    match: Word
    why: Text = ""


class Moved(TournamentAction, frozen=True, tag="move"):
    """Move a match that has begun to another table; `order` is the id of its call there.

    Its game goes on from the score `sheet`; {} if no game of it is in progress. With `unused` the table that it leaves
    gets no more matches.
    """

    match: Word
    table: Word
    order: Word
    unused: bool = False
    sheet: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Reported(TournamentAction, frozen=True, tag="report"):
    """A game at a table is over: `winner` won, by the journal with this `epoch` up to record `seq`.

    `sticks` by team and `sweep` if the game has them; `finish` if play did not end it.
    """

    match: Word
    order: Word
    table: Word
    epoch: Word
    seq: int
    winner: Name
    sweep: bool = False
    sticks: Sticks = msgspec.field(default_factory=dict[str, int])
    finish: Finish | None = None


class Retracted(TournamentAction, frozen=True, tag="retract"):
    """The table's judge undid the end of a game: it continues."""

    order: Word


class Confirmed(TournamentAction, frozen=True, tag="confirm"):
    """Count a reported result."""

    order: Word


class Rejected(TournamentAction, frozen=True, tag="reject"):
    """Reject a reported result; the match must be played."""

    order: Word
    why: Text = ""


class MatchClockSet(TournamentAction, frozen=True, tag="clock"):
    """Start, stop or resume the clock of a round; after its time is up it starts again, for games still to play."""

    round: Annotated[int, Meta(ge=1, le=10_000)]
    running: bool


class PlayerAbsent(TournamentAction, frozen=True, tag="absent"):
    """A player is absent; the team plays on with fewer."""

    player: Name
    why: Absence = "absent"


class PlayerReturned(TournamentAction, frozen=True, tag="back"):
    """An absent player has come back."""

    player: Name


class Protested(TournamentAction, frozen=True, tag="protest"):
    """A team protests about a match, also one that is decided.

    Until the committee has decided, no result of it counts, and the next matches of both teams are not called.
    """

    match: Word
    team: Name
    text: Text


class ProtestDecided(TournamentAction, frozen=True, tag="ruling"):
    """The committee decided a protest; consequences are entered separately. `protest` counts from 1."""

    protest: int
    ruling: Literal["upheld", "denied"]
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_CHARS)]


class BreakPlanned(TournamentAction, frozen=True, tag="break"):
    """Call no match from `begins` to `ends`, s since 1970: for a meal or a grand entry. Breaks are numbered from 1."""

    begins: float
    ends: float
    why: Word = ""


class BreakCancelled(TournamentAction, frozen=True, tag="no_break"):
    """Cancel a break, before it or in it."""

    number: int


class MachineClockSet(TournamentAction, frozen=True, tag="machine_clock"):
    """The clock of the hub's machine was set `by_s` forward: breaks keep their time of day, all else goes on."""

    by_s: float


class CheckedIn(TournamentAction, frozen=True, tag="check_in"):
    """The captain of a team has checked in, or this is taken back."""

    team: Name
    here: bool


class Pronounced(TournamentAction, frozen=True, tag="pronounce"):
    """How the name of a team is said, for the announcer; "" removes it."""

    team: Name
    said: Word


class Announced(TournamentAction, frozen=True, tag="announce"):
    """Show an announcement on all boards; "" removes it."""

    text: Text


class StreamTableChosen(TournamentAction, frozen=True, tag="stream"):
    """Choose the table that the stream shows, "" for none."""

    table: Word


class DecisionUndone(TournamentAction, frozen=True, tag="undo"):
    """Undo the last decision of a person, and the decisions that depend on it alone."""

    taken_back: tuple[int, ...]
    reason: Text = ""


_Preparation = (
    Planned | SettingsChanged | Entered | Scratched | TeamAdded | TeamRenamed | TeamsDrawn | Appointed | Dismissed
)
_AtTables = TableUsed | Assigned | Recalled | Moved | MatchStarted | MatchClockSet
_Breaks = BreakPlanned | BreakCancelled | MachineClockSet
_Results = Reported | Retracted | Confirmed | Rejected | Result | TieEntered | Corrected | Replayed | Forfeited
_Protests = Protested | ProtestDecided
_People = TeamWithdrawn | Reinstated | PlayerAbsent | PlayerReturned | CheckedIn | Pronounced
_Shown = Announced | StreamTableChosen
Fact = _Preparation | _AtTables | _Breaks | _Results | _Protests | _People | _Shown | DecisionUndone
PLAY_FACTS = (Moved, MatchStarted, Reported, Confirmed, Result, TieEntered)
"""Decisions that an undo never takes along, because people have played."""


class Decision(NamedTuple):
    """A fact with its number from 1, its time (s since 1970) and its actor."""

    seq: int
    t: float
    actor: str
    fact: Fact


@dataclass(frozen=True, slots=True)
class Call:
    """A match called to a table at `t`; `order` is the id of its game to be played now.

    `sheet` is the score sheet from which the first game of this call goes on, {} if the match was not moved during it.
    """

    match: str
    teams: tuple[str, str]
    table: str
    judge: str
    order: str
    t: float
    started: bool = False
    sheet: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Report:
    """A result that waits for confirmation. `expected`: it is of the game that this table was given."""

    fact: Reported
    t: float
    expected: bool


@dataclass(frozen=True, slots=True)
class MatchSource:
    """Where a counted game was played; its table and the journal's `epoch` are "" for a result entered by hand."""

    table: str
    epoch: str
    order: str
    judge: str
    t: float


@dataclass(frozen=True, slots=True)
class MatchRound:
    """The clock of a round: `left_s` remained at `since`, when it was started; None: it is stopped."""

    round: int
    left_s: float
    since: float | None = None

    @property
    def ends(self) -> float | None:
        """When its time is up, s since 1970; None if it is stopped."""
        return None if self.since is None else self.since + self.left_s

    def remaining_s(self, t: float) -> float:
        """Return the seconds that remain at `t`."""
        return self.left_s if self.since is None else max(0.0, self.since + self.left_s - t)


@dataclass(frozen=True, slots=True)
class MatchProtest:
    """A protest of `team` about a match of `teams`; `ruling` is "" while it is open."""

    number: int
    t: float
    match: str
    teams: tuple[str, str]
    team: str
    text: str
    ruling: str = ""
    reason: str = ""


def make_competition(plan: Planned) -> Competition:
    """Return the competition with the options of a plan; the same object for the same options."""
    check_slip = registry.game_class(plan.game).check_slip
    match plan.format:
        case "round_robin":
            options = {"withdrawn": plan.withdrawn, "play_off": plan.play_off}
            return _make(RoundRobin, plan.best_of, **options, check_slip=check_slip)
        case "groups":
            third = plan.third_place and plan.knockout == "single"
            options = {"withdrawn": plan.withdrawn, "third_place": third, "check_slip": check_slip}
            return _make(Groups, plan.groups, plan.through, plan.knockout, plan.best_of, **options)
        case kind:
            third = plan.third_place and kind == "single"
            return _make(Elimination, kind, plan.best_of, third_place=third, check_slip=check_slip)


@cache
def _make(kind: Callable[..., Competition], *options: object, **more: object) -> Competition:
    return kind(*options, **more)
