"""Groups followed by a bracket: a round robin in each group, then an elimination of the best of each.

The teams are dealt to the groups by their seeds, back and forth (A B C, C B A, ...). The group winners are the best
seeds of the elimination, in the order of the groups, then the second ones, and so on; teams of one group are placed so
that they meet again as late as possible. The qualifiers are settled when the last group is: a team that withdraws
before the first match of the elimination is replaced by the next of its group, one that withdraws later loses its
matches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from string import ascii_uppercase
from types import MappingProxyType
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

from pi_controller.rules.base import InvalidActionError, Json
from pi_controller.tournament.actions import EnterTeams
from pi_controller.tournament.bracket import match_steps, seed_order
from pi_controller.tournament.competition import (
    Competition,
    Pairing,
    Qualifiers,
    SlipCheck,
    TournamentState,
    reinstatement_error,
)
from pi_controller.tournament.elimination import Elimination, Kind
from pi_controller.tournament.round_robin import Points, RoundRobin, WithdrawalPolicy


class _Parts(NamedTuple):
    """The state of each group by its letter, and of the elimination once its teams are settled."""

    leagues: dict[str, TournamentState]
    cup: TournamentState | None


class Groups(Competition):
    """`groups` round robins, with the best `through` teams of each in an elimination.

    A match of group A has an id such as `A.R1-1`; the ids in the elimination are those of `Elimination`. Ties about the
    teams that qualify, and about their places, are played off.
    """

    def __init__(
        self,
        groups: int = 2,
        through: int = 2,
        kind: Kind = "single",
        best_of: int = 1,
        points: Points | None = None,
        withdrawn: WithdrawalPolicy = "forfeit",
        third_place: bool = False,
        check_slip: SlipCheck | None = None,
    ) -> None:
        """Raise `ValueError` for invalid numbers."""
        super().__init__(best_of, check_slip)
        if not 2 <= groups <= len(ascii_uppercase):
            raise ValueError(f"there are 2 to {len(ascii_uppercase)} groups, not {groups}")
        if through < 1:
            raise ValueError(f"at least one team of each group goes through, not {through}")
        self.letters = ascii_uppercase[:groups]
        self.places = through
        self.league = RoundRobin(best_of, points, withdrawn, play_off=through)
        self.cup = Elimination(kind, best_of, third_place)
        self._kept = WeakKeyDictionary[TournamentState, _Parts]()

    def parts(self, state: TournamentState) -> _Parts:
        """Return the groups and the elimination as states for `league` and `cup`."""
        if state not in self._kept:
            through = state.qualifiers
            gone = state.withdrawn if through is None else {team: state.withdrawn[team] for team in through.withdrawn}
            leagues = {
                letter: _part(state, teams, f"{letter}.", gone) for letter, teams in self._dealt(state.teams).items()
            }
            # a single team has no opponent
            cup = _part(state, through.teams, "", state.withdrawn) if through and len(through.teams) > 1 else None
            self._kept[state] = _Parts(leagues, cup)
        return self._kept[state]

    def _dealt(self, teams: Sequence[str]) -> dict[str, tuple[str, ...]]:
        there_and_back = self.letters + self.letters[::-1]
        return {
            letter: tuple(
                team for n, team in enumerate(teams) if there_and_back[n % len(there_and_back)] == letter
            )
            for letter in self.letters
        }  # fmt: skip

    def _make_pairings(self, state: TournamentState) -> tuple[Pairing, ...]:
        leagues, cup = self.parts(state)
        return (
            *(
                replace(pairing, id=f"{letter}.{pairing.id}")
                for letter, league in leagues.items()
                for pairing in self.league.pairings(league)
            ),
            *(self.cup.pairings(cup) if cup is not None else ()),
        )

    def number_rounds(self, state: TournamentState) -> Mapping[str, int]:
        """Number the elimination after the groups; before its teams are settled, as it will be with all places."""
        cup = self.parts(state).cup
        groups = {one.id: one.round for one in self.pairings(state) if "." in one.id}
        last = max(groups.values(), default=0)
        if cup is not None:
            later = self.cup.number_rounds(cup)
        else:
            count = 0 if state.qualifiers else len(self.letters) * self.places
            later = match_steps(self.cup.build(count).matches) if count > 1 else {}
        return {**groups, **{match: last + number for match, number in later.items()}}

    def dependents(self, state: TournamentState, match: str) -> frozenset[str]:
        """Return the play-offs of the group and the whole elimination, or the dependent matches in the elimination."""
        leagues, cup = self.parts(state)
        letter, dot, id_ = match.partition(".")
        if not dot:
            return self.cup.dependents(cast("TournamentState", cup), match)
        here = {f"{letter}.{later}" for later in self.league.dependents(leagues[letter], id_)}
        return frozenset(here) | self._of_cup(state)

    def _of_cup(self, state: TournamentState) -> frozenset[str]:
        cup = self.parts(state).cup
        return frozenset(pairing.id for pairing in self.cup.pairings(cup)) if cup is not None else frozenset()

    def _decides_others(self, state: TournamentState, changed: TournamentState, match: str) -> bool:
        return super()._decides_others(state, changed, match) or self._find_qualifiers(changed) != state.qualifiers

    def _enter_teams(self, state: TournamentState, action: EnterTeams) -> TournamentState:
        entered = super()._enter_teams(state, action)
        fewest = len(self.letters) * max(2, self.places)
        if len(entered.teams) < fewest:
            raise InvalidActionError(
                "{teams} teams are too few for {letters} groups if {places} of each go on",
                "enter {fewest} or more, or play without groups",
                teams=len(entered.teams),
                letters=len(self.letters),
                places=self.places,
                fewest=fewest,
            )
        return entered

    def _are_closed(self, state: TournamentState) -> bool:
        """Return whether the elimination has begun, so that the groups stay as they are; a walkover begins it."""
        return any(match in state.started or match in state.games for match in self._of_cup(state))

    def _unplayed_walkovers(self, state: TournamentState, team: str) -> list[str]:
        walkovers, closed = super()._unplayed_walkovers(state, team), self._are_closed(state)
        return [match for match in walkovers if "." not in match or not closed]

    def _check_can_leave(self, state: TournamentState, team: str) -> None:
        if self._are_closed(state):  # a team of the groups can leave until then, as in a round robin
            super()._check_can_leave(state, team)

    def _reinstate_team(self, state: TournamentState, team: str) -> TournamentState:
        back = super()._reinstate_team(state, team)
        through = back.qualifiers
        if through is not None:  # the qualifiers may change, though no match of the groups is open
            then = MappingProxyType({one: back.withdrawn[one] for one in through.withdrawn})
            fresh = self._find_qualifiers(replace(back, withdrawn=then))
            if fresh is None or fresh.teams != through.teams:
                raise reinstatement_error(team, sorted(self._of_cup(back) & back.started))
        return back

    def _unwithdraw_team(self, state: TournamentState, team: str) -> TournamentState:
        back, through = super()._unwithdraw_team(state, team), state.qualifiers
        if through is None:
            return back
        return replace(back, qualifiers=through._replace(withdrawn=through.withdrawn - {team}))

    def _apply_consequences(self, state: TournamentState) -> TournamentState:
        """Settle the qualifiers as soon as the groups are over; they can change until the elimination begins."""
        while True:
            if not self._are_closed(state):
                through = self._find_qualifiers(state)
                if through != state.qualifiers:
                    state = replace(state, qualifiers=through)
            settled = super()._apply_consequences(state)
            if settled is state:
                return state
            state = settled

    def _find_qualifiers(self, state: TournamentState) -> Qualifiers | None:
        """Return the qualifiers by the standings of the groups; None while a match of theirs is open."""
        leagues = self.parts(replace(state, qualifiers=None)).leagues
        if any(pairing.winner is None for league in leagues.values() for pairing in self.league.pairings(league)):
            return None
        best = [
            [str(row["team"]) for row in self.league.standings(league) if row["gone"] is None][: self.places]
            for league in leagues.values()
        ]
        return Qualifiers(_seed_qualifiers(best), frozenset(state.withdrawn))

    def eliminated_teams(self, state: TournamentState) -> tuple[str, ...]:
        """Return the teams that are out: withdrawn, not qualified, or eliminated."""
        through, cup = state.qualifiers, self.parts(state).cup
        stay = set(through.teams if through else state.teams).difference(self.cup.eliminated_teams(cup) if cup else ())
        champion = self.champion(state)
        return tuple(team for team in state.teams if team != champion and (team not in stay or team in state.withdrawn))

    def champion(self, state: TournamentState) -> str | None:  # noqa: D102 - as the base class says
        through, cup = state.qualifiers, self.parts(state).cup
        if cup is not None:
            return self.cup.champion(cup)
        return next((team for team in through.teams if team not in state.withdrawn), None) if through else None

    def standings(self, state: TournamentState) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team: that of its group, with the `group`, the place there as `in_group`, and `place`.

        `place` is that of the elimination; teams that did not qualify share the one after it, and those of them that
        had withdrawn the next one. It is None while it is open.
        """
        through = state.qualifiers
        leagues, cup = self.parts(state)
        places: dict[str, Json] = {str(row["team"]): row["place"] for row in (self.cup.standings(cup) if cup else ())}
        if through and cup is None:
            places = dict.fromkeys(through.teams, 1)
        if through:
            here, gone = (
                [team for team in state.teams if team not in through.teams and (team in state.withdrawn) == left]
                for left in (False, True)
            )
            first = len(through.teams) + (2 if self._has_no_champion(state) else 1)
            places |= dict.fromkeys(here, first) | dict.fromkeys(gone, first + len(here))
        rows = [
            MappingProxyType(
                {
                    **row,
                    "place": places.get(str(row["team"])),
                    "group": letter,
                    "in_group": row["place"],
                    "gone": state.withdrawn.get(str(row["team"])),
                }
            )
            for letter, league in leagues.items()
            for row in self.league.standings(league)
        ]
        unplaced = 0 if self.champion(state) is None else 3  # after the final only the third place is open
        return tuple(sorted(rows, key=lambda row: cast("int", row["place"] or unplaced)))


def _part(state: TournamentState, teams: tuple[str, ...], prefix: str, gone: Mapping[str, str]) -> TournamentState:
    """Return the state of `teams` only, with the matches whose ids start with `prefix`."""
    games = {match.removeprefix(prefix): games for match, games in state.games.items() if _is_part(match, prefix)}
    return TournamentState(
        teams,
        MappingProxyType(games),
        frozenset(match.removeprefix(prefix) for match in state.started if _is_part(match, prefix)),
        MappingProxyType({team: state.withdrawn[team] for team in teams if team in gone}),
        forfeits=frozenset(
            (match.removeprefix(prefix), team) for match, team in state.forfeits if _is_part(match, prefix)
        ),
    )


def _is_part(match: str, prefix: str) -> bool:
    """Return whether `match` is one of the group with `prefix`, or of the elimination if that is ""."""
    return match.startswith(prefix) and ("." in match) == bool(prefix)


def _seed_qualifiers(best: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the teams by their seeds; `best` has the qualifiers of each group, the winner first.

    >>> _seed_qualifiers([["a1", "a2"], ["b1", "b2"], ["c1", "c2"], ["d1", "d2"]])
    ('a1', 'b1', 'c1', 'd1', 'b2', 'a2', 'd2', 'c2')
    """
    count = sum(map(len, best))
    order = seed_order(1 << (count - 1).bit_length()) if count else ()
    where = {seed - 1: place for place, seed in enumerate(order)}
    group = {team: number for number, teams in enumerate(best) for team in teams}
    seeds: list[str] = []

    def rematch_risk(at: int, team: str) -> float:
        """Return how near `team` at this seed is to others of its group: halved for each round before they can meet."""
        rounds = (
            (where[at] ^ where[n]).bit_length()
            for n, other in enumerate(seeds)
            if group[other] == group[team] and other != team
        )
        return sum(0.5**number for number in rounds)

    for place in range(max(map(len, best), default=0)):
        first = len(seeds)
        seeds += [teams[place] for teams in best if len(teams) > place]
        swapped = place > 0
        while swapped:
            swapped = False
            for a, b in combinations(range(first, len(seeds)), 2):
                if rematch_risk(a, seeds[b]) + rematch_risk(b, seeds[a]) < rematch_risk(a, seeds[a]) + rematch_risk(
                    b, seeds[b]
                ):
                    seeds[a], seeds[b] = seeds[b], seeds[a]
                    swapped = True
    return tuple(seeds)
