"""Reports the serial ports: which one "auto" takes, and which board answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from rich.table import Table
from rich.text import Text

from pi_controller.drivers.port_list import Listed, PortList
from pi_controller.errors import PortError
from pi_controller.flash import locate
from pi_controller.flash.probe import ANSWER_S, Answer, ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

FLASH = "'moccasin-mat flash' puts the firmware on it"
_STATES = {"free": "green", "held": "yellow", "forbidden": "bold red"}


class PortReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A port, what the mat on it said, or why nothing did, and what is to be done."""

    port: Listed
    mat: Answer | None = None
    found: str = ""
    todo: str = ""


def look(ports: PortList, *, asking: bool, seconds: float = ANSWER_S) -> list[PortReport]:
    """Return the ports with what is to be done about each; with `asking`, say HELLO to each free board."""
    # where "auto" takes a board, the other ports that look like one are further interfaces of it
    return [
        _port_report(port, asking and port.board and (port.auto or ports.fault is not None), seconds)
        for port in ports.ports
    ]


def _port_report(port: Listed, asking: bool, seconds: float) -> PortReport:
    if port.state == "held":
        return PortReport(
            port, None, f"held by {port.holder}", "stop that program to use this port" if port.board else ""
        )
    if port.state == "forbidden":
        return PortReport(
            port,
            None,
            "this user may not open it",
            "add this user to the group dialout (sudo usermod -aG dialout $USER), then log in again",
        )
    if not asking:
        return PortReport(port, None, "free")
    return _asked(port, seconds)


def _asked(port: Listed, seconds: float) -> PortReport:
    try:
        opened = locate.opened(port.path)
        try:
            result = ask(opened, seconds)
        finally:
            opened.close()
    except PortError as error:
        return PortReport(port, None, error.what, error.todo)
    if result.answer is not None:
        todo = "" if result.answer.understood else f"it needs this program's firmware: {FLASH}"
        return PortReport(port, result.answer, "free", todo)
    if result.prompt:
        return PortReport(port, None, "free; MicroPython without the mat's program", FLASH)
    return PortReport(port, None, "free; no mat answers", f"plug it in again; if it has no firmware yet, {FLASH}")


def show(console: Console, reports: Sequence[PortReport], fault: PortError | None, drive: str) -> None:
    """Print the ports one after another, then what "auto" meets."""
    for report in reports:
        _show(console, report)
    if not reports:
        console.print("there is no serial port")
    if drive:
        console.print(Text(f"a board waits in its boot loader, as the drive {locate.LABEL} ({drive})", "bold"))
        console.print(Text(f"  > {locate.GET}; then say 'moccasin-mat flash'", "yellow"))
    if fault is not None:
        console.print(Text(f'port = "auto" takes none: {fault.what}', "bold red"))
        console.print(Text(f"  > {fault.todo}", "yellow"))


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
    if what := _what(port):
        table.add_row("is", Text(what))
    table.add_row("state", Text(report.found, _STATES[port.state]))
    if report.mat is not None:
        mat = report.mat
        table.add_row("mat", Text(f"{mat.text()}{f', {mat.start()}' if mat.understood else ''}"))
    if port.why:
        table.add_row("auto", Text(f"no: {port.why}", "dim"))
    if report.todo:
        table.add_row("", Text(f"> {report.todo}", "yellow"))
    console.print(table)
    console.print()


def _what(port: Listed) -> str:
    product = port.product if port.product.startswith(port.maker) else f"{port.maker} {port.product}".strip()
    serial = f"serial number {port.serial_number}" if port.serial_number else ""
    return ", ".join(filter(None, (product, serial, f"USB {port.usb}" if port.usb else "")))
