"""The walk on a page: served, escaped, pushed, and gone when the walk is."""

import json

import pytest
from event_stream import Stream
from travel import travelling
from visit import visitor

from pi_controller.calibration.steps import Bar, StepView, WalkView, make_fault
from pi_controller.display.i18n import ENGLISH
from pi_controller.tools.walk_page import WalkPage, render_walk

VIEW = WalkView(
    steps=(
        StepView("empty", "The empty mat", "failed", wrong=(make_fault("<b>strip</b> & more", "do 'this'"),)),
        StepView("taps", "Taps on each pad", "now"),
    ),
    at=1,
    ask="Tap pad 1 <script>",
    note="a & b",
    bars=(Bar("pad <1>", 0.5, "-30 dB", "now"),),
)


@pytest.fixture
def page():
    page = WalkPage("127.0.0.1", 0, ENGLISH)
    page.publish(VIEW)
    return page


@pytest.fixture
def web(page):
    with travelling() as loop, visitor(page._server.app, loop) as client:
        yield client


def test_every_text_is_escaped():
    html = render_walk(VIEW, ENGLISH)
    assert "<script>" not in html
    assert "<b>" not in html
    assert "pad &lt;1&gt;" in html
    assert 'width="50"' in html


@pytest.mark.parametrize("share", [-1.0, 2.0, 0.0, 1.0])
def test_a_bar_stays_in_its_frame(share):
    html = render_walk(WalkView(steps=(), at=0, ask="", bars=(Bar("x", share, ""),)), ENGLISH)
    assert 'width="0"' in html or 'width="100"' in html


def test_the_page_is_complete_without_its_script(web):
    answer = web.get("/")
    assert "Tap pad 1 &lt;script&gt;" in answer.text
    assert "The empty mat" in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    for name in ("tokens.css", "style.css", "icon.svg", "calibrate.css", "calibrate.js"):
        assert web.get(f"/static/{name}").text


def test_unknown_path_and_post_are_refused(web):
    assert web.get("/static/live.html").status_code == 404
    assert web.post("/", content=b"x").status_code == 405


def test_changes_are_pushed_until_server_stops(page, web):
    with web.stream("GET", "/events") as response:
        events = Stream(response)
        assert "Taps on each pad" in json.loads(events.next("walk")["data"])["regions"]["walk"]
        page.publish(VIEW)  # nothing new
        page.publish(WalkView(steps=(), at=0, ask="next", over=True))
        told = json.loads(events.next("walk")["data"])
        assert (told["regions"]["said"], told["over"]) == ("next", True)
        page._feed.end_streams()
        events.end()
