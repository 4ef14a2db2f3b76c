"""A table's journals as an onlooker reads them: the one that is played, and those before it since a hub was named.

Games played before that are the host's own and are never sent: `JOURNAL.hub` beside the journal names the first one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.errors import JournalError
from pi_controller.fleet.messages import MOST_GAMES, Game
from pi_controller.private_files import make_private
from pi_controller.referee.facts import MatchGiven, Opened
from pi_controller.table import journal_file as file

if TYPE_CHECKING:
    from pi_controller.fleet.outbox import Range
    from pi_controller.referee.facts import Fact
    from pi_controller.table.chain import Row


_FIRST = 8
"""Records among which those of the first batch are."""


class NextGameError(JournalError):
    """The next game has just taken the journal's name: what is there is read again in a moment."""


class _Kept(NamedTuple):
    """A journal: the file it is in, its last record, the file of the game before, where there is one, and the hub's
    order that it was begun by, "" for none."""

    path: Path
    game: Game
    before: Path | None
    order: str


class Journals:
    """The journals at a table that writes the one at `path`. Raises `JournalError` for what cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since = file.beside(path, ".hub")
        self._kept: list[_Kept] = []

    def games(self, epoch: str, seq: int) -> tuple[Game, ...]:
        """Return the games in the order they were played; the last one has this `epoch` and `seq` records."""
        if not self._kept or self._kept[-1].game.epoch != epoch:
            self._kept = self._found(epoch)
        return (*(one.game for one in self._kept[:-1]), Game(epoch, seq))

    @property
    def orders(self) -> frozenset[str]:
        """The orders of the hub by which games here were begun, as of the last `games`."""
        return frozenset(one.order for one in self._kept if one.order)

    @property
    def order(self) -> str:
        """That of the game that is played, "" where the hub did not give it."""
        return self._kept[-1].order if self._kept else ""

    def rows(self, wanted: Range) -> list[Row]:
        """Return these records."""
        path = next((one.path for one in self._kept if one.game.epoch == wanted.epoch), self._path)
        with file.journal_errors(path, "read"), closing(file.look(path)) as db:
            about = file.meta(db, file.SCHEMA_VERSION)
            if about is None or about.epoch != wanted.epoch:  # the next game has just taken its name
                raise NextGameError(f"journal {path.name} is another")
            return list(file.rows(db, file.SCHEMA_VERSION, wanted.last, wanted.first))

    def _found(self, epoch: str) -> list[_Kept]:
        since = self._since.read_text("utf-8").strip() if self._since.is_file() else ""
        found: list[_Kept] = []
        path: Path | None = self._path
        while path is not None and len(found) < MOST_GAMES:
            kept = _look(path)
            if kept is None:
                break
            found.insert(0, kept)
            if kept.game.epoch == since:
                return found
            path = kept.before
        if not found or found[-1].game.epoch != epoch:
            raise NextGameError(f"journal {self._path.name} is another")
        make_private(self._since, self._path)
        self._since.write_text(epoch + "\n", "utf-8")
        return found[-1:]


def _look(path: Path) -> _Kept | None:
    """Return the journal at `path`; None where it is gone, or of a version that has no epoch."""
    if not path.is_file():
        return None
    with file.journal_errors(path, "read"), closing(file.look(path)) as db:
        about = file.meta(db, file.identity(db).version)
        if about is None:
            return None
        (seq,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
        first = [row for row in file.rows(db, file.SCHEMA_VERSION, to=_FIRST) if row.batch == 1]
    facts: list[Fact] = []
    with suppress(msgspec.MsgspecError):
        facts += [file.decode(row.body) for row in first]
    after = next((fact.after for fact in facts if isinstance(fact, Opened)), "")
    order = next((fact.order for fact in facts if isinstance(fact, MatchGiven)), "")
    return _Kept(path, Game(about.epoch, seq), path.with_name(Path(after).name) if after else None, order)


READING = (JournalError, OSError, ValueError, sqlite3.Error)
"""What may go wrong in reading."""
