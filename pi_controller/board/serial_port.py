"""The board's USB serial port, by pyserial, and the search for it.

Every `PortError` from here is temporary: a board may be plugged in, a program stopped or a permission granted while the
table plays on, so callers retry. `what` stays the same as long as the reason does.
"""

from __future__ import annotations

import errno
import os
import re
import select
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from pi_controller.errors import PortError, describe_error
from pi_controller.extras import MissingExtraError, requires_extra
from pi_controller.system.platform import TerminalError

if TYPE_CHECKING:
    from serial.tools.list_ports_common import ListPortInfo

BY_ID = Path("/dev/serial/by-id")
"""The folder in which udev names USB serial ports by maker, product and serial number; names survive replugging."""
BAUD = 115_200
"""Has no effect on USB CDC, but must not be 1200: closing at that speed puts many boards into their boot loader."""
MAX_READ_BYTES = 65_536
"""Most bytes of one read, so that a board that floods the port cannot block the caller."""

_BOARDS = re.compile(r"micropython|rp2040|adafruit|raspberry_pi_pico", re.IGNORECASE)
_INTERFACE = re.compile(r"-if\d+$")
_MISSING = {errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO}
_FORBIDDEN = {errno.EACCES, errno.EPERM}
_BUSY = {errno.EAGAIN, errno.EBUSY}
# pyserial passes on the terminal's error, which is no OSError, and TypeError if the descriptor disappears
_FAULTS = (OSError, TerminalError, ValueError, TypeError)


class SerialPort:
    """A `Port` on a serial device, opened exclusively.

    Opening discards the input buffer. DTR is raised, because an RP2040 sends only while it is high, and drops at
    `close`, so the board notices that the host has left. `read_timeout_s` limits `read(at_least=...)`,
    `write_timeout_s` limits `write`, both in seconds. Raises `PortError`.
    """

    def __init__(self, device: str, write_timeout_s: float = 0.5, read_timeout_s: float = 1.0) -> None:
        try:
            with requires_extra("board", "the board's port"):
                import serial  # noqa: PLC0415 - a table without a board needs none
        except MissingExtraError as error:
            raise PortError(error.message, error.hint, error.message) from error
        self.name = device
        self._timeout_error = serial.SerialTimeoutException
        self.serial = serial.Serial(
            port=None, baudrate=BAUD, exclusive=True, timeout=read_timeout_s, write_timeout=write_timeout_s
        )
        self.serial.port = device
        # set before opening: a line that moves afterwards restarts some boards
        self.serial.dtr = True
        self.serial.rts = True
        try:
            self.serial.open()  # this drops the input too
        except _FAULTS as error:
            raise _not_opened(device, error) from error

    def __repr__(self) -> str:
        return f"<SerialPort {self.name} {'open' if self.serial.is_open else 'closed'}>"

    def read(self, at_least: int = 0) -> bytes:
        """Return the available bytes; with `at_least`, first wait up to `read_timeout_s` for that many."""
        self._check_open()
        data = bytearray()
        try:
            if at_least > 0:
                data += self.serial.read(at_least)
            while len(data) < MAX_READ_BYTES and (part := self._read_waiting()):
                data += part
            if not data:
                _ = self.serial.in_waiting  # raises if the device is gone; a read then only returns nothing
        except _FAULTS as error:
            raise self._lost() from error
        return bytes(data)

    def _read_waiting(self) -> bytes:
        try:
            return os.read(self.serial.fileno(), MAX_READ_BYTES)
        except BlockingIOError:
            return b""

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a byte to read; return at once if one is available or the port has a fault."""
        self._check_open()
        try:
            select.select([self.serial.fileno()], [], [], seconds)
        except _FAULTS as error:
            raise self._lost() from error

    def write(self, data: bytes) -> None:
        """Write all of `data` within `write_timeout_s`, or raise `PortError` and close."""
        self._check_open()
        try:
            self.serial.write(data)
        except self._timeout_error as error:
            self.close()
            raise write_timeout_error(self.name) from error
        except _FAULTS as error:
            raise self._lost() from error

    def close(self) -> None:
        """Close the port. Closing twice is fine."""
        with suppress(OSError):  # the device may be gone; the descriptor is freed anyway
            self.serial.close()

    def _check_open(self) -> None:
        if not self.serial.is_open:
            raise port_closed_error(self.name)

    def _lost(self) -> PortError:
        self.close()
        return board_gone_error(self.name)


def no_board_error(device: str, choices: str = "") -> PortError:
    """Return the error for a missing `device`; `choices` names other ports."""
    todo = "check the USB cable"
    return PortError(f"there is no board at {device}", todo + choices, f"there is no board at its port: {todo}")


def port_busy_error(device: str) -> PortError:
    """Return the error for a `device` held by another program."""
    todo = "stop it: a serial monitor, or a second table on this board"
    return PortError(f"another program is using {device}", todo, f"another program is using the board's port: {todo}")


def board_gone_error(device: str) -> PortError:
    """Return the error for a board at `device` that was unplugged while open."""
    todo = "check the USB cable; play goes on from the judge's console"
    return PortError(f"the board at {device} is disconnected", todo, f"the board is disconnected: {todo}")


def write_timeout_error(device: str) -> PortError:
    """Return the error for a write timeout at `device`: the board does not read."""
    todo = "unplug the board and plug it in again"
    return PortError(f"the board at {device} takes no more data", todo, f"the board takes no more data: {todo}")


def port_closed_error(device: str) -> PortError:
    """Return the error for using `device` after it was closed."""
    return PortError(f"the port {device} is closed", todo := "open it again", f"the board's port is closed: {todo}")


def is_board(name: str) -> bool:
    """Return True if a port of this name in `BY_ID` can be a mat board."""
    return _BOARDS.search(name) is not None


def find_port(setting: str, by_id: Path = BY_ID, how: str = "set [board] port to") -> str:
    """Return the device for the setting `port`: the setting itself, or for "auto" the only mat board in `by_id`.

    Raises `PortError` if there is none (yet), or if there are several; the hint lists them and says `how` to
    choose.
    """
    present = _present(by_id)
    if setting != "auto":
        if not Path(setting).exists():
            raise no_board_error(setting, _choices(present, how))
        return setting
    # a board with several interfaces uses its first one
    boards: dict[str, str] = {}
    for path in present:
        if is_board(path.name):
            boards.setdefault(_INTERFACE.sub("", path.name), str(path))
    if not boards:
        todo = "check the USB cable"
        raise PortError(what := "no mat board is plugged in", f"{todo}{_choices(present, how)}", f"{what}: {todo}")
    if len(boards) > 1:
        todo = f"{how} one of: {', '.join(boards.values())}"
        raise PortError(what := "several boards are plugged in", todo, f"{what}: the settings have to name one")
    return next(iter(boards.values()))


def _present(by_id: Path) -> list[Path]:
    try:
        return sorted(path for path in by_id.iterdir() if path.exists())
    except FileNotFoundError:  # udev creates the folder with the first port
        return []
    except OSError as error:
        todo = "set [board] port to the board's path"
        raise PortError(
            f"cannot look for boards in {by_id}: {describe_error(error)}", todo, f"cannot look for boards: {todo}"
        ) from error


def _choices(present: list[Path], how: str) -> str:
    return f", or {how} one of: {', '.join(map(str, present))}" if present else ""


def _not_opened(device: str, error: Exception) -> PortError:
    number = getattr(error, "errno", None)
    if number in _MISSING:
        return no_board_error(device)
    if number in _FORBIDDEN:
        todo = "add this user to the group dialout (usermod -aG dialout NAME), then log in again"
        return PortError(f"no permission to open {device}", todo, f"no permission to open the board's port: {todo}")
    if number in _BUSY:
        return port_busy_error(device)
    todo = "set [board] port to 'auto' or to a path in /dev/serial/by-id"
    return PortError(
        f"{device} is not a serial port", todo, "the board's port is not a serial port: set [board] port again"
    )


# Lists the serial ports: the device on each, whether it may be opened, and which one "auto" selects.
#
# No port is opened here: opening one raises DTR, which restarts many boards. The program that holds a port is found in
# `/proc` instead.


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
