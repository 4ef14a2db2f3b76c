"""A team that had gone comes back: it is as if it had never gone, or refused because people have played on by it."""

import random

import pytest
from cases import cases
from director_hall import TEAMS, drawn, seen

from pi_controller.rules.base import IllegalActionError
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament import decisions as d

CUP = Elimination("double")


def entered(cup, teams):
    return cup.play(cup.opening, {"do": "enter", "teams": list(teams)})


def go(cup, state, team, do="withdraw"):
    return cup.play(state, {"do": do, "team": team})


def random_action(cup, state, rng, gone=0.05):
    out = set(cup.eliminated_teams(state))
    there = [team for team in state.teams if team not in out]
    if rng.random() < gone and len(there) > 2:
        return {"do": "withdraw", "team": rng.choice(there)}
    one = rng.choice(cup.ready(state))
    if rng.random() < 0.1:
        return {"do": "begin", "match": one.id, "teams": one.teams}
    return {"do": "result", "match": one.id, "winner": rng.choice(one.teams), "teams": one.teams}


def after(cup, state, actions):
    """Return the state after `actions`; None where one is of a match that is not to be played, or of other teams."""
    for given in actions:
        action = {key: value for key, value in given.items() if key != "teams"}
        teams = given.get("teams")
        known = {one.id: one for one in cup.pairings(state)}
        if teams is not None and (action["match"] not in known or known[action["match"]].teams != teams):
            return None
        try:
            state = cup.play(state, action)
        except IllegalActionError:
            return None
    return state


def kinds(rng):
    best_of = rng.choice([1, 1, 3])
    withdrawn = rng.choice(["forfeit", "annul"])
    return rng.choice(
        [
            Elimination("double", best_of),
            Elimination("single", best_of, third_place=rng.choice([True, False])),
            RoundRobin(best_of, withdrawn=withdrawn, play_off=rng.choice(["first", "all"])),
            Groups(2, 2, rng.choice(["single", "double"]), best_of, withdrawn=withdrawn),
        ]
    )


def without_begun(answer):
    """Return the answer without what was begun: a game that was broken off is called again."""
    return {**answer, "ready": [{key: one[key] for key in one if key != "begun"} for one in answer["ready"]]}


def test_forfeit_is_void_while_others_may_reach_match():
    """Both forfeit the final; then a team comes back whose walkover had led there."""
    cup = Elimination("single")
    state = entered(cup, "ABCDE")
    for action in (
        {"do": "forfeit", "match": "W1-1", "team": "D"},
        {"do": "withdraw", "team": "E"},
        {"do": "result", "match": "W2-2", "winner": "B"},
        {"do": "forfeit", "match": "F1", "team": "A"},
        {"do": "forfeit", "match": "F1", "team": "B"},
        {"do": "reinstate", "team": "E"},
    ):
        state = cup.play(state, action)
    assert [one.id for one in cup.ready(state)] == ["W2-1"]
    for team in ("E", "A"):  # neither comes: the final has one team, which has forfeited nothing
        state = go(cup, state, team)
    assert cup.champion(state) == "B"


@pytest.mark.parametrize("seed", range(cases(120, 400)))
def test_reinstated_team_matches_tournament_it_never_left(seed):
    """All that was played meanwhile, played again by a tournament that it never left, is the judge.

    In one of a thousand the two part, on the safe side: a play-off that had begun before the team went keeps it out,
    and a match that was broken off because another team went too does not.
    """
    rng = random.Random(seed)
    cup = kinds(rng)
    state = entered(cup, [f"T{n}" for n in range(1, rng.randint(4, 9) + 1)])
    for _ in range(rng.randint(0, 14)):
        if cup.champion(state) is not None or not cup.ready(state):
            return
        action = random_action(cup, state, rng)
        action.pop("teams", None)
        state = cup.play(state, action)
    there = [team for team in state.teams if team not in cup.eliminated_teams(state)]
    if cup.champion(state) is not None or len(there) < 3:
        return
    team = rng.choice(there)
    stayed, left, meanwhile = state, go(cup, state, team), []
    for _ in range(rng.randint(0, 3)):
        if cup.champion(left) is not None or not cup.ready(left):
            break
        meanwhile.append(random_action(cup, left, rng))
        left = after(cup, left, meanwhile[-1:])
    expected = after(cup, stayed, meanwhile)
    if expected is None:
        with pytest.raises(IllegalActionError, match="have begun"):
            go(cup, left, team, "reinstate")
    else:
        back = go(cup, left, team, "reinstate")
        assert without_begun(cup.public_summary(back)) == without_begun(cup.public_summary(expected))
        assert cup.pairings(back) == cup.pairings(expected)
        assert back.games == expected.games


def test_reinstating_reopens_walkover_unless_next_match_has_begun():
    state = go(CUP, entered(CUP, "abcd"), "a")
    assert [one.id for one in CUP.ready(state)] == ["W1-2"]
    back = go(CUP, state, "a", "reinstate")
    assert {one.id for one in CUP.ready(back)} == {"W1-1", "W1-2"}
    begun = CUP.play(
        CUP.play(state, {"do": "result", "match": "W1-2", "winner": "b"}), {"do": "begin", "match": "W2-1"}
    )
    with pytest.raises(IllegalActionError, match="depend on the withdrawal of 'a' have begun: W2-1") as told:
        go(CUP, begun, "a", "reinstate")
    assert "stays out" in told.value.hint


def test_team_that_has_not_withdrawn_cannot_be_reinstated():
    state = entered(CUP, "abcd")
    with pytest.raises(IllegalActionError, match="has not withdrawn"):
        go(CUP, state, "a", "reinstate")


@pytest.mark.parametrize("why", ["withdrawn", "no_show", "disqualified"])
def test_reinstatement_restores_call_and_is_undone(why):
    hall = drawn()
    hall.call("W1-1")
    before = seen(hall.now)
    hall.do(d.TeamWithdrawn(TEAMS[0], why))
    out = seen(hall.now)
    hall.do(d.Reinstated(TEAMS[0], "they were at the other door"))
    assert seen(hall.now)["answer"] == before["answer"]
    assert "W1-1" in {one.id for one in hall.now.ready}
    hall.undo()
    assert seen(hall.now) == out
    hall.undo()
    assert seen(hall.now) == before


def test_walkover_before_second_withdrawal_survives_reinstatement():
    """a leaves first, so d has W1-1 by a walkover; then d leaves, too.

    When d comes back, W1-1 stays d's: it was d's before d left, and would be if d had never gone, for a is still out.
    Only the return of a opens it: to a while d is out, and to play once both are back.
    """
    both_out = go(CUP, go(CUP, entered(CUP, "abcd"), "a"), "d")
    d_back = go(CUP, both_out, "d", "reinstate")
    assert CUP.winner(d_back, "W1-1") == "d"
    assert CUP.public_summary(d_back) == CUP.public_summary(go(CUP, entered(CUP, "abcd"), "a"))
    a_back = go(CUP, both_out, "a", "reinstate")
    assert CUP.winner(a_back, "W1-1") == "a"
    for state, other in ((d_back, "a"), (a_back, "d")):
        back = go(CUP, state, other, "reinstate")
        assert CUP.winner(back, "W1-1") is None
        assert "W1-1" in {one.id for one in CUP.ready(back)}
