"""The plum stone game: the cases that the page explains."""

from __future__ import annotations

from typing import Any

import pytest

from pi_controller.games.plum_stone.rules import PILE, PlumStone, PlumStoneState
from pi_controller.rules.sticks import Sticks

SHOWING = {10: (2, 3), 1: (1, 3), 0: (2, 0)}


def lot(first: str) -> dict[str, Any]:
    return {"do": "lot", "first": first}


def throw(moons: int, whites: int) -> dict[str, Any]:
    return {"do": "throw", "moons": moons, "whites": whites}


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(*SHOWING[value]) for value in values]


def moment(pile: int, a: int, b: int) -> PlumStoneState:
    """A throws."""
    return PlumStoneState(Sticks((PILE, "A", "B"), (pile, a, b)), "A")


def play(state: PlumStoneState | None, *actions: dict[str, Any], **settings: object) -> PlumStoneState:
    game = PlumStone(settings)
    state = state or game.play(game.opening(), lot("A"))[0]
    for action in actions:
        state, calls = game.play(state, action)
        assert calls == ()
    return state


def counts(state: PlumStoneState) -> tuple[int, int, int]:
    return state.sticks[PILE], state.sticks["A"], state.sticks["B"]


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
