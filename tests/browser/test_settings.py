"""The page of the settings in a browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from back_pages import TEXT, SettingsPages
from judge_house import sign_in
from served_house import ServedHouse

from pi_controller.config.edit import read_written


class HouseWithSettings(SettingsPages, ServedHouse):
    """A served house with a settings file and its page."""


@pytest.fixture
def house(tmp_path):
    house = HouseWithSettings(tmp_path)
    yield house
    house.close()


@pytest.fixture
def page(house, chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, base_url=house.origin)
    page = context.new_page()
    with house.browser() as web:
        sign_in(web)
        context.add_cookies(
            [{"name": name, "value": value, "url": f"{house.origin}/judge"} for name, value in web.cookies.items()]
        )
    page.goto("/judge/settings")
    yield page
    context.close()


@pytest.mark.smoke
def test_changes_are_checked_and_saved_in_browser(house, page):
    page.click("#s-web summary")
    page.fill("#f-web-event", "Gathering")
    page.fill("#f-web-idle_min", "9999")
    assert page.inner_text("#count") == "2 changes are not saved"
    page.click("#look")
    assert [row.split("\t") for row in page.locator("#rows tr").all_inner_texts()] == [
        ["Pages: Event", "empty", "Gathering"], ["Pages: Idle minutes", "30", "9999"],
    ]  # fmt: skip
    page.click("#send")
    page.wait_for_selector("#f-web-idle_min[aria-invalid=true]")
    assert "720" in page.inner_text("#f-web-idle_min-problem")
    assert house.file.read_text("utf-8") == TEXT
    page.fill("#f-web-idle_min", "60")
    page.click("#look")
    with page.expect_navigation():
        page.click("#send")
    assert page.is_visible("#waits")
    assert read_written(house.file)[0].web.idle_min == 60
    page.fill("#find", "current")
    assert page.locator(".setting:visible").count() == 1


def test_times_levels_and_switches_are_set_without_typing(house, page):
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    kinds = {one: page.get_attribute(f"#f-{one}", "type") for one in ("voice-quiet_from", "voice-volume", "web-judges")}
    assert kinds == {"voice-quiet_from": "time", "voice-volume": "range", "web-judges": "checkbox"}
    assert page.get_attribute("#f-voice-english", "role") == "switch"
    assert page.inner_text("#f-voice-volume + output") == "80 %"
    assert page.is_hidden("#save"), "nothing has changed by being shown"
    page.fill("#f-voice-quiet_from", "21:30")
    page.fill("#f-voice-quiet_to", "07:15")
    page.fill("#f-voice-volume", "0.55")
    page.click("#f-voice-english")
    page.click("#look")
    assert page.inner_text("#rows").split("\n") == [
        "Sound: English\toff\ton", "Sound: Volume\t80 %\t55 %",
        "Sound: Quiet from\tempty\t21:30", "Sound: Quiet to\tempty\t07:15",
    ]  # fmt: skip
    with page.expect_navigation():
        page.click("#send")
    voice = read_written(house.file)[0].voice
    assert (voice.quiet_from, voice.quiet_to, voice.volume, voice.english) == ("21:30", "07:15", 0.55, True)


@pytest.mark.parametrize("size", [(320, 568), (390, 844), (1366, 768), (1920, 1080)], ids=str)
def test_it_is_readable_and_fits(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # axe adds its script to the page, whose policy would not let it
    page.evaluate(Axe().axe_script)
    assert page.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
