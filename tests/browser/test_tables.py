"""The pages of the games with a score sheet in a real browser."""

from __future__ import annotations

import re
import time

import msgspec
import pytest
from headless import await_drawn
from played import GAMES, NAMES, SETTINGS, play

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases

SIZES = [(320, 640), (820, 1180), (1366, 768), (1920, 1080)]
EIGHT = {"players": "Ana,Bo,Chaska,Dawn,Eli,Fern,Gus,Hope"}
WIDE = {"A": "W" * 60, "B": "日本" * 30}


def await_layout(page, feed):
    """Wait for the newest view."""
    await_drawn(page, feed.latest.content.seq)
    assert page.locator(".sentence:not(.result)").text_content() == Phrases(ENGLISH).sentence(feed.latest.content)


@pytest.mark.smoke
def test_page_follows_play_and_switches_with_the_game(open_page, feed):
    page = open_page()
    view = play("ojibwe", 5, 30, seq=2)
    feed.publish(view)
    await_layout(page, feed)
    assert page.locator("main").get_attribute("data-layout") == "pads"
    strokes = page.locator('[data-team="B"] .long .on')
    assert strokes.count() == view.sheet["counters"]["B"]
    after = play("ojibwe", 5, 31, seq=3)
    feed.publish(after)
    await_drawn(page, 3)
    assert page.locator("[data-team=A] .long .on").count() == after.sheet["counters"]["A"]
    ring = play("patol", 1, 20, {"players": ",".join(NAMES)}, seq=4)
    feed.publish(ring)
    await_layout(page, feed)
    assert page.locator(".ring .stones circle").count() == 40
    assert page.locator("[data-player='3'] bdi").inner_text() == "<b>Č</b>"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_pages_never_scroll_sideways_and_fit_wide_screens(open_page, feed, size):
    feed.publish(play("slahal", 1, 0, seq=2))
    page = open_page(size=size, java_script_enabled=False)  # as the server makes it: with scripts it takes turns
    for seq, game in enumerate(GAMES, 3):
        plain = play(game, 4, 19, EIGHT if game in {"bageswin", "patol"} else {})
        wide = play(game, 4, 19, SETTINGS[game][1], teams=WIDE)
        for i, view in enumerate((plain, wide)):
            feed.publish(msgspec.structs.replace(view, seq=10 * seq + i))
            page.reload()
            assert page.locator(".sentence:not(.result)").inner_text() == Phrases(ENGLISH).sentence(view)
            assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
            if size[0] > 1300 and view is plain:
                assert page.evaluate("document.documentElement.scrollHeight") <= size[1], game


def test_time_left_counts_down_to_zero(open_page, feed):
    page = open_page(size=(390, 844))
    feed.publish(play("slahal", 5, 3, seq=2, ends=time.time() + 125.0))
    await_drawn(page, 2)
    assert page.locator(".clock").is_visible()
    assert re.fullmatch(r"[12]:\d\d", page.locator(".clock b").text_content())
    feed.publish(play("slahal", 5, 3, seq=3, ends=time.time() - 5.0))
    await_drawn(page, 3)
    assert page.locator(".clock b").text_content() == "0:00"
    feed.publish(play("slahal", 5, 3, seq=4, ends=1200.0))  # a simulated game's clock began at nothing
    await_drawn(page, 4)
    assert not page.locator(".clock").is_visible()
