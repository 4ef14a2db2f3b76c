"""Store of sensor blocks in an SQLite file, a row each: whole recordings, and the hits of a journal.

A rollback journal lets a killed process lose only what was not committed, and leaves one file that can be copied.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pi_controller.errors import describe_error
from pi_controller.host.retention import Retention
from pi_controller.recording.entries import Entry, Header, Part, RecordingError, pack, unpack
from pi_controller.sensing.events import Strike

log = logging.getLogger(__name__)

APPLICATION_ID = 0x4D4D5352
"""`MMSR`: distinguishes these files from other SQLite files."""
FORMAT = 1
_PAGE_BYTES = 512
"""Small pages: a commit writes the last ones once more, and a block leaves little of its last one empty."""
_READ_WAIT_S = 5.0
"""Longest wait of a reader while a block is synced to a slow card."""


class SensorWriter:
    """Adds blocks to the file at `path`, which is created if missing. Raises `RecordingError`."""

    def __init__(self, path: Path, retention: Retention | None = None) -> None:
        self.path = path
        self._retention = retention
        self._closed = False
        with store_errors(path):
            self._db = sqlite3.connect(path, timeout=0.0, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        db = self._db
        has_blocks = _has_blocks(db, self.path)
        db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        db.execute("PRAGMA journal_mode = TRUNCATE")
        db.execute("PRAGMA synchronous = NORMAL")
        if not has_blocks:
            db.execute("BEGIN IMMEDIATE")
            db.execute("CREATE TABLE blocks(id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            db.execute("COMMIT")

    def add(self, blocks: Iterable[bytes]) -> None:
        """Add `blocks` to the open transaction, after making room for them."""
        rows = [(block,) for block in blocks]
        with store_errors(self.path):
            size = self.path.stat().st_size + sum(len(block) for (block,) in rows)
            if self._retention is not None and not self._retention.make_room(self.path, size):
                raise RecordingError("it reached its size limit")
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT INTO blocks VALUES (NULL, ?)", rows)

    def commit(self) -> bool:
        """Commit the added blocks. Return False if a reader prevents it at the moment: call it again later."""
        if not self._db.in_transaction:
            return True
        with store_errors(self.path):
            try:
                self._db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                return False
        return True

    def close(self) -> None:
        """Commit the added blocks, and close the file without a journal beside it; may be called again."""
        if self._closed:
            return
        self._closed = True
        with store_errors(self.path), closing(self._db):
            self._db.execute(f"PRAGMA busy_timeout = {round(1000 * _READ_WAIT_S)}")
            if self._db.in_transaction:
                self._db.execute("COMMIT")
            self._db.execute("PRAGMA journal_mode = DELETE")


class BestEffortWriter:
    """Writes blocks for an observer of the table: a failure ends the recording with a warning, never the game.

    `what` names the recording in the log.
    """

    def __init__(self, writer: SensorWriter, what: str) -> None:
        self._writer: SensorWriter | None = writer
        self._what = what

    @property
    def is_open(self) -> bool:
        """False after `close` or a failure."""
        return self._writer is not None

    def add(self, blocks: Iterable[bytes]) -> None:
        """Add `blocks`."""
        self._try(lambda writer: writer.add(blocks))

    def commit(self) -> None:
        """Commit the added blocks, unless a reader prevents it: the next call tries again."""
        self._try(SensorWriter.commit)

    def close(self) -> None:
        """Commit the added blocks and close the file; may be called again."""
        self._try(SensorWriter.close)
        self._writer = None

    def _try(self, action: Callable[[SensorWriter], object]) -> None:
        if self._writer is None:
            return
        try:
            action(self._writer)
        except RecordingError as error:
            log.warning("%s: the recording ends: %s", self._what, error.message)
            writer, self._writer = self._writer, None
            with suppress(RecordingError):
                writer.close()


def create_recording(path: Path, header: Header, retention: Retention | None = None) -> SensorWriter:
    """Return the writer of a new recording at `path`, with its header committed.

    Raises `OSError` if the file exists or cannot be created, and `RecordingError`.
    """
    path.open("xb").close()
    writer = SensorWriter(path, retention)
    writer.add([pack([header])])
    writer.commit()
    return writer


def read_blocks(path: Path, number: int | None = None) -> Iterator[tuple[int, list[Part]]]:
    """Yield the number and the entries of each block at `path` in order, or only of block `number`.

    The file is only read; between two blocks it is not locked. Raises `RecordingError` at the first damaged block,
    after those before it.
    """
    with _open_read_only(path) as db:
        last = 0 if number is None else number - 1
        while True:
            with store_errors(path):
                row = db.execute(
                    "SELECT id, data FROM blocks WHERE id > ? AND id <= coalesce(?, id) ORDER BY id LIMIT 1",
                    (last, number),
                ).fetchone()
                if row is None:
                    return
            last, data = row
            try:
                parts = unpack(data)
            except RecordingError as error:
                raise RecordingError(f"{path.name}, block {last}: {error.message}", error.hint) from error
            yield last, parts


@contextmanager
def _open_read_only(path: Path) -> Generator[sqlite3.Connection]:
    if not is_recording(path):
        raise RecordingError(f"{path.name} is no sensor recording, or cannot be read", "check the file's name")
    with store_errors(path):
        beside = journal_path(path)
        # only a writer may roll back the transaction of a process that was killed in its commit
        killed = beside.is_file() and beside.stat().st_size > 0
        address = f"{path.absolute().as_uri()}?mode={'rw' if killed else 'ro'}"
        db = sqlite3.connect(address, uri=True, timeout=_READ_WAIT_S)
    with closing(db):
        with store_errors(path):
            db.execute("PRAGMA writable_schema = ON")  # a file that was cut short is read up to the cut
            _has_blocks(db, path)
        yield db


def _has_blocks(db: sqlite3.Connection, path: Path) -> bool:
    """Return False for an empty file. Raises `RecordingError` if it is of another program or version."""
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and db.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise RecordingError(f"{path.name} belongs to another program", "move it away")
    if tables and db.execute("PRAGMA user_version").fetchone() != (FORMAT,):
        raise RecordingError(f"{path.name} was written by another version", "read it with that version of the program")
    return bool(tables)


@contextmanager
def store_errors(path: Path) -> Generator[None]:
    """Raise errors of SQLite and the disk as `RecordingError`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise RecordingError(
            f"{path.name} cannot be used: {describe_error(error)}", "check the disk, or move the file away"
        ) from error


def journal_path(path: Path) -> Path:
    """Return the path of SQLite's rollback journal of the file at `path`."""
    return path.with_name(f"{path.name}-journal")


class Recording:
    """Reads the recording at `path`: the `header` at once, `entries()` block by block. Raises `RecordingError`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        for _, parts in read_blocks(self.path, 1):
            match parts:
                case [Header(hide=None) as header]:
                    self.header = header
                    return
                case _:
                    raise RecordingError(
                        f"{self.path.name} has stored hits", "draw them: moccasin-mat game review JOURNAL"
                    )
        raise RecordingError(f"{self.path.name}: its header is lost", "restore the file from a copy")

    def entries(self) -> Iterator[Entry]:
        """Yield every entry after the header, in order.

        Raises `RecordingError` where the file is damaged, after all entries before that.
        """
        for _, parts in read_blocks(self.path):
            yield from (part for part in parts if not isinstance(part, Header | Strike))


def is_recording(path: str | Path) -> bool:
    """Return True if the file at `path` begins like one of sensor blocks."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION_ID.to_bytes(4, "big")
