"""The open text file of a game, `moccasin-mat record`: from a journal, a score sheet or a record to the written record.

Any of the three is looked at only. What stands in the file tells which it is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.options import from_text
from pi_controller.games.wording import printable
from pi_controller.record.converting import from_journal, from_sheet, to_sheet
from pi_controller.record.decoding import MOST_BYTES
from pi_controller.record.model import Record, RecordError
from pi_controller.record.reading import read
from pi_controller.record.writing import write
from pi_controller.table.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SQLITE = b"SQLite format 3\0"


def is_journal(path: str) -> bool:
    """Return whether `path` is a journal, or nothing else either: no file, or an empty one."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) in (_SQLITE, b"")
    except OSError:
        return True


def written_in(path: str, game: str = registry.DEFAULT, settings: Mapping[str, str] | None = None) -> Record:
    """Return the record that the file holds, which is no journal: a record, or a score sheet of `game`.

    Raises `UsageError` where it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", "name a journal, a sheet or a record"
        ) from error
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return from_sheet(data, registry.game(game, settings))
    return read(data)


def main(argv: Sequence[str]) -> int:
    """Run `moccasin-mat record FILE [--sheet] [--check]`; return its exit status."""
    parser = Parser("record", "Write a game as the open text file, from a journal, a score sheet or a record.")
    parser.add_argument("file", metavar="FILE", help="a journal, a score sheet's actions, or a record; only read")
    parser.add_argument("--sheet", action="store_true", help="the actions that count, as the score sheet takes them")
    parser.add_argument("--check", action="store_true", help="only list what is wrong; status 2 when anything is")
    parser.add_argument("--game", default=registry.DEFAULT, help=f"of a score sheet: {', '.join(registry.names())}")
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="of a score sheet")
    args = parser.parse_args(argv)
    record = _record(args.file, args.game, from_text(args.set))
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


def kept_in(path: str, *, private: bool = False) -> Record:
    """Return the record of the game that the journal `path` holds; `private` ones tell why a team protested.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        records = list(journal.read())
    return from_journal(records, (("Provenance", f"journal {Path(path).name}"[:1000]),), private=private)


def _record(path: str, game: str, settings: Mapping[str, str]) -> Record:
    return kept_in(path) if is_journal(path) else written_in(path, game, settings)
