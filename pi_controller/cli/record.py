"""`moccasin-mat record`: a game as the open text file, from a journal, a score sheet or a record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.games import registry

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("record", "Write a game as the open text file, from a journal, a score sheet or a record.")
    parser.add_argument("file", metavar="FILE", help="a journal, a score sheet's actions, or a record; only read")
    parser.add_argument("--sheet", action="store_true", help="the actions that count, as the score sheet takes them")
    parser.add_argument("--check", action="store_true", help="only list what is wrong; status 2 when anything is")
    parser.add_argument("--game", default=registry.DEFAULT, help=f"of a score sheet: {', '.join(registry.names())}")
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="of a score sheet")
    return parser


def main(argv: Sequence[str]) -> int:
    """Write the record or what is wrong in it; return 2 where `--check` finds something. Raises `MatError`."""
    args = parser().parse_args(argv)
    from pi_controller.games.options import from_text
    from pi_controller.games.wording import printable
    from pi_controller.record.converting import to_sheet
    from pi_controller.record.model import RecordError
    from pi_controller.record.writing import write
    from pi_controller.table.record import is_journal, kept_in, written_in

    options = from_text(args.set)
    record = kept_in(args.file) if is_journal(args.file) else written_in(args.file, args.game, options)
    faults = [f"line {fault.line}: {printable(fault.what)}" for fault in record.faults]
    if args.check:
        print("\n".join(faults) or "nothing is wrong")
        return 2 if faults else 0
    if not record.game:
        raise RecordError(
            f"{Path(args.file).name} is no journal, no score sheet and no record", "check the file's name"
        )
    for fault in faults:
        print(f"moccasin-mat: {fault}", file=sys.stderr)
    if args.sheet:
        for line in to_sheet(record):
            print(line)
    else:
        print(write(record), end="")
    return 0
