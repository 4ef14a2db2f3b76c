"""The chances of winning on the page: there only where the table shows them, beside the view and never in it."""

from __future__ import annotations

import re

import msgspec
import pytest
from played import play, view_of

from pi_controller.display.chances_bar import ChancesBar, ShownChances
from pi_controller.rules import registry
from pi_controller.web.feed import BLOCK, Feed, event
from pi_controller.web.live_page import make_board, page
from pi_controller.web.server import WebServer

TEAMS = ShownChances(0.624)


def html(view, chances=None):
    whole = page(make_board(view, chances=chances), language="en", as_of="")
    return re.search(r'<section class="chances".*?</section>', whole, re.DOTALL)[0]


def test_bar_is_empty_without_chances(view):
    for shown in (view(), play("patol", 1, 5), play("ojibwe", 1, 5)):
        said = html(shown)
        assert 'data-state="chances" data-value=""' in said
        assert re.sub(r"<[^>]*>", "", said).strip() == ""
        assert "<i" not in said


def test_bar_names_each_team_and_its_chance(view):
    said = html(view(), TEAMS)
    words = re.sub(r"<[^>]*>", " ", said).split()
    assert " ".join(words) == (
        "Chance of winning if hitters guess by luck: first hit 25 %, second hit 33.3 %; no fouls "
        "A Big Coulee 62 % B Long Hollow 38 %"
    )
    assert said.count('<i class="on">') == 62
    assert said.count("<i") == 100


def test_team_names_are_escaped(view):
    said = html(view(teams={"A": "Ana", "B": "<b>Bo</b>"}), TEAMS)
    assert "<bdi" in said
    assert "&lt;b&gt;Bo&lt;/b&gt;" in said


def test_chances_change_no_other_part_of_page(view):
    plain, shown = make_board(view()), make_board(view(), chances=TEAMS)
    for part in ("texts", "marks", "counts"):
        one, two = getattr(plain, part), getattr(shown, part)
        assert {key: text for key, text in one.items() if "chances" not in key} == {
            key: text for key, text in two.items() if "chances" not in key
        }
        assert set(one) == set(two), "the script patches by the same keys"


def test_the_feed_keeps_it_beside_the_view():
    bar, game = ChancesBar(registry.game("dakota")), registry.game("dakota")
    feed, plain = Feed(bar.look_up), Feed()
    tossed, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    sheet = game.sheet(tossed)
    shown = {key: sheet[key] for key in ("hider", "long", "middle", "short", "owed")}
    view = view_of("dakota", sheet, phase="hide", points=5, **shown)
    for one in (feed, plain):
        one.publish(view)
    assert plain.latest.chances is None
    assert feed.latest.chances == bar.look_up(view)
    sent = event(feed.latest, "en")
    assert len(sent) % BLOCK == 0
    body = msgspec.json.decode(re.search(rb"^data: (.*)$", sent, re.MULTILINE)[1])
    assert body["view"] == msgspec.json.decode(msgspec.json.encode(view))
    assert b"hance" not in msgspec.json.encode(view)
    assert body["counts"]["chances"] == [feed.latest.chances.percents[0], 100]
    assert body["marks"]["chances"] == "yes"


@pytest.mark.chromium
@pytest.mark.parametrize(("scripts", "width"), [(True, 390), (False, 1366), (True, 1920)])
def test_the_bar_in_a_browser(chromium, view, scripts, width):
    told = {1: ShownChances(0.3), 2: ShownChances(0.75)}
    feed = Feed(lambda view: told.get(view.seq))
    server = WebServer(feed, port=0)
    server.start()
    try:
        feed.publish(view(seq=1))
        context = chromium.new_context(viewport={"width": width, "height": 800}, java_script_enabled=scripts)
        tab = context.new_page()
        tab.goto(server.url)

        def bar():
            # all at once: without scripts the page loads itself anew every few seconds
            bar, share, *lit = tab.locator(".chances").evaluate(
                """bar => [bar, bar.querySelector('.share'), ...bar.querySelectorAll('.share .on')]
                  .map(one => one.getBoundingClientRect().width)"""
            )
            assert bar <= width
            return round(100 * sum(lit) / share)

        assert abs(bar() - 30) <= 1
        assert tab.locator(".side.b b").inner_text() == "70 %"
        feed.publish(view(seq=2))
        if scripts:
            tab.wait_for_function("() => document.querySelector('.side.a b').textContent === '75 %'")
        else:
            tab.reload()
        assert abs(bar() - 75) <= 1
        feed.publish(view(seq=3, phase="over", winner="A"))
        if scripts:
            tab.wait_for_function("() => document.querySelector('.chances').dataset.value === ''")
        else:
            tab.reload()
        assert not tab.locator(".chances").is_visible()
        context.close()
    finally:
        server.stop()


@pytest.mark.chromium
def test_long_names_run_over_no_side(chromium, view):
    feed = Feed(lambda _: TEAMS)
    feed.publish(view(teams={"A": "W" * 40, "B": "日本" * 20}))
    server = WebServer(feed, port=0)
    server.start()
    try:
        tab = chromium.new_page()
        for width in (320, 390, 683, 820, 1366, 1920):
            tab.set_viewport_size({"width": width, "height": 768})
            tab.goto(server.url)
            assert tab.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), width
            assert tab.locator(".share").bounding_box()["width"] >= 150
            for side in "ab":
                box = tab.locator(f".side.{side} b").bounding_box()
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
        tab.close()
    finally:
        server.stop()
