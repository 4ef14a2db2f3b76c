"""The Mille Lacs Moccasin game: the cases that the page explains."""

from __future__ import annotations

from typing import Any

import pytest

from pi_controller.games.ojibwe.rules import Ojibwe, OjibweState, miss_value
from pi_controller.rules.base import InvalidActionError
from pi_controller.rules.sticks import Sticks

PADS = (1, 2, 3, 4)


def at(a: int, b: int, **more: Any) -> OjibweState:
    """Team A hides with `a` counters, the hitters have `b`, the others lie in the pool."""
    return OjibweState(**{"counters": Sticks.of(A=a, B=b, pool=20 - a - b), "hider": "A", **more})


def shoot(*opened: int, hit: int | None, ball: int) -> dict[str, Any]:
    return {"do": "shoot", "opened": list(opened), "hit": hit, "ball": ball}


def find(ball: int, *opened: int) -> dict[str, Any]:
    return shoot(*opened, hit=ball, ball=ball)


def miss(ball: int) -> dict[str, Any]:
    return shoot(hit=5 - ball, ball=ball)


def play(state: OjibweState, *steps: dict[str, Any], **chosen: object) -> tuple[OjibweState, list[str]]:
    ojibwe = Ojibwe(chosen)
    called: list[str] = []
    for step in steps:
        state, calls = ojibwe.play(state, step)
        called += calls
    return state, called


def seen(state: OjibweState) -> tuple[Any, ...]:
    """The hider, A's and B's counters, the pool, the high pad and how often A may be found."""
    return (state.hider, state.counters["A"], state.counters["B"], state.counters["pool"], state.high, state.hides_left)


@pytest.mark.parametrize(("high", "values"), [(None, "4444"), (1, "8446"), (2, "4864"), (3, "4684"), (4, "6448")])
def test_miss_pays_eight_six_or_four_by_pad(high: int | None, values: str):
    assert "".join(str(miss_value(pad, high)) for pad in PADS) == values
    for pad, worth in zip(PADS, values, strict=True):
        after, called = play(at(0, 0, high=high), miss(pad))
        assert seen(after) == ("A", int(worth), 0, 20 - int(worth), high, 1)
        assert called == ["missed"]


@pytest.mark.parametrize("high", [None, *PADS])
@pytest.mark.parametrize("ball", PADS)
def test_find_pays_three_or_four_and_passes_hide(high: int | None, ball: int):
    paid = 4 if ball == high else 3
    after, called = play(at(5, 2, high=high), find(ball))
    assert seen(after) == ("B", 5 + paid, 2, 13 - paid, high, 1)
    assert called == ["found"]


@pytest.mark.parametrize("opened", [(2,), (4, 2), (2, 3)])
def test_find_after_opening_makes_that_pad_high(opened: tuple[int, ...]):
    for high in (None, 1, 4):
        after, called = play(at(0, 0, high=high), find(1, *opened))
        paid = 4 if high == 1 else 3
        assert seen(after) == ("B", paid, 0, 20 - paid, 1, 1)
        assert called == ["found", "high_ball"]


@pytest.mark.parametrize("before", [(), (4,)])
def test_opening_onto_ball_pays_pad_and_keeps_hider(before: tuple[int, ...]):
    for ball, paid in ((1, 4), (2, 6), (3, 8)):
        after, called = play(at(0, 0, high=3), shoot(*before, ball, hit=None, ball=ball))
        assert seen(after) == ("A", paid, 0, 20 - paid, 3, 1)  # rule 17: also the eight
        assert called == ["missed"]


@pytest.mark.parametrize("a", [17, 18, 19])
@pytest.mark.parametrize("opened", [(), (3,)])
def test_found_double_pays_zero_and_gives_two_hides(a: int, opened: tuple[int, ...]):
    after, called = play(at(a, 1, high=4), find(4, *opened))
    assert seen(after) == ("B", a, 1, 19 - a, 4, 2)
    assert called == ["double", "found", *(["high_ball"] if opened else [])]
    # the finders hide: they have one counter, so nineteen are left to pay with
    assert after.shooting == 19
    assert not after.double


@pytest.mark.parametrize("a", [17, 18, 19])
def test_a_double_missed_pays_everything_left(a: int):
    for missed in (miss(2), shoot(2, hit=None, ball=2)):
        after, called = play(at(a, 1), missed)
        assert called == ["double", "missed", "short_stick"]
        assert seen(after) == ("A", 0, 0, 20, None, 1)
        assert after.short == (1, 0)


def test_find_paying_last_four_still_passes_hide():
    after, called = play(at(16, 1, high=2), find(2))
    assert seen(after) == ("B", 0, 0, 20, None, 1)
    assert called == ["found", "short_stick"]
    assert after.short == (1, 0)


BANKS = {"one_stick": "keeps_shooting"}


def test_miss_gives_finders_one_hide_per_banked_find():
    state, called = play(at(19, 1, hides_left=2), find(2), find(1), miss(3), **BANKS)
    assert called[-3:] == ["double", "missed", "short_stick"]
    assert state == at(0, 0, short=(1, 0), hider="B", hides_left=3)
    for left in (2, 1):
        state, _ = play(state, find(1), **BANKS)
        assert (state.hider, state.hides_left) == ("B", left)
    assert play(state, find(1), **BANKS)[0].hider == "A"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"counters": {"A": 18, "B": 2}}, "finds are banked with one shooting stick: banked is 0"),
        ({"hider": "B"}, "finds are banked with one shooting stick: banked is 0"),
        ({"banked": -1, "hides_left": 0}, "hides_left is a whole number from 1 to 1000001, not 0"),
    ],
)
def test_a_sheet_with_finds_banked_that_cannot_be(changes: dict[str, Any], what: str):
    ojibwe = Ojibwe(BANKS)
    state = at(19, 1, hides_left=7, banked=2)
    assert ojibwe.restore(ojibwe.sheet(state)) == state
    with pytest.raises(InvalidActionError, match=what):
        ojibwe.restore({**{k: v for k, v in ojibwe.sheet(state).items() if k not in ("shooting", "double")}, **changes})
