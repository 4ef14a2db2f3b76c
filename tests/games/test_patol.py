"""Patol, sentence by sentence, and what holds in every game of it."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.errors import UsageError
from pi_controller.games.patol.rules import DIRECTIONS, RIVERS, Horse, Patol, State
from pi_controller.rules import sheet
from pi_controller.rules.base import IllegalActionError, InvalidActionError

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


@pytest.mark.parametrize(("river", "notch"), [("north", 0), ("east", 10), ("south", 20), ("west", 30)])
@pytest.mark.parametrize("direction", ["clockwise", "counterclockwise"])
def test_a_river_is_the_start(river: str, notch: int, direction: str):
    state, calls = play(None, start("A", river, direction))
    assert state.horses[0] == Horse("A", river, direction, 0)
    assert (state.horses[0].notch, calls) == (notch, [])


def test_clockwise_the_notches_rise_and_counterclockwise_they_fall():
    state, _ = play(None, start("A", "west"), start("B", "north", "counterclockwise"), *worth(10, 5, 10, 5))
    assert notches(state) == [5, 25]
    state, _ = play(state, *worth(3, 2))
    assert notches(state) == [8, 23]


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


def test_two_player_forfeit_wins_even_before_starts():
    for state in (None, play(None, start("A"), *worth(5))[0], play(None, start("A"), start("B"), *worth(10, 2))[0]):
        for by, winner in (("A", "B"), ("B", "A")):
            after, calls = play(state, forfeit(by))
            assert (after.winner, after.finish, calls) == (winner, "forfeit", ["forfeit", "game"])
            assert after.thrower == (winner if state else None)
            assert after.value == (state and state.value)
            for action in (start("A"), start("B"), throw(1), forfeit(by), forfeit(winner)):
                with pytest.raises(IllegalActionError, match="over"):
                    Patol().play(after, action)


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


def test_forfeit_before_start_skips_player():
    players = {"players": "A,B,C,D"}
    state, _ = play(None, forfeit("A"), start("B"), forfeit("C"), *worth(5), **players)
    assert (state.thrower, Patol(players).thrower(state)) == ("D", None)
    for player in ("A", "C"):
        with pytest.raises(IllegalActionError, match=f"'{player}' is out"):
            play(state, start(player), **players)
    state, _ = play(state, start("D"), *worth(2), **players)
    assert state.thrower == "B"
    started, _ = play(None, start("A"), forfeit("A"), **players)
    assert (started.thrower, Patol(players).legal_actions(started)[0]["player"]) == ("B", "B")


# ---- throws


@pytest.mark.parametrize(("throws", "values"), [("isleta_1891", (5, 3, 2, 10)), ("zuni_1891", (5, 2, 3, 10))])
def test_throw_value_follows_throws_option(throws: str, values: tuple[int, ...]):
    for marked, value in enumerate(values):
        state, _ = play(moment(("north", "clockwise", 0), ("south", "clockwise", 0)), throw(marked), throws=throws)
        assert (state.value, progress(state)) == (value, [value, 0])
        assert state.thrower == ("A" if value == 10 else "B")


def test_sticks_pass_in_order_except_after_ten():
    begin = [start(player, river) for player, river in zip("ABC", ("north", "east", "south"), strict=True)]
    state, _ = play(None, *begin, *worth(5), players="A,B,C")
    assert state.thrower == "B"
    state, _ = play(state, *worth(10), players="A,B,C")
    assert (state.thrower, progress(state)) == ("B", [5, 10, 0])
    state, _ = play(state, *worth(10, 2, 3), players="A,B,C")
    assert (state.thrower, progress(state)) == ("A", [5, 22, 3])


# ---- killing


def test_landing_on_a_horse_kills_it_to_start():
    state, calls = play(moment(("north", "clockwise", 3), ("north", "clockwise", 5)), *worth(2))
    assert (progress(state), notches(state), calls, state.thrower) == ([5, 0], [5, 0], ["killed"], "B")
    state, calls = play(moment(("north", "clockwise", 7), ("south", "counterclockwise", 8)), *worth(5))
    assert (progress(state), notches(state), calls) == ([12, 0], [12, 20], ["killed"])


def test_killed_horse_keeps_river_and_direction():
    state, _ = play(moment(("north", "clockwise", 7), ("south", "counterclockwise", 8)), *worth(5, 3))
    assert state.horses[1] == Horse("B", "south", "counterclockwise", 3)
    assert notches(state) == [12, 17]


def test_killing_with_a_ten_gives_another_throw_too():
    state, calls = play(moment(("north", "clockwise", 0), ("north", "clockwise", 10)), *worth(10))
    assert (progress(state), calls, state.thrower) == ([10, 0], ["killed"], "A")


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


def test_passing_a_horse_does_not_kill_it():
    state, calls = play(moment(("north", "clockwise", 3), ("north", "clockwise", 5)), *worth(3))
    assert (progress(state), calls) == ([6, 5], [])


def test_without_killing_horses_share_a_notch():
    state, calls = play(moment(("north", "clockwise", 3), ("north", "clockwise", 5)), *worth(2), killing=False)
    assert (progress(state), notches(state), calls) == ([5, 5], [5, 5], [])


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


def test_one_notch_short_of_circuit_does_not_win():
    state, _ = play(moment(("north", "clockwise", 36), ("south", "clockwise", 0)), *worth(3))
    assert (state.winner, state.thrower) == (None, "B")


def test_winning_throw_kills_no_horse():
    state, calls = play(moment(("north", "clockwise", 39), ("north", "clockwise", 4)), *worth(5))
    assert (state.winner, progress(state), calls) == ("A", [44, 4], [])


def test_more_circuits():
    state, calls = play(moment(("north", "clockwise", 38), ("south", "clockwise", 0)), *worth(5), circuits=2)
    assert (state.winner, state.thrower, progress(state), notches(state)) == (None, "B", [43, 0], [3, 20])
    state, _ = play(moment(("north", "clockwise", 77), ("south", "clockwise", 0)), *worth(3), circuits="2")
    assert state.winner == "A"
    # at its start after a round it has progress, and so is not safe
    state, calls = play(moment(("north", "clockwise", 0), ("east", "clockwise", 40)), *worth(10), circuits=2)
    assert (progress(state), calls) == ([10, 0], ["killed"])


# ---- the sheet, options, errors


def test_the_sheet_has_the_keys_of_the_rules():
    game = Patol()
    nothing = {"river": None, "direction": None, "progress": 0, "notch": None, "out": False}
    assert game.sheet(game.opening()) == {
        "thrower": None,
        "horses": [{"player": "A", **nothing}, {"player": "B", **nothing}],
        "value": None,
        "winner": None,
        "finish": None,
    }
    state, _ = play(None, start("A", "west"), start("B", "east", "counterclockwise"), *worth(10, 3))
    assert game.sheet(state) == {
        "thrower": "B",
        "horses": [
            {"player": "A", "river": "west", "direction": "clockwise", "progress": 13, "notch": 3, "out": False},
            {"player": "B", "river": "east", "direction": "counterclockwise", "progress": 0, "notch": 10, "out": False},
        ],
        "value": 3,
        "winner": None,
        "finish": None,
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
def test_invalid_options_are_refused(settings: dict[str, object]):
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
def test_malformed_action_is_invalid_in_every_phase(action: Any, when: str):
    game = Patol()
    state = (
        game.opening()
        if when == "before the starts"
        else moment(("north", "clockwise", 0), ("south", "counterclockwise", 0))
    )
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
    st.sampled_from(["throw", "start", "A", "north", "counterclockwise", 1]) | JSON,
    max_size=5,
)
FORFEITS = st.builds(lambda by: {"do": "forfeit", "by": by}, st.sampled_from("ABCDEFGH"))
ACTIONS = st.lists(st.one_of(THROWS, THROWS, THROWS, STARTS, STARTS, NONSENSE, FORFEITS), max_size=60)


def well(game: Patol, state: State) -> None:
    """Check what is true of every state."""
    shown = game.sheet(state)
    course = 40 * int(game.settings["circuits"])  # type: ignore[arg-type]
    started = [horse["river"] is not None for horse in shown["horses"] if not horse["out"]]
    assert started == sorted(started, reverse=True)
    assert (shown["thrower"] is not None) == any(horse["river"] for horse in shown["horses"])
    assert not any(horse["out"] for horse in shown["horses"] if horse["player"] in (shown["thrower"], shown["winner"]))
    running: list[int] = []
    for horse in shown["horses"]:
        assert 0 <= horse["progress"] < course + 10
        assert (horse["direction"] is None) == (horse["river"] is None)
        assert (horse["notch"] is None) == (horse["river"] is None or horse["out"])
        if horse["notch"] is not None:
            steps = horse["notch"] - {"north": 0, "east": 10, "south": 20, "west": 30}[horse["river"]]
            assert (steps if horse["direction"] == "clockwise" else -steps) % 40 == horse["progress"] % 40
        if horse["progress"] and not horse["out"] and horse["player"] != shown["winner"]:
            running.append(horse["notch"])
    if game.settings["killing"]:
        assert len(set(running)) == len(running)
    home = [horse["player"] for horse in shown["horses"] if horse["progress"] >= course]
    assert home == ([shown["winner"]] if game.is_over(state) and shown["finish"] is None else [])
    hash(state)


@given(SETTINGS, ACTIONS, st.booleans())
@settings(max_examples=cases(15, 150))
def test_refused_random_actions_leave_state_unchanged(chosen: dict[str, Any], actions: list[Any], started: bool):
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
            forfeit = ("forfeit", "game") if game.is_over(state) else ("forfeit",)
            killed = ((), ("killed",)) if game.settings["killing"] else ((),)
            assert calls in {"forfeit": (forfeit,), "throw": killed}.get(action["do"], ((),))
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=60))
@settings(max_examples=cases(15, 100))
def test_legal_actions_match_accepted_actions(chosen: dict[str, Any], picks: list[int]):
    game = Patol(chosen)
    state = game.opening()
    players = [horse.player for horse in state.horses]
    every = [
        *(start(player, "west", "counterclockwise") for player in players),
        *(throw(marked) for marked in range(4)),
    ]
    for pick in picks:
        legal = game.legal_actions(state)
        for action in every:
            if action not in legal:
                with pytest.raises(IllegalActionError):
                    game.play(state, action)
        reached = [game.play(state, action)[0] for action in legal]
        assert len(set(reached)) == len(reached)
        assert bool(reached) != game.is_over(state)
        if not reached:
            break
        state = reached[pick % len(reached)]
        well(game, state)
