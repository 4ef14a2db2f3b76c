"""The journal: every fact of one game, in order, on disk before anybody is told. SQLite; append only; a hash chain.

`seq` counts records from 1, a batch is what one input gave rise to, the body is the fact as JSON, and each record's
hash holds all before it (`chain`). A batch is one transaction in WAL mode with synchronous=FULL: after a power cut it
is there whole or not at all, and what was acknowledged is there. Records are never changed or removed.
"""

from __future__ import annotations

import fcntl
import logging
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pi_controller.errors import JournalError
from pi_controller.private_files import closed_to_us, make_private
from pi_controller.referee.facts import Opened
from pi_controller.table import journal_file as file
from pi_controller.table import write_ahead_log
from pi_controller.table.chain import EPOCH_BYTES, Row, chained, follow, genesis
from pi_controller.table.journal_file import DAMAGED, NO_FOLDER, RECOVER, SCHEMA_VERSION, Meta, journal_errors, wrong
from pi_controller.table.migrate import migrate
from pi_controller.table.next_game import keeping_place, settle, take_over, write_next

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO, Self

    from pi_controller.referee.facts import Fact

log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
_MODE = 0o666
"""The umask decides: a service's group may read its journal, and one run by hand is its user's alone."""


class Journal:
    """The journal at `path`, opened for writing (made when it is not there) or with `read_only` for looking.

    One program at a time may write: a lock on `<path>.lock` sees to it. `seq` and `batch` are the last ones written,
    `meta` is what the journal says of itself. A journal of version 1 is brought to this version when it is opened for
    writing; looked at, it is read as it is, and has no `meta` and no hashes. Whatever goes wrong is a `JournalError`,
    and then nothing of the batch was written or `reopen` will show all of it.

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
        self._version = SCHEMA_VERSION
        self._hash = ""
        self._created = created
        self._token = token
        self._db: sqlite3.Connection | None = None
        self._lock: IO[bytes] | None = None
        self._files = list[tuple[int, int] | None]()
        try:
            if not read_only:
                self._lock = self._hold()
            with journal_errors(self.path, "looked at"):
                self._examine()
            if not read_only:
                with journal_errors(self.path, "brought to this version"):
                    migrate(self.path, token)
            self.reopen()
        except BaseException:
            self.close()
            raise

    @property
    def head(self) -> tuple[int, str]:
        """The last record's number and its hash: a proof of everything up to it. No hash in a journal of version 1."""
        return self.seq, self._hash

    def append(self, facts: Sequence[Fact]) -> int:
        """Write `facts` as one batch and return its number once they are safely on disk."""
        batch = self.batch + 1
        plain = _rows_of(facts, self.seq, batch)
        with journal_errors(self.path, "written"):
            db = self.database()
            rows = list(chained(self._hash, plain)) if not self.read_only else list(plain)
            try:
                db.execute("BEGIN IMMEDIATE")
                file.insert(db, rows)
                db.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):  # some errors have rolled back already
                    db.execute("ROLLBACK")
                raise
        if rows:
            self.seq, self._hash = rows[-1].seq, rows[-1].hash
            self._acknowledge()
        self.batch = batch
        return batch

    def read(self, to: int | None = None) -> Iterator[tuple[int, Fact]]:
        """Yield (batch, fact) of every record in order, with `to` those up to that `seq`."""
        for _, batch, fact in self.records(to):
            yield batch, fact

    def records(self, to: int | None = None) -> Iterator[tuple[int, int, Fact]]:
        """Yield (seq, batch, fact) of every record in order, with `to` those up to that `seq`.

        Raises `JournalError` at the first that is missing, cannot be read, or is not what was written.
        """
        for row in self.rows(to):
            try:
                fact: Fact = file.decode(row.body)
            except msgspec.MsgspecError as error:
                raise wrong(
                    self.path,
                    f"record {row.seq} cannot be read",
                    "it was written by another version, or it is damaged",
                ) from error
            yield row.seq, row.batch, fact

    def rows(self, to: int | None = None) -> Iterator[Row]:
        """Yield every record as it stands in the file, its hash checked; with `to` those up to that `seq`."""
        with journal_errors(self.path, "read"):
            previous = genesis(self.meta.epoch) if self.meta else ""
            for n, row in enumerate(file.rows(self.database(), self._version, self.seq if to is None else to), 1):
                if row.seq != n:
                    raise wrong(self.path, f"record {n} is missing", RECOVER)
                if self.meta:
                    previous = follow(previous, row)
                    if row.hash != previous:
                        raise wrong(self.path, f"record {n} is not what was written: its hash does not follow", RECOVER)
                yield row

    def opened(self) -> Opened | None:
        """Return the first record: which game this is; None in a fresh journal."""
        first = next(self.read(to=1), None)
        if first is None:
            return None
        if not isinstance(first[1], Opened):
            raise wrong(self.path, "it does not say which game it holds", "begin a new journal")
        return first[1]

    def reopen(self) -> None:
        """Open the file anew after an error, and see what is in it: all that was acknowledged, or it is not opened."""
        if self.meta is not None and self._files:
            self._see_that_it_lies_there()
        self._close_db()
        if not self.read_only:
            settle(self.path)
        with journal_errors(self.path, "opened"):
            self._db = db = self._connect()
            found = file.identity(db)
            file.check(self.path, found)
            if not self.read_only:
                self._prepare(db, fresh=not found.tables)
            elif not found.tables:
                raise wrong(self.path, "there is nothing in it", "check the file's name")
            self._version = found.version if self.read_only else SCHEMA_VERSION
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise wrong(self.path, *DAMAGED)
            try:
                self.meta = file.meta(db, self._version)
            except ValueError as error:
                raise wrong(self.path, str(error), RECOVER) from error
            if not self.read_only:
                file.renew(db)
            last = db.execute("SELECT seq, batch FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
            self.seq, self.batch = last or (0, 0)
            self._hash = self._last_hash(db)
            if not self.read_only:
                self._files = self._lying()
                self._acknowledge()

    def check_place(self) -> None:
        """Raise `JournalError` where the files under the journal's name are not those that are being written."""
        if (lying := self._lying()) == self._files:
            return
        if lying[0] == self._files[0]:
            raise wrong(self.path, "its log was deleted or moved away", "let the files beside the journal be")
        raise self._another() if lying[0] else self._gone()

    def checkpoint(self) -> bool:
        """Bring what the log holds into the file itself; return whether it is there and the log empty.

        Nothing is waited for: where somebody is reading it is done another time.
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
        return str(last[0]) if last else genesis(self.meta.epoch)

    def place_to_keep(self) -> Path:
        """Return the file beside this one in which its game would be kept: see `begin_next`."""
        opened = self.opened()
        return keeping_place(self.path, opened.t if opened else 0.0)

    def begin_next(self, facts: Sequence[Fact], kept: Path, t: float) -> None:
        """Keep this game in the file `kept` (`place_to_keep`) and go on, in this file's name, with one of `facts`.

        `facts` are its first batch, and its first one names `kept`. The new journal is begun at `t` and has an epoch of
        its own. Raises `JournalError`; `reopen` then shows which of the two games this is: one of them, and whole.
        """
        about = Meta(self._token(EPOCH_BYTES).hex(), created=t)
        write_next(self.path, about, list(_rows_of(facts, 0, 1)))
        with journal_errors(self.path, "closed"):
            (busy, _, _) = self.database().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise wrong(self.path, "another program reads it", "close the other program, or try again in a moment")
        self._close_db()
        self.meta, self.seq, self._hash = None, 0, ""  # from here on either game may be what is in the file
        take_over(self.path, kept)
        self.reopen()

    def _see_that_it_lies_there(self) -> None:
        """Raise `JournalError` where under its name lies neither the journal that was written nor a copy of all of it.

        It stays open then: as long as it is, it can be copied, though it was deleted.
        """
        lying, _ = self._lying()
        if lying is None:
            raise self._gone()
        if lying == self._files[0]:
            return
        with journal_errors(self.path, "opened"):
            with closing(file.look_without_log(self.path)) as db:
                found = file.identity(db)
                same = found.version == SCHEMA_VERSION and file.meta(db, found.version) == self.meta
                if not same or (self.seq and self._last_hash(db) != self._hash):
                    raise self._another()
            self._close_db()
            for ending in ("-wal", "-shm"):  # they are the other file's, and would be taken for this one's
                file.beside(self.path, ending).unlink(missing_ok=True)

    def _lying(self) -> list[tuple[int, int] | None]:
        """Return which files lie under the journal's name and its log's."""
        return [file.numbers(file.beside(self.path, ending)) for ending in ("", "-wal")]

    def _acknowledge(self) -> None:
        if self._lock is not None and self.meta is not None:
            write_ahead_log.acknowledge(self._lock.fileno(), self.meta, self.seq)

    def _examine(self) -> None:
        """See before anything is written whether all that was acknowledged can be read; if not, keep it as it is."""
        state = write_ahead_log.examine(self.path)
        if not state.lost and (self.read_only or not state.torn):
            return
        copy = ""
        if not self.read_only:
            with suppress(OSError):  # a full disk
                copy = f"; a copy is kept in {write_ahead_log.keep_aside(self.path).name}"
        if state.lost:
            raise wrong(self.path, state.lost, f"nothing was changed{copy}; {RECOVER}")
        log.warning("journal %s: its log ends in an event that was not written to its end%s", self.path.name, copy)

    def _gone(self) -> JournalError:
        """Return the error of a journal that was deleted or moved; what can still be read of it is kept."""
        rescued = self.path.with_name(f"{self.path.stem}.rescued{self.path.suffix}")
        todo = "put it back: play goes on by itself"
        with suppress(OSError, sqlite3.Error, JournalError):
            if not rescued.exists():
                db = self.database()
                make_private(rescued)
                with closing(sqlite3.connect(rescued)) as kept:
                    db.backup(kept)
                    kept.execute("PRAGMA journal_mode = DELETE")
                file.sync(rescued)
            todo = f"put it back, or give {rescued.name}, which holds all of it, its name: play goes on by itself"
        return wrong(self.path, "it was deleted or moved away", todo)

    def _another(self) -> JournalError:
        return wrong(self.path, "another file lies in its place", "put it back: play goes on by itself")

    def close(self) -> None:
        """Close the file and give the lock back. Closing twice is fine."""
        self._close_db()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(self) -> IO[bytes]:
        """Take the one writer's lock, a file of its own: closing the journal's would drop SQLite's locks."""
        lock = file.beside(self.path, ".lock")
        try:
            make_private(lock, mode=_MODE)
            held = lock.open("r+b", buffering=0)
        except OSError as error:
            todo = closed_to_us([lock]) or NO_FOLDER
            raise wrong(self.path, f"{lock.name} cannot be opened ({error.strerror})", todo) from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            held.close()
            raise wrong(
                self.path, "another table is writing it", "stop the other one, or choose another file"
            ) from error
        return held

    def _connect(self) -> sqlite3.Connection:
        if self.read_only:
            return file.look(self.path)
        if not self._files:
            make_private(self.path, mode=_MODE)
        place = f"{self.path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(place, uri=True, timeout=file.BUSY_S, isolation_level=None)

    def _prepare(self, db: sqlite3.Connection, *, fresh: bool) -> None:
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise wrong(self.path, "this disk cannot keep it safe against power cuts", "keep it on the Pi's own disk")
        db.execute("PRAGMA synchronous = FULL")
        if fresh:
            file.lay_out(db, Meta(self._token(EPOCH_BYTES).hex(), created=self._created))
        else:
            # written and synced, though nothing changes: a disk that takes no more is found out now
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            # what the log holds goes to the file itself: a disk that failed may have forgotten to write the log,
            # though the system still shows it as written
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.sync(self.path.absolute().parent)

    def database(self) -> sqlite3.Connection:
        """Return the open database. Raises `JournalError` where the journal is closed."""
        if self._db is None:
            raise wrong(self.path, "it is closed", "open it again")
        return self._db

    def _close_db(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):  # what was acknowledged is on disk; a failing disk may refuse the rest
                self._db.close()
            self._db = None


def _rows_of(facts: Sequence[Fact], after: int, batch: int) -> Iterator[Row]:
    """Yield `facts` as records of one batch, numbered on from `after` and not chained yet."""
    for seq, fact in enumerate(facts, after + 1):
        yield Row(seq, batch, fact.t, str(fact.__struct_config__.tag), _encode(fact).decode())
