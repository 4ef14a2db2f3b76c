"""Count the crashes of the installation since the machine was switched on.

A run that ends properly records it; a start after any other end counts as a recovery. After `MAX_CRASHES` recoveries
in one boot the installation only shows a plain notice, until somebody looks at it or the machine is switched off and
on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from pi_controller.exhibit.health import store_state

MAX_CRASHES = 3
"""Recoveries in one boot; at the next one the notice is shown."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Return the id of this boot of the machine; "" if the system has none."""
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""


class CrashCounter:
    """Counts recoveries in the file `path`, for the boot `boot`."""

    def __init__(self, path: Path, boot: str) -> None:
        self._path, self._boot = path, boot
        self.count = self._read_count()
        """Number of starts in this boot after a run that crashed."""
        self._write(self.count, running=True)

    @property
    def too_many(self) -> bool:
        """True if only the plain notice may be shown."""
        return self.count > MAX_CRASHES

    def record_clean_exit(self) -> None:
        """Record that the run ended properly."""
        self._write(0 if not self.too_many else self.count, running=False)

    def _read_count(self) -> int:
        try:
            kept = json.loads(self._path.read_text("utf-8"))
            boot, count, running = str(kept["boot"]), int(kept["count"]), bool(kept["running"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        if not self._boot or boot != self._boot:
            return 0
        return count + running

    def _write(self, count: int, *, running: bool) -> None:
        kept = {"boot": self._boot, "count": count, "running": running}
        store_state(self._path, json.dumps(kept) + "\n", "recoveries cannot be counted")
