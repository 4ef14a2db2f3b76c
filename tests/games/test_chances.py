"""The chances are exact: they agree with the rules a step at a time, with games played, and with sums done by hand."""

from __future__ import annotations

import importlib.util
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pi_controller.games import chances, registry
from pi_controller.games.chances_bowls import fair
from pi_controller.games.dakota_state import State
from pi_controller.games.sticks import Sticks


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


million = load("million_games")

CASES: list[tuple[str, dict[str, Any], float, float]] = [
    ("dakota", {}, 1 / 4, 1 / 3),
    ("dakota", {"points": 2, "wheya_16_4": "sahdogan", "low_hider": "literal"}, 1 / 3, 1 / 2),
    ("dakota", {"points": 3, "foul_payer": "middle_first", "foul_on_decision": "it_stays"}, 0.6, 0.05),
    ("dakota", {"points": 1, "overtime": "forfeit_four"}, 0.01, 0.99),
    ("dakota", {"points": 99}, 1 / 4, 1 / 3),
    ("plum_stone", {}, 0, 0),
    ("plum_stone", {"counters": 7, "no_throw": "again"}, 0, 0),
    ("bageswin", {}, 0, 0),
    ("bageswin", {"players": "Zoe,Ann", "sticks": 16, "table": "hinckley_2009"}, 0, 0),
    ("patol", {}, 0, 0),
    ("patol", {"throws": "zuni_1891", "players": "Zoe,Ann"}, 0, 0),
    ("patol", {"killing": False}, 0, 0),
]
each_case = pytest.mark.parametrize(
    ("name", "settings", "first", "second"), CASES, ids=[f"{name}-{number}" for number, (name, *_) in enumerate(CASES)]
)


def visited(game: Any, games: int) -> list[Any]:
    """Return the states of some random games, fouls and throws that do not count among their actions."""
    rng = random.Random(game.name)
    seen: list[Any] = []
    for _ in range(games):
        state = game.opening()
        for _ in range(300):
            legal = game.legal_actions(state)
            if game.over(state) or not legal:
                break
            seen.append(state)
            state, _ = game.play(state, rng.choice(legal))
        seen.append(state)
    return seen


def settled(state: Any) -> bool:
    return all(horse.river is not None for horse in getattr(state, "horses", ()))


@each_case
def test_a_chance_is_the_mean_of_what_may_come_next(name: str, settings: Any, first: float, second: float):
    game = registry.game(name, settings)
    solved = chances.solve(game, first, second)
    one, _ = solved.players
    states = [state for state in visited(game, 12) if settled(state)]
    assert len(states) > 20
    for state in states:
        chance = solved.of(state)
        assert 0 <= chance <= 1
        if game.over(state):
            assert chance == (state.winner == one)
            continue
        ways = million.ways(game, state, first, second)
        assert sum(p for p, _ in ways) == pytest.approx(1, abs=1e-15)
        mean = sum(p * solved.of(game.play(state, action)[0]) for p, action in ways)
        assert chance == pytest.approx(mean, abs=1e-11)
    assert solved.residual <= 1e-12


@each_case
def test_chances_sum_to_one(name: str, settings: Any, first: float, second: float):
    game = registry.game(name, settings)
    solved = chances.solve(game, first, second)
    for state in filter(settled, visited(game, 2)):
        each = solved.by_player(state)
        assert tuple(each) == solved.players
        assert sum(each.values()) == pytest.approx(1, abs=1e-15)
    assert sum(chance for _, chance in solved.openings()) == pytest.approx(1, abs=1e-15)
    page = solved.page()
    assert page.rows
    assert all(len(cells) == len(page.columns) for _, cells in page.rows)


def exchanged(state: Any, one: str, two: str) -> Any:
    """Return the state with the two players in each other's place."""
    swap = {one: two, two: one}

    def counts(sticks: Sticks) -> Sticks:
        return Sticks(sticks.names, tuple(sticks[swap.get(name, name)] for name in sticks.names))

    if hasattr(state, "horses"):
        a, b = state.horses
        horses = (replace(b, player=one), replace(a, player=two))
        return replace(state, horses=horses, thrower=swap[state.thrower], winner=swap.get(state.winner))
    changed: dict[str, Any] = {"sticks": counts(state.sticks), "winner": swap.get(state.winner)}
    if not isinstance(state, State):
        return replace(state, **changed, thrower=swap.get(state.thrower))
    if state.before:
        changed["before"] = exchanged(state.before, one, two)
    return replace(state, **changed, hider=swap.get(state.hider or ""), short=state.short[::-1], last=None)


@each_case
def test_exchanging_the_players_exchanges_the_chances(name: str, settings: Any, first: float, second: float):
    game = registry.game(name, settings)
    solved = chances.solve(game, first, second)
    for state in filter(settled, visited(game, 6)):
        assert solved.of(exchanged(state, *solved.players)) == pytest.approx(1 - solved.of(state), abs=1e-11)


@pytest.mark.parametrize(
    ("name", "settings", "first", "second"),
    [
        ("dakota", {"points": 2}, 1 / 4, 1 / 3),
        ("dakota", {"points": 1, "wheya_16_4": "sahdogan"}, 1 / 3, 1 / 2),
        ("plum_stone", {"counters": 24}, 0, 0),
        ("bageswin", {}, 0, 0),
        ("patol", {}, 0, 0),
    ],
)
def test_games_played_by_chance_come_out_so(name: str, settings: Any, first: float, second: float):
    found = million.compared(registry.game(name, settings), 6000, 11, first, second)
    assert abs(found.sigmas) < 4


def test_the_games_played_would_show_a_wrong_chance():
    # the same games with a bead found a little more often: the share must move away from the solved chance
    game = registry.game("dakota", {"points": 1})
    start, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    played = million.table(game, start, 0.5, 0.5)
    share = million.wins(played, 6000, million.np.random.default_rng(3)) / 6000
    assert abs(share - chances.solve(game).of(start)) > 0.04


def test_small_games_by_hand():
    # one counter, or a stick each: the first score wins, so x = p + (1 - p)(1 - x)
    plum = chances.solve(registry.game("plum_stone", {"counters": 1})).openings()[0][1]
    assert plum == pytest.approx(1 / (2 - 6 / 32), abs=1e-14)
    fish = chances.solve(registry.game("bageswin", {"sticks": 2})).openings()[0][1]
    assert fish == pytest.approx(1 / (2 - 42 / 256), abs=1e-14)


def test_fair_pieces():
    assert fair((2, 3), {(2, 3): 10, (0, 0): 10, (1, 3): 1, (1, 0): 1}) == {0: 26 / 32, 10: 2 / 32, 1: 4 / 32}


def test_nothing_found_is_the_hiders_game():
    assert chances.solve(registry.game("dakota"), 0, 0).openings() == (
        ("the hider after the toss", pytest.approx(1)),
        ("the hitter after the toss", pytest.approx(0)),
    )


def test_a_last_decision_hide_by_hand():
    # at 4:4 in sahdogan: a miss is the game; a find gives the other team the same 20 sticks with the roles exchanged
    solved = chances.solve(registry.game("dakota"))
    state = State(Sticks.of(A=12, B=8, middle=0), (4, 4), hider="A", mode="sahdogan", owed="first")
    stays = State(Sticks.of(A=12, B=8, middle=0), (4, 4), hider="B", owed="first")
    assert solved.of(state) == pytest.approx(3 / 4 + solved.of(stays) / 4, abs=1e-12)


def test_counts_that_only_a_judge_can_set_have_chances_too():
    game = registry.game("dakota", {"points": 2})
    solved = chances.solve(game)
    usual = solved.openings()
    odd = State(Sticks.of(A=7, B=2, middle=11), (1, 0), hider="B", owed="first")
    hits = [game.play(odd, {"do": "hit", "found": found})[0] for found in (True, False)]
    assert solved.of(odd) == pytest.approx(solved.of(hits[0]) / 4 + solved.of(hits[1]) * 3 / 4, abs=1e-12)
    assert [chance for _, chance in solved.openings()] == pytest.approx([chance for _, chance in usual], abs=1e-12)


def test_before_the_toss_both_teams_have_the_same_chance():
    game = registry.game("dakota")
    assert chances.solve(game).of(game.opening()) == pytest.approx(0.5, abs=1e-14)


def test_the_same_chances_are_solved_once():
    game = registry.game("dakota", {"points": 4})
    assert chances.solve(game) is chances.solve(registry.game("dakota", {"points": "4"}))
    assert chances.solve(game) is not chances.solve(game, first=0.3)


@pytest.mark.parametrize(
    ("name", "settings", "first", "what"),
    [
        ("dakota", {}, 1.5, "the chance first cannot be 1.5"),
        ("dakota", {}, float("nan"), "the chance first cannot be nan"),
        ("dakota", {}, 1, "with these chances a game may never end"),
        ("bageswin", {"players": "a,b,c"}, 0.25, "the chances of bageswin are for two players"),
        ("patol", {"players": "a,b,c"}, 0.25, "the chances of patol are for two players"),
        ("patol", {"circuits": 3}, 0.25, "3 circuits are too many to solve for"),
        ("plum_stone", {"counters": 501}, 0.25, "501 are too many to solve for"),
    ],
)
def test_what_has_no_chances_is_refused(name: str, settings: Any, first: float, what: str):
    with pytest.raises(chances.ChancesError) as caught:
        chances.solve(registry.game(name, settings), first)
    assert caught.value.what == what
    assert caught.value.todo


def test_states_out_of_reach_are_refused():
    patol = registry.game("patol")
    with pytest.raises(chances.ChancesError, match="where the horses start"):
        chances.solve(patol).of(patol.opening())
    with pytest.raises(chances.ChancesError, match="the game is over"):
        chances.solve(registry.game("dakota")).of(State(short=(5, 0), hider="A", owed="first"))
    small, large = (registry.game("plum_stone", {"counters": counters}) for counters in (5, 100))
    with pytest.raises(chances.ChancesError, match="100 in play, not 5"):
        chances.solve(small).of(large.play(large.opening(), {"do": "lot", "first": "A"})[0])


def test_the_smallest_games_have_a_page():
    for counters in range(1, 13):
        assert chances.solve(registry.game("plum_stone", {"counters": counters})).page().rows
        assert chances.solve(registry.game("bageswin", {"sticks": 2 * counters})).page().rows
        assert chances.solve(registry.game("dakota", {"points": counters})).page().rows
