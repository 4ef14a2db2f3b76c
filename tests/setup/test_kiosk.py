"""The visitors' screen: its unit, what the browser may, and the page on the disk that waits for the installation."""

import json
import re
import shutil
import socket
import subprocess
import time

import httpx
import pytest
from headless import ARGUMENTS, CHROMIUM

from pi_controller.cli import main
from pi_controller.exhibit.page import ExhibitPage
from pi_controller.setup import kiosk, kiosk_restart, service
from pi_controller.setup.place import place
from pi_controller.setup.plan import plan
from pi_controller.setup.unit import RUN, unit
from pi_controller.table.settings import Settings


def test_systemd_finds_nothing_wrong(exposure, tmp_path):
    text = kiosk.kiosk_unit(8080)
    for path in kiosk.PROGRAMS.values():
        text = text.replace(f"{path} ", "/bin/true ")
    assert service.verified(text, kiosk.UNIT.name) == []
    path = tmp_path / kiosk.UNIT.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= kiosk.MOST_EXPOSED
    path.write_text(re.sub(r"\nNoNewPrivileges.*?(?=\n\[Install)", "", text, flags=re.DOTALL), "utf-8")
    assert exposure(path) > kiosk.MOST_EXPOSED


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


def test_the_service_may_ask_for_its_screen_and_nothing_else(exposure, tmp_path, here):
    text = kiosk_restart.service_unit(kiosk.KIOSK)
    for one, name in ((text, kiosk_restart.SERVICE.name), (kiosk_restart.path_unit(), kiosk_restart.PATH.name)):
        assert service.verified(one, name) == []
    path = tmp_path / kiosk_restart.SERVICE.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= kiosk_restart.MOST_EXPOSED
    assert f"try-restart {kiosk.KIOSK}.service\n" in text, "a screen that does not run is not started"
    asked = f"{RUN}/{kiosk_restart.ASKED}"
    assert f"\nPathExists={asked}\n" in kiosk_restart.path_unit()
    assert f"\nExecStart=/bin/rm -f {asked}\n" in text
    assert f"\nRuntimeDirectory={RUN.name}\n" in unit(here, exhibit=True)
    assert "RuntimeDirectory" not in unit(here)


def test_setup_writes_it_keeps_it_and_takes_it_back(pi, snapshot, capsys):
    root = pi()
    before = snapshot(root)
    assert main(["setup", "--root", str(root), "--yes", "--kiosk"]) == 0
    out = capsys.readouterr().out
    assert "apt install cage chromium" in out
    here = place(system=True, root=root)
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
    here = place(system=True, root=pi())
    made = plan(here)
    assert not made.kiosk
    assert kiosk.shown_port(here) is None
    assert " run --settings " in made.text()
    assert not any("kiosk" in str(change.path) for change in made.changes)
    assert not any(kiosk.KIOSK in " ".join(command) for command in service.commands(here))
    screen = [
        command for command in service.commands(here, kiosk=True) if kiosk.KIOSK in command[-1] and "restart" in command
    ]
    assert screen == [["systemctl", "restart", kiosk_restart.PATH.name], ["systemctl", "restart", kiosk.UNIT.name]]


def test_a_small_pi_is_told(pi):
    notes = plan(place(system=True, root=pi("Raspberry Pi Zero 2 W Rev 1.0")), kiosk=True).notes
    assert any("too little memory" in note for note in notes)


def test_a_user_has_no_screen(capsys):
    assert main(["setup", "--user", "--kiosk", "--dry-run"]) == 2
    assert "--kiosk" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_the_browsers_user_can_be_made(pi):
    root = pi()
    for change in kiosk.changes(place(system=True), Settings()):
        if change.path == kiosk.SYSUSERS:
            (root / "etc").mkdir()
            (root / "etc/browser.conf").write_text(change.text, "utf-8")
    command = ["systemd-sysusers", "--dry-run", f"--root={root}", str(root / "etc/browser.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unrecognized option" not in done.stderr:
        assert done.returncode == 0, done.stderr


@pytest.mark.chromium
def test_the_page_on_the_disk_waits_for_the_installation(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    page = ExhibitPage("127.0.0.1", port, time.monotonic, dict)
    waiting = tmp_path / "kiosk.html"
    waiting.write_text(kiosk.waiting_page(Settings()), "utf-8")
    flags = [flag for flag in kiosk.FLAGS if flag != "--kiosk"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *flags])
        tab = browser.new_page()
        tab.goto(f"file://{waiting}#{kiosk.address(port)}")
        tab.wait_for_timeout(2_500)  # it looks twice in vain
        assert tab.locator("h1").inner_text() == "One moment, please."
        page.start()
        try:
            tab.wait_for_url(kiosk.address(port))
            assert tab.locator("#screen").count() == 1
            served = httpx.get(f"{kiosk.address(port)}healthz")
            assert served.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
        finally:
            browser.close()
            page.stop()
