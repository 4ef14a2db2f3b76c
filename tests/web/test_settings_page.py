"""The settings in the browser: who may, what is saved, what is refused, and when the table starts again."""

import pytest
from back_pages import RESTART, SAVE, TEXT, HouseWithSettings
from judge_house import say
from visit import together

from pi_controller.config.edit import read_written
from pi_controller.journal.verify import verify_journal


@pytest.fixture
def house(tmp_path):
    house = HouseWithSettings(tmp_path)
    yield house
    house.close()


def version(house):
    return read_written(house.file)[1]


def save(web, house, changes, of=None):
    return web.post(SAVE, json={"version": of or version(house), "changes": changes})


def test_settings_are_for_the_head_judge_alone(house):
    with house.browser() as web:
        assert web.get("/judge/settings").status_code == 303
        assert save(web, house, {"web.event": "x"}).status_code == 401
        assert web.post(RESTART, json={}).status_code == 401
    for name in ("Sam", "Jo", "Com"):
        with house.signed_in(name) as web:
            assert "/judge/settings" not in web.get("/judge").text
            assert web.get("/judge/settings").status_code == 403
            assert save(web, house, {"web.event": "x"}).status_code == 403
            assert web.post(RESTART, json={"playing": True}).status_code == 403
    with house.signed_in("Ann") as web:
        assert "/judge/settings" in web.get("/judge").text
        assert web.get("/judge/settings").status_code == 200
        web.headers["origin"] = "http://elsewhere.example"
        assert save(web, house, {"web.event": "x"}).status_code == 403
    assert house.file.read_text("utf-8") == TEXT
    assert house.restarts == 0


def test_saving(house):
    with house.signed_in() as web:
        answer = save(web, house, {"web.event": "Gathering", "web.language": "dak"}).json()
        assert answer == {"ok": True, "version": version(house), "waits": True}
        assert house.file.read_text("utf-8") == '# by hand\n[web]\nlanguage = "dak" # English\nevent = "Gathering"\n'
        assert "Gathering" in web.get("/judge/settings").text


def test_invalid_settings_are_reported_per_key(house):
    with house.signed_in() as web:
        answer = save(web, house, {"strips.pin": 99, "voice.volume": 7})
        assert answer.status_code == 409
        assert set(answer.json()["error"]["issues"]) == {"strips.pin", "voice.volume"}
        for body in ({}, {"version": 1, "changes": {}}, {"version": "x", "changes": []}, {"version": "x"}, {"more": 1}):
            assert web.post(SAVE, json=body).status_code in {400, 409}
    assert house.file.read_text("utf-8") == TEXT


def test_two_heads_save_at_once(house):
    with house.signed_in() as one, house.signed_in() as two:
        sent = [
            (web, web.build_request("POST", SAVE, json={"version": version(house), "changes": {"web.event": name}}))
            for web, name in ((one, "one"), (two, "two"))
        ]
        saved, late = sorted(together(*sent), key=lambda answer: answer.status_code)
    assert (saved.status_code, late.status_code) == (200, 409)
    assert late.json()["error"]["code"] == "stale"


def test_passwords_are_not_on_the_page(house):
    house.file.write_text(
        '[hub]\naddress = "hub"\ntable = "t1"\npassword_file = "/srv/word"\nca = "/srv/hub.crt"\n'
        '[exhibit]\nheartbeat = "https://monitor.example/s3cr3t"\n',
        "utf-8",
    )
    with house.signed_in() as web:
        page = web.get("/judge/settings").text
    assert "/srv/word" not in page
    assert "/srv/hub.crt" not in page
    assert "s3cr3t" not in page


def test_unreadable_settings_file_is_reported_on_page(house):
    house.file.write_text("[web]\nport = 'x'\n", "utf-8")
    with house.signed_in() as web:
        assert "[web] port: must be" in web.get("/judge/settings").text


def test_restart_during_a_game_needs_confirmation(house):
    with house.signed_in() as web:
        answer = web.post(RESTART, json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "playing")
        assert house.restarts == 0
        assert web.post(RESTART, json={"playing": True}).status_code == 200
        assert house.restarts == 1


def test_head_judge_downloads_report_and_journal(house, tmp_path):
    with house.signed_in("Jo") as web:
        assert web.get("/judge/settings/report.zip").status_code == 403
        assert web.get("/judge/settings/journal.sqlite").status_code == 403
    with house.signed_in() as web:
        assert web.get("/judge/settings/report.zip").content.startswith(b"report: a table without a board")
        copy = tmp_path / "copy.sqlite"
        answer = web.get("/judge/settings/journal.sqlite")
        assert answer.status_code == 200, answer.text
        copy.write_bytes(answer.content)
        assert verify_journal(copy).whole
        assert say(web, "the-toss-1", "action", action={"do": "toss", "winner": "A"}).status_code == 200
        answer = web.get("/judge/settings/journal.sqlite")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "playing"), "a hide is in progress"
