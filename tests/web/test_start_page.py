"""The page of a card's choice: who may, what is asked for each choice, what is refused, and what is sent."""

import threading
from contextlib import contextmanager

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from cases import cases
from judge_house import PIN, say
from served_house import ServedHouse as House

from pi_controller.errors import UsageError
from pi_controller.web.start_page import CardState, StartChoice, StartPage, StartResult, parse_choice, start_routes

CHOOSE = "/judge/start/choose"
COUNTRIES = {"CA": "Canada", "US": "United States"}
SIZES = [(390, 844), (800, 480), (1366, 768)]
FIRST = CardState(
    use="",
    chosen=False,
    network="own",
    name="Moccasin Mat 4829",
    password="52ej-v6kr-r7xg",
    country="",
    wifi=True,
    countries=COUNTRIES,
)
STATES = {
    "first start": FIRST,
    "no Wi-Fi": msgspec.structs.replace(FIRST, wifi=False, network="cable", name="", password=""),
    "in the hub's Wi-Fi": msgspec.structs.replace(FIRST, use="gathering", network="join", name="Hub", password=""),
    "joined": msgspec.structs.replace(FIRST, use="gathering", chosen=True, at_hub="t02 at 10.42.0.1", country="CA"),
    "a hub": msgspec.structs.replace(
        FIRST, use="both", chosen=True, hub=True, at_hub="t01 at 127.0.0.1", fingerprint=":".join(["AB"] * 32)
    ),
}
OTHERS = "() => document.documentElement.scrollWidth > innerWidth"


class MockDesk:
    """Remembers what was chosen; `refuses` is the next error, `result` what is told else."""

    def __init__(self):
        self.card, self.chosen, self.refuses = FIRST, [], None
        self.result = StartResult("machine")

    def describe(self):
        return self.card

    def apply(self, choice):
        if self.refuses is not None:
            raise self.refuses
        self.chosen.append(choice)
        return self.result


class HouseWithCard(House):
    """A house whose table runs from a card; `restarts` counts how often it was to start again."""

    def __init__(self, folder):
        self.desk, self.restarts = MockDesk(), 0
        super().__init__(folder)

    def restart(self):
        self.restarts += 1

    def _play(self, opened):
        house = self

        class Opened(threading.Event):
            """The console is made, and its server does not run yet."""

            def set(self):
                api = house.judges.api
                page = StartPage(api, house.judges.command_queue, house.desk, house.restart)
                house.judges.routes.extend(start_routes(page))
                api.has_start = True
                opened.set()

        super()._play(Opened())


@pytest.fixture
def house(tmp_path):
    made = HouseWithCard(tmp_path)
    yield made
    made.close()


def test_start_page_is_for_the_head_judge_alone(house):
    body = {"use": "table", "network": "own", "country": "US"}
    with house.browser() as web:
        page = web.get("/judge/start")
        assert "sign-in" in page.text
        assert FIRST.password not in page.text
        assert web.post(CHOOSE, json=body).status_code == 401
    for name in ("Sam", "Jo", "Com"):
        with house.signed_in(name) as web:
            assert "/judge/start" not in web.get("/judge").text
            refused = web.get("/judge/start")
            assert refused.status_code == 403
            assert FIRST.password not in refused.text
            assert web.post(CHOOSE, json=body).status_code == 403
    with house.signed_in("Ann") as web:
        assert "/judge/start" in web.get("/judge").text
        assert FIRST.password in web.get("/judge/start").text
        web.headers["origin"] = "http://elsewhere.example"
        assert web.post(CHOOSE, json=body).status_code == 403
    assert house.desk.chosen == []


def test_no_public_page_has_the_password(house):
    with house.browser() as web:
        for path in ("/", "/room", "/find", "/view.json", "/check"):
            assert FIRST.password not in web.get(path).text


@pytest.mark.parametrize("restarts", ["machine", "table"])
def test_choice_is_applied_and_restarts_table_if_enough(house, restarts):
    house.desk.result = StartResult(restarts, network="Mat", password="secret one")
    with house.signed_in() as web:
        answer = web.post(CHOOSE, json={"use": "hub", "network": "own", "country": "CA"}).json()
    assert (answer["ok"], answer["restarts"], answer["password"]) == (True, restarts, "secret one")
    assert house.desk.chosen == [StartChoice("hub", "own", "CA")]
    assert house.restarts == (restarts == "table")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"use": "table"},
        {"use": "boss", "network": "own"},
        {"use": "table", "network": "pigeon"},
        {"use": ["table"], "network": "own"},
        {"use": "table", "network": "own", "country": 7},
        {"use": "table", "network": "own", "code": "x" * 201},
        {"use": "table", "network": "own", "more": 1},
    ],
)
def test_malformed_choice_is_refused(house, body):
    with house.signed_in() as web:
        refused = web.post(CHOOSE, json=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "invalid"
    assert house.desk.chosen == []


def test_refused_choice_returns_a_hint(house):
    house.desk.refuses = UsageError("this machine has no Wi-Fi", "plug in a cable")
    with house.signed_in() as web:
        refused = web.post(CHOOSE, json={"use": "table", "network": "own", "country": "US"})
    assert refused.status_code == 400
    assert refused.json()["error"]["todo"] == "plug in a cable"
    assert house.restarts == 0


def test_choice_during_a_game_needs_confirmation(house):
    body = {"use": "table", "network": "own", "country": "US"}
    with house.signed_in() as web:
        assert say(web, "key-toss", "action", action={"do": "toss", "winner": "A"}).status_code == 200
        refused = web.post(CHOOSE, json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "playing")
        assert house.desk.chosen == []
        assert web.post(CHOOSE, json={**body, "playing": True}).status_code == 200


def test_code_and_password_are_in_no_message():
    choice, _ = parse_choice(
        {"use": "gathering", "network": "join", "password": " my secret ", "code": "10.42.0.1 CODE", "name": "Hall "}
    )
    assert (choice.password, choice.name) == (" my secret ", "Hall")
    assert "secret" not in repr(choice)
    assert "CODE" not in repr(choice)


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


@pytest.mark.chromium
def test_sign_in_returns_and_two_touches_choose_table(house, chromium):
    house.desk.result = StartResult("machine", network=FIRST.name, password=FIRST.password)
    with opened(chromium, house) as page:
        assert page.url.endswith("/judge/start")
        choose(page, "table")
        save(page)
        assert page.locator("#told").get_attribute("data-restarts") == "machine"
        assert page.locator("#own-password").text_content() == FIRST.password
    assert house.desk.chosen == [StartChoice("table", "own", "US")]


@pytest.mark.chromium
def test_gathering_table_asks_for_wifi_then_code(house, chromium):
    house.desk.result = StartResult("machine", code_later=True)
    with opened(chromium, house) as page:
        choose(page, "gathering")
        assert page.locator("[name=network][value=join]").is_checked(), "the hub is in another network"
        assert not page.locator("#code").is_visible()
        assert page.locator("#later").is_visible()
        page.locator("#name").fill("Hub")
        page.locator("#password").fill("correct horse")
        save(page)
    house.desk.card, house.desk.result = STATES["in the hub's Wi-Fi"], StartResult("table")
    with opened(chromium, house) as page:
        page.locator("#code").fill("10.42.0.1 0000-0000-0000-0000-0000")
        save(page)
        assert page.locator("#told").get_attribute("data-restarts") == "table"
    first, second = house.desk.chosen
    assert first == StartChoice("gathering", "join", "US", "", "Hub", "correct horse")
    assert second == StartChoice("gathering", "join", "US", "10.42.0.1 0000-0000-0000-0000-0000", "Hub", "")


@pytest.mark.chromium
def test_refused_choice_stays_on_page_until_corrected(house, chromium):
    with opened(chromium, house) as page:
        save(page)
        assert page.locator("#trouble").text_content()
        house.desk.refuses = UsageError("the hub does not answer", "check the address")
        choose(page, "table")
        page.locator("#save").click()
        page.wait_for_function("() => document.getElementById('trouble').textContent.includes('address')")
        house.desk.refuses = None
        save_again = page.locator("#save")
        save_again.click()
        page.wait_for_selector("#done:not([hidden])")
    assert [one.use for one in house.desk.chosen] == ["table"]


@pytest.mark.chromium
@pytest.mark.parametrize("state", STATES)
@pytest.mark.slow
def test_everybody_can_read_it_on_every_screen(house, chromium, state):
    house.desk.card = STATES[state]
    for size in SIZES:
        with opened(chromium, house, size) as page:
            assert not page.evaluate(OTHERS)
            assert page.locator("[name=network][value=own]").is_disabled() == (not house.desk.card.wifi)
            if size in cases(SIZES[:1], SIZES):
                found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
                assert [one["id"] for one in found] == []
