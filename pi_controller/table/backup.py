"""Backup: a copy of the journal on another disk, such as a USB stick, renewed while the game is played.

It never delays the game: its own thread reads the journal as any other reader does, and the game only wakes it after
new records. The new copy is written beside the last one, synced, read back and verified to have the same hash chain,
and only then replaces the last one. A stick that is pulled out or full is logged once; the backup is retried, and
logged when it works again. A copy with more records than the journal is never replaced.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pi_controller.errors import JournalError, describe_error
from pi_controller.journal import file
from pi_controller.journal.file import Meta
from pi_controller.journal.verify import ChainChecker, check_records
from pi_controller.table.table import Observer, Table

log = logging.getLogger(__name__)
CLOSING_S = 5.0
"""Longest wait for a slow stick when the table stops, s."""


class BackupError(JournalError):
    """The copy cannot be made, or differs from the journal."""

    code = "backup"


def copy_of(journal: Path, folder: Path) -> Path:
    """Copy the journal to `folder`, named after the journal and its epoch; return the copy. Raises `BackupError`.

    The folder must exist: a missing one is a missing stick.
    """
    try:
        with closing(file.open_snapshot(journal)) as db:
            about, follows = _read_chain(db)
        copy = _place(folder, journal.stem, about.epoch[:8], len(follows.rows))
        new = file.write_new_journal(copy, about, follows.rows)
        if _head(new) != (len(follows.rows), follows.head):
            raise BackupError(f"the copy in {folder} differs from the journal", "try another stick")
        file.put_in_place(new, copy)
    except OSError as error:
        raise BackupError(
            f"no backup in {folder}: {describe_error(error)}", "check that the stick is plugged in and has space"
        ) from error
    except (sqlite3.Error, ValueError) as error:
        raise BackupError(
            f"no backup of {journal.name}: {error}", "'moccasin-mat game verify' shows the fault"
        ) from error
    return copy


def _place(folder: Path, name: str, epoch: str, records: int) -> Path:
    """Return the path for the copy: a new file, or a copy with no more than `records` records.

    The journal of a finished game is renamed: its copy keeps the name that it had.
    """
    before = sorted(folder.glob(f"*-{epoch}.sqlite"), key=lambda path: len(path.name))
    name = before[0].stem if before else f"{name}-{epoch}"
    copy, n = folder / f"{name}.sqlite", 1
    while copy.exists():
        try:
            if _head(copy)[0] <= records:
                break
        except (sqlite3.Error, ValueError):
            break  # a torn copy may be replaced
        n += 1
        copy = folder / f"{name}-{n}.sqlite"
    return copy


def _head(copy: Path) -> tuple[int, str]:
    """Return the number of records of the journal at `copy` and the hash of the last, after checking the hash chain.

    Raises `ValueError` or `sqlite3.Error` if the journal is damaged.
    """
    with closing(file.open_read_only(copy)) as db:
        _, follows = _read_chain(db)
    return len(follows.rows), follows.head


def _read_chain(db: sqlite3.Connection) -> tuple[Meta, ChainChecker]:
    """Return the description and the proven records of the journal `db`. Raises `ValueError` if it is damaged."""
    about = file.meta(db)
    follows = ChainChecker(about.epoch, by_rules=False)
    if fault := check_records(follows, db) or file.count_fault(db):
        raise ValueError(fault)
    return about, follows


class Backup(Observer[Table]):
    """Observer that renews the copy: at most every `every_s` seconds, and once more when the table stops.

    When a new game begins, the journal of the finished one is copied to its end first. `copy` makes a copy. After
    `start` the backup's own thread copies; else `step` does.
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
        self._copying = self._closing = False
        self._last_fault = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread that copies."""
        self._thread = threading.Thread(target=self._keep, name="backup", daemon=True)
        self._thread.start()

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Start a copy if there are new records, `every_s` has passed and the last copy is done."""
        game = table.story.revision_from
        if game != self._wanted[0] and (opened := table.journal.read_opening()) is not None:
            # also at the start: a killed table may not have copied the game before to its end
            self._finished.append(self._journal.with_name(opened.after))
        self._wanted = game, table.journal.seq
        if t >= self._next and self._wanted != self._kept and not self._copying:
            self._next = t + self._every_s
            self._copying = True
            self._due.set()

    def close(self) -> None:
        """Copy new records once more and stop; do not wait for a stick that does not answer."""
        if self._thread is None:
            self._copy_if_new()
            return
        self._closing = True
        self._due.set()
        self._thread.join(CLOSING_S)

    def step(self) -> None:
        """Make the copy that is due."""
        if self._copying:
            self._copy_if_new()
            self._copying = False

    def _keep(self) -> None:
        closing = False
        while not closing:
            self._due.wait()
            self._due.clear()
            closing = self._closing
            self._copy_if_new()
            self._copying = False

    def _copy_if_new(self) -> None:
        if (wanted := self._wanted) == self._kept:
            return
        try:
            while self._finished:
                if self._finished[0].is_file():  # the host may have moved it
                    self._copy(self._finished[0], self._folder)
                self._finished.popleft()
            copy = self._copy(self._journal, self._folder)
        except JournalError as error:
            if error.message != self._last_fault:
                log.warning("%s; the game goes on, and the backup is retried", error.message)
            self._last_fault = error.message
            return
        if self._last_fault or not self._kept[1]:
            log.info("the journal is copied to %s", copy)
            if copy.stat().st_dev == self._journal.stat().st_dev:
                log.warning("the backup is on the same disk as the journal: if that disk fails, both are lost")
        self._kept, self._last_fault = wanted, ""
