"""Queries and starts the service by systemctl and journalctl: its state, its log. Nothing here raises."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.setup import kiosk as screen
from pi_controller.setup.place import NAME, SYSTEM_UNITS, UNIT
from pi_controller.setup.rules import SYSUSERS_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.setup.place import Place

WAIT_S = 200.0
"""Longer than the unit's TimeoutStartSec: `restart` returns when the table is ready."""
STAY = ["loginctl", "enable-linger"]
"""Lets a user's services start with the machine and go on after logging out."""
BOOTED = Path("/run/systemd/system")
"""Is there while systemd runs the machine."""
UDEV = Path("/run/udev/control")
"""Is there while udev runs."""
LINGER = Path("/var/lib/systemd/linger")
"""Has a file for each user whose services start with the machine."""


def installed(home: Path | None = None, root: Path = Path("/")) -> str:
    """Return which unit is there: "system", "user" or ""."""
    if (root / SYSTEM_UNITS.relative_to("/") / UNIT).exists():
        return "system"
    return "user" if ((home or Path.home()) / ".config/systemd/user" / UNIT).exists() else ""


def systemctl(*, system: bool) -> list[str]:
    """Return the command that speaks to the service's manager."""
    return ["systemctl"] if system else ["systemctl", "--user"]


def commands(place: Place, *, kiosk: bool = False) -> list[list[str]]:
    """Return what makes the running machine take up what was written, and starts the service, as the last.

    `kiosk` starts the visitors' screen as well.
    """
    manager = systemctl(system=place.system)
    if not place.system:
        return [[*manager, "daemon-reload"], STAY, [*manager, "restart", NAME]]
    return [
        ["systemd-sysusers", str(SYSUSERS_FILE), *([str(screen.SYSUSERS)] if kiosk else [])],
        *_udev(["trigger", *(f"--subsystem-match={name}" for name in ("tty", "gpio", "spidev", "i2c-dev", "*-pio"))]),
        [*manager, "daemon-reload"],
        *([[*manager, "restart", unit.name] for unit in screen.STARTED] if kiosk else []),
        [*manager, "restart", NAME],
    ]


def _udev(then: Sequence[str] = ()) -> list[list[str]]:
    """Return what has udev read its rules again, do something `then` and be done with it; nothing without udev."""
    if not UDEV.exists():
        return []
    reload, settle = ["udevadm", "control", "--reload"], ["udevadm", "settle", "--timeout=10"]
    return [reload, ["udevadm", *then], settle] if then else [reload]


def stops(place: Place) -> list[list[str]]:
    """Return what ends the service before it is taken away."""
    screens = [unit.name for unit in reversed(screen.STARTED)] if screen.wanted_before(place) else []
    names = (*screens, NAME)
    return [[*systemctl(system=place.system), "disable", "--now", name] for name in names]


def afterwards(place: Place) -> list[list[str]]:
    """Return what makes the running machine forget what was taken away."""
    reload = [[*systemctl(system=place.system), "daemon-reload"]]
    return [*reload, *_udev()] if place.system else reload


def run(command: Sequence[str], wait_s: float = WAIT_S) -> str:
    """Run a command; return what went wrong, "" when nothing did."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=wait_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}"
    if done.returncode == 0:
        return ""
    return " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"


def booted() -> bool:
    """Return whether systemd runs this machine: in a container or an image nothing can be started."""
    return BOOTED.is_dir()


def verified(text: str, unit: str = UNIT) -> list[str]:
    """Return what systemd finds wrong with a unit's text; nothing where there is no systemd-analyze to ask."""
    if shutil.which("systemd-analyze") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / unit
        path.write_text(text, "utf-8")
        try:
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=WAIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return []
    lines = [line.removeprefix(f"{path}:") for line in done.stderr.splitlines() if unit in line]
    return lines or ([" ".join(done.stderr.split())] if done.returncode else [])


def properties(*, system: bool) -> dict[str, str]:
    """Return what systemd says of the service: ActiveState, SubState, Result, NRestarts, StatusText, UnitFileState."""
    asked = "ActiveState,SubState,Result,NRestarts,StatusText,UnitFileState"
    try:
        done = subprocess.run(
            [*systemctl(system=system), "show", NAME, f"--property={asked}"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def lingers() -> bool:
    """Return whether this user's services start with the machine and go on after logging out."""
    return (LINGER / (os.environ.get("USER") or Path.home().name)).exists()


def log_choice(home: Path | None = None, root: Path = Path("/")) -> list[str]:
    """Return how journalctl names the service's log."""
    return ["--user-unit" if installed(home, root) == "user" else "--unit", NAME]
