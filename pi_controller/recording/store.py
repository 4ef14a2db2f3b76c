"""Store of compressed blocks in an SQLite file, one row a block: sensor recordings, and the stored hits of a journal.

A recording is written with a rollback journal: each block goes to the disk once, and a commit syncs it. Hits are
written with a write-ahead log: a commit right after a stroke never waits for the disk, and judges read meanwhile.
Either way a killed process loses only what was not committed.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from pi_controller.errors import describe_error
from pi_controller.recording.format import FORMAT, DamagedBlockError, Entry, Header, RecordingError, unpack

Row = tuple[int, str, bytes]
"""Number of a block, its description for readers that do not unpack it, and its data."""
SCHEMA_VERSION = 1
_PAGE_BYTES = 512
"""Small pages: a commit writes the last ones once more, and a block leaves little of its last one empty."""
_READ_WAIT_S = 5.0
"""Longest wait of a reader while a recording is synced to a slow card."""
_OTHER_VERSION_HINT = "read it with the version of the program that wrote it"


@dataclass(frozen=True, slots=True)
class StoreKind:
    """A kind of file: its application id, how it is written, and the errors it raises.

    `timeout_s` is the longest wait for another program that uses the file.
    """

    application_id: int
    journal_mode: Literal["TRUNCATE", "WAL"]
    error: type[RecordingError]
    timeout_s: float


RECORDING = StoreKind(0x4D4D5352, "TRUNCATE", RecordingError, 0.0)
"""`MMSR`."""


class BlockStore:
    """The blocks at `path`, opened for adding; an empty file gets its table. Raises the kind's error."""

    def __init__(self, path: Path, kind: StoreKind) -> None:
        self.path = path
        self._kind = kind
        self._closed = False
        with store_errors(path, kind):
            self._db = sqlite3.connect(path, timeout=kind.timeout_s, isolation_level=None)
            try:
                empty = _is_empty(self._db, path, kind)
                self._db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                self._db.execute(f"PRAGMA journal_mode = {kind.journal_mode}")
                self._db.execute("PRAGMA synchronous = NORMAL")
                if empty:
                    self._create()
            except BaseException:
                self._db.close()
                raise

    def _create(self) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        db.execute("CREATE TABLE blocks(id INTEGER PRIMARY KEY, about TEXT NOT NULL, data BLOB NOT NULL)")
        db.execute(f"PRAGMA application_id = {self._kind.application_id}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")

    @property
    def size(self) -> int:
        """The committed size, bytes."""
        return self.path.stat().st_size

    def add(self, data: bytes, about: str = "") -> None:
        """Add a block to the open transaction."""
        with store_errors(self.path, self._kind):
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT INTO blocks VALUES (NULL, ?, ?)", (about, data))

    def keep_newest(self, most: int) -> None:
        """Delete all but the newest `most` blocks."""
        with store_errors(self.path, self._kind):
            self._db.execute("DELETE FROM blocks WHERE id <= (SELECT max(id) FROM blocks) - ?", (most,))

    def commit(self) -> bool:
        """Commit the added blocks. Return False if a reader prevents it at the moment: call it again later."""
        if not self._db.in_transaction:
            return True
        with store_errors(self.path, self._kind):
            try:
                self._db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                return False
        return True

    def rollback(self) -> None:
        """Discard the blocks that are not committed."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Commit the added blocks, and close the file without a journal or log beside it; may be called again."""
        if self._closed:
            return
        self._closed = True
        with store_errors(self.path, self._kind), closing(self._db):
            self._db.execute(f"PRAGMA busy_timeout = {round(1000 * _READ_WAIT_S)}")
            if self._db.in_transaction:
                self._db.execute("COMMIT")
            if self._kind.journal_mode == "TRUNCATE":
                self._db.execute("PRAGMA journal_mode = DELETE")


def read_rows(path: Path, kind: StoreKind, number: int | None = None, *, with_data: bool = True) -> list[Row]:
    """Return the rows at `path` in order, or the one of that `number`; the file is only read."""
    with _open_read_only(path, kind) as db, store_errors(path, kind):
        data = "data" if with_data else "x''"
        rows = f"SELECT id, about, {data} FROM blocks"  # noqa: S608 - no input
        query = f"{rows} WHERE :number IS NULL OR id = :number ORDER BY id"
        return db.execute(query, {"number": number}).fetchall()


@contextmanager
def _open_read_only(path: Path, kind: StoreKind) -> Generator[sqlite3.Connection]:
    """Open the file at `path` for reading."""
    with store_errors(path, kind):
        beside = journal_path(path)
        # only a writer may roll back the transaction of a process that was killed in its commit
        killed = beside.is_file() and beside.stat().st_size > 0
        address = f"{path.absolute().as_uri()}?mode={'rw' if killed else 'ro'}"
        db = sqlite3.connect(address, uri=True, timeout=max(kind.timeout_s, _READ_WAIT_S))
    with closing(db):
        with store_errors(path, kind):
            db.execute("PRAGMA writable_schema = ON")  # a file that was cut short is read up to its end
            _is_empty(db, path, kind)
        yield db


def _is_empty(db: sqlite3.Connection, path: Path, kind: StoreKind) -> bool:
    """Return whether the file has no tables yet. Raises the kind's error for a file of another kind or version."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != kind.application_id:
        raise kind.error(f"{path.name} belongs to another program", "move it away")
    if tables and version != SCHEMA_VERSION:
        raise kind.error(f"{path.name} was written by another version", _OTHER_VERSION_HINT)
    return not tables


@contextmanager
def store_errors(path: Path, kind: StoreKind) -> Generator[None]:
    """Turn errors of SQLite, the disk and invalid content into the kind's error."""
    try:
        yield
    except RecordingError as error:
        if isinstance(error, kind.error):
            raise
        raise kind.error(error.message, error.hint) from error
    except (sqlite3.Error, OSError, msgspec.MsgspecError, zlib.error, ValueError, TypeError) as error:
        raise kind.error(
            f"{path.name} cannot be used: {describe_error(error)}", "check the disk, or move the file away"
        ) from error


def journal_path(path: Path) -> Path:
    """Return the path of SQLite's rollback journal of the file at `path`."""
    return path.with_name(f"{path.name}-journal")


# A recording is a store whose first row is the header: JSON in place of the description, no data.


class RecordingWriter(BlockStore):
    """Writes a new recording at `path`. Raises `OSError` if it exists or cannot be created, and `RecordingError`."""

    def __init__(self, path: Path, header: Header) -> None:
        path.open("xb").close()
        super().__init__(path, RECORDING)
        self.add(b"", msgspec.json.encode(header).decode())
        self.commit()


class Recording:
    """Reads a recording: the `header` at once, `entries()` block by block; `damaged` counts lost bytes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.damaged = 0
        about, _ = next(self._blocks(), ("", b""))
        if not about:
            raise RecordingError(f"{self.path.name}: its header is lost", "restore the file from a copy")
        try:
            self.header = msgspec.json.decode(about, type=Header)
        except msgspec.MsgspecError as error:
            raise RecordingError(f"{self.path.name}: its header cannot be read: {error}") from error
        if self.header.format != FORMAT:
            raise RecordingError(f"{self.path.name} was written by another version", _OTHER_VERSION_HINT)

    def entries(self) -> Iterator[Entry]:
        """Yield every entry in order. Raises `RecordingError` for an intact block with invalid content."""
        for about, data in self._blocks():
            try:
                entries = [] if about else unpack(data)
            except DamagedBlockError:
                self.damaged += len(data)
                continue
            yield from entries

    def _blocks(self) -> Iterator[tuple[str, bytes]]:
        """Yield each block's description (only the header has one) and data.

        The rows are read one by one, so that a damaged page costs its own rows alone and no reader blocks a writer.
        """
        self.damaged = 0
        try:
            known = _has_application_id(self.path)
        except OSError as error:
            raise RecordingError(
                f"cannot read {self.path.name}: {describe_error(error)}", "name a recording"
            ) from error
        if not known:
            raise RecordingError(f"{self.path.name} is no sensor recording", "check the file's name")
        with _open_read_only(self.path, RECORDING) as db:
            try:
                (last,) = db.execute("SELECT max(id) FROM blocks").fetchone()
            except sqlite3.DatabaseError:  # the last page is lost: look for every number that the file has room for
                last = self.path.stat().st_size // 256
            lost = 0
            for n in range(1, (last or 0) + 1):
                with store_errors(self.path, RECORDING):
                    try:
                        row = db.execute("SELECT about, data FROM blocks WHERE id = ?", (n,)).fetchone()
                    except sqlite3.OperationalError:
                        raise
                    except sqlite3.DatabaseError:
                        row = None
                if row is not None and isinstance(row[0], str) and isinstance(row[1], bytes):
                    self.damaged, lost = self.damaged + lost, 0
                    yield row
                else:
                    lost += _PAGE_BYTES
            self.damaged += min(lost, _PAGE_BYTES)


def is_recording(path: str | Path) -> bool:
    """Return True if the file at `path` begins like a sensor recording."""
    try:
        return _has_application_id(Path(path))
    except OSError:
        return False


def _has_application_id(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3\0") and head[68:] == RECORDING.application_id.to_bytes(4, "big")
