from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_views import change_view
from page_tree import Tree
from played import GAMES, NAMES, SETTINGS, play, views

from pi_controller.display.i18n import ENGLISH
from pi_controller.table.view import Opening
from pi_controller.web.event_stream import BLOCK, event
from pi_controller.web.feed import Feed
from pi_controller.web.frames import frame_page, frame_regions
from pi_controller.web.game_page import page_of
from pi_controller.web.live_page import live_content

WICKED = "<script>alert(1)</script>\"' onload=x"


def read(view):
    return Tree(frame_page(view, ENGLISH, "", 0.0, as_of="12:34:56"))


def draw_table(view):
    return page_of(view, ENGLISH).table(view)


@settings(max_examples=60)
@given(views(), st.booleans())
def test_every_reachable_sheet_is_a_page(view, halted):
    if halted:
        view = msgspec.structs.replace(view, phase="halted", note="The disk is full.")
    tree = read(view)
    (main,) = [attrs for tag, attrs in tree.tags if tag == "main"]
    assert main["data-layout"] == ("pads" if view.game == "ojibwe" else "sheet")
    assert main["data-phase"] == view.phase
    assert live_content(view, ENGLISH).sentence in tree.said
    assert "None" not in "".join(tree.said)


@settings(max_examples=40)
@given(views(("ojibwe", "slahal")))
def test_strokes_are_sticks(view):
    sections = dict(re.findall(r'data-team="([AB])">(.*?)</section>', draw_table(view)))
    for team, inside in sections.items():
        bars = [row.count('"on"') for row in re.findall(r'class="long sticks"[^>]*>(.*?)</div>', inside)]
        keys = ("counters",) if view.game == "ojibwe" else ("live", "dead")
        assert bars == [view.sheet[key][team] for key in keys]


def test_ojibwe_table_shows_hides_left_and_banked_finds():
    view = play("ojibwe", 5, 4)
    told = {"hider": "A", "hides_left": 3, "banked": 0, "double": False, "winner": None}
    often = draw_table(change_view(view, **told))
    assert "hides left: 3" in often
    banked = {**told, "hides_left": 1, "double": True, "banked": 2}
    assert "double, banked: 2" in draw_table(change_view(view, **banked))


@settings(max_examples=40)
@given(views(("bageswin", "patol", "plum_stone")))
def test_table_marks_thrower_and_shows_exact_counts(view):
    sheet, table = view.sheet, draw_table(view)
    marks = re.findall(r'data-value="(\w*)" data-(?:player|team)', table)
    throwing = [mark for mark in marks if mark == "turn"]
    assert len(throwing) == (sheet["thrower"] is not None and not sheet["winner"])
    counts = [player["sticks"] for player in sheet.get("players", ())] + [*sheet.get("counters", {}).values()]
    for count in counts:
        assert f">{count}<" in table


def test_ring_has_forty_stones_four_rivers_every_horse():
    view = play("patol", 4, 40, {"players": ",".join(NAMES), "killing": False})
    tree = Tree(draw_table(view))
    assert sum(tag == "circle" and "cx" in attrs for tag, attrs in tree.tags) == 40
    assert sum(tag == "line" for tag, _ in tree.tags) == 4
    horses = [attrs for tag, attrs in tree.tags if tag == "g" and "horse" in (attrs["class"] or "")]
    assert len(horses) == 2 * len(NAMES), "each in the ring and beside its name"
    places = [attrs["transform"] for attrs in horses if attrs["transform"] != "translate(0.0 0.0)"]
    assert len(places) == len(set(places)) == len(NAMES), "no horse hides another"
    (width,) = {attrs["viewbox"].split()[2] for tag, attrs in tree.tags if tag == "svg" and "aria-label" in attrs
                and attrs.get("class") != "token"}  # fmt: skip
    for place in places:
        x, y = map(float, re.findall(r"-?[\d.]+", place))
        assert max(abs(x), abs(y)) + 13 <= float(width) / 2


@pytest.mark.parametrize("game", GAMES)
def test_names_cannot_become_markup(game):
    chosen = {"players": f"{WICKED[:60]},{WICKED[5:65]}"} if game in {"bageswin", "patol"} else {}
    view = play(game, 1, 9, chosen, teams={"A": WICKED, "B": WICKED}, note=WICKED)
    tree = read(view)
    assert [attrs for tag, attrs in tree.tags if tag == "script"] == [{"type": "module", "src": "/static/live.js"}]
    assert any("alert(1)" in said or "script>" in said for said in tree.said)


@pytest.mark.parametrize("game", GAMES)
def test_an_event_carries_the_table_in_whole_kilobytes(game):
    feed = Feed()
    feed.publish(play(game, 1, 20, SETTINGS[game][1]))
    sent = event(feed.latest, ENGLISH)
    assert len(sent) % BLOCK == 0
    body = msgspec.json.decode(re.search(rb"^data: (.*)$", sent, re.MULTILINE)[1])
    assert body["regions"] == frame_regions(feed.latest.content, ENGLISH)
    assert draw_table(feed.latest.content) in body["regions"]["play"]


def test_table_shows_seal_and_opened_pads():
    sealed = play("ojibwe", 5, 4, commit="ab" * 32, opened=(2,), phase="hit", hide=7, link=True)
    text = " ".join(read(sealed).said)
    assert "Sealed place of the marked ball" in text
    assert "not yet opened" in text
    assert "Mat connected" in text
    assert "open" in [said.strip() for said in read(sealed).said]
    seals = [attrs["data-value"] for view in (sealed, play("bageswin", 1, 2)) for tag, attrs in read(view).tags
             if tag == "details"]  # fmt: skip
    assert seals == ["sealed"]


def test_a_slahal_seal_opens_to_both_bones():
    opened = play("slahal", 5, 4, opening=Opening(3, "cd" * 32, 13, "00" * 32))
    assert "opened: pads 1 and 3" in " ".join(read(opened).said)
    one = play("slahal", 5, 4, opening=Opening(3, "cd" * 32, 2, "00" * 32))
    assert "opened: pad 2" in " ".join(read(one).said)


def test_page_shows_end_time_of_timed_game():
    ends = [attrs["data-ends"] for view in (play("slahal", 5, 4, ends=1234.4), play("slahal", 5, 4))
            for _, attrs in read(view).tags if "data-ends" in attrs]  # fmt: skip
    assert ends == ["1234.40"]
