"""Slahal: the cases that the page explains."""

from __future__ import annotations

from typing import Any

import pytest

from pi_controller.games.slahal.rules import Slahal, SlahalState
from pi_controller.rules.sticks import Sticks

TIME = {"do": "time"}


def guess(signal: str, actual: str, **more: Any) -> dict[str, Any]:
    return {"do": "guess", "signal": signal, "actual": actual, **more}


CATCH, MISS, SPLIT = guess("left", "left"), guess("left", "right"), guess("left", "inside")


def at(own: tuple[int, int], others: tuple[int, int], king: str = "A", **more: Any) -> SlahalState:
    """Team A hides with (live, dead) sticks of its `own`, B guesses with the `others`."""
    sticks = Sticks.of(
        A_live=own[0],
        B_live=others[0],
        A_dead=own[1],
        B_dead=others[1],
        A_king=int(king == "A"),
        B_king=int(king == "B"),
        king=0,
    )
    assert sticks.total == 11
    return SlahalState(**{"sticks": sticks, "hiding": "A", "pairs_out": 2, **more})


def play(state: SlahalState, *steps: dict[str, Any], **chosen: object) -> tuple[SlahalState, list[str]]:
    slahal = Slahal(chosen)
    called: list[str] = []
    for step in steps:
        state, calls = slahal.play(state, step)
        called += calls
    return state, called


def counts(state: SlahalState) -> tuple[Any, ...]:
    """A's (live, dead), B's (live, dead), who holds the king."""
    sheet = Slahal().sheet(state)
    return *((sheet["live"][team], sheet["dead"][team]) for team in "AB"), sheet["king"]


PAID = [
    # guessers' live first
    ((5, 0), (5, 0), "A", MISS, ((5, 2), (3, 0), "A"), False),
    ((5, 3), (2, 0), "B", MISS, ((5, 5), (0, 0), "B"), False),
    # then H's own live
    ((5, 4), (1, 0), "B", MISS, ((4, 6), (0, 0), "B"), False),
    ((5, 3), (0, 2), "A", MISS, ((3, 5), (0, 2), "A"), False),
    ((2, 3), (0, 5), "B", MISS, ((0, 5), (0, 5), "B"), False),
    # then the guessers' dead
    ((1, 4), (0, 5), "A", MISS, ((0, 6), (0, 4), "A"), False),
    ((0, 4), (1, 5), "B", MISS, ((0, 6), (0, 4), "B"), False),
    ((0, 8), (0, 2), "B", MISS, ((0, 10), (0, 0), "B"), False),
    # then the king, and never before
    ((0, 9), (0, 1), "B", MISS, ((0, 10), (0, 0), "A"), True),
    ((1, 9), (0, 0), "B", MISS, ((0, 10), (0, 0), "A"), True),
    ((0, 9), (1, 0), "B", MISS, ((0, 10), (0, 0), "A"), True),
    ((0, 9), (0, 1), "B", SPLIT, ((0, 10), (0, 0), "B"), False),
    ((0, 10), (0, 0), "B", SPLIT, ((0, 10), (0, 0), "A"), True),
    ((0, 10), (0, 0), "B", MISS, ((0, 10), (0, 0), "A"), True),  # nothing is left for the second stick
    # H holds the king: ten dead win
    ((0, 8), (0, 2), "A", MISS, ((0, 10), (0, 0), "A"), True),
    ((0, 9), (0, 1), "A", MISS, ((0, 10), (0, 0), "A"), True),
    ((1, 9), (0, 0), "A", SPLIT, ((0, 10), (0, 0), "A"), True),
    ((0, 8), (0, 2), "A", SPLIT, ((0, 9), (0, 1), "A"), False),
]


@pytest.mark.parametrize(("own", "others", "king", "action", "after", "swept"), PAID)
def test_payment_order_to_the_hiding_team(own, others, king, action, *, after, swept):
    state, called = play(at(own, others, king), action)
    assert counts(state) == after
    word = "miss" if action is MISS else "split"
    assert called == ([word, "sweep"] if swept else [word])
    sheet = Slahal().sheet(state)
    if swept:
        assert (sheet["phase"], sheet["winner"], sheet["finish"]) == ("over", "A", "sweep")
        assert sheet["sticks"] == {"A": 11, "B": 0}
    else:
        assert (sheet["phase"], sheet["winner"], sheet["finish"]) == ("play", None, None)


@pytest.mark.parametrize(
    ("own", "others", "king", "winner"),
    [
        ((5, 0), (5, 0), "A", "A"),  # nobody has won a stick: the king decides
        ((5, 0), (5, 0), "B", "B"),
        ((2, 3), (4, 1), "A", "A"),
        ((2, 3), (4, 1), "B", "B"),
        ((1, 5), (3, 1), "B", "A"),
        ((0, 0), (0, 10), "A", "B"),
    ],
)
def test_at_time_most_sticks_win(own: tuple[int, int], others: tuple[int, int], king: str, winner: str):
    for pairs_out in (1, 2):
        state, called = play(at(own, others, king, pairs_out=pairs_out), TIME)
        sheet = Slahal().sheet(state)
        assert (called, sheet["phase"], sheet["winner"], sheet["finish"]) == ([], "over", winner, "time")
        assert counts(state) == (own, others, king)
