"""Reports the serial ports: which one "auto" selects, and which board answers."""

from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_controller.board.port_list import PortInfo, PortList
from pi_controller.errors import PortError
from pi_controller.tools.boot_drive import GET, BootDrive
from pi_controller.tools.find_board import open_port
from pi_controller.tools.probe import ANSWER_S, BoardIdentity, probe

FLASH = "'moccasin-mat mat flash' puts the firmware on it"
_STATES = {"free": "green", "held": "yellow", "forbidden": "bold red"}


class PortReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A port, the answer of the mat on it or why there is none, and the remedy."""

    port: PortInfo
    mat: BoardIdentity | None = None
    found: str = ""
    hint: str = ""


def check_ports(ports: PortList, *, asking: bool, seconds: float = ANSWER_S) -> list[PortReport]:
    """Return a report for each port; with `asking`, probe each free board with HELLO."""
    # if "auto" selects a board, the other ports that look like one are its further interfaces
    return [
        _port_report(port, asking and port.board and (port.auto or ports.fault is not None), seconds)
        for port in ports.ports
    ]


def _port_report(port: PortInfo, asking: bool, seconds: float) -> PortReport:
    if port.state == "held":
        hint = "stop that program to use this port" if port.board else ""
        return PortReport(port, None, f"held by {port.holder}", hint)
    if port.state == "forbidden":
        hint = "add this user to the group dialout (sudo usermod -aG dialout $USER), then log in again"
        return PortReport(port, None, "this user may not open it", hint)
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
        hint = "" if result.answer.is_supported else f"it needs this program's firmware: {FLASH}"
        return PortReport(port, result.answer, "free", hint)
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
        console.print(Text(f"  > {GET}; then run 'moccasin-mat mat flash'", "yellow"))
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
    if report.hint:
        table.add_row("", Text(f"> {report.hint}", "yellow"))
    console.print(table)
    console.print()


def _describe_port(port: PortInfo) -> str:
    product = port.product if port.product.startswith(port.maker) else f"{port.maker} {port.product}".strip()
    serial = f"serial number {port.serial_number}" if port.serial_number else ""
    return ", ".join(filter(None, (product, serial, f"USB {port.usb}" if port.usb else "")))
