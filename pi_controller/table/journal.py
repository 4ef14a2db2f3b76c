"""The journal: every fact of one game, in order, on disk before anybody is told. SQLite; append only.

One table `facts(seq, batch, t, kind, body)`: `seq` counts records from 1, a batch is what one input gave rise to,
`body` is the fact as JSON. A batch is one transaction in WAL mode with synchronous=FULL: after a power cut it is there
whole or not at all, and what was acknowledged is there. Records are never changed or removed: triggers refuse it.
"""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.errors import JournalError
from pi_controller.referee.facts import Fact, Opened

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from types import TracebackType
    from typing import IO, Self

APPLICATION_ID = 0x4D4D4154
"""`MMAT`: tells a journal from any other SQLite file."""
SCHEMA_VERSION = 1
BUSY_S = 0.25
"""How long another program may hold the file before that is an error, s."""

_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE facts(
  seq INTEGER PRIMARY KEY, batch INTEGER NOT NULL, t REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TRIGGER facts_stay BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_remain BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < (SELECT coalesce(max(batch), 1) FROM facts)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
_IDENTITY = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
_CAUSES = {
    sqlite3.SQLITE_FULL: ("the disk is full", "make room on the disk, then go on"),
    sqlite3.SQLITE_READONLY: ("the file or the disk is read-only", "check the disk's health and the file's owner"),
    sqlite3.SQLITE_BUSY: ("another program holds it", "close the other program"),
    sqlite3.SQLITE_LOCKED: ("another program holds it", "close the other program"),
    sqlite3.SQLITE_IOERR: ("the disk fails", "check the disk, then go on"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "keep the file aside and go on with a copy, or begin a new journal"),
    sqlite3.SQLITE_NOTADB: ("it is not a journal, or it is damaged", "check the file's name"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that the folder exists and may be written"),
    sqlite3.SQLITE_CONSTRAINT: ("the record does not follow the last one", "another program wrote to it: restart"),
}
_decode = msgspec.json.Decoder(Fact).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]
_encode = msgspec.json.Encoder().encode


class Journal:
    """The journal at `path`, opened for writing (made when it is not there) or with `read_only` for looking.

    One program at a time may write: a lock on `<path>.lock` sees to it. `seq` and `batch` are the last ones written.
    Whatever goes wrong is a `JournalError`, and then nothing of the batch was written or `reopen` will show all of it.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self.seq = 0
        self.batch = 0
        self._db: sqlite3.Connection | None = None
        self._lock: IO[bytes] | None = None
        try:
            if not read_only:
                self._lock = self._hold()
            self.reopen()
        except BaseException:
            self.close()
            raise

    def append(self, facts: Sequence[Fact]) -> int:
        """Write `facts` as one batch and return its number once they are safely on disk."""
        batch = self.batch + 1
        rows = [
            (self.seq + i, batch, fact.t, fact.__struct_config__.tag, _encode(fact).decode())
            for i, fact in enumerate(facts, 1)
        ]
        with self._told("written"):
            db = self._open_db()
            try:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", rows)
                db.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):  # some errors have rolled back already
                    db.execute("ROLLBACK")
                raise
        self.seq += len(rows)
        self.batch = batch
        return batch

    def read(self, to: int | None = None) -> Iterator[tuple[int, Fact]]:
        """Yield (batch, fact) of every record in order, with `to` those up to that `seq`."""
        for _, batch, fact in self.records(to):
            yield batch, fact

    def records(self, to: int | None = None) -> Iterator[tuple[int, int, Fact]]:
        """Yield (seq, batch, fact) of every record in order, with `to` those up to that `seq`."""
        with self._told("read"):
            rows = self._open_db().execute(
                "SELECT seq, batch, body FROM facts WHERE seq <= ? ORDER BY seq", (self.seq if to is None else to,)
            )
            for n, (seq, batch, body) in enumerate(rows, 1):
                if seq != n:
                    raise self._wrong(f"record {n} is missing", *_CAUSES[sqlite3.SQLITE_CORRUPT][1:])
                try:
                    fact: Fact = _decode(body)
                except msgspec.MsgspecError as error:
                    raise self._wrong(
                        f"record {seq} cannot be read", "it was written by another version, or it is damaged"
                    ) from error
                yield seq, batch, fact

    def opened(self) -> Opened | None:
        """Return the first record: which game this is; None in a fresh journal."""
        first = next(self.read(to=1), None)
        if first is None:
            return None
        if not isinstance(first[1], Opened):
            raise self._wrong("it does not say which game it holds", "begin a new journal")
        return first[1]

    def reopen(self) -> None:
        """Open the file anew after an error, and see what is in it."""
        self._close_db()
        with self._told("opened"):
            self._db = db = self._connect()
            tables, application, version = self._identity(db)
            if tables and application != APPLICATION_ID:
                raise self._wrong("it belongs to another program", "choose another file for the journal")
            if version > SCHEMA_VERSION:
                raise self._wrong("it was written by a newer version of this program", "update the program")
            if not self.read_only:
                self._prepare(db, fresh=not tables)
            elif not tables:
                raise self._wrong("there is nothing in it", "check the file's name")
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise self._wrong(*_CAUSES[sqlite3.SQLITE_CORRUPT])
            self.seq, self.batch = db.execute(
                "SELECT coalesce(max(seq), 0), coalesce(max(batch), 0) FROM facts"
            ).fetchone()

    def close(self) -> None:
        """Close the file and give the lock back. Closing twice is fine."""
        self._close_db()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hold(self) -> IO[bytes]:
        """Take the one writer's lock, a file of its own: closing the journal's would drop SQLite's locks."""
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            held = lock.open("ab")
        except OSError as error:
            raise self._wrong(
                f"{lock.name} cannot be opened ({error.strerror})", _CAUSES[sqlite3.SQLITE_CANTOPEN][1]
            ) from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            held.close()
            raise self._wrong("another table is writing it", "stop the other one, or choose another file") from error
        return held

    def _connect(self) -> sqlite3.Connection:
        place = self.path.absolute().as_uri()
        if not self.read_only:
            return sqlite3.connect(f"{place}?mode=rwc", uri=True, timeout=BUSY_S, isolation_level=None)
        if not self.path.is_file():
            raise self._wrong("there is no such file", "check its name")
        db = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # where nothing at all may be written SQLite cannot make the files it shares with a writer: there is none
            db.close()
            wal = self.path.with_name(self.path.name + "-wal")
            if wal.exists() and wal.stat().st_size:
                raise
            return sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True, isolation_level=None)
        return db

    def _identity(self, db: sqlite3.Connection) -> tuple[int, int, int]:
        queries = ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
        tables, application, version = (int(db.execute(query).fetchone()[0]) for query in queries)
        return tables, application, version

    def _prepare(self, db: sqlite3.Connection, *, fresh: bool) -> None:
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise self._wrong("this disk cannot keep it safe against power cuts", "keep it on the Pi's own disk")
        db.execute("PRAGMA synchronous = FULL")
        if fresh:
            db.executescript(_SCHEMA + _IDENTITY)
        else:
            # written and synced, though nothing changes: a disk that takes no more is found out now
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _open_db(self) -> sqlite3.Connection:
        if self._db is None:
            raise self._wrong("it is closed", "open it again")
        return self._db

    def _close_db(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):  # what was acknowledged is on disk; a failing disk may refuse the rest
                self._db.close()
            self._db = None

    def _wrong(self, what: str, todo: str = "") -> JournalError:
        return JournalError(f"journal {self.path.name}: {what}", todo)

    @contextmanager
    def _told(self, doing: str) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code: Any = getattr(error, "sqlite_errorcode", 0)
            what, todo = _CAUSES.get((code or 0) & 0xFF, (str(error), "check the disk and the file"))
            raise self._wrong(f"it cannot be {doing}: {what}", todo) from error
        except OSError as error:
            raise self._wrong(f"it cannot be {doing}: {error.strerror}", "check the disk and the file") from error
