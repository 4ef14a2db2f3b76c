"""What every game keeps to, beside its model (`tests/support/game_models`): states, words, refusals, options, ends."""

from __future__ import annotations

import io
import json
import random
import re
from contextlib import suppress
from dataclasses import FrozenInstanceError, fields
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from cases import cases
from game_models import MODELS
from random_play import state_after

from pi_controller.errors import UsageError
from pi_controller.record.notation import format_action, parse_action
from pi_controller.record.tokens import scan
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules import registry, sheet
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.runtime.console import parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from game_models import Model

    from pi_controller.rules.base import Game

each_game = pytest.mark.parametrize("name", MODELS)
NONE = [
    None,
    [],
    [{"do": "time"}],
    "time",
    7,
    True,
    {},
    {"do": None},
    {"do": ["time"]},
    {"do": {"hit": 1}},
    {"do": "jump"},
]
"""What is an action of no game."""
WRONG = [-1, 1.5, "Zz", {"A": 1}, [None], [[1]], 10**5000, object()]
"""What is the value of no key of an action."""


def every(model: Model) -> list[dict[str, Any]]:
    return [action for _, actions in model.kinds() for action in actions]


def outcome(state: Any, calls: Any) -> str:
    return json.dumps([state, list(calls)], sort_keys=True)


def test_every_game_has_a_model():
    assert [*MODELS] == [*registry.names()]


@each_game
def test_random_games_of_all_options_match_model(name: str):
    kind = MODELS[name]
    sets = [dict(zip(kind.options, values, strict=True)) for values in product(*kind.options.values())]
    kinds: dict[str, int] = {"accepted": 0, "illegal": 0, "over": 0}
    for chosen in sets:
        follow(
            registry.game(name, chosen),
            kind(**chosen),
            random.Random(f"{name} {chosen}"),
            kinds,
            cases(6_000, 40_000) // len(sets),
        )
    assert kinds["accepted"] > cases(1_250, 10_000)
    assert kinds["illegal"] > cases(250, 500)
    assert kinds["over"] > cases(5, 10)


def follow(game: Game[Any], model: Model, chance: random.Random, kinds: dict[str, int], many: int) -> None:
    """Play both side by side. A game that is over is played on for a while: some fouls may still be called."""
    state, mine, late = game.opening(), model.opening(), 0
    weights = [weight for weight, _ in model.kinds()]
    often = min(0.02, 3 / len(every(model)))
    groups = [actions for _, actions in model.kinds()]
    for _ in range(many):
        before = model.sheet(mine)
        assert game.sheet(state) == before
        if chance.random() < often:
            check_legal_actions(game, state, model, mine)
        action = chance.choice(chance.choices(groups, weights)[0])
        same = repr(action)
        try:
            mine, words = model.play(mine, action)
        except (PermissionError, ValueError) as refused:
            with pytest.raises(InvalidActionError if isinstance(refused, ValueError) else IllegalActionError):
                game.play(state, action)
            kinds["illegal"] += isinstance(refused, PermissionError)
        else:
            after, calls = game.play(state, action)
            assert (list(calls), action) == (words, action)
            assert game.sheet(state) == before
            state = after
            kinds["accepted"] += 1
        assert repr(action) == same
        if (jumped := model.jump(chance, mine)) is not None:
            mine, state = jumped, game.restore(model.sheet(jumped))
        late += game.is_over(state)
        if late > 6:
            state, mine, late = game.opening(), model.opening(), 0
            kinds["over"] += 1


def check_legal_actions(game: Game[Any], state: Any, model: Model, mine: Any) -> None:
    """Check that the legal actions come to all that the model allows, and that nobody else is the winner."""
    legal = game.legal_actions(state)
    played = [game.play(state, action) for action in legal]
    reached = {outcome(game.sheet(after), calls) for after, calls in played}
    allowed = set()
    for action in every(model):
        if action["do"] != "forfeit":
            try:
                after, words = model.play(mine, action)
            except (PermissionError, ValueError):
                continue
            allowed.add(outcome(model.sheet(after), words))
    assert reached == allowed
    assert len({outcome(action, ()) for action in legal}) == len(legal)
    assert not model.distinct or len({*played}) == len(legal)
    assert game.is_over(state) == (model.sheet(mine)["winner"] is not None)


def states(name: str) -> Iterator[tuple[Game[Any], Any]]:
    """Yield the opening, moments of play and a game that is over."""
    game, chance = registry.game(name), random.Random(name)
    yield game, game.opening()
    for most in (1, 2, 5, 9):
        yield game, state_after(chance, game, most, ends=0.0)
    over = state_after(chance, game, 3)
    player, *others = (side.key for side in game.scoreboard(game.sheet(over)).sides)
    for other in [player] if player in "AB" else [player, *others[:-1]]:
        over, _ = game.play(over, {"do": "forfeit", "by": other})
    assert game.is_over(over)
    yield game, over


def malformed(action: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield `action` without each key, with one more, and with each value changed to what it cannot be."""
    yield {**action, "x": 1}
    yield {**action, 7: 1}  # type: ignore[dict-item]
    yield {**action, "k" * 10_000: 1}
    for key, value in action.items():
        if key not in ("pad", "hide", "block", "mirror"):
            yield {other: one for other, one in action.items() if other != key}
        wrong = [*WRONG, [value], {"1": value}]
        if isinstance(value, bool):
            wrong += [int(value), str(value).lower(), None]
        elif isinstance(value, int):
            wrong += [True, float(value), str(value)]
        elif isinstance(value, str):
            wrong += [value.swapcase(), f" {value}", None]
        elif isinstance(value, list):
            wrong += [None, 2, "2", [True], [2.0]]
        yield from ({**action, key: one} for one in wrong)
        if isinstance(value, dict):
            yield from ({**action, key: one} for one in malformed(value))


@each_game
def test_malformed_action_is_invalid_in_every_phase(name: str):
    model = MODELS[name]()
    valid = {(*action,): action for _, actions in model.kinds() for action in actions[::-1]}.values()
    by_word = {(action["do"], *action): action for action in every(model)}.values()
    wrong = [*NONE, *model.invalid, *(one for action in [*valid, *by_word] for one in malformed(action))]
    for game, state in states(name):
        for action in wrong:
            with pytest.raises(InvalidActionError) as caught:
                game.play(state, action)
            assert caught.value.message
            assert "\n" not in caught.value.message + caught.value.hint
            assert len(str(caught.value)) < 300


@each_game
def test_every_action_is_read_as_written(name: str):
    game = registry.game(name)
    for action in every(MODELS[name]()):
        line = format_action(name, action)
        for written in (line, format_action("", action)):  # and the form that any game takes
            assert parse_action(name, scan(written)[0]) == action
        with suppress(InvalidActionError):  # some of the model's shots
            with suppress(IllegalActionError):
                game.play(game.opening(), action)
            assert parse_line(line, 1.0, game) == JudgeAction(1.0, action)


@each_game
def test_states_are_frozen_and_hashable(name: str):
    for game, state in states(name):
        assert {state: 1}[game.restore(game.sheet(state)) if name != "dakota" else state] == 1
        with pytest.raises(FrozenInstanceError):
            setattr(state, fields(state)[0].name, None)


@each_game
def test_settings_have_the_pages_defaults_and_bounds(name: str):
    game, model = registry.game(name), MODELS[name]
    assert dict(game.settings) == {option: values[0] for option, values in model.options.items()}
    numbers = [option for option in game.options if hasattr(option, "low")]
    assert {option.name: (option.low, option.high) for option in numbers} == model.bounds
    for option in game.options:
        for wrong in ("zuni", "", -1, []):
            with pytest.raises(UsageError, match=f"option {option.name} cannot be"):
                registry.game(name, {option.name: wrong})


@each_game
def test_score_sheet_answers_each_line_like_the_game(name: str):
    chance, model, game = random.Random(name), MODELS[name](), registry.game(name)
    actions = [chance.choice([*every(model), {"do": "jump"}]) for _ in range(60)]
    out = io.StringIO()
    assert sheet.run(game, [json.dumps(action).encode() for action in actions], out) == 2
    state = game.opening()
    for action, answer in zip([None, *actions], map(json.loads, out.getvalue().splitlines()), strict=True):
        if "error" in answer:
            with pytest.raises(
                (IllegalActionError, InvalidActionError), match=re.escape(answer["error"]["message"].split(";")[0])
            ):
                game.play(state, action)
        else:
            state, calls = game.play(state, action) if action else (state, ())
            assert answer == {"state": game.sheet(state), "calls": [*calls]}
