"""Query and start the service by systemctl and journalctl. Functions return errors and never raise."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pi_controller.card import kiosk as screen
from pi_controller.card.device_rights import SYSUSERS_FILE
from pi_controller.config.request import REQUEST
from pi_controller.host.place import NAME, SYSTEM_UNITS, UNIT, Place

COMMAND_TIMEOUT_S = 200.0
"""Longer than the unit's TimeoutStartSec, because `restart` returns when the table is ready."""
SYSTEMD_MARKER = Path("/run/systemd/system")
"""Exists if systemd runs the machine."""
UDEV = Path("/run/udev/control")
"""Exists if udev runs."""


def is_installed(root: Path = Path("/")) -> bool:
    """Return whether setup has installed the unit."""
    return (root / SYSTEM_UNITS.relative_to("/") / UNIT).exists()


def activation_commands(*, kiosk: bool = False) -> list[list[str]]:
    """Return the commands that activate the installed files and start the service last.

    `kiosk` starts the visitors' screen as well.
    """
    return [
        ["systemd-sysusers", str(SYSUSERS_FILE), *([str(screen.SYSUSERS)] if kiosk else [])],
        *_udev(["trigger", *(f"--subsystem-match={name}" for name in ("tty", "gpio", "spidev", "i2c-dev", "*-pio"))]),
        ["systemctl", "daemon-reload"],
        ["systemctl", "restart", REQUEST.path.name],
        # the browser's start is not waited for
        *(
            ["systemctl", *(["--no-block"] if unit == screen.UNIT else []), "restart", unit.name]
            for unit in (screen.STARTED if kiosk else ())
        ),
        ["systemctl", "restart", NAME],
    ]


def _udev(then: Sequence[str] = ()) -> list[list[str]]:
    """Return the commands that reload the udev rules and then run udevadm with `then`; [] if udev does not run."""
    if not UDEV.exists():
        return []
    reload, settle = ["udevadm", "control", "--reload"], ["udevadm", "settle", "--timeout=10"]
    return [reload, ["udevadm", *then], settle] if then else [reload]


def stop_commands(place: Place) -> list[list[str]]:
    """Return the commands that stop the service before its removal."""
    screens = [unit.name for unit in reversed(screen.STARTED)] if screen.is_set_up(place) else []
    own = [REQUEST.path.name] if place.on_disk(REQUEST.path).exists() else []
    return [["systemctl", "disable", "--now", name] for name in (*screens, *own, NAME)]


def reload_commands() -> list[list[str]]:
    """Return the commands that make systemd and udev notice the removal."""
    return [["systemctl", "daemon-reload"], *_udev()]


def run_captured(command: Sequence[str], wait_s: float) -> subprocess.CompletedProcess[str]:
    """Run a command and capture its output as text. Raises `OSError` and `subprocess.TimeoutExpired`."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=wait_s, check=False)


def run(command: Sequence[str]) -> str:
    """Run a command; return the error, "" for success."""
    try:
        done = run_captured(command, COMMAND_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return ""
    return " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"


def is_systemd_running() -> bool:
    """Return True if systemd runs this machine; it does not in a container or an image."""
    return SYSTEMD_MARKER.is_dir()


def verify_unit(text: str, unit: str = UNIT) -> list[str]:
    """Return systemd's complaints about a unit's text; [] without systemd-analyze."""
    if shutil.which("systemd-analyze") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / unit
        path.write_text(text, "utf-8")
        command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)]
        try:
            done = run_captured(command, COMMAND_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            return []
    lines = [line.removeprefix(f"{path}:") for line in done.stderr.splitlines() if unit in line]
    return lines or ([" ".join(done.stderr.split())] if done.returncode else [])


def properties() -> dict[str, str]:
    """Return the service's properties ActiveState, SubState, Result, NRestarts, StatusText and UnitFileState."""
    asked = "ActiveState,SubState,Result,NRestarts,StatusText,UnitFileState"
    try:
        done = run_captured(["systemctl", "show", NAME, f"--property={asked}"], 10)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
