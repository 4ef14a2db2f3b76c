"""Usage statistics of the installation: counts and durations by day, stored on this machine, without personal data.

It is off unless `[exhibit] usage = true`. A session adds to a few numbers when it ends; they contain neither the
players, nor the hiding places, nor the time of day.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.config import Settings
from pi_controller.errors import describe_error
from pi_controller.exhibit.health import store_state

if TYPE_CHECKING:
    from pi_controller.exhibit.exhibit import EndedSession

log = logging.getLogger(__name__)

COLUMNS = ("sessions", "mat", "teams", "learn", "finished", "left", "nobody", "time", "hides", "seconds")
SESSION_KINDS = ("mat", "teams", "learn")
MAX_DAYS = 3660
"""Ten years; after that the oldest day is dropped."""


class UsageBar(NamedTuple):
    """A day of the chart: its `total` of sessions, and `parts` from the bottom: the kind, its top and height in %."""

    day: str
    total: int
    parts: tuple[tuple[str, float, float], ...]


class Usage:
    """Counts by day in the file `path`; None: they are not stored. A damaged file is replaced by empty counts."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.days: dict[str, dict[str, int]] = {}
        if path is not None and path.exists():
            try:
                days = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, int]])
                self.days = {day: {one: counts.get(one, 0) for one in COLUMNS} for day, counts in days.items()}
            except (OSError, ValueError) as error:
                log.warning("the counts of sessions cannot be read and start from zero: %s", describe_error(error))

    def add(self, day: date, session: EndedSession) -> None:
        """Count a session that has ended."""
        if self._path is None:
            return
        counts = self.days.setdefault(day.isoformat(), dict.fromkeys(COLUMNS, 0))
        for column in ("sessions", session.kind, session.ending):
            counts[column] += 1
        counts["hides"] += session.hides
        counts["seconds"] += round(session.seconds)
        while len(self.days) > MAX_DAYS:
            del self.days[min(self.days)]
        store_state(self._path, json.dumps(self.days, indent=0) + "\n", "the counts of sessions cannot be written")

    def bars(self, last: date, days: int) -> tuple[UsageBar, ...]:
        """Return the sessions of `days` days up to `last`, as bars of a chart; () without any session in them."""
        wanted = [(last - timedelta(days=days - 1 - n)).isoformat() for n in range(days)]
        most = max((self.days[day]["sessions"] for day in wanted if day in self.days), default=0)
        return tuple(_bar(day, self.days.get(day, {}), most) for day in wanted) if most else ()

    def csv(self) -> str:
        """Return the counts as CSV, a line for each day."""
        lines = [",".join(("day", *COLUMNS))]
        lines += [",".join((day, *(str(row[one]) for one in COLUMNS))) for day, row in sorted(self.days.items())]
        return "\n".join(lines) + "\n"


def _bar(day: str, counts: Mapping[str, int], most: int) -> UsageBar:
    parts, top = list[tuple[str, float, float]](), 100.0
    for kind in SESSION_KINDS:
        height = 100.0 * counts.get(kind, 0) / most
        top -= height
        parts.append((kind, round(top, 1), round(height, 1)))
    return UsageBar(day, counts.get("sessions", 0), tuple(parts))


def usage_path(settings: Settings) -> Path | None:
    """Return the file of the counts, beside the table's journal; None if the host has not switched them on."""
    return settings.table.journal.with_name("exhibit-usage.json") if settings.exhibit.usage else None
