"""Groups into a bracket: a round robin in each group, then an elimination of the best of each.

The teams are dealt out to the groups by their seeds, there and back again (A B C, C B A, ...). The first of the groups
are the best seeds of the elimination, in the order of the groups, then the second, and so on; teams of one group come
to places from which they meet again as late as can be. Who goes on is settled when the last group is: a team that goes
before the first match of the elimination makes room for the next of its group, one that goes later loses its matches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_uppercase
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakKeyDictionary

from pi_controller.games.base import InvalidActionError
from pi_controller.tournament.bracket import seed_order
from pi_controller.tournament.competition import Competition, Pairing, State, played_on
from pi_controller.tournament.elimination import Elimination, Kind
from pi_controller.tournament.round_robin import Points, RoundRobin, Withdrawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.games.base import Action, Json


class Through(NamedTuple):
    """Who plays the elimination, by seeds, and who had gone when that was settled."""

    teams: tuple[str, ...]
    gone: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class GroupsState(State):
    """A tournament of groups; `through` is None while a group is open."""

    through: Through | None = None


class _Parts(NamedTuple):
    """The state of each group by its letter, and of the elimination once it is settled who plays it."""

    leagues: dict[str, State]
    cup: State | None


class Groups(Competition):
    """`groups` round robins, from each of which `through` teams go on to an elimination.

    A match of group A is called `A.R1-1`; those of the elimination are called as there. Ties about who goes through,
    and in which place, are played off.
    """

    def __init__(
        self,
        groups: int = 2,
        through: int = 2,
        kind: Kind = "single",
        best_of: int = 1,
        points: Points | None = None,
        withdrawn: Withdrawn = "forfeit",
    ) -> None:
        """Raises `ValueError` for numbers that cannot be."""
        super().__init__(best_of)
        if not 2 <= groups <= len(ascii_uppercase):
            raise ValueError(f"there are 2 to {len(ascii_uppercase)} groups, not {groups}")
        if through < 1:
            raise ValueError(f"at least one team of each group goes through, not {through}")
        self.letters = ascii_uppercase[:groups]
        self.places = through
        self.league = RoundRobin(best_of, points, withdrawn, play_off=through)
        self.cup = Elimination(kind, best_of)
        self._kept = WeakKeyDictionary[State, _Parts]()

    @property
    def opening(self) -> State:  # noqa: D102 - as the base class says
        return GroupsState()

    def parts(self, state: State) -> _Parts:
        """Return the groups and the elimination, each a tournament of its own, for `league` and `cup` to read."""
        if state not in self._kept:
            through = cast("GroupsState", state).through
            gone = state.gone if through is None else {team: state.gone[team] for team in through.gone}
            leagues = {
                letter: _part(state, teams, f"{letter}.", gone) for letter, teams in self._dealt(state.teams).items()
            }
            # one team alone has nobody to play against
            cup = _part(state, through.teams, "", state.gone) if through and len(through.teams) > 1 else None
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

    def _paired(self, state: State) -> tuple[Pairing, ...]:
        leagues, cup = self.parts(state)
        return (
            *(
                replace(pairing, id=f"{letter}.{pairing.id}")
                for letter, league in leagues.items()
                for pairing in self.league.pairings(league)
            ),
            *(self.cup.pairings(cup) if cup is not None else ()),
        )

    def hanging(self, state: State, match: str) -> frozenset[str]:
        """Return the play-offs of the group and the whole elimination, or the elimination's matches further down."""
        leagues, cup = self.parts(state)
        letter, dot, id_ = match.partition(".")
        if not dot:
            return self.cup.hanging(cast("State", cup), match)
        here = {f"{letter}.{later}" for later in self.league.hanging(leagues[letter], id_)}
        return frozenset(here) | self._of_cup(state)

    def _of_cup(self, state: State) -> frozenset[str]:
        cup = self.parts(state).cup
        return frozenset(pairing.id for pairing in self.cup.pairings(cup)) if cup is not None else frozenset()

    def _decides_others(self, state: State, changed: State, match: str) -> bool:
        return super()._decides_others(state, changed, match) or self._settle_through(changed) != (
            cast("GroupsState", state).through
        )

    def _entered(self, state: State, action: Action) -> State:
        entered = super()._entered(state, action)
        fewest = len(self.letters) * max(2, self.places)
        if len(entered.teams) < fewest:
            raise InvalidActionError(
                f"{len(entered.teams)} teams are too few for {len(self.letters)} groups with {self.places} through",
                f"enter {fewest} or more, or play without groups",
            )
        return entered

    def _reinstated(self, state: State, team: str) -> State:
        back = super()._reinstated(state, team)
        through = cast("GroupsState", back).through
        if through is not None:  # who goes through may be another, though no match of the groups is open
            then = MappingProxyType({one: back.gone[one] for one in through.gone})
            fresh = self._settle_through(replace(back, gone=then))
            if fresh is None or fresh.teams != through.teams:
                raise played_on(team, sorted(self._of_cup(back) & back.begun))
        return back

    def _with_team(self, state: State, team: str) -> State:
        back, through = super()._with_team(state, team), cast("GroupsState", state).through
        if through is None:
            return back
        return replace(cast("GroupsState", back), through=through._replace(gone=through.gone - {team}))

    def _settled(self, state: State) -> State:
        """Settle who goes through as soon as the groups are over; it can change until the elimination begins."""
        while True:
            if not any(self._has_begun(state, match) for match in self._of_cup(state)):
                through = self._settle_through(state)
                if through != cast("GroupsState", state).through:
                    state = replace(cast("GroupsState", state), through=through)
            settled = super()._settled(state)
            if settled is state:
                return state
            state = settled

    def _settle_through(self, state: State) -> Through | None:
        """Return who goes through as the groups stand; None while a match of theirs is open."""
        if cast("GroupsState", state).through is not None:
            state = replace(cast("GroupsState", state), through=None)
        leagues = self.parts(state).leagues
        if any(pairing.winner is None for league in leagues.values() for pairing in self.league.pairings(league)):
            return None
        best = [
            [str(row["team"]) for row in self.league.standings(league) if row["gone"] is None][: self.places]
            for league in leagues.values()
        ]
        return Through(_seeded(best), frozenset(state.gone))

    def eliminated(self, state: State) -> tuple[str, ...]:
        """Return who plays no more: those who have gone, those not through, and those out of the elimination."""
        through, cup = cast("GroupsState", state).through, self.parts(state).cup
        stay = set(through.teams if through else state.teams).difference(self.cup.eliminated(cup) if cup else ())
        champion = self.champion(state)
        return tuple(team for team in state.teams if team != champion and (team not in stay or team in state.gone))

    def champion(self, state: State) -> str | None:  # noqa: D102 - as the base class says
        through, cup = cast("GroupsState", state).through, self.parts(state).cup
        if cup is not None:
            return self.cup.champion(cup)
        return through.teams[0] if through and through.teams else None

    def standings(self, state: State) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team: that of its group, with the `group`, the place there as `in_group`, and `place`.

        `place` is that of the elimination; those not through share the one after it. It is None while that is open.
        """
        through = cast("GroupsState", state).through
        leagues, cup = self.parts(state)
        places: dict[str, Json] = {str(row["team"]): row["place"] for row in (self.cup.standings(cup) if cup else ())}
        if through and cup is None:
            places = dict.fromkeys(through.teams, 1)
        if through:
            places |= dict.fromkeys(set(state.teams) - set(through.teams), len(through.teams) + 1)
        rows = [
            MappingProxyType(
                {
                    **row,
                    "place": places.get(str(row["team"])),
                    "group": letter,
                    "in_group": row["place"],
                    "gone": state.gone.get(str(row["team"])),
                }
            )
            for letter, league in leagues.items()
            for row in self.league.standings(league)
        ]
        return tuple(sorted(rows, key=lambda row: cast("int", row["place"] or 0)))


def _part(state: State, teams: tuple[str, ...], prefix: str, gone: Mapping[str, str]) -> State:
    """Return the state of `teams` alone, of the matches whose names begin with `prefix`."""
    mine = [match for match in state.begun if match.startswith(prefix) and ("." in match) == bool(prefix)]
    return State(
        teams,
        MappingProxyType({match.removeprefix(prefix): state.games[match] for match in mine if match in state.games}),
        frozenset(match.removeprefix(prefix) for match in mine),
        MappingProxyType({team: state.gone[team] for team in teams if team in gone}),
    )


def _seeded(best: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the teams by their seeds; `best` are those of each group, its first one first.

    >>> _seeded([["a1", "a2"], ["b1", "b2"], ["c1", "c2"], ["d1", "d2"]])
    ('a1', 'b1', 'c1', 'd1', 'b2', 'a2', 'd2', 'c2')
    """
    count = sum(map(len, best))
    order = seed_order(1 << (count - 1).bit_length()) if count else ()
    where = {seed - 1: place for place, seed in enumerate(order)}
    group = {team: number for number, teams in enumerate(best) for team in teams}
    seeds: list[str] = []

    def near(at: int, team: str) -> float:
        """Return how near `team` would be to those of its group at this seed: half for each round they play before."""
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
                if near(a, seeds[b]) + near(b, seeds[a]) < near(a, seeds[a]) + near(b, seeds[b]):
                    seeds[a], seeds[b] = seeds[b], seeds[a]
                    swapped = True
    return tuple(seeds)
