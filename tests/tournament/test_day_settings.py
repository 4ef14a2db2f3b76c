"""Settings of the plan that change during the day, and the move of a match."""

import msgspec
import pytest
from director_hall import TEAMS, Hall

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import decisions as d
from pi_controller.tournament.director import Tournament


@pytest.fixture
def hall():
    made = Hall(rest_s=600.0, grace_s=300.0, calling="director", results="confirm", judges="hub")
    made.do(d.Appointed(("Jo",)), d.TeamsDrawn(order=TEAMS))
    return made


@pytest.mark.parametrize(
    ("field", "value"),
    [("rest_s", 0.0), ("grace_s", 0.0), ("calling", "automatic"), ("results", "at_once"), ("judges", "tables")],
)
def test_setting_changes_alone_and_is_undone(hall, field, value):
    before = hall.now.plan
    hall.do(d.SettingsChanged(**{field: value}))
    assert hall.now.plan == msgspec.structs.replace(before, **{field: value})
    assert hall.undo().plan == before


def test_rest_is_effective_from_now_on(hall):
    hall.do(d.Result("W1-1", TEAMS[0]), d.Result("W1-2", TEAMS[1]))
    hall.do(d.SettingsChanged(judges="tables"))
    assert {one.why for one in hall.now.schedule(["t01"], hall.t)[1]} == {"rest"}
    hall.do(d.SettingsChanged(rest_s=0.0))
    assert [one.table for one in hall.now.schedule(["t01"], hall.t)[0]] == ["t01"]


def test_grace_changes_for_open_calls_too(hall):
    hall.call("W1-1")
    hall.do(d.SettingsChanged(grace_s=900.0))
    call = hall.now.calls["W1-1"]
    assert hall.now.call_deadline(call) == call.t + 900.0


def test_change_without_a_setting_or_plan_is_refused(hall):
    with pytest.raises(InvalidActionError):
        hall.do(d.SettingsChanged())
    with pytest.raises(IllegalActionError):
        Tournament().after(d.Decision(1, 0.0, "Ann", d.SettingsChanged(rest_s=1.0)))


def test_moved_match_frees_old_table_or_marks_unused(hall):
    hall.call("W1-1")
    hall.do(d.MatchStarted("W1-1"), d.Moved("W1-1", "t02", "new"))
    assert (hall.now.calls["W1-1"].table, hall.now.freed["t01"]) == ("t02", hall.t)
    assert not hall.now.unused
    hall.do(d.Moved("W1-1", "t03", "newer", unused=True))
    assert hall.now.unused == {"t02"}
    assert hall.now.used == {"t01": 1, "t02": 1, "t03": 1}


def test_report_of_the_table_left_is_refused(hall):
    hall.call("W1-1")
    order = hall.now.current_order(hall.now.calls["W1-1"])
    hall.do(d.MatchStarted("W1-1"), d.Moved("W1-1", "t02", "new"))
    with pytest.raises(IllegalActionError):
        hall.do(d.Reported("W1-1", order, "t01", "ab", 9, TEAMS[0]))
    hall.report("W1-1", TEAMS[0], "t02")
    (report,) = hall.now.reports.values()
    assert report.expected
