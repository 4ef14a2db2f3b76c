"""Journal: every fact of one game, in order, on disk before it is shown. SQLite; append only; a hash chain.

`seq` counts records from 1, a batch holds the facts that one input caused, the body is the fact as JSON, and each
record's hash covers all before it. A batch is one transaction with journal_mode=TRUNCATE and synchronous=FULL: after a
power cut it is there completely or not at all, and no acknowledged batch is lost. While no batch is being written the
file is complete by itself. Records are never changed or removed.

`buffer_batch` buffers a batch in memory: it is written in the transaction of the next batch, or by `flush`.
"""

from __future__ import annotations

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
from pi_controller.host.files import create_private_file
from pi_controller.host.platform import lock_file
from pi_controller.journal import chain, file, rotation
from pi_controller.journal.chain import JournalRow
from pi_controller.journal.file import Meta, damage_error, journal_error, journal_errors
from pi_controller.journal.verify import ChainChecker, check_records
from pi_controller.referee.facts import Fact, GameOpened

_encode = msgspec.json.Encoder().encode
_MODE = 0o666
"""Permissions before the umask: the group of a service may read its journal; that of a table run by hand is private."""


class Journal:
    """The journal at `path`, opened for writing (created if missing), or with `read_only` for reading.

    Only one program may write at a time, which a lock on `<path>.lock` ensures. A reader sees a snapshot of the file
    as it was at the opening. `seq` and `batch` are the last ones written, `meta` identifies the journal. Every failure
    is a `JournalError`; then none of the batch was written, or `reopen` will show all of it.

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
        self._hash = ""
        self._created = created
        self._token = token
        self._db: sqlite3.Connection | None = None
        self._lock: IO[bytes] | None = None
        self._file_id: tuple[int, int] | None = None
        self._gathered = list[JournalRow]()
        try:
            self._prepare_files()
            self.reopen()
        except BaseException:
            self.close()
            raise

    def _prepare_files(self) -> None:
        """Take the lock, finish an interrupted replacement, and check the files."""
        if not self.read_only:
            self._lock = acquire_lock(self.path)
            rotation.finish_replacing(self.path)
            with journal_errors(self.path, "it cannot be opened"):
                self._check_unfinished_transaction()

    @property
    def head(self) -> tuple[int, str]:
        """The last record's number and hash, which prove all before it."""
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
        with journal_errors(self.path, "it cannot be written"):
            rows = list(chain.chain_rows(self._hash, plain)) if not self.read_only else plain
            self._store(rows)
        if rows:
            self.seq, self._hash = rows[-1].seq, rows[-1].hash
        self.batch = batch
        self._gathered.clear()
        return batch

    def _store(self, rows: Sequence[JournalRow]) -> None:
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

    def rows(self, to: int | None = None) -> Iterator[JournalRow]:
        """Yield every record as stored, after checking its hash; up to the `seq` `to` if given."""
        with journal_errors(self.path, "it cannot be read"):
            previous = chain.genesis(self.meta.epoch) if self.meta else ""
            for n, row in enumerate(file.rows(self.database(), self.seq if to is None else to), 1):
                if row.seq != n:
                    raise damage_error(self.path, f"record {n} is missing")
                previous = chain.next_hash(previous, row)
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
        """Open the file again after an error and read its last record; refuse a damaged file."""
        if self.meta is not None and self._file_id is not None:
            self._check_same_file()
        self._close_db()
        self._gathered.clear()
        if not self.read_only:
            rotation.finish_rotation(self.path)
        with journal_errors(self.path, "it cannot be opened"):
            self._db = db = self._connect()
            found = file.identity(db)
            file.check(self.path, found)
            if found.tables:
                file.require_intact(self.path, db)
            elif self.read_only:
                raise journal_error(self.path, "it is empty", "check the file's name")
            if not self.read_only:
                self._prepare(db, fresh=not found.tables)
            self.meta = file.require_meta(self.path, db)
            last = db.execute("SELECT seq, batch, hash FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
            self.seq, self.batch, self._hash = last or (0, 0, chain.genesis(self.meta.epoch))
            self._file_id = file.file_id(self.path)

    def check_file(self) -> None:
        """Raise `JournalError` if the file under the journal's name is not the one that is open."""
        found = file.file_id(self.path)
        if found != self._file_id:
            raise self._replaced_error() if found else self._moved_away_error()

    def archive_path(self) -> Path:
        """Return the path for the archived journal of this game: see `rotate`."""
        opened = self.read_opening()
        return rotation.archive_path(self.path, opened.t if opened else 0.0)

    def rotate(self, records: Sequence[tuple[int, Fact]], kept: Path, t: float) -> None:
        """Archive this game as the file `kept` (`archive_path`) and start a new journal under this file's name.

        `records` are the first (batch, fact) of the new game.
        The first fact names `kept`. The new journal starts at `t` and has its own epoch. Raises `JournalError`; after
        that, `reopen` shows which of the two games is in the file, and it is complete.
        """
        about = Meta(self._token(chain.EPOCH_BYTES).hex(), created=t)
        rows = [row._replace(seq=n) for n, (batch, fact) in enumerate(records, 1) for row in _rows_of([fact], 0, batch)]
        rotation.write_next_journal(self.path, about, rows)
        self._close_db()
        self.meta, self.seq, self._hash = None, 0, ""  # from here on the file may hold either game
        rotation.rotate_journal(self.path, kept)
        self.reopen()

    def _check_same_file(self) -> None:
        """Raise `JournalError` if the file under the journal's name is neither the open one nor a complete copy of it.

        In that case the journal stays open: even if it was deleted, it can still be copied.
        """
        found = file.file_id(self.path)
        if found is None:
            raise self._moved_away_error()
        if found == self._file_id:
            return
        with journal_errors(self.path, "it cannot be opened"), closing(file.open_read_only(self.path)) as db:
            same = file.identity(db).application == file.APPLICATION_ID and file.meta(db) == self.meta
            query = "SELECT coalesce((SELECT hash FROM facts WHERE seq = ?), '')"
            if not same or (self.seq and db.execute(query, (self.seq,)).fetchone() != (self._hash,)):
                raise self._replaced_error()

    def _check_unfinished_transaction(self) -> None:
        """Raise `DamagedJournalError` if rolling back the transaction of a killed writer leaves a damaged journal.

        Opening the file for writing rolls it back.
        """
        left = file.sidecar_path(self.path, "-journal")
        if not (self.path.is_file() and left.is_file() and left.stat().st_size):
            return
        with closing(file.open_read_only(self.path)) as db:
            if not file.identity(db).tables:
                return
            file.require_intact(self.path, db)
            if fault := check_records(ChainChecker(file.require_meta(self.path, db).epoch, by_rules=False), db):
                raise damage_error(self.path, fault)

    def _moved_away_error(self) -> JournalError:
        """Save a copy of the readable records; return the error of a journal that was deleted or moved."""
        rescued = self.path.with_name(f"{self.path.stem}.rescued{self.path.suffix}")
        hint = "put it back: play goes on by itself"
        with suppress(OSError, sqlite3.Error, JournalError):
            if not rescued.exists():
                db = self.database()
                create_private_file(rescued)
                with closing(sqlite3.connect(rescued)) as copy:
                    db.backup(copy)
                file.sync(rescued)
            hint = f"put it back, or give {rescued.name}, which holds all of it, its name: play goes on by itself"
        return journal_error(self.path, "it was deleted or moved away", hint)

    def _replaced_error(self) -> JournalError:
        return journal_error(self.path, "another file lies in its place", "put it back: play goes on by itself")

    def close(self) -> None:
        """Write the buffered batches, close the file and release the lock. Closing twice is fine."""
        if self._db is not None:
            with suppress(JournalError):  # these batches were never reported as saved
                self.flush()
        self._close_db()
        if self._lock is not None:
            with suppress(JournalError, OSError):
                file.drop_rollback_journal(self.path)
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        if self.read_only:
            return file.open_snapshot(self.path)
        if self._file_id is None:
            create_private_file(self.path, mode=_MODE)
        place = f"{self.path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(place, uri=True, timeout=file.WRITE_WAIT_S, isolation_level=None)

    def _prepare(self, db: sqlite3.Connection, *, fresh: bool) -> None:
        db.execute("PRAGMA journal_mode = TRUNCATE")
        db.execute("PRAGMA synchronous = FULL")
        if fresh:
            file.create_tables(db, Meta(self._token(chain.EPOCH_BYTES).hex(), created=self._created))
        else:
            # write and sync the same value, to detect a disk that refuses writes
            (stated,) = db.execute("PRAGMA user_version").fetchone()
            db.execute(f"PRAGMA user_version = {stated}")
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
        self._rows = list[JournalRow]()
        super().__init__("memory", created=created, token=token)

    def rows(self, to: int | None = None) -> Iterator[JournalRow]:
        """Yield every record; up to the `seq` `to` if given."""
        yield from self._rows[:to]

    def reopen(self) -> None:
        """Keep the written records, and drop the buffered batches."""
        self._gathered.clear()
        if self.meta is None:
            self.meta = Meta(self._token(chain.EPOCH_BYTES).hex(), created=self._created)
            self._hash = chain.genesis(self.meta.epoch)

    def check_file(self) -> None:
        """Do nothing: there are no files."""

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

    def _store(self, rows: Sequence[JournalRow]) -> None:
        self._rows += rows


def _rows_of(facts: Sequence[Fact], after: int, batch: int) -> Iterator[JournalRow]:
    """Yield `facts` as records of one batch, numbered after `after` and without hashes."""
    for seq, fact in enumerate(facts, after + 1):
        yield JournalRow(seq, batch, fact.t, str(fact.__struct_config__.tag), _encode(fact).decode())


def acquire_lock(path: Path) -> IO[bytes]:
    """Take the writer's lock of the journal at `path`. Raises `JournalError`.

    The lock has its own file: closing the journal itself would drop SQLite's locks.
    """
    lock = file.sidecar_path(path, ".lock")
    try:
        create_private_file(lock, mode=_MODE)
        held = lock.open("r+b", buffering=0)
    except OSError as error:
        hint = file.advice(path, error, [lock], file.NO_FOLDER)
        raise journal_error(path, f"{lock.name} cannot be opened ({describe_error(error)})", hint) from error
    try:
        lock_file(held)
    except OSError as error:
        held.close()
        raise journal_error(
            path, "another table is writing it", "stop the other one, or choose another file"
        ) from error
    return held
