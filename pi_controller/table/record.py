"""The record of a game out of a journal, a score sheet or a written record, which are only read.

What stands in the file tells which it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.record.converting import from_journal, from_sheet
from pi_controller.record.decoding import MOST_BYTES
from pi_controller.record.reading import read
from pi_controller.table.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.record.model import Record

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


def kept_in(path: str, *, private: bool = False) -> Record:
    """Return the record of the game that the journal `path` holds; `private` ones tell why a team protested.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        records = list(journal.read())
    return from_journal(records, (("Provenance", f"journal {Path(path).name}"[:1000]),), private=private)
