"""What holds in every game: sticks are conserved, refusals change nothing, and which states there are."""

from __future__ import annotations

from typing import Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.games.dakota.rules import HIDER_FOULS, HITTER_FOULS, Dakota, State
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.options import Choice

CHOICES = {option.name: st.sampled_from(option.choices) for option in Dakota.options if isinstance(option, Choice)}
SETTINGS = st.fixed_dictionaries({"points": st.integers(1, 6), **CHOICES})

HITS = st.fixed_dictionaries(
    {"do": st.just("hit"), "found": st.booleans()}, optional={"pad": st.sampled_from([1, 2, 3, 4])}
)
FOULS = st.fixed_dictionaries(
    {
        "do": st.just("foul"),
        "by": st.sampled_from(["hider", "hitter"]),
        "kind": st.sampled_from(HIDER_FOULS + HITTER_FOULS),
    },
    optional={"hide": st.sampled_from(["this", "last"])},
)
FORFEITS = st.fixed_dictionaries({"do": st.just("forfeit"), "by": st.sampled_from(["A", "B"])})
TOSSES = st.fixed_dictionaries({"do": st.just("toss"), "winner": st.sampled_from(["A", "B"])})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["do", "found", "pad", "by", "kind", "hide", "winner", "x"])
WORDS = st.sampled_from(["hit", "toss", "foul", "hider", "A", "last", "time", "forfeit", True, 1, 7])
NONSENSE = JSON | st.dictionaries(KEYS, WORDS | JSON, max_size=5)
ACTIONS = st.lists(st.one_of(HITS, HITS, HITS, FOULS, TOSSES, NONSENSE, FORFEITS), max_size=60)


def well(game: Dakota, state: State) -> None:
    """Check what is true of every state."""
    assert state.sticks.total == 20
    assert state.h + state.t + (state.m if state.hider else 20) == 20
    shown = game.sheet(state)
    assert shown["long"]["A"] + shown["long"]["B"] + shown["middle"] == 20
    assert (shown["owed"] is None) == (state.hider is None or game.is_over(state))
    assert (state.before is not None) == (state.owed == "second")
    assert not (state.before and state.last)
    for kept in (state.before, state.last):
        assert kept is None or (kept.before, kept.last, kept.first_pad) == (None, None, None)
    points = game.settings["points"]
    won_by_play = state.winner and state.finish is None
    assert max(state.short) == points if won_by_play else max(state.short) < points
    hash(state)


@given(SETTINGS, ACTIONS)
@settings(max_examples=cases(15, 150), deadline=None)
def test_random_actions_conserve_sticks_and_refusals_keep_state(chosen: dict[str, Any], actions: list[Any]):
    game = Dakota(chosen)
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except (InvalidActionError, IllegalActionError):
            assert state is before
        else:
            assert all(isinstance(call, str) for call in calls)
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=80))
@settings(max_examples=cases(15, 100), deadline=None)
def test_legal_actions_match_accepted_actions(chosen: dict[str, Any], picks: list[int]):
    game = Dakota(chosen)
    state = game.opening()
    every = [
        *({"do": "toss", "winner": team} for team in "AB"),
        *({"do": "hit", "found": found} for found in (True, False)),
        {"do": "foul", "by": "hider", "kind": "no_bead"},
        {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"},
        *({"do": "foul", "by": "hitter", "kind": kind} for kind in HITTER_FOULS),
        *({"do": "foul", "by": "hitter", "kind": kind, "hide": "last"} for kind in HITTER_FOULS),
    ]
    for pick in picks:
        legal = game.legal_actions(state)
        for action in every:
            if action not in legal:
                with pytest.raises(IllegalActionError):
                    game.play(state, action)
        if not legal:
            break
        reached = [game.play(state, action)[0] for action in legal]
        state = reached[pick % len(reached)]
        well(game, state)


def reachable(game: Dakota, *, fouls: bool) -> set[State]:
    """Return every state that a game can come to."""
    found: set[State] = set()
    left = [game.opening()]
    while left:
        state = left.pop()
        if state in found:
            continue
        found.add(state)
        left += (game.play(state, action)[0] for action in game.legal_actions(state) if fouls or action["do"] != "foul")
    return found


def hides(states: set[State]) -> set[tuple[int, int, int, str]]:
    """Return the hider's, the hitter's, the middle's sticks and the mode wherever a hide begins."""
    return {(state.h, state.t, state.m, state.mode) for state in states if state.owed == "first"}


def test_without_fouls_there_are_46_hides():
    # every even count of hitter and middle with a hider of 4 to 16 and a pool of 4 or more, but for the one that is an
    # eyeya; and the two after a point with all sticks returned
    ordinary = {(h, t, 20 - h - t, "ordinary") for h in range(4, 17, 2) for t in range(0, 21 - h, 2)}
    ordinary -= {(4, 16, 0, "ordinary")}
    ordinary |= {(0, 0, 20, "ordinary"), (2, 0, 18, "ordinary")}
    assert len(ordinary) == 43
    scoring = {(12, 8, 0, "sahdogan"), (6, 14, 0, "yawapi"), (4, 16, 0, "eyeya")}
    assert hides(reachable(Dakota({"points": 2}), fouls=False)) == ordinary | scoring


@pytest.mark.parametrize(
    ("chosen", "more"),
    [
        ({}, set()),
        ({"foul_payer": "middle_first"}, {(4, 16, 0, "ordinary")}),
        (
            {"low_hider": "literal"},
            {(4, 16, 0, "ordinary"), (18, 0, 2, "ordinary"), (18, 2, 0, "ordinary"), (20, 0, 0, "ordinary")},
        ),
    ],
)
def test_fouls_and_options_add_few_hides(chosen: dict[str, str], more: set[tuple[int, int, int, str]]):
    plain = hides(reachable(Dakota({"points": 2}), fouls=False))
    assert hides(reachable(Dakota({"points": 2, **chosen}), fouls=True)) - plain == more
