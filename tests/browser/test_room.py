"""The room's page and the overlay, measured in Chromium: every box has its place on the screen, at every size.

One page goes through all phases and sizes as the server makes it, so that the whole costs a few seconds of processor.
"""

from __future__ import annotations

from itertools import product

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from cases import cases
from headless import draw_view
from made_views import change_view
from phases import DAKOTA, PHASES

from pi_controller.table.view import Hit
from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

SIZES = ((390, 844), (800, 480), (1024, 600), (1366, 768), (1920, 1080), (1080, 1920), (3840, 2160))
NEAR = 12
"""So far from the last stick a count may stand, px."""
WITH = PageSettings(
    "http://192.0.2.7:8080", "Pow Wow of the Lower River", "Table 2", "Our own rules prevail.", reach=True
)
NAMED = "header, .now, main > .team, .table .team, .mat, .tossed, .ring, .riders, .round, .end, .aside, footer"
"""The boxes of the page that divide the screen among them."""
MEASURE = """named => {
  const box = e => { const {left, top, right, bottom} = e.getBoundingClientRect(); return {left, top, right, bottom}; };
  const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && box(e).right > box(e).left
    && box(e).bottom > box(e).top;
  const name = e => e.tagName + "." + [...e.classList].join(".");
  const all = [...document.body.querySelectorAll("*")].filter(e => !e.closest(".unseen, svg *") && seen(e));
  const out = all.filter(e => { const b = box(e); return b.left < -1 || b.top < -1 || b.right > innerWidth + 1
    || b.bottom > innerHeight + 1; }).map(name);
  const boxes = all.filter(e => e.matches(named));
  const over = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
    const p = box(a), q = box(b);
    if (a.contains(b) || b.contains(a)) return;
    if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
      && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1) over.push(name(a) + " / " + name(b));
  }));
  const counts = [...document.querySelectorAll(".long.sticks + .count, .heap .sticks + b")].filter(seen).map(count => {
    const lit = [...count.previousElementSibling.querySelectorAll("i.on")].filter(seen), b = box(count);
    const last = lit.length ? box(lit.at(-1)) : null;
    return last && {count: count.textContent, beside: b.left - last.right, under: b.bottom - last.bottom,
      tall: last.bottom - last.top};
  }).filter(Boolean);
  const names = [...document.querySelectorAll(".who h2 bdi")].filter(seen)
    .filter(e => !e.closest(".seat, .middle"))
    .map(e => [parseFloat(getComputedStyle(e).fontSize), e.textContent.length]);
  const place = key => Object.fromEntries(boxes.map(e => [name(e), JSON.stringify(box(e))]));
  const cut = all.filter(e => e.matches("footer, .now") && e.scrollHeight > e.clientHeight + 1).map(name);
  return {out, over, counts, names, place: place(), cut,
    scroll: [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]};
}"""


def still(chromium):
    """Return a browser's page that stays as the server makes it."""
    tab = chromium.new_page()
    tab.route("**/live.js", lambda route: route.abort())  # without scripts it would load itself again
    return tab


@pytest.fixture
def room(chromium, feed):
    """Return what yields the page for the room, with a code or without one, measured in a phase and a size."""
    servers = {code: WebServer(feed, port=0, pages=WITH if code else PageSettings()) for code in (True, False)}
    for server in servers.values():
        server.start()
    tab = still(chromium)
    seq, current = 100, None

    def measure(phase, size, code=True):
        nonlocal seq, current
        tab.set_viewport_size({"width": size[0], "height": size[1]})
        if current != (phase, code):
            seq += 1
            feed.publish(msgspec.structs.replace(PHASES[phase], seq=seq))
            tab.goto(servers[code].url + "room")
            current = (phase, code)
        return tab.evaluate(MEASURE, NAMED)

    yield measure
    tab.close()
    for server in servers.values():
        server.stop()


def test_every_box_has_its_place(room):
    wrong = {}
    for (number, phase), size in product(enumerate(PHASES), SIZES):
        found = room(phase, size, code=number % 2 == 0)
        off = [c for c in found["counts"] if not (-1 <= c["beside"] <= NEAR and abs(c["under"]) <= NEAR)]
        flat = [c for c in found["counts"] if c["tall"] < 2 * NEAR * min(1, size[0] / 1000)]
        small = [
            name
            for name in found["names"]
            if name[0] < (72 if name[1] <= 14 else 34 if name[1] <= 44 else 28) and min(size) >= 1080
        ]
        faults = {
            "out": found["out"], "over": found["over"], "cut": found["cut"], "off": off, "flat": flat, "small": small,
            "scroll": [n for n in found["scroll"] if n > 0],
        }  # fmt: skip
        if any(faults.values()):
            wrong[phase, size] = {key: value for key, value in faults.items() if value}
    assert wrong == {}


@pytest.mark.parametrize("code", [True, False], ids=["code", "no-code"])
def test_room_boxes_do_not_move_between_phases(room, code):
    places = {}
    for phase in ("toss", "hide", "hit", "second", "show", "found", "asked", "foul", "point", "halted"):
        place = room(phase, (1920, 1080), code)["place"]
        places[phase] = {key.split(".")[1] + key[-2:]: value for key, value in place.items() if "." in key}
        places[phase].pop("footer", None)
    assert {str(sorted(place.items())) for place in places.values()} == {str(sorted(places["toss"].items()))}


def test_live_room_page_has_no_badge_or_hash(chromium, room, feed):
    room("hit", (1920, 1080))
    server = WebServer(feed, port=0)
    server.start()
    try:
        page = chromium.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(server.url + "room")
        assert not page.locator("#badge").is_visible()
        assert DAKOTA.commit[:8] not in page.locator("body").inner_text()
        page.close()
    finally:
        server.stop()


NOTE_TIMES = """() => {
    const timer = window.setTimeout;
    window.timers = [];
    window.setTimeout = (does, ms, ...more) => (ms >= 4000 ? (timers.push(ms), 0) : timer(does, ms, ...more));
    const animate = Element.prototype.animate;
    window.flights = [];
    Element.prototype.animate = function (frames, how) {
        flights.push(how.delay + how.duration);
        return animate.call(this, frames, how);
    };
}"""
"""Timers of four seconds and more are noted and never run, and flights are noted: a slow machine sees all of it."""


@pytest.mark.smoke
def test_sticks_fly_and_result_stays_four_seconds(open_page, feed):
    start = msgspec.structs.replace(PHASES["hit"], calls=(), opening=None)
    given = change_view(start, phase="hide", hide=8, hider="B", hits=(Hit(1, found=True),), long={"A": 4, "B": 9})
    given = msgspec.structs.replace(given, before=start.scoreboard)
    for motion in ("no-preference", "reduce"):
        page = open_page("room", size=(1920, 1080), reduced_motion=motion)
        draw_view(page, feed, start)
        page.evaluate(NOTE_TIMES)
        draw_view(page, feed, given)
        assert page.locator(".team.b .long .on").count() == 9
        flights = page.evaluate("flights")
        assert len(flights) == (4 if motion == "no-preference" else 0)
        assert all(0 < ms <= 800 for ms in flights)
        assert page.locator(".result").is_visible()
        assert all(4000 <= ms <= 5000 for ms in page.evaluate("timers"))
        assert len(page.evaluate("timers")) >= 1
        assert page.locator(".result").inner_text() == (
            "Found at the first hit: four sticks to Long Hollow, who hide next"
        )
        assert not page.locator(".sentence:not(.result)").is_visible()
        draw_view(page, feed, PHASES["asked"])
        assert not page.evaluate("document.body.dataset.result")
        assert page.locator(".sentence:not(.result)").inner_text() == "The judge decides", "it waits for nothing"
        page.close()


@pytest.mark.parametrize("path", ["room", "overlay"])
def test_room_phases_have_no_axe_violations(chromium, feed, path):
    server = WebServer(feed, port=0, pages=WITH)
    server.start()
    axe, found = Axe(), {}
    try:
        page = still(chromium)
        page.set_viewport_size({"width": 1366, "height": 768})
        for number, (phase, view) in enumerate(list(PHASES.items())[:: cases(2, 1)]):
            feed.publish(msgspec.structs.replace(view, seq=200 + number))
            page.emulate_media(color_scheme=("light", "dark")[number % 2], reduced_motion="reduce")
            page.goto(server.url + path)
            wrong = axe.run(page).response["violations"]
            if wrong:
                found[phase] = [(one["id"], one["nodes"][0]["html"][:150]) for one in wrong]
        page.close()
    finally:
        server.stop()
    assert found == {}
