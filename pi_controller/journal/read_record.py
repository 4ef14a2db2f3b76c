"""Read the record of a game from a journal or a written record."""

from __future__ import annotations

from pathlib import Path

from pi_controller.errors import UsageError, describe_error
from pi_controller.journal.convert import from_journal
from pi_controller.journal.journal import Journal
from pi_controller.record.file import read
from pi_controller.record.lines import MAX_BYTES
from pi_controller.record.model import Record

_SQLITE = b"SQLite format 3\0"


def is_journal(path: str) -> bool:
    """Return whether `path` is a journal; also True if it is missing or empty, so that the journal reports that."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) in (_SQLITE, b"")
    except OSError:
        return True


def read_record_file(path: str) -> Record:
    """Return the written record in a file that is no journal. Raises `UsageError` if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return read(file.read(MAX_BYTES + 1))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {describe_error(error)}", "name a journal or a record") from error


def read_journal_record(path: str, *, private: bool = False) -> Record:
    """Return the record of the game in the journal `path`; with `private` it has the reasons of protests.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        records = list(journal.read())
    return from_journal(records, (("Provenance", f"journal {Path(path).name}"[:1000]),), private=private)
