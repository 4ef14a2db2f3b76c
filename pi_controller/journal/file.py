"""SQLite file of the journal: schema, creation, read-only opening, rows, and errors.

The table `facts(seq, batch, t, kind, body, hash)` has the records; `meta(key, value)` describes the journal: `epoch`,
`made_by` (the program's version), `created` (seconds since 1970), and `origin` if it was made from another journal.
Triggers refuse changes to either. SQLite's `user_version` is the number of records: each transaction writes it to the
file's first page, so a copy that was taken in the middle of a transaction contradicts itself.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.errors import DamagedJournalError, JournalError, describe_error
from pi_controller.host.files import create_private_file, explain_refusal, sync
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.referee.facts import ANY_FACT, Fact
from pi_controller.text import mark

APPLICATION_ID = 0x4D4D4A01
"""`MMJ` and the version of the schema: distinguishes a journal from other SQLite files."""
WRITE_WAIT_S = 2.0
"""Longest wait of the writer for readers that hold the file, s: a busy machine may stop one for half a second."""
READ_WAIT_S = 5.0
"""Longest wait of a reader for the writer, s: a slow card may take that long to store a record."""
SNAPSHOT_PAGES = 1024
"""Pages of a snapshot that are read in one transaction, 4 MB: all of a journal of 20,000 records."""
RECOVER_HINT = (
    "if it is a copy, copy the journal again, with its -journal file if there is one; "
    "else 'moccasin-mat game recover FILE -o NEW' saves the proven records"
)

_TABLES = """
CREATE TABLE facts(
  seq INTEGER PRIMARY KEY, batch INTEGER NOT NULL, t REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TABLE meta(key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE TRIGGER facts_stay BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_remain BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < coalesce((SELECT batch FROM facts WHERE seq = NEW.seq - 1), 1)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
_SEAL = """
CREATE TRIGGER meta_stays BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_remains BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_is_whole BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
SETTING = "[table] journal"
"""Key of the settings that names the journal's file."""
DISK_FULL_HINT = mark(
    "free some disk space, for example old recordings and games, or use a larger disk: play then continues"
)
_IN_USE = mark("another program is using it"), mark("close the other program")
_CAUSES = {
    sqlite3.SQLITE_FULL: (mark("the disk is full"), DISK_FULL_HINT),
    sqlite3.SQLITE_READONLY: (
        mark("the file or the disk is read-only"),
        mark("check the disk's health and the file's owner"),
    ),
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_IOERR: (mark("the disk fails"), mark("check the disk, then continue")),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", RECOVER_HINT),
    sqlite3.SQLITE_NOTADB: ("it is not a journal, or it is damaged", "check the file's name"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that the folder exists and is writable"),
    sqlite3.SQLITE_CONSTRAINT: ("the record does not follow the last one", "another program wrote to it: restart"),
}
MIN_FREE_BYTES = 8192
"""SQLite needs two pages of free space to write a record."""
NO_FOLDER = _CAUSES[sqlite3.SQLITE_CANTOPEN][1]
_DECODER: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(ANY_FACT)


class DamagedRecordError(sqlite3.DatabaseError):
    """A value in a record has a type other than its column."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Meta(NamedTuple):
    """Description of a journal. `epoch` is hex, `created` seconds since 1970 (0: unknown).

    `origin` names the journal that it was made from; "" if it was created fresh.
    """

    epoch: str
    made_by: str = __version__
    created: float = 0.0
    origin: str = ""


class Identity(NamedTuple):
    """Identity of an SQLite file: its number of tables, application id and user version."""

    tables: int
    application: int
    version: int


def decode(body: str) -> Fact:
    """Decode the fact in a record's body. Raises `JournalError` if this version does not know the fact."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeError, TypeError, RecursionError) as error:
        raise JournalError(
            f"this version does not know this kind of record ({error})",
            "it was written by another version, or it is damaged: update the program",
        ) from error


def journal_error(path: Path, what: str, hint: str = "") -> JournalError:
    """Return a `JournalError` about the journal at `path`."""
    return JournalError(f"journal {path.name}: {what}", hint)


def damage_error(path: Path, what: str = "it is damaged", hint: str = RECOVER_HINT) -> DamagedJournalError:
    """Return a `DamagedJournalError` about the journal at `path`."""
    return DamagedJournalError(f"journal {path.name}: {what}", hint)


@contextmanager
def journal_errors(path: Path, wrong: str) -> Generator[None]:
    """Turn errors in this block into `JournalError`s: `wrong` with the journal at `path`, and the cause."""
    try:
        yield
    except sqlite3.Error as error:
        code: Any = getattr(error, "sqlite_errorcode", 0)
        code = (code or 0) & 0xFF
        what, hint = _CAUSES.get(code, (str(error), "check the disk and the file"))
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise damage_error(path, f"{wrong}: {what}", hint) from error
        if code != sqlite3.SQLITE_FULL and disk_full(path):  # a journal that cannot be created is reported otherwise
            what, hint = _CAUSES[sqlite3.SQLITE_FULL]
        raise journal_error(path, f"{wrong}: {what}", explain_refusal(journal_files(path), SETTING) or hint) from error
    except UnicodeError as error:  # SQLite's message names an undecodable part of the schema
        raise damage_error(path, f"{wrong}: it is damaged") from error
    except OSError as error:
        hint = advice(path, error, journal_files(path), "check the disk and the file")
        raise journal_error(path, f"{wrong}: {describe_error(error)}", hint) from error


def advice(path: Path, error: OSError, paths: list[Path], otherwise: str) -> str:
    """Return a hint for `error`, which was raised while writing one of `paths`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL_HINT
    return explain_refusal(paths, SETTING) or (DISK_FULL_HINT if disk_full(path) else otherwise)


def disk_full(path: Path) -> bool:
    """Return whether the disk with `path` has no space for another record."""
    try:
        disk = shutil.disk_usage(path.absolute().parent)
    except OSError:
        return False
    return disk.total > 0 and disk.free < MIN_FREE_BYTES


def journal_files(path: Path) -> list[Path]:
    """Return the files that a table writes for the journal at `path`, the lock first."""
    return [sidecar_path(path, ending) for ending in (".lock", "", "-journal")]


def identity(db: sqlite3.Connection) -> Identity:
    """Return the identity of the SQLite file `db`."""
    queries = ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
    return Identity(*(int(db.execute(query).fetchone()[0]) for query in queries))


def check(path: Path, found: Identity) -> None:
    """Raise `JournalError` if the file at `path` is not a journal of this version."""
    if not found.tables or found.application == APPLICATION_ID:
        return
    if found.application >> 8 == APPLICATION_ID >> 8:
        raise journal_error(path, "it was written by another version of this program", "update the program")
    raise journal_error(path, "it belongs to another program", "choose another file for the journal")


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open the journal at `path` read-only, for a short read: the writer waits for the end of it.

    Nothing is changed, and no file is left beside it. This works while it is written, on a read-only medium, and beside
    the -journal file of a writer that was killed.
    Raises `sqlite3.Error`, `OSError`, or `JournalError` if there is no file.
    """
    if not path.is_file():
        raise journal_error(path, "there is no such file", "check its name")
    if path.suffix == ".toml":
        raise journal_error(path, "this is a settings file, not a journal", "use the file named in [table] journal")
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=READ_WAIT_S, isolation_level=None)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        with temporary_copy(path) as copy, closing(sqlite3.connect(copy)) as rolled_back:
            return _read_into_memory(rolled_back)
    except BaseException:
        db.close()
        raise
    return db


def open_snapshot(path: Path) -> sqlite3.Connection:
    """Return a copy in memory of the journal at `path`, for a long read. Raises as `open_read_only`."""
    with closing(open_read_only(path)) as db:
        return _read_into_memory(db)


def _read_into_memory(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of `db`, read in pieces; SQLite starts over if it is written between two of them."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.backup(memory, pages=SNAPSHOT_PAGES, sleep=0.01)
        memory.execute("PRAGMA query_only = ON")
    except BaseException:
        memory.close()
        raise
    return memory


@contextmanager
def temporary_copy(path: Path, *, with_journal: bool = True) -> Generator[Path]:
    """Copy the file at `path`, and its -journal file, to a temporary folder; provide the copy's path."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "journal")
        for ending in ("", "-journal")[: 1 + with_journal]:
            if (old := sidecar_path(path, ending)).is_file():
                shutil.copyfile(old, sidecar_path(copy, ending))
        yield copy


def require_intact(path: Path, db: sqlite3.Connection) -> None:
    """Raise `DamagedJournalError` if SQLite finds a fault in the journal `db` at `path`, or records are missing."""
    if fault := count_fault(db):
        raise damage_error(path, fault)
    if db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise damage_error(path)


def count_fault(db: sqlite3.Connection) -> str:
    """Return how the stated number of records of the journal `db` contradicts its last record; "" if it does not."""
    stated, last = db.execute(
        "SELECT user_version, (SELECT coalesce(max(seq), 0) FROM facts) FROM pragma_user_version"
    ).fetchone()
    if stated == last:
        return ""
    return (
        f"its first page states {stated} records and its last record is {last}: it was copied in the middle of a write,"
        " or its -journal file was removed"
    )


def sidecar_path(path: Path, ending: str) -> Path:
    """Return the path of a file that SQLite keeps beside the one at `path`."""
    return path.with_name(path.name + ending)


def rows(db: sqlite3.Connection, to: int | None = None, first: int = 1) -> Iterator[JournalRow]:
    """Yield the records in order, from `first` up to `to` (None: the last).

    Raises `sqlite3.Error`, also if a value does not have its column's type: SQLite stores any type in any column.
    """
    last = 2**63 - 1 if to is None else to
    query = "SELECT seq, batch, t, kind, body, hash FROM facts WHERE seq BETWEEN ? AND ? ORDER BY seq"
    for row in map(JournalRow._make, db.execute(query, (first, last))):
        if [type(value) for value in row] != [int, int, float, str, str, str]:
            raise DamagedRecordError("a value has the wrong type")
        yield row


def read_rows(path: Path, epoch: str, first: int, last: int) -> list[JournalRow] | None:
    """Return the records `first` to `last` of the journal at `path`, as stored; None if it is of another `epoch`.

    Raises `JournalError`.
    """
    with journal_errors(path, "it cannot be read"), closing(open_read_only(path)) as db:
        return list(rows(db, last, first)) if meta(db).epoch == epoch else None


def meta(db: sqlite3.Connection) -> Meta:
    """Return the description of the journal. Raises `ValueError` if it is malformed."""
    try:
        stored: dict[str, str] = dict(db.execute("SELECT key, value FROM meta").fetchall())
        genesis(stored["epoch"])
        return Meta(stored["epoch"], stored["made_by"], float(stored["created"]), stored["origin"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it does not name its journal") from error


def require_meta(path: Path, db: sqlite3.Connection) -> Meta:
    """Return the description of the journal `db` at `path`, as `meta`. Raises `DamagedJournalError`."""
    try:
        return meta(db)
    except ValueError as error:
        raise damage_error(path, str(error)) from error


def create_tables(db: sqlite3.Connection, about: Meta, records: Iterable[JournalRow] = ()) -> None:
    """Create the tables of a journal in the empty `db`, in one transaction, and insert `records` with new hashes."""
    db.execute("BEGIN IMMEDIATE")
    _run(db, _TABLES)
    pairs = zip(Meta._fields, map(str, about), strict=True)
    db.executemany("INSERT INTO meta VALUES (?, ?)", pairs)
    _run(db, _SEAL)
    insert(db, chain_rows(genesis(about.epoch), records))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("COMMIT")


def insert(db: sqlite3.Connection, records: Iterable[JournalRow]) -> None:
    """Insert `records` with their hashes and state the new number of records, in the current transaction."""
    db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)", records)
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
    db.execute(f"PRAGMA user_version = {last}")


def _run(db: sqlite3.Connection, script: str) -> None:
    """Execute a script inside the current transaction; `executescript` would commit it."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def hidden_sidecar_path(path: Path, ending: str) -> Path:
    """Return the path of a hidden file beside the journal at `path`, for a journal that is not in use."""
    return path.with_name(f".{path.name}.{ending}")


def write_new_journal(path: Path, about: Meta, records: Iterable[JournalRow], ending: str = "new") -> Path:
    """Write a new, synced journal to a hidden file beside `path`; return it. `put_in_place` renames it to `path`."""
    new = hidden_sidecar_path(path, ending)
    remove(new)
    create_private_file(new)
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")
        create_tables(db, about, records)
    sync(new)
    return new


def link_or_copy(old: Path, new: Path) -> None:
    """Make a hard link `new` of the file `old`, or copy it if the file system has no links. Raises `OSError`."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:
        create_private_file(new, old)
        shutil.copyfile(old, new)
        sync(new)


def put_in_place(new: Path, path: Path) -> None:
    """Rename `new` to `path` atomically, and sync the folder."""
    new.replace(path)
    sync(path.parent)


def file_id(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file at `path`, which identify it under any name; None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def drop_rollback_journal(path: Path) -> None:
    """Remove the empty -journal file beside the closed journal at `path`, so that the next file does not get it.

    Raises `JournalError` if it holds an unfinished transaction, and `OSError`.
    """
    left = sidecar_path(path, "-journal")
    if left.exists() and left.stat().st_size:
        raise journal_error(path, "its last event is not finished", "start the table again: it is taken back then")
    left.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove the journal at `path` and the files that SQLite keeps beside it. Raises `OSError`."""
    for ending in ("", "-journal"):
        with suppress(FileNotFoundError):
            sidecar_path(path, ending).unlink()
