"""Base class of tournaments: teams are entered, games are played, wrong results are corrected; `play` is pure.

An action is one of

* `enter` (`teams` by their seeds, or with `draw`, a text, in any order: a draw with that seed places them);
* `begin` (`match`): a match is being played, so that a match it depends on cannot be changed unnoticed;
* `result` (`match`, `winner`; `sweep` and `sticks`, if the game has them): a game of a match is over;
* `tie` (`match`): the match has no winner, in a round robin of one game a match;
* `correct` (`match`, `winner`; `sweep`, `sticks`; `game`, its number, by default the last; `then`, see below);
* `withdraw` (`team`; `why`: withdrawn, disqualified or no_show): it is out and loses each later match;
* `reinstate` (`team`): it plays on as if it had never withdrawn, if no match that depends on that has begun.

A corrected result replaces the first one if no dependent match has begun. Otherwise the director chooses `then`:
`replay` (all dependent matches that have begun are played again), `void` (the match itself too), `keep` (all results
stay, and the correction is only noted).
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple, cast
from weakref import WeakKeyDictionary

from pi_controller.rules.base import Action, IllegalActionError, InvalidActionError, Json
from pi_controller.rules.validation import check_keys, parse_choice, parse_flag, parse_verb, parse_whole
from pi_controller.text import did_you_mean, format_value, join_words, normalize_name, strip_controls
from pi_controller.tournament.bracket import Side
from pi_controller.tournament.teams import draw, parse_names

WithdrawalReason = Literal["withdrawn", "disqualified", "no_show"]
Then = Literal["replay", "void", "keep"]


@dataclass(frozen=True, slots=True)
class GameResult:
    """A game of a match: its winner ("" for a tie), whether it was a sweep, and the sticks of each team if counted.

    `walkover`: it was not played, because the other team had withdrawn.
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


class Qualifiers(NamedTuple):
    """The teams that go from groups to the elimination, by seeds, and those that had withdrawn by then."""

    teams: tuple[str, ...]
    withdrawn: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class State:
    """State of a tournament: its teams by seed, the games of each match, the matches that have begun, and withdrawn
    teams.

    States compare by identity; compare the output of `Competition.public_summary` instead.
    """

    teams: tuple[str, ...] = ()
    games: Mapping[str, tuple[GameResult, ...]] = field(default_factory=lambda: MappingProxyType({}))
    started: frozenset[str] = frozenset()
    withdrawn: Mapping[str, WithdrawalReason] = field(default_factory=lambda: MappingProxyType({}))
    noted: tuple[Correction, ...] = ()
    qualifiers: Qualifiers | None = None
    """None without groups, and while a group is open."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match with its teams so far; None for a team not decided yet. `side` is None outside of a bracket."""

    id: str
    teams: tuple[str | None, str | None]
    round: int
    side: Side | None
    winner: str | None = None

    @property
    def open(self) -> bool:
        """Whether both teams are known and the match is not decided."""
        return None not in self.teams and self.winner is None


class LaterMatchesStartedError(IllegalActionError):
    """A result cannot be corrected without a choice of `then`: later `matches` have begun."""

    def __init__(self, matches: Sequence[str], what: str, todo: str = "") -> None:
        super().__init__(what, todo)
        self.matches = tuple(matches)


class Competition(ABC):
    """One kind of tournament with its options. States are frozen; only their pairings are cached."""

    best_of: int
    """Most games of a match: the team that wins more than half of them wins it."""

    def __init__(self, best_of: int = 1) -> None:
        """Raise `ValueError` if `best_of` is not 1, 3 or 5."""
        if best_of not in {1, 3, 5}:
            raise ValueError(f"a match is the best of 1, 3 or 5 games, not {best_of}")
        self.best_of = best_of
        self._pairings = WeakKeyDictionary[State, tuple[Pairing, ...]]()

    @property
    def opening(self) -> State:
        """The state before the teams are entered."""
        return State()

    def pairings(self, state: State) -> tuple[Pairing, ...]:
        """Return the pairings, each after those it depends on."""
        if state not in self._pairings:
            self._pairings[state] = self._make_pairings(state)
        return self._pairings[state]

    @abstractmethod
    def _make_pairings(self, state: State) -> tuple[Pairing, ...]:
        """Build the pairings, each after those it depends on."""

    @abstractmethod
    def dependents(self, state: State, match: str) -> frozenset[str]:
        """Return the matches whose teams depend on the result of `match`, directly or not."""

    @abstractmethod
    def standings(self, state: State) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team, the best first; tied teams have the same `place`."""

    @abstractmethod
    def champion(self, state: State) -> str | None:
        """Return the winner of the tournament; None while it is open."""

    def is_over(self, state: State) -> bool:
        """Return whether there is a champion and no match to play, not even for the third place."""
        return self.champion(state) is not None and not self.ready(state)

    @abstractmethod
    def eliminated_teams(self, state: State) -> tuple[str, ...]:
        """Return the eliminated and withdrawn teams, in the order of seeds."""

    def winner(self, state: State, match: str) -> str | None:
        """Return the team that has won more than half of the games of `match`; None if there is none yet."""
        wins: dict[str, int] = {}
        for game in state.games.get(match, ()):
            wins[game.winner] = wins.get(game.winner, 0) + 1
            if 2 * wins[game.winner] > self.best_of:
                return game.winner
        return None

    def ready(self, state: State) -> tuple[Pairing, ...]:
        """Return the matches that can be played now or are being played."""
        return tuple(pairing for pairing in self.pairings(state) if pairing.open)

    def public_summary(self, state: State) -> dict[str, Json]:
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
            "teams": list(state.teams),
        }

    def games_won(self, state: State, pairing: Pairing) -> dict[str, int]:
        """Return the number of games of a match that each of its teams has won."""
        games = state.games.get(pairing.id, ())
        return {team: sum(game.winner == team for game in games) for team in pairing.teams if team is not None}

    def play(self, state: State, action: object) -> State:
        """Return the state after `action`, a new one. Raises `InvalidActionError` or `IllegalActionError`."""
        do = parse_verb(action, ("enter", "begin", "result", "tie", "correct", "withdraw", "reinstate"))
        action = cast("Action", action)
        if do == "enter":
            return self._enter_teams(state, action)
        if not state.teams:
            raise IllegalActionError("no teams are entered", '{"do": "enter", "teams": [...]} comes first')
        match do:
            case "begin":
                check_keys(action, ("match",))
                pairing = self._open(state, action)
                return replace(state, started=state.started | {pairing.id})
            case "result":
                return self._enter_result(state, action)
            case "tie":
                check_keys(action, ("match",))
                return self._enter_tie(state, self._open(state, action))
            case "correct":
                return self._correct_result(state, action)
            case "withdraw":
                return self._withdraw_team(state, action)
            case _:
                check_keys(action, ("team",))
                return self._reinstate_team(state, self._team(state, action, "team"))

    def _enter_teams(self, state: State, action: Action) -> State:
        check_keys(action, ("teams",), ("draw",))
        teams = parse_names(action["teams"], "team", fewest=2)
        if "draw" in action:
            teams = draw(teams, _draw_seed(action["draw"]))
        if state.teams:
            raise IllegalActionError(
                "the teams are entered", "withdraw a team that does not play; a new draw is a new tournament"
            )
        return replace(state, teams=teams)

    def _enter_result(self, state: State, action: Action) -> State:
        check_keys(action, ("match", "winner"), ("sweep", "sticks"))
        pairing = self._open(state, action)
        game = self._game(state, pairing, action)
        return self._apply_consequences(_with_games(state, pairing.id, (*state.games.get(pairing.id, ()), game)))

    def _enter_tie(self, state: State, pairing: Pairing) -> State:  # noqa: ARG002 - for who has ties
        """Return the state after a tied game of `pairing`. Raises `IllegalActionError`."""
        raise IllegalActionError(f"{pairing.id} needs a winner", "play it again")

    def _correct_result(self, state: State, action: Action) -> State:
        check_keys(action, ("match", "winner"), ("sweep", "sticks", "game", "then"))
        pairing = self._find_pairing(state, action)
        games = state.games.get(pairing.id, ())
        if not games:
            raise IllegalActionError(f"{pairing.id} has no result to correct", "enter it")
        number = parse_whole(action, "game", 1, len(games)) if "game" in action else len(games)
        then = parse_choice(action, "then", ("replay", "void", "keep")) if "then" in action else None
        game = self._game(state, pairing, action)
        changed = _with_games(state, pairing.id, (*games[: number - 1], game, *games[number:]))
        if not self._decides_others(state, changed, pairing.id):
            return self._apply_consequences(changed)  # such as sticks, which only change the standings
        hanging = self.dependents(state, pairing.id)
        begun = [match for match in sorted(hanging) if self._has_started(state, match)]
        if not begun:
            return self._apply_consequences(_without_games(changed, hanging))
        match then:
            case "keep":
                return replace(state, noted=(*state.noted, Correction(pairing.id, game.winner)))
            case "replay":
                return self._apply_consequences(_without_games(changed, hanging))
            case "void":
                return self._apply_consequences(_without_games(state, hanging | {pairing.id}))
            case _:
                raise LaterMatchesStartedError(
                    begun,
                    f"matches that depend on {pairing.id} have begun: {join_words(begun)}",
                    'choose "replay" (they are played again), "void" (this one too) or "keep" (all results stay)',
                )

    def _decides_others(self, state: State, changed: State, match: str) -> bool:
        """Return whether other matches depend on the change of the games of `match` in `changed`."""
        if self.winner(changed, match) != self.winner(state, match):
            return True
        before = {pairing.id: pairing.teams for pairing in self.pairings(state)}
        after = {pairing.id: pairing.teams for pairing in self.pairings(changed)}
        return any(before[other] != after.get(other) for other in self.dependents(state, match) if other in before)

    def _has_started(self, state: State, match: str) -> bool:
        return match in state.started or any(not game.walkover for game in state.games.get(match, ()))

    def _withdraw_team(self, state: State, action: Action) -> State:
        check_keys(action, ("team",), ("why",))
        team = self._team(state, action, "team")
        why = parse_choice(action, "why", ("withdrawn", "disqualified", "no_show")) if "why" in action else "withdrawn"
        if team in state.withdrawn:
            raise IllegalActionError(f"{format_value(team)} is out already: {state.withdrawn[team].replace('_', '-')}")
        if team in self.eliminated_teams(state):
            raise IllegalActionError(f"{format_value(team)} is eliminated already")
        if self.champion(state) is not None and not any(team in pairing.teams for pairing in self.ready(state)):
            raise IllegalActionError("the tournament is over", "correct the result that was wrong")
        return self._apply_consequences(replace(state, withdrawn=MappingProxyType({**state.withdrawn, team: why})))

    def _reinstate_team(self, state: State, team: str) -> State:
        """Return the state as if `team` had never withdrawn. Raises `IllegalActionError`."""
        if team not in state.withdrawn:
            raise IllegalActionError(f"{format_value(team)} has not withdrawn", "there is nothing to undo")
        before = {pairing.id: pairing for pairing in self.pairings(state)}
        given = {match for match, then in before.items() if team in then.teams and then.winner not in {None, team}}
        while True:  # a walkover may have led to another pairing, whose walkovers are removed too
            back = self._apply_consequences(self._unwithdraw_team(_without_walkovers(state, given), team))
            after = {pairing.id: pairing for pairing in self.pairings(back)}
            moved = {match for match, then in before.items() if match not in after or after[match].teams != then.teams}
            if moved <= given:
                break
            given |= moved
        reopened = [match for match, now in after.items() if now.open and not (match in before and before[match].open)]
        hanging = {later for match in reopened for later in self.dependents(back, match)} | moved
        if begun := sorted(_without_walkovers(state, given).started & hanging):
            raise reinstatement_error(team, begun)
        return back

    def _unwithdraw_team(self, state: State, team: str) -> State:
        """Return the state with `team` removed from the withdrawn ones, and no other change."""
        return replace(
            state, withdrawn=MappingProxyType({one: why for one, why in state.withdrawn.items() if one != team})
        )

    def _apply_consequences(self, state: State) -> State:
        """Return the state with a walkover in each open match of a withdrawn team."""
        settled = False
        while not settled:
            settled = True
            for pairing in self.ready(state):
                first, second = cast("tuple[str, str]", pairing.teams)
                if first in state.withdrawn or second in state.withdrawn:
                    game = GameResult(first if second in state.withdrawn else second, walkover=True)
                    need = self.best_of // 2 + 1 - self.games_won(state, pairing)[game.winner]
                    state = _with_games(state, pairing.id, (*state.games.get(pairing.id, ()), *(game,) * need))
                    settled = False
        return state

    def _game(self, state: State, pairing: Pairing, action: Action) -> GameResult:
        winner = self._team(state, action, "winner")
        if winner not in pairing.teams:
            raise IllegalActionError(f"{format_value(winner)} is not in {pairing.id}", f"it is {_versus(pairing)}")
        sweep = parse_flag(action, "sweep") if "sweep" in action else False
        sticks: dict[str, int] = {}
        if "sticks" in action:
            held = action["sticks"]
            if not isinstance(held, Mapping):
                raise InvalidActionError(f"sticks cannot be {format_value(held)}", "write {team: number}")
            held = cast("Mapping[str, Json]", held)
            for name in held:
                if normalize_name(name) not in pairing.teams:
                    raise InvalidActionError(
                        f"{format_value(name)} is not in {pairing.id}", f"it is {_versus(pairing)}"
                    )
                sticks[normalize_name(name)] = parse_whole(held, name, 0, 10_000)
        return GameResult(winner, sweep, MappingProxyType(sticks))

    def _team(self, state: State, action: Action, key: str) -> str:
        """Return the value of `key`, a team of this tournament. Raises `InvalidActionError`."""
        value = action[key]
        if isinstance(value, str) and normalize_name(value) in state.teams:
            return normalize_name(value)
        near = did_you_mean(value, state.teams) if isinstance(value, str) else ""
        raise InvalidActionError(f"there is no team {format_value(value)}{near}")

    def _find_pairing(self, state: State, action: Action) -> Pairing:
        """Return the match in the action. Raises `InvalidActionError`."""
        value = action["match"]
        pairings = {pairing.id: pairing for pairing in self.pairings(state)}
        if not isinstance(value, str) or value not in pairings:
            near = did_you_mean(value, pairings) if isinstance(value, str) else ""
            raise InvalidActionError(f"there is no match {format_value(value)}{near}")
        return pairings[value]

    def _open(self, state: State, action: Action) -> Pairing:
        """Return the match in the action, which must be playable now. Raises `IllegalActionError`."""
        pairing = self._find_pairing(state, action)
        if pairing.winner is not None:
            raise IllegalActionError(
                f"{pairing.id} is decided: {format_value(pairing.winner)} won", "if that is wrong, correct it"
            )
        if not pairing.open:
            raise IllegalActionError(f"{pairing.id} is not ready: {_versus(pairing)}", "other matches come first")
        return pairing


def reinstatement_error(team: str, begun: Sequence[str]) -> IllegalActionError:
    """Return the error that `team` cannot be reinstated, because the matches `begun` depend on its withdrawal."""
    return IllegalActionError(
        f"matches that depend on the withdrawal of {format_value(team)} have begun: {join_words(begun)}",
        "a team can only come back before that; this one stays out",
    )


def _draw_seed(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= 200 or strip_controls(value) != value:
        raise InvalidActionError(
            f"draw cannot be {format_value(value)}", "it is the seed of the draw, a text of one line"
        )
    return value


def _with_games(state: State, match: str, games: tuple[GameResult, ...]) -> State:
    return replace(state, games=MappingProxyType({**state.games, match: games}), started=state.started | {match})


def _without_games(state: State, matches: frozenset[str]) -> State:
    games = {match: games for match, games in state.games.items() if match not in matches}
    return replace(state, games=MappingProxyType(games), started=state.started - matches)


def _without_walkovers(state: State, matches: Collection[str]) -> State:
    """Return the state without the walkovers of `matches`; a match without any other game has not begun."""
    played = {match: tuple(game for game in state.games.get(match, ()) if not game.walkover) for match in matches}
    games = {match: games for match, games in {**state.games, **played}.items() if games}
    never = {match for match in matches if match in state.games and match not in games}
    return replace(state, games=MappingProxyType(games), started=state.started - never)


def _versus(pairing: Pairing) -> str:
    first, second = (format_value(team) if team is not None else "a team not known yet" for team in pairing.teams)
    return f"{first} against {second}"
