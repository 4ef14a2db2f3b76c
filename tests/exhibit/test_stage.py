"""The stages by themselves: nothing waits for who is not there, and no session is endless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.exhibit.stage import IDLE, Stage, Times

TIMES = Times(answer_s=30, ask_after_s=40, leave_after_s=20, longest_s=900)


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
