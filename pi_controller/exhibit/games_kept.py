"""Where a session's game is played: at a journalled table where the host records, else at one that keeps nothing.

Recorded games lie beside the table's journal as `exhibit-2026-11-03-191502-1a2b.sqlite`, each with the session's log
(`.jsonl`). They are pruned by age and by size, oldest first; the one in play is never touched.
"""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TextIO

from pi_controller.exhibit.exhibit import Begun, local_time
from pi_controller.exhibit.session_log import SessionLog
from pi_controller.exhibit.unrecorded_table import UnrecordedTable
from pi_controller.games import registry
from pi_controller.referee.referees import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table, bound_to

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from pi_controller.table.settings import Settings

log = logging.getLogger(__name__)

NAMED = re.compile(r"exhibit-\d{4}-\d\d-\d\d-\d{6}-[0-9a-f]{4}\.(sqlite(-wal|-shm|\.lock)?|jsonl)")
"""The files that are ours to remove; nothing else in the folder is ever looked at."""
TEAMS = {"A": "Visitors A", "B": "Visitors B"}
AGAINST_THE_MAT = {"A": "Visitor", "B": "The mat"}
DAY_S = 86_400.0


class SessionGames:
    """Begins the games of an installation with `settings`; implements `exhibit.Games`."""

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

    def begin(self, t: float, against: str) -> Begun:
        """Begin a session's game; raises `JournalError` where it cannot be kept as the host wants."""
        if not self._section.record:
            return self._unrecorded(t, against)
        self.prune(t)
        name = f"exhibit-{self._local(t):%Y-%m-%d-%H%M%S}-{self._random_bytes(2).hex()}"
        journal = Journal(self.folder / f"{name}.sqlite", created=t)
        self._in_play = journal.path
        bound = bound_to(journal, self._table_name)
        referee = referee_for(self._game, self._referee, self._random_bytes, bound)
        lines = (self.folder / f"{name}.jsonl").open("x", encoding="utf-8")
        session_log = SessionLog(self._table_name, t, self._random_bytes, partial(_write_line, lines), against)
        table = Table(journal, self._game, self._teams(against), referee, t, "stay")
        return Begun(table, session_log, partial(self._close, journal, lines))

    def show(self, t: float) -> Begun:
        """Begin a game that nobody plays and nothing keeps."""
        return self._unrecorded(t, "show")

    def recorded(self) -> list[Path]:
        """Return the journals of recorded games, but for the one in play."""
        with suppress(OSError):
            return sorted(
                path
                for path in self.folder.glob("exhibit-*.sqlite")
                if NAMED.fullmatch(path.name) and path != self._in_play
            )
        return []

    def prune(self, t: float) -> list[str]:
        """Remove recorded games that are too old, then the oldest while all are too large; return their names."""
        found: dict[str, list[Path]] = {}
        with suppress(OSError):
            for path in self.folder.iterdir():
                if NAMED.fullmatch(path.name):
                    found.setdefault(path.name.split(".")[0], []).append(path)
        playing = self._in_play.stem if self._in_play is not None else ""
        sizes = {name: sum(path.stat().st_size for path in paths) for name, paths in found.items()}
        total, removed = sum(sizes.values()), list[str]()
        for name in sorted(found):  # by date: the oldest first
            age = t - max(path.stat().st_mtime for path in found[name])
            too_old, too_much = age > self._section.keep_days * DAY_S, total > self._section.keep_mb * 1e6
            if name == playing or not (too_old or too_much):
                continue
            for path in found[name]:
                with suppress(OSError):
                    path.unlink()
            total -= sizes[name]
            removed.append(name)
        if removed:
            log.info("%d recorded games were removed: they were too old, or too many", len(removed))
        return removed

    def _unrecorded(self, t: float, against: str) -> Begun:
        table = UnrecordedTable(self._game, self._teams(against), self._referee, self._random_bytes, t)
        return Begun(table, SessionLog(self._table_name, t, self._random_bytes, against=against), _nothing)

    def _teams(self, against: str) -> dict[str, str]:
        return dict(AGAINST_THE_MAT if against == "mat" else TEAMS)

    def _close(self, journal: Journal, lines: TextIO) -> None:
        journal.close()
        lines.close()
        self._in_play = None


def _nothing() -> None:
    pass


def _write_line(lines: TextIO, line: str) -> None:
    try:
        lines.write(line + "\n")
        lines.flush()
    except (OSError, ValueError) as error:  # the game itself is in its journal
        log.warning("the session's log cannot be written: %s", error)
