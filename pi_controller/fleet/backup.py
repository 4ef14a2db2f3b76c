"""The hub's copies: each table's journal as a file of its own, and the hub's own store, kept and brought back."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.fleet.inbox import Inbox
from pi_controller.fleet.store import APPLICATION_ID, SCHEMA_VERSION, Database, StoreError
from pi_controller.private_files import make_private
from pi_controller.table import journal_file
from pi_controller.table.chain import chained, genesis

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

ORIGIN = "the hub's copy"


class Kept(NamedTuple):
    """Up to where a store goes: when its last record was written and its last decision made (s since 1970, None for
    never), and how many of each it has."""

    records: int
    record_t: float | None
    decisions: int
    decision_t: float | None


def write_journals(where: Path | Database, folder: Path) -> dict[Path, int]:
    """Write each journal that the hub holds to `folder`, as the table itself has it; return their files and records.

    A file of an earlier time is written anew. Raises `StoreError`, `JournalError`.
    """
    written: dict[Path, int] = {}
    with Inbox(where) as inbox, _files_of(folder, "written"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for table, games in inbox.held().items():
            for epoch in (epoch for epoch, seq in games.items() if seq):
                rows = list(inbox.rows(table, epoch))
                if list(chained(genesis(epoch), rows)) != rows:
                    raise StoreError(
                        f"the hub's copy of {table} {epoch} is not what was written", "take the hub's last backup"
                    )
                path = folder / f"{table}-{epoch}.sqlite"
                new = journal_file.write_beside(path, journal_file.Meta(epoch, origin=ORIGIN), rows)
                journal_file.put_in_place(new, path)
                written[path] = len(rows)
    return written


def back_up(where: Path | Database, file: Path) -> Kept:
    """Copy the hub's store to a new `file`, also while the hub runs; return what is in it. Raises `StoreError`."""
    source = _file(where)
    with _files_of(file, "written"):
        if file.exists():
            raise StoreError(f"{file.name} is there already", "name a file that is not")
        _copy(source, file)
    return kept_in(file)


def restore(file: Path, where: Path | Database) -> Kept:
    """Make the backup in `file` the hub's store, where there is none; return what is in it. Raises `StoreError`."""
    target = _file(where)
    found = kept_in(file)
    if target.exists():
        raise StoreError(
            f"{target} is there: nothing is written over it", "stop the hub, and move that file with those beside it"
        )
    with _files_of(target, "written"):
        _copy(file, target)
    return found


def kept_in(file: Path) -> Kept:
    """Return up to where the hub's store in `file` goes, each page of it looked at. Raises `StoreError`."""
    with _files_of(file, "read"), closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
        found = journal_file.identity(db)
        if (found.application, found.version) != (APPLICATION_ID, SCHEMA_VERSION):
            raise StoreError(
                f"{file.name} is no hub's store of this version", "name a file of 'moccasin-mat hub backup'"
            )
        ((whole,),) = db.execute("PRAGMA integrity_check(1)")
        if whole != "ok":
            raise StoreError(f"{file.name} is damaged: {whole}", "take an older backup")
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        records: tuple[int, float | None] = db.execute("SELECT count(*), max(t) FROM records").fetchone()
        decisions: tuple[int, float | None] = 0, None
        if "decisions" in tables:
            decisions = db.execute("SELECT count(*), max(t) FROM decisions").fetchone()
    return Kept(*records, *decisions)


def _copy(source: Path, target: Path) -> None:
    """Copy an SQLite file to `target`, which is there whole or not at all."""
    new = target.with_name(f".{target.name}.new")
    new.unlink(missing_ok=True)
    make_private(new)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as db,
        closing(sqlite3.connect(new)) as copy,
    ):
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
    journal_file.sync(new)
    journal_file.put_in_place(new, target)


def _file(where: Path | Database) -> Path:
    if isinstance(where, Database):
        raise StoreError(
            "the hub keeps what comes in a database",
            f"pg_dump --schema=mat_{where.venue} is its backup, psql its way back",
        )
    return where


@contextmanager
def _files_of(path: Path, doing: str) -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{path} cannot be {doing}: {error}", "check the name, the disk and who owns the folder"
        ) from error
