"""`moccasin-mat export`: export a game as a record, a score sheet in JSON or CSV, or a sheet to print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.journal.export import Paper, Wording
    from pi_controller.journal.sheet import Line, Sheet


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("export", "Export a game from its journal. The journal is only read.")
    parser.add_argument("file", metavar="FILE", help="a journal")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("-o", metavar="FOLDER", dest="folder", help="write all formats, each as a file in this folder")
    how.add_argument("--record", action="store_true", help="print the record: one open text file")
    how.add_argument("--json", action="store_true", help="print the score sheet: every action with the sticks after it")
    how.add_argument("--csv", action="store_true", help="print the score sheet as CSV, for a spreadsheet")
    how.add_argument("--print", action="store_true", help="print the sheet to sign: one HTML page")
    parser.add_argument("--pdf", action="store_true", help="with -o: the sheet to sign as PDF too, by Chromium")
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4", help="paper of the sheet to sign (a4)")
    return parser


def main(argv: Sequence[str]) -> int:
    """Export the game; return 0. Raises `MatError`."""
    args = parser().parse_args(argv)
    if args.pdf and not args.folder:
        raise UsageError("--pdf writes a file", "name its folder: -o FOLDER")
    from pi_controller.journal.export import as_csv, as_json, page, write_all
    from pi_controller.journal.journal import Journal
    from pi_controller.journal.sheet import sheet_of
    from pi_controller.record.convert import read_journal_record
    from pi_controller.record.file import write

    paper = cast("Paper", {"a4": "A4", "letter": "letter"}[args.paper])
    if args.record:
        sys.stdout.write(write(read_journal_record(args.file)))
        return 0
    with Journal(args.file, read_only=True) as journal:
        sheet = sheet_of(journal)
    if args.json:
        sys.stdout.write(as_json(sheet))
    elif args.csv:
        sys.stdout.buffer.write(as_csv(sheet).encode())
    elif args.print:
        sys.stdout.write(page(sheet, paper, _wording(sheet)))
    else:
        for path in write_all(Path(args.file), Path(args.folder), sheet, paper, pdf=args.pdf, wording=_wording(sheet)):
            print(path)
    return 0


def _wording(sheet: Sheet) -> Wording:
    """Return the display names of the game and its actions: `missed, pad 2`."""
    from pi_controller.display.game_display import describe_action, game_name
    from pi_controller.journal.export import Wording
    from pi_controller.record.notation import format_action

    def done(line: Line) -> str:
        match line.action:
            case {"do": "hit", "found": found, **more}:
                words = ("found" if found else "missed") + (f", pad {more['pad']}" if "pad" in more else "")
            case _ if line.kind == "action":
                words = describe_action(sheet.game, line.action, sheet.teams)
            case _:
                words = ""
        return line.what.replace(format_action(sheet.game, line.action), words, 1) if words else line.what

    return Wording(game_name(sheet.game), done)
