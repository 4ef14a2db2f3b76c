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
    assert not any(request.KIOSK in " ".join(command) for command in service.activation_commands(here))
    screen = [
        command
        for command in service.activation_commands(here, kiosk=True)
        if request.KIOSK in command[-1] and "restart" in command
    ]
    kiosk_started = ["systemctl", "--no-block", "restart", kiosk.UNIT.name]
    assert screen == [["systemctl", "restart", request.RESTART.path.name], kiosk_started]


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


def test_the_unit_waits_for_the_pages_own_port():
    for port in (8080, kiosk.SIGN_PORT):
        sign = kiosk.sign_port(port)
        assert sign != port
        assert f"ExecStartPost=/usr/bin/python3 -I {kiosk.FIRST_SIGN} {sign}\n" in kiosk.kiosk_unit(port)
        settings = Settings.model_validate({"web": {"port": port}})
        assert f"http://127.0.0.1:{sign}/" in kiosk.waiting_page(settings)
