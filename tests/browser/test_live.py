"""The live page in a real browser."""

from __future__ import annotations

import msgspec
import pytest
from headless import await_drawn
from phases import PHASES

from pi_controller.table.view import Hit, QuestionView
from pi_controller.web.server import WebServer

WIDE = {"A": "W" * 60, "B": "日本" * 30}
SIZES = [(320, 640), (390, 844), (683, 384), (820, 1180), (1366, 768), (1920, 1080)]


def count(page, team):
    return page.locator(f".team.{team} .count").text_content()


@pytest.mark.smoke
def test_the_numbers_change_as_the_table_plays(open_page, feed, view):
    page = open_page()
    assert count(page, "a") == "8"
    feed.publish(
        view(
            seq=2,
            long={"A": 12, "B": 0},
            middle=8,
            short={"A": 2, "B": 2},
            calls=("paguga",),
            hits=(Hit(2, found=False), Hit(4, found=True)),
            teams={"A": "<b>Big</b> Coulee", "B": "Long Hollow"},
        )
    )
    await_drawn(page, 2)
    assert count(page, "a") == "12"
    assert page.locator(".team.a .long .on").count() == 12
    assert page.locator(".team.a .short .on").count() == 2
    assert page.locator(".team.a h2").inner_text() == "<b>Big</b> Coulee"
    assert page.locator(".pads li").nth(3).get_attribute("data-value") == "found"
    page.wait_for_function(
        "() => document.querySelector('[role=status]').textContent.endsWith(' <b>Big</b> Coulee 2, Long Hollow 2.')"
    )
    assert page.locator(".word").first.inner_text() == "Paguga"
    assert page.title() == "2–2 Hampa Apena"
    feed.publish(view(seq=3, phase="over", winner="A", points=3, short={"A": 3, "B": 2}))
    await_drawn(page, 3)
    assert page.locator(".sentence").text_content() == "Big Coulee wins, 3 to 2"
    assert page.locator(".team.a .short i").count() == 3
    assert page.locator("main").get_attribute("data-phase") == "over"


def wait_for_badge(page, value):
    page.wait_for_function("value => document.getElementById('badge').dataset.value === value", arg=value)


@pytest.mark.smoke
def test_broken_stream_shows_stale_badge_and_reconnects(open_page, feed, server, view):
    page = open_page()
    open_page.outage = True
    server.stop()
    wait_for_badge(page, "stale")
    assert page.locator("#badge").inner_text().startswith("Not live")
    feed.publish(view(seq=5, long={"A": 10, "B": 2}))
    again = WebServer(feed, port=server.port)
    again.start()
    try:
        await_drawn(page, 5)
        wait_for_badge(page, "live")
        assert count(page, "a") == "10"
        page.evaluate("dispatchEvent(new Event('offline'))")
        wait_for_badge(page, "stale")
        page.evaluate("dispatchEvent(new Event('online'))")
        wait_for_badge(page, "live")
        page.close()
    finally:
        again.stop()


def test_it_shows_the_state_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator(".sentence:not(.result)").inner_text() == "First hit: Long Hollow"
    assert page.locator(".team.a .long .on").count() == 8


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_page_never_scrolls_sideways(open_page, feed, view, size):
    page = open_page(size=size)
    states = [
        view(seq=2, teams=WIDE, calls=("paguga", "eyeya_obojun", "game"), commit="ab" * 32),
        view(
            seq=3, teams=WIDE, question=QuestionView("passes_unsure", ("foul", "play_on", "hide_again"), (1, 2, 3, 4))
        ),
        view(seq=4, phase="halted", note="x" * 200),
    ]
    for state in states:
        feed.publish(state)
        await_drawn(page, state.seq)
        assert page.locator(".note").all_text_contents() == [state.note] * bool(state.note)
        assert page.locator(".question").count() == bool(state.question)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0


def test_every_phase_fits_a_projector_without_scrolling(open_page, feed):
    page = open_page(size=(1920, 1080), java_script_enabled=False)
    tall = {}
    for seq, (name, view) in enumerate(PHASES.items(), 2):
        feed.publish(msgspec.structs.replace(view, seq=seq))
        page.reload()
        tall[name] = page.evaluate("document.documentElement.scrollHeight") - 1080
    # "wide" has names of the widest letters, as long as they may be, and two calls of many words
    assert {name: over for name, over in tall.items() if over > 1 and name != "wide"} == {}


def test_reduced_motion_stops_transitions(open_page):
    still = "getComputedStyle(document.querySelector('.sticks i'), '::before').transitionDuration"
    assert open_page(reduced_motion="reduce").evaluate(still) == "0s"
    assert open_page(reduced_motion="no-preference").evaluate(still) != "0s"
