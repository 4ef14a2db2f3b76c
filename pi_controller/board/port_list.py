"""Lists the serial ports: the device on each, whether it may be opened, and which one "auto" selects.

No port is opened here: opening one raises DTR, which restarts many boards. The program that holds a port is found in
`/proc` instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from pi_controller.errors import PortError
from pi_controller.extras import requires_extra

if TYPE_CHECKING:
    from serial.tools.list_ports_common import ListPortInfo
from pi_controller.board.serial_port import BY_ID, find_port, is_board

State = Literal["free", "held", "forbidden"]

PROC = Path("/proc")


class PortInfo(msgspec.Struct, frozen=True):
    """One serial port. `name` is its path in /dev/serial/by-id, or "" if it has none; `usb` is vendor:product."""

    device: str
    name: str
    maker: str
    product: str
    serial_number: str
    usb: str
    board: bool
    """True if its name matches a possible mat board."""
    state: State
    holder: str
    """The program that holds it, if this user may see that."""
    auto: bool
    """True if `port = "auto"` selects it."""
    why: str
    """Why "auto" does not select it; "" if it does."""

    @property
    def path(self) -> str:
        """The path to open: the one that survives replugging, if there is one."""
        return self.name or self.device


class PortList(msgspec.Struct, frozen=True):
    """All ports, and the `fault` of "auto", None if it finds its board."""

    ports: tuple[PortInfo, ...]
    fault: PortError | None


def list_serial_ports(
    by_id: Path = BY_ID, comports: Callable[[], Iterable[ListPortInfo]] | None = None, proc: Path = PROC
) -> PortList:
    """Return every serial port, possible mat boards first. Raises `MissingExtraError` without pyserial."""
    if comports is None:
        with requires_extra("board", "the list of serial ports"):
            from serial.tools.list_ports import comports  # noqa: PLC0415
    try:
        taken, fault = find_port("auto", by_id), None
    except PortError as error:
        taken, fault = "", error
    names = _names(by_id)
    infos = {os.path.realpath(info.device): info for info in comports()}
    found = [
        _port_info(device, names.get(device, []), infos.get(device), taken, fault, proc)
        for device in sorted({*names, *infos})
    ]
    return PortList(tuple(sorted(found, key=lambda port: not port.board)), fault)


def holders(device: str, proc: Path = PROC) -> Iterator[str]:
    """Yield `name (process N)` of each program that has `device` open or locked, as far as this user may see."""
    device = os.path.realpath(device)
    pids = {pid for pid in _pids(proc) if _has_open(proc / str(pid), device)} | set(_locking_pids(device, proc))
    for pid in sorted(pids):
        yield f"{_program(proc / str(pid))} (process {pid})" if pid > 0 else "a program of another container"


def _names(by_id: Path) -> dict[str, list[str]]:
    """Return the names of each device, its first interface's name first."""
    names: dict[str, list[str]] = {}
    try:
        for path in sorted(by_id.iterdir()):
            if path.exists():
                names.setdefault(os.path.realpath(path), []).append(str(path))
    except OSError:  # no USB port, or no udev: no names
        return {}
    return names


def _port_info(
    device: str, names: list[str], info: ListPortInfo | None, taken: str, fault: PortError | None, proc: Path
) -> PortInfo:
    name = taken if taken in names else names[0] if names else ""
    board = is_board(Path(name).name) if name else False
    state, holder = _state(device, proc)
    return PortInfo(
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
        why="" if taken and name == taken else _explain_not_taken(board, name, taken, fault),
    )


def _explain_not_taken(board: bool, name: str, taken: str, fault: PortError | None) -> str:
    if not name:
        return "it is no USB port with a name in /dev/serial/by-id"
    if not board:
        return "its name is none of a board that can be a mat's (RP2040, MicroPython)"
    if taken:
        return "it is another interface of the board that is taken"
    return fault.message if fault else ""


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


def _has_open(process: Path, device: str) -> bool:
    try:
        return any(_target(link) == device for link in (process / "fd").iterdir())
    except OSError:  # another user's process, or one that has just ended
        return False


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _locking_pids(device: str, proc: Path) -> Iterator[int]:
    """Yield the ids of processes that have locked `device`, other users' included: `/proc/locks` lists all."""
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
