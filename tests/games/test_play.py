"""A game at a Python prompt."""

from __future__ import annotations

import random

import pytest

from pi_controller.errors import MatError, UsageError
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.play import EmptyStackError, Outcome, Play, start


@pytest.mark.parametrize("name", registry.names())
def test_a_random_game_there_and_back(name: str):
    rng = random.Random(name)
    play = Play(registry.game(name))
    states, drawings, actions = [play.state], [repr(play)], []
    while play.outcome() is None and len(play) < 400:
        action = rng.choice(play.legal_actions())
        assert play.is_legal(action)
        assert play.push(action) == play.calls
        actions.append(action)
        states.append(play.state)
        drawings.append(repr(play))
    assert list(play) == list(play.stack) == actions
    assert len(play) == len(actions)
    assert len(set(drawings)) > len(drawings) / 10
    assert all(drawing.startswith(name) for drawing in drawings)
    while play:
        assert play.state == states.pop()
        assert repr(play) == drawings.pop()
        if not len(play):
            break
        assert play.pop() == actions.pop()
    assert play.state == play.game.opening()


def test_how_a_game_ended():
    play = start("dakota", points=1)
    play.push("toss", winner="A")
    assert play.outcome() is None
    while play.outcome() is None:
        assert play.push("hit", found=False) is not None
    assert play.outcome() == Outcome("A", None)
    assert not play.is_legal("hit", found=True)
    assert {(action["do"], action.get("hide")) for action in play.legal_actions()} == {("foul", "last")}
    assert "winner A" in repr(play)
    play.pop()
    assert play.outcome() is None
    with pytest.raises(AttributeError):
        Outcome("A").winner = "B"  # type: ignore[misc]


def test_copy_is_independent():
    play = start("dakota", points=3)
    play.push("toss", winner="A")
    play.push("hit", found=False)
    copy = play.copy()
    copy.push("hit", found=True)
    assert (len(play), len(copy), play.calls, copy.calls) == (2, 3, (), ("paguga",))
    assert copy.sheet == copy.game.sheet(copy.state) != play.sheet
    copy.pop()
    assert repr(copy) == repr(play)


def test_illegal_and_invalid_pushes_leave_state_unchanged():
    play = start("dakota")
    before = play.state
    with pytest.raises(IllegalActionError):
        play.push("hit", found=True)
    with pytest.raises(InvalidActionError):
        play.push("hti", found=True)
    with pytest.raises(InvalidActionError):
        play.push({"do": "toss"}, winner="A")
    with pytest.raises(InvalidActionError):
        play.push(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidActionError):
        play.is_legal("hti")
    assert not play.is_legal("hit", found=True)
    assert play.is_legal("toss", winner="B")
    assert play.state is before
    assert play.stack == ()


def test_pop_of_empty_stack_raises():
    with pytest.raises(EmptyStackError) as caught:
        start("dakota").pop()
    assert isinstance(caught.value, MatError)
    assert isinstance(caught.value, IndexError)


def test_pushed_action_is_copied():
    play = start("bageswin")
    action = {"do": "throw", "red": {"woman": 0, "fish": 0, "knives": 0, "buttons": 0}}
    play.push(action)
    action["red"]["woman"] = 1
    play.stack[0]["red"]["woman"] = 1
    assert play.pop()["red"]["woman"] == 0


def test_unknown_games_and_options():
    with pytest.raises(UsageError):
        start("chess")
    with pytest.raises(UsageError):
        start("dakota", pionts=3)


def test_the_drawing():
    play = start("dakota")
    play.push("toss", winner="A")
    play.push("hit", found=False)
    assert repr(play).splitlines() == [
        "dakota: hider A, owed second",
        "  points A                         0",
        "  points B                         0",
        "  sticks A  ||||                   4",
        "  sticks B                         0",
        "  middle    ||||| ||||| ||||| |   16",
    ]
    assert repr(start("plum_stone")).splitlines()[3].endswith(" ...  100")
    bowl = start("plum_stone")
    bowl.push("lot", first="A")
    bowl.push("throw", moons=2, whites=3)
    assert repr(bowl).startswith("plum_stone: thrower A, value 10\n  counters A ")
    patol = start("patol")
    patol.push("start", player="A", river="east", direction="counterclockwise")
    assert "\n  A: from east, counterclockwise\n" in repr(patol)
