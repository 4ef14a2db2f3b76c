"""`moccasin-mat game export`, `record`, `verify` and `recover`: the files of a finished or damaged game."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_json, add_paper, print_json
from pi_controller.errors import UsageError
from pi_controller.output import show_progress
from pi_controller.text import strip_controls, strip_controls_deep

if TYPE_CHECKING:
    from pi_controller.journal.recover import RecoveredJournal
    from pi_controller.journal.verify import JournalVerdict


def game_export_parser() -> Parser:
    """Return the parser of `game export`."""
    parser = Parser("game export", "Export a game from its journal. The journal is only read.")
    parser.add_argument("file", metavar="FILE", help="a journal")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("-o", metavar="FOLDER", dest="folder", help="write all formats, each as a file in this folder")
    how.add_argument("--record", action="store_true", help="print the record: one open text file")
    how.add_argument("--json", action="store_true", help="print the score sheet: every action with the sticks after it")
    how.add_argument("--csv", action="store_true", help="print the score sheet as CSV, for a spreadsheet")
    how.add_argument("--print", action="store_true", help="print the sheet to sign: one HTML page")
    parser.add_argument("--pdf", action="store_true", help="with -o: the sheet to sign as PDF too")
    add_paper(parser)
    return parser


def game_export(argv: Sequence[str]) -> int:
    """Export the game; return 0. Raises `MatError`."""
    args = game_export_parser().parse_args(argv)
    if args.pdf and not args.folder:
        raise UsageError("--pdf writes a file", "name its folder: -o FOLDER")
    from pi_controller.journal.export import as_csv, as_json, write_all
    from pi_controller.journal.journal import Journal
    from pi_controller.journal.read_record import read_journal_record
    from pi_controller.journal.sheet import sheet_of
    from pi_controller.record.writing import write
    from pi_controller.web.score_sheet import print_sheet

    if args.record:
        with show_progress(f"reading {args.file}"):
            text = write(read_journal_record(args.file))
        sys.stdout.write(text)
        return 0
    with show_progress(f"reading {args.file}"), Journal(args.file, read_only=True) as journal:
        sheet = sheet_of(journal)
    if args.json:
        sys.stdout.write(as_json(sheet))
    elif args.csv:
        sys.stdout.buffer.write(as_csv(sheet).encode())
    elif args.print:
        sys.stdout.write(print_sheet(sheet, args.paper))
    else:
        printed = print_sheet(sheet, args.paper)
        for path in write_all(Path(args.file), Path(args.folder), sheet, printed, pdf=args.pdf):
            print(path)
    return 0


def game_record_parser() -> Parser:
    """Return the parser of `game record`."""
    parser = Parser(
        "game record",
        "Print a game in the open text format, from a journal or a record. Lines that cannot be read are left out and "
        "listed, with exit status 2.",
    )
    parser.add_argument("file", metavar="FILE", help="a journal or a record; only read")
    parser.add_argument("--check", action="store_true", help="only list the faults")
    return parser


def game_record(argv: Sequence[str]) -> int:
    """Print the record of the readable lines, or only the faults; return 2 if there are any. Raises `MatError`."""
    args = game_record_parser().parse_args(argv)
    from pi_controller.journal.read_record import is_journal, read_journal_record, read_record_file
    from pi_controller.record.model import RecordError
    from pi_controller.record.writing import write

    record = read_journal_record(args.file) if is_journal(args.file) else read_record_file(args.file)
    faults = [f"line {fault.line}: {strip_controls(fault.message)}" for fault in record.faults]
    if args.check:
        print("\n".join(faults) or "no faults found")
        return 2 if faults else 0
    if not record.game:
        raise RecordError(f"{Path(args.file).name} is neither a journal nor a record", "check the file's name")
    for fault in faults:
        print(f"moccasin-mat: {fault}", file=sys.stderr)
    print(write(record), end="")
    return 2 if faults else 0


def game_verify_parser() -> Parser:
    """Return the parser of `game verify`."""
    parser = Parser(
        "game verify",
        "Check that a journal is complete and unaltered. The file is only read.",
        "0 the journal is intact, 1 it is not",
    )
    parser.add_argument("file", metavar="FILE", help="a journal; a copy is enough")
    add_json(parser)
    return parser


def game_verify(argv: Sequence[str]) -> int:
    """Print the result; return 0 if the journal is intact, else 1."""
    args = game_verify_parser().parse_args(argv)
    from pi_controller.journal.verify import verify_journal

    with show_progress(f"checking {args.file}"):
        found = verify_journal(Path(args.file))
    if args.json:
        print_json(strip_controls_deep({**asdict(found), "whole": found.whole}))
    else:
        print("\n".join(map(strip_controls, _verdict_lines(found))))
    return 0 if found.whole else 1


def _verdict_lines(found: JournalVerdict) -> Iterator[str]:
    from pi_controller.journal.chain import SHORT_HASH_CHARS
    from pi_controller.journal.file import RECOVER_HINT

    teams = f": {found.teams.get('A', 'A')} (A) and {found.teams.get('B', 'B')} (B)" if found.teams else ""
    yield f"{found.game} {found.version}{teams}" if found.game else "no game"
    if found.epoch:
        made = f" from {found.origin}" if found.origin else ""
        yield f"journal {found.epoch}, made by version {found.made_by}{made}"
        yield f"head    {found.head[:SHORT_HASH_CHARS]}"
        yield f"        {found.head}"
    yield f"records {found.records} in {found.batches} events"
    if found.whole:
        yield "whole"
    else:
        yield f"complete up to event {found.batches} (record {found.records}); then: {found.wrong}"
        yield RECOVER_HINT


def game_recover_parser() -> Parser:
    """Return the parser of `game recover`."""
    parser = Parser(
        "game recover",
        "Write a new journal with the proven records of a damaged one, up to the fault. The old file is only read.",
        "0 records were saved, 1 no records were proven",
    )
    parser.add_argument("file", metavar="FILE", help="the damaged journal")
    parser.add_argument("-o", metavar="NEW", dest="new", required=True, help="the new journal, a new file")
    return parser


def game_recover(argv: Sequence[str]) -> int:
    """Write the new journal; return 0 if it contains records, 1 if none were proven."""
    args = game_recover_parser().parse_args(argv)
    from pi_controller.journal import file
    from pi_controller.journal.recover import recover

    path, new = Path(args.file), Path(args.new)
    if new.exists():
        raise UsageError(f"{new.name} is there already", "name a file that is not")
    kept = recover(path)
    if kept.rows:
        with file.journal_errors(new, "it cannot be written"):
            file.put_in_place(file.write_new_journal(new, kept.about, kept.rows), new)
    print("\n".join(map(strip_controls, _recovery_lines(kept, new))))
    return 0 if kept.rows else 1


def _recovery_lines(kept: RecoveredJournal, new: Path) -> Iterator[str]:
    from pi_controller.journal.chain import SHORT_HASH_CHARS

    if not kept.rows:
        yield f"no record can be saved, {new.name} is not written: {kept.fault}"
        return
    last = kept.rows[-1]
    yield f"kept: {last.seq} records, up to event {last.batch}"
    yield f"lost: the records after it, of {kept.stated}, because {kept.fault}" if kept.fault else "no record is lost"
    yield f"head: {last.hash[:SHORT_HASH_CHARS]} of the new journal {new.name}"
    yield "before you rename it, move the old journal and its -journal and .lock files away"
