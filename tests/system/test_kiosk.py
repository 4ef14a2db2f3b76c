"""The visitors' screen: its unit, what the browser may, and the page on the disk that waits for the installation."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from headless import ARGUMENTS, CHROMIUM

from pi_controller import __version__
from pi_controller.cli import main
from pi_controller.config import Settings
from pi_controller.exhibit.health import START_TIMEOUT_S
from pi_controller.exhibit.orders import OrderQueue
from pi_controller.exhibit.pages import ExhibitPage
from pi_controller.system import kiosk, service
from pi_controller.system.install import RUN, fill_in, unit
from pi_controller.system.place import make_place
from pi_controller.system.plan import plan
from pi_controller.system.status import FILE, NEW_CARD, POWER_CYCLE_HINT, FaultChannel

MAX_EXPOSURE, MAX_RESTART_EXPOSURE = 6.0, 2.0
"""Limits for `systemd-analyze security`: a browser compiles code at run time and makes a namespace sandbox."""


def test_kiosk_unit_passes_systemd_verify(exposure, tmp_path):
    text = kiosk.kiosk_unit(8080)
    for path in (*kiosk.PROGRAMS.values(), f"/usr/bin/python3 -I {kiosk.FIRST_SIGN}"):
        text = text.replace(f"{path} ", "/bin/true ")
    assert service.verify_unit(text, kiosk.UNIT.name) == []
    path = tmp_path / kiosk.UNIT.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= MAX_EXPOSURE
    path.write_text(re.sub(r"\nNoNewPrivileges.*?(?=\n\[Install)", "", text, flags=re.DOTALL), "utf-8")
    assert exposure(path) > MAX_EXPOSURE


def test_the_browser_reaches_this_machine_alone():
    text = kiosk.kiosk_unit(8123)
    for line in ("IPAddressDeny=any", "IPAddressAllow=localhost", "NoNewPrivileges=yes", f"User={kiosk.KIOSK}"):
        assert f"\n{line}\n" in text
    wanted = json.loads(kiosk.policy(8123))
    assert wanted["URLBlocklist"] == ["*"]
    assert wanted["URLAllowlist"] == ["http://127.0.0.1:8123", f"file://{kiosk.WAITING}"]
    assert wanted["AudioCaptureAllowed"] is wanted["VideoCaptureAllowed"] is wanted["TranslateEnabled"] is False
    for flag in ("--kiosk", "--disable-pinch", "--hide-crash-restore-bubble", "--disable-background-networking"):
        assert f" {flag} " in text


def test_restart_unit_restarts_the_screen_alone(exposure, tmp_path, here):
    text = kiosk.restart_unit()
    for one, name in ((text, kiosk.RESTART.service.name), (kiosk.RESTART.path_text(), kiosk.RESTART.path.name)):
        assert service.verify_unit(one, name) == []
    path = tmp_path / kiosk.RESTART.service.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= MAX_RESTART_EXPOSURE
    assert f"try-restart {kiosk.KIOSK}.service\n" in text, "a screen that does not run is not started"
    asked = f"{RUN}/{kiosk.RESTART.file}"
    assert f"\nPathExists={asked}\n" in kiosk.RESTART.path_text()
    assert f"\nExecStart=/bin/rm -f {asked}\n" in text
    assert f"\nRuntimeDirectory={RUN.name}\n" in unit(here, exhibit=True)
    assert f"\nRuntimeDirectory={RUN.name}\n" in unit(here), "a table leaves there why it cannot start"


def test_setup_writes_keeps_and_undoes_the_kiosk(pi, snapshot, capsys):
    root = pi()
    before = snapshot(root)
    assert main(["setup", "--root", str(root), "--yes", "--kiosk"]) == 0
    out = capsys.readouterr().out
    assert "apt install cage chromium" in out
    here = make_place(system=True, root=root)
    unit = here.on_disk(here.unit).read_text("utf-8")
    assert f" exhibit --settings {here.settings}\n" in unit
    assert here.on_disk(kiosk.WAITING).read_text("utf-8").startswith("<!doctype html>")
    link = here.on_disk(kiosk.UNIT.parent / "multi-user.target.wants" / kiosk.UNIT.name)
    assert link.readlink() == kiosk.UNIT
    assert kiosk.shown_port(here) == 8080
    assert plan(here).kiosk, "a later setup without the option leaves the screen as it is"
    assert plan(here).needed == []
    assert main(["setup", "--root", str(root), "--undo", "--yes"]) == 0
    assert snapshot(root) == before


def test_without_it_a_table_runs_as_before(pi):
    here = make_place(system=True, root=pi())
    made = plan(here)
    assert not made.kiosk
    assert kiosk.shown_port(here) is None
    assert " run --settings " in made.text()
    assert not any("kiosk" in str(change.path) for change in made.changes)
    assert not any(kiosk.KIOSK in " ".join(command) for command in service.activation_commands(here))
    screen = [
        command
        for command in service.activation_commands(here, kiosk=True)
        if kiosk.KIOSK in command[-1] and "restart" in command
    ]
    kiosk_started = ["systemctl", "--no-block", "restart", kiosk.UNIT.name]
    assert screen == [["systemctl", "restart", kiosk.RESTART.path.name], kiosk_started]


def test_kiosk_start_timeout_is_below_watch_timeout():
    (longest,) = re.findall(r"^TimeoutStartSec=(\d+)$", kiosk.kiosk_unit(8080), re.MULTILINE)
    assert int(longest) < START_TIMEOUT_S


def test_a_card_may_turn_the_screen():
    text = kiosk.kiosk_unit(8080)
    assert "\nEnvironment=CAGE_OPTIONS=\n" in text
    assert "-m last" not in text, "it crashes with a single screen"
    assert f"ExecStart={kiosk.PROGRAMS['cage']} $CAGE_OPTIONS -d -- " in text


def test_small_pi_gets_a_memory_note(pi):
    notes = plan(make_place(system=True, root=pi("Raspberry Pi Zero 2 W Rev 1.0")), kiosk=True).notes
    assert any("too little memory" in note for note in notes)


def test_a_user_has_no_screen(capsys):
    assert main(["setup", "--user", "--kiosk", "--dry-run"]) == 2
    assert "--kiosk" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_the_browsers_user_can_be_made(pi):
    root = pi()
    for change in kiosk.changes(Settings()):
        if change.path == kiosk.SYSUSERS:
            (root / "etc").mkdir()
            (root / "etc/browser.conf").write_text(change.text, "utf-8")
    command = ["systemd-sysusers", "--dry-run", f"--root={root}", str(root / "etc/browser.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unrecognized option" not in done.stderr:
        assert done.returncode == 0, done.stderr


@pytest.mark.chromium
@pytest.mark.slow
def test_waiting_page_opens_the_exhibit_once_served(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    page = ExhibitPage("127.0.0.1", port, time.monotonic, dict, OrderQueue())
    waiting = tmp_path / "kiosk.html"
    waiting.write_text(kiosk.waiting_page(Settings()), "utf-8")
    flags = [flag for flag in kiosk.FLAGS if flag != "--kiosk"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *flags])
        tab = browser.new_page()
        tab.goto(f"file://{waiting}#{kiosk.address(port)}")
        tab.wait_for_timeout(2_500)  # it looks twice in vain
        assert tab.locator("#wait h1").inner_text() == "One moment, please."
        page.start()
        try:
            tab.wait_for_url(kiosk.address(port))
            assert tab.locator("#screen").count() == 1
            served = httpx.get(f"{kiosk.address(port)}healthz")
            assert served.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
        finally:
            browser.close()
            page.stop()


FAULT = ("state_lost", "The card's third partition cannot be read. <b>", "Switch the machine off and on once.")


@contextmanager
def waiting_tab(tmp_path, **page):
    """Open the page on the disk in Chromium, its faults in `tmp_path`; yield its tab and the fault channel."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    waiting = tmp_path / "kiosk.html"
    waiting.write_text(kiosk.waiting_page(Settings(), tmp_path / FILE), "utf-8")
    flags = [flag for flag in kiosk.FLAGS if flag != "--kiosk"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *flags])
        tab = browser.new_page(**page)
        tab.goto(f"file://{waiting}")
        yield tab, FaultChannel(tmp_path)
        browser.close()


@pytest.mark.chromium
@pytest.mark.slow
def test_fault_is_visible_until_cleared(tmp_path):
    with waiting_tab(tmp_path) as (tab, channel):
        assert tab.locator("#wait").is_visible()
        channel.write(*FAULT, 1_764_000_000.0)
        tab.wait_for_selector("#fault:visible")
        shown = tab.locator("#fault").inner_text()
        for part in (*FAULT, __version__, "2025-11-24"):
            assert part in shown
        assert tab.locator("#wait").is_hidden()
        channel.write("other", "Another fault.", "Do this.", 1_764_000_000.0)
        tab.wait_for_selector("#message:has-text('Another fault.')")
        channel.clear()
        tab.wait_for_selector("#wait:visible")
        assert tab.locator("#fault").is_hidden()


@pytest.mark.chromium
@pytest.mark.parametrize("size", [(800, 480), (1280, 800), (1920, 1080), (720, 1280), (1080, 1920)])
@pytest.mark.slow
def test_a_fault_fits_every_screen(tmp_path, size):
    from axe_playwright_python.sync_playwright import Axe

    width, height = size
    with waiting_tab(tmp_path, viewport={"width": width, "height": height}) as (tab, channel):
        tab.add_style_tag(content="* { font-family: 'DejaVu Sans' !important; }")
        channel.write("disk_error", LONGEST[0], LONGEST[1], 0.0)
        tab.wait_for_selector("#fault:visible")
        page = tab.evaluate("(({scrollWidth, scrollHeight}) => [scrollWidth, scrollHeight])(document.documentElement)")
        assert page[0] <= width
        assert page[1] <= height
        letters = "[...document.querySelectorAll('#fault *')].map(e => parseFloat(getComputedStyle(e).fontSize))"
        assert min(tab.evaluate(letters)) >= 16
        assert Axe().run(tab).violations_count == 0
        if folder := os.environ.get("MOCCASIN_PICTURES"):
            Path(folder).mkdir(exist_ok=True)
            tab.screenshot(path=f"{folder}/fault-{width}x{height}.png")


LONGEST = (
    "The third partition of the card (mat-state) cannot be read: journal, settings and recordings are on it.",
    f"{POWER_CYCLE_HINT} {NEW_CARD}",
)


def first_sign(tmp_path, waits, *, main="self"):
    """Start the program that waits for the first sign, `waits` s long; return it and its port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    script = tmp_path / "first-sign.py"
    script.write_text(fill_in("first-sign.py.in", kiosk="no-such-unit", wait=waits), "utf-8")
    environment = {**os.environ, "MAINPID": main}
    return subprocess.Popen([sys.executable, "-I", str(script), str(port)], env=environment), port


@pytest.mark.chromium
def test_the_waiting_page_gives_the_first_sign(tmp_path, monkeypatch):
    process, port = first_sign(tmp_path, 60)
    monkeypatch.setattr(kiosk, "SIGN_PORT", port)
    with waiting_tab(tmp_path):
        assert process.wait(30) == 0


@pytest.mark.chromium
@pytest.mark.slow
def test_lost_first_sign_is_sent_again(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = taken.getsockname()[1]
    process, port = first_sign(tmp_path, 60)
    monkeypatch.setattr(kiosk, "SIGN_PORT", port)
    process.kill()
    process.wait()
    with waiting_tab(tmp_path) as (tab, _):
        tab.evaluate(f"location.hash = '{kiosk.address(closed)}'")
        tab.reload()
        tab.wait_for_timeout(2_500)  # nothing has heard its signs
        with socket.create_server(("127.0.0.1", port)) as late:
            late.settimeout(30)
            late.accept()[0].close()


def test_a_browser_without_a_sign_ends_its_unit(tmp_path):
    process, _ = first_sign(tmp_path, 1)
    assert process.wait(30) == 1


def test_a_browser_that_ended_is_not_waited_for(tmp_path):
    process, _ = first_sign(tmp_path, 10_000, main="no-such-process")
    assert process.wait(30) == 1


def test_a_taken_port_does_not_end_the_screen(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        script = tmp_path / "first-sign.py"
        script.write_text(fill_in("first-sign.py.in", kiosk="no-such-unit", wait=60), "utf-8")
        port = str(taken.getsockname()[1])
        assert subprocess.run([sys.executable, "-I", str(script), port], timeout=30, check=False).returncode == 0


def test_the_unit_waits_for_the_pages_own_port():
    for port in (8080, kiosk.SIGN_PORT):
        sign = kiosk.sign_port(port)
        assert sign != port
        assert f"ExecStartPost=/usr/bin/python3 -I {kiosk.FIRST_SIGN} {sign}\n" in kiosk.kiosk_unit(port)
        settings = Settings.model_validate({"web": {"port": port}})
        assert f"http://127.0.0.1:{sign}/" in kiosk.waiting_page(settings)
