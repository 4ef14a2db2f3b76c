"""Base class of tournaments: teams are entered, games are played, what was wrong is corrected; a pure `play`.

An action is one of

* `enter` (`teams` by their seeds, or with `draw`, a text, in any order: the drawing of that seed places them);
* `begin` (`match`): a match is being played, so that what it hangs on cannot be changed unnoticed;
* `result` (`match`, `winner`; `sweep` and `sticks`, where the game has them): a game of a match is over;
* `tie` (`match`): nobody won it, in a round robin of one game a match;
* `correct` (`match`, `winner`; `sweep`, `sticks`; `game`, which of the match, the last for none; `then`, see below);
* `withdraw` (`team`; `why`: withdrawn, disqualified or no_show): it plays no more, and loses each match it comes to;
* `reinstate` (`team`): it plays on as if it had never gone, where nothing that hangs on its going has begun.

A corrected result on which nothing hangs that has begun is as if the first had never been. Otherwise the director says
what `then`: `replay` (all that hangs on it and has begun is played again), `void` (the match itself too), `keep` (all
stands as it was played, and the correction is noted).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast
from weakref import WeakKeyDictionary

from pi_controller.games.actions import choice, flag, only, whole, word
from pi_controller.games.base import Action, IllegalActionError, InvalidActionError, Json
from pi_controller.games.wording import listed, nearest, printable, shown
from pi_controller.tournament.drawing import draw
from pi_controller.tournament.team_names import names_of, plain_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pi_controller.tournament.bracket import Side

Why = Literal["withdrawn", "disqualified", "no_show"]
Then = Literal["replay", "void", "keep"]


@dataclass(frozen=True, slots=True)
class Played:
    """A game of a match: who won, "" for nobody; a sweep or not, and the sticks each had, where that is counted.

    `walkover`: it was not played, because the other team had gone.
    """

    winner: str
    sweep: bool = False
    sticks: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    walkover: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that changed nothing but the record, because the director let all stand as it was played."""

    match: str
    winner: str


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class State:
    """A tournament: its teams by seed, the games of each match, which matches have begun, and who has gone.

    Two states are the same only as objects; what is seen of them is compared by `Competition.answer`.
    """

    teams: tuple[str, ...] = ()
    games: Mapping[str, tuple[Played, ...]] = field(default_factory=lambda: MappingProxyType({}))
    begun: frozenset[str] = frozenset()
    gone: Mapping[str, Why] = field(default_factory=lambda: MappingProxyType({}))
    noted: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match with the teams it has so far; None where that is not decided. `side` is None outside of a bracket."""

    id: str
    teams: tuple[str | None, str | None]
    round: int
    side: Side | None
    winner: str | None = None

    @property
    def open(self) -> bool:
        """Whether both teams are known and nobody has won."""
        return None not in self.teams and self.winner is None


class Competition(ABC):
    """One kind of tournament with its options chosen. States are frozen; nothing but their pairings is remembered."""

    best_of: int
    """Games of a match at most: who wins more than half of them wins it."""

    def __init__(self, best_of: int = 1) -> None:
        """Raises `ValueError` for another `best_of` than 1, 3 or 5."""
        if best_of not in {1, 3, 5}:
            raise ValueError(f"a match is the best of 1, 3 or 5 games, not {best_of}")
        self.best_of = best_of
        self._pairings = WeakKeyDictionary[State, tuple[Pairing, ...]]()

    @property
    def opening(self) -> State:
        """The state before the teams are entered."""
        return State()

    def pairings(self, state: State) -> tuple[Pairing, ...]:
        """Return the matches there are, each after those it hangs on."""
        if state not in self._pairings:
            self._pairings[state] = self._paired(state)
        return self._pairings[state]

    @abstractmethod
    def _paired(self, state: State) -> tuple[Pairing, ...]:
        """Return the matches there are, each after those it hangs on."""

    @abstractmethod
    def hanging(self, state: State, match: str) -> frozenset[str]:
        """Return the matches whose teams hang on the result of `match`, however far down."""

    @abstractmethod
    def standings(self, state: State) -> tuple[Mapping[str, Json], ...]:
        """Return a row for each team, the best first; teams whose places are not told apart have the same `place`."""

    @abstractmethod
    def champion(self, state: State) -> str | None:
        """Return who has won the tournament; None while that is open."""

    @abstractmethod
    def eliminated(self, state: State) -> tuple[str, ...]:
        """Return who plays no more, in the order of seeds."""

    def winner(self, state: State, match: str) -> str | None:
        """Return who has won more than half of the games of `match`; None while nobody has."""
        wins: dict[str, int] = {}
        for game in state.games.get(match, ()):
            wins[game.winner] = wins.get(game.winner, 0) + 1
            if 2 * wins[game.winner] > self.best_of:
                return game.winner
        return None

    def ready(self, state: State) -> tuple[Pairing, ...]:
        """Return the matches that can be played now or are being played."""
        return tuple(pairing for pairing in self.pairings(state) if pairing.open)

    def answer(self, state: State) -> dict[str, Json]:
        """Return what everybody may know, as JSON: what is ready, who is out, how all stand, who is champion."""
        return {
            "ready": [
                {
                    "match": pairing.id,
                    "teams": list(pairing.teams),
                    "round": pairing.round,
                    "bracket": pairing.side,
                    "begun": pairing.id in state.begun,
                    **({"games": self.games_won(state, pairing)} if self.best_of > 1 else {}),
                }
                for pairing in self.ready(state)
            ],
            "eliminated": list(self.eliminated(state)),
            "standings": [dict(row) for row in self.standings(state)],
            "champion": self.champion(state),
            "teams": list(state.teams),
        }

    def games_won(self, state: State, pairing: Pairing) -> dict[str, int]:
        """Return how many games of a match each of its teams has won."""
        games = state.games.get(pairing.id, ())
        return {team: sum(game.winner == team for game in games) for team in pairing.teams if team is not None}

    def play(self, state: State, action: object) -> State:
        """Return the state after `action`. Raises `InvalidActionError` or `IllegalActionError`; nothing is changed."""
        do = word(action, ("enter", "begin", "result", "tie", "correct", "withdraw", "reinstate"))
        action = cast("Action", action)
        if do == "enter":
            return self._entered(state, action)
        if not state.teams:
            raise IllegalActionError("no teams are entered", '{"do": "enter", "teams": [...]} comes first')
        match do:
            case "begin":
                only(action, ("match",))
                pairing = self._open(state, action)
                return replace(state, begun=state.begun | {pairing.id})
            case "result":
                return self._decided(state, action)
            case "tie":
                only(action, ("match",))
                return self._tied(state, self._open(state, action))
            case "correct":
                return self._corrected(state, action)
            case "withdraw":
                return self._withdrawn(state, action)
            case _:
                only(action, ("team",))
                return self._reinstated(state, self._team(state, action, "team"))

    def _entered(self, state: State, action: Action) -> State:
        only(action, ("teams",), ("draw",))
        teams = names_of(action["teams"], "team", fewest=2)
        if "draw" in action:
            teams = draw(teams, _draw_seed(action["draw"]))
        if state.teams:
            raise IllegalActionError(
                "the teams are entered", "withdraw the team that goes; a new draw is a new tournament"
            )
        return replace(state, teams=teams)

    def _decided(self, state: State, action: Action) -> State:
        only(action, ("match", "winner"), ("sweep", "sticks"))
        pairing = self._open(state, action)
        game = self._game(state, pairing, action)
        return self._settled(_with_games(state, pairing.id, (*state.games.get(pairing.id, ()), game)))

    def _tied(self, state: State, pairing: Pairing) -> State:  # noqa: ARG002 - for who has ties
        """Return the state after a game of `pairing` that nobody won. Raises `IllegalActionError`."""
        raise IllegalActionError(f"{pairing.id} needs a winner", "play it again")

    def _corrected(self, state: State, action: Action) -> State:
        only(action, ("match", "winner"), ("sweep", "sticks", "game", "then"))
        pairing = self._known(state, action)
        games = state.games.get(pairing.id, ())
        if not games:
            raise IllegalActionError(f"{pairing.id} has no result to correct", "enter it")
        number = whole(action, "game", 1, len(games)) if "game" in action else len(games)
        then = choice(action, "then", ("replay", "void", "keep")) if "then" in action else None
        game = self._game(state, pairing, action)
        changed = _with_games(state, pairing.id, (*games[: number - 1], game, *games[number:]))
        if not self._decides_others(state, changed, pairing.id):
            return self._settled(changed)  # the sticks alone, say: nothing hangs on them but the standings
        hanging = self.hanging(state, pairing.id)
        begun = [match for match in sorted(hanging) if self._has_begun(state, match)]
        if not begun:
            return self._settled(_without_games(changed, hanging))
        match then:
            case "keep":
                return replace(state, noted=(*state.noted, Correction(pairing.id, game.winner)))
            case "replay":
                return self._settled(_without_games(changed, hanging))
            case "void":
                return self._settled(_without_games(state, hanging | {pairing.id}))
            case _:
                raise IllegalActionError(
                    f"{listed(begun)} hang on {pairing.id} and have begun",
                    'say what then: "replay" (they are played again), "void" (this one too) or "keep" (all stands)',
                )

    def _decides_others(self, state: State, changed: State, match: str) -> bool:
        """Return whether other matches are changed, or may be, when the games of `match` are those of `changed`."""
        if self.winner(changed, match) != self.winner(state, match):
            return True
        before = {pairing.id: pairing.teams for pairing in self.pairings(state)}
        after = {pairing.id: pairing.teams for pairing in self.pairings(changed)}
        return any(before[other] != after.get(other) for other in self.hanging(state, match) if other in before)

    def _has_begun(self, state: State, match: str) -> bool:
        return match in state.begun or any(not game.walkover for game in state.games.get(match, ()))

    def _withdrawn(self, state: State, action: Action) -> State:
        only(action, ("team",), ("why",))
        team = self._team(state, action, "team")
        why = choice(action, "why", ("withdrawn", "disqualified", "no_show")) if "why" in action else "withdrawn"
        if team in state.gone:
            raise IllegalActionError(f"{shown(team)} is out already: {state.gone[team].replace('_', '-')}")
        if team in self.eliminated(state):
            raise IllegalActionError(f"{shown(team)} is eliminated already")
        if self.champion(state) is not None:
            raise IllegalActionError("the tournament is over", "correct the result that was wrong")
        return self._settled(replace(state, gone=MappingProxyType({**state.gone, team: why})))

    def _reinstated(self, state: State, team: str) -> State:
        """Return the state as if `team` had never gone. Raises `IllegalActionError`."""
        if team not in state.gone:
            raise IllegalActionError(f"{shown(team)} is not out by a decision", "there is nothing to take back")
        before = {pairing.id: pairing for pairing in self.pairings(state)}
        given = {match for match, then in before.items() if team in then.teams and then.winner not in {None, team}}
        while True:  # what a walkover led to was another pairing, whose own walkovers go too
            back = self._settled(self._with_team(_without_walkovers(state, given), team))
            after = {pairing.id: pairing for pairing in self.pairings(back)}
            moved = {match for match, then in before.items() if match not in after or after[match].teams != then.teams}
            if moved <= given:
                break
            given |= moved
        reopened = [match for match, now in after.items() if now.open and not (match in before and before[match].open)]
        hanging = {later for match in reopened for later in self.hanging(back, match)} | moved
        if begun := sorted(_without_walkovers(state, given).begun & hanging):
            raise played_on(team, begun)
        return back

    def _with_team(self, state: State, team: str) -> State:
        """Return the state with `team` no more among those who have gone, and nothing else changed."""
        return replace(state, gone=MappingProxyType({one: why for one, why in state.gone.items() if one != team}))

    def _settled(self, state: State) -> State:
        """Return the state with a walkover in each match that a team which has gone has come to."""
        settled = False
        while not settled:
            settled = True
            for pairing in self.ready(state):
                first, second = cast("tuple[str, str]", pairing.teams)
                if first in state.gone or second in state.gone:
                    game = Played(first if second in state.gone else second, walkover=True)
                    need = self.best_of // 2 + 1 - self.games_won(state, pairing)[game.winner]
                    state = _with_games(state, pairing.id, (*state.games.get(pairing.id, ()), *(game,) * need))
                    settled = False
        return state

    def _game(self, state: State, pairing: Pairing, action: Action) -> Played:
        winner = self._team(state, action, "winner")
        if winner not in pairing.teams:
            raise IllegalActionError(f"{shown(winner)} is not in {pairing.id}", f"it is {_versus(pairing)}")
        sweep = flag(action, "sweep") if "sweep" in action else False
        sticks: dict[str, int] = {}
        if "sticks" in action:
            held = action["sticks"]
            if not isinstance(held, Mapping):
                raise InvalidActionError(f"sticks cannot be {shown(held)}", "write {team: number}")
            held = cast("Mapping[str, Json]", held)
            for name in held:
                if plain_name(name) not in pairing.teams:
                    raise InvalidActionError(f"{shown(name)} is not in {pairing.id}", f"it is {_versus(pairing)}")
                sticks[plain_name(name)] = whole(held, name, 0, 10_000)
        return Played(winner, sweep, MappingProxyType(sticks))

    def _team(self, state: State, action: Action, key: str) -> str:
        """Return the value of `key`, a team of this tournament."""
        value = action[key]
        if isinstance(value, str) and plain_name(value) in state.teams:
            return plain_name(value)
        near = nearest(value, state.teams) if isinstance(value, str) else ""
        raise InvalidActionError(f"there is no team {shown(value)}{near}")

    def _known(self, state: State, action: Action) -> Pairing:
        """Return the match that the action names."""
        value = action["match"]
        pairings = {pairing.id: pairing for pairing in self.pairings(state)}
        if not isinstance(value, str) or value not in pairings:
            near = nearest(value, pairings) if isinstance(value, str) else ""
            raise InvalidActionError(f"there is no match {shown(value)}{near}")
        return pairings[value]

    def _open(self, state: State, action: Action) -> Pairing:
        """Return the match that the action names, which can be played now."""
        pairing = self._known(state, action)
        if pairing.winner is not None:
            raise IllegalActionError(
                f"{pairing.id} is decided: {shown(pairing.winner)} won", "is that wrong, correct it"
            )
        if not pairing.open:
            raise IllegalActionError(f"{pairing.id} is not ready: {_versus(pairing)}", "other matches come first")
        return pairing


def played_on(team: str, begun: Sequence[str]) -> IllegalActionError:
    """Return why `team` cannot come back: people have `begun` these matches by its going."""
    return IllegalActionError(
        f"{listed(begun)} hang on the going of {shown(team)} and have begun",
        "a team comes back only before that; now it stays out",
    )


def _draw_seed(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= 200 or printable(value) != value:
        raise InvalidActionError(f"draw cannot be {shown(value)}", "it is the seed of the drawing, a text of one line")
    return value


def _with_games(state: State, match: str, games: tuple[Played, ...]) -> State:
    return replace(state, games=MappingProxyType({**state.games, match: games}), begun=state.begun | {match})


def _without_games(state: State, matches: frozenset[str]) -> State:
    games = {match: games for match, games in state.games.items() if match not in matches}
    return replace(state, games=MappingProxyType(games), begun=state.begun - matches)


def _without_walkovers(state: State, matches: Collection[str]) -> State:
    """Return the state without the walkovers of `matches`; where nothing else was played of one it has not begun."""
    played = {match: tuple(game for game in state.games.get(match, ()) if not game.walkover) for match in matches}
    games = {match: games for match, games in {**state.games, **played}.items() if games}
    never = {match for match in matches if match in state.games and match not in games}
    return replace(state, games=MappingProxyType(games), begun=state.begun - never)


def _versus(pairing: Pairing) -> str:
    first, second = (shown(team) if team is not None else "a team not known yet" for team in pairing.teams)
    return f"{first} against {second}"
