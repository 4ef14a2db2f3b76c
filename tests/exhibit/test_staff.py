"""The staff page: behind a sign-in, about the installation alone, reached by a long press on the screen's corner."""

import html
import re
import threading
import time
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from exhibit_rig import Rig, at
from headless import ARGUMENTS, CHROMIUM

from pi_controller.exhibit.exhibit import Session
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.staff import HOME, READY_NOTICES, Known, shown_of
from pi_controller.exhibit.usage import Usage
from pi_controller.machine_health import MachineHealth
from pi_controller.mat.events import Link, SensorFault, Sensors
from pi_controller.run import steady_clock
from pi_controller.run_exhibit import NOTICE, Installation
from pi_controller.setup import reset_order
from pi_controller.table.settings import load
from pi_controller.web.signing.pins import Pins
from pi_controller.web.signing.users import FILE, Users

PIN = "314159"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@contextmanager
def installed(folder, *, people=True, toml="", read=None):
    """Run an installation on this machine's clock, its page at a free port; yield it and its page's address."""
    settings = folder / "table.toml"
    settings.write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
    if people:
        users, pins = Users(folder / FILE), Pins(passes=1, kib=8)
        users.add("Head", "head", pins.hash(PIN))
        users.add("Keeper", "scorekeeper", pins.hash(PIN))
        users.close()
    clock, ended = steady_clock(), threading.Event()
    with ExitStack() as stack:
        installation = Installation(load(settings), clock, stack, read=read)

        def steps():
            while not ended.wait(0.02):
                installation.step(clock())

        thread = threading.Thread(target=steps)
        thread.start()
        try:
            yield installation, installation.page.url.rstrip("/")
        finally:
            ended.set()
            thread.join()


@pytest.fixture
def signed_in():
    """Sign in at an address; return the client."""
    with ExitStack() as stack:

        def sign_in(url, name="Head"):
            client = stack.enter_context(httpx.Client(base_url=url, headers={"origin": url}))
            assert client.post(f"{HOME}/sign-in", json={"name": name, "pin": PIN}).status_code == 200
            return client

        yield sign_in


def until(wanted, limit_s=20.0):
    end = time.monotonic() + limit_s
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.02)  # the installation's own thread


def test_nobody_signs_in_before_a_pin_was_made_and_nothing_is_written(tmp_path):
    with installed(tmp_path, people=False) as (_, url):
        page = httpx.get(url + HOME)
        assert page.status_code == 200
        assert "new-head" in page.text
        assert "What is wrong" not in page.text
        tried = httpx.post(f"{url}{HOME}/sign-in", json={"name": "Head", "pin": "000000"}, headers={"origin": url})
        assert tried.status_code == 401
        assert not (tmp_path / FILE).exists()


def test_a_notice_is_set_lifted_and_outlives_a_restart(tmp_path, signed_in):
    with installed(tmp_path) as (installation, url):
        staff = signed_in(url)
        assert staff.post(f"{HOME}/do", json={"do": "notice", "notice": READY_NOTICES[0]}).status_code == 200
        assert installation.exhibit.stage.name == "notice"
        assert READY_NOTICES[0] in staff.get(HOME).text
        assert READY_NOTICES[0] in httpx.get(url).text
    with installed(tmp_path, people=False) as (installation, url):
        assert installation.exhibit.notice == READY_NOTICES[0]
        staff = signed_in(url)
        assert staff.post(f"{HOME}/do", json={"do": "notice", "notice": ""}).status_code == 200
        assert installation.exhibit.stage.name == "attract"
    assert NOTICE not in READY_NOTICES
    assert not (tmp_path / ".exhibit-notice").exists()


def test_the_staff_ends_a_session(tmp_path, signed_in):
    with installed(tmp_path) as (installation, url):
        assert httpx.post(
            f"{url}/touch", json={"do": "start", "turn": installation.exhibit.turn}, headers={"origin": url}
        )
        until(lambda: installation.exhibit.stage.name == "choose")
        assert signed_in(url).post(f"{HOME}/do", json={"do": "end"}).status_code == 200
        assert installation.exhibit.stage.name == "attract"


def test_what_is_known_of_the_machine_is_shown_and_the_supply_is_lifted_by_the_staff(tmp_path, signed_in):
    now = MachineHealth(68.2, under_voltage=False, under_voltage_since_start=True, free_bytes=91 * 10**8, fs_errors=3)
    with installed(tmp_path, read=lambda _: now) as (installation, url):
        staff = signed_in(url)
        page = staff.get(HOME).text
        for shown in ("68 °C", "was too weak", "9.1 GB free", "3 noted by the file system"):
            assert shown in page
        assert staff.post(f"{HOME}/do", json={"do": "supply"}).status_code == 200
        assert "was too weak" not in staff.get(HOME).text
        assert not installation.watch.under_voltage
    with installed(tmp_path, people=False, read=lambda _: now) as (installation, _):
        assert not installation.watch.under_voltage, "lifted, until the machine starts anew"


def test_new_texts_are_previewed_and_shown_by_the_staff(tmp_path, signed_in):
    (tmp_path / "texts.toml").write_text('title = "First"\npicture = "house.png"\n')
    (tmp_path / "house.png").write_bytes(PNG)
    with installed(tmp_path, toml='folder = "."\napprove_texts = true\n') as (installation, url):
        staff = signed_in(url)
        until(lambda: "wait for you" in staff.get(HOME).text)
        assert "First" not in httpx.get(url).text
        shown = staff.get(f"{HOME}/preview/attract").text
        assert "First" in shown
        assert f"{HOME}/preview/host/house.png" in shown
        assert staff.get(f"{HOME}/preview/host/house.png").content == PNG
        assert httpx.get(f"{url}/host/house.png").status_code == 404
        for path in ("preview/attract", "preview/host/house.png"):
            assert httpx.get(f"{url}{HOME}/{path}").status_code == 401
        for path in ("preview/play", "preview/host/texts.toml"):
            assert staff.get(f"{HOME}/{path}").status_code == 404
        assert staff.post(f"{HOME}/do", json={"do": "texts", "mark": "0" * 16}).status_code in (400, 409)
        mark = installation.host.waiting.mark
        assert staff.post(f"{HOME}/do", json={"do": "texts", "mark": mark}).status_code == 200
        until(lambda: "First" in httpx.get(url).text)
        assert 'src="/host/house.png"' in staff.get(HOME).text
        assert "wait for you" not in staff.get(HOME).text


def test_the_order_for_a_reset_is_shown_where_the_host_may_sign_one(tmp_path, signed_in, monkeypatch):
    folder, signers = tmp_path / "reset", tmp_path / "update_signers"
    monkeypatch.setattr(reset_order, "RESETS", folder)
    monkeypatch.setattr(reset_order, "SIGNERS", signers)
    monkeypatch.setattr(reset_order, "machine_mark", lambda: "3f9a21c0")
    with installed(tmp_path) as (_, url):
        assert "first start" not in signed_in(url).get(HOME).text, "a machine that takes none"
    folder.mkdir()
    (folder / "number").write_text("48312077\n")
    (folder / "last").write_text("there is no order\n")
    with installed(tmp_path, people=False) as (_, url):
        page = signed_in(url).get(HOME).text
        assert "No stick can reset this machine" in page
        assert "48312077" not in page
        assert "there is no order" in page
    signers.touch()
    with installed(tmp_path, people=False) as (_, url):
        page = signed_in(url).get(HOME).text
        assert html.unescape(re.search(r"<pre>(.+?)</pre>", page, re.DOTALL)[1]) == (
            'machine = "3f9a21c0"\nnumber = "48312077"\nold_files = "aside"\n'
        )
        assert "48312077" not in httpx.get(url + HOME).text


def test_others_do_nothing(tmp_path, signed_in):
    with installed(tmp_path) as (installation, url):
        notice = {"do": "notice", "notice": "x"}
        assert httpx.post(f"{url}{HOME}/do", json=notice, headers={"origin": url}).status_code == 401
        assert httpx.get(f"{url}{HOME}/usage.csv").status_code == 401
        assert "What is wrong" not in httpx.get(url + HOME).text
        keeper = signed_in(url, "Keeper")
        assert keeper.post(f"{HOME}/do", json=notice).status_code == 403
        assert "What is wrong" not in keeper.get(HOME).text
        head = signed_in(url)
        assert head.post(f"{HOME}/do", json=notice, headers={"origin": "http://elsewhere.example"}).status_code == 403
        for wrong in ({"do": "play"}, {"do": "notice"}, {"do": "notice", "notice": "x" * 301}, {"do": "end", "at": 1}):
            assert head.post(f"{HOME}/do", json=wrong).status_code == 400
        assert head.post(f"{HOME}/sign-out", json={}).status_code == 200
        assert head.post(f"{HOME}/do", json=notice).status_code == 401
        assert installation.exhibit.notice == ""


def test_counts_are_exported_where_they_are_switched_on(tmp_path, signed_in):
    with installed(tmp_path, toml="usage = true\n") as (installation, url):
        installation._ended(0.0, Session("mat", "finished", 61.4, 7))
        staff = signed_in(url)
        until(lambda: ",1,1,0,0,1,0,0,0,7,61" in staff.get(f"{HOME}/usage.csv").text)
        assert "<td>61</td>" in staff.get(HOME).text
    other = tmp_path / "other"
    other.mkdir()
    with installed(other) as (_, url):
        staff = signed_in(url)
        assert staff.get(f"{HOME}/usage.csv").text == ""
        assert "are not counted" in staff.get(HOME).text


def shown(rig):
    return shown_of(rig.exhibit, rig.settings, Known(Usage(None)), at)


def test_it_says_what_is_wrong(tmp_path):
    rig = Rig(mat="sensors", record=True, folder=tmp_path / "not there")
    assert "does not answer" in " ".join(shown(rig).faults)
    rig.exhibit.felt(0.0, Link(0.0, up=True))
    rig.exhibit.felt(0.0, Sensors(0.0, (SensorFault("disc", 3, "no signal"),)))
    assert shown(rig).faults == ("Pad 3: a sensor cannot be believed (no signal)",)
    rig.begin("mat")
    rig.exhibit.host = HostFiles(tmp_path / "no texts either")
    texts, recording, _ = shown(rig).faults
    assert "texts.toml" in texts
    assert "not recorded" in recording


def test_it_is_the_same_wherever_the_bead_is():
    pictures = []
    for pad in (1, 2, 3, 4):
        rig = Rig(1)
        rig.begin("teams")
        rig.awaits("pads")
        rig.touch(f"pad:{pad}")
        seen = []
        while rig.game.awaits != "strike":
            seen.append(shown(rig))
            rig.advance(0.25)
        pictures.append(seen)
    assert len(pictures[0]) > 5
    assert all(one == pictures[0] for one in pictures)


@pytest.mark.chromium
def test_a_long_press_on_the_corner_and_then_by_touch_alone(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with installed(tmp_path, toml="usage = true\n") as (installation, url), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
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
        for digit in PIN:
            tab.click(f'[data-digit="{digit}"]')
        installation._ended(0.0, Session("mat", "finished", 61.4, 7))
        until(lambda: installation.staff.shown.usage)
        tab.click("[type=submit]")
        tab.wait_for_selector("body.staff")
        for width, height in ((390, 844), (1080, 1920), (1920, 1080)):
            tab.set_viewport_size({"width": width, "height": height})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            small = "[...document.querySelectorAll('button, a, input')].filter(e => e.offsetHeight < 44).length"
            assert tab.evaluate(small) == 0
            assert Axe().run(tab).violations_count == 0
        tab.click(f'[data-notice="{READY_NOTICES[0]}"]')
        tab.wait_for_selector('[data-notice=""]')
        assert installation.exhibit.stage.name == "notice"
        tab.clock.run_for(61_000)
        tab.wait_for_url(f"{url}/")
        tab.goto(url + HOME)
        tab.wait_for_selector("#sign-in")
        tab.clock.run_for(61_000)
        tab.wait_for_url(f"{url}/")
        chromium.close()
