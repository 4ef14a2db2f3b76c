"""Round robin: the schedule, the points, the chain of ties, play-offs, teams that go."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import Points, RoundRobin, circle


def entered(league, teams):
    return league.play(league.opening, {"do": "enter", "teams": list(teams)})


def play_all(league, state, result):
    """Enter what `result` says of each match of two teams that is ready: the winner, and more keys."""
    while ready := league.ready(state):
        winner, more = result(*ready[0].teams)
        state = league.play(state, {"do": "result", "match": ready[0].id, "winner": winner, **more})
    return state


@pytest.mark.parametrize("teams", range(2, 17))
def test_pairs_meet_once_without_double_play_per_round(teams):
    rounds = circle(teams)
    assert len(rounds) == teams - 1 + teams % 2
    pairs = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert Counter(pairs) == Counter(map(frozenset, itertools.combinations(range(teams), 2)))
    assert all(len(set(itertools.chain(*pairs))) == 2 * len(pairs) for pairs in rounds)


def test_sweep_scores_three_win_two_loss_zero():
    league = RoundRobin()
    rng = random.Random(5)

    def result(a, b):
        sweep = rng.random() < 0.4
        winner, loser = rng.sample([a, b], 2)
        return winner, {"sweep": sweep, "sticks": {winner: 11 if sweep else 7, loser: 0 if sweep else 4}}

    for seed in range(40):
        rng.seed(seed)
        state = play_all(league, entered(league, "abcdefgh"), result)
        rows = list(league.standings(state))
        games = [game for match, games in state.games.items() if match.startswith("R") for game in games]
        assert sum(row["points"] for row in rows) == 2 * 28 + sum(game.sweep for game in games)
        assert sum(row["sticks"] for row in rows) == 28 * 11
        keys = [(-row["points"], -row["sticks"], -row["sweeps"]) for row in rows]
        assert keys == sorted(keys)
        assert league.champion(state) == rows[0]["team"]


def test_standings_count_wins_and_losses_of_each_team():
    league = RoundRobin()
    state = play_all(league, entered(league, "abc"), lambda a, b: (min(a, b), {}))
    rows = {row["team"]: (row["played"], row["wins"], row["losses"]) for row in league.standings(state)}
    assert rows == {"a": (2, 2, 0), "b": (2, 1, 1), "c": (2, 0, 2)}


@pytest.mark.parametrize(("sticks", "taken"), [(0, True), (10_000, True), (10_001, False)])
def test_result_takes_up_to_10000_sticks(sticks, taken):
    league = RoundRobin()
    state = entered(league, "ab")
    result = {"do": "result", "match": "R1-1", "winner": "a", "sticks": {"a": sticks}}
    if taken:
        assert league.play(state, result).games["R1-1"][0].sticks == {"a": sticks}
    else:
        with pytest.raises(InvalidActionError):
            league.play(state, result)


def test_head_to_head_breaks_tie_on_equal_sticks():
    league = RoundRobin(play_off="none")
    # b beat a; both have two wins and the same sticks
    wins = {
        frozenset("ab"): "b",
        frozenset("ac"): "a",
        frozenset("ad"): "a",
        frozenset("bc"): "b",
        frozenset("bd"): "d",
    }
    state = play_all(
        league, entered(league, "abcd"), lambda a, b: (wins.get(frozenset(a + b), "c"), {"sticks": {a: 5, b: 5}})
    )
    rows = {row["team"]: row for row in league.standings(state)}
    assert (rows["a"]["points"], rows["b"]["points"]) == (4, 4)
    assert (rows["b"]["place"], rows["a"]["place"], rows["a"]["tied"]) == (1, 2, False)


def in_a_circle(a, b):
    return {frozenset("ab"): "a", frozenset("bc"): "b", frozenset("ac"): "c"}[frozenset((a, b))], {}


def test_circular_tie_is_played_off():
    league = RoundRobin(play_off="none")
    state = play_all(league, entered(league, "abc"), in_a_circle)
    assert [(row["place"], row["tied"]) for row in league.standings(state)] == [(1, True)] * 3
    assert league.champion(state) is None

    league = RoundRobin()
    state = entered(league, "abc")
    for pairing in league.ready(state):
        winner, _ = in_a_circle(*pairing.teams)
        state = league.play(state, {"do": "result", "match": pairing.id, "winner": winner})
    assert {pairing.id[0] for pairing in league.ready(state)} == {"P"}
    again = play_all(league, state, lambda a, b: (min(a, b), {}))
    assert league.champion(again) == "a"
    assert [row["played"] for row in league.standings(again)] == [2, 2, 2]
    # a result of the rounds that is corrected strikes the play-offs, once the director says so
    match = next(match for match in again.games if match.startswith("R"))
    other = next(
        team for team in "abc" if team != again.games[match][0].winner and team in _teams(league, again, match)
    )
    corrected = league.play(again, {"do": "correct", "match": match, "winner": other, "then": "replay"})
    assert not any(match.startswith("P") for match in corrected.games)


def _teams(league, state, match):
    return next(pairing.teams for pairing in league.pairings(state) if pairing.id == match)


def test_tie_below_first_is_played_off_if_configured():
    def result(a, b):
        return ("a", {}) if "a" in (a, b) else ({"bc": "b", "cd": "c", "bd": "d"}["".join(sorted(a + b))], {})

    league = RoundRobin()
    state = play_all(league, entered(league, "abcd"), result)
    assert league.champion(state) == "a"
    assert [row["place"] for row in league.standings(state)] == [1, 2, 2, 2]
    league = RoundRobin(play_off="all")
    state = entered(league, "abcd")
    for pairing in league.ready(state):
        winner, _ = result(*pairing.teams)
        state = league.play(state, {"do": "result", "match": pairing.id, "winner": winner})
    assert len(league.ready(state)) == 3


def test_withdrawn_teams_games_are_forfeited_or_annulled():
    for withdrawn, points in (("forfeit", {"a": 2 + 2, "b": 0 + 2}), ("annul", {"a": 2, "b": 0})):
        league = RoundRobin(withdrawn=withdrawn)
        state = entered(league, "abc")
        state = league.play(state, {"do": "result", "match": _match(league, state, "ab"), "winner": "a"})
        state = league.play(state, {"do": "withdraw", "team": "c", "why": "disqualified"})
        assert league.champion(state) == "a"
        assert league.eliminated_teams(state) == ("c",)
        rows = {row["team"]: row["points"] for row in league.standings(state)}
        assert {team: rows[team] for team in "ab"} == points


def _match(league, state, teams):
    return next(pairing.id for pairing in league.pairings(state) if set(pairing.teams) == set(teams))


def test_points_are_the_organisers():
    league = RoundRobin(points=Points(sweep=5, win=4, walkover=1))
    state = entered(league, "ab")
    state = league.play(state, {"do": "result", "match": "R1-1", "winner": "b", "sweep": True})
    assert league.standings(state)[0]["points"] == 5


def test_stick_correction_that_breaks_tie_removes_play_off():
    league = RoundRobin()
    state = league.play(league.opening, {"do": "enter", "teams": ["a", "b", "c"]})
    for match in [pairing.id for pairing in league.ready(state)]:
        teams = next(pairing.teams for pairing in league.pairings(state) if pairing.id == match)
        winner = {frozenset("ab"): "a", frozenset("bc"): "b", frozenset("ac"): "c"}[frozenset(teams)]
        state = league.play(state, {"do": "result", "match": match, "winner": winner, "sticks": {winner: 11}})
    off = league.ready(state)
    assert len(off) == 3, "each has beaten one: all three play it off"
    state = league.play(state, {"do": "begin", "match": off[0].id})
    match = next(pairing.id for pairing in league.pairings(state) if pairing.winner == "a")
    correction = {"do": "correct", "match": match, "winner": "a", "sticks": {"a": 12}}
    with pytest.raises(IllegalActionError, match="have begun"):
        league.play(state, correction)
    replayed = league.play(state, {**correction, "then": "replay"})
    assert league.champion(replayed) == "a"
    assert not league.ready(replayed)
