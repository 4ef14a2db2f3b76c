"""Short ways to set up a moment of the Dakota game and to play on from it, and to play a game beside a model of it."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from pi_controller.games.dakota.rules import Dakota, State
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def at() -> Callable[..., State]:
    """`at(16, 0, 4)`: team A hides with 16, team B hits with none, four lie in the middle, the first hit is owed."""

    def state(h: int, t: int, m: int, mode: Any = "ordinary", short: tuple[int, int] = (0, 0)) -> State:
        return State(Sticks.of(A=h, B=t, middle=m), short, hider="A", mode=mode, owed="first")

    return state


@pytest.fixture
def play() -> Callable[..., tuple[State, list[str]]]:
    """`play(state, "miss", "find", {"do": "foul", ...}, points=3)`: the state after, and all the words called."""

    def run(state: State, *steps: str | dict[str, Any], **settings: object) -> tuple[State, list[str]]:
        game = Dakota(settings)
        called: list[str] = []
        for step in steps:
            action = {"do": "hit", "found": step == "find"} if isinstance(step, str) else step
            state, calls = game.play(state, action)
            called += calls
        return state, called

    return run


@pytest.fixture
def seen() -> Callable[[State], tuple[Any, ...]]:
    """`seen(state)`: hider, its sticks, the hitter's, the middle's, the mode, what is owed."""
    return lambda state: (state.hider, state.h, state.t, state.m, state.mode, state.owed)


@pytest.fixture
def agree() -> Callable[..., int]:
    """Play `game` and `model` side by side and compare all they tell; return how many actions were accepted.

    A model has `opening`, `sheet` and `play`, which raises `PermissionError` for what is not allowed. `kinds` are
    (how often, actions); those of `invalid` are no actions of the game. A game that is over is played on for a while:
    only some fouls are allowed then.
    """

    def run(game: Any, model: Any, kinds: Any, invalid: list[Any], seed: object, many: int) -> int:
        chance, accepted, late = random.Random(repr(seed)), 0, 0
        weights = [weight for weight, _ in kinds]
        state, mine = game.opening(), model.opening()
        for _ in range(many):
            sheet = game.sheet(state)
            assert sheet | model.sheet(mine) == sheet
            assert game.sheet(game.restore(sheet)) == sheet
            if chance.random() < 0.02:
                with pytest.raises(InvalidActionError):
                    game.play(state, chance.choice(invalid))
            action = chance.choice(chance.choices(kinds, weights)[0][1])
            try:
                after, words = model.play(mine, action)
            except PermissionError:
                with pytest.raises(IllegalActionError):
                    game.play(state, action)
                assert game.sheet(state) == sheet
            else:
                state, calls = game.play(state, action)
                assert (list(calls), action) == (list(words), action)
                mine = after
                accepted += 1
            late += game.is_over(state)
            if late > 6:
                state, mine, late = game.opening(), model.opening(), 0
        return accepted

    return run


@pytest.fixture
def reckoned() -> Callable[[Any, int], int]:
    """Return how many sequences of legal actions of a length a game has from its opening."""

    @cache
    def sequences(game: Any, state: Any, length: int) -> int:
        if length == 0:
            return 1
        return sum(sequences(game, game.play(state, action)[0], length - 1) for action in game.legal_actions(state))

    return lambda game, length: sequences(game, game.opening(), length)


@pytest.fixture
def reckoned_of_model() -> Callable[[Any, list[dict[str, Any]]], Callable[[int], int]]:
    """Return what counts the sequences of a length, of actions of an alphabet, that a model (see `agree`) allows."""

    def of(model: Any, alphabet: list[dict[str, Any]]) -> Callable[[int], int]:
        @cache
        def sequences(text: str, length: int) -> int:
            if length == 0:
                return 1
            count = 0
            for action in alphabet:
                try:
                    after, _ = model.play(json.loads(text), action)
                except PermissionError:
                    continue
                count += sequences(json.dumps(after), length - 1)
            return count

        return lambda length: sequences(json.dumps(model.opening()), length)

    return of
