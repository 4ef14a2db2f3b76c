from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

import pi_controller.web
from pi_controller.config.fields import contrast
from pi_controller.display.i18n import ENGLISH
from pi_controller.table.view import Hit, Opening, QuestionView
from pi_controller.web.live_page import make_board, page
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
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tree(HTMLParser):
    """Collects what carries which key, and complains about tags that do not close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, dict]] = []
        self.texts: dict[str, str] = {}
        self.marks: dict[str, str] = {}
        self.tags: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append((tag, told))
        if "data-state" in told:
            self.marks[told["data-state"]] = told["data-value"]
        if tag not in VOID:
            self.open.append((tag, told))
            if "data-live" in told:
                self.texts.setdefault(told["data-live"], "")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and "data-live" in self.open[-1][1]:
            self.texts[self.open[-1][1]["data-live"]] = data


def read(view):
    tree = Tree()
    tree.feed(page(make_board(view, ENGLISH), tr=ENGLISH, as_of="12:34:56"))
    tree.close()
    assert tree.open == []
    return tree


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_on_the_page(view, state):
    told = view(**STATES[state])
    content, tree = make_board(told, ENGLISH), read(told)
    assert {key: content.texts[key] for key in tree.texts if key != "as_of"} == {
        key: text for key, text in tree.texts.items() if key != "as_of"
    }
    assert {key: content.marks[key] for key in tree.marks} == tree.marks
    assert tree.texts["as_of"] == "12:34:56"


def test_the_page_uses_all_that_the_board_offers(view):
    content, tree = make_board(view(), ENGLISH), read(view())
    assert set(content.texts) - {"outcome", "score"} <= set(tree.texts)
    assert set(content.marks) - {"moment"} == set(tree.marks)


def test_team_names_cannot_become_markup(view):
    wicked = {"A": "<script>alert(1)</script>", "B": "\"' onload=x &amp; </title>"}
    html = page(make_board(view(teams=wicked, note="<img src=x>"), ENGLISH), tr=ENGLISH, as_of="")
    assert "<script>alert" not in html
    assert "<img" not in html
    tree = read(view(teams=wicked, note="<img src=x>"))
    assert [attrs for tag, attrs in tree.tags if tag == "script"] == [{"type": "module", "src": "/static/live.js"}]
    assert [unescape(name) for name in re.findall(r"<bdi>(.*?)</bdi>", html)] == list(wicked.values())


def test_page_works_without_scripts_or_external_links(view):
    html = page(make_board(view(), ENGLISH), tr=ENGLISH, as_of="")
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


def test_roles_hits_and_calls(view):
    shown = make_board(view(**STATES["paguga"]), ENGLISH)
    assert shown.marks["pad_2"] == "struck"
    assert shown.marks["pad_4"] == "found"
    assert shown.texts["pad_4"] == "second hit: found"
    assert shown.texts["call_1"] == "Paguga"
    assert shown.texts["sounds_2"] == "way-yaa · “going after”"
    assert re.findall(r'data-value="(\w*)" data-team', shown.table) == ["turn", "waits"]
    assert re.findall(r'class="role">(\w+)<', shown.table) == ["hides", "hits"]
    assert shown.texts["score"] == "Big Coulee 1, Long Hollow 2"
    assert shown.texts["outcome"].startswith("Second hit, pad 4: found. Called: Paguga, Wheya. ")


def test_pad_is_marked_after_its_seal_opens(view):
    before = make_board(view(commit="ab" * 32), ENGLISH)
    assert all(before.marks[f"pad_{pad}"] == "" for pad in range(1, 5))
    after = make_board(view(**STATES["opened"]), ENGLISH)
    assert after.marks["pad_2"] == "bead"
    assert after.marks["seal"] == "opened"
    next_hide = make_board(view(hide=4, opening=Opening(3, "ab" * 32, 2, "cd" * 32)), ENGLISH)
    assert all(next_hide.marks[f"pad_{pad}"] == "" for pad in range(1, 5))


def test_foul_is_explained_in_plain_words(view):
    assert make_board(view(**STATES["foul"]), ENGLISH).texts["meaning_1"] == "There was no bead under the pads."


def test_strange_counts_do_not_break_the_page(view):
    table = make_board(view(long={"A": 64, "B": 0}, middle=-2, short={"A": 12, "B": 0}, points=1), ENGLISH).table
    strokes = re.findall(r'class="(short|long) sticks"[^>]*>(.*?)</div>', table)
    lit = [(kind, row.count('"on"'), row.count("<i")) for kind, row in strokes]
    assert lit == [("short", 1, 1), ("long", 20, 20), ("long", 0, 20), ("short", 0, 1), ("long", 0, 20)]
    assert '<p class="count">64</p>' in table


def test_the_board_is_json(view):
    for state in STATES.values():
        msgspec.json.encode(make_board(view(**state), ENGLISH))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_colours_have_sufficient_contrast(scheme):
    css = (STATIC / "tokens.css").read_text("utf-8")
    blocks = re.findall(r":root \{([^}]*--ground[^}]*)\}", css)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme]))
    for text in ("ink", "soft", "a", "b"):
        assert contrast(colours[text], colours["ground"]) >= 4.5, text
        assert contrast(colours[text], colours["raised"]) >= 4.5, text
    for team in ("a", "b"):
        assert contrast(colours["on-team"], colours[team]) >= 4.5, team
    assert contrast(colours["ask"], colours["ask-ground"]) >= 4.5
    assert contrast(colours["ink"], colours["ask-ground"]) >= 4.5
    assert contrast(colours["wood"], colours["ground"]) >= 3, "large numbers and strokes"
