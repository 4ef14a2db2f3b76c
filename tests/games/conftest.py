"""Short ways to set up a moment of the Dakota game and to play on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pi_controller.games.dakota.rules import Dakota, DakotaState
from pi_controller.rules.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def at() -> Callable[..., DakotaState]:
    """`at(16, 0, 4)`: team A hides with 16, team B hits with none, four lie in the middle, the first hit is owed."""

    def state(h: int, t: int, m: int, mode: Any = "ordinary", short: tuple[int, int] = (0, 0)) -> DakotaState:
        return DakotaState(Sticks.of(A=h, B=t, middle=m), short, hider="A", mode=mode, owed="first")

    return state


@pytest.fixture
def play() -> Callable[..., tuple[DakotaState, list[str]]]:
    """`play(state, "miss", "find", {"do": "foul", ...}, points=3)`: the state after, and all the words called."""

    def run(state: DakotaState, *steps: str | dict[str, Any], **settings: object) -> tuple[DakotaState, list[str]]:
        game = Dakota(settings)
        called: list[str] = []
        for step in steps:
            action = {"do": "hit", "found": step == "find"} if isinstance(step, str) else step
            state, calls = game.play(state, action)
            called += calls
        return state, called

    return run


@pytest.fixture
def seen() -> Callable[[DakotaState], tuple[Any, ...]]:
    """`seen(state)`: hider, its sticks, the hitter's, the middle's, the mode, what is owed."""
    return lambda state: (state.hider, state.h, state.t, state.m, state.mode, state.owed)
