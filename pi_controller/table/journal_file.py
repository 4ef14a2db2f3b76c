"""The journal's SQLite file: schema, creation, read-only opening, rows, and its errors.

SQLite. `facts(seq, batch, t, kind, body, hash)` are the records, `meta(key, value)` tells of the journal itself:
`epoch`, `made_by` (the program's version), `created` (seconds since 1970), and `origin` where it was made from another.
Neither is ever changed: triggers refuse it. A file of version 1 has no `hash` and no `meta`; it can be read all the
same.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.errors import JournalError
from pi_controller.private_files import closed_to_us, make_private
from pi_controller.referee.facts import Fact
from pi_controller.table.chain import Row, chained, genesis
from pi_controller.whole_files import sync

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

APPLICATION_ID = 0x4D4D4154
"""`MMAT`: tells a journal from any other SQLite file."""
SCHEMA_VERSION = 2
BUSY_S = 0.25
"""How long another program may hold the file before that is an error, s."""
RECOVER = "'moccasin-mat recover FILE -o NEW' keeps what can be read"

_TABLES = """
CREATE TABLE facts(
  seq INTEGER PRIMARY KEY, batch INTEGER NOT NULL, t REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TABLE meta(key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE TRIGGER facts_stay BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_remain BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
_FOLLOW = """\
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < coalesce((SELECT batch FROM facts WHERE seq = NEW.seq - 1), 1)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END"""
"""Looks at the last record only. Journals made before took the largest batch of all, which reads every record."""
_SEAL = """
CREATE TRIGGER meta_stays BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_remains BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_is_whole BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
_CAUSES = {
    sqlite3.SQLITE_FULL: ("the disk is full", "make room on the disk, then go on"),
    sqlite3.SQLITE_READONLY: ("the file or the disk is read-only", "check the disk's health and the file's owner"),
    sqlite3.SQLITE_BUSY: ("another program holds it", "close the other program"),
    sqlite3.SQLITE_LOCKED: ("another program holds it", "close the other program"),
    sqlite3.SQLITE_IOERR: ("the disk fails", "check the disk, then go on"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", RECOVER),
    sqlite3.SQLITE_NOTADB: ("it is not a journal, or it is damaged", "check the file's name"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that the folder exists and may be written"),
    sqlite3.SQLITE_CONSTRAINT: ("the record does not follow the last one", "another program wrote to it: restart"),
}
DAMAGED = _CAUSES[sqlite3.SQLITE_CORRUPT]
NO_FOLDER = _CAUSES[sqlite3.SQLITE_CANTOPEN][1]
decode = msgspec.json.Decoder(Fact).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]
"""The fact of a record's body; raises `msgspec.MsgspecError`."""


class Meta(NamedTuple):
    """What a journal says of itself. `epoch` is hex, `created` seconds since 1970 (0: not known).

    `origin` says what it was made from, where it was not begun as a fresh one.
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


def wrong(path: Path, what: str, todo: str = "") -> JournalError:
    """Return the error that says what is wrong with the journal at `path`."""
    return JournalError(f"journal {path.name}: {what}", todo)


@contextmanager
def journal_errors(path: Path, doing: str) -> Generator[None]:
    """Turn what goes wrong while `doing` something with the journal at `path` into a `JournalError`."""
    try:
        yield
    except sqlite3.Error as error:
        code: Any = getattr(error, "sqlite_errorcode", 0)
        what, todo = _CAUSES.get((code or 0) & 0xFF, (str(error), "check the disk and the file"))
        raise wrong(path, f"it cannot be {doing}: {what}", closed_to_us(kept_with(path)) or todo) from error
    except OSError as error:
        todo = closed_to_us(kept_with(path)) or "check the disk and the file"
        raise wrong(path, f"it cannot be {doing}: {error.strerror}", todo) from error


def kept_with(path: Path) -> list[Path]:
    """Return the files that a table writes for the journal at `path`, its lock first."""
    return [beside(path, ending) for ending in (".lock", "", "-wal", "-shm")]


def written_now(path: Path) -> bool:
    """Return whether a program writes the journal at `path` just now. Raises `OSError`."""
    try:
        with beside(path, ".lock").open("r+b", buffering=0) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def identity(db: sqlite3.Connection) -> Identity:
    """Return whose file `db` is."""
    queries = ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
    return Identity(*(int(db.execute(query).fetchone()[0]) for query in queries))


def check(path: Path, found: Identity) -> None:
    """Raise `JournalError` where the file at `path` is no journal of this version or an earlier one."""
    if found.tables and found.application != APPLICATION_ID:
        raise wrong(path, "it belongs to another program", "choose another file for the journal")
    if found.version > SCHEMA_VERSION:
        raise wrong(path, "it was written by a newer version of this program", "update the program")


def look(path: Path) -> sqlite3.Connection:
    """Return a connection to the journal at `path` that changes nothing, nor leaves a file beside it.

    A journal that is being written can be looked at; so can one on a medium that takes no writes, with or without the
    log of a writer that was killed. Raises `sqlite3.Error`, `OSError`, or `JournalError` where there is no file.
    """
    if not path.is_file():
        raise wrong(path, "there is no such file", "check its name")
    if path.suffix == ".toml":
        raise wrong(path, "these are settings and no journal", "[table] journal in them is the file to give")
    place = path.absolute().as_uri()
    wal = beside(path, "-wal")
    if not wal.exists():  # nobody is writing it; opened otherwise SQLite would leave such a file behind
        return look_without_log(path)
    db = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # where nothing at all may be written SQLite cannot make the file it shares with a writer: there is none
        db.close()
        return _copied(path, wal)
    return db


def look_without_log(path: Path) -> sqlite3.Connection:
    """Return a connection to the file at `path` as it is without any log; it changes nothing."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _copied(path: Path, wal: Path) -> sqlite3.Connection:
    with TemporaryDirectory() as folder:
        copy = Path(folder, "journal")
        shutil.copyfile(path, copy)
        shutil.copyfile(wal, beside(copy, "-wal"))
        memory = sqlite3.connect(":memory:", isolation_level=None)
        with closing(sqlite3.connect(copy)) as whole:
            whole.backup(memory)
        return memory


def beside(path: Path, ending: str) -> Path:
    """Return the path of the file that SQLite keeps beside the one at `path`."""
    return path.with_name(path.name + ending)


def rows(db: sqlite3.Connection, version: int, to: int | None = None, first: int = 1) -> Iterator[Row]:
    """Yield the records in order as they stand, from `first` on, with `to` up to that. Raises `sqlite3.Error`."""
    stated = "hash" if version > 1 else "''"
    last = 2**63 - 1 if to is None else to
    query = f"SELECT seq, batch, t, kind, body, {stated} FROM facts WHERE seq BETWEEN ? AND ? ORDER BY seq"  # noqa: S608
    yield from map(Row._make, db.execute(query, (first, last)))


def meta(db: sqlite3.Connection, version: int) -> Meta | None:
    """Return what the journal says of itself; None of version 1. Raises `ValueError` where it cannot be understood."""
    if version < 2:
        return None
    return meta_of(dict(db.execute("SELECT key, value FROM meta").fetchall()))


def meta_of(stored: dict[str, str]) -> Meta:
    """Return what the journal says of itself from its words. Raises `ValueError` where they cannot be understood."""
    try:
        genesis(stored["epoch"])
        return Meta(stored["epoch"], stored["made_by"], float(stored["created"]), stored["origin"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it does not say which journal it is") from error


def lay_out(db: sqlite3.Connection, about: Meta, records: Iterable[Row] = ()) -> None:
    """Make the journal's tables in the empty `db`, in one transaction, and put `records` in, chained anew."""
    db.execute("BEGIN IMMEDIATE")
    _run(db, _TABLES)
    db.execute(_FOLLOW)
    pairs = zip(Meta._fields, map(str, about), strict=True)
    db.executemany("INSERT INTO meta VALUES (?, ?)", pairs)
    _run(db, _SEAL)
    insert(db, chained(genesis(about.epoch), records))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    db.execute("COMMIT")


def renew(db: sqlite3.Connection) -> None:
    """Give a journal of this version, made by an older program, the trigger that a fresh one has."""
    if db.execute("SELECT sql FROM sqlite_master WHERE name = 'facts_follow'").fetchone() != (_FOLLOW,):
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP TRIGGER IF EXISTS facts_follow")
        db.execute(_FOLLOW)
        db.execute("COMMIT")


def insert(db: sqlite3.Connection, records: Iterable[Row]) -> None:
    """Put `records`, with their hashes, into the file."""
    db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)", records)


def _run(db: sqlite3.Connection, script: str) -> None:
    """Run a script inside the transaction; `executescript` would end it."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def beside_hidden(path: Path, ending: str) -> Path:
    """Return the path of a file beside the journal at `path` that is none yet, or no longer."""
    return path.with_name(f".{path.name}.{ending}")


def write_beside(path: Path, about: Meta, records: Iterable[Row], ending: str = "new") -> Path:
    """Write a new journal to a file beside `path`, safe on disk, and return it; `put_in_place` makes it `path`."""
    new = beside_hidden(path, ending)
    remove(new)
    make_private(new)
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")
        lay_out(db, about, records)
    sync(new)
    return new


def put_in_place(new: Path, path: Path) -> None:
    """Give the file `new` the name `path` at once, also before a power cut."""
    new.replace(path)
    sync(path.parent)


def numbers(path: Path) -> tuple[int, int] | None:
    """Return what tells the file at `path` from any other, whatever their names; None where there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def remove(path: Path) -> None:
    """Remove the journal at `path` with all that SQLite keeps beside it, where it is. Raises `OSError`."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            beside(path, ending).unlink()
