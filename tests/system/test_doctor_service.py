"""The doctor on the service: whether its unit is current, whether it runs, whether it starts with the machine."""

import pytest

from pi_controller.card import install, service
from pi_controller.card.plan import plan
from pi_controller.host.place import make_place
from pi_controller.tools import service_checks, support_bundle


def by_name():
    return {line.name: line for line in service_checks.service_lines()}


@pytest.fixture
def place(pi, monkeypatch):
    """Return an image in which the service was installed."""
    here = make_place(pi())
    install.apply_changes(here, plan(here).changes)
    monkeypatch.setattr(service, "is_installed", lambda: True)
    monkeypatch.setattr(service, "is_systemd_running", lambda: False)
    monkeypatch.setattr(service_checks, "make_place", lambda: here)
    return here


def test_no_service_is_no_fault(monkeypatch):
    monkeypatch.setattr(service, "is_installed", lambda: False)
    (line,) = service_checks.service_lines()
    assert line.outcome == "not here"
    assert "moccasin-mat service install" in line.message


def test_service_is_installed_if_its_unit_exists(tmp_path):
    assert not service.is_installed(tmp_path)
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    (tmp_path / "etc/systemd/system/moccasin-mat.service").touch()
    assert service.is_installed(tmp_path)


def test_unmodified_unit_passes_and_edited_unit_fails(place):
    assert by_name()["unit"].outcome == "pass"
    assert by_name()["running"].outcome == "not here"
    unit = place.on_disk(place.unit)
    unit.write_text(unit.read_text("utf-8") + "# mine\n", "utf-8")
    line = by_name()["unit"]
    assert line.outcome == "fail"
    assert "moccasin-mat service install" in line.hint


def test_invalid_settings_fail_unit_without_their_values(place):
    place.on_disk(place.settings).write_text("[table]\nname = 'secret\u200b'\nnmae = 'secret'\n", "utf-8")
    line = by_name()["unit"]
    assert line.outcome == "fail"
    assert "settings check" in line.hint
    assert "secret" not in line.message + line.hint


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
    line = service_checks.running_line(told)
    assert line.outcome == outcome
    assert says in line.message
    assert (line.hint != "") is (outcome == "fail")


def test_bundle_log_comes_from_the_installed_unit(monkeypatch):
    asked = []

    def run(command, **_):
        asked.append(command)
        return type("Done", (), {"stdout": "a line\n", "stderr": ""})

    monkeypatch.setattr(support_bundle.shutil, "which", lambda _: "/usr/bin/journalctl")
    monkeypatch.setattr(support_bundle.subprocess, "run", run)
    assert support_bundle.service_log() == "a line\n"
    assert asked[0][1:3] == ["--unit", "moccasin-mat"]
