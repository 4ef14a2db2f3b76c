"""How far a tournament is: rounds and matches, for each format, from the drawing to the end."""

import pytest
from cases import cases

from pi_controller.tournament import Elimination, Groups, RoundRobin

KINDS = {
    "double": Elimination("double"),
    "single": Elimination("single"),
    "third place": Elimination("single", third_place=True),
    "groups": Groups(groups=2),
    "round robin": RoundRobin(),
}


def entered(competition, count):
    return competition.play(competition.opening, {"do": "enter", "teams": [f"T{n}" for n in range(count)]})


@pytest.mark.parametrize(
    ("kind", "count", "rounds", "matches"),
    [
        ("double", 8, 6, 14),
        ("double", 2, 2, 2),
        ("single", 8, 3, 7),
        ("single", 5, 3, 4),
        ("third place", 8, 3, 8),
        ("groups", 8, 5, 15),
        ("round robin", 6, 5, 15),
    ],
)
def test_progress_counts_rounds_and_matches_of_each_format(kind, count, rounds, matches):
    competition = KINDS[kind]
    assert competition.progress(entered(competition, count)) == (1, rounds, 0, matches)


@pytest.mark.parametrize("kind", KINDS)
def test_progress_rises_to_all_matches(kind):
    competition = KINDS[kind]
    for count in cases((4, 8), range(4, 17)):
        state, before = entered(competition, count), (0, 0)
        while ready := competition.ready(state):
            done = competition.progress(state)
            assert before[0] <= done.round <= done.rounds
            assert before[1] < done.decided + 1 <= done.matches
            before = done.round, done.decided + 1
            winner = min(ready[0].teams, key=state.teams.index)
            state = competition.play(state, {"do": "result", "match": ready[0].id, "winner": winner})
        done = competition.progress(state)
        assert (done.round, done.decided) == (done.rounds, done.matches)


def test_place_without_opponent_is_no_match():
    cup = KINDS["single"]
    state = entered(cup, 4)
    for team in cup.ready(state)[0].teams:
        state = cup.play(state, {"do": "withdraw", "team": team})
    assert cup.progress(state)[2:] == (1, 2)
