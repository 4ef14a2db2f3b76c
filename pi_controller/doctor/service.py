"""Checks the systemd service: its unit is the one this version writes, it runs, and it is enabled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line
from pi_controller.errors import SettingsError
from pi_controller.setup import service
from pi_controller.setup.changes import read
from pi_controller.setup.place import SetupError, place
from pi_controller.setup.plan import plan

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE = "Service"
SETUP = "moccasin-mat setup"


def lines() -> list[Line]:
    """Return the service's lines; one "not here" where none was installed, or systemd does not run this machine."""
    kind = service.installed()
    if not kind:
        return [Line(SERVICE, "unit", "not here", f"no service is installed; '{SETUP}' does that")]
    system = kind == "system"
    found = [_unit(system=system)]
    if not service.booted():
        return [*found, Line(SERVICE, "running", "not here", "systemd does not run this machine")]
    found.append(running(service.properties(system=system), system=system))
    if not system:
        todo = "" if service.lingers() else f"sudo loginctl enable-linger {Path.home().name}"
        name = "starts with the machine"
        found.append(Line(SERVICE, name, "fail", "only when its user logs in", todo) if todo else _passes(name))
    return found


def _passes(name: str, found: str = "") -> Line:
    return Line(SERVICE, name, "pass", found)


def _unit(*, system: bool) -> Line:
    again = f"{'sudo ' if system else ''}{SETUP}{'' if system else ' --user'}"
    try:
        here = place(system=system)
    except SetupError as error:
        return Line(SERVICE, "unit", "fail", error.what, error.todo)
    try:
        current = read(here.unit) == plan(here).text()
    except OSError as error:
        return Line(SERVICE, "unit", "not here", f"it cannot be read: {error.strerror}; try sudo")
    except SettingsError:  # what stands in the file may be a name or a password
        todo = f"'moccasin-mat check-settings {here.settings}' tells what is wrong"
        return Line(SERVICE, "unit", "fail", "no table can run with its settings", todo)
    except SetupError as error:
        return Line(SERVICE, "unit", "fail", error.what, error.todo)
    if current:
        return _passes("unit", f"{here.unit}, as this version writes it")
    # who added lines of their own does not want them overwritten unseen: setup shows them first
    todo = f"'{again}' shows the difference and writes it; lines of your own belong into a drop-in"
    return Line(SERVICE, "unit", "fail", f"{here.unit} is not as this version writes it", todo)


def running(properties: Mapping[str, str], *, system: bool) -> Line:
    """Return the line of the service, by the `properties` that systemd has of it."""
    name, command = "running", " ".join(service.systemctl(system=system))
    state, often = properties.get("ActiveState", ""), properties.get("NRestarts", "0")
    if not state:
        return Line(SERVICE, name, "not here", "systemd does not answer")
    if state == "active":
        again = f", started again {often} times" if often.isdigit() and int(often) else ""
        return _passes(name, f"{properties.get('StatusText', '')}{again}")
    if state == "inactive" and properties.get("Result") == "success":
        return Line(SERVICE, name, "fail", "it is stopped", f"{command} start moccasin-mat")
    why = {"watchdog": "the game loop hung", "exit-code": "it ended with an error", "timeout": "it never got ready"}
    found = why.get(properties.get("Result", ""), properties.get("Result", state))
    return Line(SERVICE, name, "fail", f"{found}{'' if often == '0' else f', {often} times'}", "--bundle has its log")
