"""Rotation of journals: the next game's journal replaces that of the finished game, which is archived under its date.

Each step is synced before the next. The new journal is written beside the finished one (`.NAME.next`); the finished one
gets a second name, `NAME-2026-11-03-1915`, which no other file has; the new one atomically takes the table's name. If
this is interrupted before the second step, the table resumes the finished game, after it the new one
(`finish_rotation`). No step overwrites an existing file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from pi_controller.errors import JournalError
from pi_controller.journal import file
from pi_controller.journal.chain import JournalRow
from pi_controller.journal.file import Meta, journal_errors
from pi_controller.referee.facts import Fact, GameOpened, LinkSeen, SensorsSeen, SensorsUsed
from pi_controller.referee.story import Story
from pi_controller.rules.base import Game

PRIVATE = 0o600
_NEXT = "next"
_REPLACES = "recovered"
_STAMP = "%Y-%m-%d-%H%M"


def archive_path(journal: Path, began: float) -> Path:
    """Return an unused path beside `journal` for the archive of its game, which began at `began` (seconds since 1970).

    It is named after the journal and the local time: `table-2026-11-03-1915.sqlite`.
    """
    name, n = f"{journal.stem}-{datetime.fromtimestamp(began).astimezone():{_STAMP}}", 1
    place = journal.with_name(f"{name}{journal.suffix}")
    while place.exists():
        n += 1
        place = journal.with_name(f"{name}-{n}{journal.suffix}")
    return place


def write_next_journal(journal: Path, about: Meta, records: Sequence[JournalRow]) -> None:
    """Write the next game's journal beside `journal`, under a hidden name. Raises `JournalError`."""
    with journal_errors(journal, "it cannot be followed by another"):
        file.write_new_journal(journal, about, records, _NEXT)


def rotate_journal(journal: Path, kept: Path) -> None:
    """Archive the game at `journal` as `kept` and give its name to the next game. Raises `JournalError`.

    The caller has closed `journal`.
    """
    with journal_errors(journal, "it cannot be kept under its date"):
        file.drop_rollback_journal(journal)
        os.link(journal, kept)  # unlike a rename it never replaces another file
        kept.chmod(PRIVATE)
        file.sync(kept.absolute().parent)
    _finish(journal)


def finish_rotation(journal: Path) -> None:
    """Finish an interrupted rotation, or remove the new journal if the old one was not archived yet.

    The caller holds the journal's lock. Raises `JournalError`.
    """
    new = file.hidden_sidecar_path(journal, _NEXT)
    if not new.exists():
        return
    kept = _kept_by(new)
    if kept is not None and kept.is_file() and (not journal.exists() or kept.samefile(journal)):
        _finish(journal)
    else:
        with journal_errors(journal, "it cannot be opened"):
            file.remove(new)


def set_aside(journal: Path, t: float, about: Meta, records: Sequence[JournalRow]) -> Path:
    """Archive the damaged journal and its -journal file under the date of `t`; put a journal of `records` in its place.

    Without `records` there is then no journal, so that a fresh one can be created. Returns the path of the damaged one.
    The caller holds the journal's lock. If it is interrupted, it is repeated, or `finish_replacing` completes it.
    Raises `JournalError`.
    """
    with journal_errors(journal, "it cannot be set aside"):
        aside = archive_path(journal.with_stem(f"{journal.stem}.damaged"), t)
        for ending in ("-journal", ""):
            if (old := file.sidecar_path(journal, ending)).exists():
                file.link_or_copy(old, file.sidecar_path(aside, ending))
        file.sync(journal.absolute().parent)
        if records:
            try:
                file.write_new_journal(journal, about, records, _REPLACES)
            except (sqlite3.Error, OSError):  # a full disk: it is retried at each start
                for path in (aside, file.sidecar_path(aside, "-journal"), file.hidden_sidecar_path(journal, _REPLACES)):
                    path.unlink(missing_ok=True)
                raise
            finish_replacing(journal)
        else:
            file.remove(journal)
            file.sync(journal.absolute().parent)
    return aside


def finish_replacing(journal: Path) -> None:
    """Complete an interrupted `set_aside`: put its new journal in place if it is complete, else remove it."""
    new = file.hidden_sidecar_path(journal, _REPLACES)
    if not new.exists():
        return
    with journal_errors(journal, "it cannot be recovered"):
        try:
            with closing(file.open_read_only(new)) as db:
                whole = file.identity(db).application == file.APPLICATION_ID
        except sqlite3.Error:
            whole = False
        if not whole:
            file.remove(new)
            return
        # it belongs to the damaged file; SQLite would apply it to this one
        file.sidecar_path(journal, "-journal").unlink(missing_ok=True)
        file.put_in_place(new, journal)


def _finish(journal: Path) -> None:
    with journal_errors(journal, "it cannot be followed by another"):
        file.drop_rollback_journal(journal)
        file.put_in_place(file.hidden_sidecar_path(journal, _NEXT), journal)


def _kept_by(new: Path) -> Path | None:
    """Return the archive of the game before the one at `new`; None if `new` is incomplete."""
    try:
        with closing(file.open_read_only(new)) as db:
            first: Fact = file.decode(next(file.rows(db, to=1)).body)
    except (JournalError, sqlite3.Error, OSError, StopIteration):
        return None
    return new.with_name(Path(first.after).name) if isinstance(first, GameOpened) and first.after else None


def opening_facts(
    story: Story,
    game: Game[Any],
    t: float,
    teams: dict[str, str],
    after: str,
    revision_from: int,
    called: Sequence[Fact],
) -> list[Fact]:
    """Return the first facts of `game` after the game of `story`, whose journal is now called `after`.

    `called` are the facts of the command that began it. The state of the board and the use of the sensors carry over.
    """
    options = dict(game.settings)
    facts: list[Fact] = [
        GameOpened(t, game.name, game.version, game.source, options, teams, after, revision_from),
        *called,
    ]
    if story.link.up is not None:
        facts.append(LinkSeen(t, story.link.up, story.link.why))
    if story.link.faults:
        facts.append(SensorsSeen(t, story.link.faults))
    if not story.sensors:
        facts.append(SensorsUsed(t, on=False))
    return facts
