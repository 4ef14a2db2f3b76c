"""`moccasin-mat flash`: write this program's firmware to the mat board, or check that it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "flash",
        "Copy the firmware to the mat board, which must run MicroPython 1.23 or newer.",
        "0 the board has the firmware, 1 --check finds another one or none",
    )
    parser.add_argument("--port", default="auto", help='the board\'s port; "auto", the default, takes the only board')
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="only compare: exit status 0 if it is there, else 1")
    only.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument("--force", action="store_true", help="overwrite another program on the board without asking")
    return parser


def main(argv: Sequence[str]) -> int:
    """Flash the board; return 0 if it has the firmware, 1 if --check finds another one. Raises `MatError`."""
    args = parser().parse_args(argv)
    if args.port != "auto" and not args.port.startswith("/"):
        raise UsageError(f"flash: {args.port!r} is not a port", "'moccasin-mat ports' lists them")
    from rich.console import Console

    from pi_controller.board.serial_port import BY_ID
    from pi_controller.system import find_board
    from pi_controller.system import flash as remote
    from pi_controller.system.flash import BoardFlasher, flash

    remote.require_mpremote()
    brought = find_board.load_shipped()
    work = BoardFlasher(find_board.find_board(args.port, BY_ID))
    mode = "check" if args.check else "dry-run" if args.dry_run else "write"
    return flash(work, brought, Console(highlight=False), mode, force=args.force)
