from __future__ import annotations

import itertools

import msgspec
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from played import GAMES, NAMES, play, view_of, views

from pi_controller.display.drawing import AMBER, DARK, PLAYERS, RED, divide_pixels, glow, scale_to_pixels
from pi_controller.display.lights import frame
from pi_controller.games.patol.display import RHYTHMS
from pi_controller.games.patol.rules import RIVERS
from pi_controller.pinmap import pinmap
from pi_controller.table.view import QuestionView

LIGHTS = pinmap().lights
MANY = settings(max_examples=cases(20, 60))


def rows(view, t=0.0):
    pixels = frame(view, t)
    return {"A": pixels[:20], "B": pixels[20:40], "middle": pixels[40:60], "short": pixels[60:]}


def lit(row):
    return sum(any(pixel) for pixel in row)


@MANY
@given(views(), st.floats(0, 1e6), st.sampled_from(["as it is", "halted", "asked"]))
def test_frame_fits_strip_is_pure_and_limits_current(view, t, how):
    if how == "halted":
        view = msgspec.structs.replace(view, phase="halted")
    if how == "asked":
        view = msgspec.structs.replace(view, question=QuestionView("found", ("yes", "no"), ()))
    first = frame(view, t)
    assert len(first) == LIGHTS.count == 69
    assert all(isinstance(c, int) and 0 <= c <= 255 for pixel in first for c in pixel)
    assert frame(view, t) == first
    assert sum(map(sum, first)) / 255 * 0.020 < 0.7, "amperes"


@MANY
@given(views(("ojibwe",)), st.floats(0, 100))
def test_moccasin_game_pixel_is_one_counter(view, t):
    shown, sheet = rows(view, t), view.sheet
    if sheet["winner"]:
        assert lit(shown[sheet["winner"]]) == 20
        return
    for row, count in (("A", sheet["counters"]["A"]), ("B", sheet["counters"]["B"]), ("middle", sheet["pool"])):
        assert lit(shown[row]) == count
        assert DARK not in shown[row][:count]
    if sum(sheet["short"].values()) <= 9:
        assert lit(shown["short"]) == sum(sheet["short"].values())


@MANY
@given(views(("slahal",)), st.floats(0, 100))
def test_a_pixel_is_a_stick_of_slahal(view, t):
    shown, sheet = rows(view, t), view.sheet
    if sheet["winner"]:
        return
    for team in "AB":
        assert lit(shown[team]) == sheet["live"][team] + sheet["dead"][team]
        assert lit(shown[team][:5]) == sheet["live"][team]
        if sheet["live"][team] and sheet["dead"][team]:
            assert sum(shown[team][0]) > sum(shown[team][6]), "a dead stick is dimmer"
    assert lit(shown["middle"]) == (sheet["pairs_out"] or 0)


@MANY
@given(views(("bageswin",)))
def test_fish_game_runs_are_separate_and_thrower_brighter(view):
    pixels, sheet = frame(view), view.sheet
    if view.scoreboard.of_teams:  # two rows
        return
    held = [player["sticks"] for player in sheet["players"]]
    runs = [list(run) for on, run in itertools.groupby(pixels[:40], key=any) if on]
    assert len(runs) == sum(count > 0 for count in held)
    assert (lit(pixels[40:60]) > 0) == (sheet["bank"] > 0)
    playing = [player for player in sheet["players"] if player["sticks"]]
    for player, run in zip(playing, runs, strict=True):
        colour = PLAYERS[sheet["players"].index(player)][0]
        level = 0.64 if player["name"] == sheet["thrower"] else 0.44
        if not sheet["winner"]:
            assert run[0] == glow(colour, level)


@MANY
@given(views(("plum_stone",)))
def test_the_plum_stone_games_rows_are_shares(view):
    shown, sheet = rows(view), view.sheet
    total = sheet["pile"] + sum(sheet["counters"].values())
    if sheet["winner"]:
        return
    for row, count in (("A", sheet["counters"]["A"]), ("B", sheet["counters"]["B"]), ("middle", sheet["pile"])):
        assert (lit(shown[row]) > 0) == (count > 0)
        assert abs(lit(shown[row]) - (20 * count / total if total > 20 else count)) <= 1


@MANY
@given(views(("patol",)))
def test_ring_lights_rivers_horses_and_throw(view):
    shown, sheet = rows(view), view.sheet
    assert lit(shown["middle"]) == (sheet["value"] or 0)
    if sheet["winner"]:
        return
    ring = [*shown["A"], *shown["B"]]
    standing = {horse["notch"] for horse in sheet["horses"]} - {None}
    assert {i for i, pixel in enumerate(ring) if any(pixel)} == standing | set(RIVERS.values())


def test_horses_sharing_a_notch_take_turns():
    view = play("patol", 1, 0, {"players": ",".join(NAMES)})
    sheet = view.sheet | {
        "horses": [
            horse | {"river": "east", "direction": "clockwise", "notch": 10, "progress": 0}
            for horse in view.sheet["horses"]
        ],
        "thrower": NAMES[0],
    }
    seen = {frame(view_of("patol", sheet), t / 2)[10] for t in range(200)}
    for i, (light, _) in enumerate(PLAYERS):
        assert glow(light, 0.64 if i == 0 else 0.44) in seen


def test_player_rhythms_differ_at_every_offset():
    turns = [{rhythm[i:] + rhythm[:i] for i in range(8)} for rhythm in RHYTHMS]
    assert len(RHYTHMS) == len(PLAYERS)
    for one, another in itertools.combinations(turns, 2):
        assert not one & another


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("actions", [0, 6, 25, 2000])
def test_no_pixel_flashes_faster_than_once_a_second(game, actions):
    """A flash is a rise and a fall; no pixel does that more than once a second, and three times is the limit."""
    view = play(game, 3, actions)
    per_second, seconds = 50, 16
    frames = [frame(view, i / per_second) for i in range(seconds * per_second)]
    for pixel in zip(*frames, strict=True):
        steps = [b - a for a, b in itertools.pairwise(map(sum, pixel)) if a != b]
        ups = sum(1 for a, b in itertools.pairwise([-1, *steps]) if a < 0 < b)
        assert ups <= seconds


@pytest.mark.parametrize("game", GAMES)
def test_notice_lights_row_ends_without_motion(game):
    view = play(game, 2, 12)
    halted = msgspec.structs.replace(view, phase="halted")
    asked = msgspec.structs.replace(view, question=QuestionView("found", (), ()))
    for shown, light in ((halted, RED), (asked, AMBER)):
        for row in ("A", "B", "middle"):
            assert rows(shown)[row][0] == rows(shown)[row][-1] == glow(light, 0.6)
        assert len({frame(shown, t / 3) for t in range(40)}) == 1


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8), st.integers(0, 10**6), st.integers(33, 40))
def test_pixel_shares_fit_and_include_every_player(counts, rest, size):
    total = sum(counts) + rest
    parts = divide_pixels(counts, total, size)
    assert sum(parts) <= size
    assert [part > 0 for part in parts] == [count > 0 for count in counts]
    for count in counts:
        assert (scale_to_pixels(count, total, size) == size) == (count == total > 0)
