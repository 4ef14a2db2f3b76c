"""The machine's clock is set in mid-tournament: durations go on, and planned breaks keep their time of day."""

import pytest
from hub_hall import TEAMS

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.boards import Boards
from pi_controller.hub.messages import LOST_S
from pi_controller.tournament import decisions as d

STEPS_S = (400 * 86_400.0, -3600.0, 3600.0)


@pytest.fixture(params=STEPS_S)
def set_s(request):
    return request.param


def test_set_clock_keeps_deadlines_and_contact(hall, set_s):
    table = hall.table("t01")
    hall.plan(grace_s=120.0)
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: table.match == "W1-1")
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
    shown = [(one.begins + hall.set_s, one.ends + hall.set_s, one.why) for one in hall.now.breaks]
    if set_s > 200_000.0:
        assert shown == [], "it is over"
        return
    assert shown == [(begins, begins + 1800.0, "meal")]
    assert boards._format_time(hall.now.breaks[0].begins, "%s") == f"{begins:.0f}"


def test_slow_correction_of_the_clock_is_not_noted(hall):
    hall.plan()
    for _ in range(20):
        hall.set_s += 0.5
        hall.pass_time(1.0)
    assert "clock" not in hall.director.notes
    assert len(TEAMS) == len(hall.now.entered)
