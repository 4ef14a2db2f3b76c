"""Patol: the cases that the page explains."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pi_controller.games.patol.rules import Horse, Patol, PatolState

MARKED = {5: 0, 3: 1, 2: 2, 10: 3}


def throw(marked: int) -> dict[str, Any]:
    return {"do": "throw", "marked": marked}


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(MARKED[value]) for value in values]


def play(state: PatolState | None, *actions: dict[str, Any], **settings: object) -> tuple[PatolState, list[str]]:
    game = Patol(settings)
    state = state or game.opening()
    called: list[str] = []
    for action in actions:
        state, calls = game.play(state, action)
        called += calls
    return state, called


def moment(*horses: tuple[str, str, int]) -> PatolState:
    """Players A, B, C ... with these rivers, directions and progresses; A throws."""
    made = (Horse(player, *horse) for player, horse in zip("ABCDEFGH", horses, strict=False))  # type: ignore[arg-type]
    return PatolState(tuple(made), "A")


def progress(state: PatolState) -> list[int]:
    return [horse.progress for horse in state.horses]


def notches(state: PatolState) -> list[int | None]:
    return [horse.notch for horse in state.horses]


def test_landing_on_a_horse_kills_it_to_start():
    state, calls = play(moment(("north", "clockwise", 3), ("north", "clockwise", 5)), *worth(2))
    assert (progress(state), notches(state), calls, state.thrower) == ([5, 0], [5, 0], ["killed"], "B")
    state, calls = play(moment(("north", "clockwise", 7), ("south", "counterclockwise", 8)), *worth(5))
    assert (progress(state), notches(state), calls) == ([12, 0], [12, 20], ["killed"])


def test_one_still_at_its_start_is_safe():
    state, calls = play(moment(("north", "clockwise", 5), ("east", "clockwise", 0)), *worth(5))
    assert (notches(state), progress(state), calls) == ([10, 10], [10, 0], [])


def test_visitor_at_start_can_be_killed_unlike_owner():
    before = moment(("north", "clockwise", 5), ("east", "clockwise", 10), ("east", "counterclockwise", 0))
    state, calls = play(before, *worth(5), players="A,B,C")  # A beside C at its start; B has gone on to 20
    assert (notches(state), calls) == ([10, 20, 10], [])
    state = dataclasses.replace(state, horses=(*state.horses, Horse("D", "north", "clockwise", 7)), thrower="D")
    state, calls = play(state, *worth(3), players="A,B,C,D")
    assert (progress(state), calls) == ([0, 10, 0, 10], ["killed"])


def test_killed_horse_returning_to_start_kills_none():
    before = moment(("north", "clockwise", 17), ("south", "counterclockwise", 0), ("east", "clockwise", 10))
    state, calls = play(before, *worth(3), players="A,B,C")  # C killed at 20, where B still stands at its start
    assert (notches(state), progress(state), calls) == ([20, 20, 10], [20, 0, 0], ["killed"])
    back = moment(("north", "clockwise", 17), ("north", "clockwise", 20), ("east", "counterclockwise", 10))
    state, calls = play(back, *worth(3), players="A,B,C")  # B goes back to the notch that C is in
    assert (notches(state), progress(state), calls) == ([20, 0, 0], [20, 0, 10], ["killed"])


@pytest.mark.parametrize(("before", "value", "after"), [(38, 2, 40), (37, 5, 42), (39, 10, 49)])
def test_the_complete_circuit_wins(before: int, value: int, after: int):
    state, calls = play(moment(("east", "counterclockwise", before), ("south", "clockwise", 1)), *worth(value))
    assert (state.winner, state.thrower, state.value, calls) == ("A", "A", value, [])
    assert (progress(state), notches(state)) == ([after, 1], [(10 - after) % 40, 21])


def test_winning_throw_kills_no_horse():
    state, calls = play(moment(("north", "clockwise", 39), ("north", "clockwise", 4)), *worth(5))
    assert (state.winner, progress(state), calls) == ("A", [44, 4], [])
