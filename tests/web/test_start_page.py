"""The page of a card's choice: who may, what is asked for each choice, what is refused, and what is sent."""

import pytest
from back_pages import CHOOSE, FIRST_START, HouseWithCard
from judge_house import say

from pi_controller.errors import UsageError
from pi_controller.web.start_page import StartChoice, StartResult


@pytest.fixture
def house(tmp_path):
    house = HouseWithCard(tmp_path)
    yield house
    house.close()


def test_start_page_is_for_the_head_judge_alone(house):
    body = {"use": "table", "network": "own", "country": "US"}
    with house.browser() as web:
        page = web.get("/judge/start")
        assert "sign-in" in page.text
        assert FIRST_START.password not in page.text
        assert web.post(CHOOSE, json=body).status_code == 401
    for name in ("Sam", "Jo", "Com"):
        with house.signed_in(name) as web:
            assert "/judge/start" not in web.get("/judge").text
            refused = web.get("/judge/start")
            assert refused.status_code == 403
            assert FIRST_START.password not in refused.text
            assert web.post(CHOOSE, json=body).status_code == 403
    with house.signed_in("Ann") as web:
        assert "/judge/start" in web.get("/judge").text
        assert FIRST_START.password in web.get("/judge/start").text
        web.headers["origin"] = "http://elsewhere.example"
        assert web.post(CHOOSE, json=body).status_code == 403
    assert house.start_desk.chosen == []


def test_no_public_page_has_the_password(house):
    with house.browser() as web:
        for path in ("/", "/room", "/find", "/view.json", "/check"):
            assert FIRST_START.password not in web.get(path).text


@pytest.mark.parametrize("restarts", ["machine", "table"])
def test_choice_is_applied_and_restarts_table_if_enough(house, restarts):
    house.start_desk.result = StartResult(restarts, network="Mat", password="secret one")
    with house.signed_in() as web:
        answer = web.post(CHOOSE, json={"use": "hub", "network": "own", "country": "CA"}).json()
    assert (answer["ok"], answer["restarts"], answer["password"]) == (True, restarts, "secret one")
    assert house.start_desk.chosen == [StartChoice("hub", "own", "CA")]
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
    assert house.start_desk.chosen == []


def test_refused_choice_returns_a_hint(house):
    house.start_desk.refuses = UsageError("this machine has no Wi-Fi", "plug in a cable")
    with house.signed_in() as web:
        refused = web.post(CHOOSE, json={"use": "table", "network": "own", "country": "US"})
    assert refused.status_code == 400
    assert refused.json()["error"]["hint"] == "plug in a cable"
    assert house.restarts == 0


def test_choice_during_a_game_needs_confirmation(house):
    body = {"use": "table", "network": "own", "country": "US"}
    with house.signed_in() as web:
        assert say(web, "key-toss", "action", action={"do": "toss", "winner": "A"}).status_code == 200
        refused = web.post(CHOOSE, json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "playing")
        assert house.start_desk.chosen == []
        assert web.post(CHOOSE, json={**body, "playing": True}).status_code == 200


def test_code_and_password_are_in_no_message():
    choice = StartChoice("gathering", "join", code="10.42.0.1 CODE", name="Hall", password=" my secret ")
    assert "secret" not in repr(choice)
    assert "CODE" not in repr(choice)
