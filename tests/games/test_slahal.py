"""Slahal, sentence by sentence."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from itertools import product
from random import Random
from typing import Any

import pytest

from pi_controller.errors import UsageError
from pi_controller.games.slahal.rules import Slahal, State
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.registry import game
from pi_controller.rules.sticks import Sticks

SIGNALS = ("left", "right", "inside", "outside")
OPPOSITES = {frozenset(("left", "right")), frozenset(("inside", "outside"))}
DUO_A = {"do": "duo", "A": True, "B": False}
REHIDE = {"do": "rehide"}
TIME = {"do": "time"}


def guess(signal: str, actual: str, **more: Any) -> dict[str, Any]:
    return {"do": "guess", "signal": signal, "actual": actual, **more}


CATCH, MISS, SPLIT = guess("left", "left"), guess("left", "right"), guess("left", "inside")


def at(own: tuple[int, int], others: tuple[int, int], king: str = "A", **more: Any) -> State:
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
    return State(**{"sticks": sticks, "hiding": "A", "pairs_out": 2, **more})


def play(state: State, *steps: dict[str, Any], **chosen: object) -> tuple[State, list[str]]:
    slahal = Slahal(chosen)
    called: list[str] = []
    for step in steps:
        state, calls = slahal.play(state, step)
        called += calls
    return state, called


def counts(state: State) -> tuple[Any, ...]:
    """A's (live, dead), B's (live, dead), who holds the king."""
    sheet = Slahal().sheet(state)
    return *((sheet["live"][team], sheet["dead"][team]) for team in "AB"), sheet["king"]


# ---- the duo


def test_opening_has_five_live_sticks_and_no_king():
    slahal = Slahal()
    assert slahal.sheet(slahal.opening()) == {
        "phase": "duo",
        "hiding": None,
        "pairs_out": None,
        "live": {"A": 5, "B": 5},
        "dead": {"A": 0, "B": 0},
        "king": None,
        "sticks": {"A": 5, "B": 5},
        "winner": None,
        "finish": None,
    }


@pytest.mark.parametrize("both", [True, False])
def test_both_or_neither_repeats_the_duo(both: bool):
    slahal = Slahal()
    opening = slahal.opening()
    assert slahal.play(opening, {"do": "duo", "A": both, "B": both}) == (opening, ())


@pytest.mark.parametrize(("winner", "loser"), ["AB", "BA"])
def test_duo_winner_hides_and_gets_the_king(winner: str, loser: str):
    slahal = Slahal()
    state, calls = slahal.play(slahal.opening(), {"do": "duo", winner: True, loser: False})
    assert calls == ()
    assert slahal.sheet(state) == {
        "phase": "play",
        "hiding": winner,
        "pairs_out": 2,
        "live": {"A": 5, "B": 5},
        "dead": {"A": 0, "B": 0},
        "king": winner,
        "sticks": {winner: 6, loser: 5},
        "winner": None,
        "finish": None,
    }


def test_duo_comes_first_and_is_decided_once():
    slahal = Slahal()
    for early in (CATCH, MISS, SPLIT, REHIDE, TIME, {"do": "king_moved", "by": "A"}):
        with pytest.raises(IllegalActionError, match="neither team has the bones yet"):
            slahal.play(slahal.opening(), early)
    state, _ = slahal.play(slahal.opening(), DUO_A)
    for again in (DUO_A, {"do": "duo", "A": True, "B": True}):
        with pytest.raises(IllegalActionError, match="the duo is decided"):
            slahal.play(state, again)


# ---- guesses


@pytest.mark.parametrize(("signal", "actual"), list(product(SIGNALS, SIGNALS)))
@pytest.mark.parametrize("block", [None, True, False])
def test_with_two_pairs_out(signal: str, actual: str, block: bool | None):
    more = {} if block is None else {"block": block}
    after, called = play(at((5, 0), (5, 0)), guess(signal, actual, **more))
    if signal == actual:
        assert (called, after.hiding, after.pairs_out) == (["catch"], "B", 2)
        assert counts(after) == ((5, 0), (5, 0), "A")
    elif frozenset((signal, actual)) in OPPOSITES:
        assert (called, after.hiding, after.pairs_out) == (["miss"], "A", 2)
        assert counts(after) == ((5, 2), (3, 0), "A")
    else:
        assert (called, after.hiding, after.pairs_out) == (["split"], "A", 1)
        assert counts(after) == ((5, 1), (4, 0), "A")


@pytest.mark.parametrize(("signal", "actual"), list(product(("left", "right"), repeat=2)))
@pytest.mark.parametrize("more", [{}, {"mirror": True}, {"mirror": False, "block": True}])
def test_with_one_pair_out(signal: str, actual: str, more: dict[str, bool]):
    after, called = play(at((5, 1), (4, 0), pairs_out=1), guess(signal, actual, **more))
    if signal == actual:
        assert (called, after.hiding, after.pairs_out) == (["catch"], "B", 2)
        assert counts(after) == ((5, 1), (4, 0), "A")
    else:
        assert (called, after.hiding, after.pairs_out) == (["miss"], "A", 1)
        assert counts(after) == ((5, 2), (3, 0), "A")


@pytest.mark.parametrize(
    ("signal", "actual"), [("inside", "inside"), ("inside", "left"), ("right", "outside"), ("outside", "inside")]
)
def test_one_pair_is_left_or_right(signal: str, actual: str):
    with pytest.raises(IllegalActionError, match="left or right"):
        play(at((5, 1), (4, 0), pairs_out=1), guess(signal, actual))


def test_mirrored_guess_requires_one_pair_out():
    with pytest.raises(IllegalActionError, match="mirrored"):
        play(at((5, 0), (5, 0)), guess("left", "left", mirror=True))
    assert play(at((5, 0), (5, 0)), guess("left", "left", mirror=False))[1] == ["catch"]


def test_the_team_that_guesses_wins_no_stick():
    state = at((5, 0), (5, 0))
    for step in (CATCH, REHIDE):
        after, _ = play(state, step)
        assert counts(after) == counts(state)


@pytest.mark.parametrize("pairs_out", [1, 2])
def test_rehide_swaps_roles_and_brings_both_pairs_out(pairs_out: int):
    after, called = play(at((5, 1), (4, 0), pairs_out=pairs_out), REHIDE)
    assert (after.hiding, after.pairs_out) == ("B", 2)
    assert called == []
    assert counts(after) == ((5, 1), (4, 0), "A")


@pytest.mark.parametrize("option", ["hide_again", "warning"])
def test_rehide_option_can_leave_state_unchanged(option: str):
    for pairs_out in (1, 2):
        state = at((5, 1), (4, 0), pairs_out=pairs_out)
        assert game("slahal", {"rehide": option}).play(state, REHIDE) == (state, ())


# ---- payment: H's live and dead before, G's, the king; what follows, and whether the game is swept

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


def test_one_pair_out_can_sweep():
    assert play(at((0, 9), (0, 1), pairs_out=1), MISS)[1] == ["miss", "sweep"]
    assert play(at((0, 10), (0, 0), "B", pairs_out=1), MISS)[1] == ["miss", "sweep"]


def test_team_b_is_paid_alike():
    state, called = play(at((2, 3), (4, 1), "A", hiding="B"), MISS)
    assert counts(state) == ((0, 3), (4, 3), "A")
    assert called == ["miss"]
    state, called = play(at((0, 1), (0, 9), "A", hiding="B"), MISS)
    assert counts(state) == ((0, 0), (0, 10), "B")
    assert (called, state.winner) == (["miss", "sweep"], "B")


def test_live_dead_own_payment_takes_guessers_dead_first():
    chosen = {"payment": "live_dead_own"}
    assert counts(play(at((5, 4), (1, 0)), MISS, **chosen)[0]) == ((4, 6), (0, 0), "A")
    assert counts(play(at((5, 3), (1, 1)), MISS, **chosen)[0]) == ((5, 5), (0, 0), "A")
    assert counts(play(at((5, 3), (0, 2)), MISS, **chosen)[0]) == ((5, 5), (0, 0), "A")
    assert counts(play(at((5, 4), (0, 1)), MISS, **chosen)[0]) == ((4, 6), (0, 0), "A")
    assert play(at((1, 9), (0, 0)), SPLIT, **chosen)[1] == ["split", "sweep"]


def test_king_last_requires_eleventh_point_of_king_holder():
    chosen = {"king_last": True}
    # ten dead and the king in hand, but not the point
    state, called = play(at((0, 8), (0, 2)), MISS, **chosen)
    assert (called, state.winner, counts(state)) == (["miss"], None, ((0, 10), (0, 0), "A"))
    for last in (MISS, SPLIT):
        after, called = play(state, last, **chosen)
        assert (called[-1], after.winner, after.finish) == ("sweep", "A", "sweep")
    # the second stick of a miss is that point
    assert play(at((0, 9), (0, 1)), MISS, **chosen)[1] == ["miss", "sweep"]
    assert play(at((0, 9), (0, 1)), SPLIT, **chosen)[1] == ["split"]
    # whoever has not the king wins by its move, as without the option
    assert play(at((0, 9), (0, 1), "B"), MISS, **chosen)[1] == ["miss", "sweep"]
    assert play(at((0, 10), (0, 0), "B"), SPLIT, **chosen)[1] == ["split", "sweep"]
    # caught in between, the others take the dead sticks back
    state, _ = play(state, CATCH, MISS, **chosen)
    assert counts(state) == ((0, 8), (0, 2), "A")


# ---- the other ways to end


@pytest.mark.parametrize("by", "AB")
@pytest.mark.parametrize("king", "AB")
@pytest.mark.parametrize("pairs_out", [1, 2])
def test_moving_the_king_early_loses_the_game(by: str, king: str, pairs_out: int):
    state, called = play(at((5, 1), (4, 0), king, pairs_out=pairs_out), {"do": "king_moved", "by": by})
    assert called == []
    sheet = Slahal().sheet(state)
    assert (sheet["phase"], sheet["winner"], sheet["finish"]) == ("over", "B" if by == "A" else "A", "king_moved")
    assert counts(state) == ((5, 1), (4, 0), king)


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


def test_no_tie_at_time_is_possible():
    seen = 0
    for a_live, a_dead, b_live in product(range(11), repeat=3):
        b_dead = 10 - a_live - a_dead - b_live
        if b_dead < 0:
            continue
        for king in "AB":
            seen += 1
            state, _ = play(at((a_live, a_dead), (b_live, b_dead), king), TIME)
            sticks = Slahal().sheet(state)["sticks"]
            assert sum(sticks.values()) == 11
            assert sticks[state.winner] >= 6
    assert seen == 2 * 286


@pytest.mark.parametrize("end", [TIME, {"do": "king_moved", "by": "B"}, MISS])
def test_finished_game_has_no_legal_actions(end: dict[str, Any]):
    slahal = Slahal()
    state, _ = slahal.play(at((0, 9), (0, 1)), end)
    assert slahal.is_over(state)
    assert slahal.legal_actions(state) == ()
    for action in (DUO_A, CATCH, MISS, SPLIT, REHIDE, TIME, {"do": "king_moved", "by": "A"}):
        with pytest.raises(IllegalActionError, match="A has won"):
            slahal.play(state, action)


# ---- options and what is no action


def test_the_defaults():
    assert dict(game("slahal").settings) == {
        "payment": "live_own_dead",
        "king_last": False,
        "rehide": "loses_bones",
        "minutes": 20,
        "hide_seconds": 60,
    }
    assert game("slahal", {"king_last": "true", "minutes": "30"}).settings["king_last"] is True


@pytest.mark.parametrize(
    "chosen",
    [{"payment": "own"}, {"king_last": 1}, {"minutes": 0}, {"hide_seconds": 0}, {"rehide": "again"}, {"games": 5}],
)
def test_other_options_and_values_are_refused(chosen: dict[str, Any]):
    with pytest.raises(UsageError):
        Slahal(chosen)


@pytest.mark.parametrize(
    "action",
    [
        None,
        [],
        "time",
        {},
        {"do": "hunt"},
        {"do": "Time"},
        {"do": "time", "minutes": 20},
        {"do": "rehide", "by": "A"},
        {"do": "duo"},
        {"do": "duo", "A": True},
        {"do": "duo", "A": True, "B": 0},
        {"do": "duo", "A": True, "B": None},
        {"do": "duo", "A": True, "B": False, "C": True},
        {"do": "king_moved"},
        {"do": "king_moved", "by": "C"},
        {"do": "king_moved", "by": "A", "to": "B"},
        {"do": "guess"},
        {"do": "guess", "signal": "left"},
        {"do": "guess", "actual": "left"},
        guess("up", "left"),
        guess("left", "LEFT"),
        guess("left", ["left"]),  # type: ignore[arg-type]
        guess("left", "left", block=1),
        guess("left", "left", mirror="true"),
        guess("left", "left", mirror=None),
        guess("left", "left", sticks=2),
    ],
)
def test_malformed_action_is_invalid_in_every_phase(action: Any):
    slahal = Slahal()
    for state in (
        slahal.opening(),
        at((5, 0), (5, 0)),
        at((5, 1), (4, 0), pairs_out=1),
        at((5, 0), (5, 0), winner="B"),
    ):
        with pytest.raises(InvalidActionError) as caught:
            slahal.play(state, action)
        assert caught.value.message
        assert "\n" not in caught.value.message + caught.value.hint


def test_a_state_is_frozen():
    state: Any = at((5, 0), (5, 0))
    with pytest.raises(FrozenInstanceError):
        state.pairs_out = 1
    assert {at((5, 0), (5, 0)): 1}[at((5, 0), (5, 0))] == 1


def test_blind_guess_games_sweep_with_all_eleven_sticks():
    slahal = Slahal()
    swept = 0
    for seed in range(20):
        random = Random(seed)
        state, _ = slahal.play(slahal.opening(), DUO_A)
        for _ in range(300):
            signals = SIGNALS if state.pairs_out == 2 else ("left", "right")
            state, calls = slahal.play(state, guess(random.choice(signals), random.choice(signals)))
            if slahal.is_over(state):
                assert calls[-1] == "sweep"
                assert slahal.sheet(state)["sticks"] == {state.winner: 11, "AB".replace(str(state.winner), ""): 0}
                swept += 1
                break
    assert swept > 0
