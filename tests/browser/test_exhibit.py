"""The installation's page in a real Chromium: read by everybody on every screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from cases import cases
from exhibit_rig import STATES, STEP_S, Rig
from screen_faults import FAULTS, GLASS, INSTALLED, TWICE, WIDE_LETTERS, drawn_screens
from served_exhibit import await_touch, served

from pi_controller.exhibit.exhibit import AWAKE_S
from pi_controller.exhibit.host_files import HostTexts

SIZES = {"phone": (390, 844), "portrait": (1080, 1920), "projector": (1920, 1080)}


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_read_by_everybody_and_fits(chromium, state):
    scheme = ("light", "dark")[list(STATES).index(state) % 2]
    with served(STATES[state]()) as (page, _):
        tab = chromium.new_page(color_scheme=scheme, reduced_motion="reduce")
        tab.goto(page.url)
        for size, (width, height) in SIZES.items():
            tab.set_viewport_size({"width": width, "height": height})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, size
            small = tab.evaluate(
                "[...document.querySelectorAll('[data-do]')].filter(e => e.getBoundingClientRect().height < 44)"
                ".map(e => e.textContent)"
            )
            assert small == [], size
            if size != "phone":
                assert tab.evaluate("document.body.scrollHeight") <= height, size
        found = Axe().run(tab)
        assert found.violations_count == 0, f"{scheme}: {found.generate_report()}"
        tab.close()


def test_every_screen_fits_every_kiosk_display(chromium):
    screens = drawn_screens()
    assert {one["stage"] for one in screens} == {"attract", "choose", "about", "play", "result", "rest", "notice"}
    with served(STATES["choose"]()) as (page, _):
        tab = chromium.new_page(reduced_motion="reduce", bypass_csp=True)
        tab.route("**/exhibit.js", lambda route: route.abort())  # the screens are put in from here
        tab.goto(page.url)
        if not tab.evaluate(INSTALLED):
            pytest.skip("no DejaVu letters on this machine")
        tab.add_style_tag(content=WIDE_LETTERS)
        for width, height in GLASS[:: cases(2, 1)]:
            tab.set_viewport_size({"width": width, "height": height})
            for low in (False, True):
                assert tab.evaluate(FAULTS, [screens, low]) == [], (width, height, low)
        tab.close()


@pytest.mark.parametrize("size", [(800, 480), (1280, 800), (1920, 1080), (1080, 1920)])
def test_screens_stay_whole_at_twice_the_text_size(chromium, size):
    screens = drawn_screens()[:: cases(6, 1)]
    with served(STATES["choose"]()) as (page, _):
        tab = chromium.new_page(reduced_motion="reduce", bypass_csp=True)
        tab.route("**/exhibit.js", lambda route: route.abort())  # the screens are put in from here
        tab.goto(page.url)
        tab.add_style_tag(content=TWICE + WIDE_LETTERS)
        tab.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        letters = tab.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
        assert letters == pytest.approx(2 * max(16, 0.0225 * min(size)))
        assert tab.evaluate(FAULTS, [screens, False, True]) == []
        tab.close()


END = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const sticks = [...document.querySelectorAll(".lies i")].map((one) => one.getBoundingClientRect());
  return {
    size: parseFloat(getComputedStyle(document.querySelector("h1")).fontSize),
    from: Math.min(...sticks.map((one) => one.left)), to: Math.max(...sticks.map((one) => one.right)),
    count: sticks.length, cloths: document.querySelectorAll(".pad").length,
    lines: document.querySelectorAll(".went > svg polyline").length,
    names: [...document.querySelectorAll(".went bdi")].map((one) => one.textContent),
    wide: box(".went > svg").width,
  };
}"""
"""How the end of a game lies on the page."""


@pytest.mark.parametrize("points", [1, 5])
def test_end_has_large_name_sticks_and_course(chromium, points):
    rig = Rig(3, points=points, hides=8)
    rig.begin("mat")
    rig.play_on()
    with served(rig) as (page, _):
        tab = chromium.new_page(viewport={"width": 1920, "height": 1080})
        tab.goto(page.url)
        end = tab.evaluate(END)
        tab.close()
    board = rig.game.view.scoreboard
    won = max(board.scores.values())
    assert end["size"] >= 150
    assert end["cloths"] == 0
    assert end["count"] == (won or max(board.stakes.values()))
    assert end["from"] < 1920 * 0.1
    assert end["to"] > 1920 * 0.9
    assert (end["lines"], end["names"]) == (2, ["Your side", "The mat"])
    assert end["wide"] > 1920 * 0.9


MOVED = """() => {
  const timing = new Set(["offset", "computedOffset", "easing", "composite"]);
  return document.getAnimations().filter((one) => one.animationName !== "more")
    .flatMap((one) => one.effect.getKeyframes()).flatMap((frame) => Object.keys(frame))
    .filter((name) => !timing.has(name));
}"""
"""The properties that movements on the page change, without the arrow of a page that scrolls."""


@pytest.mark.parametrize("reduced", ["no-preference", "reduce"])
def test_animations_use_transform_and_opacity_unless_motion_reduced(chromium, reduced):
    rig = STATES["aiming"]()
    moved = set()
    with served(rig) as (page, show):
        tab = chromium.new_page(viewport={"width": 1920, "height": 1080}, reduced_motion=reduced)
        tab.goto(page.url)
        while rig.game.view.phase != "show":
            rig.advance(STEP_S)
            show(tab)
            moved |= set(tab.evaluate(MOVED))
        tab.close()
    assert moved == (set() if reduced == "reduce" else {"transform", "opacity"})


def test_touch_starts_an_animation_at_once(chromium):
    with served(STATES["hiding"]()) as (page, _):
        tab = chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(page.url)
        for touched in ('[data-do="pad:2"]', "[data-do=leave]"):
            moves = tab.evaluate(
                """(name) => {
                  const touched = document.querySelector(name);
                  touched.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
                  const moved = touched.closest(".pad, button").getAnimations();
                  return [moved.length, document.querySelector(".ring").getAnimations().length];
                }""",
                touched,
            )
            assert min(moves) > 0, "before the browser shows its next picture"
        tab.close()


STRIKE = """async () => {
  const pad = document.querySelector(".pad");
  const moving = () => pad.getAnimations({ subtree: true });
  const ended = (all) => Promise.all(all.map((one) => one.finished));
  pad.dataset.aim = "";
  await ended(moving());
  const before = await updates();
  delete pad.dataset.aim;
  pad.dataset.value = "struck";
  const strikes = moving().filter((one) => one.animationName?.startsWith("strike"));
  await ended(strikes);
  return [strikes.length, (await updates()) - before];
}"""
"""Aim at a cloth and strike it: how much moved, and how often the page's own thread updated its styles meanwhile."""


def count_style_updates(metrics):
    found = metrics.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in found if one["name"] == "RecalcStyleCount")


def test_stick_animation_needs_no_main_thread(chromium):
    with served(STATES["aiming"]()) as (page, _):
        tab = chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(page.url)
        tab.wait_for_function("() => !document.querySelector('.pad').getAnimations({ subtree: true }).length")
        metrics = tab.context.new_cdp_session(tab)
        metrics.send("Performance.enable")
        tab.expose_function("updates", lambda: count_style_updates(metrics))
        moved, updates = tab.evaluate(STRIKE)
        assert moved == 2, "the stick and its shadow"
        assert updates < 35, "at its start and its end, and not in each of 54 frames"
        tab.close()


STARVED = """
const now = performance.now.bind(performance);
window.later = 0;
performance.now = () => now() + later;
window.setInterval = () => 0;
"""
"""A browser that is too slow for its page draws what comes, and no timer goes off; `later`: so many ms have passed."""


def test_page_with_starved_timers_still_sends_heartbeat(chromium):
    rig = STATES["aiming"]()
    with served(rig) as (page, show):
        tab = chromium.new_page()
        tab.add_init_script(STARVED)
        with tab.expect_request("**/here"):
            tab.goto(page.url)
        tab.evaluate("() => { later = 15_000; }")
        rig.advance(120)
        with tab.expect_request("**/here"):
            show()
        tab.close()


def test_overflowing_screen_scrolls_and_arrow_indicates_more(chromium):
    rig = STATES["about"]()
    rig.exhibit.host.texts = HostTexts(introduction="The game as it was told here.\n" * 60)
    with served(rig) as (page, _):
        tab = chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(page.url)
        arrow = "getComputedStyle(document.querySelector('.choices'), '::before').visibility"
        assert tab.evaluate("document.scrollingElement.scrollHeight") > 1500
        assert tab.evaluate("getComputedStyle(document.documentElement).scrollbarWidth") == "none"
        tab.wait_for_function(f"() => {arrow} === 'visible'")
        for do in ("start", "leave"):
            box = tab.locator(f"[data-do={do}]").bounding_box()
            assert box["y"] > 0
            assert box["y"] + box["height"] <= 800
        tab.evaluate("scrollTo(0, document.body.scrollHeight)")
        tab.wait_for_function(f"() => {arrow} === 'hidden'")
        assert tab.locator("[data-do=low]").bounding_box()["y"] < 800
        tab.set_viewport_size({"width": 1280, "height": 8000})
        tab.wait_for_function(f"() => {arrow} === 'hidden'")
        tab.close()


def test_page_is_black_while_off_until_a_touch(chromium):
    rig = STATES["rest"]()
    with served(rig) as (page, show):
        tab = chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(page.url)
        shade = "getComputedStyle(document.body, '::after').opacity"
        assert tab.evaluate(shade) == "0"
        rig.advance(AWAKE_S + 1)
        show(tab)
        assert tab.evaluate(shade) == "1"
        tab.mouse.click(640, 300)
        await_touch(tab, show, lambda: not rig.exhibit.screen_off)
        show(tab)
        assert tab.evaluate(shade) == "0"
        tab.close()


def test_page_reconnects_and_language_changes_by_touch(chromium):
    rig = Rig(languages=("en", "oj"))
    with served(rig) as (page, show):
        tab = chromium.new_page()
        tab.goto(page.url)
        tab.click('[data-do="language:oj"]')
        await_touch(tab, show, lambda: rig.exhibit.language == "oj")
        show(tab)
        assert tab.evaluate("document.documentElement.lang") == "oj"
        tab.close()
