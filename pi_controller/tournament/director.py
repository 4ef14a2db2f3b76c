"""The director's tournament: who is entered, the drawing, matches at tables, results, protests; a fold of decisions.

What people and the hub decide are frozen facts (`decisions`), one after the other; `Tournament.after` is the tournament
after one more, pure, and refuses what cannot be.

A result of a table is first *reported*. It counts when somebody confirms it, or at once, as the plan says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import msgspec

from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError, InvalidActionError, Json
from pi_controller.games.wording import listed, nearest, printable, shown
from pi_controller.tournament.decisions import (
    Absent,
    Announced,
    Appointed,
    Assigned,
    Back,
    Begun,
    Call,
    ClockSet,
    Confirmed,
    Corrected,
    Decision,
    Dismissed,
    Drawn,
    Entered,
    Entry,
    Gone,
    Planned,
    Pointed,
    Protest,
    Protested,
    Recalled,
    Reinstated,
    Rejected,
    Report,
    Reported,
    Result,
    Retracted,
    RoundClock,
    Ruled,
    Scratched,
    Source,
    TableUsed,
    Tied,
    Undone,
)
from pi_controller.tournament.schedule import may_judge
from pi_controller.tournament.team_names import names_of, plain_name
from pi_controller.tournament.tournament_state import TournamentState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Tournament(TournamentState):
    """A tournament and what decisions make of it."""

    def after(self, decision: Decision) -> Tournament:
        """Return the tournament after `decision`. Raises `InvalidActionError` and `IllegalActionError`."""
        found = self._decided(decision)
        left = {call.table for call in self.calls.values()} - {call.table for call in found.calls.values()}
        return (
            replace(found, freed=MappingProxyType({**self.freed, **dict.fromkeys(left, decision.t)})) if left else found
        )

    def _decided(self, decision: Decision) -> Tournament:
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
                return self._settled_by_hand(fact.match, self._action("result", fact), t)
            case Tied(match=match):
                return self._settled_by_hand(match, {"do": "tie", "match": match}, t)
            case ClockSet():
                return replace(self, clock=self._clock_set(fact, t))
            case Corrected():
                state = self.competition.play(self.state, self._action("correct", fact))
                return _pruned(replace(self, state=state))
            case Gone(team=team, why=why):
                state = self.competition.play(self.state, {"do": "withdraw", "team": team, "why": why})
                return _pruned(replace(self, state=state))
            case Reinstated(team=team):
                state = self.competition.play(self.state, {"do": "reinstate", "team": team})
                return _pruned(replace(self, state=state))
            case Absent(player=player, why=why):
                return replace(self, registration=self.registration.leave(plain_name(player), why))
            case Back(player=player):
                return replace(self, registration=self.registration.back(plain_name(player)))
            case Protested(match=match, team=team, text=text):
                pairing = self.pairing(match)
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
        if plan.clock == "round" and (game.minutes is None or plan.format != "round_robin"):
            raise IllegalActionError(
                "one clock for all tables of a round is for a round robin of a game with a time",
                "choose slahal and each against each, or let each table keep its own time",
            )
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

    def _call(self, match: str) -> Call:
        if match not in self.calls:
            raise IllegalActionError(f"{shown(match)} is at no table")
        return self.calls[match]

    def _report(self, order: str) -> Report:
        if order not in self.reports:
            raise IllegalActionError("no such result waits", "look again: it may count already")
        return self.reports[order]

    def _assigned(self, fact: Assigned, t: float) -> Tournament:
        pairing = self.pairing(fact.match)
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
        pairing = self.pairing(fact.match)
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

    def _settled_by_hand(self, match: str, action: Mapping[str, Json], t: float) -> Tournament:
        call = self.calls.get(match)
        source = Source("", "", self.order(call) if call else "", call.judge if call else "", t)
        found = self._counted(match, action, source, t)
        settled = found.settled | {source.order} if source.order else found.settled
        return _pruned(replace(found, settled=settled))

    def _clock_set(self, fact: ClockSet, t: float) -> RoundClock:
        clock, known = self.clock_of(fact.round), self.clock
        if clock is None:
            raise IllegalActionError("each table keeps its own time", "plan it with one clock for a round")
        if known is not None and known.round != fact.round and known.since is not None and known.left(t) > 0:
            raise IllegalActionError(f"the clock of round {known.round} runs", "stop it first, or wait for its end")
        if not fact.running:
            if clock.since is None or clock.left(t) <= 0:
                raise IllegalActionError(f"the clock of round {fact.round} does not run")
            return RoundClock(fact.round, clock.left(t))
        if clock.since is not None and clock.left(t) > 0:
            raise IllegalActionError(f"the clock of round {fact.round} runs already")
        if not any(pairing.round == fact.round for pairing in self.ready):
            raise IllegalActionError(f"round {fact.round} has no match to be played")
        left = clock.left_s if clock.since is None else 60.0 * (self.minutes or 0)
        return RoundClock(fact.round, left, t)

    def _counted(self, match: str, action: Mapping[str, Json], source: Source, t: float) -> Tournament:
        pairing = self.pairing(match)
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
