"""`moccasin-mat ports`: list the serial ports, the one selected by "auto", and the boards that answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "ports",
        "List the serial ports. Boards that may be the mat's and are not in use are asked for their id.",
        '0 "auto" finds a usable board, 1 it does not',
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asks = parser.add_mutually_exclusive_group()
    asks.add_argument("--ask", action="store_true", default=True, help="ask the boards for their ids (the default)")
    asks.add_argument(
        "--no-ask", dest="ask", action="store_false", help="open no port: asking stops another program on such a board"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """List the ports; return 0 if "auto" finds a usable board, else 1."""
    args = parser().parse_args(argv)
    import msgspec
    from rich.console import Console

    from pi_controller.board.serial_port import BY_ID, list_serial_ports
    from pi_controller.system import find_board
    from pi_controller.system.find_board import check_ports, show

    ports = list_serial_ports(BY_ID)
    reports = check_ports(ports, asking=args.ask)
    drive = find_board.boot_drive()
    ok = any(report.port.auto and not report.todo for report in reports)
    if args.json:
        fault = {"what": ports.fault.message, "todo": ports.fault.hint} if ports.fault else None
        auto = next((report.port.path for report in reports if report.port.auto), None)
        body = {"ok": ok, "auto": auto, "fault": fault, "boot_loader": drive or None, "ports": reports}
        print(msgspec.json.encode(body).decode())
    else:
        show(Console(highlight=False), reports, ports.fault, drive)
    return 0 if ok else 1
