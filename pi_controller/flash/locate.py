"""Finds a board: its port, its boot loader's drive, and its return after a reset.

This is an edge: it reads the clock and waits.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.drivers import port_list
from pi_controller.drivers.serial_port import BY_ID, SerialPort, find_port
from pi_controller.errors import PortError
from pi_controller.flash.firmware import FlashError

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL = "RPI-RP2"
"""The drive that an RP2040 shows while it waits for a UF2 file."""
LEAVE_S = 3.0
BACK_S = 15.0
"""A board that starts is back on the bus in a second or two; a slow Pi takes longer to name it."""
LOOK_S = 0.02

GET = (
    "get MicroPython 1.23 or newer for the RP2040, a .uf2 file, from MicroPython's own download page for your board "
    "and copy it onto the drive"
)
THEN = "when the drive has gone, say 'moccasin-mat flash' again"
PUT_MICROPYTHON = (
    f"unplug the board, hold its BOOTSEL (or BOOT) button, plug it in and let go: the drive {LABEL} appears; {GET}; "
    f"{THEN}"
)


def find(setting: str, by_id: Path = BY_ID, root: Path = Path("/")) -> str:
    """Return the path of the one board, or of `setting`, by the name that survives a restart.

    Raises `PortError` when there is none or several, `FlashError` when one waits in its boot loader instead.
    """
    try:
        path = find_port(setting, by_id, how="say --port with")
    except PortError as error:
        if drive := boot_drive(root):
            raise FlashError(
                f"a board waits in its boot loader, as the drive {LABEL} ({drive}): it has no program yet",
                f"{GET}; {THEN}",
            ) from error
        if setting == "auto" and "no mat board" in error.what:
            raise PortError(
                error.what,
                f"{error.todo}; a board without MicroPython has no port: {PUT_MICROPYTHON}",
            ) from error
        raise
    same = [str(name) for name in sorted(by_id.glob("*")) if os.path.realpath(name) == os.path.realpath(path)]
    return same[0] if same and not path.startswith(str(by_id)) else path


def boot_drive(root: Path = Path("/")) -> str:
    """Return where the drive of a board in its boot loader is, or "" for none."""
    try:
        for line in (root / "proc/mounts").read_text("utf-8", "replace").splitlines():
            words = line.split()
            if len(words) > 1 and words[1].rsplit("/", 1)[-1] == LABEL:
                return words[1]
    except OSError:
        pass
    label = root / "dev/disk/by-label" / LABEL
    return str(label) if label.is_symlink() or label.exists() else ""


def opened(device: str) -> SerialPort:
    """Return the open port. Raises `PortError`, which names the program that holds it."""
    try:
        return SerialPort(device)
    except PortError as error:
        held = ", ".join(port_list.holders(device))
        if held and "another program" in error.what:
            raise PortError(f"{error.what}: {held}", "stop it, and try again") from error
        raise


def mark(device: str) -> tuple[int, int]:
    """Identify this enumeration of the device: its inode, and when its name appeared; zeros for no device."""
    path = Path(device)
    try:
        return path.stat().st_ino, path.lstat().st_ctime_ns if path.is_symlink() else 0
    except OSError:
        return 0, 0


def wait_until_back(
    device: str,
    before: tuple[int, int],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the board that was `mark`ed `before` has left and is there again. Raises `PortError` if it is not."""
    began = clock()
    while mark(device) == before and clock() < began + LEAVE_S:
        sleep(LOOK_S)
    began = clock()
    while clock() < began + BACK_S:
        if os.access(device, os.R_OK | os.W_OK):  # udev gives it its name first and its group a moment later
            return
        sleep(LOOK_S)
    raise PortError(
        f"the board at {device} did not come back after its restart",
        "unplug it, plug it in and say 'moccasin-mat flash' again",
    )
