"""The settings in the browser: who may, what is saved, what is refused, and the table started again."""

import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from judge_house import PIN, say, sign_in
from ports import free_port
from served_house import ServedHouse as House

from pi_controller.config.edit import read_written, save_changes
from pi_controller.journal.verify import verify_journal
from pi_controller.web.accounts import FILE, PinHasher, Users
from pi_controller.web.settings_page import SettingsPage, settings_routes

SAVE, RESTART = "/judge/settings/save", "/judge/settings/restart"
TEXT = '# by hand\n[web]\nlanguage = "en" # English\n'


class HouseWithSettings(House):
    """A house with a settings file and its page; `restarts` counts how often it was to start again."""

    def __init__(self, folder):
        self.file = folder / "table.toml"
        self.file.write_text(TEXT, "utf-8")
        self.restarts = 0
        super().__init__(folder)

    def report(self, told):
        return f"report: {told}".encode()

    def add_page(self):
        def restart():
            self.restarts += 1

        def save(changes, version):
            return save_changes(self.file, changes, version)

        page = SettingsPage(
            self.judges.api,
            self.judges.command_queue,
            self.file,
            restart,
            save,
            self.settings.table.journal,
            self.report,
        )
        self.judges.routes.extend(settings_routes(page))
        self.judges.api.has_settings = True

    def _play(self, opened):
        house = self

        class Opened(threading.Event):
            """The console is made, and its server does not run yet."""

            def set(self):
                house.add_page()
                opened.set()

        super()._play(Opened())


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
        assert house.file.read_text("utf-8") == '# by hand\n[web]\nevent = "Gathering"\nlanguage = "dak" # English\n'
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
        of = version(house)
        answers = []
        threads = [
            threading.Thread(target=lambda web=web, n=n: answers.append(save(web, house, {"web.event": n}, of)))
            for web, n in ((one, "one"), (two, "two"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        (late,) = [answer for answer in answers if answer.status_code == 409]
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


def test_in_a_browser(house, page):
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


@pytest.mark.parametrize("size", [(320, 568), (390, 844), (1366, 768), (1920, 1080)], ids=str)
def test_it_is_readable_and_fits(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # axe adds its script to the page, whose policy would not let it
    page.evaluate(Axe().axe_script)
    assert page.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []


def test_the_program_starts_again_with_the_new_settings(tmp_path):
    port, file = free_port(), tmp_path / "table.toml"
    file.write_text(f'[web]\nport = {port}\njudges = true\n[board]\nport = "none"\n', "utf-8")
    users = Users(tmp_path / FILE)
    users.add("Ann", "head", PinHasher(1, 8).hash(PIN))
    users.close()
    command = [sys.executable, "-m", "pi_controller", "run", "--settings", file]
    table = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        origin = f"http://127.0.0.1:{port}"

        def answers(text):
            for _ in range(600):
                try:
                    if text in httpx.get(f"{origin}/room", timeout=5).text:
                        return True
                except httpx.HTTPError:
                    pass
                time.sleep(0.1)
            return False

        assert answers("room.css")
        with httpx.Client(base_url=origin, headers={"origin": origin}, timeout=20) as web:
            assert sign_in(web).status_code == 200
            assert say(web, "toss-it-1", "action", action={"do": "toss", "winner": "A"}).status_code == 200
            changes = {"web.event": "Gathering"}
            assert web.post(SAVE, json={"version": read_written(file)[1], "changes": changes}).status_code == 200
            assert web.post(RESTART, json={"playing": True}).status_code == 200
        assert answers("Gathering")
        assert table.poll() is None, "the process is the same"
        assert httpx.get(f"{origin}/view.json", timeout=5).json()["hide"] == 1, "the game goes on"
    finally:
        os.kill(table.pid, signal.SIGTERM)
        assert table.wait(30) == 0
