"""The director's tournament: who is entered, the drawing, matches at tables, results, protests; a fold of decisions.

What people and the hub decide are frozen facts, one after the other; `Tournament.after` is the tournament after one
more, pure, and refuses what cannot be. `History` keeps them in order. Nothing is ever deleted: an undo names the
decisions that no longer count, and everything is told again without them.

A result of a table is first *reported*. It counts when somebody confirms it, or at once, as the plan says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta

from pi_controller.errors import MatError
from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError, InvalidActionError, Json, Roster
from pi_controller.games.wording import listed, nearest, printable, shown
from pi_controller.tournament.competition import Competition, Pairing, State, Then, Why, names_of, plain_name
from pi_controller.tournament.elimination import Elimination
from pi_controller.tournament.registration import Absence, Registration
from pi_controller.tournament.round_robin import RoundRobin
from pi_controller.tournament.schedule import Assignment, Hall, Waiting, assign, may_judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HUB = "hub"
"""Who decides by itself: the program."""
MOST_TEXT = 400
Format = Literal["double", "single", "round_robin"]
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
    match one, or the tables see to that. `rest_s` is the time between two matches of a team.
    """

    tournament: _Word
    title: _Text = "Tournament"
    game: _Word = registry.DEFAULT
    options: dict[str, Any] = {}
    format: Format = "double"
    best_of: Literal[1, 3, 5] = 1
    withdrawn: Literal["forfeit", "annul"] = "forfeit"
    play_off: Literal["first", "all", "none"] = "first"
    results: Literal["confirm", "at_once"] = "confirm"
    calling: Literal["automatic", "director"] = "automatic"
    judges: Literal["hub", "tables"] = "tables"
    rest_s: Annotated[float, Meta(ge=0, le=86_400)] = 0.0


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
    | Corrected
    | Gone
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
_PLAYED = (Begun, Reported, Confirmed, Result)
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
class Protest:
    """A protest; `ruling` is "" while it is open."""

    number: int
    t: float
    match: str
    team: str
    text: str
    ruling: str = ""
    reason: str = ""


_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Tournament:
    """The tournament as it stands. `t` of calls and results are s since 1970."""

    plan: Planned | None = None
    entered: tuple[str, ...] = ()
    registration: Registration = field(default_factory=lambda: Registration(Roster()))
    seed: str = ""
    state: State = field(default_factory=State)
    calls: Mapping[str, Call] = field(default_factory=lambda: _NOTHING)
    reports: Mapping[str, Report] = field(default_factory=lambda: _NOTHING)
    settled: frozenset[str] = frozenset()
    """Orders whose games count, or were rejected."""
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=lambda: _NOTHING)
    """By match, where each of its games was played."""
    ended: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    unused: frozenset[str] = frozenset()
    protests: tuple[Protest, ...] = ()
    announcement: str = ""
    stream: str = ""

    @property
    def competition(self) -> Competition:
        """The kind of tournament. Raises `IllegalActionError` before there is a plan."""
        plan = self._planned()
        return _competition(plan.format, plan.best_of, plan.withdrawn, plan.play_off)

    @property
    def champion(self) -> str | None:
        """Who has won."""
        return self.competition.champion(self.state) if self.state.teams else None

    @property
    def ready(self) -> tuple[Pairing, ...]:
        """The matches that can be played or are being played."""
        return self.competition.ready(self.state) if self.state.teams else ()

    @property
    def open_protests(self) -> tuple[Protest, ...]:
        """The protests that the committee has to decide."""
        return tuple(protest for protest in self.protests if not protest.ruling)

    def order(self, call: Call) -> str:
        """Return the name of the game of a match that is to be played now: of several, each has its own."""
        return f"{call.order}-{sum(order.startswith(f'{call.order}-') for order in self.settled) + 1}"

    def schedule(self, tables: Sequence[str], now: float) -> tuple[tuple[Assignment, ...], tuple[Waiting, ...]]:
        """Return what can be called to which of `tables` at `now`, and what waits for what, the next one first."""
        plan = self._planned()
        playing = tuple(Assignment(call.match, call.teams, call.table, call.judge) for call in self.calls.values())
        judged: dict[str, int] = {}
        for sources in self.sources.values():
            for source in sources:
                judged[source.judge] = judged.get(source.judge, 0) + 1
        usable = tuple(table for table in tables if table not in self.unused)
        hall = Hall(usable, playing, self.ended, judged, plan.rest_s, plan.judges == "tables")
        return assign(hall, self.registration, self.ready, now)

    def after(self, decision: Decision) -> Tournament:
        """Return the tournament after `decision`. Raises `InvalidActionError` and `IllegalActionError`."""
        _, t, _, fact = decision
        match fact:
            case Planned():
                return self._with_plan(fact)
            case Entered(teams=teams):
                return self._with_teams(teams)
            case Scratched(team=team):
                self._not_drawn()
                return self._without(self._entered(team))
            case Drawn():
                return self._drawn(fact)
            case Appointed(judges=judges):
                found = self.registration
                for judge in names_of([*judges], "judge", fewest=1):
                    found = found.appoint(judge)
                return replace(self, registration=found)
            case Dismissed(judge=judge):
                if judge not in self.registration.judges:
                    raise InvalidActionError(f"{shown(judge)} is no judge here")
                return replace(self, registration=self.registration.dismiss(judge))
            case TableUsed(table=table, on=on):
                return replace(self, unused=self.unused - {table} if on else self.unused | {table})
            case Assigned():
                return self._assigned(fact, t)
            case Recalled(match=match):
                call = self._call(match)
                if call.begun:
                    raise IllegalActionError(f"{match} has begun", "end it at the table, or enter its result")
                return replace(self, calls=_without(self.calls, match))
            case Begun(match=match):
                call = self._call(match)
                state = self.competition.play(self.state, {"do": "begin", "match": match})
                calls = {**self.calls, match: replace(call, begun=True)}
                return replace(
                    self, state=state, calls=MappingProxyType(calls), registration=self.registration.freeze()
                )
            case Reported():
                return self._reported(fact, t)
            case Retracted(order=order) | Rejected(order=order):
                report = self._report(order)
                settled = self.settled | {order} if isinstance(fact, Rejected) else self.settled
                calls = _without(self.calls, report.fact.match) if isinstance(fact, Rejected) else self.calls
                return replace(self, reports=_without(self.reports, order), settled=settled, calls=calls)
            case Confirmed(order=order):
                return self._confirmed(self._report(order), t)
            case Result():
                return self._result(fact, t)
            case Corrected():
                state = self.competition.play(self.state, self._action("correct", fact))
                return _pruned(replace(self, state=state))
            case Gone(team=team, why=why):
                state = self.competition.play(self.state, {"do": "withdraw", "team": team, "why": why})
                return _pruned(replace(self, state=state))
            case Absent(player=player, why=why):
                return replace(self, registration=self.registration.leave(plain_name(player), why))
            case Back(player=player):
                return replace(self, registration=self.registration.back(plain_name(player)))
            case Protested(match=match, team=team, text=text):
                pairing = self._pairing(match)
                if plain_name(team) not in pairing.teams:
                    raise IllegalActionError(f"{shown(team)} is not in {match}")
                protest = Protest(len(self.protests) + 1, t, match, plain_name(team), printable(text))
                return replace(self, protests=(*self.protests, protest))
            case Ruled():
                return self._ruled(fact)
            case Announced(text=text):
                return replace(self, announcement=printable(text))
            case Pointed(table=table):
                return replace(self, stream=table)
            case Undone():
                raise InvalidActionError("an undo is told by the history")

    def _planned(self) -> Planned:
        if self.plan is None:
            raise IllegalActionError("nothing is planned yet", "say first what is played, and how")
        return self.plan

    def _not_drawn(self) -> None:
        if self.state.teams:
            raise IllegalActionError("the teams are drawn", "undo the drawing, or withdraw the team that goes")

    def _with_plan(self, plan: Planned) -> Tournament:
        self._not_drawn()
        if self.plan is not None and plan.tournament != self.plan.tournament:
            raise InvalidActionError("this is the plan of another tournament")
        game = registry.game(plan.game, plan.options)  # refuses what it does not have
        if "players" in game.settings:
            raise IllegalActionError(f"{plan.game} is played by players, not by two teams")
        plan = msgspec.structs.replace(plan, title=printable(plan.title).strip() or "Tournament")
        fresh = replace(self, plan=plan, registration=replace(self.registration, roster=type(game).roster))
        roster, former = fresh.registration.roster, self.registration.roster
        if self.plan is not None and roster != former and self.registration.teams:
            raise IllegalActionError("players are registered by another game's roster", "scratch the teams first")
        return fresh

    def _with_teams(self, teams: Sequence[Entry]) -> Tournament:
        self._planned()
        self._not_drawn()
        names = names_of([team.name for team in teams], "team", fewest=1)
        folded = {name.casefold(): name for name in self.entered}
        found = self
        for team, name in zip(teams, names, strict=True):
            if (known := folded.get(name.casefold(), name)) != name:
                raise InvalidActionError(f"two teams are called {shown(known)}", "give one of them another name")
            entered = found.entered if name in found.entered else (*found.entered, name)
            held = {key: players for key, players in found.registration.teams.items() if key != name}
            registration = replace(found.registration, teams=MappingProxyType(held))
            if team.players:
                leader = plain_name(team.leader) if team.leader else None
                registration = registration.register(name, list(team.players), leader)
            found = replace(found, entered=entered, registration=registration)
        names_of(list(found.entered), "team", fewest=1)  # not too many
        return found

    def _without(self, team: str) -> Tournament:
        registration = replace(self.registration, teams=_without(self.registration.teams, team))
        entered = tuple(name for name in self.entered if name != team)
        return replace(self, entered=entered, registration=registration)

    def _entered(self, team: str) -> str:
        if (name := plain_name(team)) not in self.entered:
            raise InvalidActionError(f"there is no team {shown(team)}{nearest(team, self.entered)}")
        return name

    def _drawn(self, fact: Drawn) -> Tournament:
        self._not_drawn()
        if len(self.entered) < 2:
            raise IllegalActionError("fewer than two teams are entered", "enter the teams first")
        if bool(fact.seed) == bool(fact.order):
            raise InvalidActionError("a drawing has a seed, or an order by hand", "give one of the two")
        action: dict[str, Json] = {"do": "enter", "teams": list(self.entered)}
        if fact.seed:
            action["draw"] = fact.seed
        else:
            order = [self._entered(team) for team in fact.order]
            if sorted(order) != sorted(self.entered):
                missing = listed(shown(team) for team in self.entered if team not in order)
                raise InvalidActionError("each team has one place", f"not named: {missing}" if missing else "")
            action["teams"] = order
        competition = self.competition
        return replace(self, state=competition.play(competition.opening, action), seed=fact.seed)

    def _pairing(self, match: str) -> Pairing:
        pairings = (
            {pairing.id: pairing for pairing in self.competition.pairings(self.state)} if self.state.teams else {}
        )
        if match not in pairings:
            raise InvalidActionError(f"there is no match {shown(match)}{nearest(match, pairings)}")
        return pairings[match]

    def _call(self, match: str) -> Call:
        if match not in self.calls:
            raise IllegalActionError(f"{shown(match)} is at no table")
        return self.calls[match]

    def _report(self, order: str) -> Report:
        if order not in self.reports:
            raise IllegalActionError("no such result waits", "look again: it may count already")
        return self.reports[order]

    def _assigned(self, fact: Assigned, t: float) -> Tournament:
        pairing = self._pairing(fact.match)
        if not pairing.open:
            raise IllegalActionError(f"{fact.match} is not ready")
        teams = cast("tuple[str, str]", pairing.teams)
        calls = {match: call for match, call in self.calls.items() if match != fact.match}
        if (before := self.calls.get(fact.match)) is not None and before.begun:
            raise IllegalActionError(f"{fact.match} has begun at {before.table}")
        for call in calls.values():
            if call.table == fact.table:
                raise IllegalActionError(f"{call.match} is at {fact.table}", "recall it first, or choose another table")
            if busy := set(call.teams) & set(teams):
                raise IllegalActionError(f"{shown(busy.pop())} plays {call.match} at {call.table}")
            if fact.judge and call.judge == fact.judge:
                raise IllegalActionError(f"{shown(fact.judge)} judges {call.match} at {call.table}")
        if fact.judge:
            playing = [team for call in calls.values() for team in call.teams]
            if not may_judge(self.registration, fact.judge, teams, playing):
                raise IllegalActionError(f"{shown(fact.judge)} cannot judge {fact.match}", "a judge is of neither team")
        if missing := self.registration.missing(teams):
            raise IllegalActionError(f"nobody is left to play for {missing}", "withdraw the team")
        calls[fact.match] = Call(fact.match, teams, fact.table, fact.judge, fact.order, t)
        return replace(self, calls=MappingProxyType(calls))

    def _reported(self, fact: Reported, t: float) -> Tournament:
        pairing = self._pairing(fact.match)
        if fact.order in self.settled or fact.order in self.reports:
            raise IllegalActionError(f"the result of {fact.match} is known")
        if not pairing.open:
            why = f"{shown(pairing.winner)} won it" if pairing.winner else "other matches come first"
            raise IllegalActionError(f"{fact.match} is not to be played: {why}")
        if fact.winner not in pairing.teams:
            raise IllegalActionError(f"{shown(fact.winner)} is not in {fact.match}")
        call = self.calls.get(fact.match)
        expected = call is not None and call.table == fact.table and self.order(call) == fact.order
        return replace(self, reports=MappingProxyType({**self.reports, fact.order: Report(fact, t, expected)}))

    def _confirmed(self, report: Report, t: float) -> Tournament:
        fact = report.fact
        held = next((protest for protest in self.open_protests if protest.match == fact.match), None)
        if held is not None:
            raise IllegalActionError(
                f"the protest of {shown(held.team)} about {fact.match} is not decided", "the committee decides it first"
            )
        call = self.calls.get(fact.match)
        source = Source(fact.table, fact.epoch, fact.order, call.judge if call is not None else "", t)
        found = self._counted(fact.match, self._action("result", fact), source, t)
        found = replace(found, reports=_without(found.reports, fact.order), settled=found.settled | {fact.order})
        return _pruned(found)

    def _result(self, fact: Result, t: float) -> Tournament:
        call = self.calls.get(fact.match)
        source = Source("", "", self.order(call) if call else "", call.judge if call else "", t)
        found = self._counted(fact.match, self._action("result", fact), source, t)
        settled = found.settled | {source.order} if source.order else found.settled
        return _pruned(replace(found, settled=settled))

    def _counted(self, match: str, action: Mapping[str, Json], source: Source, t: float) -> Tournament:
        pairing = self._pairing(match)
        state = self.competition.play(self.state, action)
        ended = {**self.ended, **{team: t for team in pairing.teams if team is not None}}
        sources = {**self.sources, match: (*self.sources.get(match, ()), source)}
        return replace(
            self,
            state=state,
            ended=MappingProxyType(ended),
            sources=MappingProxyType(sources),
            registration=self.registration.freeze(),
        )

    @staticmethod
    def _action(do: str, fact: Reported | Result | Corrected) -> dict[str, Json]:
        action: dict[str, Json] = {"do": do, "match": fact.match, "winner": fact.winner}
        action |= {"sweep": True} if fact.sweep else {}
        action |= {"sticks": dict(fact.sticks)} if fact.sticks else {}
        if isinstance(fact, Corrected):
            action |= {"game": fact.game} if fact.game is not None else {}
            action |= {"then": fact.then} if fact.then is not None else {}
        return action

    def _ruled(self, fact: Ruled) -> Tournament:
        known = next((protest for protest in self.open_protests if protest.number == fact.protest), None)
        if known is None:
            raise IllegalActionError("there is no such protest open")
        ruled = replace(known, ruling=fact.ruling, reason=printable(fact.reason))
        return replace(self, protests=tuple(ruled if one is known else one for one in self.protests))


def _pruned(found: Tournament) -> Tournament:
    """Return the tournament without calls and reports of matches that are not to be played any more."""
    state = found.state
    pairings = {pairing.id: pairing for pairing in found.competition.pairings(state)}

    def stands(match: str, teams: tuple[str, str] | None = None) -> bool:
        pairing = pairings.get(match)
        return pairing is not None and pairing.open and teams in (None, pairing.teams)

    calls = {
        match: replace(call, begun=match in state.begun)
        for match, call in found.calls.items()
        if stands(match, call.teams)
    }
    reports = {order: report for order, report in found.reports.items() if stands(report.fact.match)}
    sources = {match: those[: len(state.games.get(match, ()))] for match, those in found.sources.items()}
    return replace(
        found,
        calls=MappingProxyType(calls),
        reports=MappingProxyType(reports),
        sources=MappingProxyType({match: those for match, those in sources.items() if those}),
    )


def _without(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return MappingProxyType({one: value for one, value in found.items() if one != key})


@cache
def _competition(kind: Format, best_of: int, withdrawn: Any, play_off: Any) -> Competition:
    if kind == "round_robin":
        return RoundRobin(best_of, withdrawn=withdrawn, play_off=play_off)
    return Elimination(kind, best_of)


class History:
    """All decisions of a tournament, in order. `now` is what they make of it. Raises as `Tournament.after`."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self._after: list[Tournament] = []
        self._gone = frozenset[int]()
        for decision in decisions:
            self._take(decision)

    @property
    def now(self) -> Tournament:
        """The tournament as it stands."""
        return self._after[-1] if self._after else Tournament()

    @property
    def effective(self) -> list[Decision]:
        """The decisions that count, undos left out."""
        return [one for one in self.decisions if one.seq not in self._gone and not isinstance(one.fact, Undone)]

    def next(self, t: float, actor: str, fact: Fact) -> Decision:
        """Return what `fact` would be as the next decision; it can be added. Raises where it cannot be."""
        decision = Decision(len(self.decisions) + 1, t, actor, fact)
        self._told(decision)
        return decision

    def add(self, decision: Decision) -> Tournament:
        """Take `decision`, of `next` or read from where it was kept; return what it makes of the tournament."""
        self._take(decision)
        return self.now

    def undo(self, reason: str = "") -> Undone:
        """Return the undo of the last decision that somebody made. Raises `IllegalActionError` where it cannot be."""
        target = self.undoable
        if target is None:
            raise IllegalActionError("there is nothing to take back")
        now, lapsed = self._before(target.seq), list[int]()
        for decision in self.effective:
            if decision.seq > target.seq:
                try:
                    now = now.after(decision)
                except MatError:
                    if isinstance(decision.fact, _PLAYED):
                        raise IllegalActionError(
                            "people have played on by it", "correct the result, and say what then"
                        ) from None
                    lapsed.append(decision.seq)
        return Undone((target.seq, *lapsed), reason)

    @property
    def undoable(self) -> Decision | None:
        """The last decision that somebody made and that counts."""
        return next((one for one in reversed(self.effective) if one.actor != HUB), None)

    def _before(self, seq: int) -> Tournament:
        """Return the tournament of what now counts of the decisions before `seq`."""
        now = Tournament()
        for decision in self.effective:
            if decision.seq < seq:
                now = now.after(decision)
        return now

    def _take(self, decision: Decision) -> None:
        now, gone = self._told(decision)
        self.decisions.append(decision)
        self._after.append(now)
        self._gone = gone

    def _told(self, decision: Decision) -> tuple[Tournament, frozenset[int]]:
        if decision.seq != len(self.decisions) + 1:
            raise InvalidActionError(f"decision {len(self.decisions) + 1} is missing")
        if not isinstance(decision.fact, Undone):
            return self.now.after(decision), self._gone
        taken_back = set(decision.fact.taken_back)
        known = {one.seq for one in self.effective}
        if not taken_back or not taken_back <= known:
            raise IllegalActionError("what is to be taken back does not count any more")
        now = self._before(min(taken_back))
        for one in self.effective:
            if one.seq > min(taken_back) and one.seq not in taken_back:
                now = now.after(one)
        return now, self._gone | taken_back
