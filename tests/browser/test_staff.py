"""The staff page on a phone and on the touch screen."""

import os
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from headless import await_drawn, wait_until
from served_installation import installed, sign_in_by_touch, type_pin

from pi_controller.exhibit.exhibit import EndedSession
from pi_controller.exhibit.staff_desk import HOME, READY_NOTICES
from pi_controller.exhibit.staff_setup import PATH, SETTINGS_PATH


def give_order(tab, selector):
    """Touch `selector` and wait until the page shows what came of it."""
    seq = int(tab.evaluate("document.documentElement.dataset.seq"))
    tab.click(selector)
    await_drawn(tab, seq + 1)


@pytest.mark.smoke
def test_corner_long_press_opens_touch_operated_staff_page(tmp_path, chromium):
    with installed(tmp_path, toml="usage = true\n") as (installation, url):
        tab = chromium.new_page(viewport={"width": 1080, "height": 1920}, reduced_motion="reduce")
        tab.clock.install()
        tab.goto(url)
        tab.mouse.move(20, 20)
        tab.mouse.down()
        tab.clock.run_for(1_000)
        tab.mouse.up()
        tab.clock.run_for(5_000)
        assert tab.url == f"{url}/", "a short press is nothing"
        tab.mouse.down()
        tab.clock.run_for(3_500)
        tab.mouse.up()
        tab.wait_for_url(f"**{HOME}")
        assert Axe().run(tab).violations_count == 0
        tab.click('[data-name="Head"]')
        type_pin(tab)
        installation.record_session(0.0, EndedSession("mat", "finished", 61.4, 7))
        wait_until(tab, lambda: installation.staff.page.shown.usage)
        tab.click("[type=submit]")
        await_drawn(tab)
        for width, height in ((390, 844), (1080, 1920), (1920, 1080)):
            tab.set_viewport_size({"width": width, "height": height})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            small = "[...document.querySelectorAll('button, a, input')].filter(e => e.offsetHeight < 44).length"
            assert tab.evaluate(small) == 0
            assert Axe().run(tab).violations_count == 0
        give_order(tab, f'[data-notice="{READY_NOTICES[0]}"]')
        assert tab.locator('[data-notice=""]').is_visible()
        assert installation.exhibit.stage.name == "notice"
        tab.clock.run_for(61_000)
        tab.wait_for_url(f"{url}/")
        tab.goto(url + HOME)
        assert tab.locator("#sign-in").is_visible()
        tab.clock.run_for(61_000)
        tab.wait_for_url(f"{url}/")
        tab.close()


def test_form_input_survives_ten_page_updates(tmp_path, chromium):
    with installed(tmp_path, toml="usage = true\n") as (installation, url):
        tab = chromium.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
        sign_in_by_touch(tab, url)
        offered = "[...document.querySelectorAll('main form, main button[data-do]')]"
        forms = tab.evaluate(f"{offered}.map(one => ({{id: one.id, ...one.dataset}}))")
        assert [one["id"] for one in forms if one["id"]] == ["own", "clock"]
        assert [one["do"] for one in forms if not one["id"]] == ["close", *["notice"] * len(READY_NOTICES), "sound"]
        tab.fill("#own input", "Back at noon")
        tab.fill("#clock input", "2026-12-24T18:30")
        for n in range(10):
            known = installation.staff.page.shown.csv
            installation.record_session(0.0, EndedSession("mat", "finished", 61.4, n))
            wait_until(tab, lambda known=known: installation.staff.page.shown.csv != known)
        assert tab.input_value("#own input") == "Back at noon"
        assert tab.input_value("#clock input") == "2026-12-24T18:30"
        typed = {
            "own": {"do": "notice", "notice": "Back at noon"},
            "clock": {"do": "clock", "now": "2026-12-24T18:30"},
        }
        sent = []
        no = {"error": {"message": "no", "hint": ""}}
        tab.route(
            "**/staff/do", lambda route: (sent.append(route.request.post_data_json), route.fulfill(status=409, json=no))
        )
        for n, form in enumerate(forms):
            with tab.expect_response("**/staff/do"):
                tab.locator("main :is(form button, button[data-do])").nth(n).click()
            assert sent.pop() == typed.get(form["id"], {key: form[key] for key in ("do", "notice") if key in form})
        tab.close()


@pytest.mark.slow
def test_the_first_hour_on_a_phone(tmp_path, chromium):
    with installed(tmp_path, toml="usage = true\n", file=True) as (installation, url):
        for kind in ("mat", "teams", "teams", "learn"):
            installation.record_session(time.time(), EndedSession(kind, "finished", 60.0, 3))
        tab = chromium.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
        sign_in_by_touch(tab, url)
        look(tab, "staff")
        tab.click(f'[href="{HOME}/problems"]')
        tab.wait_for_url(f"**{HOME}/problems")
        assert tab.locator(".steps").is_visible()
        look(tab, "problems")
        tab.goto(url + PATH)
        tab.click(f'[href="{SETTINGS_PATH}"]')
        tab.fill("#f-exhibit-opens", "09:00")
        save(tab)
        tab.wait_for_selector("#f-exhibit-closes[aria-invalid=true]")
        look(tab, "settings")
        tab.fill("#f-exhibit-closes", "17:00")
        tab.fill("#f-exhibit-dim_page", "0.5")
        assert tab.inner_text("#f-exhibit-dim_page + output") == "50 %"
        assert tab.get_attribute("#f-exhibit-usage", "role") == "switch"
        save(tab)
        tab.wait_for_url("**?saved")
        assert tab.locator("main > [role=status]").is_visible()
        assert installation.exhibit.section.opens == "09:00"
        assert installation.exhibit.section.dim_page == 0.5
        tab.goto(url + PATH)
        look(tab, "setup")
        tab.fill("#t-introduction", "Welcome.\nCome and play.")
        tab.click("#texts [type=submit]")
        tab.wait_for_url("**/preview/about")
        look(tab, "preview")
        assert installation.exhibit.host.texts.introduction == ""
        tab.click(".bar [data-do=texts]")
        wait_until(tab, lambda: installation.exhibit.host.texts.introduction.startswith("Welcome"))
        tab.close()


def save(tab):
    """Save the changed settings after a look at them."""
    tab.click("#look")
    tab.click("#send")


def look(tab, name):
    """Check the page on a phone and a small screen, and keep a picture where somebody wants pictures."""
    for width, height in ((800, 480), (390, 844)):
        tab.set_viewport_size({"width": width, "height": height})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
        if folder := os.environ.get("MOCCASIN_PICTURES"):
            tab.screenshot(path=f"{folder}/{name}-{width}x{height}.png", full_page=True)
    touched = (
        "[...document.querySelectorAll('main :is(button, .actions a, input, textarea):not([type=checkbox]), .bar *')]"
    )
    small = "filter(e => e.matches('button, a, input, textarea') && e.checkVisibility() && e.offsetHeight < 44)"
    assert tab.evaluate(f"{touched}.{small}.map(e => e.outerHTML)") == [], name
    found = Axe().run(tab)
    assert found.violations_count == 0, f"{name}: {found.generate_report()}"
