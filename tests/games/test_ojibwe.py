"""The Mille Lacs Moccasin game, sentence by sentence."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from pi_controller.errors import UsageError
from pi_controller.games.ojibwe.rules import Ojibwe, State, miss_value
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.registry import game
from pi_controller.rules.sticks import Sticks

PADS = (1, 2, 3, 4)
TOSS_A = {"do": "toss", "winner": "A"}


def at(a: int, b: int, **more: Any) -> State:
    """Team A hides with `a` counters, the hitters have `b`, the others lie in the pool."""
    return State(**{"counters": Sticks.of(A=a, B=b, pool=20 - a - b), "hider": "A", **more})


def shoot(*opened: int, hit: int | None, ball: int) -> dict[str, Any]:
    return {"do": "shoot", "opened": list(opened), "hit": hit, "ball": ball}


def find(ball: int, *opened: int) -> dict[str, Any]:
    return shoot(*opened, hit=ball, ball=ball)


def miss(ball: int) -> dict[str, Any]:
    return shoot(hit=5 - ball, ball=ball)


def play(state: State, *steps: dict[str, Any], **chosen: object) -> tuple[State, list[str]]:
    ojibwe = Ojibwe(chosen)
    called: list[str] = []
    for step in steps:
        state, calls = ojibwe.play(state, step)
        called += calls
    return state, called


def seen(state: State) -> tuple[Any, ...]:
    """The hider, A's and B's counters, the pool, the high pad and how often A may be found."""
    return (state.hider, state.counters["A"], state.counters["B"], state.counters["pool"], state.high, state.hides_left)


# ---- the start


def test_opening_has_twenty_in_pool_and_no_hider():
    ojibwe = Ojibwe()
    opening = ojibwe.opening()
    assert ojibwe.sheet(opening) == {
        "hider": None,
        "counters": {"A": 0, "B": 0},
        "pool": 20,
        "short": {"A": 0, "B": 0},
        "high": None,
        "hides_left": 1,
        "banked": 0,
        "shooting": None,
        "double": False,
        "winner": None,
        "finish": None,
    }
    assert not ojibwe.is_over(opening)


@pytest.mark.parametrize("winner", "AB")
def test_the_winner_of_the_toss_hides(winner: str):
    ojibwe = Ojibwe()
    state, calls = ojibwe.play(ojibwe.opening(), {"do": "toss", "winner": winner})
    assert calls == ()
    assert ojibwe.sheet(state) == {
        "hider": winner,
        "counters": {"A": 0, "B": 0},
        "pool": 20,
        "short": {"A": 0, "B": 0},
        "high": None,
        "hides_left": 1,
        "banked": 0,
        "shooting": 20,
        "double": False,
        "winner": None,
        "finish": None,
    }


def test_the_toss_comes_first_and_once():
    ojibwe = Ojibwe()
    with pytest.raises(IllegalActionError, match="there is no hider yet"):
        ojibwe.play(ojibwe.opening(), find(1))
    state, _ = ojibwe.play(ojibwe.opening(), TOSS_A)
    with pytest.raises(IllegalActionError, match="the toss is done"):
        ojibwe.play(state, TOSS_A)


# ---- what a pad is worth


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


def test_a_find_without_opening_leaves_the_high_pad():
    assert play(at(0, 0, high=2), find(4))[0].high == 2


@pytest.mark.parametrize("before", [(), (4,)])
def test_opening_onto_ball_pays_pad_and_keeps_hider(before: tuple[int, ...]):
    for ball, paid in ((1, 4), (2, 6), (3, 8)):
        after, called = play(at(0, 0, high=3), shoot(*before, ball, hit=None, ball=ball))
        assert seen(after) == ("A", paid, 0, 20 - paid, 3, 1)  # rule 17: also the eight
        assert called == ["missed"]


def test_miss_after_opening_makes_no_high_pad():
    after, called = play(at(0, 0), shoot(1, 2, hit=3, ball=4))
    assert seen(after) == ("A", 4, 0, 16, None, 1)
    assert called == ["missed"]


# ---- payment


def test_payment_takes_pool_before_hitters_counters():
    assert seen(play(at(6, 11), miss(1))[0]) == ("A", 10, 10, 0, None, 1)
    assert seen(play(at(6, 14), miss(1))[0]) == ("A", 10, 10, 0, None, 1)
    assert seen(play(at(6, 13), find(1))[0]) == ("B", 9, 11, 0, None, 1)


@pytest.mark.parametrize("b", [0, 2, 5])
def test_payment_is_capped_at_shooting_counters(b: int):
    after, called = play(at(15, b, high=1), miss(1))
    assert called == ["missed", "short_stick"]
    assert seen(after) == ("A", 0, 0, 20, None, 1)
    assert after.short == (1, 0)


def test_shooting_is_twenty_minus_hiders_counters():
    ojibwe = Ojibwe()
    for a in range(20):
        sheet = ojibwe.sheet(at(a, 1 if a < 20 else 0))
        assert sheet["shooting"] == 20 - a
        assert sheet["double"] is (20 - a <= 3)


# ---- the double


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


def test_four_left_is_no_double():
    after, called = play(at(16, 0), find(2))
    assert seen(after) == ("B", 19, 0, 1, None, 1)
    assert called == ["found"]


def test_hiders_with_two_hides_pass_after_second_find():
    state = at(2, 18, hides_left=2)
    state, called = play(state, find(1))
    assert seen(state) == ("A", 5, 15, 0, None, 1)
    assert called == ["found"]
    assert seen(play(state, find(1))[0]) == ("B", 8, 12, 0, None, 1)


def test_a_miss_leaves_the_hides_left():
    assert seen(play(at(2, 18, hides_left=2), miss(1))[0]) == ("A", 6, 14, 0, None, 2)


def test_found_double_uses_up_one_of_two_hides():
    state, called = play(at(18, 0, hides_left=2), find(1, 2))
    assert seen(state) == ("A", 18, 0, 2, 1, 1)
    assert called == ["double", "found", "high_ball"]
    # found again, the hide passes, and now the finders are to be found twice
    state, called = play(state, find(3))
    assert seen(state) == ("B", 18, 0, 2, 1, 2)
    assert called == ["double", "found"]


# ---- short sticks and games


def test_find_paying_last_four_still_passes_hide():
    after, called = play(at(16, 1, high=2), find(2))
    assert seen(after) == ("B", 0, 0, 20, None, 1)
    assert called == ["found", "short_stick"]
    assert after.short == (1, 0)


def test_find_paying_last_four_keeps_second_hide():
    after, called = play(at(16, 1, high=2, hides_left=2), find(2, 1))
    assert seen(after) == ("A", 0, 0, 20, None, 1)
    assert called == ["found", "high_ball", "short_stick"]


def test_a_short_stick_takes_the_second_hide():
    assert play(at(16, 4, hides_left=2), miss(1))[0].hides_left == 1


def test_five_short_sticks_win_and_end_game():
    ojibwe = Ojibwe()
    after, called = play(at(16, 0, short=(4, 4)), miss(1))
    assert called == ["missed", "short_stick", "game"]
    assert ojibwe.is_over(after)
    sheet = ojibwe.sheet(after)
    assert (sheet["winner"], sheet["short"], sheet["pool"]) == ("A", {"A": 5, "B": 4}, 20)
    for action in (TOSS_A, find(1), miss(1)):
        with pytest.raises(IllegalActionError):
            ojibwe.play(after, action)
    assert ojibwe.legal_actions(after) == ()


def test_hider_found_on_last_four_wins_game():
    state = replace(at(0, 16, high=1, short=(0, 4)), hider="B")
    after, called = play(state, find(1))
    assert called == ["found", "short_stick", "game"]
    assert (after.winner, after.short) == ("B", (0, 5))


# ---- options


def test_the_defaults():
    assert dict(game("ojibwe").settings) == {
        "games": 5,
        "max_open": 2,
        "high_ball_scope": "shared",
        "high_reset": "each_short",
        "start_counters": "pool",
        "one_stick": "passes",
    }


@pytest.mark.parametrize(
    "chosen", [{"games": 0}, {"games": 100}, {"max_open": 1}, {"max_open": 4}, {"high_reset": "ever"}, {"points": 5}]
)
def test_other_options_and_values_are_refused(chosen: dict[str, Any]):
    with pytest.raises(UsageError):
        Ojibwe(chosen)


def test_the_number_of_games_is_chosen():
    assert play(at(19, 0), miss(1), games=1)[1] == ["double", "missed", "short_stick", "game"]
    assert play(at(19, 0, short=(98, 0)), miss(1), games=99)[0].winner == "A"


def test_three_opened_pads_require_max_open_three():
    for action in (find(4, 1, 2, 3), shoot(1, 2, 3, hit=None, ball=3)):
        with pytest.raises(IllegalActionError, match="3 pads were opened"):
            play(at(0, 0), action)
    assert seen(play(at(0, 0), find(4, 1, 2, 3), max_open=3)[0]) == ("B", 3, 0, 17, 4, 1)
    assert seen(play(at(0, 0), shoot(1, 2, 3, hit=None, ball=3), max_open=3)[0]) == ("A", 4, 0, 16, None, 1)


def test_shared_high_pad_lasts_across_hides():
    state, _ = play(at(0, 0), find(1, 2), find(4), find(4), miss(1))
    assert seen(state) == ("B", 6, 11, 3, 1, 1)


def test_next_hide_high_pad_expires_after_one_hide():
    chosen = {"high_ball_scope": "next_hide_only"}
    state, _ = play(at(0, 0), find(1, 2), **chosen)
    assert (state.hider, state.high) == ("B", 1)
    for action, paid in ((miss(1), 8), (miss(4), 6), (find(1), 4), (find(4), 3)):
        after, _ = play(state, action, **chosen)
        assert (after.counters["B"], after.high) == (paid, None)
    assert play(state, find(3, 2), **chosen)[0].high == 3


@pytest.mark.parametrize(("reset", "high"), [("each_short", None), ("never", 2)])
def test_high_reset_option_decides_high_after_short_stick(reset: str, high: int | None):
    assert play(at(16, 0, high=2), miss(1), high_reset=reset)[0].high == high
    # and one that was made by the find that paid the last four
    assert play(at(16, 0, high=2), find(2, 1), high_reset=reset)[0].high == high


def test_next_hide_high_pad_survives_own_short_stick():
    chosen = {"high_reset": "never", "high_ball_scope": "next_hide_only"}
    assert play(at(16, 0, high=2), miss(1), **chosen)[0].high is None
    assert play(at(16, 0, high=2), find(2, 1), **chosen)[0].high == 2


def test_split_start_pools_counters_after_short_stick():
    ojibwe = Ojibwe({"start_counters": "split_10_10"})
    state, _ = ojibwe.play(ojibwe.opening(), TOSS_A)
    assert seen(state) == ("A", 10, 10, 0, None, 1)
    assert state.shooting == 10
    state, _ = ojibwe.play(state, find(2))
    assert seen(state) == ("B", 13, 7, 0, None, 1)
    state, calls = ojibwe.play(at(16, 4), miss(1))
    assert calls == ("missed", "short_stick")
    assert seen(state) == ("A", 0, 0, 20, None, 1)


# ---- rule 22, read the other way: one shooting stick keeps the team shooting

BANKS = {"one_stick": "keeps_shooting"}


def test_find_with_one_shooting_stick_is_banked():
    state, called = play(at(19, 1, hides_left=2, high=3), find(2), **BANKS)
    assert called == ["double", "found"]
    assert state == at(19, 1, hides_left=2, high=3, banked=1)
    assert play(state, find(3), **BANKS)[0] == at(19, 1, hides_left=2, high=3, banked=2)


def test_banked_find_after_opening_makes_pad_high():
    state, called = play(at(19, 1, high=3), find(2, 4), **BANKS)
    assert called == ["double", "found", "high_ball"]
    assert state == at(19, 1, high=2, banked=1)


def test_miss_gives_finders_one_hide_per_banked_find():
    state, called = play(at(19, 1, hides_left=2), find(2), find(1), miss(3), **BANKS)
    assert called[-3:] == ["double", "missed", "short_stick"]
    assert state == at(0, 0, short=(1, 0), hider="B", hides_left=3)
    for left in (2, 1):
        state, _ = play(state, find(1), **BANKS)
        assert (state.hider, state.hides_left) == ("B", left)
    assert play(state, find(1), **BANKS)[0].hider == "A"


def test_miss_without_banked_finds_keeps_hider():
    assert play(at(19, 1, hides_left=2), miss(1), **BANKS)[0] == at(0, 0, short=(1, 0))


def test_game_ending_miss_with_banked_find_passes_hide():
    state, called = play(at(19, 1, banked=1, short=(4, 0)), miss(1), **BANKS)
    assert called == ["double", "missed", "short_stick", "game"]
    assert state == at(0, 0, short=(5, 0), winner="A", hider="B", hides_left=2)


@pytest.mark.parametrize("sticks", [2, 3])
def test_two_or_three_sticks_ignore_banking_option(sticks: int):
    state = at(20 - sticks, sticks)
    assert play(state, find(1), **BANKS) == play(state, find(1))


def test_legal_actions_with_one_shooting_stick():
    ojibwe = Ojibwe(BANKS)
    legal = ojibwe.legal_actions(at(19, 1, high=2, banked=3))
    assert {ojibwe.play(at(19, 1, high=2, banked=3), action)[0] for action in legal} == {
        at(19, 1, high=2, banked=4),
        *(at(19, 1, high=pad, banked=4) for pad in PADS),
        at(0, 0, short=(1, 0), hider="B", hides_left=4),
    }


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


# ---- a team that gives up


@pytest.mark.parametrize("state", [Ojibwe().opening(), at(3, 4), at(19, 1, short=(4, 0), high=2)])
@pytest.mark.parametrize(("by", "winner"), ["AB", "BA"])
def test_the_team_that_forfeits_has_lost_at_once(state: State, by: str, winner: str):
    ojibwe = Ojibwe()
    after, called = play(state, {"do": "forfeit", "by": by})
    assert called == ["forfeit", "game"]
    assert after == replace(state, winner=winner, finish="forfeit")
    assert ojibwe.is_over(after)
    assert ojibwe.restore(ojibwe.sheet(after)) == after
    assert ojibwe.legal_actions(after) == ()
    for action in ({"do": "forfeit", "by": winner}, find(1), TOSS_A):
        with pytest.raises(IllegalActionError, match=f"the game is over: {winner} has won"):
            ojibwe.play(after, action)


def test_a_game_that_was_won_takes_no_forfeit():
    state, _ = play(at(16, 0, short=(4, 0)), miss(1))
    with pytest.raises(IllegalActionError, match="the game is over: A has won"):
        play(state, {"do": "forfeit", "by": "A"})


# ---- what is no action


@pytest.mark.parametrize(
    "action",
    [
        None,
        [],
        "shoot",
        {},
        {"do": "hit", "found": True},
        {"do": "Shoot", "opened": [], "hit": 1, "ball": 1},
        {"do": "toss"},
        {"do": "toss", "winner": "C"},
        {"do": "toss", "winner": "A", "x": 1},
        {"do": "shoot"},
        {"do": "shoot", "hit": 1, "ball": 1},
        {"do": "shoot", "opened": [], "ball": 1},
        {"do": "shoot", "opened": [], "hit": 1},
        {"do": "shoot", "opened": [], "hit": 1, "ball": 1, "found": True},
        {"do": "shoot", "opened": None, "hit": 1, "ball": 1},
        {"do": "shoot", "opened": 2, "hit": 1, "ball": 1},
        {"do": "shoot", "opened": "2", "hit": 1, "ball": 1},
        {"do": "shoot", "opened": {"2": 1}, "hit": 1, "ball": 1},
        {"do": "shoot", "opened": [True], "hit": 2, "ball": 2},
        {"do": "shoot", "opened": [2.0], "hit": 1, "ball": 1},
        {"do": "shoot", "opened": [[2]], "hit": 1, "ball": 1},
        {"do": "shoot", "opened": [0], "hit": 1, "ball": 1},
        {"do": "shoot", "opened": [], "hit": True, "ball": 1},
        {"do": "shoot", "opened": [], "hit": 1.0, "ball": 1},
        {"do": "shoot", "opened": [], "hit": "1", "ball": 1},
        {"do": "shoot", "opened": [], "hit": 1, "ball": None},
        find(7),
        find(0),
        find(1, 7),
        find(1, 2, 2),  # opened twice
        shoot(1, 2, 3, 4, hit=None, ball=4),  # nothing left to hit
        shoot(hit=None, ball=1),  # no pad hit
        shoot(2, hit=None, ball=1),
        shoot(1, hit=1, ball=1),  # an opened pad hit
        shoot(1, hit=1, ball=2),
        shoot(1, hit=2, ball=1),  # hit after the ball had come to light
        shoot(1, 2, hit=None, ball=1),  # opened on after that
        shoot(1, 2, hit=3, ball=1),
    ],
)
def test_malformed_action_is_invalid_in_every_phase(action: Any):
    ojibwe = Ojibwe({"max_open": 3})
    for state in (ojibwe.opening(), at(3, 4), at(3, 4, winner="B")):
        with pytest.raises(InvalidActionError) as caught:
            ojibwe.play(state, action)
        assert caught.value.message
        assert "\n" not in caught.value.message + caught.value.hint


def test_a_state_is_frozen():
    state: Any = at(3, 4)
    with pytest.raises(FrozenInstanceError):
        state.high = 2
    assert {at(3, 4): 1}[at(3, 4)] == 1


# ---- a shooter who knows nothing


@pytest.mark.parametrize("opens", [0, 1, 2, 3])
def test_blind_shooter_finds_one_in_four(opens: int):
    """Every order of the pads with every place of the ball, each as likely."""
    ojibwe = Ojibwe({"max_open": 3})
    found = 0
    for order, ball in product(permutations(PADS), PADS):
        opened = order[:opens]
        if ball in opened:
            action = shoot(*opened[: opened.index(ball) + 1], hit=None, ball=ball)
        else:
            action = shoot(*opened, hit=order[opens], ball=ball)
        found += "found" in ojibwe.play(at(0, 0), action)[1]
    assert found * 4 == 24 * 4


def test_whole_games_end_with_five_short_sticks():
    ojibwe = Ojibwe()
    for seed in range(10):
        random = Random(seed)
        state, _ = ojibwe.play(ojibwe.opening(), TOSS_A)
        called: list[str] = []
        while not ojibwe.is_over(state):
            ball, hit = random.choice(PADS), random.choice(PADS)
            state, calls = ojibwe.play(state, shoot(hit=hit, ball=ball))
            called += calls
        assert max(state.short) == 5
        assert called.count("short_stick") == sum(state.short)
        assert called.count("game") == 1
        assert called[-1] == "game"
