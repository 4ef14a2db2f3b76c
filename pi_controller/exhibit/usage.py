"""How the installation is used: counts and durations by day, on this machine, and nothing of anybody.

It is off unless `[exhibit] usage = true`. A session adds one to a few numbers when it ends; who played, what was hidden
where, and when in the day it was, is in none of them.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, cast

from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from pi_controller.exhibit.exhibit import Session
    from pi_controller.table.settings import Settings

log = logging.getLogger(__name__)

COLUMNS = ("sessions", "mat", "teams", "learn", "finished", "left", "nobody", "time", "hides", "seconds")
MOST_DAYS = 3660
"""Ten years; then the oldest day goes."""


class Usage:
    """Counts by day in the file `path`; without a path they are kept nowhere. A file that is damaged begins anew."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.days: dict[str, dict[str, int]] = {}
        if path is not None and path.exists():
            try:
                self.days = _days(path.read_text("utf-8"))
            except (OSError, ValueError) as error:
                log.warning("the counts of sessions cannot be read and begin anew: %s", error)

    def add(self, day: date, session: Session) -> None:
        """Count a session that has ended."""
        if self._path is None:
            return
        counts = self.days.setdefault(day.isoformat(), dict.fromkeys(COLUMNS, 0))
        for column in ("sessions", session.kind, session.ending):
            counts[column] += 1
        counts["hides"] += session.hides
        counts["seconds"] += round(session.seconds)
        while len(self.days) > MOST_DAYS:
            del self.days[min(self.days)]
        try:
            replace_file(self._path, (json.dumps(self.days, indent=0) + "\n").encode())
        except OSError as error:
            log.warning("the counts of sessions cannot be written: %s", error)

    def csv(self) -> str:
        """Return the counts as CSV, a day a line."""
        lines = [",".join(("day", *COLUMNS))]
        lines += [",".join((day, *(str(row[one]) for one in COLUMNS))) for day, row in sorted(self.days.items())]
        return "\n".join(lines) + "\n"


def usage_path(settings: Settings) -> Path | None:
    """Return where the counts are kept: beside the table's journal; None where the host has not switched them on."""
    return settings.table.journal.with_name("exhibit-usage.json") if settings.exhibit.usage else None


def _days(text: str) -> dict[str, dict[str, int]]:
    read: object = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError("this is no list of days")  # noqa: TRY004 - it is a file's content that is wrong
    days: dict[str, dict[str, int]] = {}
    for day, counts in cast("dict[str, object]", read).items():
        if not isinstance(counts, dict):
            raise ValueError(f"{day} has no counts")  # noqa: TRY004
        known = cast("dict[str, object]", counts)
        days[day] = {one: value if type(value := known.get(one)) is int else 0 for one in COLUMNS}
    return days
