"""Back up and restore the hub's store, and export each table's journal to a file."""

import sqlite3
from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import describe_error
from pi_controller.host.files import create_private_file
from pi_controller.hub import store
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.store import Database, StoreError
from pi_controller.journal import file as journal_file
from pi_controller.journal.chain import chain_rows, genesis

ORIGIN = "the hub's copy"


class BackupSummary(NamedTuple):
    """The extent of a store: the number of records and decisions, and the times of the last ones.

    Times are seconds since 1970, None if there is none.
    """

    records: int
    record_t: float | None
    decisions: int
    decision_t: float | None


def write_journals(where: Path | Database, folder: Path, only: Collection[str] | None = None) -> dict[Path, int]:
    """Write each journal in the hub's store to `folder`, as the table itself has it; return {file: records}.

    `only` are the epochs of the journals to write, None for all. Existing files are overwritten. Raises `StoreError`,
    `JournalError`.
    """
    written: dict[Path, int] = {}
    with Inbox(where) as inbox, _files_of(folder, "written"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for table, games in inbox.record_counts().items():
            for epoch in (epoch for epoch, seq in games.items() if seq and (only is None or epoch in only)):
                rows = list(inbox.rows(table, epoch))
                if list(chain_rows(genesis(epoch), rows)) != rows:
                    raise StoreError(f"the hub's copy of {table} {epoch} was changed", "use the hub's last backup")
                path = folder / f"{table}-{epoch}.sqlite"
                new = journal_file.write_new_journal(path, journal_file.Meta(epoch, origin=ORIGIN), rows)
                journal_file.put_in_place(new, path)
                written[path] = len(rows)
    return written


def back_up(where: Path | Database, file: Path) -> BackupSummary:
    """Copy the hub's store to a new `file`, also while the hub runs; return its extent. Raises `StoreError`."""
    source = _file(where)
    with _files_of(file, "written"):
        if file.exists():
            raise StoreError(f"{file.name} exists already", "choose another file name")
        _copy(source, file)
    return summarize_store(file)


def restore(file: Path, where: Path | Database) -> BackupSummary:
    """Copy the backup in `file` to `where`, which must not exist yet; return its extent. Raises `StoreError`."""
    target = _file(where)
    found = summarize_store(file)
    if target.exists():
        raise StoreError(
            f"{target} exists and is not overwritten", "stop the hub, then move this file and those beside it"
        )
    with _files_of(target, "written"):
        _copy(file, target)
    return found


def summarize_store(file: Path) -> BackupSummary:
    """Check every page of the hub's store in `file` and return its extent. Raises `StoreError`."""
    with (
        _files_of(file, "read"),
        closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db,
    ):
        found = journal_file.identity(db)
        if (found.application, found.version) != (store.APPLICATION_ID, store.SCHEMA_VERSION):
            raise StoreError(
                f"{file.name} is not a hub store of this version", "choose a file made by 'moccasin-mat hub backup'"
            )
        ((whole,),) = db.execute("PRAGMA integrity_check(1)")
        if whole != "ok":
            raise StoreError(f"{file.name} is damaged: {whole}", "use an older backup")
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        records: tuple[int, float | None] = db.execute("SELECT count(*), max(t) FROM records").fetchone()
        decisions: tuple[int, float | None] = 0, None
        if "decisions" in tables:
            decisions = db.execute("SELECT count(*), max(t) FROM decisions").fetchone()
    return BackupSummary(*records, *decisions)


def _copy(source: Path, target: Path) -> None:
    """Copy an SQLite file to `target` atomically."""
    new = target.with_name(f".{target.name}.new")
    new.unlink(missing_ok=True)
    create_private_file(new)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as db,
        closing(sqlite3.connect(new)) as copy,
    ):
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it
    journal_file.sync(new)
    journal_file.put_in_place(new, target)


def _file(where: Path | Database) -> Path:
    if isinstance(where, Database):
        raise StoreError(
            "this hub keeps its data in a PostgreSQL database",
            f"back it up with pg_dump --schema=mat_{where.venue}, restore it with psql",
        )
    return where


@contextmanager
def _files_of(path: Path, doing: str) -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{path} cannot be {doing}: {describe_error(error)}", "check the name, the disk and the owner of the folder"
        ) from error
