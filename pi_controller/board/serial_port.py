"""The board's USB serial port, by pyserial, and the search for it.

Every `PortError` from here is temporary: a board may be plugged in, a program stopped or a permission granted while the
table plays on, so callers retry. `what` stays the same as long as the reason does.
"""

from __future__ import annotations

import errno
import os
import re
import select
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import PortError, describe_error
from pi_controller.extras import MissingExtraError, requires_extra
from pi_controller.host.platform import TerminalError
from pi_controller.text import mark

if TYPE_CHECKING:
    pass

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
            raise PortError(error.message, private=error.hint) from error
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
    public = mark("there is no board at its port")
    return PortError(f"there is no board at {device}", "check the USB cable", public, private=choices)


def port_busy_error(device: str) -> PortError:
    """Return the error for a `device` held by another program."""
    hint = mark("stop it; it is a serial monitor, or a second table on this board")
    return PortError(f"another program is using {device}", hint, "another program is using the board's port")


def board_gone_error(device: str) -> PortError:
    """Return the error for a board at `device` that was unplugged while open."""
    hint = mark("check the USB cable; play goes on from the judge's console")
    return PortError(f"the board at {device} is disconnected", hint, "the board is disconnected")


def write_timeout_error(device: str) -> PortError:
    """Return the error for a write timeout at `device`: the board does not read."""
    hint = mark("unplug the board and plug it in again")
    return PortError(f"the board at {device} takes no more data", hint, "the board takes no more data")


def port_closed_error(device: str) -> PortError:
    """Return the error for using `device` after it was closed."""
    return PortError(f"the port {device} is closed", "open it again", "the board's port is closed")


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
        raise PortError("no mat board is plugged in", "check the USB cable", private=_choices(present, how))
    if len(boards) > 1:
        choices = f": {how} one of: {', '.join(boards.values())}"
        raise PortError("several boards are plugged in", "name the right one", private=choices)
    return next(iter(boards.values()))


def _present(by_id: Path) -> list[Path]:
    try:
        return sorted(path for path in by_id.iterdir() if path.exists())
    except FileNotFoundError:  # udev creates the folder with the first port
        return []
    except OSError as error:
        wrong, hint = f"cannot look for boards in {by_id}: {describe_error(error)}", mark("name the board's port")
        raise PortError(wrong, hint, "cannot look for boards", private=" in [board] port") from error


def _choices(present: list[Path], how: str) -> str:
    return f", or {how} one of: {', '.join(map(str, present))}" if present else ""


def _not_opened(device: str, error: Exception) -> PortError:
    number = getattr(error, "errno", None)
    if number in _MISSING:
        return no_board_error(device)
    if number in _FORBIDDEN:
        hint = mark("add this user to the group dialout (usermod -aG dialout NAME), then log in again")
        return PortError(f"no permission to open {device}", hint, "no permission to open the board's port")
    if number in _BUSY:
        return port_busy_error(device)
    public, private = mark("the board's port is not a serial port"), ", to 'auto' or to a path in /dev/serial/by-id"
    return PortError(f"{device} is not a serial port", "set [board] port again", public, private=private)
