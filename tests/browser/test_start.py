"""The page of a card's choice in a browser."""

from contextlib import contextmanager

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from back_pages import FIRST_START, CardPages
from cases import cases
from judge_house import PIN
from served_house import ServedHouse

from pi_controller.errors import UsageError
from pi_controller.web.start_page import StartChoice, StartResult

SIZES = [(390, 844), (800, 480), (1366, 768)]
STATES = {
    "first start": {},
    "no Wi-Fi": {"wifi": False, "network": "cable", "name": "", "password": ""},
    "in the hub's Wi-Fi": {"use": "gathering", "network": "join", "name": "Hub", "password": ""},
    "joined": {"use": "gathering", "chosen": True, "at_hub": "t02 at 10.42.0.1", "country": "CA"},
    "a hub": {
        "use": "both", "chosen": True, "hub": True, "at_hub": "t01 at 127.0.0.1", "fingerprint": ":".join(["AB"] * 32)
    },
}  # fmt: skip
OTHERS = "() => document.documentElement.scrollWidth > innerWidth"


def in_state(name):
    return msgspec.structs.replace(FIRST_START, **STATES[name])


class HouseWithCard(CardPages, ServedHouse):
    """A served house whose table runs from a card."""


@pytest.fixture
def house(tmp_path):
    house = HouseWithCard(tmp_path)
    yield house
    house.close()


@contextmanager
def opened(chromium, house, size=SIZES[0], **how):
    """Open the page with the head judge signed in; it is ready when its script has taken over."""
    how = {"locale": "en-US", "reduced_motion": "reduce", **how}
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, **how)
    complaints = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{house.origin}/judge/start")
    page.locator("[data-name=Ann]").click()
    for digit in PIN:
        page.locator(f"[data-digit='{digit}']").click()
    page.locator(".keypad .main").click()
    page.wait_for_selector("#save[aria-disabled=false]")
    yield page
    context.close()
    assert complaints == []


def choose(page, use=None, network=None):
    for group, value in (("use", use), ("network", network)):
        if value is not None:
            page.locator(f"[name={group}][value={value}]").check()


def save(page):
    page.locator("#save").click()
    page.wait_for_selector("#done:not([hidden]), #trouble:not(:empty)")


@pytest.mark.smoke
def test_sign_in_returns_and_two_touches_choose_table(house, chromium):
    house.start_desk.result = StartResult("machine", network=FIRST_START.name, password=FIRST_START.password)
    with opened(chromium, house) as page:
        assert page.url.endswith("/judge/start")
        choose(page, "table")
        save(page)
        assert page.locator("#told").get_attribute("data-restarts") == "machine"
        assert page.locator("#own-password").text_content() == FIRST_START.password
    assert house.start_desk.chosen == [StartChoice("table", "own", "US")]


def test_gathering_table_asks_for_wifi_then_code(house, chromium):
    house.start_desk.result = StartResult("machine", code_later=True)
    with opened(chromium, house) as page:
        choose(page, "gathering")
        assert page.locator("[name=network][value=join]").is_checked(), "the hub is in another network"
        assert not page.locator("#code").is_visible()
        assert page.locator("#later").is_visible()
        page.locator("#name").fill("Hub")
        page.locator("#password").fill("correct horse")
        save(page)
    house.start_desk.card = in_state("in the hub's Wi-Fi")
    house.start_desk.result = StartResult("table")
    with opened(chromium, house) as page:
        page.locator("#code").fill("10.42.0.1 0000-0000-0000-0000-0000")
        save(page)
        assert page.locator("#told").get_attribute("data-restarts") == "table"
    first, second = house.start_desk.chosen
    assert first == StartChoice("gathering", "join", "US", "", "Hub", "correct horse")
    assert second == StartChoice("gathering", "join", "US", "10.42.0.1 0000-0000-0000-0000-0000", "Hub", "")


def test_refused_choice_stays_on_page_until_corrected(house, chromium):
    with opened(chromium, house) as page:
        save(page)
        assert page.locator("#trouble").text_content()
        house.start_desk.refuses = UsageError("the hub does not answer", "check the address")
        choose(page, "table")
        page.locator("#save").click()
        page.wait_for_function("() => document.getElementById('trouble').textContent.includes('address')")
        house.start_desk.refuses = None
        save_again = page.locator("#save")
        save_again.click()
        page.wait_for_selector("#done:not([hidden])")
    assert [one.use for one in house.start_desk.chosen] == ["table"]


@pytest.mark.parametrize("state", STATES)
def test_everybody_can_read_it_on_every_screen(house, chromium, state):
    house.start_desk.card = in_state(state)
    for size in SIZES:
        with opened(chromium, house, size) as page:
            assert not page.evaluate(OTHERS)
            assert page.locator("[name=network][value=own]").is_disabled() == (not house.start_desk.card.wifi)
            if size in cases(SIZES[:1], SIZES):
                found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
                assert [one["id"] for one in found] == []
