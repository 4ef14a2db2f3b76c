"""Chapter 12: what fouls cost, in the hide in progress and in the one just settled."""

import pytest

from pi_controller.games.dakota.rules import HIDER_FOULS
from pi_controller.rules.base import IllegalActionError

HIDER = {"do": "foul", "by": "hider", "kind": "no_bead"}
LAST = {**HIDER, "hide": "last"}
HELP = {"do": "foul", "by": "hitter", "kind": "outside_help"}
HELP_LAST = {**HELP, "hide": "last"}
TIME = {"do": "foul", "by": "hitter", "kind": "time"}


COST = [
    # h, t, m before; the new hider's, the new hitter's, the middle after
    ((4, 0, 16), (4, 0, 16)),  # all from the hider
    ((10, 6, 4), (10, 6, 4)),
    ((2, 0, 18), (4, 0, 16)),  # two from the hider, two from the middle
    ((0, 0, 20), (4, 0, 16)),  # all from the middle
    ((16, 4, 0), (8, 12, 0)),
    ((16, 0, 4), (4, 12, 4)),  # never an eyeya
    ((6, 14, 0), (16, 4, 0)),  # the floor: two
    ((4, 14, 2), (16, 2, 2)),  # the floor: two, and the middle stays
    ((12, 8, 0), (12, 8, 0)),
]


@pytest.mark.parametrize("kind", HIDER_FOULS)
@pytest.mark.parametrize("hide", [{}, {"hide": "this"}])
def test_every_foul_of_the_hider_costs_the_same(at, play, seen, *, kind, hide):
    state, calls = play(at(10, 6, 4), {"do": "foul", "by": "hider", "kind": kind, **hide})
    assert seen(state) == ("B", 10, 6, 4, "ordinary", "first")
    assert calls == ["foul"]


@pytest.mark.parametrize(("before", "after"), COST)
def test_the_hider_gives_four_and_the_turn(at, play, seen, *, before, after):
    state, calls = play(at(*before), HIDER)
    assert seen(state) == ("B", *after, "ordinary", "first")
    assert calls == (["foul", "wheya"] if after[1] + after[2] == 4 else ["foul"])
    assert state.short == (0, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((10, 6, 4), (10, 10, 0)),
        ((10, 8, 2), (12, 8, 0)),
        ((16, 0, 4), (4, 16, 0)),  # the counts of an eyeya, but ordinary
        ((4, 14, 2), (16, 4, 0)),
    ],
)
def test_foul_payer_can_be_the_middle_first(at, play, seen, *, before, after):
    state, _ = play(at(*before), HIDER, foul_payer="middle_first")
    assert seen(state) == ("B", *after, "ordinary", "first")


@pytest.mark.parametrize(
    ("moment", "after", "words"),
    [
        ((12, 8, 0, "sahdogan"), (12, 8, 0), ["foul"]),
        ((6, 14, 0, "yawapi"), (16, 4, 0), ["foul", "wheya"]),
    ],
)
def test_decision_hide_foul_costs_point_turn_and_four(at, play, seen, *, moment, after, words):
    state, calls = play(at(*moment), HIDER)
    assert seen(state) == ("B", *after, "ordinary", "first")
    assert calls == words
    late, calls = play(at(*moment), "miss", HIDER)
    assert late == state
    assert late.short == (0, 0)
    assert calls == ["obojun", *words]


def test_eyeya_hide_foul_scores_as_find_for_hitter(at, play, seen):
    for hits in ((), ("miss",)):
        state, calls = play(at(4, 16, 0, "eyeya"), *hits, HIDER)
        assert seen(state) == ("B", 0, 0, 20, "ordinary", "first")
        assert calls == ["foul", "eyeya_obojun"]
        assert state.short == (0, 1)
    state, calls = play(at(4, 16, 0, "eyeya", (4, 4)), HIDER)
    assert (state.winner, calls) == ("B", ["foul", "eyeya_obojun", "game"])


def test_no_bead_foul_undoes_hide_after_two_misses(at, play, seen):
    state, calls = play(at(10, 6, 4), "miss", "miss", LAST)
    assert seen(state) == ("B", 10, 6, 4, "ordinary", "first")
    assert calls == ["foul"]
    assert state == play(at(10, 6, 4), HIDER)[0]


@pytest.mark.parametrize(
    ("moment", "hits"),
    [
        ((16, 4, 0), ["miss", "find"]),  # a point off a paguga
        ((16, 4, 0), ["miss", "miss"]),  # yawapi had begun
        ((12, 8, 0, "sahdogan"), ["miss", "find"]),  # a point, and two sticks more
        ((6, 14, 0, "yawapi"), ["find"]),  # it stayed
        ((16, 0, 4), ["find"]),  # eyeya had begun
        ((10, 6, 4), ["find"]),
        ((4, 16, 0, "eyeya"), ["miss", "find"]),
    ],
)
def test_last_hide_foul_overrides_any_result(at, play, moment, hits):
    fouled, _ = play(at(*moment), HIDER)
    assert play(at(*moment), *hits, LAST)[0] == fouled


def test_last_hide_foul_expires_at_next_first_hit(at, play):
    settled, _ = play(at(10, 6, 4), "miss", "miss")
    for next_hit in ("find", "miss", TIME):
        play(settled, LAST)
        after, _ = play(settled, next_hit)
        if after.owed == "second":
            with pytest.raises(IllegalActionError):
                play(after, LAST)
    with pytest.raises(IllegalActionError):
        play(at(10, 6, 4), LAST)
    # once the next hide is settled in turn, it is that one
    twice, _ = play(settled, "miss", "miss", LAST)
    assert twice == play(settled, HIDER)[0]


def test_a_finished_game_is_reopened(at, play, seen):
    for moment, hits in (
        ((12, 8, 0, "sahdogan", (4, 4)), ["miss"]),
        ((16, 4, 0, "ordinary", (4, 4)), ["miss", "find"]),
    ):
        over, _ = play(at(*moment), *hits)
        assert over.winner == "A"
        state, calls = play(over, LAST)
        assert (state.winner, state.short, state.owed, state.hider) == (None, (4, 4), "first", "B")
        assert calls == ["foul"]
        assert state == play(at(*moment), HIDER)[0]
    over, _ = play(at(4, 16, 0, "eyeya", (4, 4)), "find")
    again, calls = play(over, LAST)
    assert (again.winner, again.short, calls) == ("B", (4, 5), ["foul", "eyeya_obojun", "game"])
    with pytest.raises(IllegalActionError):
        play(again, LAST)


@pytest.mark.parametrize("hits", [(), ("miss",)])
@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ((4, 0, 16), ["paguga"]),
        ((12, 8, 0), ["paguga", "wheya"]),
        ((16, 4, 0), ["paguga", "obojun"]),
        ((14, 6, 0), ["paguga", "yawapi"]),
        ((14, 0, 6), ["paguga", "sahdogan"]),
        ((12, 8, 0, "sahdogan"), ["obojun", "paguga"]),
        ((6, 14, 0, "yawapi"), ["obojun", "paguga"]),
        ((4, 16, 0, "eyeya"), ["paguga"]),
    ],
)
def test_outside_help_settles_hide_as_paguga(at, play, moment, words, hits):
    expected, _ = play(at(*moment), "miss", "find")
    before, _ = play(at(*moment), *hits)
    state, calls = play(before, HELP)
    assert state == expected
    assert calls == ["foul", *words]
    assert state.short[0] <= 1


@pytest.mark.parametrize("moment", [(4, 0, 16), (16, 4, 0), (12, 8, 0, "sahdogan"), (4, 16, 0, "eyeya")])
def test_overtime_counts_owed_hit_as_miss(at, play, moment):
    for hits in ((), ("miss",)):
        before, _ = play(at(*moment), *hits)
        missed, words = play(before, "miss")
        state, calls = play(before, TIME)
        assert state == missed
        assert calls == ["foul", *words]


@pytest.mark.parametrize(
    ("moment", "hits"),
    [
        ((4, 4, 12), ["find"]),  # four were given and the turn
        ((4, 4, 12), ["miss", "miss"]),
        ((4, 4, 12), ["miss", "find"]),
        ((12, 8, 0, "sahdogan"), ["find"]),  # it stayed
        ((16, 0, 4), ["find"]),  # eyeya had begun
        ((4, 16, 0, "eyeya"), ["find"]),  # the point is lost again
        ((4, 16, 0, "eyeya", (4, 4)), ["find"]),  # and the game with it
        ((6, 14, 0, "yawapi", (4, 4)), ["miss"]),  # the game is over with the miss, then and now
    ],
)
def test_last_hide_help_is_settled_with_its_roles(at, play, moment, hits):
    expected, words = play(at(*moment), HELP)
    settled, _ = play(at(*moment), *hits)
    assert play(settled, HELP_LAST) == (expected, words)
