"""Round robin: each team plays each other once; standings by points, sticks, sweeps and head to head, then a play-off.

The slahal sheet: a sweep 3, a win on time 2, a loss 0; ties by total sticks, then sweeps, then head to head, then a
play-off duo. Teams that are equal in all of these are tied until the play-off: they are never ordered by name or at
random.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Literal

from pi_controller.rules.base import Json
from pi_controller.tournament.competition import (
    NOBODY,
    Competition,
    GameResult,
    Pairing,
    SlipCheck,
    TournamentState,
    no_bye_error,
)

WithdrawalPolicy = Literal["forfeit", "annul"]
PlayOff = Literal["first", "all", "none"] | int


@dataclass(frozen=True, slots=True)
class Points:
    """Points of a game for its winner; a loss gives none.

    A walkover gives `walkover`, and a tie gives `tie` to both: no source has numbers for them, so the organiser chooses
    them.
    """

    sweep: int = 3
    win: int = 2
    walkover: int = 2
    tie: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    """Totals of a team over its games."""

    team: str
    played: int = 0
    wins: int = 0
    losses: int = 0
    sweeps: int = 0
    sticks: int = 0
    points: int = 0


class RoundRobin(Competition):
    """Each team against each other once, by the circle method: every team plays once a round, or rests.

    `withdrawn` chooses the effect of a withdrawal: the opponents win the remaining games without sticks (`forfeit`), or
    all games of the team are removed (`annul`). `play_off` chooses the ties that are played off: those for the first
    place, all, none, or those for the first n places. A play-off's id has the seeds of its teams, `P4-1-3`: a team that
    leaves changes no other play-off's id.

    The order of the teams has those that have withdrawn after all others; champion, standings and play-offs use it.
    """

    def __init__(
        self,
        best_of: int = 1,
        points: Points | None = None,
        withdrawn: WithdrawalPolicy = "forfeit",
        play_off: PlayOff = "first",
        check_slip: SlipCheck | None = None,
    ) -> None:
        """Raise `ValueError` if `best_of` is not 1, 3 or 5."""
        super().__init__(best_of, check_slip)
        self.points = points or Points()
        self.withdrawn: WithdrawalPolicy = withdrawn
        self.play_off: PlayOff = play_off

    def _make_pairings(self, state: TournamentState) -> tuple[Pairing, ...]:
        """Return the matches of all rounds, and once these are over those of the play-offs.

        If the games of withdrawn teams are annulled, their matches are left out.
        """
        found = self._rounds(state)
        number = len(circle(len(state.teams)))
        while all(pairing.winner is not None for pairing in found):
            number += 1
            ties = self._to_play_off(state, self._order(state, found))
            if not ties:
                break
            seed = {team: n for n, team in enumerate(state.teams, 1)}
            found += [
                self._pairing(state, f"P{number}-{'-'.join(map(str, sorted((seed[a], seed[b]))))}", (a, b), number)
                for tie in ties
                for a, b in _pairs(tie)
            ]
        return tuple(found)

    def _rounds(self, state: TournamentState) -> list[Pairing]:
        struck = set(state.withdrawn) if self.withdrawn == "annul" else set[str]()
        late = {seed - 1 for seed in state.late}
        return [
            self._pairing(state, f"R{number}-{place}", (state.teams[a], state.teams[b]), number)
            for number, pairs in enumerate(circle(len(state.teams)), 1)
            for place, (a, b) in enumerate(sorted(pairs, key=lambda pair: not late.isdisjoint(pair)), 1)
            if state.teams[a] not in struck and state.teams[b] not in struck
        ]

    def _add_team(self, state: TournamentState, team: str) -> TournamentState:
        """Return the state in which a late `team` plays those that would have rested, one in each round."""
        seed = len(state.teams) + 1
        if seed % 2 or any(match.startswith("P") for match in state.started):
            raise no_bye_error(team)
        return self._apply_consequences(replace(state, teams=(*state.teams, team), late=(*state.late, seed)))

    def _pairing(self, state: TournamentState, match: str, teams: tuple[str, str], number: int) -> Pairing:
        return Pairing(match, teams, number, None, self.winner(state, match))

    def _enter_tie(self, state: TournamentState, pairing: Pairing) -> TournamentState:
        if self.best_of > 1 or _is_play_off(pairing):
            return super()._enter_tie(state, pairing)
        games = MappingProxyType({**state.games, pairing.id: (GameResult(NOBODY),)})
        return replace(state, games=games, started=state.started | {pairing.id})

    def _unplayed_walkovers(self, state: TournamentState, team: str) -> list[str]:
        """Leave the league as it is once `team` has begun a play-off, also one that is no longer needed."""
        seed = str(state.teams.index(team) + 1)
        begun = any(match.startswith("P") and seed in match.split("-")[1:] for match in state.started)
        return [] if begun else super()._unplayed_walkovers(state, team)

    def _check_can_leave(self, state: TournamentState, team: str) -> None:
        """Accept that a team leaves at any time: it goes behind those present."""

    def number_rounds(self, state: TournamentState) -> Mapping[str, int]:  # noqa: D102 - as the base class says
        return {one.id: one.round for one in self.pairings(state)}

    def dependents(self, state: TournamentState, match: str) -> frozenset[str]:
        """Return the play-offs after the round of `match`: their teams depend on every earlier result."""
        pairings = {pairing.id: pairing for pairing in self.pairings(state)}
        last = max(pairings[match].round, len(circle(len(state.teams))))
        return frozenset(pairing.id for pairing in pairings.values() if pairing.round > last)

    def eliminated_teams(self, state: TournamentState) -> tuple[str, ...]:
        """Return the teams that have withdrawn: no other team is out before the end."""
        return tuple(team for team in state.teams if team in state.withdrawn)

    def champion(self, state: TournamentState) -> str | None:
        """Return the only team in first place after all matches; None before that, in a tie, or if all have left."""
        pairings = self.pairings(state)
        if not state.teams or any(pairing.winner is None for pairing in pairings):
            return None
        first = self._order(state, pairings)[0]
        return first[0] if len(first) == 1 and first[0] not in state.withdrawn else None

    def standings(self, state: TournamentState) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team: place, played, wins, losses, sweeps, sticks, points, and why it withdrew.

        Tied teams have the same place and `tied` true.
        """
        pairings = self.pairings(state)
        rows = self._rows(state, _without_play_offs(pairings))
        found: list[Mapping[str, Json]] = []
        first = 2 if state.withdrawn.keys() >= {*state.teams} else 1
        for tie in self._order(state, pairings):
            rank = {"place": first + len(found), "tied": len(tie) > 1}
            for team in tie:
                row = {"team": team, **rank, **asdict(rows[team]), "gone": state.withdrawn.get(team)}
                found.append(MappingProxyType(row))
        return tuple(found)

    def _order(self, state: TournamentState, pairings: Sequence[Pairing]) -> list[tuple[str, ...]]:
        """Return the teams from first to last, with tied teams in one tuple: first those present, then those gone."""
        rows = self._rows(state, _without_play_offs(pairings))
        ties = _split([state.teams], lambda team: team not in state.withdrawn)
        ties = _split(ties, lambda team: rows[team].points)
        ties = _split(ties, lambda team: rows[team].sticks)
        ties = _split(ties, lambda team: rows[team].sweeps)
        ties = [part for tie in ties for part in self._head_to_head(state, tie, pairings)]
        for number in sorted({pairing.round for pairing in pairings if _is_play_off(pairing)}):
            duos = self._rows(state, (pairing for pairing in pairings if pairing.round == number))
            ties = _split(ties, {team: row.wins for team, row in duos.items()}.__getitem__)
        return ties

    def _head_to_head(
        self, state: TournamentState, tie: tuple[str, ...], pairings: Sequence[Pairing]
    ) -> list[tuple[str, ...]]:
        """Split a tie by the points of the games between its teams, and each part again in the same way."""
        if len(tie) == 1:
            return [tie]
        among = self._rows(state, (one for one in _without_play_offs(pairings) if set(one.teams) <= set(tie)))
        parts = _split([tie], lambda team: among[team].points)
        if len(parts) == 1:
            return parts
        return [part for half in parts for part in self._head_to_head(state, half, pairings)]

    def _to_play_off(self, state: TournamentState, ties: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the ties to be played off; teams that have withdrawn play nothing off."""
        chosen = self.play_off
        places = chosen if isinstance(chosen, int) else {"first": 1, "all": len(state.teams), "none": 0}[chosen]
        before = accumulate((len(tie) for tie in ties), initial=0)
        return [
            tie
            for tie, better in zip(ties, before, strict=False)
            if len(tie) > 1 and better < places and tie[0] not in state.withdrawn
        ]

    def _rows(self, state: TournamentState, pairings: Iterable[Pairing]) -> dict[str, _Row]:
        rows = {team: _Row(team) for team in state.teams}
        for pairing in pairings:
            for game in state.games.get(pairing.id, ()):
                for team in filter(None, pairing.teams):
                    rows[team] = self._with_game(rows[team], game)
        return rows

    def _with_game(self, row: _Row, game: GameResult) -> _Row:
        if game.winner == NOBODY and not game.walkover:
            return replace(row, played=row.played + 1, points=row.points + self.points.tie)
        won = game.winner == row.team
        worth = self.points.walkover if game.walkover else self.points.sweep if game.sweep else self.points.win
        return replace(
            row,
            played=row.played + 1,
            wins=row.wins + won,
            losses=row.losses + (not won),
            sweeps=row.sweeps + (won and game.sweep),
            sticks=row.sticks + game.sticks.get(row.team, 0),
            points=row.points + worth * won,
        )


@cache
def circle(teams: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the rounds of a round robin by the circle method: pairs of teams, counted from 0.

    The first team is fixed, the others rotate. With an odd number one team rests each round.

    >>> circle(4)
    (((0, 3), (1, 2)), ((2, 0), (3, 1)), ((0, 1), (2, 3)))
    """
    ring: list[int | None] = [*range(teams), *([None] if teams % 2 else [])]
    half = len(ring) // 2
    rounds: list[tuple[tuple[int, int], ...]] = []
    for number in range(len(ring) - 1):
        pairs = list(zip(ring[:half], reversed(ring[half:]), strict=True))
        if number % 2:  # alternate the order of this pair, so that no team always comes first
            pairs[0] = (pairs[0][1], pairs[0][0])
        rounds.append(tuple((a, b) for a, b in pairs if a is not None and b is not None))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return tuple(rounds)


def _pairs(teams: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(teams[a], teams[b]) for pairs in circle(len(teams)) for a, b in pairs]


def _is_play_off(pairing: Pairing) -> bool:
    return pairing.id.startswith("P")


def _without_play_offs(pairings: Sequence[Pairing]) -> list[Pairing]:
    return [pairing for pairing in pairings if not _is_play_off(pairing)]


def _split(ties: list[tuple[str, ...]], value: Callable[[str], int]) -> list[tuple[str, ...]]:
    """Split each tie into parts of the same value, the highest first; teams keep their order within a part."""
    return [
        tuple(team for team in tie if value(team) == worth)
        for tie in ties
        for worth in sorted({value(team) for team in tie}, reverse=True)
    ]
