"""Elimination: any number of teams, withdrawals, corrections; what must hold in every tournament."""

from __future__ import annotations

import random

import pytest
from cases import cases
from load_file import load_file

from pi_controller.rules import IllegalActionError, InvalidActionError
from pi_controller.tournament import Elimination
from pi_controller.tournament.bracket import Bye, double, seed_order, single

random_tournaments = load_file("tests/tournament/random_tournaments.py")

CUP = Elimination("double")


def entered(*teams, cup=CUP):
    return cup.play(cup.opening, {"do": "enter", "teams": list(teams)})


def won(state, match, winner, cup=CUP, **more):
    return cup.play(state, {"do": "result", "match": match, "winner": winner, **more})


def ready(state, cup=CUP):
    return {pairing.id: pairing.teams for pairing in cup.ready(state)}


@pytest.mark.parametrize("seed", range(cases(7, 40)))
def test_random_tournaments_are_as_they_must_be(seed):
    random_tournaments.check_random(random.Random(seed))


@pytest.mark.parametrize("teams", [*range(2, 20), 31, 32, 33, 64, 65])
def test_brackets_have_every_match_once_and_no_bye(teams):
    assert len(single(teams).matches) == teams - 1
    drawn = double(teams)
    assert len(drawn.matches) == 2 * teams - 2
    sources = [source for match in drawn.matches for source in (match.a, match.b)]
    assert len(set(sources)) == len(sources)
    assert not any(isinstance(source, Bye) for source in sources)
    ids = [match.id for match in drawn.matches]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("teams", [2, 3, 5, 8, 11, 16, 24])
def test_without_surprises_the_best_seeds_end_on_top(teams):
    names = [f"T{number}" for number in range(1, teams + 1)]
    for cup, lives in random_tournaments.kinds().values():
        strengths = {name: -number for number, name in enumerate(names)}
        state, _ = random_tournaments.play(cup, names, random.Random(teams), strengths=strengths)
        random_tournaments.check(cup, lives, names, state)
        assert [row["team"] for row in cup.standings(state)][:2] == names[:2]


def test_byes_go_to_the_best_seeds():
    assert seed_order(4) == (1, 4, 2, 3)
    assert set(ready(entered(*"abcdef")).values()) == {("d", "e"), ("c", "f")}


def test_teams_meet_again_as_late_as_measured():
    for teams, most, earliest in ((8, 0.2501, 3), (16, 0.313, 4), (32, 0.329, 5), (64, 0.315, 7), (128, 0.329, 8)):
        *before, _ = random_tournaments.chance_of_rematches(teams)
        assert sum(before) < most
        assert next(number for number, chance in enumerate(before, 1) if chance) == earliest


def test_semi_final_losers_play_for_third_place():
    cup = Elimination("single", third_place=True)
    state = won(won(entered(*"abcd", cup=cup), "W1-1", "a", cup), "W1-2", "b", cup)
    assert ready(state, cup) == {"P3": ("d", "c"), "F1": ("a", "b")}
    assert cup.eliminated_teams(state) == ()
    after_final = won(state, "F1", "a", cup)
    assert (cup.champion(after_final), cup.is_over(after_final)) == ("a", False)
    assert [row["place"] for row in cup.standings(after_final)] == [1, 2, None, None]
    after = won(after_final, "P3", "c", cup)
    assert cup.is_over(after)
    assert [(row["team"], row["place"]) for row in cup.standings(after)] == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert cup.eliminated_teams(after) == ("b", "c", "d")


def test_team_can_withdraw_from_third_place_after_final():
    cup = Elimination("single", third_place=True)
    state = won(won(won(entered(*"abcd", cup=cup), "W1-1", "a", cup), "W1-2", "b", cup), "F1", "a", cup)
    with pytest.raises(IllegalActionError, match="over"):
        cup.play(state, {"do": "withdraw", "team": "a"})
    after = cup.play(state, {"do": "withdraw", "team": "c", "why": "no_show"})
    assert {row["team"]: row["place"] for row in cup.standings(after)} == {"a": 1, "b": 2, "d": 3, "c": 4}
    assert cup.is_over(after)


@pytest.mark.parametrize(("teams", "has_match"), [(2, False), (3, False), (4, True), (5, True), (6, True), (9, True)])
def test_third_place_needs_two_semi_finals(teams, has_match):
    assert ("third" in {match.side for match in single(teams, third_place=True).matches}) == has_match
    assert "third" not in {match.side for match in single(teams).matches}


def test_double_elimination_refuses_a_match_for_third_place():
    with pytest.raises(ValueError, match="third place"):
        Elimination("double", third_place=True)


def test_two_teams_play_two_matches_or_three():
    state = won(entered("a", "b"), "W1-1", "a")
    assert ready(state) == {"F1": ("a", "b")}
    assert CUP.champion(won(state, "F1", "a")) == "a"
    state = won(state, "F1", "b")
    assert (CUP.champion(state), CUP.eliminated_teams(state), ready(state)) == (None, (), {"F2": ("a", "b")})
    state = won(state, "F2", "a")
    assert (CUP.champion(state), CUP.eliminated_teams(state), ready(state)) == ("a", ("b",), {})


def test_withdrawn_team_loses_each_match_it_reaches():
    state = CUP.play(entered(*"abcd"), {"do": "withdraw", "team": "a", "why": "no_show"})
    assert ready(state) == {"W1-2": ("b", "c")}
    assert CUP.eliminated_teams(state) == ("a",)
    state = won(state, "W1-2", "b")
    # d was given the first match; c beats the one who went without a game
    assert ready(state) == {"W2-1": ("d", "b")}
    state = won(won(state, "W2-1", "b"), "L2-1", "c")
    assert ready(state) == {"F1": ("b", "c")}


def test_last_team_left_is_champion_after_withdrawals():
    state = entered(*"abcdefg")
    for team in "gfedcb":
        state = CUP.play(state, {"do": "withdraw", "team": team})
    assert CUP.champion(state) == "a"
    state = CUP.play(state, {"do": "withdraw", "team": "a"})
    assert (CUP.champion(state), CUP.is_over(state)) == (None, True)


def test_champion_of_a_played_final_cannot_withdraw():
    state = won(won(entered("a", "b"), "W1-1", "a"), "F1", "a")
    with pytest.raises(IllegalActionError, match="over"):
        CUP.play(state, {"do": "withdraw", "team": "a"})


def test_best_of_three_ends_with_the_second_win():
    cup = Elimination("single", best_of=3)
    state = entered("a", "b", cup=cup)
    for winner in "ab":
        state = won(state, "F1", winner, cup)
    assert cup.public_summary(state)["ready"][0]["games"] == {"a": 1, "b": 1}
    state = won(state, "F1", "b", cup)
    assert cup.champion(state) == "b"
    with pytest.raises(IllegalActionError, match="F1 is decided: 'b' won"):
        won(state, "F1", "b", cup)
    state = cup.play(state, {"do": "correct", "match": "F1", "game": 3, "winner": "a"})
    assert cup.champion(state) == "a"


def test_correction_without_dependent_matches_replaces_the_result():
    state = entered(*"abcdefgh")
    wrong = won(won(state, "W1-1", "h"), "W1-3", "b")
    corrected = CUP.play(wrong, {"do": "correct", "match": "W1-1", "winner": "a"})
    assert CUP.public_summary(corrected) == CUP.public_summary(won(won(state, "W1-1", "a"), "W1-3", "b"))


def test_correction_with_begun_match_needs_replay_or_keep():
    state = won(won(entered(*"abcd"), "W1-1", "a"), "W1-2", "b")
    state = CUP.play(state, {"do": "begin", "match": "W2-1"})
    correct = {"do": "correct", "match": "W1-1", "winner": "d"}
    with pytest.raises(IllegalActionError, match=r"depend on W1-1 have begun: W2-1"):
        CUP.play(state, correct)
    assert ready(CUP.play(state, {**correct, "then": "replay"})) == {"L1-1": ("a", "c"), "W2-1": ("d", "b")}
    kept = CUP.play(state, {**correct, "then": "keep"})
    assert ready(kept) == ready(state)
    assert [(noted.match, noted.winner) for noted in kept.noted] == [("W1-1", "d")]


@pytest.mark.parametrize(
    ("action", "error", "said"),
    [
        ({"do": "result", "match": "W2-1", "winner": "a"}, IllegalActionError, "not ready"),
        ({"do": "result", "match": "X", "winner": "a"}, InvalidActionError, "no match 'X'"),
        ({"do": "result", "match": 7, "winner": "a"}, InvalidActionError, r"`str`, got `int` - at `\$.match`"),
        ({"do": "result", "match": "W1-1", "winner": "b"}, IllegalActionError, "not in W1-1"),
        ({"do": "result", "match": "W1-1", "winner": "z"}, InvalidActionError, "no team 'z'"),
        ({"do": "result", "match": "W1-1", "winner": ["a"]}, InvalidActionError, r"got `array` - at `\$.winner`"),
        ({"do": "result", "match": "W1-1"}, InvalidActionError, "missing required field `winner`"),
        ({"do": "result", "match": "W1-1", "winner": "a", "sticks": {"b": 1}}, InvalidActionError, "not in W1-1"),
        ({"do": "result", "match": "W1-1", "winner": "a", "sticks": {"a": -1}}, InvalidActionError, "`int` >= 0"),
        ({"do": "correct", "match": "W1-1", "winner": "a"}, IllegalActionError, "no result to correct"),
        ({"do": "withdraw", "team": "z"}, InvalidActionError, "no team"),
        ({"do": "enter", "teams": ["x", "y"]}, IllegalActionError, "entered"),
        ({"do": "dance"}, InvalidActionError, "Invalid value 'dance'"),
        ([], InvalidActionError, "Expected `object`"),
    ],
)
def test_invalid_action_is_refused(action, error, said):
    with pytest.raises(error, match=said):
        CUP.play(entered(*"abcd"), action)


@pytest.mark.parametrize(
    ("teams", "said"),
    [
        (["a"], "name 2 to 512"),
        ("ab", "Expected `array`"),
        (["a", "A "], "two teams"),
        (["a", "x" * 10_000], "1 to 60"),
        (["a", " "], "1 to 60"),
        (["a", "b\u202e"], "control character"),
        (["Big Coulee", "Big\u00a0Coulee"], "two teams"),
        (["Lower", "Lo\u200dwer"], "two teams"),
        (["a", "\u3164"], "no visible character"),
        (["a", 7], r"got `int` - at `\$.teams\[1\]`"),
    ],
)
def test_indistinguishable_names_are_refused(teams, said):
    with pytest.raises(InvalidActionError, match=said):
        CUP.play(CUP.opening, {"do": "enter", "teams": teams})
    with pytest.raises(IllegalActionError, match="no teams are entered"):
        CUP.play(CUP.opening, {"do": "result", "match": "W1-1", "winner": "a"})


def test_draw_is_independent_of_entry_order():
    teams = ["Long Hollow", "Big Coulee", "Buffalo Lake", "Enemy Swim"]
    drawn = [
        CUP.play(CUP.opening, {"do": "enter", "teams": order, "draw": "4 1 6 2"}).teams
        for order in (teams, teams[::-1])
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0] != CUP.play(CUP.opening, {"do": "enter", "teams": teams, "draw": "4 1 6 3"}).teams


def test_begun_losers_match_blocks_correction_of_source_match():
    state = won(won(entered(*"abcd"), "W1-1", "a"), "W1-2", "b")
    state = CUP.play(state, {"do": "begin", "match": "L1-1"})
    correct = {"do": "correct", "match": "W1-1", "winner": "d"}
    with pytest.raises(IllegalActionError, match="depend on W1-1 have begun: L1-1"):
        CUP.play(state, correct)
    assert ready(CUP.play(state, {**correct, "then": "replay"}))["L1-1"] == ("a", "c")
    assert "L2-2" in CUP.dependents(entered(*"abcdefgh"), "W1-1"), "the loser of W2-1 plays there"


def test_a_begun_second_final_depends_on_the_first():
    state = won(won(entered("a", "b"), "W1-1", "a"), "F1", "b")
    state = CUP.play(state, {"do": "begin", "match": "F2"})
    correct = {"do": "correct", "match": "F1", "winner": "a"}
    with pytest.raises(IllegalActionError, match="depend on F1 have begun: F2"):
        CUP.play(state, correct)
    with pytest.raises(IllegalActionError, match="depend on W1-1 have begun: F1, F2"):
        CUP.play(state, {"do": "correct", "match": "W1-1", "winner": "b"})
    assert CUP.champion(CUP.play(state, {**correct, "then": "replay"})) == "a"


def test_stick_correction_with_same_winner_is_always_allowed():
    cup = Elimination("double", best_of=3)
    state = won(won(won(entered(*"abcd", cup=cup), "W1-1", "d", cup), "W1-1", "a", cup), "W1-1", "a", cup)
    state = won(won(state, "W1-2", "b", cup), "W1-2", "b", cup)
    state = cup.play(state, {"do": "begin", "match": "W2-1"})
    corrected = cup.play(state, {"do": "correct", "match": "W1-1", "game": 3, "winner": "a", "sticks": {"a": 9}})
    assert corrected.games["W1-1"][-1].sticks == {"a": 9}
    assert (ready(corrected, cup), corrected.started) == (ready(state, cup), state.started)


def test_a_team_that_is_eliminated_cannot_withdraw():
    state = won(won(won(entered(*"abcd"), "W1-1", "a"), "W1-2", "b"), "L1-1", "c")
    with pytest.raises(IllegalActionError, match="eliminated already"):
        CUP.play(state, {"do": "withdraw", "team": "d"})


@pytest.mark.parametrize(
    ("kind", "places"), [("single", [1, 2, 3, 3, 5, 5, 5, 5]), ("double", [1, 2, 3, 4, 5, 5, 7, 7])]
)
def test_teams_eliminated_in_same_round_share_a_place(kind, places):
    cup = Elimination(kind)
    state, told = entered(*"abcdefgh", cup=cup), set()
    while found := cup.ready(state):
        state = won(state, found[0].id, min(found[0].teams), cup)
        told |= {(row["team"], row["place"]) for row in cup.standings(state) if row["place"]}
    rows = cup.standings(state)
    assert [row["place"] for row in rows] == places
    assert told == {(row["team"], row["place"]) for row in rows}, "a place that is given stays"


@pytest.mark.parametrize("build", [single, double])
def test_a_bracket_needs_two_teams(build):
    with pytest.raises(ValueError, match="two teams"):
        build(1)
    assert len(build(2).matches) >= 1


@pytest.mark.parametrize("do", ["begin", "tie", "reinstate"])
def test_action_with_extra_field_is_refused(do):
    state = entered("A", "B", "C", "D")
    action = {"do": do, "team": "A"} if do == "reinstate" else {"do": do, "match": "W1-1"}
    with pytest.raises(InvalidActionError, match="extra"):
        CUP.play(state, action | {"extra": 1})
