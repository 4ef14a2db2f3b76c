"""The public pages in a real Chromium: they follow the table, come back by themselves, and can be read by everybody."""

from __future__ import annotations

import hashlib
import io
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec
import pytest
import zxingcpp
from axe_playwright_python.sync_playwright import Axe
from headless import await_drawn, draw_view
from phases import BOUND, DAKOTA, NONCE, PHASES, SEAL
from PIL import Image
from played import play
from ports import free_port

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.commitment import commitment
from pi_controller.table.view import Hit, Opening
from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

OPENED = Opening(7, SEAL, 4, NONCE.hex(), *BOUND)
AFTER = msgspec.structs.replace(PHASES["show"], opening=OPENED, seq=50)
STRIPS = {
    "bottom": {"called": (48, 728, 1824, 120), "situation": (48, 856, 1824, 56), "score": (48, 920, 1824, 112)},
    "top": {"score": (48, 48, 1824, 112), "situation": (48, 168, 1824, 56), "called": (48, 232, 1824, 120)},
}
"""Where the overlay's strips stand at 1920 x 1080, as its style sheet promises: left, top, width, height."""


def follow(page, feed, view, **changed):
    """Publish `view` with `changed` and wait until `page` has drawn it."""
    draw_view(page, feed, view, **changed)
    assert page.locator(".sentence:not(.result)").text_content() == Phrases(ENGLISH).sentence(view)


def badge_is(page, value):
    page.wait_for_function("value => document.getElementById('badge').dataset.value === value", arg=value)


@pytest.mark.parametrize("path", ["room", "overlay"])
def test_it_follows_the_table_from_game_to_game(open_page, feed, path):
    page = open_page(path)
    for name in ("show", "ojibwe", "slahal", "bageswin", "plum_stone", "patol"):
        follow(page, feed, PHASES[name])
        assert page.title().endswith(page.locator("h1").text_content())
        assert page.locator("h1").text_content() != ""
    assert page.locator("[data-player='3'], .cells li").count() >= 1


@pytest.mark.smoke
def test_pages_reconnect_after_restart_with_last_event_id(open_page, feed, server, view):
    live, room, over = pages = [open_page(path) for path in ("", "room", "overlay")]
    open_page.outage = True
    for page in pages:
        badge_is(page, "live")
        assert page.locator(".sentence:not(.result)").text_content() == "First hit: Long Hollow"
    assert not over.locator("#badge").is_visible(), "the overlay tells only what is wrong"
    last = feed.latest.id
    server.stop()
    for page in pages:
        badge_is(page, "stale")
        assert page.locator("#badge").is_visible()
        assert "as of" in page.locator("#badge").inner_text()
    room.evaluate("document.getElementById('as-of').textContent = '01:02:03'")
    room.wait_for_event("requestfailed")  # it tries again
    assert room.locator("#as-of").inner_text() == "01:02:03", "it stands while the table is not heard"
    feed.publish(view(seq=9, owed="second", hits=(Hit(1, found=False),)))
    again = WebServer(feed, port=server.port)
    again.start()
    try:
        for page in pages:
            await_drawn(page, 9)
            badge_is(page, "live")
            assert page.locator(".sentence:not(.result)").text_content() == "Second hit: Long Hollow"
        assert room.locator("#as-of").inner_text() != "01:02:03"
        returned = [parse_qs(urlsplit(url).query) for url in open_page.asked if "last=" in url]
        assert all(query["last"] == [last] for query in returned)
        assert {query.get("page", [""])[0] for query in returned} == {"", "room", "overlay"}
        for event, badge in (("offline", "stale"), ("online", "live")):
            live.evaluate("name => dispatchEvent(new Event(name))", event)
            badge_is(live, badge)
        for page in pages:
            page.close()
    finally:
        again.stop()


@pytest.mark.parametrize("place", STRIPS)
def test_the_overlay_is_clear_but_for_its_strips(open_page, feed, place):
    page = open_page(f"overlay?place={place}", size=(1920, 1080))
    for name in ("wide", "slahal", "bageswin"):
        follow(page, feed, PHASES[name], calls=("game",) * 3, ends=None, limit=None)
        for strip, (left, top, width, height) in STRIPS[place].items():
            assert page.locator(f"section.{strip}").bounding_box() == dict(
                zip(("x", "y", "width", "height"), (left, top, width, height), strict=True)
            )
        shot = Image.open(io.BytesIO(page.screenshot(omit_background=True)))
        alpha = shot.getchannel("A")
        assert all(alpha.crop((x, y, x + w, y + h)).getextrema()[1] == 255 for x, y, w, h in STRIPS[place].values())
        for left, top, width, height in STRIPS[place].values():
            alpha.paste(0, (left, top, left + width, top + height))
        assert alpha.getextrema() == (0, 0), "something is drawn outside the strips"


@pytest.mark.parametrize("path", ["", "room", pytest.param("overlay", marks=pytest.mark.smoke)])
def test_stopped_clock_has_pause_sign_and_running_none(open_page, feed, path):
    page, now = open_page(path, size=(1920, 1080)), feed.clock()
    how = """() => [...document.querySelectorAll(".clock b")].filter((b) => b.textContent)
        .map((b) => [getComputedStyle(b).textDecorationLine, getComputedStyle(b, "::before").content])"""
    for name, stood, sign in (("hit", None, "none"), ("second", now, '""')):
        follow(page, feed, PHASES[name], since=now, limit=600.0, stood=stood)
        assert page.evaluate(how) == [["none", sign]], name


@pytest.mark.smoke
def test_the_codes_lead_to_the_pages(chromium, feed):
    port = free_port()
    server = WebServer(feed, port=port, pages=PageSettings(f"127.0.0.1:{port}"))
    server.start()
    try:
        tab = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
        for path, wanted in (("find", ["", "room", "check", "overlay"]), ("room", [""])):
            tab.goto(server.url + path)
            codes = [
                zxingcpp.read_barcode(Image.open(io.BytesIO(one.screenshot())))
                for one in tab.locator("svg.segno").all()
            ]
            assert [code.text for code in codes if code] == [server.url + one for one in wanted]
            assert all(httpx.get(code.text, trust_env=False).status_code == 200 for code in codes if code)
        tab.close()
    finally:
        server.stop()


def verdict(page):
    show_arithmetic(page)
    page.click("#check")
    visible = [one for one in page.locator("#verdict [data-verdict]").all() if one.is_visible()]
    assert len(visible) == 1
    return page.locator("#verdict").get_attribute("data-value")


def show_arithmetic(page):
    if page.locator("#arithmetic[open]").count() == 0:
        page.click("#arithmetic summary")


@pytest.mark.parametrize(
    ("nonce", "answer"),
    [pytest.param(NONCE.hex(), "match", marks=pytest.mark.smoke), ("f" + NONCE.hex()[1:], "differ")],
)
def test_check_page_verifies_last_seal_on_load(open_page, feed, nonce, answer):
    seal = commitment("dakota", 7, 4, NONCE, BOUND)
    opening = Opening(7, seal, 4, nonce, *BOUND)
    feed.publish(msgspec.structs.replace(DAKOTA, seq=9, commit=None, opening=opening))
    page = open_page("check", size=(390, 844))
    page.wait_for_selector(f"#verdict[data-value={answer}]")
    assert "7" in page.inner_text(".lead")
    assert "4" in page.inner_text(".lead")
    assert page.locator("#verdict").bounding_box()["y"] < 400, "above what explains it"
    assert not page.locator("#nonce").is_visible()


@pytest.mark.parametrize(("game", "pad"), [("dakota", 4), ("ojibwe", 1), ("slahal", 13)])
def test_true_seal_matches_and_changed_seal_differs(open_page, feed, game, pad):
    seal = commitment(game, 7, pad, NONCE, BOUND)
    view = DAKOTA if game == "dakota" else play(game, 1, 4)
    opening = Opening(7, seal, pad, NONCE.hex(), *BOUND)
    feed.publish(msgspec.structs.replace(view, seq=9, commit=None, opening=opening))
    page = open_page("check", size=(390, 844))
    assert verdict(page) == "match"
    assert page.locator("[data-witness=unseen]").is_visible(), "this browser never had the live page open"
    changed = {"hide": "8", "pad": "2", "nonce": "f" + NONCE.hex()[1:], "hash": seal[:-1] + "0123456789abcdef"[
        (int(seal[-1], 16) + 1) % 16]}  # fmt: skip
    page.fill("#table", "another")
    assert verdict(page) == "differ"
    page.fill("#table", BOUND.table)
    changed |= {"epoch": "1f" + BOUND.epoch[2:], "event": "42"}
    for name, wrong in changed.items():
        right = page.input_value(f"#{name}")
        page.fill(f"#{name}", wrong)
        assert verdict(page) == "differ"
        assert not page.locator("#witness span:visible").count()
        page.fill(f"#{name}", f" {right.upper()} ")
        assert verdict(page) == "match"
    page.select_option("#game", next(other for other in ("slahal", "dakota") if other != game))
    assert verdict(page) == "differ"
    for name in ("hash", "nonce", "pad", "hide", "event", "epoch"):
        page.fill(f"#{name}", "x")
        assert verdict(page) == f"bad_{name}"
        assert page.evaluate("document.activeElement.id") == name


def test_phone_that_saw_seal_before_hit_is_witness(open_page, feed):
    feed.publish(msgspec.structs.replace(DAKOTA, seq=2))
    page = open_page(size=(390, 844))
    assert page.locator(".seal dd code").first.text_content() == SEAL
    feed.publish(msgspec.structs.replace(AFTER, commit=None))
    await_drawn(page, AFTER.seq)
    assert page.locator(".seal").get_attribute("data-value") == "opened"
    page.click("footer a[href='/check']")
    assert verdict(page) == "match"
    assert page.locator("[data-witness=seen]").is_visible()
    assert page.locator("[data-witness=seen] time").inner_text()[-1:].isalnum()


def test_its_sha256_is_sha256(open_page):
    page = open_page("check")
    inputs = [bytes(i * n % 251 for i in range(n)) for n in (*range(150), 1000, 4096)]
    made = page.evaluate(
        "async all => { const { sha256 } = await import('/static/sha256.js');"
        " return all.map(one => sha256(Uint8Array.from(one))); }",
        [list(one) for one in inputs],
    )
    assert made == [hashlib.sha256(one).hexdigest() for one in inputs]


@pytest.mark.parametrize("path", ["", "find", "check"])
def test_public_pages_have_no_axe_violations(open_page, feed, path):
    axe, found = Axe(), {}
    states = ("show",) if path else ("asked", "slahal", "patol")
    feed.publish(msgspec.structs.replace(PHASES[states[0]], opening=OPENED, seq=2))
    page = open_page(path, size=(1366, 768) if path == "find" else (390, 844), reduced_motion="reduce")
    for seq, state in enumerate(states, 3):
        if seq > 3:
            follow(page, feed, PHASES[state])
        if path == "check":
            show_arithmetic(page)
            page.fill("#hash", "0" * 64)
            assert verdict(page) == "differ"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found[state, scheme] = axe.run(page).response["violations"]
    if path == "check":
        page.fill("#hash", SEAL)
        assert verdict(page) == "match"
        found["match", scheme] = axe.run(page).response["violations"]
    assert {key: [(one["id"], one["nodes"][0]["html"]) for one in wrong] for key, wrong in found.items() if wrong} == {}


FOLD = """([width, height]) => {
  const seen = one => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen");
  const named = one => one.className.baseVal ?? one.className;
  const found = [];
  if (document.documentElement.scrollWidth > width) found.push(["wide", document.documentElement.scrollWidth]);
  for (const one of document.querySelectorAll("main *, header *, footer *")) {
    const box = one.getBoundingClientRect();
    if (!seen(one) || one.closest("svg")) continue;
    if (box.left < -1 || box.right > width + 1) found.push(["beside", named(one), box.right]);
  }
  const counts = ".sentence, .call, .pads, .team, .ring, .seats, .bowl";
  for (const one of document.querySelectorAll(counts)) {
    const { bottom } = one.getBoundingClientRect();
    if (seen(one) && bottom > height) found.push(["below", named(one), bottom]);
  }
  return found;
}"""


def test_phone_page_fits_essentials_above_the_fold(open_page, feed, server):
    page = open_page(size=(390, 844))
    found = {}
    for name, view in PHASES.items():
        if name in {"wide", "asked", "bageswin"}:  # names of forty letters, a long question, eight who play
            continue
        page.goto("about:blank")  # a page that is there follows to another game by itself
        feed.publish(msgspec.structs.replace(view, seq=1000))
        page.goto(server.url)
        if faults := page.evaluate(FOLD, [390, 844]):
            found[name] = faults
    assert found == {}


def test_sound_plays_result_tones_after_being_enabled(open_page, feed):
    page = open_page(size=(390, 844))
    page.evaluate("""() => { window.tones = [];
      window.AudioContext = class { currentTime = 0; destination = {}; async close() {}
        createGain() { const gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
          return { gain, connect: one => one } }
        createOscillator() { const frequency = { value: 0 };
          return { frequency, connect: one => one, stop() {}, start() { tones.push(frequency.value) } } } } }""")

    follow(page, feed, PHASES["hit"])
    follow(page, feed, PHASES["show"])
    assert page.evaluate("tones") == []
    page.click("#sound")
    page.wait_for_selector("#sound[aria-pressed=true]")
    follow(page, feed, PHASES["asked"])
    follow(page, feed, PHASES["over"])
    assert page.evaluate("tones") == [880, 523, 659, 392, 523, 659]
    page.click("#sound")
    page.wait_for_selector("#sound[aria-pressed=false]")
    follow(page, feed, PHASES["show"])
    assert page.evaluate("tones.length") == 6


def test_the_page_can_be_installed(open_page, server):
    page = open_page(size=(390, 844))
    manifest = page.evaluate("""async () => {
      const found = await fetch(document.querySelector("link[rel=manifest]").href);
      const content = await found.json();
      const width = async one => {
        const image = await (await fetch(one.src)).blob();
        return (await createImageBitmap(image).catch(() => ({ width: 0 }))).width;
      };
      const icons = await Promise.all(content.icons.map(width));
      return [found.headers.get("content-type"), content.start_url, content.display, icons];
    }""")
    assert manifest == ["application/manifest+json", "/", "standalone", [0, 180, 512]]
    protocol = page.context.new_cdp_session(page)
    assert protocol.send("Page.getAppManifest")["errors"] == []
