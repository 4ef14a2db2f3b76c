"""The fish game, sentence by sentence."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from pi_controller.errors import UsageError
from pi_controller.games.bageswin.rules import BANK, Bageswin, State
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.sheet_reader import apply_changes
from pi_controller.rules.sticks import Sticks

TAP = {"do": "double_tap"}
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


def moment(bank: int, /, **held: int) -> State:
    """The first named throws."""
    return State(Sticks((BANK, *held), (bank, *held.values())), next(iter(held))).without_the_poor()


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(*RED[value]) for value in values]


def play(state: State | None, *actions: dict[str, Any], **settings: object) -> State:
    game = Bageswin(settings)
    state = state or game.opening()
    for action in actions:
        state, calls = game.play(state, action)
        assert calls == ()
    return state


def held(state: State) -> dict[str, int]:
    return {name: count for name, count in state.sticks if name != BANK}


# ---- what throws are worth


@pytest.mark.parametrize(("table", "one_colour", "woman"), [("mille_lacs", 50, 20), ("hinckley_2009", 8, 50)])
@pytest.mark.parametrize("side", ["red", "white"])
def test_a_set_alone_scores_whichever_colour_it_shows(table: str, one_colour: int, woman: int, side: str):
    worths = {
        (0, 0, 0, 0): one_colour,
        (1, 0, 0, 0): woman,
        (0, 1, 0, 0): 20,
        (0, 0, 1, 0): 15,
        (0, 0, 2, 0): 30,
        (0, 0, 0, 1): 1,
        (0, 0, 0, 2): 2,
        (0, 0, 0, 3): 3,
        (0, 0, 0, 4): 4,
    }
    for alone, value in worths.items():
        w, f, k, b = alone
        red = alone if side == "red" else (1 - w, 1 - f, 2 - k, 4 - b)
        assert play(None, throw(*red), table=table).value == value


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


# ---- whose bowl it is


def test_scorer_throws_again_else_bowl_passes_left():
    players = "A,B,C"
    assert play(None, *worth(1, 2), players=players).thrower == "A"
    assert play(None, *worth(1, 0), players=players).thrower == "B"
    assert play(None, *worth(0, 0, 4), players=players).thrower == "C"
    assert play(None, *worth(0, 0, 0), players=players).thrower == "A"


# ---- two players


def test_two_players_split_sticks_and_opponent_pays():
    state = play(None)
    assert (held(state), state.sticks[BANK]) == ({"A": 50, "B": 50}, 0)
    assert held(play(None, *worth(20))) == {"A": 70, "B": 30}
    assert held(play(None, TAP, *worth(15), sticks=40)) == {"A": 5, "B": 35}


def test_an_odd_number_of_sticks_cannot_be_split():
    for sticks in (1, 99):
        with pytest.raises(UsageError, match="cannot split"):
            Bageswin({"sticks": sticks})
    assert Bageswin({"sticks": 99, "players": "A,B,C"}).opening().sticks[BANK] == 99


# ---- three and more


def test_the_bank_pays_until_it_is_empty():
    state = play(None, players="A,B,C")
    assert (held(state), state.sticks[BANK]) == ({"A": 0, "B": 0, "C": 0}, 100)
    state = play(state, *worth(30, 0, 20, 0, 15), players="A,B,C")
    assert (held(state), state.sticks[BANK]) == ({"A": 30, "B": 20, "C": 15}, 35)


def test_short_bank_empties_before_players_pay():
    state = play(moment(3, A=40, B=30, C=27), *worth(50), players="A,B,C")
    assert (held(state), state.sticks[BANK], state.value) == ({"A": 43, "B": 30, "C": 27}, 0, 50)
    state = play(state, *worth(20), players="A,B,C")
    assert held(state) == {"A": 83, "B": 10, "C": 7}


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


# ---- who leaves


def forfeit(by: str) -> dict[str, Any]:
    return {"do": "forfeit", "by": by}


def test_forfeit_eliminates_player_and_returns_sticks_to_bank():
    game = Bageswin({"players": "A,B,C,D"})
    state = moment(0, A=40, B=30, C=30, D=0)
    assert state.out == {"D"}
    state, calls = game.play(state, forfeit("B"))
    assert (calls, state.thrower, state.winner) == (("forfeit",), "A", None)
    assert (state.sticks[BANK], held(state)) == (30, {"A": 40, "B": 0, "C": 30, "D": 0})
    assert state.out == {"B", "D"}  # the bank holds sticks again, and brings nobody back
    with pytest.raises(IllegalActionError, match="out already"):
        game.play(state, forfeit("B"))
    with pytest.raises(IllegalActionError, match="out already"):
        game.play(state, forfeit("D"))
    state = play(state, *worth(20), players="A,B,C,D")
    assert (state.sticks[BANK], held(state)) == (10, {"A": 60, "B": 0, "C": 30, "D": 0})
    assert play(state, TAP, players="A,B,C,D").thrower == "C"
    last, calls = game.play(state, forfeit("A"))
    assert (last.winner, last.thrower, last.finish, calls) == ("C", "C", "forfeit", ("forfeit", "game"))
    assert (last.sticks[BANK], last.sticks["C"]) == (70, 30)


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
