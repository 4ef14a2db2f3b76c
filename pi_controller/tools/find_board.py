"""Finds a board: its port, and its port after a reset.

This outermost module reads the clock and waits.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import msgspec

from pi_controller.board import frames, port_list, wire
from pi_controller.board.serial_port import BY_ID, SerialPort, find_port
from pi_controller.errors import PortError
from pi_controller.pinmap import shipped_file
from pi_controller.simulation.portable_files import modules
from pi_controller.tools.boot_drive import GET, MICROPYTHON_HINT, THEN, FlashError, find_boot_drive

MAIN = "main.py"
LIST = "firmware.json"
"""File on the board that lists our files, so that a later firmware can remove obsolete ones."""


class Firmware(msgspec.Struct, frozen=True, dict=True):
    """A version and its files, name -> content, in the order of installation: the file that starts the rest is last."""

    version: str
    files: dict[str, bytes]

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file, in hexadecimal."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}


def make_firmware(version: str, files: dict[str, bytes]) -> Firmware:
    """Return a firmware with these `files` and the file that lists them."""
    listing = json.dumps({"version": version, "files": sorted(files)}, separators=(",", ":"))
    names = sorted(files.keys() - {MAIN})
    return Firmware(version, {**{name: files[name] for name in names}, LIST: listing.encode(), MAIN: files[MAIN]})


def load_shipped() -> Firmware:
    """Return the firmware shipped with this program. Raises `FlashError` if its files are missing."""
    folder = shipped_file("firmware", MAIN).parent
    paths = [*folder.glob("*.py"), Path(frames.__file__), Path(wire.__file__)]  # the files that both ends run
    if not (folder / MAIN).exists():
        raise FlashError(f"the firmware's {MAIN} is not there", "reinstall moccasin-mat")
    version = ".".join(map(str, modules()["sampler"].FIRMWARE))
    return make_firmware(version, {path.name: path.read_bytes() for path in paths})


LEAVE_S = 3.0
BACK_S = 15.0
"""Longest wait for a restarted board: it takes a second or two, and a slow Pi longer to name its port."""
POLL_S = 0.02


def find_board(setting: str, by_id: Path = BY_ID, root: Path = Path("/")) -> str:
    """Return the path of the only board, or of `setting`, by the name that survives a restart.

    Raises `PortError` if there is none or more than one, `FlashError` if one waits in its boot loader instead.
    """
    try:
        path = find_port(setting, by_id, how="use --port with")
    except PortError as error:
        if drive := find_boot_drive(root):
            raise FlashError(f"{drive.text}: it has no program yet", f"{GET}; {THEN}") from error
        if setting == "auto" and "no mat board" in error.message:
            hint = f"{error.hint}; a board without MicroPython has no port: {MICROPYTHON_HINT}"
            raise PortError(error.message, hint) from error
        raise
    same = [str(name) for name in sorted(by_id.glob("*")) if os.path.realpath(name) == os.path.realpath(path)]
    return same[0] if same and not path.startswith(str(by_id)) else path


def open_port(device: str) -> SerialPort:
    """Open the port. Raises `PortError`, which names the program that holds it."""
    try:
        return SerialPort(device)
    except PortError as error:
        held = ", ".join(port_list.holders(device))
        if held and "another program" in error.message:
            raise PortError(f"{error.message}: {held}", "stop it, and try again") from error
        raise


def enumeration_id(device: str) -> tuple[int, int]:
    """Return an id of this enumeration of the device: its inode and its name's creation time; zeros for no device."""
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
    """Wait until the board enumerated as `before` has left and returned. Raises `PortError` if it does not."""
    began = clock()
    while enumeration_id(device) == before and clock() < began + LEAVE_S:
        sleep(POLL_S)
    began = clock()
    while clock() < began + BACK_S:
        if os.access(device, os.R_OK | os.W_OK):  # udev sets the name first and the group a moment later
            return
        sleep(POLL_S)
    raise PortError(
        f"the board at {device} did not come back after its restart",
        "unplug it, plug it in and run 'moccasin-mat mat flash' again",
    )
