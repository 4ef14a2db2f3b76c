"""The fish game: the cases that the page explains."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from pi_controller.errors import UsageError
from pi_controller.games.bageswin.rules import BANK, Bageswin, BageswinState
from pi_controller.rules.base import InvalidActionError
from pi_controller.rules.sheet_reader import apply_changes
from pi_controller.rules.sticks import Sticks

RED = {
    50: (0, 0, 0, 0),
    20: (1, 0, 0, 0),
    15: (0, 0, 1, 0),
    30: (0, 0, 2, 0),
    **{buttons: (0, 0, 0, buttons) for buttons in (1, 2, 3, 4)},
    0: (1, 1, 0, 0),
}


def throw(woman: int, fish: int, knives: int, buttons: int) -> dict[str, Any]:
    return {"do": "throw", "red": {"woman": woman, "fish": fish, "knives": knives, "buttons": buttons}}


def moment(bank: int, /, **held: int) -> BageswinState:
    """The first named throws."""
    return BageswinState(Sticks((BANK, *held), (bank, *held.values())), next(iter(held))).without_the_poor()


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(*RED[value]) for value in values]


def play(state: BageswinState | None, *actions: dict[str, Any], **settings: object) -> BageswinState:
    game = Bageswin(settings)
    state = state or game.opening()
    for action in actions:
        state, calls = game.play(state, action)
        assert calls == ()
    return state


def held(state: BageswinState) -> dict[str, int]:
    return {name: count for name, count in state.sticks if name != BANK}


def every_throw() -> list[tuple[int, int, int, int]]:
    """The red pieces of all throws of eight different pieces."""
    return [(w, f, k + n, a + b + c + d) for w, f, k, n, a, b, c, d in product((0, 1), repeat=8)]


@pytest.mark.parametrize(
    ("table", "mean"), [("mille_lacs", Fraction(91, 64)), ("hinckley_2009", Fraction(364 - 84 + 60, 256))]
)
def test_42_of_256_throws_score(table: str, mean: Fraction):
    game = Bageswin({"table": table})
    values = [game.play(game.opening(), throw(*red))[0].value or 0 for red in every_throw()]
    assert len(values) == 256
    assert sum(value > 0 for value in values) == 42
    assert Fraction(sum(values), 256) == mean


def test_an_odd_number_of_sticks_cannot_be_split():
    for sticks in (1, 99):
        with pytest.raises(UsageError, match="cannot split"):
            Bageswin({"sticks": sticks})
    assert Bageswin({"sticks": 99, "players": "A,B,C"}).opening().sticks[BANK] == 99


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ((10, 40, 30), 20, (50, 20, 10)),  # all can pay
        ((10, 40, 20), 20, (50, 20, 0)),  # paid in full and left with none: out
        ((10, 40, 12), 20, (34, 28, 0)),  # one gives all; nobody need pay more than the twelve it had
        ((10, 15, 12), 20, (34, 3, 0)),  # two cannot pay in full: the smaller one sets the payment, the other keeps 3
        ((10, 12, 12), 20, (34, 0, 0)),  # two such players with the same: both out
        ((10, 1, 89), 50, (12, 0, 88)),
    ],
)
def test_every_other_player_pays(before: tuple[int, ...], value: int, after: tuple[int, ...]):
    state = play(moment(0, A=before[0], B=before[1], C=before[2]), *worth(value), players="A,B,C")
    assert tuple(held(state).values()) == after
    assert [(player in state.out) for player in "ABC"] == [count == 0 for count in after]
    assert state.winner == ("A" if after[1:] == (0, 0) else None)


def forfeit(by: str) -> dict[str, Any]:
    return {"do": "forfeit", "by": by}


def test_judge_can_set_which_players_are_out():
    game = Bageswin({"players": "A,B,C"})
    state, _ = game.play(game.opening(), forfeit("A"))
    told = game.sheet(state)
    assert game.restore(apply_changes(told, [("players.1.sticks", 40), ("bank", 60)])).out == {"A"}
    with pytest.raises(InvalidActionError, match="A is out and holds 40: who is out has no sticks"):
        game.restore(apply_changes(told, [("players.0.sticks", 40), ("bank", 60)]))
    back = apply_changes(told, [("players.0.sticks", 40), ("bank", 60), ("players.0.out", False)])
    assert game.restore(back).out == frozenset()
    with pytest.raises(InvalidActionError, match=r"players.0.out is true or false, not 'x'"):
        game.restore(apply_changes(told, [("players.0.out", "x")]))
    for finish, bank in ((None, 60), ("forfeit", 0)):
        won = {**told, "bank": bank, "winner": "B", "thrower": "B", "finish": finish, "players": [
            {"name": "A", "sticks": 0, "out": True}, {"name": "B", "sticks": 100 - bank, "out": False},
            {"name": "C", "sticks": 0, "out": True},
        ]}  # fmt: skip
        with pytest.raises(InvalidActionError, match="a winner by play has won the bank too"):
            game.restore(won)
