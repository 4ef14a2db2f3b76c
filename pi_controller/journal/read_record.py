"""Read the record of a game from a journal, a score sheet or a written record, by the content of the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pi_controller.errors import UsageError, describe_error
from pi_controller.journal.convert import from_journal, from_sheet
from pi_controller.journal.journal import Journal
from pi_controller.record.file import read
from pi_controller.record.lines import MAX_BYTES
from pi_controller.record.model import Record
from pi_controller.rules import registry

_SQLITE = b"SQLite format 3\0"


def is_journal(path: str) -> bool:
    """Return whether `path` is a journal; also True if it is missing or empty, so that the journal reports that."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) in (_SQLITE, b"")
    except OSError:
        return True


def read_record_file(path: str, game: str = registry.DEFAULT_GAME, settings: Mapping[str, str] | None = None) -> Record:
    """Return the record in a file that is no journal: a written record, or a score sheet of `game`.

    Raises `UsageError` if it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {describe_error(error)}", "name a journal, a sheet or a record"
        ) from error
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return from_sheet(data, registry.game(game, settings))
    return read(data)


def read_journal_record(path: str, *, private: bool = False) -> Record:
    """Return the record of the game in the journal `path`; with `private` it has the reasons of protests.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        records = list(journal.read())
    return from_journal(records, (("Provenance", f"journal {Path(path).name}"[:1000]),), private=private)
