"""Lists the serial ports: the device on each, whether it may be opened, and which one "auto" takes.

No port is opened here: opening one raises DTR, and that restarts many boards. Who holds a port is read from
`/proc` instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from serial.tools import list_ports

from pi_controller.drivers.serial_port import BY_ID, find_port, is_board
from pi_controller.errors import PortError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from serial.tools.list_ports_common import ListPortInfo

State = Literal["free", "held", "forbidden"]

PROC = Path("/proc")


class Listed(msgspec.Struct, frozen=True):
    """One serial port. `name` is its path in /dev/serial/by-id, or "" where udev gives none; `usb` vendor:product."""

    device: str
    name: str
    maker: str
    product: str
    serial_number: str
    usb: str
    board: bool
    """Whether it looks like a board that can be a mat's."""
    state: State
    holder: str
    """The program that holds it, where this user may know."""
    auto: bool
    """Whether `port = "auto"` takes it."""
    why: str
    """Why "auto" does not take it; "" where it does."""

    @property
    def path(self) -> str:
        """The path to open it by: the one that survives replugging, where there is one."""
        return self.name or self.device


class PortList(msgspec.Struct, frozen=True):
    """All ports, and the `fault` that "auto" meets: None where it finds its board."""

    ports: tuple[Listed, ...]
    fault: PortError | None


def listed(
    by_id: Path = BY_ID, comports: Callable[[], Iterable[ListPortInfo]] = list_ports.comports, proc: Path = PROC
) -> PortList:
    """Return every serial port, those that could be a mat's first. Raises nothing."""
    try:
        taken, fault = find_port("auto", by_id), None
    except PortError as error:
        taken, fault = "", error
    names = _names(by_id)
    infos = {os.path.realpath(info.device): info for info in comports()}
    found = [
        _listed(device, names.get(device, []), infos.get(device), taken, fault, proc)
        for device in sorted({*names, *infos})
    ]
    return PortList(tuple(sorted(found, key=lambda port: not port.board)), fault)


def holders(device: str, proc: Path = PROC) -> Iterator[str]:
    """Yield `name (process N)` of each program that has `device` open or locked, as far as this user may see."""
    device = os.path.realpath(device)
    pids = {pid for pid in _pids(proc) if _opened(proc / str(pid), device)} | set(_locked(device, proc))
    for pid in sorted(pids):
        yield f"{_program(proc / str(pid))} (process {pid})" if pid > 0 else "a program of another container"


def _names(by_id: Path) -> dict[str, list[str]]:
    """Return device -> its names, that of its first interface first."""
    names: dict[str, list[str]] = {}
    try:
        for path in sorted(by_id.iterdir()):
            if path.exists():
                names.setdefault(os.path.realpath(path), []).append(str(path))
    except OSError:  # no USB port, or no udev: there are no names
        return {}
    return names


def _listed(
    device: str, names: list[str], info: ListPortInfo | None, taken: str, fault: PortError | None, proc: Path
) -> Listed:
    name = taken if taken in names else names[0] if names else ""
    board = is_board(Path(name).name) if name else False
    state, holder = _state(device, proc)
    return Listed(
        device=device,
        name=name,
        maker=(info.manufacturer or "") if info else "",
        product=(info.product or "") if info else "",
        serial_number=(info.serial_number or "") if info else "",
        usb=f"{info.vid:04x}:{info.pid:04x}" if info and info.vid is not None and info.pid is not None else "",
        board=board,
        state=state,
        holder=holder,
        auto=bool(taken) and name == taken,
        why="" if taken and name == taken else _why(board, name, taken, fault),
    )


def _why(board: bool, name: str, taken: str, fault: PortError | None) -> str:
    if not name:
        return "it is no USB port with a name in /dev/serial/by-id"
    if not board:
        return "its name is none of a board that can be a mat's (RP2040, MicroPython)"
    if taken:
        return "it is another interface of the board that is taken"
    return fault.what if fault else ""


def _state(device: str, proc: Path) -> tuple[State, str]:
    held = ", ".join(holders(device, proc))
    if held:
        return "held", held
    return ("free" if os.access(device, os.R_OK | os.W_OK) else "forbidden"), ""


def _pids(proc: Path) -> list[int]:
    try:
        return [int(path.name) for path in proc.iterdir() if path.name.isdigit()]
    except OSError:
        return []


def _opened(process: Path, device: str) -> bool:
    try:
        return any(_target(link) == device for link in (process / "fd").iterdir())
    except OSError:  # another user's process, or one that has just ended
        return False


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _locked(device: str, proc: Path) -> Iterator[int]:
    """Yield who has locked `device`, also other users' programs: `/proc/locks` tells all."""
    try:
        status = Path(device).stat()
        lines = (proc / "locks").read_text("ascii", "replace").splitlines()
    except OSError:
        return
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[5] == place and words[1] == "FLOCK":
            yield int(words[4])


def _program(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        line = [Path(word.decode("utf-8", "replace")).name for word in words[:3] if word]
    except OSError:
        line = []
    if line and line[0].startswith("python"):
        line = [word for word in line[1:] if word != "-m"][:1] or line[:1]
    return line[0] if line else "another program"
