"""The doctor on the service: whether its unit is current, whether it runs, whether it starts with the machine."""

from pathlib import Path

import pytest

from pi_controller.card import install, service
from pi_controller.card.plan import plan
from pi_controller.host.place import Place, make_place
from pi_controller.tools import service_checks, support_bundle


def by_name():
    return {line.name: line for line in service_checks.service_lines()}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home in which a user's own service was installed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    here = make_place(system=False)
    install.apply_changes(here, plan(here).changes)
    monkeypatch.setattr(service, "installed_kind", lambda *_: "user")
    return here


def test_no_service_is_no_fault(monkeypatch):
    monkeypatch.setattr(service, "installed_kind", lambda *_: "")
    (line,) = service_checks.service_lines()
    assert line.outcome == "not here"
    assert "moccasin-mat setup" in line.message


def test_which_service_is_there(tmp_path):
    home, root = tmp_path / "home", tmp_path / "root"
    assert service.installed_kind(home, root) == ""
    assert service.log_choice(home, root) == ["--unit", "moccasin-mat"]
    for path, kind, option in (
        (home / ".config/systemd/user", "user", "--user-unit"),
        (root / "etc/systemd/system", "system", "--unit"),
    ):
        path.mkdir(parents=True)
        (path / "moccasin-mat.service").touch()
        assert service.installed_kind(home, root) == kind
        assert service.log_choice(home, root) == [option, "moccasin-mat"]


def test_unmodified_unit_passes_and_edited_unit_fails(home, monkeypatch):
    monkeypatch.setattr(service, "is_systemd_running", lambda: False)
    assert by_name()["unit"].outcome == "pass"
    assert by_name()["running"].outcome == "not here"
    home.unit.write_text(home.unit.read_text("utf-8") + "# mine\n", "utf-8")
    line = by_name()["unit"]
    assert line.outcome == "fail"
    assert "moccasin-mat setup --user" in line.hint


def test_invalid_settings_fail_unit_without_their_values(home, monkeypatch):
    monkeypatch.setattr(service, "is_systemd_running", lambda: False)
    home.settings.write_text("[table]\nname = 'secret\u200b'\nnmae = 'secret'\n", "utf-8")
    line = by_name()["unit"]
    assert line.outcome == "fail"
    assert "check-settings" in line.hint
    assert "secret" not in line.message + line.hint


@pytest.mark.parametrize("lingers", [True, False])
def test_a_users_service_must_outlive_the_login(home, monkeypatch, tmp_path, lingers):
    monkeypatch.setattr(service, "is_systemd_running", lambda: True)
    monkeypatch.setattr(service, "properties", lambda **_: {"ActiveState": "active", "NRestarts": "2"})
    monkeypatch.setattr(service, "LINGER", tmp_path / "linger")
    monkeypatch.setenv("USER", "ann")
    if lingers:
        (tmp_path / "linger").mkdir()
        (tmp_path / "linger/ann").touch()
    lines = by_name()
    assert lines["starts with the machine"].outcome == ("pass" if lingers else "fail")
    assert lines["running"].message.endswith("started again 2 times")


@pytest.mark.parametrize(
    ("told", "outcome", "says"),
    [
        ({"ActiveState": "active", "StatusText": "the board is connected", "NRestarts": "0"}, "pass", "the board is"),
        ({"ActiveState": "inactive", "Result": "success"}, "fail", "stopped"),
        ({"ActiveState": "activating", "Result": "watchdog", "NRestarts": "3"}, "fail", "hung, 3 times"),
        (
            {"ActiveState": "activating", "Result": "exit-code", "NRestarts": "9"},
            "fail",
            "ended with an error, 9 times",
        ),
        ({"ActiveState": "failed", "Result": "resources"}, "fail", "resources"),
        ({}, "not here", "does not answer"),
    ],
)
def test_how_the_service_is(told, outcome, says):
    line = service_checks.running_line(told, system=True)
    assert line.outcome == outcome
    assert says in line.message
    assert (line.hint != "") is (outcome == "fail")


def test_bundle_log_comes_from_the_installed_unit(monkeypatch, tmp_path):
    asked = []

    def run(command, **_):
        asked.append(command)
        return type("Done", (), {"stdout": "a line\n", "stderr": ""})

    monkeypatch.setattr(support_bundle.shutil, "which", lambda _: "/usr/bin/journalctl")
    monkeypatch.setattr(support_bundle.subprocess, "run", run)
    assert support_bundle.service_log() == "a line\n"
    unit = Place(True, Path("/opt/x"), tmp_path).unit
    assert asked[0][1:3] in (["--unit", unit.stem], ["--user-unit", unit.stem])
