"""The walk on a page: served, escaped, pushed, and gone when the walk is."""

import json
import threading
import urllib.error
import urllib.request

import pytest

from pi_controller.calibration.run import WalkPage, render_walk
from pi_controller.calibration.steps import Bar, Finding, StepView, WalkView

VIEW = WalkView(
    steps=(
        StepView("empty", "The empty mat", "failed", wrong=(Finding("<b>strip</b> & more", "do 'this'"),)),
        StepView("taps", "Taps on each pad", "now"),
    ),
    at=1,
    ask="Tap pad 1 <script>",
    note="a & b",
    bars=(Bar("pad <1>", 0.5, "-30 dB", "now"),),
)


@pytest.fixture
def page():
    page = WalkPage("127.0.0.1", 0)
    page.publish(VIEW)
    page.start()
    yield page
    page.stop()


def got(page, path=""):
    with urllib.request.urlopen(page.url + path, timeout=60) as answer:
        return answer.read().decode(), answer.headers


def test_every_text_is_escaped():
    html = render_walk(VIEW)
    assert "<script>" not in html
    assert "<b>" not in html
    assert "pad &lt;1&gt;" in html
    assert 'width="50"' in html


@pytest.mark.parametrize("share", [-1.0, 2.0, 0.0, 1.0])
def test_a_bar_stays_in_its_frame(share):
    html = render_walk(WalkView(steps=(), at=0, ask="", bars=(Bar("x", share, ""),)))
    assert 'width="0"' in html or 'width="100"' in html


def test_the_page_is_complete_without_its_script(page):
    html, headers = got(page)
    assert "Tap pad 1 &lt;script&gt;" in html
    assert "The empty mat" in html
    assert "script-src 'self'" in headers["content-security-policy"]
    for name in ("tokens.css", "style.css", "icon.svg", "calibrate.css", "calibrate.js"):
        assert got(page, f"static/{name}")[0]


def test_unknown_path_and_post_are_refused(page):
    with pytest.raises(urllib.error.HTTPError) as caught:
        got(page, "static/live.html")
    assert caught.value.code == 404
    caught.value.close()
    request = urllib.request.Request(page.url, data=b"x")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=60)
    assert caught.value.code == 405
    caught.value.close()


def event(stream):
    lines = {}
    while (line := stream.readline().decode()) not in {"\n", ""}:
        key, _, text = line.rstrip("\n").partition(": ")
        lines[key] = text
    return lines


def test_changes_are_pushed_until_server_stops(page):
    with urllib.request.urlopen(page.url + "events", timeout=60) as stream:
        assert "retry" in event(stream)
        first = event(stream)
        assert first["event"] == "walk"
        assert "Taps on each pad" in json.loads(first["data"])["html"]
        page.publish(VIEW)  # nothing new
        page.publish(WalkView(steps=(), at=0, ask="next", over=True))
        assert json.loads(event(stream)["data"]) | {"html": ""} == {"html": "", "said": "next", "over": True}
        stopper = threading.Thread(target=page.stop)
        stopper.start()
        assert stream.read() == b""
        stopper.join(10)
        assert not stopper.is_alive()
