"""The router joins what it is given, keeps its distances, and says which net has no way."""

from __future__ import annotations

import pytest
from footprints import Pin, Shape, distance
from router import Router, Rules, UnroutableError

SIZE = (30.0, 20.0)
RULES = {"clearance": 0.25, "edge": 0.5, "hole_gap": 0.3}


def pin(name: str, x: float, y: float) -> Pin:
    return Pin(name, (x * 1.27, y * 1.27), 0.8)


def made(pins: dict[str, list[Pin]], blocked: list[Shape] | None = None, width: float = 0.4) -> Router:
    return Router(SIZE, pins, [], blocked or [], Rules(**RULES, widths=dict.fromkeys(pins, width)))


CROSSING = {"a": [pin("1", 4, 8), pin("2", 18, 8)], "b": [pin("1", 11, 3), pin("2", 11, 13)]}
WALL = Shape(((15.0, 0.0), (15.0, 20.0)), 0.5)


def test_crossing_nets_use_both_layers_with_clearance():
    router = made(CROSSING)
    router.route()
    for one in router.tracks:
        for other in router.tracks:
            if one.net != other.net and one.layer == other.layer:
                assert distance(one.shape, other.shape) >= RULES["clearance"]
    assert {track.layer for track in router.tracks} == {0, 1}


def test_a_straight_way_is_one_track():
    router = made({"a": [pin("1", 4, 8), pin("2", 18, 8)]})
    router.route()
    assert [track.shape.points for track in router.tracks] == [(CROSSING["a"][0].at, CROSSING["a"][1].at)]
    assert not router.vias


def test_the_same_board_gives_the_same_tracks():
    first, second = made(CROSSING), made(CROSSING)
    first.route()
    second.route()
    assert (first.tracks, first.vias) == (second.tracks, second.vias)


def test_a_net_behind_a_wall_is_named():
    with pytest.raises(UnroutableError, match=r"^a$"):
        made({"a": [pin("1", 4, 8), pin("2", 18, 8)]}, [WALL]).route()


def test_track_too_wide_for_gap_is_refused():
    gate = [Shape(((15.0, 0.0), (15.0, 9.0)), 0.5), Shape(((15.0, 11.4), (15.0, 20.0)), 0.5)]
    pins = {"a": [pin("1", 4, 8), pin("2", 18, 8)]}
    made(pins, gate, width=0.4).route()
    with pytest.raises(UnroutableError):
        made(pins, gate, width=1.4).route()


def test_unrouted_net_is_first_in_next_attempt():
    """Only the upper layer has a gap in the wall: whoever is laid first takes it, and the other goes round by a via."""
    pins = {"a": [pin("1", 4, 8), pin("2", 18, 8)], "b": [pin("1", 4, 6), pin("2", 18, 10)]}
    router = made(pins, [Shape(((15.0, 0.0), (15.0, 7.0)), 0.5), Shape(((15.0, 13.0), (15.0, 20.0)), 0.5)])
    router.route()
    assert {track.net for track in router.tracks} == {"a", "b"}


def test_hatch_omits_lines_without_net_pin():
    pins = {"GND": [pin("1", 4, 4), pin("2", 4, 8)], "a": [pin("1", 18, 4), pin("2", 18, 8)]}
    router = made(pins, [WALL])
    router.route()
    before = len(router.tracks)
    router.hatch("GND", 1, 0.4, 2, [])
    lines = router.tracks[before:]
    assert len(lines) > 10
    assert max(x for line in lines for x, _ in line.shape.points) < 15.0, "beyond the wall it would float"
    assert {(line.net, line.layer) for line in lines} == {("GND", 1)}


def test_hatch_line_ends_meet_line_or_pin():
    pins = {"GND": [pin("1", 4, 4), pin("2", 11, 9)], "a": [pin("1", 18, 4), pin("2", 18, 8)]}
    router = made(pins)
    router.route()
    before = len(router.tracks)
    router.hatch("GND", 1, 0.4, 2, [])
    lines, rest = router.tracks[before:], [one.pad for one in pins["GND"]]
    rest += [track.shape for track in router.tracks[:before] if (track.net, track.layer) == ("GND", 1)]
    assert len(lines) > 10
    for line in lines:
        others = rest + [other.shape for other in lines if other is not line]
        for end in line.shape.points:
            assert any(distance(Shape((end,), 0.0), other) <= 0.0 for other in others), end


def test_hatch_avoids_other_nets_and_excluded_area():
    router = made(CROSSING | {"GND": [pin("1", 4, 3), pin("2", 4, 13)]})
    router.route()
    before = len(router.tracks)
    apart = Shape(((20.0, 0.0), (30.0, 0.0), (30.0, 20.0), (20.0, 20.0)), 0.0)
    router.hatch("GND", 1, 0.4, 2, [apart])
    others = [track.shape for track in router.tracks[:before] if track.net != "GND" and track.layer == 1]
    others += [one.pad for name, pins in CROSSING.items() for one in pins if name != "GND"]
    for line in router.tracks[before:]:
        assert all(distance(line.shape, other) >= RULES["clearance"] - 0.02 for other in others)
        assert distance(line.shape, apart) > -0.01
