"""Read a table's journals for the hub: the current one, and the earlier ones since a hub was configured.

Earlier games are private and never sent: the file `JOURNAL.hub` beside the journal names the first game to send.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import JournalError
from pi_controller.host.files import create_private_file
from pi_controller.hub.messages import MAX_GAMES, SentGame
from pi_controller.hub.outbox import RecordRange
from pi_controller.journal import file as journal_file
from pi_controller.journal.chain import JournalRow
from pi_controller.referee.facts import Fact, GameOpened, MatchGiven

_FIRST = 8
"""The first batch is among this many records."""


class NextGameError(JournalError):
    """The next game has just replaced the journal's file; reading again in a moment works."""


class _JournalFile(NamedTuple):
    """A journal's file, epoch and length.

    `before` is the file of the game before (None for none), `order` the hub's order that began it ("" for none).
    """

    path: Path
    game: SentGame
    before: Path | None
    order: str


class Journals:
    """The journals of the table that writes the one at `path`. Raises `JournalError` if one cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since = journal_file.sidecar_path(path, ".hub")
        self._kept: list[_JournalFile] = []

    def games(self, epoch: str, seq: int) -> tuple[SentGame, ...]:
        """Return the games in the order they were played; the last one has this `epoch` and `seq` records."""
        if not self._kept or self._kept[-1].game.epoch != epoch:
            self._kept = self._find_journals(epoch)
        return (*(one.game for one in self._kept[:-1]), SentGame(epoch, seq))

    @property
    def orders(self) -> frozenset[str]:
        """The hub's orders that started games here, as of the last call of `games`."""
        return frozenset(one.order for one in self._kept if one.order)

    @property
    def order(self) -> str:
        """The hub's order that started the current game, or ""."""
        return self._kept[-1].order if self._kept else ""

    def rows(self, wanted: RecordRange) -> list[JournalRow]:
        """Return the records of the range `wanted`."""
        path = next((one.path for one in self._kept if one.game.epoch == wanted.epoch), self._path)
        rows = journal_file.read_rows(path, wanted.epoch, wanted.first, wanted.last)
        if rows is None:  # the next game has just replaced this file
            raise NextGameError(f"journal {path.name} is of another game")
        return rows

    def _find_journals(self, epoch: str) -> list[_JournalFile]:
        since = self._since.read_text("utf-8").strip() if self._since.is_file() else ""
        found: list[_JournalFile] = []
        path: Path | None = self._path
        while path is not None and len(found) < MAX_GAMES:
            kept = _read_journal(path)
            if kept is None:
                break
            found.insert(0, kept)
            if kept.game.epoch == since:
                return found
            path = kept.before
        if not found or found[-1].game.epoch != epoch:
            raise NextGameError(f"journal {self._path.name} is of another game")
        create_private_file(self._since, self._path)
        self._since.write_text(epoch + "\n", "utf-8")
        return found[-1:]


def _read_journal(path: Path) -> _JournalFile | None:
    """Return the journal at `path`; None if it is missing."""
    if not path.is_file():
        return None
    with journal_file.journal_errors(path, "it cannot be read"), closing(journal_file.open_read_only(path)) as db:
        about = journal_file.meta(db)
        (seq,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
        first = [row for row in journal_file.rows(db, to=_FIRST) if row.batch == 1]
    facts: list[Fact] = []
    with suppress(JournalError):
        facts += [journal_file.decode(row.body) for row in first]
    after = next((fact.after for fact in facts if isinstance(fact, GameOpened)), "")
    order = next((fact.order for fact in facts if isinstance(fact, MatchGiven)), "")
    return _JournalFile(path, SentGame(about.epoch, seq), path.with_name(Path(after).name) if after else None, order)


READ_ERRORS = (JournalError, OSError, ValueError, sqlite3.Error)
"""Errors that reading a journal may raise."""
