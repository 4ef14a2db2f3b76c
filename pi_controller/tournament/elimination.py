"""Single and double elimination: a team is out after its first or its second loss."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Literal
from weakref import WeakKeyDictionary

from pi_controller.rules.base import Json
from pi_controller.tournament import bracket
from pi_controller.tournament.bracket import FINAL, RESET, LoserOf, Match, Seed, Source, WinnerOf
from pi_controller.tournament.competition import (
    NOBODY,
    Competition,
    Pairing,
    SlipCheck,
    TournamentState,
    no_bye_error,
    without_walkovers,
)

Kind = Literal["double", "single"]


AGAIN = "-L"
"""Ending of the id of a match of two teams that both forfeited one, for its place in the losers' bracket."""
_Stage = tuple[int, int]
"""When a team is out, in the order of the places: a round, the third place, the final."""


@dataclass(frozen=True, slots=True)
class _Record:
    """Matches won and lost by each team, walkovers included, and the match that eliminated each eliminated team."""

    wins: dict[str, int]
    losses: dict[str, int]
    out: dict[str, Pairing]


class Elimination(Competition):
    """An elimination of two or more teams.

    The final of a double elimination has a second match, its reset, only if the team from the losers' side wins the
    first. With `third_place` the losers of a single elimination's semi-finals play for the third place.

    If nobody wins a match, its winner's place stays empty. Its loser's place goes to the team that forfeits it but has
    not withdrawn; if two do in the winners' bracket, they play for that place: `W1-1-L` after `W1-1`.
    """

    def __init__(
        self,
        kind: Kind = "double",
        best_of: int = 1,
        third_place: bool = False,
        check_slip: SlipCheck | None = None,
    ) -> None:
        """Raise `ValueError` if `best_of` is not 1, 3 or 5, or if a double elimination is to have a third place."""
        super().__init__(best_of, check_slip)
        if third_place and kind != "single":
            raise ValueError("a double elimination has its third place without a match for it")
        self.kind: Kind = kind
        self._records = WeakKeyDictionary[TournamentState, _Record]()
        self._has_third = third_place
        self.build = bracket.double if kind == "double" else partial(bracket.single, third_place=third_place)

    def _make_pairings(self, state: TournamentState) -> tuple[Pairing, ...]:
        if not state.teams:
            return ()
        drawn = self.bracket(state)
        seeds = [*range(1, drawn.teams + 1), *state.late]
        known: dict[Source, str] = {Seed(number): team for number, team in zip(seeds, state.teams, strict=True)}
        found: list[Pairing] = []
        for match in drawn.matches:
            found += self._pair(state, match, known)
        last = found[-1]
        if drawn.reset is not None and all(last.teams) and last.winner == last.teams[1]:
            found += self._pair(state, drawn.reset, known)
        return tuple(found)

    def _pair(self, state: TournamentState, match: Match, known: dict[Source, str]) -> list[Pairing]:
        """Return a match with its teams, and store its winner and loser in `known`."""
        a, b = known.get(match.a), known.get(match.b)
        if NOBODY in (a, b):
            known[LoserOf(match.id)] = NOBODY
            winner = b if a == NOBODY else a
        else:
            winner = None if a is None or b is None else self.winner(state, match.id)
        pairing = Pairing(match.id, (a, b), match.round, match.side, winner)
        if winner is not None:
            known[WinnerOf(match.id)] = winner
        if not all(pairing.teams) or winner is None:
            return [pairing]
        losers = [team for team in pairing.teams if team and team != winner]
        if len(losers) > 1:  # one that has withdrawn goes no further
            losers = [team for team in losers if (match.id, team) in state.forfeits]
        if len(losers) < 2 or self.kind == "single" or match.side != "winners":
            known[LoserOf(match.id)] = losers[0] if len(losers) == 1 else NOBODY
            return [pairing]
        again = f"{match.id}{AGAIN}"
        place = Pairing(
            again, (losers[0], losers[1]), self._losers_round(state, match.id), "losers", self.winner(state, again)
        )
        if place.winner is not None:
            known[LoserOf(match.id)] = place.winner
        return [pairing, place]

    def _losers_round(self, state: TournamentState, match: str) -> int:
        """Return the round of the losers' bracket in which the loser of `match` plays next."""
        drawn = self.bracket(state).matches
        return next(
            (later.round for later in drawn if later.side == "losers" and LoserOf(match) in (later.a, later.b)), 1
        )

    def _add_team(self, state: TournamentState, team: str) -> TournamentState:
        """Return the state with a late `team` against the lowest seed whose bye has not led to a begun match."""
        for seed in bracket.empty_seeds(self.bracket(state).teams, state.late):
            added = replace(state, teams=(*state.teams, team), late=(*state.late, seed))
            first = next(match.id for match in self.bracket(added).matches if Seed(seed) in (match.a, match.b))
            hanging = self.dependents(added, first)
            added = without_walkovers(added, hanging)
            if not added.started & hanging:
                return self._apply_consequences(added)
        raise no_bye_error(team)

    def bracket(self, state: TournamentState) -> bracket.Bracket:
        """Return the bracket of the entered teams. Raises `ValueError` if there are none."""
        return self.build(len(state.teams) - len(state.late), state.late)

    def number_rounds(self, state: TournamentState) -> Mapping[str, int]:  # noqa: D102 - as the base class says
        drawn, ids = self.bracket(state), {one.id for one in self.pairings(state)}
        return bracket.match_steps(one for one in (*drawn.matches, drawn.reset) if one is not None and one.id in ids)

    def dependents(self, state: TournamentState, match: str) -> frozenset[str]:  # noqa: D102 - as the base class says
        return _find_dependents(self.bracket(state), match)

    def eliminated_teams(self, state: TournamentState) -> tuple[str, ...]:  # noqa: D102 - as the base class says
        out = self._record(state).out.keys() - self._teams_for_third_place(state)
        champion = self.champion(state)
        return tuple(team for team in state.teams if team != champion and (team in out or team in state.withdrawn))

    def _teams_for_third_place(self, state: TournamentState) -> frozenset[str]:
        """Return the teams that have lost a semi-final and have yet to play for the third place."""
        third = self._third(state)
        return frozenset(filter(None, third.teams)) if third is not None and third.winner is None else frozenset()

    def _third(self, state: TournamentState) -> Pairing | None:
        return next((pairing for pairing in self.pairings(state) if pairing.side == "third"), None)

    def champion(self, state: TournamentState) -> str | None:
        """Return the team that is left when all matches but the one for the third place are decided."""
        pairings = self.pairings(state)
        if not pairings or any(one.winner is None and one.side != "third" for one in pairings):
            return None
        out = self._record(state).out
        return next((team for team in state.teams if team not in out), None)

    def standings(self, state: TournamentState) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team: place, wins, losses (of matches, walkovers included), and why it withdrew.

        The place is None while the team has a match to play. Teams eliminated in the same round share the best of their
        places, after them those of that round that had withdrawn.
        """
        if not state.teams:
            return ()
        record = self._record(state)
        champion, playing = self.champion(state), self._teams_for_third_place(state)
        stages = {team: self._stage(state, team, last) for team, last in record.out.items()}
        out = Counter(stages.values())
        gone = Counter(stage for team, stage in stages.items() if team in state.withdrawn)
        to_come = Counter(self._stage(state, NOBODY, one) for one in self.pairings(state) if self._will_eliminate(one))
        first = 2 if self._has_no_champion(state) else 1

        def place(team: str) -> int | None:
            if team == champion:
                return 1
            if team not in record.out or team in playing:
                return None
            stage = stages[team]
            behind = sum(count for earlier, count in (out + to_come).items() if earlier < stage) + gone[stage]
            beside = 0 if team in state.withdrawn else out[stage] - gone[stage] + to_come[stage]
            return first + len(state.teams) - behind - beside

        rows = [
            MappingProxyType(
                {
                    "team": team,
                    "place": place(team),
                    "wins": record.wins[team],
                    "losses": record.losses[team],
                    "gone": state.withdrawn.get(team),
                }
            )
            for team in state.teams
        ]
        return tuple(sorted(rows, key=lambda row: row["place"] or (3 if row["team"] in playing else 0)))

    def _stage(self, state: TournamentState, team: str, last: Pairing) -> _Stage:
        """Return when `team` is out if `last` eliminates it; the match for the third place orders its two teams."""
        third = self._third(state) if self._has_third and team else None
        if third is not None and team in third.teams and third.winner is not None:
            return (1, int(team == third.winner))
        if last.side == "final":
            return (2, last.round)
        if self.kind == "double" and last.side == "winners":
            return (0, self._losers_round(state, last.id))
        return (0, last.round)

    def _will_eliminate(self, pairing: Pairing) -> bool:
        """Return whether a team will be out after `pairing`, which is not decided."""
        sides = {"losers", "final"} if self.kind == "double" else {"winners", "final"}
        return pairing.winner is None and pairing.side in sides and NOBODY not in pairing.teams

    def _record(self, state: TournamentState) -> _Record:
        if state not in self._records:
            self._records[state] = self._make_record(state)
        return self._records[state]

    def _make_record(self, state: TournamentState) -> _Record:
        record = _Record(dict.fromkeys(state.teams, 0), dict.fromkeys(state.teams, 0), {})
        lives = 2 if self.kind == "double" else 1
        last: dict[str, Pairing] = {}
        for pairing in self.pairings(state):
            teams = [team for team in pairing.teams if team]
            last |= dict.fromkeys(teams, pairing)
            for team in teams if pairing.winner is not None and all(pairing.teams) else ():
                if team == pairing.winner:
                    record.wins[team] += 1
                else:
                    record.losses[team] += 1
                    if record.losses[team] == lives:
                        record.out[team] = pairing
        for team in state.withdrawn:  # it may end in a place without an opponent, or with one that has left, too
            if team not in record.out and team in last and last[team].winner is not None:
                record.out[team] = last[team]
        return record


@cache
def _find_dependents(drawn: bracket.Bracket, match: str) -> frozenset[str]:
    """Return the matches whose teams depend on the result of `match`, directly or not."""
    sources: set[Source] = {LoserOf(match.removesuffix(AGAIN))}
    found: set[str] = set()
    if not match.endswith(AGAIN):
        sources.add(WinnerOf(match))
        found.add(f"{match}{AGAIN}")
    for later in drawn.matches:
        if later.a in sources or later.b in sources:
            found |= {later.id, f"{later.id}{AGAIN}"}
            sources |= {WinnerOf(later.id), LoserOf(later.id)}
    if drawn.reset is not None and (match == FINAL or FINAL in found):
        found.add(RESET)
    return frozenset(found)
