"""What holds in every Mille Lacs Moccasin game: counters are conserved and refusals change nothing."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.games.ojibwe.rules import Ojibwe
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.options import Choice

if TYPE_CHECKING:
    from pi_controller.games.ojibwe.rules import State

CHOICES = {option.name: st.sampled_from(option.choices) for option in Ojibwe.options if isinstance(option, Choice)}
SETTINGS = st.fixed_dictionaries({"games": st.integers(1, 4), "max_open": st.sampled_from([2, 3]), **CHOICES})

PADS = (1, 2, 3, 4)
EVERY_SHOT = [
    {"do": "shoot", "opened": list(opened), "hit": hit, "ball": ball}
    for n in range(5)
    for opened in permutations(PADS, n)
    for hit, ball in product((None, *PADS), PADS)
]
EVERY = [*({"do": "toss", "winner": team} for team in "AB"), *EVERY_SHOT]
"""The whole alphabet, with all that is malformed only in how the pads go together."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["do", "opened", "hit", "ball", "winner", "x"])
WORDS = st.sampled_from(["shoot", "toss", "A", "B", True, 1, 4, 7, None, [1, 2], [True]])
NONSENSE = JSON | st.dictionaries(KEYS, WORDS | JSON, max_size=5)
GOOD = [action for action in EVERY_SHOT if len(action["opened"]) < 3 and action["hit"] == action["ball"]] + [
    action for action in EVERY_SHOT if not action["opened"] and action["hit"] is not None
]
ACTIONS = st.lists(
    st.one_of(st.sampled_from(GOOD), st.sampled_from(GOOD), st.sampled_from(EVERY), NONSENSE), max_size=80
)


def well(game: Ojibwe, state: State) -> None:
    """Check what is true of every state."""
    assert state.counters.total == 20
    shown = game.sheet(state)
    assert shown["counters"]["A"] + shown["counters"]["B"] + shown["pool"] == 20
    banks = game.settings["one_stick"] == "keeps_shooting"
    assert state.hides_left >= 1 if banks else state.hides_left in (1, 2)
    assert state.banked == 0 or (banks and state.shooting == 1)
    assert state.high in (None, *PADS)
    if state.hider:
        assert shown["shooting"] == 20 - shown["counters"][state.hider] > 0  # at twenty a new game has begun
        assert shown["double"] is (shown["shooting"] <= 3)
    games = game.settings["games"]
    assert isinstance(games, int)
    assert max(state.short) == games if state.winner else max(state.short) < games
    hash(state)


@given(SETTINGS, ACTIONS)
@settings(max_examples=cases(15, 150), deadline=None)
def test_random_actions_conserve_counters_and_refusals_keep_state(chosen: dict[str, Any], actions: list[Any]):
    game = Ojibwe(chosen)
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except (InvalidActionError, IllegalActionError):
            assert state is before
        else:
            assert set(calls) <= {"double", "found", "missed", "high_ball", "short_stick", "game"}
            assert ("found" in calls) + ("missed" in calls) == 1
            assert ("double" in calls) == before.double
            assert ("short_stick" in calls) == (sum(state.short) == sum(before.short) + 1)
            assert ("game" in calls) == (state.winner is not None)
            assert state.hider == before.hider or "found" in calls or before.banked
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


def allowed(game: Ojibwe, action: dict[str, Any]) -> bool:
    """Whether the pads of a shot go together, told another way than the game does: by walking through them."""
    seen: list[int] = []
    for pad in action["opened"]:
        if pad in seen or len(seen) == game.settings["max_open"] or action["ball"] in seen:
            return False
        seen.append(pad)
    if action["ball"] in seen:
        return action["hit"] is None
    return action["hit"] is not None and action["hit"] not in seen


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=8))
@settings(max_examples=cases(15, 40), deadline=None)
def test_legal_actions_are_all_there_is(chosen: dict[str, Any], picks: list[int]):
    game = Ojibwe(chosen)
    state = game.opening()
    for pick in picks:
        legal = game.legal_actions(state)
        reached = {game.play(state, action) for action in legal}
        assert len(reached) == len(legal)  # one for all that come to the same
        everywhere: set[Any] = set()
        for action in EVERY:
            try:
                outcome = game.play(state, action)
            except (InvalidActionError, IllegalActionError):
                accepted = False
            else:
                accepted = True
                everywhere.add(outcome)
            now = not game.is_over(state) and (action["do"] == "toss") == (state.hider is None)
            assert accepted == (now and (action["do"] == "toss" or allowed(game, action)))
        assert reached == everywhere
        if not legal:
            break
        state, _ = game.play(state, legal[pick % len(legal)])
        well(game, state)


OTHERWISE = {"max_open": 3, "high_ball_scope": "next_hide_only", "high_reset": "never", "start_counters": "split_10_10"}


@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        ({}, {1: 2, 2: 12, 3: 96, 4: 840, 6: 65984, 8: 4895064}),
        ({"games": 1}, {6: 65600, 8: 4695180}),
        (OTHERWISE, {4: 720, 6: 41120, 8: 2332672}),
    ],
)
def test_game_counts_by_length_are_unchanged(chosen: dict[str, Any], counts: dict[int, int]):
    """Any change of what is allowed, or of what it leads to, moves these counts of sequences of legal actions."""
    game = Ojibwe(chosen)

    @cache
    def sequences(state: State, length: int) -> int:
        if length == 0:
            return 1
        return sum(sequences(game.play(state, action)[0], length - 1) for action in game.legal_actions(state))

    assert {length: sequences(game.opening(), length) for length in counts} == counts
