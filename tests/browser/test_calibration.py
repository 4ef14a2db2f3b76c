"""The calibration's page in the machine's Chromium: live, quiet in the console, and no wider than the screen."""

import pytest
from headless import await_drawn

from pi_controller.calibration.steps import Bar, StepView, WalkView, make_fault
from pi_controller.display.i18n import ENGLISH
from pi_controller.tools.walk_page import WalkPage

BARS = tuple(Bar(f"pad {pad} middle", 0.25 * pad, "-30 dB, 3 of 5 taps", "now") for pad in range(1, 5))
STEPS = (
    StepView("empty", "The empty mat", "failed", wrong=(make_fault("magnetometer 17: dead " * 3, "check its plug"),)),
    StepView("taps", "Taps on each pad", "now"),
)
VIEW = WalkView(STEPS, 1, "Tap pad 1 with the stick 5 times, as lightly as should still count.", "a note", BARS, 1)


@pytest.mark.parametrize("width", [pytest.param(390, marks=pytest.mark.smoke), 1366, 1920])
def test_it_follows_the_walk_and_fits_the_screen(chromium, width):
    walk = WalkPage("127.0.0.1", 0, ENGLISH)
    walk.publish(VIEW)
    walk.start()
    page = chromium.new_page(viewport={"width": width, "height": 844})
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(walk.url)
        assert page.locator(".bar").count() == 4
        full = page.locator(".bar svg").nth(3).bounding_box()["width"]
        assert page.locator(".bar rect").nth(1).bounding_box()["width"] == pytest.approx(full / 2, rel=0.05)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        walk.publish(WalkView(STEPS, 1, "Tap pad 2.", bars=BARS, pad=2))
        await_drawn(page, walk.seq)
        assert page.locator(".sentence").text_content() == "Tap pad 2."
        assert page.locator("[data-region=said]").text_content() == "Tap pad 2."
        walk.publish(WalkView(STEPS, 2, "The mat is calibrated.", over=True, passed=True, saved="hall"))
        await_drawn(page, walk.seq)
        assert page.locator(".saved").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not complaints
    finally:
        page.close()
        walk.stop()
