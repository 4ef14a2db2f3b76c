"""What holds in every fish game: sticks are conserved, refusals change nothing, and how many games there are."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.games.bageswin.rules import BANK, Bageswin, State
from pi_controller.rules.base import IllegalActionError, InvalidActionError

SETTINGS = st.fixed_dictionaries(
    {
        "players": st.integers(2, 8).map(lambda count: ",".join("ABCDEFGH"[:count])),
        "sticks": st.integers(1, 60).map(lambda half: 2 * half),
        "table": st.sampled_from(["mille_lacs", "hinckley_2009"]),
    }
)
THROWS = st.fixed_dictionaries(
    {
        "do": st.just("throw"),
        "red": st.fixed_dictionaries(
            {
                "woman": st.integers(0, 1),
                "fish": st.integers(0, 1),
                "knives": st.integers(0, 2),
                "buttons": st.integers(0, 4),
            }
        ),
    }
)
SCORES = st.integers(0, 4).map(
    lambda buttons: {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0, "buttons": buttons}}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NONSENSE = JSON | st.dictionaries(
    st.sampled_from(["do", "red", "woman", "x"]), st.sampled_from(["throw", "double_tap", 1]) | JSON, max_size=4
)
FORFEITS = st.fixed_dictionaries({"do": st.just("forfeit"), "by": st.sampled_from("ABCDEFGH")})
TAPS = st.just({"do": "double_tap"})
ACTIONS = st.lists(st.one_of(SCORES, SCORES, THROWS, TAPS, NONSENSE, FORFEITS), max_size=60)


def well(game: Bageswin, state: State) -> None:
    """Check what is true of every state."""
    assert state.sticks.total == game.settings["sticks"]
    shown = game.sheet(state)
    assert shown["bank"] + sum(player["sticks"] for player in shown["players"]) == game.settings["sticks"]
    assert all(player["out"] >= (shown["bank"] == 0 == player["sticks"]) for player in shown["players"])
    assert not any(player["out"] and player["sticks"] for player in shown["players"])
    left = [player["name"] for player in shown["players"] if not player["out"]]
    assert shown["thrower"] in left
    assert (shown["winner"] is not None) == (len(left) == 1) == game.is_over(state)
    assert shown["winner"] in (None, *left)
    assert (shown["finish"] is not None) == (shown["winner"] is not None and shown["bank"] > 0)
    hash(state)


@given(SETTINGS, ACTIONS)
@settings(max_examples=cases(15, 150))
def test_random_actions_conserve_sticks_and_refusals_keep_state(chosen: dict[str, Any], actions: list[Any]):
    game = Bageswin(chosen)
    state = game.opening()
    well(game, state)
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except InvalidActionError:
            assert state is before
        except IllegalActionError:
            assert state is before
            assert game.is_over(state) or action["by"] in state.out
        else:
            forfeit = ("forfeit", "game") if game.is_over(state) else ("forfeit",)
            assert calls == (forfeit if action["do"] == "forfeit" else ())
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=60))
@settings(max_examples=cases(15, 100))
def test_legal_actions_are_legal(chosen: dict[str, Any], picks: list[int]):
    game = Bageswin(chosen)
    state = game.opening()
    for pick in picks:
        reached = [game.play(state, action)[0] for action in game.legal_actions(state)]
        assert bool(reached) != game.is_over(state)
        if not reached:
            break
        state = reached[pick % len(reached)]
        well(game, state)


@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({}, {1: 257, 2: 65535, 4: 4262920423, 6: 277590376077735}),
        ({"table": "hinckley_2009"}, {1: 257, 2: 65535, 4: 4264071783, 6: 277797342750279}),
        ({"players": "A,B,C", "sticks": 30}, {1: 257, 2: 65021, 4: 4161643405, 6: 267770564294645}),
        (
            {"players": "A,B,C,D", "sticks": 21, "table": "hinckley_2009"},
            {1: 257, 2: 65021, 4: 4147072533, 6: 266499494321725},
        ),
    ],
)
def test_game_counts_by_length_are_unchanged(chosen: dict[str, Any], counts: dict[int, int]):
    """Every one of the 256 throws of eight different pieces counted, and the double tap."""
    game = Bageswin(chosen)
    ways: Counter[int] = Counter({0: 1})  # the double tap
    for w, f, *rest in product((0, 1), repeat=8):
        red = {"woman": w, "fish": f, "knives": sum(rest[:2]), "buttons": sum(rest[2:])}
        ways[game.play(game.opening(), {"do": "throw", "red": red})[0].value or 0] += 1
    assert sum(ways.values()) == 257

    @cache
    def sequences(state: State, length: int) -> int:
        if length == 0:
            return 1
        total = 0
        for action in game.legal_actions(state)[:-1]:
            after, _ = game.play(state, action)
            assert after.value is not None
            total += ways[after.value] * sequences(after, length - 1)
        return total

    assert {length: sequences(game.opening(), length) for length in counts} == counts
    assert game.opening().sticks[BANK] in (0, game.settings["sticks"])
