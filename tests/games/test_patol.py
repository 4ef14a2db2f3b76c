"""Patol, sentence by sentence, and what holds in every game of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pi_controller.games.patol.rules import Horse, Patol, State
from pi_controller.rules.base import IllegalActionError

MARKED = {5: 0, 3: 1, 2: 2, 10: 3}


def start(player: str, river: str = "north", direction: str = "clockwise") -> dict[str, Any]:
    return {"do": "start", "player": player, "river": river, "direction": direction}


def throw(marked: int) -> dict[str, Any]:
    return {"do": "throw", "marked": marked}


def worth(*values: int) -> list[dict[str, Any]]:
    return [throw(MARKED[value]) for value in values]


def play(state: State | None, *actions: dict[str, Any], **settings: object) -> tuple[State, list[str]]:
    game = Patol(settings)
    state = state or game.opening()
    called: list[str] = []
    for action in actions:
        state, calls = game.play(state, action)
        called += calls
    return state, called


def moment(*horses: tuple[str, str, int]) -> State:
    """Players A, B, C ... with these rivers, directions and progresses; A throws."""
    made = (Horse(player, *horse) for player, horse in zip("ABCDEFGH", horses, strict=False))  # type: ignore[arg-type]
    return State(tuple(made), "A")


def progress(state: State) -> list[int]:
    return [horse.progress for horse in state.horses]


def notches(state: State) -> list[int | None]:
    return [horse.notch for horse in state.horses]


# ---- starts


def test_players_start_in_turn_order_before_first_throw():
    game = Patol({"players": "Ann,Bo,Cy"})
    state = game.opening()
    assert state.thrower is None
    with pytest.raises(IllegalActionError, match="no horse has started\n'Ann' starts first"):
        game.play(state, throw(0))
    for player in ("Ann", "Bo", "Cy"):
        for other in ("Ann", "Bo", "Cy"):
            if other > player:
                what = f"it is not the turn of '{other}' to start\n'{player}' starts next"
                with pytest.raises(IllegalActionError, match=what):
                    game.play(state, start(other))
            elif other < player:
                with pytest.raises(IllegalActionError, match=f"'{other}' has started already"):
                    game.play(state, start(other))
        state, _ = game.play(state, start(player, "south"))
        assert state.thrower == "Ann"
    assert (state.thrower, state.value, notches(state)) == ("Ann", None, [20, 20, 20])
    for player in ("Ann", "Bo", "Cy"):
        with pytest.raises(IllegalActionError, match="has started already"):
            game.play(state, start(player))


def test_second_player_may_start_after_first_throws():
    state, _ = play(None, start("A"), *worth(10, 5))
    assert (state.thrower, progress(state), notches(state)) == ("B", [15, 0], [15, None])
    game = Patol()
    for action in worth(10, 2):
        with pytest.raises(IllegalActionError, match="'B' has not started\na river and a direction come first"):
            game.play(state, action)
    assert {action["do"] for action in game.legal_actions(state)} == {"start"}
    state, calls = play(state, start("B", "south", "counterclockwise"), *worth(5))
    assert (state.thrower, notches(state), progress(state), calls) == ("A", [0, 15], [0, 5], ["killed"])
    early, _ = play(None, start("A"), *worth(10), start("B"))
    assert (early.thrower, early.value) == ("A", 10)


# ---- who leaves


def forfeit(by: str) -> dict[str, Any]:
    return {"do": "forfeit", "by": by}


def test_forfeit_removes_horse_and_skips_player():
    players = {"players": "A,B,C"}
    state, calls = play(None, start("A"), start("B", "east"), start("C", "south"), *worth(10, 5), **players)
    state, calls = play(state, forfeit("A"), **players)
    assert (state.thrower, calls, notches(state)) == ("B", ["forfeit"], [None, 10, 20])
    assert Patol(players).sheet(state)["horses"][0] == {
        "player": "A", "river": "north", "direction": "clockwise", "progress": 15, "notch": None, "out": True,
    }  # fmt: skip
    state, calls = play(state, *worth(5), *worth(5), **players)
    assert (state.thrower, calls, notches(state)) == ("B", [], [None, 15, 25])  # nobody is in 15 to be killed
    with pytest.raises(IllegalActionError, match="'A' is out already"):
        play(state, forfeit("A"), **players)
    state, calls = play(state, forfeit("B"), **players)
    assert (state.winner, state.thrower, state.finish, calls) == ("C", "C", "forfeit", ["forfeit", "game"])


# ---- throws


@pytest.mark.parametrize(("throws", "values"), [("isleta_1891", (5, 3, 2, 10)), ("zuni_1891", (5, 2, 3, 10))])
def test_throw_value_follows_throws_option(throws: str, values: tuple[int, ...]):
    for marked, value in enumerate(values):
        state, _ = play(moment(("north", "clockwise", 0), ("south", "clockwise", 0)), throw(marked), throws=throws)
        assert (state.value, progress(state)) == (value, [value, 0])
        assert state.thrower == ("A" if value == 10 else "B")


# ---- killing


def test_landing_on_a_horse_kills_it_to_start():
    state, calls = play(moment(("north", "clockwise", 3), ("north", "clockwise", 5)), *worth(2))
    assert (progress(state), notches(state), calls, state.thrower) == ([5, 0], [5, 0], ["killed"], "B")
    state, calls = play(moment(("north", "clockwise", 7), ("south", "counterclockwise", 8)), *worth(5))
    assert (progress(state), notches(state), calls) == ([12, 0], [12, 20], ["killed"])


def test_one_still_at_its_start_is_safe():
    state, calls = play(moment(("north", "clockwise", 5), ("east", "clockwise", 0)), *worth(5))
    assert (notches(state), progress(state), calls) == ([10, 10], [10, 0], [])


def test_visitor_at_start_can_be_killed_unlike_owner():
    before = moment(("north", "clockwise", 5), ("east", "clockwise", 10), ("east", "counterclockwise", 0))
    state, calls = play(before, *worth(5), players="A,B,C")  # A beside C at its start; B has gone on to 20
    assert (notches(state), calls) == ([10, 20, 10], [])
    state = dataclasses.replace(state, horses=(*state.horses, Horse("D", "north", "clockwise", 7)), thrower="D")
    state, calls = play(state, *worth(3), players="A,B,C,D")
    assert (progress(state), calls) == ([0, 10, 0, 10], ["killed"])


def test_killed_horse_returning_to_start_kills_none():
    before = moment(("north", "clockwise", 17), ("south", "counterclockwise", 0), ("east", "clockwise", 10))
    state, calls = play(before, *worth(3), players="A,B,C")  # C killed at 20, where B still stands at its start
    assert (notches(state), progress(state), calls) == ([20, 20, 10], [20, 0, 0], ["killed"])
    back = moment(("north", "clockwise", 17), ("north", "clockwise", 20), ("east", "counterclockwise", 10))
    state, calls = play(back, *worth(3), players="A,B,C")  # B goes back to the notch that C is in
    assert (notches(state), progress(state), calls) == ([20, 0, 0], [20, 0, 10], ["killed"])


# ---- the end


@pytest.mark.parametrize(("before", "value", "after"), [(38, 2, 40), (37, 5, 42), (39, 10, 49)])
def test_the_complete_circuit_wins(before: int, value: int, after: int):
    state, calls = play(moment(("east", "counterclockwise", before), ("south", "clockwise", 1)), *worth(value))
    assert (state.winner, state.thrower, state.value, calls) == ("A", "A", value, [])
    assert (progress(state), notches(state)) == ([after, 1], [(10 - after) % 40, 21])
    game = Patol()
    assert game.is_over(state)
    assert game.legal_actions(state) == ()
    for action in (*worth(2, 10), start("A"), start("B")):
        with pytest.raises(IllegalActionError):
            game.play(state, action)


def test_winning_throw_kills_no_horse():
    state, calls = play(moment(("north", "clockwise", 39), ("north", "clockwise", 4)), *worth(5))
    assert (state.winner, progress(state), calls) == ("A", [44, 4], [])
