"""The plum stone game, sentence by sentence, and what holds in every game of it."""

from __future__ import annotations

import dataclasses
import io
import json
from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.errors import UsageError
from pi_controller.games.plum_stone.rules import PILE, PlumStone, State
from pi_controller.rules import sheet
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.sticks import Sticks

NO_THROW = {"do": "no_throw"}
SHOWING = {10: (2, 3), 1: (1, 3), 0: (2, 0)}


def lot(first: str) -> dict[str, Any]:
    return {"do": "lot", "first": first}


def throw(moons: int, whites: int) -> dict[str, Any]:
    return {"do": "throw", "moons": moons, "whites": whites}


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(*SHOWING[value]) for value in values]


def moment(pile: int, a: int, b: int) -> State:
    """A throws."""
    return State(Sticks((PILE, "A", "B"), (pile, a, b)), "A")


def play(state: State | None, *actions: dict[str, Any], **settings: object) -> State:
    game = PlumStone(settings)
    state = state or game.play(game.opening(), lot("A"))[0]
    for action in actions:
        state, calls = game.play(state, action)
        assert calls == ()
    return state


def counts(state: State) -> tuple[int, int, int]:
    return state.sticks[PILE], state.sticks["A"], state.sticks["B"]


def test_lot_comes_first_and_once():
    game = PlumStone()
    opening = game.opening()
    assert (opening.thrower, opening.value, counts(opening)) == (None, None, (100, 0, 0))
    for action in (NO_THROW, *worth(0, 10)):
        with pytest.raises(IllegalActionError, match="the lot comes first"):
            game.play(opening, action)
    for first in "AB":
        state, _ = game.play(opening, lot(first))
        assert (state.thrower, state.value, counts(state)) == (first, None, (100, 0, 0))
        with pytest.raises(IllegalActionError, match="the lot was drawn already"):
            game.play(state, lot("A"))


@pytest.mark.parametrize("moons", range(3))
@pytest.mark.parametrize("whites", range(4))
def test_the_combinations_that_count(moons: int, whites: int):
    value = {(2, 3): 10, (0, 0): 10, (1, 3): 1, (1, 0): 1}.get((moons, whites), 0)
    state = play(None, throw(moons, whites))
    assert (state.value, state.thrower) == (value, "A" if value else "B")
    assert counts(state) == (100 - value, value, 0)


def test_6_of_32_throws_score():
    values = [play(None, throw(a + b, c + d + e)).value or 0 for a, b, c, d, e in product((0, 1), repeat=5)]
    assert len(values) == 32
    assert Counter(values) == {0: 26, 10: 2, 1: 4}


def test_scorer_throws_again_else_bowl_passes():
    assert play(None, *worth(1, 10, 1)).thrower == "A"
    assert play(None, *worth(1, 0)).thrower == "B"
    assert play(None, *worth(1, 0, 10, 0)).thrower == "A"


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ((10, 40, 50), 10, (0, 50, 50)),
        ((4, 40, 56), 10, (0, 50, 50)),  # the pile first, the rest of one award from the opponent
        ((0, 40, 60), 10, (0, 50, 50)),
        ((0, 40, 60), 1, (0, 41, 59)),
        ((2, 95, 3), 10, (0, 100, 0)),  # never more than there is
        ((0, 90, 10), 10, (0, 100, 0)),
        ((4, 96, 0), 10, (0, 100, 0)),
        ((90, 0, 10), 10, (80, 10, 10)),
    ],
)
def test_points_come_from_pile_before_opponent(before: tuple[int, int, int], value: int, after: tuple[int, int, int]):
    state = play(moment(*before), *worth(value))
    assert counts(state) == after
    assert state.winner == ("A" if after[1] == 100 else None)
    assert (state.thrower, state.value) == ("A", value)


def test_player_with_all_counters_wins():
    state = play(None, *worth(0, *[10] * 9))
    assert (counts(state), state.winner) == ((10, 0, 90), None)
    state = play(state, *worth(10))
    assert (counts(state), state.winner) == ((0, 0, 100), "B")
    game = PlumStone()
    assert game.is_over(state)
    assert game.legal_actions(state) == ()
    for action in (NO_THROW, lot("A"), *worth(0, 10)):
        with pytest.raises(IllegalActionError):
            game.play(state, action)


def test_no_throw_passes_bowl_or_repeats_by_option():
    state = play(None, *worth(10), NO_THROW)
    assert (state.thrower, state.value, counts(state)) == ("B", 0, (90, 10, 0))
    state = play(None, *worth(10), NO_THROW, no_throw="again")
    assert (state.thrower, state.value, counts(state)) == ("A", 0, (90, 10, 0))
    assert play(state, *worth(0), no_throw="again").thrower == "B"


def test_the_number_of_counters_is_an_option():
    assert play(None, *worth(1), counters=1).winner == "A"
    assert counts(play(None, counters=50)) == (50, 0, 0)
    assert play(None, *[*worth(10)] * 5, counters="50").winner == "A"


def test_the_sheet_has_the_keys_of_the_rules():
    game = PlumStone()
    assert game.sheet(game.opening()) == {
        "thrower": None,
        "pile": 100,
        "counters": {"A": 0, "B": 0},
        "value": None,
        "winner": None,
        "finish": None,
    }
    assert game.sheet(play(None, *worth(10, 1, 0))) == {
        "thrower": "B",
        "pile": 89,
        "counters": {"A": 11, "B": 0},
        "value": 0,
        "winner": None,
        "finish": None,
    }


def test_the_score_sheet_keeps_it():
    out = io.StringIO()
    actions = (NO_THROW, lot("B"), *worth(10, 0), {"do": "throw", "moons": 3, "whites": 0}, NO_THROW)
    assert sheet.run(PlumStone(), [json.dumps(action).encode() for action in actions], out) == 2
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [answer.get("error", {}).get("kind") for answer in answers] == [
        *(None, "illegal", None, None, None, "invalid", None),
    ]
    assert answers[-1]["state"]["thrower"] == "B"


def test_the_defaults():
    assert dict(PlumStone().settings) == {"counters": 100, "no_throw": "pass"}


@pytest.mark.parametrize("settings", [{"counters": 0}, {"counters": "1e2"}, {"no_throw": "repeat"}, {"players": "A,B"}])
def test_invalid_options_are_refused(settings: dict[str, object]):
    with pytest.raises(UsageError):
        PlumStone(settings)


@pytest.mark.parametrize(
    "action",
    [
        None,
        {},
        {"do": "toss", "winner": "A"},
        {"do": "lot"},
        lot("C"),
        {"do": "lot", "first": None},
        {"do": "lot", "first": "A", "moons": 1},
        {"do": "throw"},
        {"do": "throw", "moons": 1},
        {"do": "throw", "whites": 1},
        throw(3, 0),
        throw(0, 4),
        throw(-1, 0),
        throw(True, 0),
        throw(0, False),
        throw(1.0, 0),  # type: ignore[arg-type]
        {**throw(1, 1), "stars": 1},
        {"do": "no_throw", "spilled": True},
    ],
)
@pytest.mark.parametrize("when", ["before the lot", "in play", "over"])
def test_malformed_action_is_invalid_in_every_phase(action: Any, when: str):
    game = PlumStone()
    state = game.opening() if when == "before the lot" else moment(50, 50, 0)
    if when == "over":
        state = dataclasses.replace(moment(0, 100, 0), winner="A")
    with pytest.raises(InvalidActionError):
        game.play(state, action)


# ---- in every game

SETTINGS = st.fixed_dictionaries({"counters": st.integers(1, 60), "no_throw": st.sampled_from(["pass", "again"])})
THROWS = st.builds(throw, st.integers(0, 2), st.integers(0, 3))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NONSENSE = JSON | st.dictionaries(
    st.sampled_from(["do", "first", "moons", "whites", "x"]),
    st.sampled_from(["throw", "lot", "no_throw", "A", 1]) | JSON,
    max_size=4,
)
ACTIONS = st.lists(
    st.one_of(THROWS, THROWS, st.builds(lot, st.sampled_from("AB")), st.just(NO_THROW), NONSENSE), max_size=60
)


def well(game: PlumStone, state: State) -> None:
    """Check what is true of every state."""
    total = game.settings["counters"]
    assert state.sticks.total == total
    shown = game.sheet(state)
    assert shown["pile"] + sum(shown["counters"].values()) == total
    assert [player for player in "AB" if shown["counters"][player] == total] == (
        [shown["winner"]] if shown["winner"] else []
    )
    assert game.is_over(state) == (shown["winner"] is not None)
    hash(state)


@given(SETTINGS, ACTIONS)
@settings(max_examples=cases(15, 150))
def test_random_actions_conserve_counters_and_refusals_keep_state(chosen: dict[str, Any], actions: list[Any]):
    game = PlumStone(chosen)
    state = game.opening()
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except (InvalidActionError, IllegalActionError):
            assert state is before
        else:
            assert calls == ()
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=60))
@settings(max_examples=cases(15, 100))
def test_legal_actions_match_accepted_actions(chosen: dict[str, Any], picks: list[int]):
    game = PlumStone(chosen)
    state = game.opening()
    every = [lot("A"), lot("B"), *worth(10, 1, 0), NO_THROW]
    for pick in picks:
        legal = game.legal_actions(state)
        for action in every:
            if action not in legal:
                with pytest.raises(IllegalActionError):
                    game.play(state, action)
        reached = [game.play(state, action)[0] for action in legal]
        assert bool(reached) != game.is_over(state)
        if not reached:
            break
        state = reached[pick % len(reached)]
        well(game, state)


@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({}, {1: 2, 2: 66, 4: 71874, 6: 78270786, 12: 101084213027386050}),
        ({"counters": 21}, {2: 66, 4: 71874, 6: 78036354, 12: 97196592792786498}),
        ({"counters": 21, "no_throw": "again"}, {2: 66, 4: 71874, 6: 78028962, 12: 97163013801006978}),
    ],
)
def test_game_counts_by_length_are_unchanged(chosen: dict[str, Any], counts: dict[int, int]):
    """The two lots, and then every one of the 32 throws of five different stones, and the throw that does not count."""
    game = PlumStone(chosen)
    ways = Counter(
        json.dumps(throw(*SHOWING[play(None, throw(a + b, c + d + e)).value or 0]))
        for a, b, c, d, e in product((0, 1), repeat=5)
    )

    @cache
    def sequences(state: State, length: int) -> int:
        if length == 0:
            return 1
        return sum(
            ways.get(json.dumps(action), 1) * sequences(game.play(state, action)[0], length - 1)
            for action in game.legal_actions(state)
        )

    assert {length: sequences(game.opening(), length) for length in counts} == counts
