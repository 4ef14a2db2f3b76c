"""A contact's edges become presses: chatter makes no second one, a spike makes none, and none is lost."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_controller.board.buttons import MIN_PRESS_S, SETTLE_S, Debounce

TICK = 0.002


def play(edges, until, debounce=None, tick=TICK):
    """Feed edges (t, closed), with a tick every 2 ms; return [(told at, finger down at)]."""
    debounce = debounce or Debounce()
    told, edges = [], sorted(edges)
    for n in range(int(until / tick) + 1):
        t = n * tick
        while edges and edges[0][0] <= t:
            debounce.take_edge(*edges.pop(0))
        if (down := debounce.take_press(t)) is not None:
            told.append((t, down))
    return told


def presses(edges, until=2.0, **more):
    return [down for _, down in play(edges, until, **more)]


def test_clean_press_is_reported_once_with_contact_time():
    ((told, down),) = play([(0.1001, True), (0.2, False)], 1.0)
    assert down == 0.1001
    assert 0.1001 + MIN_PRESS_S <= told <= 0.1001 + MIN_PRESS_S + TICK


CASES = {
    "long press": ([(0.1, True)], [0.1], {"until": 60.0, "tick": 0.01}),
    **{f"spike of {length} s": ([(0.1, True), (0.1 + length, False)], []) for length in (0.00001, 0.001, 0.004)},
    "train of spikes": ([(0.1 + n * 0.004, n % 2 == 0) for n in range(200)], []),
    "bouncing press": (
        [(0.1, True), (0.1005, False), (0.101, True), (0.103, False), (0.1031, True), (0.3, False)],
        [0.1],
    ),
    "chatter when released": (
        [(0.1, True), (0.2, False), (0.201, True), (0.2025, False), (0.204, True), (0.2041, False)],
        [0.1],
    ),
    # open 10 ms, closed again 8 ms: not settled yet, so still the same press
    "finger that slips": ([(0.1, True), (0.2, False), (0.21, True), (0.218, False)], [0.1]),
    "short break": ([(0.1, True), (0.2, False), (0.2 + SETTLE_S / 2, True), (0.4, False)], [0.1]),
    "two presses": ([(0.1, True), (0.2, False), (0.25, True), (0.3, False)], [0.1, 0.25]),
    "spike before a press": ([(0.1, True), (0.1001, False), (0.112, True), (0.3, False)], [0.112]),
    "closed at start": ([(0.5, False), (0.7, True)], [0.7], {"debounce": Debounce(closed=True)}),
    "closed for ever": ([], [], {"debounce": Debounce(closed=True)}),
    # the daemon was busy for a second: all edges come at once
    "between two ticks": ([(0.1, True), (0.2, False), (0.5, True), (0.6, False)], [0.1, 0.5], {"tick": 0.3}),
    "levels, not edges": (
        [(0.1 + n * 0.001, True) for n in range(50)] + [(0.15 + n * 0.001, False) for n in range(50)],
        [0.1],
    ),
}
"""Edges, the presses that they are, and how they are fed."""


@pytest.mark.parametrize("name", CASES)
def test_edges_make_their_presses(name):
    edges, downs, *how = CASES[name]
    assert presses(edges, **(how[0] if how else {})) == downs


def test_clock_stepping_back_creates_no_press():
    debounce = Debounce(t=10.0)
    debounce.take_edge(9.0, True)
    assert debounce.take_press(9.5) is None
    debounce.take_edge(9.6, False)
    assert debounce.take_press(11.0) is None


bounce = st.lists(st.floats(1e-5, 0.0045), max_size=8).map(lambda gaps: gaps[: len(gaps) // 2 * 2])
finger = st.tuples(st.floats(0.06, 1.0), bounce, st.floats(0.03, 0.5), bounce)


def trace(fingers):
    """Return the edges of fingers (pause, chatter, held, chatter) and when each came down."""
    t, edges, downs = 0.0, [], []
    for pause, going_in, held, going_out in fingers:
        t += pause
        downs.append(t)
        for n, gap in enumerate([*going_in, held]):
            edges.append((t, n % 2 == 0))
            t += gap
        for n, gap in enumerate([*going_out, 0.0]):
            edges.append((t, n % 2 == 1))
            t += gap
    return edges, downs, t


@settings(deadline=None)
@given(st.lists(finger, max_size=5), st.sampled_from([0.001, 0.005, 0.01]))
@example([(0.06, [0.004, 0.004], 0.03, [0.004, 0.004])] * 2, 0.01)
def test_every_finger_is_one_press_however_it_bounces(fingers, tick):
    edges, downs, end = trace(fingers)
    assert presses(edges, until=end + 0.1, tick=tick) == downs


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1e-5, 0.3), st.floats(1e-6, MIN_PRESS_S * 0.99)), max_size=30))
def test_no_shower_of_spikes_is_ever_a_press(spikes):
    t, edges = 0.0, []
    for pause, length in spikes:
        edges += [(t + pause, True), (t + pause + length, False)]
        t += pause + length
    assert presses(edges, until=t + 0.1) == []


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1e-5, 0.1), st.booleans()), max_size=60))
def test_presses_are_at_least_settle_time_apart(steps):
    t, edges = 0.0, []
    for gap, closed in steps:
        t += gap
        edges.append((t, closed))
    downs = presses(edges, until=t + 0.2)
    assert all(b - a >= SETTLE_S + MIN_PRESS_S - 1e-9 for a, b in pairwise(downs))
