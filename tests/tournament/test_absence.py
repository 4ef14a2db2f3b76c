"""Teams that lose without playing: nobody wins what neither plays, and who has left is behind those present."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from cases import cases
from load_file import load_file

from pi_controller.rules.base import IllegalActionError
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament.competition import NOBODY

random_tournaments = load_file("tests/tournament/random_tournaments.py")

CUP = Elimination("double")
SINGLE = Elimination("single")
LEAGUES = [
    RoundRobin(withdrawn=withdrawn, play_off=play_off)
    for withdrawn in ("forfeit", "annul")
    for play_off in ("first", "all", "none", 2)
]


def entered(cup, teams):
    return cup.play(cup.opening, {"do": "enter", "teams": list(teams)})


def played(cup, state, *actions):
    for action in actions:
        state = cup.play(state, action)
    return state


def won(match, winner, **more):
    return {"do": "result", "match": match, "winner": winner, **more}


def gone(team, why="no_show"):
    return {"do": "withdraw", "team": team, "why": why}


def lost(match, team):
    return {"do": "forfeit", "match": match, "team": team}


def ready(cup, state):
    return {pairing.id: pairing.teams for pairing in cup.ready(state)}


def places(cup, state):
    return {row["team"]: row["place"] for row in cup.standings(state)}


@pytest.mark.parametrize("seed", range(cases(8, 1_000)))
def test_random_days_end_with_one_champion_present(seed):
    random_tournaments.check_day(random.Random(f"day {seed}"))


@pytest.mark.parametrize("why", ["no_show", "disqualified", "withdrawn"])
@pytest.mark.parametrize("cup", [CUP, SINGLE, Elimination("single", 3), *LEAGUES])
def test_no_winner_if_both_leave_in_either_order(cup, why):
    state = entered(cup, "abcd")
    pairing = cup.ready(state)[0]
    first, second = (played(cup, state, *(gone(team, why) for team in teams)) for teams in permutations(pairing.teams))
    assert cup.public_summary(first) == cup.public_summary(second)
    assert all(one.winner == NOBODY for one in cup.pairings(first) if one.teams == pairing.teams)
    assert {row["wins"] for row in cup.standings(first) if row["gone"]} == {0}
    assert set(cup.eliminated_teams(first)) >= {*pairing.teams}


@pytest.mark.parametrize("teams", list(permutations("ab")))
def test_unplayed_final_has_no_winner(teams):
    state = played(SINGLE, entered(SINGLE, "abcd"), won("W1-1", "a"), won("W1-2", "b"), *map(gone, teams))
    assert (SINGLE.champion(state), SINGLE.is_over(state)) == (None, True)
    assert places(SINGLE, state) == {"a": 2, "b": 2, "c": 4, "d": 4}
    assert SINGLE.public_summary(state)["over"]


def test_walkover_winner_that_played_on_keeps_win():
    state = played(CUP, entered(CUP, "abcd"), gone("d"), won("W1-2", "b"), won("W2-1", "b"), gone("a"))
    assert CUP.winner(state, "W1-1") == "a"
    assert CUP.champion(state) is None
    assert ready(CUP, state) == {"F1": ("b", "c")}


def test_team_beaten_after_a_walkover_cannot_leave():
    state = played(SINGLE, entered(SINGLE, "abcd"), gone("d"), won("W1-2", "b"), won("F1", "b"))
    with pytest.raises(IllegalActionError, match="eliminated"):
        SINGLE.play(state, gone("a"))


def test_empty_place_is_a_bye_for_the_other():
    state = played(SINGLE, entered(SINGLE, "abcd"), gone("a"), gone("d"))
    final = SINGLE.pairings(state)[-1]
    assert final.teams == (NOBODY, None)
    state = SINGLE.play(state, won("W1-2", "c"))
    assert SINGLE.champion(state) == "c"
    assert "F1" not in state.games
    assert {row["team"]: row["wins"] for row in SINGLE.standings(state)}["c"] == 1
    with pytest.raises(IllegalActionError, match="decided: 'c' won"):
        SINGLE.play(state, won("F1", "c"))


def test_absent_team_is_behind_others_of_its_round():
    state = entered(CUP, "abcdefgh")
    for match, winner in (("W1-1", "a"), ("W1-2", "d"), ("W1-3", "b"), ("W1-4", "c")):
        state = CUP.play(state, won(match, winner))
    state = played(CUP, state, won("L1-1", "e"), gone("f"))
    assert CUP.winner(state, "L1-2") == "g"
    assert {team: places(CUP, state)[team] for team in "hf"} == {"h": 7, "f": 8}


def test_final_without_an_opponent_has_no_second_match():
    state = played(CUP, entered(CUP, "abc"), won("W1-1", "b"), gone("a"), gone("b"))
    assert [pairing.id for pairing in CUP.pairings(state)] == ["W1-1", "W2-1", "L1-1", "F1"]
    assert (CUP.champion(state), CUP.pairings(state)[-1].teams) == ("c", (NOBODY, "c"))


def test_team_that_forfeits_a_match_stays_in():
    state = played(CUP, entered(CUP, "abcd"), lost("W1-1", "a"), won("W1-2", "b"))
    assert ready(CUP, state) == {"W2-1": ("d", "b"), "L1-1": ("a", "c")}
    assert "a" not in CUP.eliminated_teams(state)
    assert {row["team"]: (row["losses"], row["gone"]) for row in CUP.standings(state)}["a"] == (1, None)


@pytest.mark.parametrize("teams", list(permutations("ad")))
def test_two_that_forfeit_play_for_the_losers_place(teams):
    state = played(CUP, entered(CUP, "abcd"), won("W1-2", "b"), *(lost("W1-1", team) for team in teams))
    assert CUP.winner(state, "W1-1") == NOBODY
    assert ready(CUP, state) == {"W1-1-L": ("a", "d")}
    assert CUP.pairings(state)[-1].teams == ("b", None)
    state = CUP.play(state, won("W1-1-L", "d"))
    assert CUP.eliminated_teams(state) == ("a",)
    assert ready(CUP, state) == {"L1-1": ("d", "c")}
    again = CUP.play(state, {"do": "replay", "match": "W1-1"})
    assert ready(CUP, again) == {"W1-1": ("a", "d")}


@pytest.mark.parametrize("actions", list(permutations([lost("W1-1", "a"), gone("d")])))
def test_one_that_stays_takes_the_losers_place(actions):
    state = played(CUP, entered(CUP, "abcd"), won("W1-2", "b"), *actions)
    assert CUP.winner(state, "W1-1") == NOBODY
    assert ready(CUP, state) == {"L1-1": ("a", "c")}


def test_double_forfeit_of_final_favours_unbeaten_team():
    state = played(CUP, entered(CUP, "ab"), won("W1-1", "a"), lost("F1", "b"), lost("F1", "a"))
    assert (CUP.champion(state), CUP.is_over(state)) == ("a", True)
    state = played(CUP, entered(CUP, "ab"), won("W1-1", "a"), won("F1", "b"), lost("F2", "b"), lost("F2", "a"))
    assert (CUP.champion(state), CUP.is_over(state)) == (None, True)


def test_forfeit_of_a_decided_match_is_refused():
    state = CUP.play(entered(CUP, "abcd"), won("W1-1", "a"))
    for action, why in ((lost("W1-1", "a"), "decided: 'a' won"), (lost("W1-2", "a"), "not in W1-2")):
        with pytest.raises(IllegalActionError, match=why):
            CUP.play(state, action)
    walkover = played(CUP, entered(CUP, "abcd"), lost("W1-1", "a"), won("W1-2", "b"), {"do": "begin", "match": "W2-1"})
    with pytest.raises(IllegalActionError, match="have begun: W2-1"):
        CUP.play(walkover, lost("W1-1", "d"))


def test_correction_lifts_a_forfeit():
    cup = Elimination("single", best_of=3)
    state = played(cup, entered(cup, "ab"), lost("F1", "a"))
    state = cup.play(state, {"do": "correct", "match": "F1", "game": 2, "winner": "a"})
    assert cup.games_won(state, cup.pairings(state)[0]) == {"a": 1, "b": 1}
    assert ready(cup, state) == {"F1": ("a", "b")}


@pytest.mark.parametrize("league", LEAGUES)
def test_tied_team_that_leaves_lets_the_other_win(league):
    state = played(league, entered(league, "ab"), {"do": "tie", "match": "R1-1"}, gone("a"))
    assert (league.champion(state), league.is_over(state)) == ("b", True)
    assert places(league, state) == {"b": 1, "a": 2}


@pytest.mark.parametrize("league", LEAGUES)
def test_absent_team_ranks_behind_all_present(league):
    state = entered(league, "abc")
    winner = {frozenset("ab"): "a", frozenset("ac"): "a", frozenset("bc"): "c"}
    for pairing in league.pairings(state):
        state = league.play(state, won(pairing.id, winner[frozenset(pairing.teams)]))
    assert league.champion(state) == "a"
    state = league.play(state, gone("a", "disqualified"))
    rows = league.standings(state)
    assert [(row["team"], row["place"], row["tied"]) for row in rows][-1] == ("a", 3, False)
    assert league.champion(state) == "c"
    state = played(league, state, gone("b"), gone("c"))
    assert (league.champion(state), league.is_over(state)) == (None, True)
    assert 1 not in places(league, state).values()


def test_team_leaving_a_play_off_changes_no_other():
    league = RoundRobin()
    state = entered(league, "abc")
    for pairing in league.pairings(state):
        state = league.play(state, {"do": "tie", "match": pairing.id})
    state = league.play(state, won("P4-1-2", "a"))
    before = ready(league, state)
    state = league.play(state, gone("a"))
    assert ready(league, state) == {"P4-2-3": before["P4-2-3"]}
    assert league.champion(league.play(state, won("P4-2-3", "b"))) == "b"


def test_both_absent_in_a_round_robin_lose():
    league = RoundRobin()
    state = played(league, entered(league, "ab"), lost("R1-1", "a"), lost("R1-1", "b"))
    rows = {row["team"]: (row["played"], row["wins"], row["losses"], row["points"]) for row in league.standings(state)}
    assert rows == {"a": (1, 0, 1, 0), "b": (1, 0, 1, 0)}
    assert ready(league, state) == {"P2-1-2": ("a", "b")}, "both are present and tied"


def test_absent_team_is_behind_those_not_qualified():
    cup = Groups(2, through=1)
    state = played(cup, entered(cup, "abcdef"), gone("f"))
    while not state.qualifiers:
        pairing = cup.ready(state)[0]
        state = cup.play(state, won(pairing.id, min(pairing.teams)))
    state = cup.play(state, won("F1", "a"))
    assert places(cup, state) == {"a": 1, "b": 2, "c": 3, "d": 3, "e": 3, "f": 6}


def test_team_beaten_in_its_group_can_still_leave():
    cup = Groups(2, through=1)
    state = entered(cup, "abcd")
    for match, winner in (("A.R1-1", "a"), ("B.R1-1", "b")):
        state = cup.play(state, won(match, winner))
    assert places(cup, cup.play(state, gone("c"))) == {"a": None, "b": None, "d": 3, "c": 4}
    with pytest.raises(IllegalActionError, match="eliminated"):
        played(cup, state, {"do": "begin", "match": "F1"}, gone("c"))


def test_both_leave_a_begun_match_in_either_order():
    cup, ends = Elimination("double"), []
    state = cup.play(cup.opening, {"do": "enter", "teams": ["A", "B", "C", "D"]})
    first, second = (one for one in cup.ready(state))
    loser, winner = second.teams
    for action in (
        {"do": "result", "match": first.id, "winner": first.teams[0]},
        {"do": "forfeit", "match": second.id, "team": loser},
        {"do": "begin", "match": "W2-1"},
    ):
        state = cup.play(state, action)
    both = (first.teams[0], winner)
    for teams in (both, both[::-1]):
        after = state
        for team in teams:
            after = cup.play(after, {"do": "withdraw", "team": team, "why": "disqualified"})
        ends.append(cup.public_summary(after))
    assert ends[0] == ends[1]


def test_both_leave_begun_play_off_in_either_order():
    cup, ends = RoundRobin(), []
    state = entered(cup, "ABCZ")
    state = cup.play(state, {"do": "withdraw", "team": "Z"})
    while not (one := cup.ready(state)[0]).id.startswith("P"):
        won_by = next((team for team in one.teams if team != "C"), "")
        tie = {*one.teams} == {"A", "B"}
        state = cup.play(state, {"do": "tie", "match": one.id} if tie else won(one.id, won_by))
    state = cup.play(state, {"do": "begin", "match": one.id})
    for teams in ("AB", "BA"):
        after = state
        for team in teams:
            after = cup.play(after, {"do": "withdraw", "team": team, "why": "no_show"})
        ends.append([(row["team"], row["place"], row["wins"]) for row in cup.standings(after)])
    assert ends[0] == ends[1]
