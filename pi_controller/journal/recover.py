"""Recover a damaged journal: write a new one with the longest prefix of whole events that the hash chain proves.

The damaged file is only read, on a copy: SQLite would roll back an unfinished transaction on opening. If its -journal
file is damaged, the file alone may hold more: the longer prefix counts.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pi_controller.journal import file
from pi_controller.journal.chain import JournalRow
from pi_controller.journal.file import Meta
from pi_controller.journal.journal import acquire_lock
from pi_controller.journal.rotation import set_aside
from pi_controller.journal.verify import ChainChecker, check_records


@dataclass(frozen=True, slots=True)
class RecoveredJournal:
    """The result of a recovery: the proven `rows` from the first on, the journal's metadata, and the fault after them.

    `about` has no epoch if the metadata cannot be read; then no record is proven. `stated` is the number of records
    that the file states (0: unknown).
    """

    rows: tuple[JournalRow, ...]
    about: Meta
    fault: str
    stated: int


def recover(path: Path) -> RecoveredJournal:
    """Recover the proven records of the journal at `path`. Raises `JournalError` if there is no file."""
    if not path.is_file():
        raise file.journal_error(path, "there is no such file", "check its name")
    with file.journal_errors(path, "it cannot be read"):
        return max((_read_prefix(path, with_journal) for with_journal in (True, False)), key=lambda one: len(one.rows))


class ReplacedJournal(NamedTuple):
    """A damaged journal that was replaced: `aside` is its new path, `records` the number of recovered records."""

    aside: Path
    records: int
    fault: str

    @property
    def line(self) -> str:
        """The result in one line."""
        kept = f"{self.records} records were recovered" if self.records else "no record of it could be recovered"
        return f"the game's record was damaged ({self.fault}): it is kept in {self.aside.name}, and {kept}"


def replace_damaged(path: Path, t: float, fault: str, *, anew: bool = False) -> ReplacedJournal:
    """Move the damaged journal at `path` aside under the date of `t` and write a new one with its proven records.

    With `anew` the new journal is empty. Raises `JournalError`; the damaged journal then stays in its place.
    """
    with acquire_lock(path):
        found = recover(path)
        rows = () if anew else found.rows
        return ReplacedJournal(set_aside(path, t, found.about, rows), len(rows), fault)


def _read_prefix(path: Path, with_journal: bool) -> RecoveredJournal:
    """Read the proven events of a copy of the file, with or without its -journal file."""
    try:
        with file.temporary_copy(path, with_journal=with_journal) as copy, closing(sqlite3.connect(copy)) as db:
            db.execute("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file that was cut off
            about = file.meta(db)
            (stated,) = db.execute("PRAGMA user_version").fetchone()
            follows = ChainChecker(about.epoch, by_rules=False)
            fault = check_records(follows, db) or file.count_fault(db)
            rows = follows.rows
            if rows and rows[-1].seq != stated and not _is_last_of_event(rows[-1], db):
                rows = [row for row in rows if row.batch != rows[-1].batch]
    except (sqlite3.Error, ValueError) as error:
        return RecoveredJournal((), Meta(""), f"no record can be read: {error}", 0)
    origin = f"{path.name}, recovered up to record {len(rows)}"
    return RecoveredJournal(tuple(rows), about._replace(origin=origin[:200]), fault, stated)


def _is_last_of_event(row: JournalRow, db: sqlite3.Connection) -> bool:
    """Return whether the record after `row` can be read and is of the next event."""
    try:
        after = db.execute("SELECT batch FROM facts WHERE seq = ?", (row.seq + 1,)).fetchone()
    except sqlite3.Error:
        return False
    return after == (row.batch + 1,)
