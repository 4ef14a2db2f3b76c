"""`moccasin-mat ports`: which serial ports there are, which one "auto" takes, and who answers there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "ports",
        "List the serial ports. A board that may be the mat's, and is free, is asked who it is.",
        '0 "auto" finds a board that can be played with, 1 it does not',
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asks = parser.add_mutually_exclusive_group()
    asks.add_argument("--ask", action="store_true", default=True, help="ask the boards who they are (the default)")
    asks.add_argument(
        "--no-ask", dest="ask", action="store_false", help="open no port: asking stops another program on such a board"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """List the ports; return 0 when "auto" finds a board that can be played with, else 1."""
    args = parser().parse_args(argv)
    import msgspec
    from rich.console import Console

    from pi_controller.drivers.port_list import listed
    from pi_controller.drivers.serial_port import BY_ID
    from pi_controller.flash import locate
    from pi_controller.flash.port_report import look, show

    ports = listed(BY_ID)
    reports = look(ports, asking=args.ask)
    drive = locate.boot_drive()
    ok = any(report.port.auto and not report.todo for report in reports)
    if args.json:
        fault = {"what": ports.fault.what, "todo": ports.fault.todo} if ports.fault else None
        auto = next((report.port.path for report in reports if report.port.auto), None)
        body = {"ok": ok, "auto": auto, "fault": fault, "boot_loader": drive or None, "ports": reports}
        print(msgspec.json.encode(body).decode())
    else:
        show(Console(highlight=False), reports, ports.fault, drive)
    return 0 if ok else 1
