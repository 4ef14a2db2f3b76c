"""Base class of tournaments: teams are entered, games are played, wrong results are corrected; `play` is pure.

The actions are those of `tournament.actions`. A corrected result replaces the first one if no dependent match has
begun; otherwise the director chooses.

If both teams of a match have withdrawn or forfeit it, nobody wins it: both lose, whichever was entered first.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

from pi_controller.rules.base import Action, IllegalActionError, InvalidActionError, Json
from pi_controller.text import did_you_mean, format_value, join_words, normalize_name, strip_controls
from pi_controller.tournament.actions import (
    AddTeam,
    Corrected,
    EnterTeams,
    Forfeited,
    MatchStarted,
    PlayAction,
    Reinstated,
    Replayed,
    Result,
    TeamRenamed,
    TeamWithdrawn,
    TieEntered,
    TournamentAction,
    WithdrawalReason,
    parse_action,
)
from pi_controller.tournament.bracket import Side
from pi_controller.tournament.team_names import parse_names
from pi_controller.tournament.teams import draw

SlipCheck = Callable[[int, int, str], None]
"""`rules.base.Game.check_slip`."""
NOBODY = ""
"""The winner of a match that both teams lose or that is tied, and the team of a place that stays empty."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """A game of a match: its winner, whether it was a sweep, and the sticks of each team if counted.

    `walkover`: it was not played, because a team had withdrawn or forfeits it; `NOBODY` wins it if both do. Without
    `walkover`, `NOBODY` is the winner of a tie.
    """

    winner: str
    sweep: bool = False
    sticks: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    walkover: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that was only noted, because the director kept all results."""

    match: str
    winner: str


class Progress(NamedTuple):
    """How far a tournament is: the first round with an open match, and how many of the matches are decided.

    Matches of a round can be played at the same time. Places without an opponent are no matches.
    """

    round: int
    rounds: int
    decided: int
    matches: int


class Qualifiers(NamedTuple):
    """The teams that go from groups to the elimination, by seeds, and those that had withdrawn by then."""

    teams: tuple[str, ...]
    withdrawn: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TournamentState:
    """State of a tournament: its teams by seed, the games of each match, the matches that have begun, and withdrawn
    teams.

    `forfeits` are the matches that a team loses though it stays, as (match, team). `late` are the seeds of the late
    teams, the last ones of `teams`. States compare by identity; compare the output of `Competition.public_summary`
    instead.
    """

    teams: tuple[str, ...] = ()
    games: Mapping[str, tuple[GameResult, ...]] = field(default_factory=lambda: MappingProxyType({}))
    started: frozenset[str] = frozenset()
    withdrawn: Mapping[str, WithdrawalReason] = field(default_factory=lambda: MappingProxyType({}))
    noted: tuple[Correction, ...] = ()
    qualifiers: Qualifiers | None = None
    """None without groups, and while a group is open."""
    forfeits: frozenset[tuple[str, str]] = frozenset()
    late: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match with its teams so far: None for a team not decided yet, `NOBODY` for a place that stays empty.

    `side` is None outside of a bracket. Without an opponent a team wins the match, which has no game.
    """

    id: str
    teams: tuple[str | None, str | None]
    round: int
    side: Side | None
    winner: str | None = None

    @property
    def open(self) -> bool:
        """Whether both teams are there and the match is not decided."""
        return all(self.teams) and self.winner is None


class LaterMatchesStartedError(IllegalActionError):
    """A result cannot be corrected without a choice of `then`: later `matches` have begun."""

    def __init__(self, matches: Sequence[str], what: str, hint: str = "", /, **values: object) -> None:
        super().__init__(what, hint, **values)
        self.matches = tuple(matches)


class Competition(ABC):
    """One kind of tournament with its options. States are frozen; only their pairings are cached."""

    best_of: int
    """Most games of a match: the team that wins more than half of them wins it."""

    def __init__(self, best_of: int = 1, check_slip: SlipCheck | None = None) -> None:
        """Raise `ValueError` if `best_of` is not 1, 3 or 5. `check_slip` is that of the game played."""
        if best_of not in {1, 3, 5}:
            raise ValueError(f"a match is the best of 1, 3 or 5 games, not {best_of}")
        self.best_of = best_of
        self._check_slip = check_slip
        self._pairings = WeakKeyDictionary[TournamentState, tuple[Pairing, ...]]()

    @property
    def opening(self) -> TournamentState:
        """The state before the teams are entered."""
        return TournamentState()

    def pairings(self, state: TournamentState) -> tuple[Pairing, ...]:
        """Return the pairings, each after those it depends on."""
        if state not in self._pairings:
            self._pairings[state] = self._make_pairings(state)
        return self._pairings[state]

    @abstractmethod
    def _make_pairings(self, state: TournamentState) -> tuple[Pairing, ...]:
        """Build the pairings, each after those it depends on."""

    @abstractmethod
    def dependents(self, state: TournamentState, match: str) -> frozenset[str]:
        """Return the matches whose teams depend on the result of `match`, directly or not."""

    @abstractmethod
    def standings(self, state: TournamentState) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team, the best first; tied teams have the same `place`.

        A team that has withdrawn never shares a place with one that has not.
        """

    @abstractmethod
    def champion(self, state: TournamentState) -> str | None:
        """Return the winner of the tournament; None while it is open, and if no team is left to win it."""

    def _has_no_champion(self, state: TournamentState) -> bool:
        """Return whether all is over without a champion."""
        return self.is_over(state) and self.champion(state) is None

    def is_over(self, state: TournamentState) -> bool:
        """Return whether there is no match to play, not even for the third place."""
        return bool(state.teams) and all(pairing.winner is not None for pairing in self.pairings(state))

    @abstractmethod
    def eliminated_teams(self, state: TournamentState) -> tuple[str, ...]:
        """Return the eliminated and withdrawn teams, in the order of seeds."""

    def winner(self, state: TournamentState, match: str) -> str | None:
        """Return who has won more than half of the games of `match`, which may be `NOBODY`; None if open."""
        wins: dict[str, int] = {}
        for game in state.games.get(match, ()):
            wins[game.winner] = wins.get(game.winner, 0) + 1
            if 2 * wins[game.winner] > self.best_of:
                return game.winner
        return None

    def ready(self, state: TournamentState) -> tuple[Pairing, ...]:
        """Return the matches that can be played now or are being played."""
        return tuple(pairing for pairing in self.pairings(state) if pairing.open)

    def public_summary(self, state: TournamentState) -> dict[str, Json]:
        """Return the public state as JSON: ready matches, eliminated teams, standings and champion."""
        return {
            "ready": [
                {
                    "match": pairing.id,
                    "teams": list(pairing.teams),
                    "round": pairing.round,
                    "bracket": pairing.side,
                    "begun": pairing.id in state.started,
                    **({"games": self.games_won(state, pairing)} if self.best_of > 1 else {}),
                }
                for pairing in self.ready(state)
            ],
            "eliminated": list(self.eliminated_teams(state)),
            "standings": [dict(row) for row in self.standings(state)],
            "champion": self.champion(state),
            "over": self.is_over(state),
            "teams": list(state.teams),
        }

    def progress(self, state: TournamentState) -> Progress:
        """Return how far the tournament of `state` is, which has teams; with the matches whose teams are not known."""
        pairings, rounds = self.pairings(state), dict(self.number_rounds(state))
        for one in pairings:
            if NOBODY in one.teams:
                rounds.pop(one.id, None)
        decided = {one.id for one in pairings if one.winner is not None}
        last = max(rounds.values(), default=0)
        current = min((number for match, number in rounds.items() if match not in decided), default=last)
        return Progress(current, last, len(rounds.keys() & decided), len(rounds))

    @abstractmethod
    def number_rounds(self, state: TournamentState) -> Mapping[str, int]:
        """Return the number of the round in which each match can be played, counted through the whole tournament."""

    def games_won(self, state: TournamentState, pairing: Pairing) -> dict[str, int]:
        """Return the number of games of a match that each of its teams has won."""
        games = state.games.get(pairing.id, ())
        return {team: sum(game.winner == team for game in games) for team in pairing.teams if team}

    def play(self, state: TournamentState, action: PlayAction | Action) -> TournamentState:
        """Return the state after `action`, a new one. Raises `InvalidActionError` or `IllegalActionError`."""
        action = action if isinstance(action, TournamentAction) else parse_action(action)
        if isinstance(action, EnterTeams):
            return self._enter_teams(state, action)
        if not state.teams:
            raise IllegalActionError(
                "no teams are entered", "{form} comes first", form='{"do": "enter", "teams": [...]}'
            )
        match action:
            case MatchStarted():
                pairing = self._open(state, action.match)
                return replace(state, started=state.started | {pairing.id})
            case Result():
                return self._enter_result(state, action)
            case TieEntered():
                return self._enter_tie(state, self._open(state, action.match))
            case Corrected():
                return self._correct_result(state, action)
            case Replayed():
                return self._replay_match(state, self._find_pairing(state, action.match))
            case Forfeited():
                team = self._team(state, action.team)
                return self._forfeit_match(state, self._find_pairing(state, action.match), team)
            case TeamWithdrawn():
                return self._withdraw_team(state, action)
            case AddTeam():
                (team,) = parse_names([action.team], "team", 1, known=state.teams)
                if team in state.teams:
                    raise IllegalActionError("{team} is entered already", team=format_value(team))
                return self._add_team(state, team)
            case TeamRenamed():
                team = self._team(state, action.team)
                others = [one for one in state.teams if one != team]
                (name,) = parse_names([action.name], "team", 1, known=others)
                if name in others:
                    raise IllegalActionError(
                        "another team is called {name}", "choose another name", name=format_value(name)
                    )
                return rename_team(state, team, name)
            case Reinstated():
                return self._reinstate_team(state, self._team(state, action.team))

    def _enter_teams(self, state: TournamentState, action: EnterTeams) -> TournamentState:
        teams = parse_names(action.teams, "team", fewest=2)
        if action.draw:
            _reject_control_characters(action.draw)
            teams = draw(teams, action.draw)
        if state.teams:
            raise IllegalActionError(
                "the teams are entered", "withdraw a team that does not play; for a new draw plan a new tournament"
            )
        return replace(state, teams=teams)

    def _enter_result(self, state: TournamentState, action: Result) -> TournamentState:
        pairing = self._open(state, action.match)
        game = self._game(state, pairing, action)
        return self._apply_consequences(_with_games(state, pairing.id, (*state.games.get(pairing.id, ()), game)))

    def _enter_tie(self, state: TournamentState, pairing: Pairing) -> TournamentState:  # noqa: ARG002 - for who has ties
        """Return the state after a tied game of `pairing`. Raises `IllegalActionError`."""
        raise IllegalActionError("{match} needs a winner", "play it again", match=pairing.id)

    def _add_team(self, state: TournamentState, team: str) -> TournamentState:  # noqa: ARG002 - for formats with byes
        """Return the state with a late `team` in place of a bye. Raises `IllegalActionError`."""
        raise no_bye_error(team)

    def _replay_match(self, state: TournamentState, pairing: Pairing) -> TournamentState:
        """Return the state in which `pairing` is played again, and all that depends on it."""
        if pairing.id not in state.games:
            raise IllegalActionError(
                "{match} has no result", "only a match that has been played can be played again", match=pairing.id
            )
        void = self.dependents(state, pairing.id) | {pairing.id}
        return self._apply_consequences(_without_games(state, void))

    def _forfeit_match(self, state: TournamentState, pairing: Pairing, team: str) -> TournamentState:
        """Return the state in which `team` loses `pairing`: to the other team, or to nobody if that lost it so, too."""
        _require_in(pairing, team)
        lost = replace(state, forfeits=state.forfeits | {(pairing.id, team)})
        if pairing.winner == team and self._is_walkover(state, pairing.id):
            after = self._take_back_walkovers(lost, {pairing.id})
            if after is None:
                begun = sorted(lost.started & self.dependents(state, pairing.id))
                raise IllegalActionError(
                    "matches that depend on {match} have begun: {begun}",
                    "play it again first",
                    match=pairing.id,
                    begun=join_words(begun, "match"),
                )
            return after
        self._require_open(pairing)
        return self._apply_consequences(lost)

    def _take_back_walkovers(self, state: TournamentState, matches: Set[str]) -> TournamentState | None:
        """Return the state with the walkovers of `matches`, and those that depend on them, decided anew.

        None if a match that has begun would have other teams.
        """
        before = {pairing.id: pairing.teams for pairing in self.pairings(state)}
        hanging = frozenset(later for match in before.keys() & matches for later in self.dependents(state, match))
        fresh = self._apply_consequences(without_walkovers(state, hanging.union(matches)))
        after = {pairing.id: pairing.teams for pairing in self.pairings(fresh)}
        return fresh if all(after.get(match) == before.get(match) for match in state.started) else None

    def _correct_result(self, state: TournamentState, action: Corrected) -> TournamentState:
        pairing = self._find_pairing(state, action.match)
        games = state.games.get(pairing.id, ())
        if not games:
            raise IllegalActionError("{match} has no result to correct", "enter it", match=pairing.id)
        number = len(games) if action.game is None else action.game
        if not 1 <= number <= len(games):
            raise InvalidActionError("{match} has no game {number}", match=pairing.id, number=number)
        game = self._game(state, pairing, action)
        played = replace(state, forfeits=_without_match(state.forfeits, {pairing.id}))
        changed = _with_games(played, pairing.id, (*games[: number - 1], game, *games[number:]))
        if not self._decides_others(state, changed, pairing.id):
            return self._apply_consequences(changed)  # such as sticks, which only change the standings
        hanging = self.dependents(state, pairing.id)
        begun = sorted(hanging & state.started)
        if not begun:
            return self._apply_consequences(_without_games(changed, hanging))
        match action.then:
            case "keep":
                return replace(state, noted=(*state.noted, Correction(pairing.id, game.winner)))
            case "replay":
                return self._apply_consequences(_without_games(changed, hanging))
            case _:
                raise LaterMatchesStartedError(
                    begun,
                    "matches that depend on {match} have begun: {begun}",
                    'choose "replay" (they are played again) or "keep" (all results stay)',
                    match=pairing.id,
                    begun=join_words(begun, "match"),
                )

    def _decides_others(self, state: TournamentState, changed: TournamentState, match: str) -> bool:
        """Return whether other matches depend on the change of the games of `match` in `changed`."""
        if self.winner(changed, match) != self.winner(state, match):
            return True
        before = {pairing.id: pairing.teams for pairing in self.pairings(state)}
        after = {pairing.id: pairing.teams for pairing in self.pairings(changed)}
        return any(before[other] != after.get(other) for other in self.dependents(state, match) if other in before)

    def _withdraw_team(self, state: TournamentState, action: TeamWithdrawn) -> TournamentState:
        team = self._team(state, action.team)
        if team in state.withdrawn:
            raise IllegalActionError(
                "{team} is out already: {value}", team=format_value(team), value=state.withdrawn[team].replace("_", "-")
            )
        self._check_can_leave(state, team)
        gone = replace(state, withdrawn=MappingProxyType({**state.withdrawn, team: action.why}))
        walkovers = self._unplayed_walkovers(state, team)
        for n in range(len(walkovers)):
            if (after := self._take_back_walkovers(gone, {*walkovers[n:]})) is not None:
                return after
        return self._apply_consequences(gone)

    def _check_can_leave(self, state: TournamentState, team: str) -> None:
        """Raise `IllegalActionError` if `team` has no match left that it could lose."""
        walkovers = self._unplayed_walkovers(state, team)
        if not walkovers and team in self.eliminated_teams(state):
            raise IllegalActionError("{team} is eliminated already", team=format_value(team))
        *_, last = (pairing for pairing in self.pairings(state) if team in pairing.teams)
        if last.winner is not None and last.id in state.games and not self._is_walkover(state, last.id):
            raise IllegalActionError("the tournament is over", "correct the result that was wrong, or play it again")

    def _is_walkover(self, state: TournamentState, match: str) -> bool:
        """Return whether `match` was decided without play."""
        return match in state.games and state.games[match][-1].walkover

    def _unplayed_walkovers(self, state: TournamentState, team: str) -> list[str]:
        """Return the matches that `team` has won by a walkover, and after which it has begun no match that depends on
        them: if it leaves, too, nobody wins them.
        """
        mine = {pairing.id for pairing in self.pairings(state) if team in pairing.teams}
        return [
            pairing.id
            for pairing in self.pairings(state)
            if pairing.winner == team
            and self._is_walkover(state, pairing.id)
            and not state.started & mine & self.dependents(state, pairing.id)
        ]

    def _reinstate_team(self, state: TournamentState, team: str) -> TournamentState:
        """Return the state as if `team` had never withdrawn. Raises `IllegalActionError`."""
        if team not in state.withdrawn:
            raise IllegalActionError("{team} has not withdrawn", "there is nothing to undo", team=format_value(team))
        before = {pairing.id: pairing for pairing in self.pairings(state)}
        given = {match for match, then in before.items() if team in then.teams and then.winner not in {None, team}}
        moved = set[str]()
        while True:  # a walkover may have led to another pairing, whose walkovers and forfeits are removed too
            there = replace(without_walkovers(state, given), forfeits=_without_match(state.forfeits, moved))
            back = self._apply_consequences(self._unwithdraw_team(there, team))
            after = {pairing.id: pairing for pairing in self.pairings(back)}
            found = {match for match, then in before.items() if match not in after or after[match].teams != then.teams}
            if found <= given & moved:
                break
            given |= found
            moved |= found
        reopened = [match for match, now in after.items() if now.open and not (match in before and before[match].open)]
        hanging = {later for match in reopened for later in self.dependents(back, match)} | moved
        if begun := sorted(state.started & hanging):
            raise reinstatement_error(team, begun)
        return back

    def _unwithdraw_team(self, state: TournamentState, team: str) -> TournamentState:
        """Return the state with `team` removed from the withdrawn ones, and no other change."""
        return replace(
            state, withdrawn=MappingProxyType({one: why for one, why in state.withdrawn.items() if one != team})
        )

    def _apply_consequences(self, state: TournamentState) -> TournamentState:
        """Return the state with a walkover in each open match that a team does not play; of two such, nobody wins."""
        settled = False
        while not settled:
            settled = True
            for pairing in self.ready(state):
                teams = cast("tuple[str, str]", pairing.teams)
                left = [team for team in teams if not is_absent(state, pairing.id, team)]
                if len(left) < len(teams):
                    game = GameResult(left[0] if left else NOBODY, walkover=True)
                    need = self.best_of // 2 + 1 - self.games_won(state, pairing).get(game.winner, 0)
                    state = _with_games(state, pairing.id, (*state.games.get(pairing.id, ()), *(game,) * need))
                    settled = False
        return state

    def _game(self, state: TournamentState, pairing: Pairing, action: Result | Corrected) -> GameResult:
        winner, finish = self._team(state, action.winner), action.finish or ""
        _require_in(pairing, winner)
        sticks = {normalize_name(name): held for name, held in action.sticks.items()}
        for name in sticks:
            if name not in pairing.teams:
                raise InvalidActionError(
                    "{name} is not in {match}",
                    "it is {pairing}",
                    name=format_value(name),
                    match=pairing.id,
                    pairing=_versus(pairing),
                )
        if sticks and self._check_slip is not None and finish != "forfeit":
            lost = sum(held for team, held in sticks.items() if team != winner)
            self._check_slip(sticks.get(winner, 0), lost, "sweep" if action.sweep else finish)
        return GameResult(winner, action.sweep, MappingProxyType(sticks))

    def _team(self, state: TournamentState, team: str) -> str:
        """Return `team`, if it plays in this tournament. Raises `InvalidActionError`."""
        if (name := normalize_name(team)) in state.teams:
            return name
        near = did_you_mean(team, state.teams)
        raise InvalidActionError("there is no team {value}{near}", value=format_value(team), near=near)

    def _find_pairing(self, state: TournamentState, match: str) -> Pairing:
        """Return this match. Raises `InvalidActionError`."""
        pairings = {pairing.id: pairing for pairing in self.pairings(state)}
        if match not in pairings:
            near = did_you_mean(match, pairings)
            raise InvalidActionError("there is no match {value}{near}", value=format_value(match), near=near)
        return pairings[match]

    def _open(self, state: TournamentState, match: str) -> Pairing:
        """Return this match, which must be playable now. Raises `IllegalActionError`."""
        pairing = self._find_pairing(state, match)
        self._require_open(pairing)
        return pairing

    def _require_open(self, pairing: Pairing) -> None:
        if pairing.winner is not None:
            winner = format_value(pairing.winner) if pairing.winner else "nobody"
            raise IllegalActionError(
                "{match} is decided: {winner} won",
                "if that is wrong, correct it or play it again",
                match=pairing.id,
                winner=winner,
            )
        if not pairing.open:
            raise IllegalActionError(
                "{match} is not ready: {pairing}",
                "other matches come first",
                match=pairing.id,
                pairing=_versus(pairing),
            )


def is_absent(state: TournamentState, match: str, team: str) -> bool:
    """Return whether `team` does not play `match`: it has withdrawn, or forfeits this match."""
    return team in state.withdrawn or (match, team) in state.forfeits


def rename_team(state: TournamentState, team: str, name: str) -> TournamentState:
    """Return the state in which `team` is called `name`, in its earlier results too."""

    def new_name(one: str) -> str:
        return name if one == team else one

    def rename_in(game: GameResult) -> GameResult:
        sticks = MappingProxyType({new_name(one): held for one, held in game.sticks.items()})
        return replace(game, winner=new_name(game.winner), sticks=sticks)

    through = state.qualifiers
    return replace(
        state,
        teams=tuple(map(new_name, state.teams)),
        games=MappingProxyType({match: tuple(map(rename_in, games)) for match, games in state.games.items()}),
        withdrawn=MappingProxyType({new_name(one): why for one, why in state.withdrawn.items()}),
        noted=tuple(replace(one, winner=new_name(one.winner)) for one in state.noted),
        qualifiers=through
        and Qualifiers(tuple(map(new_name, through.teams)), frozenset(map(new_name, through.withdrawn))),
        forfeits=frozenset((match, new_name(one)) for match, one in state.forfeits),
    )


def no_bye_error(team: str) -> IllegalActionError:
    """Return the error that a late `team` finds no bye."""
    return IllegalActionError(
        "there is no bye left for {team}",
        "a late team can take a bye of the first round until a match that depends on it begins",
        team=format_value(team),
    )


def reinstatement_error(team: str, begun: Sequence[str]) -> IllegalActionError:
    """Return the error that `team` cannot be reinstated, because the matches `begun` depend on its withdrawal."""
    return IllegalActionError(
        "matches that depend on the withdrawal of {team} have begun: {begun}",
        "a team can only come back before that; this one stays out",
        team=format_value(team),
        begun=join_words(begun, "match"),
    )


def _reject_control_characters(seed: str) -> None:
    if strip_controls(seed) != seed:
        raise InvalidActionError(
            "draw cannot be {value}", "it is the seed of the draw, a text of one line", value=format_value(seed)
        )


def _with_games(state: TournamentState, match: str, games: tuple[GameResult, ...]) -> TournamentState:
    """Return the state with the `games` of a match; walkovers alone do not begin it."""
    begun = {match} if any(not game.walkover for game in games) else set[str]()
    return replace(state, games=MappingProxyType({**state.games, match: games}), started=state.started | begun)


def _without_games(state: TournamentState, matches: frozenset[str]) -> TournamentState:
    """Return the state in which `matches` have not begun, and no team forfeits them."""
    games = {match: games for match, games in state.games.items() if match not in matches}
    forfeits = _without_match(state.forfeits, matches)
    return replace(state, games=MappingProxyType(games), started=state.started - matches, forfeits=forfeits)


def _without_match(forfeits: frozenset[tuple[str, str]], matches: Collection[str]) -> frozenset[tuple[str, str]]:
    return frozenset((match, team) for match, team in forfeits if match not in matches)


def without_walkovers(state: TournamentState, matches: Collection[str]) -> TournamentState:
    """Return the state without the walkovers of `matches`."""
    played = {match: tuple(game for game in state.games.get(match, ()) if not game.walkover) for match in matches}
    return replace(
        state, games=MappingProxyType({match: games for match, games in {**state.games, **played}.items() if games})
    )


def _require_in(pairing: Pairing, team: str) -> None:
    """Raise `IllegalActionError` unless `team` plays in `pairing`."""
    if team not in pairing.teams:
        raise IllegalActionError(
            "{team} is not in {match}",
            "it is {pairing}",
            team=format_value(team),
            match=pairing.id,
            pairing=_versus(pairing),
        )


def _versus(pairing: Pairing) -> str:
    names: dict[str | None, str] = {None: "a team not known yet", NOBODY: "nobody"}
    first, second = (names.get(team) or format_value(team) for team in pairing.teams)
    return f"{first} against {second}"
