"""The schedule: no team and no judge at two tables, nobody judges their own, rest is kept, all is played in the end."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from cases import cases

from pi_controller.rules import game
from pi_controller.tournament import Elimination, RoundRobin
from pi_controller.tournament.decisions import DEFAULT_REST_S
from pi_controller.tournament.schedule import Hall, assign, may_judge
from pi_controller.tournament.teams import Registration


def registered(teams, judges=()):
    registration = Registration(game("dakota").roster)
    for team in teams:
        registration = registration.register(team, [f"{team}{number}" for number in range(1, 5)])
    for judge in judges:
        registration = registration.appoint(judge)
    return registration


def finish_next(kind, state, hall, ends, rng):
    """End the match at a table that ends first; return when that is, and the state and the hall after it."""
    done = min(hall.playing, key=lambda one: ends[one.match])
    now = ends[done.match]
    state = kind.play(state, {"do": "result", "match": done.match, "winner": rng.choice(done.teams)})
    hall = replace(
        hall,
        playing=tuple(one for one in hall.playing if one != done),
        ended={**hall.ended, **dict.fromkeys(done.teams, now)},
        freed={**hall.freed, done.table: now},
    )
    return now, state, hall


@pytest.mark.parametrize("seed", range(cases(5, 12)))
@pytest.mark.parametrize("kind", [Elimination("double"), RoundRobin()])
def test_a_whole_tournament_is_scheduled(kind, seed):
    rng = random.Random(seed)
    teams = [f"T{number}" for number in range(rng.randint(4, 12))]
    # half the judges play in teams themselves
    registration = registered(teams, [f"{team}1" for team in teams] + [f"J{number}" for number in range(3)])
    state = kind.play(kind.opening, {"do": "enter", "teams": teams})
    hall = Hall(tuple(f"table {number}" for number in range(1, rng.randint(2, 5))), rest=300.0)
    ends, now = {}, 0.0
    for _ in range(5_000):
        called, waiting = assign(hall, registration, kind.ready(state), now)
        hall = replace(
            hall,
            playing=(*hall.playing, *called),
            judged={**hall.judged, **{one.judge: hall.judged.get(one.judge, 0) + 1 for one in called}},
        )
        for one in called:
            state = kind.play(state, {"do": "begin", "match": one.match})
            ends[one.match] = now + rng.uniform(900, 5_400)
            assert all(now - hall.ended[team] >= 300 for team in one.teams if team in hall.ended)
        people = [*(team for one in hall.playing for team in one.teams)]
        assert len(people) == len(set(people))
        assert len({one.table for one in hall.playing}) == len({one.judge for one in hall.playing}) == len(hall.playing)
        assert not {registration.team_of(one.judge) for one in hall.playing} & set(people)
        if not hall.playing:
            if not waiting:
                break
            assert {wait.why for wait in waiting} <= {"rest", "judge"}
            now = min(wait.until for wait in waiting if wait.until is not None)
            continue
        now, state, hall = finish_next(kind, state, hall, ends, rng)
    assert not kind.ready(state)
    assert sum(hall.judged.values()) == len(ends)


def test_waiting_match_names_its_reason():
    teams = list("abcd")
    cup = Elimination("double")
    state = cup.play(cup.opening, {"do": "enter", "teams": teams})
    registration = registered(teams)
    _, waiting = assign(Hall(("1",)), registration, cup.ready(state), 0.0)
    assert {wait.why for wait in waiting} == {"judge"}
    registration = registration.appoint("J")
    called, waiting = assign(Hall(("1",)), registration, cup.ready(state), 0.0)
    assert ([one.table for one in called], [wait.why for wait in waiting]) == (["1"], ["table"])
    rested = Hall(("1", "2"), ended=dict.fromkeys(teams, 100.0), rest=300.0)
    _, waiting = assign(rested, registration, cup.ready(state), 200.0)
    assert {(wait.why, wait.until) for wait in waiting} == {("rest", 400.0)}


def test_judge_is_neutral_and_not_about_to_play():
    registration = registered("abc", ["a1", "J"])
    assert not may_judge(registration, "a1", ["a", "b"], [])
    assert not may_judge(registration, "a1", ["b", "c"], ["a"])
    assert may_judge(registration, "a1", ["b", "c"], [])
    assert not may_judge(registration.leave("a1", "disqualified"), "a1", ["b", "c"], [])
    assert not may_judge(registration, "somebody", ["a", "b"], [])


def test_tables_are_used_alike():
    """24 teams, double elimination, four tables, ten minutes of rest: how many matches each table has."""
    counts = []
    for seed in range(cases(7, 20)):
        rng = random.Random(seed)
        cup = Elimination("double")
        teams = [f"T{number}" for number in range(24)]
        state = cup.play(cup.opening, {"do": "enter", "teams": teams})
        hall = Hall(("1", "2", "3", "4"), rest=DEFAULT_REST_S, own_judges=True)
        ends, now = {}, 0.0
        while ready := cup.ready(state):
            called, waiting = assign(hall, registered(()), ready, now)
            used = dict(hall.used)
            for one in called:
                state = cup.play(state, {"do": "begin", "match": one.match})
                ends[one.match] = now + rng.uniform(900, 3_600)
                used[one.table] = used.get(one.table, 0) + 1
            hall = replace(hall, playing=(*hall.playing, *called), used=used)
            if not hall.playing:
                now = min(wait.until for wait in waiting if wait.until is not None)
                continue
            now, state, hall = finish_next(cup, state, hall, ends, rng)
        counts.append(sorted(hall.used.values()))
    assert max(most - least for least, *_, most in counts) <= 2
