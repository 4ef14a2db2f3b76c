"""The chances beside a game in play: looked up from the public sheet, the same as solved, and never solved then."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pi_controller.games import chances, registry

CASES: list[tuple[str, dict[str, Any]]] = [
    ("dakota", {}),
    ("dakota", {"points": 2, "low_hider": "literal", "foul_payer": "middle_first", "wheya_16_4": "sahdogan"}),
    ("dakota", {"foul_on_decision": "it_stays", "overtime": "forfeit_four", "hit_seconds": 5}),
    ("plum_stone", {"counters": 11}),
    ("plum_stone", {"no_throw": "again"}),
    ("bageswin", {"players": "Zoe,Ann", "sticks": 16}),
    ("patol", {"players": "Zoe,Ann"}),
    ("patol", {"killing": False}),
]
each_case = pytest.mark.parametrize(("name", "settings"), CASES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(CASES)])


def played(game: Any, games: int) -> list[Any]:
    """Return every state of some random games, with their fouls."""
    rng, seen = random.Random(game.name), []
    for _ in range(games):
        state = game.opening()
        seen.append(state)
        for _ in range(400):
            if not (legal := game.legal_actions(state)) or game.over(state):
                break
            state, _ = game.play(state, rng.choice(legal))
            seen.append(state)
    return seen


@each_case
def test_a_look_up_is_what_was_solved_and_solves_nothing(name, settings, monkeypatch):
    game = registry.game(name, settings)
    solved = chances.beside(game)

    def solving(*_: object) -> None:
        raise AssertionError("this is solved while the game is played")

    for method in ("_grow", "_chain"):
        if hasattr(solved, method):
            monkeypatch.setattr(solved, method, solving)
    told = 0
    for state in played(game, 20):
        chance = solved.of_sheet(game.sheet(state))
        if game.over(state) or (name == "patol" and any(horse.river is None for horse in state.horses)):
            assert chance is None
        else:
            assert chance == pytest.approx(solved.of(state), abs=1e-15)
            told += 1
    assert told > 50


def test_where_the_bead_lay_moves_nothing():
    game = registry.game("dakota")
    solved = chances.beside(game)
    tossed, _ = game.play(game.opening(), {"do": "toss", "winner": "B"})
    for found in (True, False):
        after = {
            solved.of_sheet(game.sheet(game.play(tossed, {"do": "hit", "found": found, **pad})[0]))
            for pad in ({}, *({"pad": pad} for pad in (1, 2, 3, 4)))
        }
        assert len(after) == 1


def test_the_chances_of_finding_count():
    game = registry.game("dakota")
    tossed, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    seen = [chances.beside(game, first, 1 / 3).of_sheet(game.sheet(tossed)) for first in (0.1, 0.25, 0.5)]
    assert seen == sorted(seen, reverse=True), "the better the hitters find, the worse for the hider"


def test_a_state_that_no_hit_or_foul_leads_to_has_no_chance():
    game = registry.game("dakota")
    sheet = game.sheet(game.play(game.opening(), {"do": "toss", "winner": "A"})[0])
    assert chances.beside(game).of_sheet({**sheet, "long": {"A": 1, "B": 0}, "middle": 19}) is None


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("ojibwe", {}, "people decide"),
        ("slahal", {}, "people decide"),
        ("bageswin", {"players": "A,B,C"}, "for two players"),
        ("bageswin", {"sticks": 502}, "too many"),
        ("plum_stone", {"counters": 201}, "too many"),
        ("patol", {"players": "A,B,C"}, "for two players"),
        ("patol", {"circuits": 2}, "too many"),
    ],
)
def test_what_cannot_be_shown_beside_a_game_is_told_at_once(name, settings, why, monkeypatch):
    monkeypatch.setattr(chances, "_solved", None)
    game = registry.game(name, settings)
    for refuse in (chances.check_beside, chances.beside):
        with pytest.raises(chances.ChancesError, match=why) as refused:
            refuse(game)
        assert refused.value.todo


def test_two_circuits_and_many_counters_can_still_be_asked_for():
    assert chances.solve(registry.game("plum_stone", {"counters": 201})).openings()
