"""Storage of exhibit sessions: a journalled game if the host records games, else one that is not stored.

Recorded games are files beside the table's journal, named like `exhibit-2026-11-03-191502-1a2b.sqlite`. They are pruned
by age and by total size, oldest first; the one being played is never pruned.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pi_controller.config import Settings
from pi_controller.errors import MatError
from pi_controller.host.retention import Retention
from pi_controller.journal.journal import Journal, MemoryJournal
from pi_controller.referee.facts import Commit, CommitmentWithdrawn, Reveal
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.table.table import Table, commitment_context, journalled_game

log = logging.getLogger(__name__)

SESSION_FILES = "exhibit-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]-????.sqlite"
"""Names of the files that may be pruned; all other files in the folder are ignored."""
TEAMS = {"A": "Visitors A", "B": "Visitors B"}
AGAINST_THE_MAT = {"A": "Visitor", "B": "The mat"}
MAX_FLUSH_DELAY_S = 3.0
"""Longest time that hand passes and similar facts wait for the next fact that is flushed to disk."""


MAX_CUT_OFF = 8
"""The newest journals are searched for an open seal at a start: a kill leaves one."""


class SessionStart(NamedTuple):
    """A started game: its table, and the function to call when it ends."""

    table: Table
    close: Callable[[], None]


def local_time(t: float) -> datetime:
    """Return `t`, seconds since 1970, in the machine's local time."""
    return datetime.fromtimestamp(t).astimezone()


def has_open_seal(path: Path) -> bool:
    """Return whether the last commitment in the journal at `path` was neither opened nor withdrawn.

    Raises `JournalError`.
    """
    with Journal(path, read_only=True) as journal:
        seals = [fact for _, fact in journal.read() if isinstance(fact, Commit | CommitmentWithdrawn | Reveal)]
    return bool(seals) and isinstance(seals[-1], Commit)


class SessionGames:
    """Begins the games of an installation with `settings`, each recorded or not as the host chose."""

    def __init__(
        self,
        settings: Settings,
        random_bytes: Callable[[int], bytes] = os.urandom,
        local: Callable[[float], datetime] = local_time,
    ) -> None:
        section = settings.exhibit
        self.folder = settings.table.journal.parent
        self._section, self._table_name = section, settings.table.name
        self._random_bytes, self._local = random_bytes, local
        self._game = registry.game("dakota", {"points": str(section.points)})
        self._referee = RefereeSettings(
            preset="demo", beads="judge" if section.mat == "eye" else "mat", answer_within_s=section.answer_s
        )
        self._in_play: Path | None = None
        self.retention = Retention(self.folder, SESSION_FILES, section.keep_days, round(section.keep_mb * 1e6))

    def begin(self, t: float, against: str) -> SessionStart:
        """Begin a session's game; raises `JournalError` if it cannot be recorded as the settings ask."""
        if not self._section.record:
            return self._begin_unrecorded(t, against)
        name = f"exhibit-{self._local(t):%Y-%m-%d-%H%M%S}-{self._random_bytes(2).hex()}"
        journal = Journal(self.folder / f"{name}.sqlite", created=t)
        self._in_play = journal.path
        self.prune()
        return SessionStart(self._table(t, against, journal), partial(self._close, journal))

    def withdraw_open_seals(self, t: float) -> int:
        """Withdraw the seals that a killed program left open in the newest journals; return how many it left."""
        withdrawn = 0
        with suppress(OSError):
            for path in sorted(self.list_journals(), key=lambda path: path.stat().st_mtime)[-MAX_CUT_OFF:]:
                try:
                    if has_open_seal(path):
                        with Journal(path) as journal:
                            self._table(t, "teams", journal)  # a game that is resumed withdraws its seal
                        withdrawn += 1
                except MatError as error:
                    log.warning("the seal in %s cannot be withdrawn: %s", path.name, error.message)
        return withdrawn

    def begin_show(self, t: float) -> SessionStart:
        """Begin the demonstration, a game without visitors that is not recorded."""
        return self._begin_unrecorded(t, "show")

    def list_journals(self) -> list[Path]:
        """Return the journals of recorded games except the one being played."""
        with suppress(OSError):
            return sorted(path for path in self.folder.glob(SESSION_FILES) if path != self._in_play)
        return []

    def prune(self) -> None:
        """Delete recorded games that are too old, then the oldest while the total is too large."""
        with suppress(OSError):
            self.retention.make_room(self._in_play)

    def _begin_unrecorded(self, t: float, against: str) -> SessionStart:
        journal = MemoryJournal(t)
        return SessionStart(self._table(t, against, journal), journal.close)

    def _table(self, t: float, against: str, journal: Journal) -> Table:
        teams = AGAINST_THE_MAT if against == "mat" else TEAMS
        bound = commitment_context(journal, self._table_name)
        game = journalled_game(journal, self._game)
        referee = referee_for(game, self._referee, self._random_bytes, bound)
        return Table(journal, game, teams, referee, t, gather_s=MAX_FLUSH_DELAY_S)

    def _close(self, journal: Journal) -> None:
        journal.close()
        self._in_play = None
