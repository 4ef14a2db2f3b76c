"""The backup: a copy of the journal on another disk, a USB stick say, renewed while the game is played.

It never holds up the game: a thread of its own reads the journal as any onlooker does, and the game only wakes it when
there is something new. The copy is written beside the last one, synced, read back, its hash chain followed to the same
head, and only then put in the last one's place. A stick that is pulled out or full is logged once; it is tried again,
and logged when it is well. A copy that holds more than the journal does is never replaced.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from contextlib import closing
from typing import TYPE_CHECKING

from pi_controller.errors import JournalError
from pi_controller.private_files import make_private
from pi_controller.table import journal_file as file
from pi_controller.table.observer import Observer
from pi_controller.table.verify import chain_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.table.table import Table

log = logging.getLogger(__name__)
CLOSING_S = 5.0
"""A stick that is slower than this when the table stops is not waited for, s."""


class BackupError(JournalError):
    """The copy cannot be made, or is not what was to be copied."""

    code = "backup"


def copy_of(journal: Path, folder: Path) -> Path:
    """Copy the journal to `folder`, where it is named after it and its epoch; return the copy. Raises `BackupError`.

    The folder must be there: one that is not is a stick that is not.
    """
    try:
        with closing(file.look(journal)) as db, closing(sqlite3.connect(":memory:")) as memory:
            about = file.meta(db, file.identity(db).version)
            db.backup(memory)
            data = bytearray(memory.serialize())
        data[18:20] = b"\x01\x01"  # no log goes with it, so nothing is left beside it by whoever looks at it
        head = _head(bytes(data))
        copy = _place(folder, journal.stem, about.epoch[:8] if about else "v1", head[0])
        new = copy.with_name(f".{copy.name}.new")
        make_private(new, journal)
        new.write_bytes(data)
        file.sync(new)
        if _head(new.read_bytes()) != head:
            raise BackupError(f"the copy in {folder} is not what was written", "try another stick")
        file.put_in_place(new, copy)
    except OSError as error:
        raise BackupError(
            f"no backup in {folder}: {error.strerror}", "see that the stick is there and has room"
        ) from error
    except (sqlite3.Error, ValueError) as error:
        raise BackupError(
            f"no backup of {journal.name}: {error}", "'moccasin-mat verify' tells what is wrong"
        ) from error
    return copy


def _place(folder: Path, name: str, epoch: str, records: int) -> Path:
    """Return the file that the copy may take: a new one, or one that holds no more.

    A game that is over is kept under another name than it was played under: its copy keeps the one that it has.
    """
    before = sorted(folder.glob(f"*-{epoch}.sqlite"), key=lambda path: len(path.name))
    name = before[0].stem if before else f"{name}-{epoch}"
    copy, n = folder / f"{name}.sqlite", 1
    while copy.exists():
        try:
            if _head(copy.read_bytes())[0] <= records:
                break
        except (sqlite3.Error, ValueError):
            break  # a torn one is worth nothing
        n += 1
        copy = folder / f"{name}-{n}.sqlite"
    return copy


def _head(data: bytes) -> tuple[int, str]:
    """Return how many records the journal in `data` holds and the hash of the last, the chain followed to it.

    Raises `ValueError` or `sqlite3.Error` where it is not whole.
    """
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        (records,) = db.execute("SELECT count(*) FROM facts").fetchone()
        follows = chain_of(db)
    if len(follows.rows) != records:
        raise ValueError(f"it is whole only up to record {len(follows.rows)} of {records}")
    return records, follows.head


class Backup(Observer):
    """Observer that renews the copy: at most every `every_s` seconds, and once more when the table stops.

    A game that is over and was followed by another is copied to its end too.

    `copy` makes it, in a thread of its own.
    """

    def __init__(
        self, journal: Path, folder: Path, every_s: float, copy: Callable[[Path, Path], Path] = copy_of
    ) -> None:
        self._journal = journal
        self._folder = folder
        self._every_s = every_s
        self._copy = copy
        self._next = float("-inf")
        self._wanted = self._kept = (0, 0)
        self._finished: deque[Path] = deque()
        self._due = threading.Event()
        self.done = threading.Event()
        self._closing = False
        self._last_fault = ""
        self._thread = threading.Thread(target=self._keep, name="backup", daemon=True)
        self.done.set()
        self._thread.start()

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Have what is new copied, where it is time and the last copy is done."""
        game = table.story.revision_from
        if game != self._wanted[0] and (opened := table.journal.opened()) is not None:
            # also at the start: a table that was killed may not have come to copy the game before to its end
            self._finished.append(self._journal.with_name(opened.after))
        self._wanted = game, table.journal.seq
        if t >= self._next and self._wanted != self._kept and self.done.is_set():
            self._next = t + self._every_s
            self.done.clear()
            self._due.set()

    def close(self) -> None:
        """Copy what is new once more, and stop; a stick that does not answer is not waited for."""
        self._closing = True
        self._due.set()
        self._thread.join(CLOSING_S)

    def _keep(self) -> None:
        closing = False
        while not closing:
            self._due.wait()
            self._due.clear()
            closing = self._closing
            self._once()
            self.done.set()

    def _once(self) -> None:
        if (wanted := self._wanted) == self._kept:
            return
        try:
            while self._finished:
                if self._finished[0].is_file():  # the host may have put it elsewhere
                    self._copy(self._finished[0], self._folder)
                self._finished.popleft()
            copy = self._copy(self._journal, self._folder)
        except JournalError as error:
            if error.what != self._last_fault:
                log.warning("%s; the game goes on, and it is tried again", error.what)
            self._last_fault = error.what
            return
        if self._last_fault or not self._kept[1]:
            log.info("the journal is copied to %s", copy)
            if copy.stat().st_dev == self._journal.stat().st_dev:
                log.warning("the backup lies on the journal's own disk: it is lost when that disk is")
        self._kept, self._last_fault = wanted, ""
