"""The fish game, sentence by sentence."""

from __future__ import annotations

import dataclasses
import io
import json
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.errors import UsageError
from pi_controller.games.bageswin.rules import BANK, PIECES, Bageswin, State
from pi_controller.rules import sheet
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


@pytest.mark.parametrize(
    "red",
    [
        (1, 1, 0, 0),
        (1, 0, 1, 0),
        (0, 1, 2, 0),
        (1, 0, 0, 4),
        (0, 0, 1, 1),
        (0, 0, 2, 4),
        (1, 1, 1, 3),
        (0, 0, 1, 4),
    ],
)
def test_two_sets_together_score_zero(red: tuple[int, int, int, int]):
    state = play(None, throw(*red))
    assert (state.value, state.thrower, held(state)) == (0, "B", {"A": 50, "B": 50})


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


def test_the_first_named_begins():
    state = play(None, players="Wenabozho,B,C")
    assert (state.thrower, state.value, state.winner) == ("Wenabozho", None, None)


def test_scorer_throws_again_else_bowl_passes_left():
    players = "A,B,C"
    assert play(None, *worth(1, 2), players=players).thrower == "A"
    assert play(None, *worth(1, 0), players=players).thrower == "B"
    assert play(None, *worth(0, 0, 4), players=players).thrower == "C"
    assert play(None, *worth(0, 0, 0), players=players).thrower == "A"


def test_double_tap_scores_zero_and_passes_bowl():
    state = play(None, *worth(4), TAP)
    assert (state.thrower, state.value, held(state)) == ("B", 0, {"A": 54, "B": 46})


def test_bowl_skips_eliminated_players():
    state = moment(0, A=9, B=0, C=5, D=0, E=6)
    assert play(state, TAP, players="A,B,C,D,E").thrower == "C"
    assert play(state, TAP, TAP, players="A,B,C,D,E").thrower == "E"
    assert play(state, TAP, TAP, TAP, players="A,B,C,D,E").thrower == "A"


def test_no_elimination_while_bank_has_sticks():
    state = play(None, *worth(50, 30, 0), players="A,B,C")
    assert (state.thrower, state.sticks[BANK], ("B" in state.out)) == ("B", 20, False)


# ---- two players


def test_two_players_split_sticks_and_opponent_pays():
    state = play(None)
    assert (held(state), state.sticks[BANK]) == ({"A": 50, "B": 50}, 0)
    assert held(play(None, *worth(20))) == {"A": 70, "B": 30}
    assert held(play(None, TAP, *worth(15), sticks=40)) == {"A": 5, "B": 35}


@pytest.mark.parametrize("last", [50, 30, 20])
def test_player_unable_to_pay_is_eliminated(last: int):
    state = play(None, *worth(30, last))
    assert held(state) == {"A": 100, "B": 0}
    assert "B" in state.out
    assert (state.winner, state.thrower, state.value) == ("A", "A", last)


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


def test_empty_bank_eliminates_players_without_sticks():
    state = play(moment(20, A=50, B=0, C=30), *worth(20), players="A,B,C")
    assert (("B" in state.out), ("C" in state.out), state.winner) == (True, False, None)
    assert play(state, TAP, players="A,B,C").thrower == "C"


def test_thrower_with_all_sticks_of_bank_wins():
    state = play(None, *worth(50, 50), players="A,B,C,D")
    assert (state.winner, held(state)) == ("A", {"A": 100, "B": 0, "C": 0, "D": 0})


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


def test_eliminated_player_does_not_pay():
    state = play(moment(0, A=10, B=0, C=30, D=20), *worth(15), players="A,B,C,D")
    assert held(state) == {"A": 40, "B": 0, "C": 15, "D": 5}


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=7), st.integers(1, 60), st.sampled_from([1, 2, 4, 15, 20, 30, 50])
)
def test_random_payments_match_the_written_rule(pockets: list[int], own: int, value: int):
    """Told once more, in the words of the rule."""
    payers = {str(number): sticks for number, sticks in enumerate(pockets) if sticks}
    if not payers:
        return
    state = moment(0, T=own, **{str(number): sticks for number, sticks in enumerate(pockets)})
    cannot = [sticks for sticks in payers.values() if sticks < value]
    need = min(cannot) if cannot else value
    expected = {name: sticks - min(need, sticks) for name, sticks in payers.items()}
    after = play(state, *worth(value), players=",".join(state.players))
    assert {name: after.sticks[name] for name in payers} == expected
    assert after.sticks["T"] == own + sum(payers.values()) - sum(expected.values())
    assert after.winner == ("T" if not any(expected.values()) else None)


# ---- the sheet, options, errors


def test_the_sheet_has_the_keys_of_the_rules():
    game = Bageswin({"players": "Ann,Bo,Cy", "sticks": 20})
    assert game.sheet(game.opening()) == {
        "thrower": "Ann",
        "bank": 20,
        "players": [{"name": name, "sticks": 0, "out": False} for name in ("Ann", "Bo", "Cy")],
        "value": None,
        "winner": None,
        "finish": None,
    }
    assert game.sheet(play(None, *worth(15, 0, 30), players="Ann,Bo,Cy", sticks=20)) == {
        "thrower": "Bo",
        "bank": 0,
        "players": [
            {"name": "Ann", "sticks": 15, "out": False},
            {"name": "Bo", "sticks": 5, "out": False},
            {"name": "Cy", "sticks": 0, "out": True},
        ],
        "value": 30,
        "winner": None,
        "finish": None,
    }


def test_the_score_sheet_keeps_it():
    out = io.StringIO()
    lines = [json.dumps(action).encode() for action in (*worth(20), TAP, throw(2, 0, 0, 0), *worth(50, 50), TAP)]
    assert sheet.run(Bageswin(), lines, out) == 2
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [answer.get("error", {}).get("kind") for answer in answers] == [
        *[None] * 3,
        "invalid",
        None,
        None,
        "illegal",
    ]
    assert answers[-2]["state"]["winner"] == "B"


def test_the_defaults():
    assert dict(Bageswin().settings) == {"players": "A,B", "sticks": 100, "table": "mille_lacs"}


@pytest.mark.parametrize(
    "settings",
    [
        {"players": "A"},
        {"players": "A,B,C,D,E,F,G,H,I"},
        {"players": "A,A"},
        {"sticks": 0},
        {"sticks": "-2"},
        {"sticks": "many"},
        {"table": "mille"},
        {"double_tap": "pass"},
    ],
)
def test_invalid_options_are_refused(settings: dict[str, object]):
    with pytest.raises(UsageError):
        Bageswin(settings)


def test_eight_can_play():
    state = play(None, players="1,2,3,4,5,6,7,8")
    assert state.players == tuple("12345678")


@pytest.mark.parametrize(
    "action",
    [
        None,
        [],
        "throw",
        {},
        {"do": "lot"},
        {"do": "throw"},
        {"do": "double_tap", "red": {}},
        {"do": "throw", "red": 3},
        {"do": "throw", "red": None},
        {"do": "throw", "red": []},
        {"do": "throw", "red": {}},
        {**throw(0, 0, 0, 0), "white": 8},
        throw(2, 0, 0, 0),
        throw(0, 2, 0, 0),
        throw(0, 0, 3, 0),
        throw(0, 0, 0, 5),
        throw(-1, 0, 0, 0),
        throw(True, 0, 0, 0),
        throw(0, 0, 1.0, 0),  # type: ignore[arg-type]
        throw("1", 0, 0, 0),  # type: ignore[arg-type]
        {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0}},
        {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0, "buttons": 0, "coins": 0}},
    ],
)
@pytest.mark.parametrize("over", [False, True])
def test_malformed_action_is_invalid(action: Any, over: bool):
    state = dataclasses.replace(moment(0, A=100, B=0), winner="A") if over else moment(0, A=50, B=50)
    with pytest.raises(InvalidActionError):
        Bageswin().play(state, action)


def test_finished_game_has_no_legal_actions():
    game = Bageswin()
    state = play(None, *worth(50))
    assert game.is_over(state)
    assert game.legal_actions(state) == ()
    for action in (TAP, *worth(0, 50)):
        with pytest.raises(IllegalActionError, match="the game is over: 'A' has won"):
            game.play(state, action)


def test_legal_actions_cover_each_value_and_double_tap():
    game = Bageswin()
    actions = game.legal_actions(game.opening())
    assert actions[-1] == TAP
    assert [game.play(game.opening(), action)[0].value for action in actions] == [50, 20, 15, 30, 1, 2, 3, 4, 0, 0]
    game = Bageswin({"table": "hinckley_2009"})
    values = [game.play(game.opening(), action)[0].value for action in game.legal_actions(game.opening())]
    assert values == [8, 50, 20, 15, 30, 1, 2, 3, 4, 0, 0]
    assert set(PIECES) == set(actions[0]["red"])


# ---- who leaves


def forfeit(by: str) -> dict[str, Any]:
    return {"do": "forfeit", "by": by}


def test_of_two_players_the_other_wins_at_once():
    game = Bageswin()
    for by, winner in (("A", "B"), ("B", "A")):
        state, calls = game.play(game.opening(), forfeit(by))
        assert (state.winner, state.finish, calls) == (winner, "forfeit", ("forfeit", "game"))
        assert (state.sticks[BANK], held(state)) == (50, {by: 0, winner: 50})
        for action in (TAP, throw(0, 0, 0, 0), forfeit(by), forfeit(winner)):
            with pytest.raises(IllegalActionError, match="over"):
                game.play(state, action)


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


def test_the_bowl_passes_on_when_the_thrower_leaves():
    game = Bageswin({"players": "A,B,C"})
    state, _ = game.play(game.opening(), forfeit("A"))
    assert (state.thrower, state.value, state.sticks[BANK]) == ("B", None, 100)
    state = play(state, TAP, players="A,B,C")
    assert state.thrower == "C"
    assert play(state, TAP, players="A,B,C").thrower == "B"


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
