"""Visitors for whom a screen is not made by itself: each plays on the page, or leaves it."""

import io

import numpy as np
import pytest
from exhibit_rig import STATES, STEP_S, Rig
from load_file import load_file
from PIL import Image
from served_exhibit import await_touch, served

from pi_controller.config.fields import luminance


def touch(tab, do, number):
    tab.tap(f'[data-do="{do}"]')


def press_number(tab, do, number):
    tab.keyboard.press(str(number))


def press_tab_and_enter(tab, do, number):
    for _ in range(20):
        if tab.evaluate("document.activeElement.getAttribute('data-do')") == do:
            break
        tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")


@pytest.mark.parametrize("choose", [pytest.param(touch, marks=pytest.mark.smoke), press_number, press_tab_and_enter])
def test_whole_game_is_played_one_way(chromium, choose):
    rig = Rig(1, hides=2, ask_after_s=600, answer_s=600)
    with served(rig) as (page, show):
        tab = chromium.new_page(viewport={"width": 1080, "height": 1920}, has_touch=True)
        tab.goto(page.url)

        def act(do):
            show(tab)
            turn = rig.exhibit.turn
            choose(tab, do, next(number for number, name in rig.exhibit.numbers.items() if name == do))
            await_touch(tab, show, lambda: rig.exhibit.turn != turn)

        act("start")
        act("game:mat")
        while rig.stage == "play":
            if rig.game.touches:
                act(rig.game.touches[0])
            rig.advance(STEP_S)
        show(tab)
        assert tab.locator("body").get_attribute("data-stage") == "result"
        assert tab.locator('[data-do="again"]').is_visible()
        act("leave")
        tab.close()
    assert rig.sessions[-1].ending == "finished"


BOXES = """() => [...document.querySelectorAll("[data-do]")].filter((one) => one.checkVisibility())
  .map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.top, box.bottom, box.width, box.height])"""


@pytest.mark.parametrize("state", STATES)
def test_touch_targets_are_reachable_seated_and_left_handed(chromium, state):
    tab = chromium.new_page(viewport={"width": 1920, "height": 1080})
    rig = STATES[state]()
    with served(rig) as (page, show):
        tab.goto(page.url)
        lefts = [left for left, *_ in tab.evaluate(BOXES)]
        rig.exhibit.low = True
        show(tab)
        if rig.exhibit.touches:
            assert min(lefts) < 1920 / 2, "something leads on that is not on the right"
        for width, height in ((1080, 1920), (1920, 1080)):
            tab.set_viewport_size({"width": width, "height": height})
            boxes = tab.evaluate(BOXES)
            assert boxes
            assert min(top for _, top, *_ in boxes) >= height / 2 - 0.5, width
            assert max(bottom for _, _, bottom, *_ in boxes) <= height + 0.5, width
            assert min(min(wide, high) for *_, wide, high in boxes) >= 44, width
    tab.close()


SEEN = ("achromatopsia", "protanopia", "deuteranopia", "tritanopia")


DISTINCT = 3.0
"""Contrast of parts of a picture that have to be told from each other (WCAG 2.2, 1.4.11)."""


def crop(tab, selector, size=None):
    """Return a part of the page as it is seen, as red, green and blue."""
    picture = Image.open(io.BytesIO(tab.locator(selector).first.screenshot())).convert("RGB")
    return np.asarray(picture.resize(size) if size else picture, dtype=float)


def shade(colour):
    """Return the luminance of a pixel."""
    return luminance("#" + bytes(int(one) for one in colour).hex())


def brightest_and_darkest(picture):
    flat = sorted(shade(one) for one in picture[::2, ::2].reshape(-1, 3))
    return flat[len(flat) // 20], flat[-len(flat) // 20 - 1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sides_and_aim_are_distinguishable_without_colour(chromium, scheme):
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab = context.new_page()
    eye = context.new_cdp_session(tab)
    with served(STATES["aiming"]()) as (page, _):
        tab.goto(page.url)
        for kind in SEEN:
            eye.send("Emulation.setEmulatedVisionDeficiency", {"type": kind})
            a, b = (crop(tab, f".bundle.{side} .shape", (24, 24)).mean(axis=2) for side in "ab")
            differ = np.mean(abs((a > a.mean()).astype(int) - (b > b.mean())))
            assert differ > 0.08, f"the badges are one picture: {differ:.2f}"
            low, high = brightest_and_darkest(crop(tab, ".bundle.a .shape"))
            assert (high + 0.05) / (low + 0.05) > DISTINCT, (kind, "badge")
            aimed, other = (
                np.median(crop(tab, f".pad{which} > .digit"), axis=(0, 1))
                for which in ("[data-aim]", ":not([data-aim])")
            )
            first, second = sorted(shade(one) for one in (aimed, other))
            assert (second + 0.05) / (first + 0.05) > DISTINCT, (kind, "the aimed cloth")
    context.close()


def test_tap_counts_while_another_finger_rests_on_screen(chromium):
    rig = STATES["hiding"]()
    with served(rig) as (page, show):
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
        tab = context.new_page()
        tab.goto(page.url)
        glass = context.new_cdp_session(tab)
        box = tab.locator('[data-do="pad:2"]').bounding_box()
        rests, taps = {"x": 640, "y": 20, "id": 0}, {"x": box["x"] + 40, "y": box["y"] + 90, "id": 1}
        for kind, points in (
            ("touchStart", [rests]),
            ("touchStart", [rests, taps]),
            ("touchEnd", [rests]),
            ("touchEnd", []),
        ):
            glass.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await_touch(tab, show, lambda: rig.game.awaits != "pads")
        context.close()


def test_screen_reader_hears_a_whole_visit(chromium):
    rig = Rig(4, hides=3)
    heard = []
    with served(rig) as (page, show):
        tab = chromium.new_page()
        tab.clock.install()
        tab.goto(page.url)
        listener = load_file("tests/browser/announcements.py").Listener(tab)

        def hear():
            show(tab)
            heard.extend(words for _, words in listener.hear(page.seq))

        hear()
        assert heard == [], "the demonstration is silent"
        for name in ("start", "game:mat"):
            assert rig.touch(name)
            hear()
        while rig.stage == "play":
            if rig.game.touches:
                rig.touch(rig.rng.choice(list(rig.game.touches)))
            rig.advance(STEP_S)
            hear()
        assert heard[0].startswith("How do you want to play?")
        settled = [one for one in heard if "Long sticks:" in one]
        assert len(settled) >= 3
        assert all("The bead was under cloth" in one or ": found." in one for one in settled)
        assert any("Your side" in one or "The mat" in one for one in heard[-1:])
        rig.advance(rig.exhibit.times.answer_s + 1)
        hear()
        assert tab.locator("body").get_attribute("data-stage") == "attract"
        assert tab.text_content("#news") == ""
        tab.close()
