"""The visitors' screen: its unit, what the browser may, and the page on the disk that waits for the installation."""

import json
import re
import shutil
import subprocess

import pytest

from pi_controller.card import kiosk, service
from pi_controller.card.kiosk import watching_unit
from pi_controller.card.plan import plan
from pi_controller.card.service_unit import RUN, unit
from pi_controller.cli import main
from pi_controller.config import Settings
from pi_controller.exhibit.page_watch import START_TIMEOUT_S
from pi_controller.host import request
from pi_controller.host.place import make_place

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
    for line in ("IPAddressDeny=any", "IPAddressAllow=localhost", "NoNewPrivileges=yes", f"User={request.KIOSK}"):
        assert f"\n{line}\n" in text
    wanted = json.loads(kiosk.policy(8123))
    assert wanted["URLBlocklist"] == ["*"]
    assert wanted["URLAllowlist"] == ["http://127.0.0.1:8123", f"file://{kiosk.WAITING}"]
    assert wanted["AudioCaptureAllowed"] is wanted["VideoCaptureAllowed"] is wanted["TranslateEnabled"] is False
    for flag in ("--kiosk", "--disable-pinch", "--hide-crash-restore-bubble", "--disable-background-networking"):
        assert f" {flag} " in text


def test_restart_unit_restarts_the_screen_alone(exposure, tmp_path, here):
    text = kiosk.restart_unit()
    for one, name in (
        (text, request.RESTART.service.name),
        (watching_unit(request.RESTART), request.RESTART.path.name),
    ):
        assert service.verify_unit(one, name) == []
    path = tmp_path / request.RESTART.service.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= MAX_RESTART_EXPOSURE
    assert f"try-restart {request.KIOSK}.service\n" in text, "a screen that does not run is not started"
    asked = f"{RUN}/{request.RESTART.file}"
    assert f"\nPathExists={asked}\n" in watching_unit(request.RESTART)
    assert f"\nExecStart=/bin/rm -f {asked}\n" in text
    assert f"\nRuntimeDirectory={RUN.name}\n" in unit(here, exhibit=True)
    assert f"\nRuntimeDirectory={RUN.name}\n" in unit(here), "a table leaves there why it cannot start"


def test_off_unit_stops_the_screen_before_its_signal(exposure, tmp_path):
    off, on = kiosk.off_unit(), kiosk.on_unit()
    for text, one in ((off, request.OFF), (on, request.ON)):
        assert service.verify_unit(text, one.service.name) == []
        assert service.verify_unit(watching_unit(one), one.path.name) == []
        path = tmp_path / one.service.name
        path.write_text(text, "utf-8")
        assert exposure(path) <= MAX_RESTART_EXPOSURE + 0.3
        assert f"\nExecStart=/bin/rm -f {RUN}/{one.file}\n" in text
        assert f"\nPathExists={RUN}/{one.file}\n" in watching_unit(one)
        assert one.path in kiosk.STARTED
    assert f"start {request.KIOSK}.service\n" in on
    assert "ProtectKernelTunables" not in off, "it writes below /sys"


@pytest.mark.parametrize(("writable", "done"), [(True, "stop, 4"), (False, "stop, start"), (None, "")])
def test_off_unit_restores_a_screen_it_cannot_switch(tmp_path, writable, done):
    log, frame = tmp_path / "log", tmp_path / "fb0"
    (frame / "blank").mkdir(parents=True) if writable is False else frame.mkdir()
    if writable:
        (frame / "blank").write_text("0\n")
    command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", kiosk.off_unit(), re.MULTILINE)[1]
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$*" >>{log}\n')
    systemctl.chmod(0o755)
    command = command.replace("/bin/systemctl", str(systemctl)).replace("/sys/class/graphics", str(tmp_path))
    subprocess.run(["/bin/sh", "-c", command.replace("sleep 1", ":")], check=False, capture_output=True)
    asked = log.read_text().splitlines() if log.exists() else []
    found = [word for line in asked for word in ("stop", "start") if f"{word} {request.KIOSK}" in line]
    if writable:
        found.append((frame / "blank").read_text().strip())
    assert ", ".join(found) == done


def test_setup_writes_keeps_and_undoes_the_kiosk(pi, snapshot, capsys):
    root = pi()
    before = snapshot(root)
    assert main(["service", "install", "--root", str(root), "--yes", "--kiosk"]) == 0
    out = capsys.readouterr().out
    assert "apt install cage chromium" in out
    here = make_place(root)
    unit = here.on_disk(here.unit).read_text("utf-8")
    assert f" exhibit --settings {here.settings}\n" in unit
    assert here.on_disk(kiosk.WAITING).read_text("utf-8").startswith("<!doctype html>")
    link = here.on_disk(kiosk.UNIT.parent / "multi-user.target.wants" / kiosk.UNIT.name)
    assert link.readlink() == kiosk.UNIT
    assert kiosk.shown_port(here) == 8080
    assert plan(here).kiosk, "a later setup without the option leaves the screen as it is"
    assert plan(here).needed == []
    assert main(["service", "remove", "--root", str(root), "--yes"]) == 0
    left = {name for name, held in snapshot(root).items() if held is not None} - before.keys()
    assert left == {"etc/moccasin-mat/table.toml"}


def test_without_it_a_table_runs_as_before(pi):
    here = make_place(pi())
    made = plan(here)
    assert not made.kiosk
    assert kiosk.shown_port(here) is None
    assert " run --settings " in made.text()
    assert not any("kiosk" in str(change.path) for change in made.changes)
    assert not any(request.KIOSK in " ".join(command) for command in service.activation_commands())
    screen = [
        command
        for command in service.activation_commands(kiosk=True)
        if request.KIOSK in command[-1] and "restart" in command
    ]
    kiosk_started = ["systemctl", "--no-block", "restart", kiosk.UNIT.name]
    watched = [["systemctl", "restart", one.path.name] for one in (request.RESTART, request.OFF, request.ON)]
    assert screen == [*watched, kiosk_started]


def test_kiosk_start_timeout_is_below_watch_timeout():
    (longest,) = re.findall(r"^TimeoutStartSec=(\d+)$", kiosk.kiosk_unit(8080), re.MULTILINE)
    assert int(longest) < START_TIMEOUT_S


def test_a_card_may_turn_the_screen():
    text = kiosk.kiosk_unit(8080)
    assert "\nEnvironment=CAGE_OPTIONS=\n" in text
    assert "-m last" not in text, "it crashes with a single screen"
    assert f"ExecStart={kiosk.PROGRAMS['cage']} $CAGE_OPTIONS -d -- " in text


def test_small_pi_gets_a_memory_note(pi):
    notes = plan(make_place(pi("Raspberry Pi Zero 2 W Rev 1.0")), kiosk=True).notes
    assert any("too little memory" in note for note in notes)


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


def test_the_unit_waits_for_the_pages_own_port():
    for port in (8080, kiosk.SIGN_PORT):
        sign = kiosk.sign_port(port)
        assert sign != port
        assert f"ExecStartPost=/usr/bin/python3 -I {kiosk.FIRST_SIGN} {sign}\n" in kiosk.kiosk_unit(port)
        settings = Settings.model_validate({"web": {"port": port}})
        assert f"http://127.0.0.1:{sign}/" in kiosk.waiting_page(settings)
