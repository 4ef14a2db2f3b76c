"""Which stored files are deleted: those that are too old, and the oldest beyond a total size."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from pi_controller.host.clock import since_boot
from pi_controller.host.machine_health import is_clock_set

log = logging.getLogger(__name__)

DAY_S = 86_400.0
LOOK_S = 3_600.0
"""How often all files are looked at, unless their total size may be reached."""
JUMP_S = 60.0
"""A larger step of the machine's clock makes all ages doubtful; a file later than this is dated in the future."""
_BESIDE = ("-journal", ".lock")  # of a table that was killed


class Retention:
    """Deletes the files in `folder` that match `pattern` (a glob), the oldest first.

    A file goes `keep_days` after its last change by the clock `wall`, or if all together are larger than `max_bytes`.
    What cannot be dated is not deleted by age: while `clock_set` says that the clock is wrong, while a file is
    dated in the future, and, if all are too old, until a day after the program's start or the clock's last step.
    """

    def __init__(
        self,
        folder: Path,
        pattern: str,
        keep_days: int,
        max_bytes: int,
        *,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = since_boot,
        clock_set: Callable[[float], bool] = is_clock_set,
    ) -> None:
        self._folder, self._pattern = folder, pattern
        self._keep_s, self._max_bytes = keep_days * DAY_S, max_bytes
        self._wall, self._steady, self._clock_set = wall, steady, clock_set
        self._began, self._settled = wall() - steady(), steady()
        self._looked = float("-inf")
        self._others = 0
        self._current: Path | None = None
        self.undated = False
        """Whether old files were kept at the last look because their age is in doubt."""

    def make_room(self, current: Path | None = None, size: int = 0) -> bool:
        """Delete files, never `current`, which needs `size` bytes; return whether there is room for it.

        Raises `OSError`.
        """
        if current != self._current:
            self._others += self._current.stat().st_size if self._current is not None and self._current.exists() else 0
            self._current = current
        if self._steady() - self._looked >= LOOK_S or self._others + size > self._max_bytes:
            self._looked = self._steady()
            self._look(current, size)
        return size <= self._max_bytes

    def _look(self, current: Path | None, size: int) -> None:
        found = {path: path.stat() for path in self._folder.glob(self._pattern) if path != current}
        files = sorted(found, key=lambda path: (found[path].st_mtime, path))
        oldest = self._wall() - self._keep_s
        old = {path for path in files if found[path].st_mtime < oldest}
        self._note_doubt(bool(old) and not self._is_dated(len(old) == len(files), found[files[-1]].st_mtime))
        total = sum(stat.st_size for stat in found.values())
        for path in files:
            if total + size > self._max_bytes or (path in old and not self.undated):
                for name in (path.name, *(path.name + ending for ending in _BESIDE)):
                    path.with_name(name).unlink(missing_ok=True)
                total -= found[path].st_size
        self._others = total

    def _is_dated(self, all_old: bool, newest: float) -> bool:
        """Return whether files may go by their age; `all_old`: all of them would."""
        now, steady = self._wall(), self._steady()
        if abs(now - steady - self._began) > JUMP_S:
            self._began, self._settled = now - steady, steady
        if not self._clock_set(now) or newest > now + JUMP_S:
            return False
        return not all_old or steady - self._settled >= DAY_S

    def _note_doubt(self, doubt: bool) -> None:
        if doubt and not self.undated:
            log.warning("no old file in %s is deleted: the clock is wrong, or was", self._folder)
        self.undated = doubt
