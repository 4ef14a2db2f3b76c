"""The machine's clock is set in mid-tournament: durations go on, and planned breaks keep their time of day."""

import asyncio
import time
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import pytest
from hub_hall import TEAMS
from judge_house import BEGAN
from travel import travelling

from pi_controller.display.i18n import ENGLISH
from pi_controller.host.clock import SteadyClock
from pi_controller.hub.boards import Boards
from pi_controller.hub.messages import LOST_S
from pi_controller.hub.pages import BreakSent, break_times
from pi_controller.hub.run import HubRun
from pi_controller.tournament import decisions as d
from pi_controller.web.server import WebServer

STEPS_S = (400 * 86_400.0, -3600.0, 3600.0)


@pytest.fixture(params=STEPS_S)
def set_s(request):
    return request.param


def test_set_clock_keeps_deadlines_and_contact(hall, set_s):
    hall.at_match(grace_s=120.0)
    hall.pass_time(20.0)
    hall.set_s = set_s
    hall.pass_time(LOST_S + 2.0)
    assert hall.shown("t01").state == "ready"
    assert hall.now.overdue_calls(hall.clock()) == ()
    assert "clock of this machine was set" in hall.director.notes["clock"]
    hall.pass_time(110.0)
    assert [call.match for call in hall.now.overdue_calls(hall.clock())] == ["W1-1"]


def test_rest_ends_on_time_after_setting_clock(hall, set_s):
    for name in ("t01", "t02"):
        hall.table(name)
    hall.plan(calling="automatic", rest_s=100.0)
    hall.until(lambda: all(table.match for table in hall.tables.values()))
    for table in hall.tables.values():
        table.do("toss A", "close B forfeit gone")
    hall.until(lambda: len(hall.now.sources) == 2)
    over = hall.clock()
    hall.set_s = set_s
    hall.until(lambda: hall.now.calls.keys() - {"W1-1", "W1-2"})
    assert 95.0 <= hall.clock() - over <= 110.0


def test_planned_break_keeps_its_time_of_day(hall, set_s):
    hall.plan()
    begins = hall.clock() + 100_000.0
    hall.do(d.BreakPlanned(begins, begins + 1800.0, "meal"))
    hall.set_s = set_s
    boards = Boards(hall.director, hall.clock, ENGLISH, ahead=lambda: hall.set_s)
    hall.pass_time(3.0)
    if set_s > 200_000.0:
        assert hall.now.breaks == (), "it is over"
        return
    (one,) = hall.now.breaks
    assert (one.begins + hall.set_s, one.ends + hall.set_s, one.why) == (begins, begins + 1800.0, "meal")
    assert boards._format_time(one.begins, "%s") == f"{begins:.0f}"


def test_grace_counts_only_the_break_that_was(hall):
    """The clock is set back by an hour in a break, which then comes again."""
    hall.table("t01")
    hall.plan(grace_s=600.0)
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    called = hall.clock()
    hall.do(d.BreakPlanned(called + 100.0, called + 400.0))
    hall.pass_time(200.0)
    hall.set_s = -3600.0
    hall.pass_time(2.0)
    call = hall.now.calls["W1-1"]
    assert hall.now.call_deadline(call) == pytest.approx(called + 600.0 + 100.0, abs=3.0)
    assert max(one.begins for one in hall.now.breaks) == called + 3700.0


@contextmanager
def running(folder, loop):
    """Yield the hub of `folder` as `hub run` runs it, without a server."""
    run, closing = HubRun(folder, lambda _: None, shows=False), asyncio.Event()
    task = loop.create_task(run.run(closing))
    loop.run(run.wait_until_listening())
    yield run
    closing.set()
    loop.run(task)


def test_restarted_hub_keeps_times_after_clock_change(tmp_path, monkeypatch, set_s):
    ahead = [0.0]
    monkeypatch.setattr(WebServer, "start", lambda _: None)
    with travelling() as loop:
        steady = partial(SteadyClock, lambda: BEGAN + loop.time() + ahead[0], loop.time)
        monkeypatch.setattr("pi_controller.hub.run.SteadyClock", steady)
        with running(tmp_path, loop) as run:
            plan = d.Planned("cup", options={"points": 2}, calling="director", grace_s=120.0)
            teams = d.Entered(tuple(d.Entry(team) for team in TEAMS)), d.TeamsDrawn(order=TEAMS)
            for fact in (plan, *teams, d.Assigned("W1-1", "t01", "a" * 16)):
                run.director.decide(called := run.pages._clock(), "Ann", fact)
            users, signing = run.pages.users, run.pages._signing.authenticator
            token = signing.sessions.begin(users.add("Ann", "head", "no PIN"), called)
            ahead[0] = set_s
            loop.advance(3.0)
        with running(tmp_path, loop) as run:
            assert run.pages._clock() == pytest.approx(called + 3.0, abs=1.0)
            assert loop.run(run.pages._signing.authenticator.session(token, touch=False)) is not None
            assert run.director.now.overdue_calls(run.pages._clock()) == ()
            loop.advance(120.0)
            assert run.director.now.overdue_calls(run.pages._clock()) != ()
            assert "clock" not in run.director.notes, "nobody has set it since"


@pytest.mark.parametrize(("now", "hours"), [("2026-03-29T00:30Z", 1.5), ("2026-10-24T23:30Z", 3.5)])
def test_break_follows_the_change_to_summer_time(monkeypatch, now, hours):
    """At half past one in Berlin, until four: two hours before the clocks are changed."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        t = datetime.fromisoformat(now).timestamp()
        assert break_times(BreakSent(until="04:00"), t) == (t, t + 3600.0 * hours)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_slow_correction_of_the_clock_is_not_noted(hall):
    hall.plan()
    for _ in range(20):
        hall.set_s += 0.5
        hall.pass_time(1.0)
    assert "clock" not in hall.director.notes
    assert len(TEAMS) == len(hall.now.entered)
