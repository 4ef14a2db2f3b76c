from __future__ import annotations

import itertools
import re
from pathlib import Path

import msgspec
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from made_views import make_view

import pi_controller
from pi_controller.display.drawing import AMBER, OWED, RED, glow
from pi_controller.display.lights import DEPARTURES_S, FLIGHT_S, REVEAL_S, StickWalk, frame
from pi_controller.pinmap import pinmap
from pi_controller.table.view import Hit, Opening, QuestionView

LIGHTS = pinmap().lights
PHASES = ["toss", "hide", "check", "hit", "show", "over", "halted"]
SECRETIVE = {"commit", "opening", "hits", "passes", "calls", "seq", "hide", "note", "teams", "link", "foul", "version"}


@st.composite
def views(draw, phases=tuple(PHASES), asked=None):
    a = draw(st.integers(0, 20))
    b = draw(st.integers(0, 20 - a))
    points_a, points_b = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    phase = draw(st.sampled_from(phases))
    question = draw(st.booleans()) if asked is None else asked
    return make_view(
        teams={},
        link=False,
        phase=phase,
        hide=1,
        hider=None if phase == "toss" else draw(st.sampled_from("AB")),
        long={"A": a, "B": b},
        middle=20 - a - b,
        short={"A": points_a, "B": points_b},
        owed=draw(st.sampled_from([None, "first", "second"])),
        winner=draw(st.sampled_from("AB")) if phase == "over" else None,
        question=QuestionView("found", ("yes", "no"), ()) if question else None,
    )


def rows(view, t=0.0):
    pixels = frame(view, t)
    a, b, m = LIGHTS.a, LIGHTS.b, LIGHTS.middle
    return {
        "A": pixels[:a],
        "B": pixels[a : a + b],
        "middle": pixels[a + b : a + b + m],
        "short": pixels[a + b + m :],
    }


def lit(row):
    return sum(any(pixel) for pixel in row)


@settings(deadline=None)
@given(views(), st.floats(0, 1e6))
def test_a_frame_fits_the_strip_and_is_pure(view, t):
    first = frame(view, t)
    assert len(first) == LIGHTS.count == 69
    assert all(isinstance(c, int) and 0 <= c <= 255 for pixel in first for c in pixel)
    assert frame(view, t) == first


@settings(deadline=None)
@given(views(phases=("toss", "hide", "check", "show"), asked=False), st.floats(0, 100))
def test_lit_pixels_are_the_sticks(view, t):
    shown = rows(view, t)
    for row, count in (
        ("A", view.sheet["long"]["A"]),
        ("B", view.sheet["long"]["B"]),
        ("middle", view.sheet["middle"]),
    ):
        assert all(any(pixel) for pixel in shown[row][:count])
        assert not any(any(pixel) for pixel in shown[row][count:])


@settings(deadline=None)
@given(views(phases=("hit",), asked=False))
def test_owed_hit_lights_far_end_of_hitters_row(view):
    shown = rows(view)
    hitter = "B" if view.sheet["hider"] == "A" else "A"
    marks = {"first": 1, "second": 2, None: 0}[view.sheet["owed"]]
    assert sum(pixel == OWED for pixel in shown[hitter]) == marks
    assert all(pixel == OWED for pixel in shown[hitter][20 - marks :])
    sticks = shown[hitter][: 20 - marks]
    assert lit(sticks) == min(view.sheet["long"][hitter], 20 - marks)
    assert OWED not in (*shown[view.sheet["hider"]], *shown["middle"])
    assert lit(shown[view.sheet["hider"]]) == view.sheet["long"][view.sheet["hider"]]
    assert lit(shown["middle"]) == view.sheet["middle"]


@settings(deadline=None)
@given(views())
def test_short_sticks_come_from_both_ends(view):
    short = rows(view)["short"]
    a, b = view.sheet["short"]["A"], view.sheet["short"]["B"]
    assert all(any(pixel) for pixel in short[:a])
    assert all(any(pixel) for pixel in short[9 - b :])
    assert not any(any(pixel) for pixel in short[a : 9 - b])
    if b > 1:
        assert sum(short[-1]) > sum(short[-2]), "B's pattern begins at its own end"


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("asked", [False, True])
def test_no_pixel_changes_faster_than_half_a_hertz(view, phase, asked):
    question = QuestionView("found", (), ()) if asked else None
    shown = view(phase=phase, winner="B" if phase == "over" else None, question=question)
    seconds, per_second = cases(8, 20), 50
    frames = [frame(shown, i / per_second) for i in range(seconds * per_second)]
    for pixel in range(LIGHTS.count):
        level = [sum(one[pixel]) for one in frames]
        steps = [b - a for a, b in itertools.pairwise(level) if a != b]
        turns = sum((a > 0) != (b > 0) for a, b in itertools.pairwise(steps))
        assert turns <= seconds, "more than one turn a second is faster than 0.5 Hz"
        assert max((abs(step) for step in steps), default=0) <= 24, "it jumps"


@pytest.mark.parametrize("phase", ["toss", "check", "hit", "show", "halted"])
def test_the_frame_is_still_while_the_mat_looks(view, phase):
    assert len({frame(view(phase=phase), t / 7) for t in range(100)}) == 1


def test_the_hiders_row_breathes_while_hands_pass(view):
    shown = view(phase="hide")
    assert len({frame(shown, t / 7)[0] for t in range(100)}) > 10
    assert len({frame(shown, t / 7)[LIGHTS.a :] for t in range(100)}) == 1


@settings(deadline=None)
@given(views(), st.floats(0, 1000))
def test_the_current_stays_far_below_two_amperes(view, t):
    amperes = sum(sum(pixel) for pixel in frame(view, t)) / 255 * 0.020
    assert amperes < 0.35


def test_teams_differ_by_pattern_and_hiders_are_brighter(view):
    shown = rows(view(hider="A", phase="show", long={"A": 8, "B": 8}, middle=4))
    assert len(set(shown["A"][:8])) == 1
    assert len(set(shown["B"][:8])) == 2
    bright, dim = shown["B"][0], shown["B"][1]
    assert max(bright) > 2 * max(dim)
    swapped = rows(view(hider="B", phase="show", long={"A": 8, "B": 8}, middle=4))
    assert sum(shown["A"][0]) > sum(swapped["A"][0])
    assert sum(shown["B"][0]) < sum(swapped["B"][0])


def test_question_and_halt_light_the_row_ends(view):
    asked = rows(view(question=QuestionView("found", (), ())))
    halted = rows(view(phase="halted"))
    for row in ("A", "B", "middle"):
        assert asked[row][0] == asked[row][-1] == glow(AMBER, 0.6)
        assert halted[row][0] == halted[row][-1] == glow(RED, 0.6)
        assert len({halted[row][0], halted[row][1]}) == 2
    assert asked["short"] == halted["short"]


def test_the_winners_row_is_lit_and_no_other(view):
    for winner, loser in (("A", "B"), ("B", "A")):
        shown = rows(view(phase="over", winner=winner))
        assert lit(shown[winner]) == 20
        assert lit(shown[loser]) == lit(shown["middle"]) == 0


@settings(deadline=None)
@given(views(), st.floats(0, 100))
def test_secrets_and_calls_do_not_change_the_frame(view, t):
    told = msgspec.structs.replace(
        view,
        seq=99,
        hide=7,
        calls=("paguga",),
        hits=(Hit(2, False), Hit(3, True)),
        passes=4,
        foul="no_bead",
        commit="ab" * 32,
        opening=Opening(1, "cd" * 32, 3, "ef" * 32),
        link=True,
        note="a note",
        teams={"A": "x"},
        version="2",
    )
    changed = {f for f in view.__struct_fields__ if getattr(view, f) != getattr(told, f)}
    assert changed == SECRETIVE
    assert frame(told, t) == frame(view, t)


def test_counts_beyond_the_strip_do_not_break_it(view):
    shown = view(long={"A": 64, "B": -3}, middle=99, short={"A": 9, "B": 9})
    assert len(frame(shown)) == LIGHTS.count
    assert lit(rows(shown)["short"]) == 8


def counted_rows(pixels):
    a, b, m = LIGHTS.a, LIGHTS.b, LIGHTS.middle
    return lit(pixels[:a]), lit(pixels[a : a + b]), lit(pixels[a + b : a + b + m])


def stick_view(a, b, phase="hide", winner=None):
    return make_view(teams={}, phase=phase, hide=1, long={"A": a, "B": b}, middle=20 - a - b, owed=None, winner=winner)


@given(views(phases=("hide", "show"), asked=False), views(phases=("hide", "show"), asked=False), st.floats(0.0, 3.0))
def test_sticks_that_change_hands_walk_and_arrive(before, after, delay_s):
    walk = StickWalk(delay_s)
    start = walk.frame(before, 10.0)
    assert start == frame(before, 10.0)
    walk.frame(after, 11.0)
    seen = [counted_rows(walk.frame(after, 11.0 + delay_s + i / 50)) for i in range(-1, 45)]
    first, last = counted_rows(start), counted_rows(frame(after, 0.0))
    assert seen[0] == (last if first == last else first), "nothing moves before the cloth is turned back"
    for old, new, row in zip(first, last, zip(*seen, strict=True), strict=True):
        assert list(row) == sorted(row, reverse=new < old), "a row only gains or only loses"
        assert row[-1] == new
    end = 11.0 + delay_s + FLIGHT_S
    assert walk.frame(after, end) == frame(after, end)


@pytest.mark.parametrize("phase", ["check", "hit", "over", "halted"])
def test_sticks_jump_while_mat_senses_or_game_stops(phase):
    walk = StickWalk(0.0)
    walk.frame(stick_view(10, 0), 0.0)
    after = stick_view(4, 6, phase, winner="B" if phase == "over" else None)
    assert walk.frame(after, 0.1) == frame(after, 0.1)
    later = stick_view(4, 6)
    assert walk.frame(later, 0.2) == frame(later, 0.2), "and not afterwards either"


def test_new_view_does_not_interrupt_stick_walk():
    walk = StickWalk(0.0)
    walk.frame(stick_view(10, 0), 0.0)
    walk.frame(stick_view(4, 6), 1.0)
    half = walk.frame(msgspec.structs.replace(stick_view(4, 6), seq=2), 1.4)
    assert counted_rows(half) == (4, 0, 10), "all six are on their way"
    assert counted_rows(walk.frame(stick_view(4, 6), 1.6)) == (4, 2, 10), "two have arrived"


def test_strips_and_pages_share_stick_motion_times():
    static = Path(pi_controller.__file__).parent
    motion = (static / "web/static/motion.js").read_text("utf-8")
    flight_ms = float(re.search(r"FLIGHT_MS = ([\d_]+)", motion)[1])
    apart = float(re.search(r"APART = ([\d.]+)", motion)[1])
    reveal_ms = float(re.search(r"REVEAL_MS = ([\d_]+)", (static / "exhibit/static/exhibit.js").read_text("utf-8"))[1])
    assert (flight_ms / 1000, reveal_ms / 1000) == (FLIGHT_S, REVEAL_S)
    assert pytest.approx(apart * FLIGHT_S) == DEPARTURES_S
