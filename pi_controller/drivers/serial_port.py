"""The board's USB serial port, by pyserial, and how it is found.

Every `PortError` from here means "not now": a board may be plugged in, a program stopped or a permission given while
the table plays on, so whoever opens the port keeps looking. `what` stays the same while the reason does.
"""

from __future__ import annotations

import errno
import os
import re
import select
import termios
from contextlib import suppress
from pathlib import Path

import serial

from pi_controller.errors import PortError

BY_ID = Path("/dev/serial/by-id")
"""Where udev names USB serial ports by maker, product and serial number: the name survives replugging."""
BAUD = 115_200
"""Means nothing on USB CDC, but must not be 1200: closing at that speed sends many boards into their boot loader."""
MOST = 65_536
"""Bytes one read hands over at most, so that a board gone wild cannot keep the caller."""

_BOARDS = re.compile(r"micropython|rp2040|adafruit|raspberry_pi_pico", re.IGNORECASE)
_INTERFACE = re.compile(r"-if\d+$")
_MISSING = {errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO}
_FORBIDDEN = {errno.EACCES, errno.EPERM}
_BUSY = {errno.EAGAIN, errno.EBUSY}
# pyserial lets termios.error through, which is no OSError, and TypeError when the descriptor is gone under it
_FAULTS = (OSError, termios.error, ValueError, TypeError)


class SerialPort:
    """A `Port` on a serial device, held exclusively.

    Opening drops what waited in the input. DTR is raised, because an RP2040 sends nothing over USB while it is low,
    and falls at `close`, so the board knows when nobody listens. `read_timeout_s` bounds `read(at_least=...)`,
    `write_timeout_s` bounds `write`, both in seconds. Raises `PortError`.
    """

    def __init__(self, device: str, write_timeout_s: float = 0.5, read_timeout_s: float = 1.0) -> None:
        self.name = device
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
        """Return all bytes that wait; with `at_least`, wait up to `read_timeout_s` for that many first."""
        self._check_open()
        data = bytearray()
        try:
            if at_least > 0:
                data += self.serial.read(at_least)
            while len(data) < MOST and (waiting := self.serial.in_waiting):
                data += os.read(self.serial.fileno(), min(waiting, MOST))  # pyserial's own would select once more
        except _FAULTS as error:
            raise self._lost() from error
        return bytes(data)

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a byte to read; returns at once when one waits or the port has a fault."""
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
        except serial.SerialTimeoutException as error:
            self.close()
            raise takes_no_more(self.name) from error
        except _FAULTS as error:
            raise self._lost() from error

    def close(self) -> None:
        """Give the port back. Closing twice is fine."""
        with suppress(OSError):  # the device may be gone; the descriptor is freed all the same
            self.serial.close()

    def _check_open(self) -> None:
        if not self.serial.is_open:
            raise closed(self.name)

    def _lost(self) -> PortError:
        self.close()
        return gone(self.name)


def not_there(device: str, choices: str = "") -> PortError:
    """Return the error for no device at `device`; `choices` names other ports."""
    todo = "check the USB cable"
    return PortError(f"there is no board at {device}", todo + choices, f"there is no board at its port: {todo}")


def held(device: str) -> PortError:
    """Return the error for a `device` held by another program."""
    todo = "stop it: a serial monitor, or a second table on this board"
    return PortError(f"another program holds {device}", todo, f"another program holds the board's port: {todo}")


def gone(device: str) -> PortError:
    """Return the error for a board at `device` that is unplugged while it is open."""
    todo = "check the USB cable; play goes on from the judge's console"
    return PortError(f"the board at {device} is gone", todo, f"the board is gone: {todo}")


def takes_no_more(device: str) -> PortError:
    """Return the error for a write timeout at `device`: the board reads nothing."""
    todo = "unplug the board and plug it in again"
    return PortError(f"the board at {device} takes no more data", todo, f"the board takes no more data: {todo}")


def closed(device: str) -> PortError:
    """Return the error for `device` used after it was closed."""
    return PortError(f"the port {device} is closed", todo := "open it again", f"the board's port is closed: {todo}")


def is_board(name: str) -> bool:
    """Return whether a port of this name in `BY_ID` can be a mat board's."""
    return _BOARDS.search(name) is not None


def find_port(setting: str, by_id: Path = BY_ID, how: str = "set [board] port to") -> str:
    """Return the device to open for the setting `port`: itself, or for "auto" the one mat board in `by_id`.

    Raises `PortError` when it is not there (yet), or when several boards are: then it lists them, and `how` to choose.
    """
    present = _present(by_id)
    if setting != "auto":
        if not Path(setting).exists():
            raise not_there(setting, _choices(present, how))
        return setting
    # a board with several interfaces talks on its first one
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
    except FileNotFoundError:  # udev makes the folder with the first port
        return []
    except OSError as error:
        todo = "set [board] port to the board's path"
        raise PortError(
            f"cannot look for boards in {by_id}: {error.strerror}", todo, f"cannot look for boards: {todo}"
        ) from error


def _choices(present: list[Path], how: str) -> str:
    return f", or {how} one of: {', '.join(map(str, present))}" if present else ""


def _not_opened(device: str, error: Exception) -> PortError:
    number = getattr(error, "errno", None)
    if number in _MISSING:
        return not_there(device)
    if number in _FORBIDDEN:
        todo = "add this user to the group dialout (usermod -aG dialout NAME), then log in again"
        return PortError(f"no permission to open {device}", todo, f"no permission to open the board's port: {todo}")
    if number in _BUSY:
        return held(device)
    todo = "set [board] port to 'auto' or to a path in /dev/serial/by-id"
    return PortError(
        f"{device} is not a serial port", todo, "the board's port is no serial port: set [board] port anew"
    )
