"""Finds a board: its port, and its port after a reset.

This outermost module reads the clock and waits.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_controller.board import frames, port_list, wire
from pi_controller.board.messages import REASONS
from pi_controller.board.port_list import PortInfo, PortList
from pi_controller.board.serial_port import BY_ID, SerialPort, find_port
from pi_controller.board.session import HELLO_S
from pi_controller.errors import PortError
from pi_controller.pinmap import shipped_file
from pi_controller.simulation.board import modules
from pi_controller.system.boot_drive import GET, MICROPYTHON_HINT, THEN, BootDrive, FlashError, find_boot_drive

# The firmware shipped with this program, as the files on a board.


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
        "unplug it, plug it in and run 'moccasin-mat flash' again",
    )


# Probes a port with HELLO, and reads the board's identity.


ANSWER_S = 1.2
"""A mat that runs answers within milliseconds."""
INTERRUPT = b"\r\x03"
"""A running mat takes this as the request to copy files, and restarts without its program."""
_PROMPT = re.compile(rb">>> |raw REPL|MicroPython|CircuitPython")


class BoardIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """A board's identity (WELCOME); for another major protocol only `protocol` is known."""

    protocol: str
    firmware: str = ""
    board: str = ""
    starts: int = 0
    reason: str = ""

    @property
    def is_supported(self) -> bool:
        """True if this program supports the board's protocol."""
        return self.protocol.partition(".")[0] == str(wire.PROTOCOL[0])

    def text(self) -> str:
        """Return the identity in one line."""
        if not self.is_supported:
            return f"speaks protocol {self.protocol}, this program {own_protocol()}"
        return f"board {self.board}, firmware {self.firmware}, protocol {self.protocol}"

    def start(self) -> str:
        """Return the board's boot count and reset cause in a few words."""
        return f"start {self.starts}, by {self.reason}"


class ProbeResult(msgspec.Struct, frozen=True):
    """Result of a probe: a mat's `answer`, or the `prompt` of a MicroPython without our firmware, or neither."""

    answer: BoardIdentity | None
    prompt: bool


def own_protocol() -> str:
    """Return this program's protocol version."""
    return "{}.{}".format(*wire.PROTOCOL)


def probe(
    port: SerialPort,
    seconds: float = ANSWER_S,
    clock: Callable[[], float] = time.monotonic,
    *,
    starting_s: float = 0.0,
) -> ProbeResult:
    """Send HELLO until a mat answers, for at most `seconds`, then BYE. Raises `PortError` if the port is lost.

    A starting board sends data from time to time: with `starting_s` any data restarts the wait, up to `starting_s` in
    all, and MicroPython's prompt, which a failed program leaves, ends it at once.
    """
    decoder = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    number, received = 0, b""
    began = clock()
    end, next_hello = began + seconds, began
    while (now := clock()) < end:
        if now >= next_hello:
            port.write(wire.seal(wire.hello_body(), number))
            number, next_hello = number + 1, now + HELLO_S
        port.wait(min(end, next_hello) - now)
        data = port.read()
        received = (received + data)[-4096:]
        for kind, _, payload in decoder.feed(data):
            if kind == wire.WELCOME:
                port.write(wire.seal(wire.bye_body(), number))
                return ProbeResult(_answer(payload), prompt=False)
        if data and starting_s:
            if _PROMPT.search(received):
                break
            end = max(end, min(clock() + seconds, began + starting_s))
    return ProbeResult(None, _PROMPT.search(received) is not None)


def _answer(payload: bytes) -> BoardIdentity:
    protocol = f"{payload[0]}.{payload[1]}"
    if payload[0] != wire.PROTOCOL[0]:
        return BoardIdentity(protocol)
    _, _, x, y, z, name, starts, reason, *_ = wire.welcome(payload)
    return BoardIdentity(protocol, f"{x}.{y}.{z}", name.hex(), starts, REASONS.get(reason, "an unknown reason"))


# Reports the serial ports: which one "auto" selects, and which board answers.


FLASH = "'moccasin-mat flash' puts the firmware on it"
_STATES = {"free": "green", "held": "yellow", "forbidden": "bold red"}


class PortReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A port, the answer of the mat on it or why there is none, and the remedy."""

    port: PortInfo
    mat: BoardIdentity | None = None
    found: str = ""
    todo: str = ""


def check_ports(ports: PortList, *, asking: bool, seconds: float = ANSWER_S) -> list[PortReport]:
    """Return a report for each port; with `asking`, probe each free board with HELLO."""
    # if "auto" selects a board, the other ports that look like one are its further interfaces
    return [
        _port_report(port, asking and port.board and (port.auto or ports.fault is not None), seconds)
        for port in ports.ports
    ]


def _port_report(port: PortInfo, asking: bool, seconds: float) -> PortReport:
    if port.state == "held":
        todo = "stop that program to use this port" if port.board else ""
        return PortReport(port, None, f"held by {port.holder}", todo)
    if port.state == "forbidden":
        todo = "add this user to the group dialout (sudo usermod -aG dialout $USER), then log in again"
        return PortReport(port, None, "this user may not open it", todo)
    if not asking:
        return PortReport(port, None, "free")
    return _probe_port(port, seconds)


def _probe_port(port: PortInfo, seconds: float) -> PortReport:
    try:
        opened = open_port(port.path)
        try:
            result = probe(opened, seconds)
        finally:
            opened.close()
    except PortError as error:
        return PortReport(port, None, error.message, error.hint)
    if result.answer is not None:
        todo = "" if result.answer.is_supported else f"it needs this program's firmware: {FLASH}"
        return PortReport(port, result.answer, "free", todo)
    if result.prompt:
        return PortReport(port, None, "free; MicroPython without the mat's program", FLASH)
    return PortReport(port, None, "free; no mat answers", f"plug it in again; if it has no firmware yet, {FLASH}")


def show(console: Console, reports: Sequence[PortReport], fault: PortError | None, drive: BootDrive | None) -> None:
    """Print the ports, a board in its boot loader, and the fault of "auto"."""
    for report in reports:
        _show(console, report)
    if not reports:
        console.print("there is no serial port")
    if drive:
        console.print(Text(drive.text, "bold"))
        console.print(Text(f"  > {GET}; then run 'moccasin-mat flash'", "yellow"))
    if fault is not None:
        console.print(Text(f'port = "auto" takes none: {fault.message}', "bold red"))
        console.print(Text(f"  > {fault.hint}", "yellow"))


def _show(console: Console, report: PortReport) -> None:
    port = report.port
    head = Text(port.device, "bold" if port.board else "")
    if port.auto:
        head.append('  the one that "auto" takes', "green")
    console.print(head)
    table = Table.grid(padding=(0, 2))
    table.add_column(width=7, style="dim", justify="right")
    table.add_column(overflow="fold")
    if port.name:
        table.add_row("name", Text(port.name))
    if what := _describe_port(port):
        table.add_row("is", Text(what))
    table.add_row("state", Text(report.found, _STATES[port.state]))
    if report.mat is not None:
        mat = report.mat
        table.add_row("mat", Text(f"{mat.text()}{f', {mat.start()}' if mat.is_supported else ''}"))
    if port.why:
        table.add_row("auto", Text(f"no: {port.why}", "dim"))
    if report.todo:
        table.add_row("", Text(f"> {report.todo}", "yellow"))
    console.print(table)
    console.print()


def _describe_port(port: PortInfo) -> str:
    product = port.product if port.product.startswith(port.maker) else f"{port.maker} {port.product}".strip()
    serial = f"serial number {port.serial_number}" if port.serial_number else ""
    return ", ".join(filter(None, (product, serial, f"USB {port.usb}" if port.usb else "")))
