"""The stages by themselves: nothing waits for who is not there, and no session is endless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.exhibit.stage import IDLE, Stage, Times

TIMES = Times(answer_s=30, ask_after_s=40, leave_after_s=20, longest_s=900)


def test_abandoned_choice_returns_to_attract():
    stage = Stage().enter("choose", 10)
    assert stage.advance(39.9, TIMES) == stage
    assert stage.advance(40, TIMES).name == "attract"


def test_idle_player_is_asked_before_session_ends():
    stage = Stage().enter("play", 10)
    asked = stage.advance(50, TIMES)
    assert (asked.name, asked.asked) == ("play", 50)
    assert asked.advance(69.9, TIMES).name == "play"
    assert asked.advance(70, TIMES).name == "attract"
    assert asked.record_use(60).advance(80, TIMES).asked is None


def test_finished_game_enters_result_and_result_times_out():
    result = Stage().enter("play", 0).advance(100 - 70, TIMES, over=True)
    assert result.name == "result"
    assert result.advance(59.9, TIMES).name == "result"
    assert result.advance(60, TIMES).name == "attract"


@pytest.mark.parametrize("idle", IDLE)
def test_without_visitor_stage_is_the_idle_stage(idle):
    assert Stage().advance(5, TIMES, idle=idle).name == idle
    assert Stage().enter("choose", 0).advance(30, TIMES, idle=idle).name == idle


def test_closing_time_does_not_end_a_session():
    assert Stage().enter("play", 0).advance(10, TIMES, idle="rest").name == "play"


@given(st.lists(st.tuples(st.floats(0.1, 30), st.booleans()), max_size=200))
def test_however_busy_it_is_a_session_ends(steps):
    """Who touches something all the time, and never plays a game to its end, makes room for others."""
    stage, t, longest = Stage().enter("choose", 0), 0.0, 0.0
    for dt, plays in steps * 20:
        t += dt
        stage = stage.record_use(t).advance(t, TIMES)
        if stage.name in IDLE:
            break
        longest = t - stage.began
        if plays and stage.name == "choose":
            stage = stage.enter("play", t)
    assert longest < TIMES.longest_s + TIMES.answer_s
