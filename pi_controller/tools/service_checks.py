"""Checks the systemd service: its unit is up to date, it runs, and it is enabled."""

from __future__ import annotations

from collections.abc import Mapping

from pi_controller.card import service
from pi_controller.card.changes import read
from pi_controller.card.plan import plan
from pi_controller.errors import SettingsError, describe_error
from pi_controller.host.findings import Finding, Group
from pi_controller.host.place import SetupError, make_place
from pi_controller.host.status import RESULTS

SERVICE = Group("Service")
SETUP = "moccasin-mat service install"


def service_lines() -> list[Finding]:
    """Return the lines for the service; "not here" if none is installed or systemd does not run."""
    if not service.is_installed():
        return [SERVICE.absent("unit", f"no service is installed; '{SETUP}' does that")]
    if not service.is_systemd_running():
        return [_unit(), SERVICE.absent("running", "systemd does not run this machine")]
    return [_unit(), running_line(service.properties())]


def _unit() -> Finding:
    try:
        here = make_place()
    except SetupError as error:
        return SERVICE.fails("unit", error.message, error.hint)
    try:
        current = read(here.on_disk(here.unit)) == plan(here).text()
    except OSError as error:
        return SERVICE.absent("unit", f"it cannot be read: {describe_error(error)}; try sudo")
    except SettingsError:  # the error may quote a name or a password from the file
        hint = f"'moccasin-mat settings check {here.settings}' shows the faults"
        return SERVICE.fails("unit", "no table can run with its settings", hint)
    except SetupError as error:
        return SERVICE.fails("unit", error.message, error.hint)
    if current:
        return SERVICE.passes("unit", f"{here.unit}, the same as this version's file")
    # setup shows the difference first, so that a user's own lines are not overwritten unseen
    hint = f"'sudo {SETUP}' shows the difference and writes it; put your own lines in a drop-in file"
    return SERVICE.fails("unit", f"{here.unit} differs from this version's file", hint)


def running_line(properties: Mapping[str, str]) -> Finding:
    """Return the line for the service's state, from its systemd `properties`."""
    name = "running"
    state, often = properties.get("ActiveState", ""), properties.get("NRestarts", "0")
    if not state:
        return SERVICE.absent(name, "systemd does not answer")
    if state == "active":
        again = f", started again {often} times" if often.isdigit() and int(often) else ""
        return SERVICE.passes(name, f"{properties.get('StatusText', '')}{again}")
    if state == "inactive" and properties.get("Result") == "success":
        return SERVICE.fails(name, "it is stopped", "sudo systemctl start moccasin-mat")
    found = RESULTS.get(properties.get("Result", ""), properties.get("Result", state))
    return SERVICE.fails(name, f"{found}{'' if often == '0' else f', {often} times'}", "--bundle has its log")
