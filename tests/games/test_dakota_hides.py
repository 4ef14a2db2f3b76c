"""Chapters 2 to 9, sentence by sentence: what each hit does in each mode."""

import pytest

from pi_controller.games.dakota.rules import Dakota
from pi_controller.rules.base import IllegalActionError

TOSS_A = {"do": "toss", "winner": "A"}


FOUND = [
    # h, t, m before; the new hider's, the new hitter's, the middle after; calls
    ((4, 0, 16), (4, 4, 12), []),  # middle first
    ((2, 0, 18), (4, 2, 14), []),  # chapter 11: a hitter with two
    ((0, 0, 20), (4, 0, 16), []),
    ((10, 8, 2), (12, 8, 0), []),  # two from the middle, two from the hider
    ((16, 4, 0), (8, 12, 0), []),  # chapter 5, first possibility
    ((12, 8, 0), (12, 8, 0), []),  # ordinary in spite of the counts of a sahdogan
    ((14, 2, 4), (6, 14, 0), []),
    ((6, 14, 0), (16, 4, 0), ["wheya"]),  # the floor: two instead of four
    ((4, 14, 2), (16, 4, 0), ["wheya"]),  # the floor: only the middle's two
    ((8, 12, 0), (16, 4, 0), ["wheya"]),  # four in full leave just the floor
    ((16, 2, 2), (6, 14, 0), []),
]


@pytest.mark.parametrize(("before", "after", "words"), FOUND)
def test_find_gives_hitter_four_and_the_turn(at, play, seen, *, before, after, words):
    state, calls = play(at(*before), "find")
    assert seen(state) == ("B", *after, "ordinary", "first")
    assert calls == words
    assert state.short == (0, 0)


def test_find_of_last_four_in_middle_begins_eyeya(at, play, seen):
    state, calls = play(at(16, 0, 4), "find")
    assert seen(state) == ("B", 4, 16, 0, "eyeya", "first")
    assert (state.situation, calls) == ("eyeya", ["eyeya"])


AWARDED = [
    ((4, 0, 16), "miss", (6, 0, 14), []),
    ((4, 0, 16), "find", (8, 0, 12), ["paguga"]),
    ((12, 8, 0), "miss", (14, 6, 0), []),
    ((12, 8, 0), "find", (16, 4, 0), ["paguga", "wheya"]),  # chapter 4, first example
    ((12, 6, 2), "find", (16, 4, 0), ["paguga", "wheya"]),  # middle first, then from the hitter
    ((14, 0, 6), "miss", (16, 0, 4), ["wheya"]),
    ((14, 2, 4), "miss", (16, 2, 2), ["wheya"]),  # chapter 11: two held, two in the middle
    ((0, 0, 20), "miss", (2, 0, 18), []),
    ((6, 14, 0), "miss", (8, 12, 0), []),  # ordinary in spite of the counts of a yawapi
    ((4, 14, 2), "find", (8, 12, 0), ["paguga"]),
]


@pytest.mark.parametrize(("before", "second", "after", "words"), AWARDED)
def test_second_hit_pays_hider_two_or_four(at, play, seen, *, before, second, after, words):
    owed, calls = play(at(*before), "miss")
    assert seen(owed) == ("A", *before, "ordinary", "second")
    assert calls == []
    state, calls = play(owed, second)
    assert seen(state) == ("A", *after, "ordinary", "first")
    assert calls == words
    assert state.short == (0, 0)


@pytest.mark.parametrize("before", [(16, 0, 4), (16, 4, 0), (16, 2, 2)])
def test_paguga_with_four_left_scores_and_resets_sticks(at, play, seen, *, before):
    state, calls = play(at(*before), "miss", "find")
    assert calls == ["paguga", "obojun"]
    assert seen(state) == ("A", 0, 0, 20, "ordinary", "first")
    assert state.short == (1, 0)


@pytest.mark.parametrize(
    ("before", "second", "mode"),
    [
        ((16, 0, 4), "miss", "sahdogan"),  # chapter 7
        ((14, 0, 6), "find", "sahdogan"),
        ((16, 4, 0), "miss", "yawapi"),  # chapter 6
        ((16, 2, 2), "miss", "yawapi"),  # chapter 11
        ((14, 6, 0), "find", "yawapi"),
        ((14, 2, 4), "find", "yawapi"),
        ((14, 4, 2), "find", "yawapi"),
    ],
)
def test_pool_unable_to_pay_begins_decision_hide(at, play, seen, *, before, second, mode):
    state, calls = play(at(*before), "miss", second)
    assert seen(state) == ("A", *((12, 8, 0) if mode == "sahdogan" else (6, 14, 0)), mode, "first")
    assert calls == (["paguga"] if second == "find" else []) + [mode]
    assert state.situation == mode
    assert state.short == (0, 0)


DECISIONS = [("sahdogan", (12, 8, 0), 4), ("yawapi", (6, 14, 0), 6)]


@pytest.mark.parametrize(("mode", "counts", "kept"), DECISIONS)
def test_it_stays(at, play, seen, *, mode, counts, kept):
    h, t, m = counts
    state, calls = play(at(*counts, mode), "find")
    assert seen(state) == ("B", t, h, m, "ordinary", "first")
    assert calls == ["it_stays"]
    assert state.short == (0, 0)


@pytest.mark.parametrize(("mode", "counts", "kept"), DECISIONS)
def test_missed_decision_scores_with_second_hit_owed(at, play, seen, *, mode, counts, kept):
    state, calls = play(at(*counts, mode), "miss")
    assert seen(state) == ("A", kept, 0, 20 - kept, mode, "second")
    assert calls == ["obojun"]
    assert state.short == (1, 0)
    missed, calls = play(state, "miss")
    assert seen(missed) == ("A", kept, 0, 20 - kept, "ordinary", "first")
    assert (calls, missed.short, missed.situation) == ([], (1, 0), None)
    found, calls = play(state, "find")
    assert seen(found) == ("A", kept + 2, 0, 18 - kept, "ordinary", "first")
    assert (calls, found.short) == (["paguga"], (1, 0))


def test_eyeya_found_first_scores_for_the_hitter(at, play, seen):
    state, calls = play(at(4, 16, 0, "eyeya"), "find")
    assert seen(state) == ("B", 0, 0, 20, "ordinary", "first")
    assert calls == ["eyeya_obojun"]
    assert state.short == (0, 1)


def test_missed_eyeya_ends_and_second_hit_pays_normally(at, play, seen):
    owed, calls = play(at(4, 16, 0, "eyeya"), "miss")
    assert (owed.owed, owed.situation, calls) == ("second", None, [])
    state, calls = play(owed, "miss")
    assert seen(state) == ("A", 6, 14, 0, "ordinary", "first")
    assert calls == []
    state, calls = play(owed, "find")
    assert seen(state) == ("A", 8, 12, 0, "ordinary", "first")
    assert calls == ["paguga"]


@pytest.mark.parametrize(
    ("moment", "hits", "words", "winner"),
    [
        ((16, 4, 0, "ordinary", (4, 4)), ["miss", "find"], ["paguga", "obojun", "game"], "A"),
        ((12, 8, 0, "sahdogan", (4, 4)), ["miss"], ["obojun", "game"], "A"),
        ((6, 14, 0, "yawapi", (4, 4)), ["miss"], ["obojun", "game"], "A"),
        ((4, 16, 0, "eyeya", (4, 4)), ["find"], ["eyeya_obojun", "game"], "B"),
    ],
)
def test_the_fifth_point_ends_the_game_at_once(at, play, *, moment, hits, words, winner):
    state, calls = play(at(*moment), *hits)
    assert calls == words
    assert (state.winner, state.owed, state.situation) == (winner, None, None)
    assert state.points(winner) == 5
    assert Dakota().is_over(state)
    for late in (
        {"do": "hit", "found": False},
        TOSS_A,
        {"do": "foul", "by": "hider", "kind": "no_bead"},
        {"do": "foul", "by": "hitter", "kind": "time"},
        {"do": "foul", "by": "hitter", "kind": "outside_help"},
    ):
        with pytest.raises(IllegalActionError):
            Dakota().play(state, late)


def hit(**more: object) -> dict[str, object]:
    return {"do": "hit", "found": False, **more}


def test_second_hit_on_first_pad_is_illegal(at, play):
    state, _ = play(at(4, 0, 16), hit(pad=3))
    with pytest.raises(IllegalActionError, match="pad 3"):
        play(state, hit(pad=3))
    for pad in (1, 2, 4):
        assert play(state, hit(pad=pad))[0].sticks["A"] == 6
    assert play(state, hit())[0].sticks["A"] == 6
    # the next hide is free again, and so is a hide whose first pad nobody told
    assert play(state, hit(pad=1), hit(pad=1))[0].owed == "second"
    assert play(at(4, 0, 16), hit(), hit(pad=3))[0].sticks["A"] == 6
    # also where the point is made already
    with pytest.raises(IllegalActionError):
        play(at(12, 8, 0, "sahdogan"), hit(pad=3), hit(pad=3))


def test_naming_pads_does_not_change_state(at, play):
    told, _ = play(at(4, 0, 16), hit(pad=3), hit(pad=1))
    untold, _ = play(at(4, 0, 16), hit(), hit())
    assert told == untold
