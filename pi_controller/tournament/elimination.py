"""Single and double elimination: a team is out after its first or its second loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Literal

from pi_controller.rules.base import Json
from pi_controller.tournament import bracket
from pi_controller.tournament.bracket import FINAL, RESET, LoserOf, Match, Seed, Source, WinnerOf
from pi_controller.tournament.competition import Competition, Pairing, State

Kind = Literal["double", "single"]


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
    """

    def __init__(self, kind: Kind = "double", best_of: int = 1, third_place: bool = False) -> None:
        """Raise `ValueError` if `best_of` is not 1, 3 or 5, or if a double elimination is to have a third place."""
        super().__init__(best_of)
        if third_place and kind != "single":
            raise ValueError("a double elimination has its third place without a match for it")
        self.kind: Kind = kind
        self._bracket = bracket.double if kind == "double" else partial(bracket.single, third_place=third_place)

    def _make_pairings(self, state: State) -> tuple[Pairing, ...]:
        if not state.teams:
            return ()
        drawn = self._bracket(len(state.teams))
        known: dict[Source, str] = {Seed(number): team for number, team in enumerate(state.teams, 1)}
        found = [self._pairing(state, match, known) for match in drawn.matches]
        if drawn.reset is not None and found[-1].winner not in {None, found[-1].teams[0]}:
            found.append(self._pairing(state, drawn.reset, known))
        return tuple(found)

    def _pairing(self, state: State, match: Match, known: dict[Source, str]) -> Pairing:
        """Return a match with its teams, and store its winner and loser in `known`."""
        a, b = known.get(match.a), known.get(match.b)
        winner = None if a is None or b is None else self.winner(state, match.id)
        if a is not None and b is not None and winner is not None:
            known[WinnerOf(match.id)] = winner
            known[LoserOf(match.id)] = b if winner == a else a
        return Pairing(match.id, (a, b), match.round, match.side, winner)

    def bracket(self, state: State) -> bracket.Bracket:
        """Return the bracket of the entered teams. Raises `ValueError` if there are none."""
        return self._bracket(len(state.teams))

    def dependents(self, state: State, match: str) -> frozenset[str]:  # noqa: D102 - as the base class says
        return _find_dependents(self.bracket(state), match)

    def eliminated_teams(self, state: State) -> tuple[str, ...]:  # noqa: D102 - as the base class says
        out = self._record(state).out.keys() - self._teams_for_third_place(state)
        champion = self.champion(state)
        return tuple(team for team in state.teams if team != champion and (team in out or team in state.withdrawn))

    def _teams_for_third_place(self, state: State) -> frozenset[str]:
        """Return the teams that have lost a semi-final and have yet to play for the third place."""
        third = self._third(state)
        return frozenset(filter(None, third.teams)) if third is not None and third.winner is None else frozenset()

    def _third(self, state: State) -> Pairing | None:
        return next((pairing for pairing in self.pairings(state) if pairing.side == "third"), None)

    def champion(self, state: State) -> str | None:  # noqa: D102 - as the base class says
        *_, last = self.pairings(state) or (None,)
        return None if last is None else last.winner

    def standings(self, state: State) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team: place, wins, losses (of matches, walkovers included), and why it withdrew.

        The place is None while the team has a match to play. Teams eliminated in the same round share the best of their
        places.
        """
        if not state.teams:
            return ()
        record = self._record(state)
        side = "losers" if self.kind == "double" else "winners"
        knocking_out = [match.round for match in self.bracket(state).matches if match.side == side]
        champion, third = self.champion(state), self._third(state)
        playing = self._teams_for_third_place(state)

        def place(team: str) -> int | None:
            if team == champion:
                return 1
            if team not in record.out or team in playing:
                return None
            if third is not None and team in third.teams:
                return 3 if team == third.winner else 4
            last = record.out[team]
            return 2 if last.side == "final" else 3 + sum(number > last.round for number in knocking_out)

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

    def _record(self, state: State) -> _Record:
        record = _Record(dict.fromkeys(state.teams, 0), dict.fromkeys(state.teams, 0), {})
        lives = 2 if self.kind == "double" else 1
        for pairing in self.pairings(state):
            for team in filter(None, pairing.teams if pairing.winner is not None else ()):
                if team == pairing.winner:
                    record.wins[team] += 1
                else:
                    record.losses[team] += 1
                    if record.losses[team] == lives:
                        record.out[team] = pairing
        return record


@cache
def _find_dependents(drawn: bracket.Bracket, match: str) -> frozenset[str]:
    """Return the matches whose teams depend on the result of `match`, directly or not."""
    found = {match}
    for later in drawn.matches:
        for source in (later.a, later.b):
            if isinstance(source, WinnerOf | LoserOf) and source.match in found:
                found.add(later.id)
    if drawn.reset is not None and FINAL in found:
        found.add(RESET)
    return frozenset(found - {match})
