"""The timetable: its error over a day, breaks, durations, and that it changes nothing."""

import pytest
from cases import cases
from director_hall import TEAMS, Hall, seen
from load_file import load_file

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import decisions as d
from pi_controller.tournament.timetable import DEFAULT_GAME_S, MIN_PLAYED, estimate_timetable, measure_durations

TABLES = ("t01", "t02")
timetable_error = load_file("tests/tools/timetable_error.py")


def hall(teams=8, **plan):
    names = [f"Team {number}" for number in range(1, teams + 1)]
    made = Hall(names, **plan)
    made.do(d.TeamsDrawn(order=tuple(names)))
    return made


def play_matches(made, count, duration):
    """Play `count` matches one after the other at t01, each `duration` s long."""
    for _ in range(count):
        match = made.now.schedule(TABLES[:1], made.t)[0][0]
        made.call(match.match)
        made.t += duration - 1.0
        made.do(d.Result(match.match, match.teams[0]))


@pytest.mark.slow
def test_the_error_over_a_day_is_bounded():
    """Bounds in minutes; the measured figures are in help/pages/why/figures.md."""
    for ahead, (middle, most, inside) in timetable_error.measure(cases(1, 6), 240.0).summary().items():
        bounds = {10: (3.0, 10.0), 30: (6.0, 25.0)}[ahead]
        assert middle <= bounds[0], ahead
        assert most <= bounds[1], ahead
        assert inside >= 0.65, ahead


def test_default_duration_applies_until_three_matches_are_played():
    made = hall()
    for played in range(MIN_PLAYED):
        found = measure_durations(made.now)
        assert (found.played, found.is_measured, found.median_s) == (played, False, DEFAULT_GAME_S)
        play_matches(made, 1, 600.0)
    found = measure_durations(made.now)
    assert (found.played, found.is_measured, found.median_s) == (MIN_PLAYED, True, 600.0)
    assert found.range_s[0] < 600.0 < found.range_s[1]


def test_default_for_best_of_three_is_two_games():
    assert measure_durations(hall(best_of=3).now).median_s == 2 * DEFAULT_GAME_S


def test_a_result_entered_at_once_is_no_duration():
    made = hall()
    play_matches(made, MIN_PLAYED, 5.0)
    assert not measure_durations(made.now).is_measured


def test_time_to_play_shrinks_and_never_is_negative():
    found = measure_durations(hall().now)
    left = [found.remaining(0.5, elapsed) for elapsed in range(0, 6_000, 300)]
    assert left[0] == pytest.approx(DEFAULT_GAME_S)
    assert min(left) > 0.0
    assert left[3] < left[0]


def test_later_matches_start_later_and_table_is_named():
    made = hall()
    made.call("W1-1")
    found = estimate_timetable(made.now, TABLES[:1], made.t)
    first, *others = found.starts.values()
    assert (first.match, first.table) == ("W1-2", "t01")
    assert all(first.expected < one.expected for one in others)
    assert all(one.earliest <= one.expected <= one.latest for one in found.starts.values())
    assert first.expected - made.t == pytest.approx(DEFAULT_GAME_S, rel=0.3)


@pytest.mark.parametrize("kind", ["double", "single", "round_robin", "groups"])
def test_estimate_is_repeatable_and_changes_no_state(kind):
    made = hall(format=kind)
    before = seen(made.now)
    assert estimate_timetable(made.now, TABLES, made.t) == estimate_timetable(made.now, TABLES, made.t)
    assert seen(made.now) == before


def test_no_match_is_called_during_a_break():
    made = hall()
    made.do(d.BreakPlanned(0.0, 3_600.0, "Lunch"), d.BreakPlanned(3_600.0, 4_000.0))
    called, waiting = made.now.schedule(TABLES, made.t)
    assert (called, {(one.why, one.until) for one in waiting}) == ((), {("break", 4_000.0)})
    found = estimate_timetable(made.now, TABLES, made.t)
    assert min(one.expected for one in found.starts.values()) == 4_000.0
    assert made.now.schedule(TABLES, 4_000.0)[0]
    made.call("W1-1")  # the director may
    made.do(d.BreakCancelled(1), d.BreakCancelled(2))
    assert made.now.schedule(TABLES, made.t)[0]


def test_wrong_breaks_are_refused():
    made = hall()
    for begins, ends in ((10.0, 10.0), (10.0, 5.0), (0.0, 90_001.0)):
        with pytest.raises(InvalidActionError):
            made.do(d.BreakPlanned(begins, ends))
    with pytest.raises(IllegalActionError):
        made.do(d.BreakCancelled(1))


def test_without_draw_or_tables_timetable_is_none():
    assert estimate_timetable(Hall(TEAMS).now, TABLES, 0.0) is None
    assert estimate_timetable(hall().now, (), 0.0) is None
