"""The director's tournament: applies decisions to the state: entries, drawing, matches at tables, results, protests.

Decisions of people and of the hub are frozen facts (`decisions`); `Tournament.after` returns the tournament after one
more of them, is pure, and refuses invalid ones.

A table's result is first *reported*. It counts when somebody confirms it, or at once, depending on the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

import msgspec

from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError, Roster
from pi_controller.text import did_you_mean, format_value, join_words, mark, normalize_name, strip_controls
from pi_controller.tournament import decisions as d
from pi_controller.tournament.actions import AddTeam, EnterTeams
from pi_controller.tournament.competition import Competition, Pairing, TournamentState
from pi_controller.tournament.schedule import (
    Assignment,
    Break,
    Hall,
    Waiting,
    assign,
    end_without_breaks,
    may_judge,
)
from pi_controller.tournament.team_names import parse_names
from pi_controller.tournament.teams import Registration

_NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_BREAKS = 20
MAX_BREAK_S = 90_000.0
"""25 hours: a day on which summer time ends."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """The plan, the teams, their matches and results. Times of calls and results are s since 1970."""

    plan: d.Planned | None = None
    entered: tuple[str, ...] = ()
    registration: Registration = field(default_factory=lambda: Registration(Roster()))
    seed: str = ""
    state: TournamentState = field(default_factory=TournamentState)
    calls: Mapping[str, d.Call] = field(default_factory=lambda: _NOTHING)
    reports: Mapping[str, d.Report] = field(default_factory=lambda: _NOTHING)
    settled: frozenset[str] = frozenset()
    """Orders whose games have been counted or rejected, or go on at another table."""
    moved: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """The table at which the game of an order goes on, by order."""
    sources: Mapping[str, tuple[d.MatchSource, ...]] = field(default_factory=lambda: _NOTHING)
    """The source of each game, by match."""
    ended: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    freed: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Time since which the table has been free, by table, if it had a match before."""
    used: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """Number of matches begun, by table."""
    unused: frozenset[str] = frozenset()
    protests: tuple[d.MatchProtest, ...] = ()
    announcement: str = ""
    stream: str = ""
    clock: d.MatchRound | None = None
    """The clock that was set last."""
    breaks: tuple[Break, ...] = ()
    """The breaks that were not cancelled, in the order of their numbers."""
    ahead_s: float = 0.0
    """How far the machine's clock was set ahead of the one that measures the tournament."""
    here: frozenset[str] = frozenset()
    """The teams whose captains have checked in."""
    said: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """How the names of teams are said, by team."""
    present_names: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """The present names of teams, by their former ones."""
    last_break: int = 0
    durations: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Time from the call of each played match until its table was free (s)."""

    @property
    def competition(self) -> Competition:
        """The competition of the plan. Raises `IllegalActionError` if there is no plan."""
        return d.make_competition(self._require_plan())

    @property
    def champion(self) -> str | None:
        """The winner of the tournament; None while it is open."""
        return self.competition.champion(self.state) if self.state.teams else None

    @property
    def is_over(self) -> bool:
        """True if all matches are decided."""
        return bool(self.state.teams) and self.competition.is_over(self.state)

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """All matches known so far, each after those it depends on; none before the draw."""
        return self.competition.pairings(self.state) if self.state.teams else ()

    @property
    def ready(self) -> tuple[Pairing, ...]:
        """The matches that can be played or are being played."""
        return tuple(pairing for pairing in self.pairings if pairing.open)

    @property
    def open_protests(self) -> tuple[d.MatchProtest, ...]:
        """The protests that the committee has not decided: they hold the matches of both teams."""
        return tuple(protest for protest in self.protests if not protest.ruling)

    def team_name(self, name: str) -> str:
        """Return the present name of a team, by one that it has or had."""
        return self.present_names.get(name, name)

    def current_order(self, call: d.Call) -> str:
        """Return the id of the game of `call` to be played now: each game of a match has its own."""
        return f"{call.order}-{sum(order.startswith(f'{call.order}-') for order in self.settled) + 1}"

    def schedule(
        self, tables: Sequence[str], now: float, sitting: frozenset[str] = frozenset()
    ) -> tuple[tuple[Assignment, ...], tuple[Waiting, ...]]:
        """Return the matches to call to `tables` at `now`, and those that wait with the reason, the next one first.

        The teams `sitting` still play a game that no longer counts: they are not called.
        """
        plan = self._require_plan()
        playing = tuple(Assignment(call.match, call.teams, call.table, call.judge) for call in self.calls.values())
        judged = Counter(source.judge for sources in self.sources.values() for source in sources)
        usable = tuple(table for table in tables if table not in self.unused)
        hall = Hall(
            usable,
            playing,
            ended=self.ended,
            judged=judged,
            used=self.used,
            freed=self.freed,
            rest=plan.rest_s,
            sitting=sitting,
            held=frozenset(team for protest in self.open_protests for team in protest.teams),
            own_judges=plan.judges == "tables",
            breaks=self.breaks,
        )
        ready = self.ready
        if plan.clock == "round":  # teams that finish a round early wait for the others
            ready = tuple(pairing for pairing in ready if pairing.round == self.round)
        return assign(hall, self.registration, ready, now)

    def call_deadline(self, call: d.Call) -> float | None:
        """Return the time until which the teams of `call` may come to the table, s since 1970; None without limit.

        The time stops in a break.
        """
        plan = self.plan
        if plan is None or not plan.grace_s or call.started:
            return None
        return end_without_breaks(self.breaks, call.t, plan.grace_s)

    def overdue_calls(self, now: float) -> tuple[d.Call, ...]:
        """Return the calls whose teams have not begun in time; the director decides about a no-show (chapter 12)."""
        return tuple(
            call for call in self.calls.values() if (ends := self.call_deadline(call)) is not None and ends < now
        )

    @property
    def round(self) -> int:
        """The current round: the first with an undecided match; 0 without one."""
        return min((pairing.round for pairing in self.ready), default=0)

    @property
    def minutes(self) -> int | None:
        """The time of a round's clock; None if each game has its own time."""
        plan = self.plan
        if plan is None or plan.clock != "round":
            return None
        return registry.game(plan.game, plan.options).minutes

    @property
    def round_clock(self) -> d.MatchRound | None:
        """The clock of the current round; None without one."""
        return self.clock_of(self.round) if self.round else None

    def clock_of(self, number: int) -> d.MatchRound | None:
        """Return the clock of a round, full and stopped before it is started; None if rounds have no clock."""
        minutes = self.minutes
        if minutes is None:
            return None
        known = self.clock
        return known if known is not None and known.round == number else d.MatchRound(number, 60.0 * minutes)

    def pairing(self, match: str) -> Pairing:
        """Return the match with this id. Raises `InvalidActionError`."""
        pairings = {pairing.id: pairing for pairing in self.pairings}
        if match not in pairings:
            raise InvalidActionError(
                "there is no match {match}{suggestion}",
                match=format_value(match),
                suggestion=did_you_mean(match, pairings),
            )
        return pairings[match]

    def _require_plan(self) -> d.Planned:
        if self.plan is None:
            raise IllegalActionError("there is no plan yet", "plan the tournament first")
        return self.plan

    def after(self, decision: d.Decision) -> Tournament:
        """Return the tournament after `decision`. Raises `InvalidActionError` and `IllegalActionError`."""
        found = self._apply_fact(decision)
        left = {call.table for call in self.calls.values()} - {call.table for call in found.calls.values()}
        if not left:
            return found
        over = isinstance(decision.fact, d.Confirmed | d.Result | d.TieEntered)
        played = {match: decision.t - call.t for match, call in self.calls.items() if over and match not in found.calls}
        return replace(
            found,
            freed=MappingProxyType({**self.freed, **dict.fromkeys(left, decision.t)}),
            durations=MappingProxyType({**self.durations, **played}),
        )

    def _apply_fact(self, decision: d.Decision) -> Tournament:
        _, t, _, fact = decision
        match fact:
            case d.Planned():
                return self._with_plan(fact)
            case d.SettingsChanged():
                return self._change_settings(fact)
            case d.Entered(teams=teams):
                return self._with_teams(teams)
            case d.Scratched():
                self._not_drawn()
                team = self._find_team(fact.team)
                registration = replace(self.registration, teams=_without(self.registration.teams, team))
                entered = tuple(name for name in self.entered if name != team)
                here, said = self.here - {team}, _without(self.said, team)
                return replace(self, entered=entered, registration=registration, here=here, said=said)
            case d.TeamAdded(team=entry):
                return self._add_team(entry)
            case d.TeamRenamed():
                return self._rename_team(fact)
            case d.TeamsDrawn():
                return self._draw_teams(fact)
            case d.Appointed(judges=judges):
                found = self.registration
                for judge in parse_names(judges, "judge", 1, known=found.judges):
                    found = found.appoint(judge)
                return replace(self, registration=found)
            case d.Dismissed(judge=judge):
                if judge not in self.registration.judges:
                    raise InvalidActionError("{judge} is not a judge", judge=format_value(judge))
                return replace(self, registration=self.registration.dismiss(judge))
            case d.TableUsed(table=table, on=on):
                return replace(self, unused=self.unused - {table} if on else self.unused | {table})
            case d.Assigned():
                return self._assign_match(fact, t)
            case d.Recalled(match=match):
                call = self._call(match)
                if call.started:
                    raise IllegalActionError(
                        "{match} has begun", "end it at the table, or enter its result", match=match
                    )
                return replace(self, calls=_without(self.calls, match))
            case d.Moved():
                return self._move_match(fact)
            case d.MatchStarted(match=match):
                call = self._call(match)
                return replace(
                    self,
                    state=self.competition.play(self.state, fact),
                    calls=MappingProxyType({**self.calls, match: replace(call, started=True)}),
                    used=MappingProxyType({**self.used, call.table: self.used.get(call.table, 0) + 1}),
                    registration=self.registration.freeze(),
                )
            case d.Reported():
                return self._add_report(fact, t)
            case d.Retracted(order=order):
                self._report(order)
                return replace(self, reports=_without(self.reports, order))
            case d.Rejected(order=order):
                calls = _without(self.calls, self._report(order).fact.match)
                settled = self.settled | {order}
                return replace(self, reports=_without(self.reports, order), settled=settled, calls=calls)
            case d.Confirmed(order=order):
                return self._confirm_report(self._report(order), t)
            case d.Result() | d.TieEntered():
                return self._settled_by_hand(fact, t)
            case d.MatchClockSet():
                return replace(self, clock=self._clock_set(fact, t))
            case d.Replayed(match=match):
                reports = {order: one for order, one in self.reports.items() if one.fact.match != match}
                calls = _without(self.calls, match)
                return _drop_closed_matches(
                    replace(
                        self,
                        state=self.competition.play(self.state, fact),
                        reports=MappingProxyType(reports),
                        calls=calls,
                    )
                )
            case d.Corrected() | d.Forfeited() | d.TeamWithdrawn() | d.Reinstated():
                return _drop_closed_matches(replace(self, state=self.competition.play(self.state, fact)))
            case d.PlayerAbsent(player=player, why=why):
                return replace(self, registration=self.registration.leave(normalize_name(player), why))
            case d.PlayerReturned(player=player):
                return replace(self, registration=self.registration.return_player(normalize_name(player)))
            case d.Protested():
                return self._add_protest(fact, t)
            case d.ProtestDecided():
                return self._decide_protest(fact)
            case d.BreakPlanned():
                return self._add_break(fact)
            case d.BreakCancelled(number=number):
                if all(one.number != number for one in self.breaks):
                    raise IllegalActionError("there is no such break")
                # one that has begun ends now: until then the grace of the calls has stopped
                breaks = (replace(one, ends=min(one.ends, t)) if one.number == number else one for one in self.breaks)
                return replace(self, breaks=tuple(one for one in breaks if one.begins < one.ends))
            case d.MachineClockSet():
                return self._move_breaks(fact.by_s, t)
            case d.CheckedIn(here=here):
                team = self._find_team(fact.team)
                return replace(self, here=self.here | {team} if here else self.here - {team})
            case d.Pronounced(said=said):
                team, said = self._find_team(fact.team), strip_controls(said).strip()
                kept = _without(self.said, team)
                return replace(self, said=MappingProxyType({**kept, team: said}) if said else kept)
            case d.Announced(text=text):
                return replace(self, announcement=strip_controls(text))
            case d.StreamTableChosen(table=table):
                return replace(self, stream=table)
            case d.DecisionUndone():
                raise InvalidActionError("only the history can apply an undo")

    def _not_drawn(self) -> None:
        if self.state.teams:
            raise IllegalActionError("the teams are drawn", "undo the draw, or withdraw the team")

    def _with_plan(self, plan: d.Planned) -> Tournament:
        self._not_drawn()
        if self.plan is not None and plan.tournament != self.plan.tournament:
            raise InvalidActionError("this is the plan of another tournament")
        game = registry.game(plan.game, plan.options)  # refuses unknown options
        if "players" in game.settings:
            raise IllegalActionError("{game} is played by players, not by two teams", game=plan.game)
        if plan.clock == "round" and (game.minutes is None or plan.format != "round_robin"):
            raise IllegalActionError(
                "one clock for all tables of a round needs a round robin and a game with a time limit",
                "choose slahal and round robin, or one clock for each game",
            )
        plan = msgspec.structs.replace(plan, title=strip_controls(plan.title).strip() or "Tournament")
        known, roster = self.registration, type(game).roster
        registration = replace(known, roster=roster)
        if self.plan is None:  # teams may be entered before the game is chosen: now its roster counts for them
            for team, players in known.teams.items():
                leader = known.leaders.get(team, players[0] if roster.leader else None)
                registration = registration.register(team, players, leader)
        elif roster != known.roster and known.teams:
            raise IllegalActionError("players are registered by another game's roster", "take the teams out first")
        return replace(self, plan=plan, registration=registration)

    def _change_settings(self, fact: d.SettingsChanged) -> Tournament:
        chosen = {field: value for field in fact.__struct_fields__ if (value := getattr(fact, field)) is not None}
        if not chosen:
            raise InvalidActionError("no setting is named", "choose at least one")
        return replace(self, plan=msgspec.structs.replace(self._require_plan(), **chosen))

    def _with_teams(self, teams: Sequence[d.Entry]) -> Tournament:
        self._not_drawn()
        names = parse_names([team.name for team in teams], "team", fewest=1, known=self.entered)
        found = self
        for team, name in zip(teams, names, strict=True):
            entered = found.entered if name in found.entered else (*found.entered, name)
            held = {key: players for key, players in found.registration.teams.items() if key != name}
            registration = replace(found.registration, teams=MappingProxyType(held))
            if team.players:
                leader = normalize_name(team.leader) if team.leader else None
                registration = registration.register(name, list(team.players), leader)
            found = replace(found, entered=entered, registration=registration)
        parse_names(found.entered, "team", fewest=1)  # not too many
        return found

    def _add_team(self, entry: d.Entry) -> Tournament:
        if not self.state.teams:
            raise IllegalActionError("the teams are not drawn yet", "enter the team")
        name = self._parse_new_name(entry.name)
        state = self.competition.play(self.state, AddTeam(name))
        registration = self.registration
        if entry.players:
            leader = normalize_name(entry.leader) if entry.leader else None
            late = replace(registration, frozen=False).register(name, list(entry.players), leader)
            registration = replace(late, frozen=registration.frozen)
        added = replace(self, state=state, entered=(*self.entered, name), registration=registration)
        return _drop_closed_matches(added)

    def _rename_team(self, fact: d.TeamRenamed) -> Tournament:
        team = self._find_team(fact.team)
        name = self._parse_new_name(fact.name, team)

        def new_name(one: str) -> str:
            return name if one == team else one

        def rename_pair(teams: tuple[str, str]) -> tuple[str, str]:
            return new_name(teams[0]), new_name(teams[1])

        def rename_keys(found: Mapping[str, Any]) -> Mapping[str, Any]:
            return MappingProxyType({new_name(one): value for one, value in found.items()})

        def rename_report(report: d.Report) -> d.Report:
            sticks = dict(rename_keys(report.fact.sticks))
            return replace(
                report, fact=msgspec.structs.replace(report.fact, winner=new_name(report.fact.winner), sticks=sticks)
            )

        registration = self.registration
        former_names = {one: new_name(now) for one, now in self.present_names.items() if one != name}
        return replace(
            self,
            entered=tuple(map(new_name, self.entered)),
            registration=replace(
                registration, teams=rename_keys(registration.teams), leaders=rename_keys(registration.leaders)
            ),
            state=self.competition.play(self.state, fact) if self.state.teams else self.state,
            calls=MappingProxyType(
                {match: replace(call, teams=rename_pair(call.teams)) for match, call in self.calls.items()}
            ),
            reports=MappingProxyType({order: rename_report(report) for order, report in self.reports.items()}),
            ended=rename_keys(self.ended),
            protests=tuple(
                replace(one, team=new_name(one.team), teams=rename_pair(one.teams)) for one in self.protests
            ),
            here=frozenset(map(new_name, self.here)),
            said=rename_keys(self.said),
            present_names=MappingProxyType({**former_names, team: name}),
        )

    def _parse_new_name(self, value: str, team: str | None = None) -> str:
        """Return a name that no other team than `team` has or had: a table may still report by a former name."""
        others = [*self.entered, *self.present_names]
        others = [one for one in others if self.team_name(one) != team]
        (name,) = parse_names([value], "team", fewest=1, known=others)
        if name in others or name == team:
            raise IllegalActionError("a team is or was called {name}", "choose another name", name=format_value(name))
        return name

    def _find_team(self, team: str) -> str:
        if (name := normalize_name(team)) not in self.entered:
            raise InvalidActionError(
                "there is no team {team}{suggestion}",
                team=format_value(team),
                suggestion=did_you_mean(team, self.entered),
            )
        return name

    def _draw_teams(self, fact: d.TeamsDrawn) -> Tournament:
        self._not_drawn()
        if len(self.entered) < 2:
            raise IllegalActionError("fewer than two teams are entered", "enter the teams first")
        if bool(fact.seed) == bool(fact.order):
            raise InvalidActionError("a draw needs a seed or an order by hand", "use one of the two")
        order = list(self.entered)
        if not fact.seed:
            order = [self._find_team(team) for team in fact.order]
            if sorted(order) != sorted(self.entered):
                missing = join_words(format_value(team) for team in self.entered if team not in order)
                hint = mark("these teams are missing: {teams}") if missing else ""
                raise InvalidActionError("each team has one place", hint, teams=missing)
        competition, action = self.competition, EnterTeams(tuple(order), fact.seed)
        return replace(self, state=competition.play(competition.opening, action), seed=fact.seed)

    def _call(self, match: str) -> d.Call:
        if match not in self.calls:
            raise IllegalActionError("{match} is not at a table", match=match)
        return self.calls[match]

    def _report(self, order: str) -> d.Report:
        if order not in self.reports:
            raise IllegalActionError("there is no such result to confirm", "reload the page: it may have been counted")
        return self.reports[order]

    def _assign_match(self, fact: d.Assigned, t: float) -> Tournament:
        pairing = self.pairing(fact.match)
        if not pairing.open:
            raise IllegalActionError("{match} is not ready", match=fact.match)
        teams = cast("tuple[str, str]", pairing.teams)
        self._reject_held(teams)
        calls = {match: call for match, call in self.calls.items() if match != fact.match}
        if (before := self.calls.get(fact.match)) is not None and before.started:
            raise IllegalActionError("{match} has begun at {table}", match=fact.match, table=before.table)
        for call in calls.values():
            if call.table == fact.table:
                raise IllegalActionError(
                    "{match} is at {table}",
                    "recall it first, or choose another table",
                    match=call.match,
                    table=call.table,
                )
            if busy := set(call.teams) & set(teams):
                raise IllegalActionError(
                    "{team} plays {match} at {table}", team=format_value(busy.pop()), match=call.match, table=call.table
                )
            if fact.judge and call.judge == fact.judge:
                raise IllegalActionError(
                    "{judge} judges {match} at {table}",
                    judge=format_value(fact.judge),
                    match=call.match,
                    table=call.table,
                )
        if fact.judge:
            playing = [team for call in calls.values() for team in call.teams]
            if not may_judge(self.registration, fact.judge, teams, playing):
                raise IllegalActionError(
                    "{judge} cannot judge {match}",
                    "a judge must be in neither team",
                    judge=format_value(fact.judge),
                    match=fact.match,
                )
        if missing := self.registration.teams_without_players(teams):
            raise IllegalActionError("there are no players left for {missing}", "withdraw the team", missing=missing)
        calls[fact.match] = d.Call(fact.match, teams, fact.table, fact.judge, fact.order, t)
        return replace(self, calls=MappingProxyType(calls))

    def _move_match(self, fact: d.Moved) -> Tournament:
        call = self._call(fact.match)
        if not call.started:
            raise IllegalActionError(
                "{match} has not begun", "recall it, then call it to another table", match=fact.match
            )
        if (order := self.current_order(call)) in self.reports:
            raise IllegalActionError("the game of {match} is over", "confirm or reject its result", match=fact.match)
        if (other := next((one for one in self.calls.values() if one.table == fact.table), None)) is not None:
            raise IllegalActionError(
                "{match} is at {table}", "choose another table", match=other.match, table=fact.table
            )
        return replace(
            self,
            calls=MappingProxyType(
                {**self.calls, fact.match: replace(call, table=fact.table, order=fact.order, sheet=fact.sheet)}
            ),
            settled=self.settled | {order},
            moved=MappingProxyType({**self.moved, order: fact.table}),
            used=MappingProxyType({**self.used, fact.table: self.used.get(fact.table, 0) + 1}),
            unused=self.unused | {call.table} if fact.unused else self.unused,
        )

    def _add_report(self, fact: d.Reported, t: float) -> Tournament:
        pairing = self.pairing(fact.match)
        if fact.order in self.settled or fact.order in self.reports:
            raise IllegalActionError("the result of {match} is known", match=fact.match)
        if not pairing.open:
            why = f"{format_value(pairing.winner)} won it" if pairing.winner else "other matches come first"
            raise IllegalActionError("{match} cannot be played: {why}", match=fact.match, why=why)
        if fact.winner not in pairing.teams:
            raise IllegalActionError("{winner} is not in {match}", winner=format_value(fact.winner), match=fact.match)
        call = self.calls.get(fact.match)
        expected = call is not None and call.table == fact.table and self.current_order(call) == fact.order
        return replace(self, reports=MappingProxyType({**self.reports, fact.order: d.Report(fact, t, expected)}))

    def _confirm_report(self, report: d.Report, t: float) -> Tournament:
        fact = report.fact
        call = self.calls.get(fact.match)
        source = d.MatchSource(fact.table, fact.epoch, fact.order, call.judge if call is not None else "", t)
        result = d.Result(fact.match, fact.winner, fact.sweep, fact.sticks, fact.finish)
        found = self._count_result(result, source, t)
        found = replace(found, reports=_without(found.reports, fact.order), settled=found.settled | {fact.order})
        return _drop_closed_matches(found)

    def _settled_by_hand(self, fact: d.Result | d.TieEntered, t: float) -> Tournament:
        call = self.calls.get(fact.match)
        source = d.MatchSource("", "", self.current_order(call) if call else "", call.judge if call else "", t)
        found = self._count_result(fact, source, t)
        settled = found.settled | {source.order} if source.order else found.settled
        return _drop_closed_matches(replace(found, settled=settled))

    def _clock_set(self, fact: d.MatchClockSet, t: float) -> d.MatchRound:
        clock, known = self.clock_of(fact.round), self.clock
        if clock is None:
            raise IllegalActionError("each game has its own clock", "plan the tournament with one clock for a round")
        if known is not None and known.round != fact.round and known.since is not None and known.remaining_s(t) > 0:
            raise IllegalActionError(
                "the clock of round {round} is running", "stop it first, or wait for its end", round=known.round
            )
        if not fact.running:
            if clock.since is None or clock.remaining_s(t) <= 0:
                raise IllegalActionError("the clock of round {round} is not running", round=fact.round)
            return d.MatchRound(fact.round, clock.remaining_s(t))
        if clock.since is not None and clock.remaining_s(t) > 0:
            raise IllegalActionError("the clock of round {round} is already running", round=fact.round)
        if not any(pairing.round == fact.round for pairing in self.ready):
            raise IllegalActionError("round {round} has no match to be played", round=fact.round)
        left = clock.left_s if clock.since is None else 60.0 * (self.minutes or 0)
        return d.MatchRound(fact.round, left, t)

    def _add_break(self, fact: d.BreakPlanned) -> Tournament:
        if not 0 < fact.ends - fact.begins <= MAX_BREAK_S:
            raise InvalidActionError("a break must end after it begins, at most 25 hours later", "enter other times")
        if len(self.breaks) >= MAX_BREAKS:
            raise IllegalActionError("there are {max_breaks} breaks", "cancel one first", max_breaks=MAX_BREAKS)
        number = self.last_break + 1
        planned = Break(number, fact.begins, fact.ends, strip_controls(fact.why).strip())
        return replace(self, breaks=(*self.breaks, planned), last_break=number)

    def _move_breaks(self, by_s: float, t: float) -> Tournament:
        """Let breaks keep their time of day; what is over of them stays, for the grace of calls stopped in it."""
        over = [replace(one, ends=min(one.ends, t)) for one in self.breaks if one.begins < t]
        moved = (
            replace(one, begins=max(t, one.begins - by_s), ends=one.ends - by_s) for one in self.breaks if one.ends > t
        )
        breaks = *over, *(one for one in moved if one.begins < one.ends)
        return replace(self, breaks=breaks, ahead_s=self.ahead_s + by_s)

    def _count_result(self, fact: d.Result | d.TieEntered, source: d.MatchSource, t: float) -> Tournament:
        match, pairing = fact.match, self.pairing(fact.match)
        self._reject_held(pairing.teams)
        state = self.competition.play(self.state, fact)
        ended = {**self.ended, **{team: t for team in pairing.teams if team is not None}}
        sources = {**self.sources, match: (*self.sources.get(match, ()), source)}
        return replace(
            self,
            state=state,
            ended=MappingProxyType(ended),
            sources=MappingProxyType(sources),
            registration=self.registration.freeze(),
        )

    def _reject_held(self, teams: Sequence[str | None]) -> None:
        """Raise `IllegalActionError` if a protest about a match of one of these teams is open."""
        for protest in self.open_protests:
            if not set(protest.teams).isdisjoint(teams):
                raise IllegalActionError(
                    "the protest of {team} about {match} is not decided",
                    "the committee decides it first",
                    team=format_value(protest.team),
                    match=protest.match,
                )

    def _add_protest(self, fact: d.Protested, t: float) -> Tournament:
        pairing, team = self.pairing(fact.match), normalize_name(fact.team)
        if not team or team not in pairing.teams:
            raise IllegalActionError("{team} is not in {match}", team=format_value(fact.team), match=fact.match)
        teams = cast("tuple[str, str]", tuple(one or "" for one in pairing.teams))
        protest = d.MatchProtest(len(self.protests) + 1, t, fact.match, teams, team, strip_controls(fact.text))
        calls = {  # their next matches are recalled
            match: call
            for match, call in self.calls.items()
            if call.started or match == fact.match or {*call.teams}.isdisjoint(teams)
        }
        return replace(self, protests=(*self.protests, protest), calls=MappingProxyType(calls))

    def _decide_protest(self, fact: d.ProtestDecided) -> Tournament:
        known = next((protest for protest in self.open_protests if protest.number == fact.protest), None)
        if known is None:
            raise IllegalActionError("there is no such protest open")
        ruled = replace(known, ruling=fact.ruling, reason=strip_controls(fact.reason))
        return replace(self, protests=tuple(ruled if one is known else one for one in self.protests))


def _drop_closed_matches(found: Tournament) -> Tournament:
    """Return the tournament without calls and reports of matches that are no longer open."""
    state, teams = found.state, {pairing.id: pairing.teams for pairing in found.ready}
    calls = {
        match: replace(call, started=match in state.started)
        for match, call in found.calls.items()
        if teams.get(match) == call.teams
    }
    reports = {order: report for order, report in found.reports.items() if report.fact.match in teams}
    sources = {match: those[: len(state.games.get(match, ()))] for match, those in found.sources.items()}
    return replace(
        found,
        calls=MappingProxyType(calls),
        reports=MappingProxyType(reports),
        sources=MappingProxyType({match: those for match, those in sources.items() if those}),
    )


def _without(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return MappingProxyType({one: value for one, value in found.items() if one != key})
