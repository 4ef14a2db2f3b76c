"""`moccasin-mat record`: convert a journal, a score sheet or a record to the open text format, or check it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.rules import registry

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("record", "Print a game in the open text format, from a journal, a score sheet or a record.")
    parser.add_argument("file", metavar="FILE", help="a journal, a score sheet's actions, or a record; only read")
    parser.add_argument("--sheet", action="store_true", help="print the actions that count, in the score sheet's form")
    parser.add_argument("--check", action="store_true", help="only list the faults; status 2 if there are any")
    parser.add_argument(
        "--game", default=registry.DEFAULT_GAME, help=f"game of a score sheet: {', '.join(registry.names())}"
    )
    parser.add_argument(
        "--set", metavar="OPTION=VALUE", action="append", default=[], help="game option of a score sheet"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Print the record or its faults; return 2 if `--check` finds faults. Raises `MatError`."""
    args = parser().parse_args(argv)
    from pi_controller.record.convert import is_journal, read_journal_record, read_record_file, to_sheet
    from pi_controller.record.file import write
    from pi_controller.record.model import RecordError
    from pi_controller.rules.options import from_text
    from pi_controller.text import strip_controls

    options = from_text(args.set)
    record = (
        read_journal_record(args.file) if is_journal(args.file) else read_record_file(args.file, args.game, options)
    )
    faults = [f"line {fault.line}: {strip_controls(fault.message)}" for fault in record.faults]
    if args.check:
        print("\n".join(faults) or "no faults found")
        return 2 if faults else 0
    if not record.game:
        raise RecordError(
            f"{Path(args.file).name} is neither a journal, nor a score sheet, nor a record", "check the file's name"
        )
    for fault in faults:
        print(f"moccasin-mat: {fault}", file=sys.stderr)
    if args.sheet:
        for line in to_sheet(record):
            print(line)
    else:
        print(write(record), end="")
    return 0
