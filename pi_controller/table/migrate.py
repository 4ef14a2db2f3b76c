"""Migrates a journal of version 1 in place. Interrupted at any moment, one whole journal is left.

Three steps, each safe on disk before the next: a copy is kept beside it (`NAME.v1.sqlite`), the new journal is written
beside it with the same records and a hash chain, and takes its name at once. What is done twice comes to the same.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from pi_controller.private_files import make_private
from pi_controller.table import journal_file as file
from pi_controller.table.chain import EPOCH_BYTES
from pi_controller.table.journal_file import RECOVER, SCHEMA_VERSION, Meta, wrong

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.table.chain import Row


def migrate(path: Path, token: Callable[[int], bytes]) -> None:
    """Bring the journal at `path` to this version, where it is of an earlier one; whoever calls holds its lock.

    `token` gives random bytes. Raises `JournalError`, `sqlite3.Error` or `OSError`; then the old journal is as it was.
    """
    if not _is_earlier(path):
        return
    with closing(sqlite3.connect(path, timeout=file.BUSY_S, isolation_level=None)) as db:
        old = _records(path, db)
        _keep(path, db, old)
        # the log that a killed writer left must be gone before another file has this name: it is not that one's
        if db.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            raise wrong(path, "another program holds it", "close the other program")
    file.sync(path.absolute().parent)
    about = Meta(token(EPOCH_BYTES).hex(), created=old[0].t if old else 0.0, origin="a journal of version 1")
    file.put_in_place(file.write_beside(path, about, old), path)


def _is_earlier(path: Path) -> bool:
    """Return whether there is such a journal; of anything else whoever opens it will tell."""
    if not path.is_file():
        return False
    try:
        with closing(file.look(path)) as db:
            found = file.identity(db)
    except (sqlite3.Error, OSError):
        return False
    return found.tables > 0 and found.application == file.APPLICATION_ID and found.version < SCHEMA_VERSION


def _records(path: Path, db: sqlite3.Connection) -> list[Row]:
    (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise wrong(path, *file.DAMAGED)
    records = list(file.rows(db, 1))
    for n, row in enumerate(records, 1):
        if row.seq != n:
            raise wrong(path, f"record {n} is missing", RECOVER)
    return records


def _keep(path: Path, db: sqlite3.Connection, records: list[Row]) -> None:
    """Keep a copy of the old journal beside it; one that is there already is never replaced."""
    copy, n = path.with_name(f"{path.stem}.v1.sqlite"), 1
    while copy.exists():
        if _holds(copy, records):
            return
        n += 1
        copy = path.with_name(f"{path.stem}.v1-{n}.sqlite")
    new = copy.with_name(f".{copy.name}.new")
    new.unlink(missing_ok=True)
    make_private(new, path)
    with closing(sqlite3.connect(new, isolation_level=None)) as kept:
        db.backup(kept)
        kept.execute("PRAGMA journal_mode = DELETE")
    file.sync(new)
    file.put_in_place(new, copy)


def _holds(copy: Path, records: list[Row]) -> bool:
    try:
        with closing(file.look(copy)) as db:
            return list(file.rows(db, 1)) == records
    except (sqlite3.Error, OSError):
        return False
