"""Journal: every fact of one game, in order, on disk before it is shown. SQLite; append only; a hash chain.

`seq` counts records from 1, a batch holds the facts that one input caused, the body is the fact as JSON, and each
record's hash covers all before it (`chain`). A batch is one transaction in WAL mode with synchronous=FULL: after a
power cut it is there completely or not at all, and no acknowledged batch is lost. Records are never changed or removed.

`buffer_batch` buffers a batch in memory: it is written in the transaction of the next batch, or by `flush`.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Self

import msgspec

from pi_controller.errors import JournalError, describe_error
from pi_controller.journal import file, rotation
from pi_controller.journal.file import Meta, Row, damage_error, journal_error, journal_errors
from pi_controller.referee.facts import Fact, GameOpened
from pi_controller.system.files import create_private_file
from pi_controller.system.platform import lock_file

# Migrates a journal of version 1 in place. If it is interrupted, one complete journal remains.
#
# Three steps, each synced before the next: keep a copy beside it (`NAME.v1.sqlite`); write the new journal beside it
# with the same records and a hash chain; rename it atomically. Repeating any step gives the same result.


def migrate(path: Path, token: Callable[[int], bytes]) -> None:
    """Migrate the journal at `path` if it is of an earlier version; the caller holds its lock.

    `token` gives random bytes. Raises `JournalError`, `sqlite3.Error` or `OSError`; then the old journal is unchanged.
    """
    if not _is_earlier(path):
        return
    with closing(sqlite3.connect(path, timeout=file.BUSY_S, isolation_level=None)) as db:
        old = _records(path, db)
        _keep(path, db, old)
        # remove the log of a killed writer before another file takes this name: it does not belong to that file
        if db.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            raise journal_error(path, "another program is using it", "close the other program")
    file.sync(path.absolute().parent)
    about = Meta(token(file.EPOCH_BYTES).hex(), created=old[0].t if old else 0.0, origin="a journal of version 1")
    file.put_in_place(file.write_new_journal(path, about, old), path)


def _is_earlier(path: Path) -> bool:
    """Return whether `path` is a journal of an earlier version. Other faults are reported when it is opened."""
    if not path.is_file():
        return False
    try:
        with closing(file.open_read_only(path)) as db:
            found = file.identity(db)
    except (sqlite3.Error, OSError):
        return False
    return found.tables > 0 and found.application == file.APPLICATION_ID and found.version < file.SCHEMA_VERSION


def _records(path: Path, db: sqlite3.Connection) -> list[Row]:
    file.require_intact(path, db)
    records = list(file.rows(db, 1))
    for n, row in enumerate(records, 1):
        if row.seq != n:
            raise file.damage_error(path, f"record {n} is missing")
    return records


def _keep(path: Path, db: sqlite3.Connection, records: list[Row]) -> None:
    """Keep a copy of the old journal beside it; an existing copy is never replaced."""
    copy, n = path.with_name(f"{path.stem}.v1.sqlite"), 1
    while copy.exists():
        if _holds(copy, records):
            return
        n += 1
        copy = path.with_name(f"{path.stem}.v1-{n}.sqlite")
    new = copy.with_name(f".{copy.name}.new")
    new.unlink(missing_ok=True)
    create_private_file(new, path)
    file.write_database(db, new)
    file.put_in_place(new, copy)


def _holds(copy: Path, records: list[Row]) -> bool:
    try:
        with closing(file.open_read_only(copy)) as db:
            return list(file.rows(db, 1)) == records
    except (sqlite3.Error, OSError):
        return False


log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
_MODE = 0o666
"""Permissions before the umask: the group of a service may read its journal; that of a table run by hand is private."""


class Journal:
    """The journal at `path`, opened for writing (created if missing), or with `read_only` for reading.

    Only one program may write at a time, which a lock on `<path>.lock` ensures. `seq` and `batch` are the last ones
    written, `meta` identifies the journal. A journal of version 1 is migrated if it is opened for writing; opened for
    reading it has no `meta` and no hashes. Every failure is a `JournalError`; then none of the batch was written, or
    `reopen` will show all of it.

    A fresh journal is `created` at that time, in seconds since 1970; `token` gives random bytes for its epoch.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        read_only: bool = False,
        created: float = 0.0,
        token: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self.seq = 0
        self.batch = 0
        self.meta: Meta | None = None
        self._version = file.SCHEMA_VERSION
        self._hash = ""
        self._created = created
        self._token = token
        self._db: sqlite3.Connection | None = None
        self._lock: IO[bytes] | None = None
        self._files = list[tuple[int, int] | None]()
        self._gathered = list[Row]()
        try:
            self._prepare_files()
            self.reopen()
        except BaseException:
            self.close()
            raise

    def _prepare_files(self) -> None:
        """Take the lock, check the files, and bring them to this version."""
        if not self.read_only:
            self._lock = acquire_lock(self.path)
            rotation.finish_replacing(self.path)
        with journal_errors(self.path, "looked at"):
            self._examine()
        if not self.read_only:
            with journal_errors(self.path, "brought to this version"):
                migrate(self.path, self._token)

    @property
    def head(self) -> tuple[int, str]:
        """The last record's number and hash, which prove all before it; "" in a journal of version 1."""
        return self.seq, self._hash

    @property
    def next_batch(self) -> int:
        """The number of the next batch."""
        return (self._gathered[-1].batch if self._gathered else self.batch) + 1

    def buffer_batch(self, facts: Sequence[Fact]) -> int:
        """Buffer `facts` as one batch that is written with the next one; return its number. A power cut may lose it."""
        batch = self.next_batch
        self._gathered += _rows_of(facts, self.seq + len(self._gathered), batch)
        return batch

    def flush(self) -> None:
        """Write the buffered batches."""
        if self._gathered:
            self._write((), self._gathered[-1].batch)

    def append(self, facts: Sequence[Fact]) -> int:
        """Write the buffered batches and `facts` as one batch; return its number once they are safely on disk."""
        return self._write(facts, self.next_batch)

    def _write(self, facts: Sequence[Fact], batch: int) -> int:
        plain = [*self._gathered, *_rows_of(facts, self.seq + len(self._gathered), batch)]
        with journal_errors(self.path, "written"):
            rows = list(file.chain_rows(self._hash, plain)) if not self.read_only else plain
            self._store(rows)
        if rows:
            self.seq, self._hash = rows[-1].seq, rows[-1].hash
            self._acknowledge()
        self.batch = batch
        self._gathered.clear()
        return batch

    def _store(self, rows: Sequence[Row]) -> None:
        db = self.database()
        try:
            db.execute("BEGIN IMMEDIATE")
            file.insert(db, rows)
            db.execute("COMMIT")
        except sqlite3.Error:
            with suppress(sqlite3.Error):  # some errors have rolled back already
                db.execute("ROLLBACK")
            raise

    def read(self, to: int | None = None) -> Iterator[tuple[int, Fact]]:
        """Yield (batch, fact) of every record in order, up to the `seq` `to` if given."""
        for _, batch, fact in self.records(to):
            yield batch, fact

    def records(self, to: int | None = None) -> Iterator[tuple[int, int, Fact]]:
        """Yield (seq, batch, fact) of every record in order, up to the `seq` `to` if given.

        Raises `JournalError` at the first record that is missing, unreadable or changed.
        """
        for row in self.rows(to):
            try:
                fact: Fact = file.decode(row.body)
            except JournalError as error:
                raise journal_error(
                    self.path,
                    f"record {row.seq} cannot be read",
                    "it was written by another version, or it is damaged",
                ) from error
            yield row.seq, row.batch, fact

    def rows(self, to: int | None = None) -> Iterator[Row]:
        """Yield every record as stored, after checking its hash; up to the `seq` `to` if given."""
        with journal_errors(self.path, "read"):
            previous = file.genesis(self.meta.epoch) if self.meta else ""
            for n, row in enumerate(file.rows(self.database(), self._version, self.seq if to is None else to), 1):
                if row.seq != n:
                    raise damage_error(self.path, f"record {n} is missing")
                if self.meta:
                    previous = file.next_hash(previous, row)
                    if row.hash != previous:
                        raise damage_error(self.path, f"record {n} was changed: its hash does not match")
                yield row

    def read_opening(self) -> GameOpened | None:
        """Return the first record, which names the game; None in a fresh journal."""
        first = next(self.read(to=1), None)
        if first is None:
            return None
        if not isinstance(first[1], GameOpened):
            raise journal_error(self.path, "it does not name its game", "begin a new journal")
        return first[1]

    def reopen(self) -> None:
        """Open the file again after an error and read its last record; refuse it if acknowledged records are lost."""
        if self.meta is not None and self._files:
            self._check_same_file()
        self._close_db()
        self._gathered.clear()
        if not self.read_only:
            rotation.finish_rotation(self.path)
        with journal_errors(self.path, "opened"):
            self._db = db = self._connect()
            found = file.identity(db)
            file.check(self.path, found)
            if not self.read_only:
                self._prepare(db, fresh=not found.tables)
            elif not found.tables:
                raise journal_error(self.path, "it is empty", "check the file's name")
            self._version = found.version if self.read_only else file.SCHEMA_VERSION
            file.require_intact(self.path, db)
            self.meta = file.require_meta(self.path, db, self._version)
            if not self.read_only:
                file.renew(db)
            last = db.execute("SELECT seq, batch FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
            self.seq, self.batch = last or (0, 0)
            self._hash = self._last_hash(db)
            if not self.read_only:
                self._files = self._current_file_ids()
                self._acknowledge()

    def check_files(self) -> None:
        """Raise `JournalError` if the files under the journal's name are not the ones that are open."""
        if (lying := self._current_file_ids()) == self._files:
            return
        if lying[0] == self._files[0]:
            raise journal_error(self.path, "its log was deleted or moved away", "let the files beside the journal be")
        raise self._replaced_error() if lying[0] else self._moved_away_error()

    def checkpoint(self) -> bool:
        """Copy the write-ahead log into the database file; return whether the log is now empty.

        It does not wait: if the file is being read, it is left for another time.
        """
        with journal_errors(self.path, "written"):
            db = self.database()
            db.execute("PRAGMA busy_timeout = 0")
            try:
                busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(1000 * file.BUSY_S)}")
        return not busy

    def _last_hash(self, db: sqlite3.Connection) -> str:
        if self.meta is None:
            return ""
        last = db.execute("SELECT hash FROM facts WHERE seq = ?", (self.seq,)).fetchone()
        return str(last[0]) if last else file.genesis(self.meta.epoch)

    def archive_path(self) -> Path:
        """Return the path for the archived journal of this game: see `rotate`."""
        opened = self.read_opening()
        return rotation.archive_path(self.path, opened.t if opened else 0.0)

    def rotate(self, records: Sequence[tuple[int, Fact]], kept: Path, t: float) -> None:
        """Archive this game as the file `kept` (`archive_path`) and start a new journal under this file's name.

        `records` are the first (batch, fact) of the new game: its first batch, or more if it began at another table.
        The first fact names `kept`. The new journal starts at `t` and has its own epoch. Raises `JournalError`; after
        that, `reopen` shows which of the two games is in the file, and it is complete.
        """
        about = Meta(self._token(file.EPOCH_BYTES).hex(), created=t)
        rows = [row._replace(seq=n) for n, (batch, fact) in enumerate(records, 1) for row in _rows_of([fact], 0, batch)]
        rotation.write_next_journal(self.path, about, rows)
        with journal_errors(self.path, "closed"):
            (busy, _, _) = self.database().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise journal_error(
                self.path, "another program reads it", "close the other program, or try again in a moment"
            )
        self._close_db()
        self.meta, self.seq, self._hash = None, 0, ""  # from here on the file may hold either game
        rotation.rotate_journal(self.path, kept)
        self.reopen()

    def _check_same_file(self) -> None:
        """Raise `JournalError` if the file under the journal's name is neither the open one nor a complete copy of it.

        In that case the journal stays open: even if it was deleted, it can still be copied.
        """
        lying, _ = self._current_file_ids()
        if lying is None:
            raise self._moved_away_error()
        if lying == self._files[0]:
            return
        with journal_errors(self.path, "opened"):
            with closing(file.open_without_log(self.path)) as db:
                found = file.identity(db)
                same = found.version == file.SCHEMA_VERSION and file.meta(db, found.version) == self.meta
                if not same or (self.seq and self._last_hash(db) != self._hash):
                    raise self._replaced_error()
            self._close_db()
            for ending in ("-wal", "-shm"):  # they belong to the other file; SQLite would apply them to this one
                file.sidecar_path(self.path, ending).unlink(missing_ok=True)

    def _current_file_ids(self) -> list[tuple[int, int] | None]:
        return [file.file_id(file.sidecar_path(self.path, ending)) for ending in ("", "-wal")]

    def _acknowledge(self) -> None:
        if self._lock is not None and self.meta is not None:
            file.acknowledge(self._lock.fileno(), self.meta, self.seq)

    def _examine(self) -> None:
        """Check before any write that all acknowledged records can be read; if not, copy the files aside and raise."""
        state = file.examine(self.path)
        if not state.lost and (self.read_only or not state.torn):
            return
        copy = ""
        if not self.read_only:
            with suppress(OSError):  # a full disk
                copy = f"; a copy is kept in {file.copy_aside(self.path).name}"
        if state.lost:
            raise damage_error(self.path, state.lost, f"nothing was changed{copy}; {file.RECOVER_HINT}")
        log.warning("journal %s: its log ends in an incomplete event%s", self.path.name, copy)

    def _moved_away_error(self) -> JournalError:
        """Save a copy of the readable records; return the error of a journal that was deleted or moved."""
        rescued = self.path.with_name(f"{self.path.stem}.rescued{self.path.suffix}")
        todo = "put it back: play goes on by itself"
        with suppress(OSError, sqlite3.Error, JournalError):
            if not rescued.exists():
                db = self.database()
                create_private_file(rescued)
                file.write_database(db, rescued)
            todo = f"put it back, or give {rescued.name}, which holds all of it, its name: play goes on by itself"
        return journal_error(self.path, "it was deleted or moved away", todo)

    def _replaced_error(self) -> JournalError:
        return journal_error(self.path, "another file lies in its place", "put it back: play goes on by itself")

    def close(self) -> None:
        """Write the buffered batches, close the file and release the lock. Closing twice is fine."""
        if self._db is not None:
            with suppress(JournalError):  # these batches were never reported as saved
                self.flush()
        self._close_db()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        if self.read_only:
            return file.open_read_only(self.path)
        if not self._files:
            create_private_file(self.path, mode=_MODE)
        place = f"{self.path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(place, uri=True, timeout=file.BUSY_S, isolation_level=None)

    def _prepare(self, db: sqlite3.Connection, *, fresh: bool) -> None:
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise journal_error(
                self.path, "this disk cannot keep it safe against power cuts", "keep it on the Pi's own disk"
            )
        db.execute("PRAGMA synchronous = FULL")
        if fresh:
            file.create_tables(db, Meta(self._token(file.EPOCH_BYTES).hex(), created=self._created))
        else:
            # write and sync the same value, to detect a disk that refuses writes
            db.execute(f"PRAGMA user_version = {file.SCHEMA_VERSION}")
            # move the log into the file: a disk that failed may not have stored the log,
            # though the system's cache still shows it
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.sync(self.path.absolute().parent)

    def database(self) -> sqlite3.Connection:
        """Return the open database. Raises `JournalError` if the journal is closed."""
        if self._db is None:
            raise journal_error(self.path, "it is closed", "open it again")
        return self._db

    def _close_db(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):  # what was acknowledged is on disk; a failing disk may refuse the rest
                self._db.close()
            self._db = None


class MemoryJournal(Journal):
    """A journal in memory, for a game that is not recorded: it has no files and writes nothing to disk."""

    def __init__(self, created: float = 0.0, token: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._rows = list[Row]()
        super().__init__("memory", created=created, token=token)

    def rows(self, to: int | None = None) -> Iterator[Row]:
        """Yield every record; up to the `seq` `to` if given."""
        yield from self._rows[:to]

    def reopen(self) -> None:
        """Keep the written records, and drop the buffered batches."""
        self._gathered.clear()
        if self.meta is None:
            self.meta = Meta(self._token(file.EPOCH_BYTES).hex(), created=self._created)
            self._hash = file.genesis(self.meta.epoch)

    def check_files(self) -> None:
        """Do nothing: there are no files."""

    def checkpoint(self) -> bool:
        """Return True: there is no log."""
        return True

    def archive_path(self) -> Path:
        """Return an empty path: finished games are not archived."""
        return Path()

    def rotate(self, records: Sequence[tuple[int, Fact]], kept: Path, t: float) -> None:
        """Discard this game and begin a new one at `t` with these (batch, fact)."""
        del kept
        self._rows.clear()
        self.meta, self.seq, self.batch, self._created = None, 0, 0, t
        self.reopen()
        for _, batch in groupby(records, key=itemgetter(0)):
            self.append([fact for _, fact in batch])

    def _prepare_files(self) -> None:
        """Do nothing: there are no files."""

    def _store(self, rows: Sequence[Row]) -> None:
        self._rows += rows


def _rows_of(facts: Sequence[Fact], after: int, batch: int) -> Iterator[Row]:
    """Yield `facts` as records of one batch, numbered after `after` and without hashes."""
    for seq, fact in enumerate(facts, after + 1):
        yield Row(seq, batch, fact.t, str(fact.__struct_config__.tag), _encode(fact).decode())


def acquire_lock(path: Path) -> IO[bytes]:
    """Take the writer's lock of the journal at `path`. Raises `JournalError`.

    The lock has its own file: closing the journal itself would drop SQLite's locks.
    """
    lock = file.sidecar_path(path, ".lock")
    try:
        create_private_file(lock, mode=_MODE)
        held = lock.open("r+b", buffering=0)
    except OSError as error:
        todo = file.advice(path, error, [lock], file.NO_FOLDER)
        raise journal_error(path, f"{lock.name} cannot be opened ({describe_error(error)})", todo) from error
    try:
        lock_file(held)
    except OSError as error:
        held.close()
        raise journal_error(
            path, "another table is writing it", "stop the other one, or choose another file"
        ) from error
    return held
