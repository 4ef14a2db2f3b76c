"""The chances are exact: they agree with the rules a step at a time, with games played, and with sums done by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from load_file import load_file

from pi_controller.games.dakota.rules import State
from pi_controller.rules import chances, registry
from pi_controller.rules.sticks import Sticks

million = load_file("tests/games/million_games.py")

CASES: list[tuple[dict[str, Any], float, float]] = [
    ({}, 1 / 4, 1 / 3),
    ({"points": 2, "wheya_16_4": "sahdogan", "low_hider": "literal"}, 1 / 3, 1 / 2),
    ({"points": 2, "low_hider": "literal", "foul_payer": "middle_first", "wheya_16_4": "sahdogan"}, 1 / 4, 1 / 3),
    ({"points": 3, "foul_payer": "middle_first", "foul_on_decision": "it_stays"}, 0.6, 0.05),
    ({"foul_on_decision": "it_stays", "overtime": "forfeit_four", "hit_seconds": 5}, 1 / 4, 1 / 3),
    ({"points": 1, "overtime": "forfeit_four"}, 0.01, 0.99),
    ({"points": 99}, 1 / 4, 1 / 3),
]
each_case = pytest.mark.parametrize(("settings", "first", "second"), CASES)


def visited(game: Any, games: int) -> list[Any]:
    """Return the states of some random games, with their fouls."""
    rng = random.Random(game.name)
    seen: list[Any] = []
    for _ in range(games):
        state = game.opening()
        for _ in range(300):
            legal = game.legal_actions(state)
            if game.is_over(state) or not legal:
                break
            seen.append(state)
            state, _ = game.play(state, rng.choice(legal))
        seen.append(state)
    return seen


@each_case
def test_chance_is_mean_of_successor_chances(settings: Any, first: float, second: float):
    game = registry.game("dakota", settings)
    solved = chances.solve(game, first, second)
    states = visited(game, 12)
    assert len(states) > 20
    for state in states:
        chance = solved.win_chance(state)
        assert 0 <= chance <= 1
        if game.is_over(state):
            assert chance == (state.winner == "A")
            continue
        ways = million.ways(state, first, second)
        assert sum(p for p, _ in ways) == pytest.approx(1, abs=1e-15)
        mean = sum(p * solved.win_chance(game.play(state, action)[0]) for p, action in ways)
        assert chance == pytest.approx(mean, abs=1e-11)
    assert solved.residual <= 1e-12


@each_case
def test_chances_sum_to_one(settings: Any, first: float, second: float):
    game = registry.game("dakota", settings)
    solved = chances.solve(game, first, second)
    for state in visited(game, 2):
        each = solved.by_player(state)
        assert tuple(each) == ("A", "B")
        assert sum(each.values()) == pytest.approx(1, abs=1e-15)
    assert sum(chance for _, chance in solved.openings()) == pytest.approx(1, abs=1e-15)
    page = solved.page()
    assert page.rows
    assert all(len(cells) == len(page.columns) for _, cells in page.rows)


def exchanged(state: State) -> State:
    """Return the state with the two teams in each other's place."""
    swap: dict[Any, Any] = {"A": "B", "B": "A"}
    return replace(
        state,
        sticks=Sticks(state.sticks.names, tuple(state.sticks[swap.get(name, name)] for name in state.sticks.names)),
        winner=swap.get(state.winner),
        hider=swap.get(state.hider),
        short=state.short[::-1],
        before=state.before and exchanged(state.before),
        last=None,
    )


@each_case
def test_exchanging_the_teams_exchanges_the_chances(settings: Any, first: float, second: float):
    game = registry.game("dakota", settings)
    solved = chances.solve(game, first, second)
    for state in visited(game, 6):
        assert solved.win_chance(exchanged(state)) == pytest.approx(1 - solved.win_chance(state), abs=1e-11)


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [({"points": 2}, 1 / 4, 1 / 3), ({"points": 1, "wheya_16_4": "sahdogan"}, 1 / 3, 1 / 2)],
)
def test_games_played_by_chance_come_out_so(settings: Any, first: float, second: float):
    found = million.compared(registry.game("dakota", settings), 6000, 11, first, second)
    assert abs(found.sigmas) < 4


def test_the_games_played_would_show_a_wrong_chance():
    # the same games with a bead found a little more often: the share must move away from the solved chance
    game = registry.game("dakota", {"points": 1})
    start, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    played = million.table(game, start, 0.5, 0.5)
    share = million.wins(played, 6000, million.np.random.default_rng(3)) / 6000
    assert abs(share - chances.solve(game).win_chance(start)) > 0.04


def test_zero_find_probability_wins_for_the_hider():
    assert chances.solve(registry.game("dakota"), 0, 0).openings() == (
        ("the hider after the toss", pytest.approx(1)),
        ("the hitter after the toss", pytest.approx(0)),
    )


def test_a_last_decision_hide_by_hand():
    # at 4:4 in sahdogan: a miss is the game; a find gives the other team the same 20 sticks with the roles exchanged
    solved = chances.solve(registry.game("dakota"))
    state = State(Sticks.of(A=12, B=8, middle=0), (4, 4), hider="A", mode="sahdogan", owed="first")
    stays = State(Sticks.of(A=12, B=8, middle=0), (4, 4), hider="B", owed="first")
    assert solved.win_chance(state) == pytest.approx(3 / 4 + solved.win_chance(stays) / 4, abs=1e-12)


def test_state_set_by_judge_has_chance():
    game = registry.game("dakota", {"points": 2})
    solved = chances.solve(game)
    usual = solved.openings()
    odd = State(Sticks.of(A=7, B=2, middle=11), (1, 0), hider="B", owed="first")
    hits = [game.play(odd, {"do": "hit", "found": found})[0] for found in (True, False)]
    assert solved.win_chance(odd) == pytest.approx(
        solved.win_chance(hits[0]) / 4 + solved.win_chance(hits[1]) * 3 / 4, abs=1e-12
    )
    assert [chance for _, chance in solved.openings()] == pytest.approx([chance for _, chance in usual], abs=1e-12)


def test_teams_have_equal_chances_before_the_toss():
    game = registry.game("dakota")
    assert chances.solve(game).win_chance(game.opening()) == pytest.approx(0.5, abs=1e-14)


def test_the_same_chances_are_solved_once():
    game = registry.game("dakota", {"points": 4})
    assert chances.solve(game) is chances.solve(registry.game("dakota", {"points": "4"}))
    assert chances.solve(game) is not chances.solve(game, first=0.3)


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (1.5, "the chance first cannot be 1.5"),
        (float("nan"), "the chance first cannot be nan"),
        (1, "with these chances a game may never end"),
    ],
)
def test_invalid_or_endless_find_chance_is_refused(first: float, what: str):
    with pytest.raises(chances.ChancesError) as caught:
        chances.solve(registry.game("dakota"), first)
    assert caught.value.message == what
    assert caught.value.hint


@pytest.mark.parametrize("name", sorted({*registry.names()} - {"dakota"}))
def test_another_game_is_refused_before_anything_is_solved(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chances, "_solve_cached", None)
    for refuse in (chances.check, chances.solve):
        with pytest.raises(chances.ChancesError) as caught:
            refuse(registry.game(name))
        assert str(caught.value).splitlines() == [
            f"there are no chances of winning for {name}",
            "there are some for dakota",
        ]


def test_a_score_past_the_last_point_is_refused():
    with pytest.raises(chances.ChancesError, match="the game is over"):
        chances.solve(registry.game("dakota")).win_chance(State(short=(5, 0), hider="A", owed="first"))


def test_the_smallest_games_have_a_page():
    for points in range(1, 13):
        assert chances.solve(registry.game("dakota", {"points": points})).page().rows


@each_case
def test_sheet_chance_is_looked_up_without_solving(settings: Any, first: float, second: float, monkeypatch: Any):
    game = registry.game("dakota", settings)
    solved = chances.solve(game, first, second)

    def grow(*_: object) -> None:
        raise AssertionError("this is solved while the game is played")

    monkeypatch.setattr(solved, "_grow", grow)
    told = 0
    for state in visited(game, 20):
        chance = solved.win_chance_of_sheet(game.sheet(state))
        if game.is_over(state):
            assert chance is None
        else:
            assert chance == solved.win_chance(state)
            told += 1
    assert told > 50


def test_pad_of_hit_does_not_change_chance():
    game = registry.game("dakota")
    solved = chances.solve(game)
    tossed, _ = game.play(game.opening(), {"do": "toss", "winner": "B"})
    for found in (True, False):
        after = {
            solved.win_chance_of_sheet(game.sheet(game.play(tossed, {"do": "hit", "found": found, **pad})[0]))
            for pad in ({}, *({"pad": pad} for pad in (1, 2, 3, 4)))
        }
        assert len(after) == 1


def test_the_chances_of_finding_count():
    game = registry.game("dakota")
    tossed, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    seen = [chances.solve(game, first, 1 / 3).win_chance_of_sheet(game.sheet(tossed)) for first in (0.1, 0.25, 0.5)]
    assert seen == sorted(seen, reverse=True), "the better the hitters find, the worse for the hider"


def test_unreachable_state_has_no_sheet_chance():
    game = registry.game("dakota")
    sheet = game.sheet(game.play(game.opening(), {"do": "toss", "winner": "A"})[0])
    assert chances.solve(game).win_chance_of_sheet({**sheet, "long": {"A": 1, "B": 0}, "middle": 19}) is None
