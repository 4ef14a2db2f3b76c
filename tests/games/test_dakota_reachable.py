"""Which states a game of Hampa Apena can come to."""

from __future__ import annotations

import pytest

from pi_controller.games.dakota.rules import Dakota, State


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
