from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_tree import Tree

import pi_controller.web
from pi_controller.display.i18n import ENGLISH
from pi_controller.table.view import Hit, Opening, QuestionView
from pi_controller.web.frames import FRAMES, frame_page, frame_regions
from pi_controller.web.game_page import page_of
from pi_controller.web.live_page import live_content
from pi_controller.web.templates import render

STATES = {
    "toss": {"phase": "toss", "hider": None, "owed": None, "hide": 0},
    "hide": {"phase": "hide"},
    "check": {"phase": "check"},
    "second": {"owed": "second", "hits": (Hit(2, found=False),), "commit": "ab" * 32},
    "paguga": {"calls": ("paguga", "wheya"), "hits": (Hit(2, found=False), Hit(4, found=True)), "phase": "show"},
    "sahdogan": {"situation": "sahdogan", "calls": ("sahdogan",), "long": {"A": 12, "B": 8}, "middle": 0},
    "question": {"question": QuestionView("two_struck", ("2", "3", "none"), (2, 3))},
    "foul": {"foul": "no_bead", "calls": ("foul",), "phase": "hide"},
    "opened": {"phase": "show", "opening": Opening(3, "ab" * 32, 2, "cd" * 32), "commit": "ab" * 32},
    "over": {"phase": "over", "winner": "B", "short": {"A": 3, "B": 5}, "calls": ("obojun", "game")},
    "halted": {"phase": "halted", "note": "The disk is full."},
    "unplaced": {"hits": (Hit(None, found=True),)},
    "other game": {"game": "ojibwe", "calls": ("high_ball",), "hider": None, "teams": {}},
}


def draw_page(view, frame=""):
    """Return a page in its frame, as the server sends it."""
    return frame_page(view, ENGLISH, frame, 0.0, as_of="12:34:56", found=[], event="", words="", place="top")


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_on_the_page(view, state):
    shown = live_content(view(**STATES[state]), ENGLISH)
    said = "".join(Tree(draw_page(view(**STATES[state]))).said)
    texts = [shown.game, shown.sentence, shown.turn_worth, shown.note, shown.standing, shown.link, shown.credit]
    texts += [*shown.facts, *(one.text for one in shown.past), *(pad.said for pad in shown.pads), "12:34:56"]
    texts += [text for one in shown.calls for text in (one.word, one.sounds, one.meaning)]
    texts += [shown.question.text, shown.question.choices] if shown.question else []
    texts += [shown.seal.hash, shown.seal.text, shown.seal.nonce] if shown.seal.state else []
    assert [text for text in texts if text not in said] == []


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("state", STATES)
def test_the_page_contains_each_region_of_the_event(view, state, frame):
    told = view(**STATES[state])
    html, regions = draw_page(told, frame), frame_regions(told, ENGLISH, frame)
    assert {attrs["data-region"] for _, attrs in Tree(html).tags if "data-region" in attrs} == set(regions)
    untimed = re.sub(r"(<time[^>]*>|<b data-ends=[^>]*>)[^<]*", r"\1", html)
    assert [name for name, region in regions.items() if region not in untimed] == []


def test_page_works_without_scripts_or_external_links(view):
    html = draw_page(view())
    assert '<noscript><meta http-equiv="refresh"' in html
    for text in (
        html,
        render("waiting.html", ENGLISH),
        *(path.read_text("utf-8") for path in STATIC.iterdir() if path.suffix not in {".png", ".woff2"}),
    ):
        links = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)) - {"http://www.w3.org"}
        assert not links
    assert " style=" not in html
    assert "<style" not in html


STATIC = Path(pi_controller.web.__file__).parent / "static"


def draw_table(view):
    """Return the scoreboard as HTML."""
    return page_of(view, ENGLISH).table(view)


def test_roles_hits_and_calls(view):
    told = view(**STATES["paguga"])
    shown, table = live_content(told, ENGLISH), draw_table(told)
    assert [pad.mark for pad in shown.pads] == ["", "struck", "", "found"]
    assert shown.pads[3].said == "second hit: found"
    assert [one.word for one in shown.calls] == ["Paguga", "Wheya"]
    assert shown.calls[1].sounds == "way-yaa · “going after”"
    assert re.findall(r'data-value="(\w*)" data-team', table) == ["turn", "waits"]
    assert re.findall(r'class="role">(\w+)<', table) == ["hides", "hits"]
    assert shown.news.lines[-1] == "Big Coulee 1, Long Hollow 2"
    assert shown.news.outcome.startswith("Second hit, pad 4: found. Called: Paguga, Wheya. ")


def test_pad_is_marked_after_its_seal_opens(view):
    def marks(view):
        return [pad.mark for pad in live_content(view, ENGLISH).pads]

    assert marks(view(commit="ab" * 32)) == [""] * 4
    assert marks(view(**STATES["opened"])) == ["", "bead", "", ""]
    assert live_content(view(**STATES["opened"]), ENGLISH).seal.state == "opened"
    assert marks(view(hide=4, opening=Opening(3, "ab" * 32, 2, "cd" * 32))) == [""] * 4


def test_strange_counts_do_not_break_the_page(view):
    table = draw_table(view(long={"A": 64, "B": 0}, middle=-2, short={"A": 12, "B": 0}, points=1))
    strokes = re.findall(r'class="(short|long) sticks"[^>]*>(.*?)</div>', table)
    lit = [(kind, row.count('"on"'), row.count("<i")) for kind, row in strokes]
    assert lit == [("short", 1, 1), ("long", 20, 20), ("long", 0, 20), ("short", 0, 1), ("long", 0, 20)]
    assert '<p class="count">64</p>' in table
