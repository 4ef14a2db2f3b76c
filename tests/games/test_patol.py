"""Patol, sentence by sentence, and what holds in every game of it."""

from __future__ import annotations

import dataclasses
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_controller.games
from pi_controller.errors import UsageError
from pi_controller.games import sheet
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.options import written
from pi_controller.games.patol import DIRECTIONS, RIVERS, Horse, Patol, State

MARKED = {5: 0, 3: 1, 2: 2, 10: 3}


def start(player: str, river: str = "north", direction: str = "sunwise") -> dict[str, Any]:
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


@pytest.mark.parametrize(("river", "notch"), [("north", 0), ("east", 10), ("south", 20), ("west", 30)])
@pytest.mark.parametrize("direction", ["sunwise", "against"])
def test_a_river_is_the_start(river: str, notch: int, direction: str):
    state, calls = play(None, start("A", river, direction))
    assert dataclasses.astuple(state.horses[0]) == ("A", river, direction, 0)
    assert (state.horses[0].notch, calls) == (notch, [])


def test_sunwise_the_notches_rise_and_against_the_sun_they_fall():
    state, _ = play(None, start("A", "west"), start("B", "north", "against"), *worth(10, 5, 10, 5))
    assert notches(state) == [5, 25]
    state, _ = play(state, *worth(3, 2))
    assert notches(state) == [8, 23]


def test_players_start_once_each_in_turn_order_before_the_first_throw():
    game = Patol({"players": "Ann,Bo,Cy"})
    state = game.opening()
    for player in ("Ann", "Bo", "Cy"):
        assert state.thrower is None
        with pytest.raises(IllegalActionError, match=f"'{player}' starts next"):
            game.play(state, throw(0))
        for other in ("Ann", "Bo", "Cy"):
            if other != player:
                with pytest.raises(IllegalActionError, match=f"it is not the turn of '{other}'\n'{player}' starts"):
                    game.play(state, start(other))
        state, _ = game.play(state, start(player, "south"))
    assert (state.thrower, state.value, notches(state)) == ("Ann", None, [20, 20, 20])
    for player in ("Ann", "Bo", "Cy"):
        with pytest.raises(IllegalActionError, match="all have started"):
            game.play(state, start(player))


# ---- throws


@pytest.mark.parametrize(("throws", "values"), [("isleta_1891", (5, 3, 2, 10)), ("zuni_1891", (5, 2, 3, 10))])
def test_what_throws_are_worth(throws: str, values: tuple[int, ...]):
    for marked, value in enumerate(values):
        state, _ = play(moment(("north", "sunwise", 0), ("south", "sunwise", 0)), throw(marked), throws=throws)
        assert (state.value, progress(state)) == (value, [value, 0])
        assert state.thrower == ("A" if value == 10 else "B")


def test_the_sticks_pass_in_turn_order_but_a_ten_gives_another_throw():
    begin = [start(player, river) for player, river in zip("ABC", ("north", "east", "south"), strict=True)]
    state, _ = play(None, *begin, *worth(5), players="A,B,C")
    assert state.thrower == "B"
    state, _ = play(state, *worth(10), players="A,B,C")
    assert (state.thrower, progress(state)) == ("B", [5, 10, 0])
    state, _ = play(state, *worth(10, 2, 3), players="A,B,C")
    assert (state.thrower, progress(state)) == ("A", [5, 22, 3])


# ---- killing


def test_a_horse_that_comes_to_anothers_notch_sends_it_back_to_its_start():
    state, calls = play(moment(("north", "sunwise", 3), ("north", "sunwise", 5)), *worth(2))
    assert (progress(state), notches(state), calls, state.thrower) == ([5, 0], [5, 0], ["killed"], "B")
    state, calls = play(moment(("north", "sunwise", 7), ("south", "against", 8)), *worth(5))
    assert (progress(state), notches(state), calls) == ([12, 0], [12, 20], ["killed"])


def test_a_killed_horse_keeps_its_river_and_its_direction():
    state, _ = play(moment(("north", "sunwise", 7), ("south", "against", 8)), *worth(5, 3))
    assert dataclasses.astuple(state.horses[1]) == ("B", "south", "against", 3)
    assert notches(state) == [12, 17]


def test_killing_with_a_ten_gives_another_throw_too():
    state, calls = play(moment(("north", "sunwise", 0), ("north", "sunwise", 10)), *worth(10))
    assert (progress(state), calls, state.thrower) == ([10, 0], ["killed"], "A")


def test_one_still_at_its_start_is_safe():
    state, calls = play(moment(("north", "sunwise", 5), ("east", "sunwise", 0)), *worth(5))
    assert (notches(state), progress(state), calls) == ([10, 10], [10, 0], [])


def test_who_comes_to_a_start_can_be_killed_there_and_its_owner_cannot():
    before = moment(("north", "sunwise", 5), ("east", "sunwise", 10), ("east", "against", 0))
    state, calls = play(before, *worth(5), players="A,B,C")  # A beside C at its start; B has gone on to 20
    assert (notches(state), calls) == ([10, 20, 10], [])
    state = dataclasses.replace(state, horses=(*state.horses, Horse("D", "north", "sunwise", 7)), thrower="D")
    state, calls = play(state, *worth(3), players="A,B,C,D")
    assert (progress(state), calls) == ([0, 10, 0, 10], ["killed"])


def test_going_back_to_a_start_harms_nobody_there():
    before = moment(("north", "sunwise", 17), ("south", "against", 0), ("east", "sunwise", 10))
    state, calls = play(before, *worth(3), players="A,B,C")  # C killed at 20, where B still stands at its start
    assert (notches(state), progress(state), calls) == ([20, 20, 10], [20, 0, 0], ["killed"])
    back = moment(("north", "sunwise", 17), ("north", "sunwise", 20), ("east", "against", 10))
    state, calls = play(back, *worth(3), players="A,B,C")  # B goes back to the notch that C is in
    assert (notches(state), progress(state), calls) == ([20, 0, 0], [20, 0, 10], ["killed"])


def test_passing_harms_nobody():
    state, calls = play(moment(("north", "sunwise", 3), ("north", "sunwise", 5)), *worth(3))
    assert (progress(state), calls) == ([6, 5], [])


def test_without_killing_horses_share_a_notch():
    state, calls = play(moment(("north", "sunwise", 3), ("north", "sunwise", 5)), *worth(2), killing=False)
    assert (progress(state), notches(state), calls) == ([5, 5], [5, 5], [])


# ---- the end


@pytest.mark.parametrize(("before", "value", "after"), [(38, 2, 40), (37, 5, 42), (39, 10, 49)])
def test_the_complete_circuit_wins(before: int, value: int, after: int):
    state, calls = play(moment(("east", "against", before), ("south", "sunwise", 1)), *worth(value))
    assert (state.winner, state.thrower, state.value, calls) == ("A", "A", value, [])
    assert (progress(state), notches(state)) == ([after, 1], [(10 - after) % 40, 21])
    game = Patol()
    assert game.over(state)
    assert game.legal_actions(state) == ()
    for action in (*worth(2, 10), start("A"), start("B")):
        with pytest.raises(IllegalActionError):
            game.play(state, action)


def test_one_notch_short_of_the_circuit_does_not_win():
    state, _ = play(moment(("north", "sunwise", 36), ("south", "sunwise", 0)), *worth(3))
    assert (state.winner, state.thrower) == (None, "B")


def test_the_last_throw_too_sends_back_the_horse_whose_notch_it_comes_to():
    state, calls = play(moment(("north", "sunwise", 39), ("north", "sunwise", 4)), *worth(5))
    assert (state.winner, progress(state), calls) == ("A", [44, 0], ["killed"])


def test_more_circuits():
    state, calls = play(moment(("north", "sunwise", 38), ("south", "sunwise", 0)), *worth(5), circuits=2)
    assert (state.winner, state.thrower, progress(state), notches(state)) == (None, "B", [43, 0], [3, 20])
    state, _ = play(moment(("north", "sunwise", 77), ("south", "sunwise", 0)), *worth(3), circuits="2")
    assert state.winner == "A"
    # at its start after a round it has progress, and so is not safe
    state, calls = play(moment(("north", "sunwise", 0), ("east", "sunwise", 40)), *worth(10), circuits=2)
    assert (progress(state), calls) == ([10, 0], ["killed"])


# ---- the sheet, options, errors


def test_the_sheet_has_the_keys_of_the_rules():
    game = Patol()
    nothing = {"river": None, "direction": None, "progress": 0, "notch": None}
    assert game.sheet(game.opening()) == {
        "thrower": None,
        "horses": [{"player": "A", **nothing}, {"player": "B", **nothing}],
        "value": None,
        "winner": None,
    }
    state, _ = play(None, start("A", "west"), start("B", "east", "against"), *worth(10, 3))
    assert game.sheet(state) == {
        "thrower": "B",
        "horses": [
            {"player": "A", "river": "west", "direction": "sunwise", "progress": 13, "notch": 3},
            {"player": "B", "river": "east", "direction": "against", "progress": 0, "notch": 10},
        ],
        "value": 3,
        "winner": None,
    }


def test_the_score_sheet_keeps_it():
    out = io.StringIO()
    actions = [*worth(5), start("A"), start("B"), *worth(10), throw(4), *worth(5, 10, 5)]
    assert sheet.run(Patol(), [json.dumps(action).encode() for action in actions], out) == 2
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    kinds = [answer.get("error", {}).get("kind") for answer in answers]
    assert kinds == [None, "illegal", None, None, None, "invalid", None, None, None]
    assert [answer["calls"] for answer in answers if answer.get("calls")] == [["killed"]]
    assert [horse["progress"] for horse in answers[-1]["state"]["horses"]] == [0, 15]


def test_the_defaults():
    assert dict(Patol().settings) == {"players": "A,B", "killing": True, "throws": "isleta_1891", "circuits": 1}


def test_the_page_about_the_rules_lists_the_options():
    page = Path(pi_controller.games.__file__).with_name("README.md").read_text("utf-8")
    section = page.split("\n## `patol`\n")[1].split("\n## ")[0]
    for option in Patol.options:
        cells = (f"`{option.name}`", written(option.default), option.allowed, option.about)
        assert f"| {' | '.join(cells)} |\n" in section
    assert section.count("\n| `") == len(Patol.options)


@pytest.mark.parametrize(
    "settings",
    [
        {"players": "A"},
        {"players": "A,B,C,D,E,F,G,H,I"},
        {"players": "A, A"},
        {"killing": "no"},
        {"throws": "zuni"},
        {"circuits": 0},
        {"rivers": 4},
    ],
)
def test_what_cannot_be_chosen(settings: dict[str, object]):
    with pytest.raises(UsageError):
        Patol(settings)


@pytest.mark.parametrize(
    "action",
    [
        None,
        {},
        {"do": "lot", "first": "A"},
        {"do": "start"},
        {"do": "start", "player": "A", "river": "north"},
        start("C"),
        start("a"),
        start(None),  # type: ignore[arg-type]
        start("A", "up"),
        start("A", "north", "sunward"),
        {**start("A"), "notch": 0},
        {"do": "throw"},
        throw(4),
        throw(-1),
        throw(True),
        throw(1.0),  # type: ignore[arg-type]
        {"do": "throw", "marked": "1"},
        {"do": "throw", "marked": 1, "player": "A"},
    ],
)
@pytest.mark.parametrize("when", ["before the starts", "in play", "over"])
def test_what_is_no_action_is_invalid(action: Any, when: str):
    game = Patol()
    state = game.opening() if when == "before the starts" else moment(("north", "sunwise", 0), ("south", "against", 0))
    if when == "over":
        state = dataclasses.replace(state, winner="A")
    with pytest.raises(InvalidActionError):
        game.play(state, action)


# ---- in every game

SETTINGS = st.fixed_dictionaries(
    {
        "players": st.integers(2, 8).map(lambda count: ",".join("ABCDEFGH"[:count])),
        "killing": st.booleans(),
        "throws": st.sampled_from(["isleta_1891", "zuni_1891"]),
        "circuits": st.integers(1, 2),
    }
)
THROWS = st.builds(throw, st.integers(0, 3))
STARTS = st.builds(start, st.sampled_from("ABCDEFGH"), st.sampled_from(list(RIVERS)), st.sampled_from(list(DIRECTIONS)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NONSENSE = JSON | st.dictionaries(
    st.sampled_from(["do", "player", "river", "direction", "marked", "x"]),
    st.sampled_from(["throw", "start", "A", "north", "against", 1]) | JSON,
    max_size=5,
)
ACTIONS = st.lists(st.one_of(THROWS, THROWS, THROWS, STARTS, NONSENSE), max_size=60)


def well(game: Patol, state: State) -> None:
    """Check what is true of every state."""
    shown = game.sheet(state)
    course = 40 * int(game.settings["circuits"])  # type: ignore[arg-type]
    started = [horse["river"] is not None for horse in shown["horses"]]
    assert started == sorted(started, reverse=True)
    assert (shown["thrower"] is not None) == all(started)
    running: list[int] = []
    for horse in shown["horses"]:
        assert 0 <= horse["progress"] < course + 10
        assert (horse["notch"] is None) == (horse["direction"] is None) == (horse["river"] is None)
        if horse["river"]:
            steps = horse["notch"] - {"north": 0, "east": 10, "south": 20, "west": 30}[horse["river"]]
            assert (steps if horse["direction"] == "sunwise" else -steps) % 40 == horse["progress"] % 40
        if horse["progress"]:
            running.append(horse["notch"])
    if game.settings["killing"]:
        assert len(set(running)) == len(running)
    home = [horse["player"] for horse in shown["horses"] if horse["progress"] >= course]
    assert home == ([shown["winner"]] if game.over(state) else [])
    hash(state)


@given(SETTINGS, ACTIONS, st.booleans())
@settings(max_examples=150)
def test_whatever_comes_refusals_change_nothing(chosen: dict[str, Any], actions: list[Any], started: bool):
    game = Patol(chosen)
    state = game.opening()
    if started:
        for player, river in zip("ABCDEFGH"[: len(state.horses)], [*RIVERS, *RIVERS], strict=False):
            state, _ = game.play(state, start(player, river))
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except (InvalidActionError, IllegalActionError):
            assert state is before
        else:
            assert calls in ((), ("killed",))
            assert game.settings["killing"] or not calls
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=60))
@settings(max_examples=100)
def test_legal_actions_are_legal_and_the_others_are_not(chosen: dict[str, Any], picks: list[int]):
    game = Patol(chosen)
    state = game.opening()
    players = [horse.player for horse in state.horses]
    every = [*(start(player, "west", "against") for player in players), *(throw(marked) for marked in range(4))]
    for pick in picks:
        legal = game.legal_actions(state)
        for action in every:
            if action not in legal:
                with pytest.raises(IllegalActionError):
                    game.play(state, action)
        reached = [game.play(state, action)[0] for action in legal]
        assert len(set(reached)) == len(reached)
        assert bool(reached) != game.over(state)
        if not reached:
            break
        state = reached[pick % len(reached)]
        well(game, state)


@pytest.mark.parametrize(
    ("chosen", "starts", "counts"),
    [
        ({}, (), {1: 8, 2: 64, 4: 4096, 6: 262144, 8: 16769536}),
        ({}, (start("A"), start("B")), {1: 8, 4: 4096, 6: 262024, 12: 65579501160}),
        ({}, (start("A"), start("B", "south", "against")), {6: 262024, 12: 65439039360}),
        ({"killing": False}, (start("A"), start("B", "south", "against")), {6: 262024, 12: 65118946736}),
        (
            {"players": "A,B,C"},
            (start("A"), start("B", "east"), start("C", "west", "against")),
            {6: 262024, 10: 1070434656},
        ),
    ],
)
def test_the_number_of_games_of_a_length_stays_the_same(
    chosen: dict[str, Any], starts: tuple[dict[str, Any], ...], counts: dict[int, int]
):
    """Every start, or after these starts; and every one of the eight throws of three different sticks."""
    game = Patol(chosen)

    @cache
    def sequences(state: State, length: int) -> int:
        if length == 0:
            return 1
        return sum(
            (1, 3, 3, 1)[action.get("marked", 0)] * sequences(game.play(state, action)[0], length - 1)
            for action in game.legal_actions(state)
        )

    state, _ = play(None, *starts, **chosen)
    assert {length: sequences(state, length) for length in counts} == counts
