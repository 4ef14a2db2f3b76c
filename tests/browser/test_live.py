"""The live page in a real browser."""

from __future__ import annotations

import pytest
from headless import await_drawn

from pi_controller.table.view import Hit


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


def test_it_shows_the_state_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator(".sentence:not(.result)").inner_text() == "First hit: Long Hollow"
    assert page.locator(".team.a .long .on").count() == 8


def test_reduced_motion_stops_transitions(open_page):
    still = "getComputedStyle(document.querySelector('.sticks i'), '::before').transitionDuration"
    assert open_page(reduced_motion="reduce").evaluate(still) == "0s"
    assert open_page(reduced_motion="no-preference").evaluate(still) != "0s"
