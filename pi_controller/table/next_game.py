"""The next game at a table: its journal takes the place of the finished one, which is kept under its date.

Each step is safe on disk before the next. The new journal is written whole beside the finished one (`.NAME.next`); the
finished one gets its second name, `NAME-2026-11-03-1915`, where no other file can be; the new one takes the table's
name at once. Cut off before the second step the finished game is what the table resumes, after it the new one
(`settle`). No step writes over a file that was there.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.errors import JournalError
from pi_controller.referee.facts import LinkSeen, Opened, SensorsSeen, SensorsUsed
from pi_controller.table import journal_file as file
from pi_controller.table.journal_file import journal_errors, wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.games.base import Game
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.story import Story
    from pi_controller.table.chain import Row
    from pi_controller.table.journal_file import Meta

PRIVATE = 0o600
_NEXT = "next"
_STAMP = "%Y-%m-%d-%H%M"


def keeping_place(journal: Path, began: float) -> Path:
    """Return the file beside `journal` that its game, begun at `began` (seconds since 1970), can be kept in: a new one.

    It is named after the journal and that moment by the clock of the place: `table-2026-11-03-1915.sqlite`.
    """
    name, n = f"{journal.stem}-{datetime.fromtimestamp(began).astimezone():{_STAMP}}", 1
    place = journal.with_name(f"{name}{journal.suffix}")
    while place.exists():
        n += 1
        place = journal.with_name(f"{name}-{n}{journal.suffix}")
    return place


def write_next(journal: Path, about: Meta, records: Sequence[Row]) -> None:
    """Write the next game's journal beside `journal`, where nothing counts yet. Raises `JournalError`."""
    with journal_errors(journal, "followed by another"):
        file.write_beside(journal, about, records, _NEXT)


def take_over(journal: Path, kept: Path) -> None:
    """Keep the game at `journal` as `kept` and give its name to the next one. Raises `JournalError`.

    Nobody has `journal` open for writing, and its log is in it.
    """
    with journal_errors(journal, "kept under its date"):
        drop_log(journal)
        os.link(journal, kept)  # unlike a rename it never takes another file's place
        kept.chmod(PRIVATE)
        file.sync(kept.absolute().parent)
    _finish(journal)


def settle(journal: Path) -> None:
    """Finish a change to the next game that was cut off, or forget it where it had not come to count.

    Whoever calls holds the journal's lock. Raises `JournalError`.
    """
    new = file.beside_hidden(journal, _NEXT)
    if not new.exists():
        return
    kept = _kept_by(new)
    if kept is not None and kept.is_file() and (not journal.exists() or kept.samefile(journal)):
        _finish(journal)
    else:
        with journal_errors(journal, "opened"):
            file.remove(new)


def drop_log(journal: Path) -> None:
    """Remove the log beside `journal`, which is empty: it is not that of the next file of this name.

    Raises `JournalError` where there is something in it, and `OSError`.
    """
    log = file.beside(journal, "-wal")
    if log.exists() and log.stat().st_size:
        raise wrong(journal, "something is left in its log", "start the table again: it is read then")
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            file.beside(journal, ending).unlink()


def _finish(journal: Path) -> None:
    with journal_errors(journal, "followed by another"):
        drop_log(journal)
        file.put_in_place(file.beside_hidden(journal, _NEXT), journal)


def _kept_by(new: Path) -> Path | None:
    """Return where the game before the one at `new` is kept; None where `new` was not written to its end."""
    try:
        with closing(file.look(new)) as db:
            first: Fact = file.decode(next(file.rows(db, file.identity(db).version, to=1)).body)
    except (JournalError, sqlite3.Error, OSError, StopIteration, msgspec.MsgspecError):
        return None
    return new.with_name(Path(first.after).name) if isinstance(first, Opened) and first.after else None


def opening_facts(
    story: Story,
    game: Game[Any],
    t: float,
    teams: dict[str, str],
    after: str,
    revision_from: int,
    called: Sequence[Fact],
) -> list[Fact]:
    """Return the facts that `game` begins with after the game of `story`, whose file is called `after` from now on.

    `called` says who began it. The board is as it was, and so is whether play goes by what the mat feels.
    """
    options = dict(game.settings)
    facts: list[Fact] = [Opened(t, game.name, game.version, game.source, options, teams, after, revision_from), *called]
    if story.link.up is not None:
        facts.append(LinkSeen(t, story.link.up, story.link.why))
    if story.link.faults:
        facts.append(SensorsSeen(t, story.link.faults))
    if not story.sensors:
        facts.append(SensorsUsed(t, on=False))
    return facts
