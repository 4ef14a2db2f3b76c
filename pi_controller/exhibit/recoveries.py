"""Counts how often the installation had to be started anew since the machine was switched on.

A run that ends well says so; one that did not is a recovery. After `MOST` of them in one boot nothing is tried any
more: a plain notice stands until somebody looks, or the machine is switched off and on.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path

from pi_controller.whole_files import replace_file

log = logging.getLogger(__name__)

MOST = 3
"""Recoveries in one boot; at the next start the notice stands."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Return what tells this boot of the machine from any other; empty where the system does not say."""
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""


class Recoveries:
    """The count in the file `path`, of the boot `boot`."""

    def __init__(self, path: Path, boot: str) -> None:
        self._path, self._boot = path, boot
        self.count = self._begun()
        """How often it was started in this boot after a run that did not end well."""
        self._write(self.count, running=True)

    @property
    def too_many(self) -> bool:
        """Whether to show the plain notice and try nothing."""
        return self.count > MOST

    def ended_well(self) -> None:
        """The run ends because somebody wanted it to."""
        self._write(0 if not self.too_many else self.count, running=False)

    def _begun(self) -> int:
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
        try:
            replace_file(self._path, (json.dumps(kept) + "\n").encode())
        except OSError as error:
            log.warning("recoveries are not counted: %s", error)
