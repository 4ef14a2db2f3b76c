"""Watch the machine of an installation: facts for the staff page, and dangerous states that stop the game.

Under-voltage stays on the staff page until the machine starts again, as it does with another supply: a weak one shows
for seconds only, and ruins cards over months.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pi_controller.display.i18n import Translator
from pi_controller.errors import describe_error
from pi_controller.exhibit import faults
from pi_controller.host.files import atomic_write
from pi_controller.host.machine_health import LOW_DISK_BYTES, MachineHealth

log = logging.getLogger(__name__)


def store_state(path: Path | None, content: str, fault: str) -> None:
    """Write a small file that survives a restart (None: store nothing); if that fails, log `fault` and the reason."""
    try:
        if path is not None:
            atomic_write(path, content.encode())
    except OSError as error:
        log.warning("%s: %s", fault, describe_error(error))


WARM_C, HOT_C, COOL_C = 75.0, 85.0, 75.0
"""Thresholds: the staff is warned; visitors see a notice, because a Pi throttles itself; the game continues."""
MAX_WEAK_SUPPLY_S = 60.0
"""Visitors see a notice after the supply was too weak for this long without a break."""


class MachineWatch:
    """Watches the machine: `read(previous)` returns a new reading of its health."""

    def __init__(self, read: Callable[[MachineHealth | None], MachineHealth]) -> None:
        self.health = MachineHealth()
        self._read = read
        self._weak_since: float | None = None
        self._hot = False

    def check(self, t: float) -> None:
        """Read the machine's health at `t`, s."""
        before, health = self.health, self._read(self.health)
        self.health = health
        if health.under_voltage_since_start and not before.under_voltage_since_start:
            log.warning("the power supply is too weak: the voltage was too low")
        self._weak_since = (self._weak_since if self._weak_since is not None else t) if health.under_voltage else None
        if health.temperature_c is not None:
            self._hot = health.temperature_c >= (COOL_C if self._hot else HOT_C)

    def is_dangerous(self, t: float) -> bool:
        """Return True if the machine is too hot at `t`, or the supply has been too weak for too long."""
        return self._hot or (self._weak_since is not None and t - self._weak_since >= MAX_WEAK_SUPPLY_S)


class WatchFact(NamedTuple):
    """A property of the machine, as `name` and `value`; `wrong` if somebody must act, on a fault of `kind`."""

    name: str
    value: str
    wrong: bool = False
    kind: faults.Kind | None = None


def facts(watch: MachineWatch, tr: Translator) -> list[WatchFact]:
    """Return the machine's properties in the language of `tr`; those that cannot be read are left out."""
    health, found = watch.health, list[WatchFact]()
    if health.temperature_c is not None:
        found.append(
            WatchFact(tr.text("Temperature"), f"{health.temperature_c:.0f} °C", health.temperature_c >= WARM_C, "heat")
        )
    if health.under_voltage is not None:
        weak = bool(health.under_voltage_since_start)
        supply = tr.text("was too weak") if weak else tr.text("good")
        supply = tr.text("too weak now") if health.under_voltage else supply
        found.append(WatchFact(tr.text("Power supply"), supply, weak, "supply"))
    if health.free_bytes is not None:
        room = tr.text("{gb} GB free", gb=f"{health.free_bytes / 1e9:.1f}")
        found.append(WatchFact(tr.text("Disk"), room, health.free_bytes < LOW_DISK_BYTES, "disk"))
    if health.fs_errors is not None:
        errors = tr.text("{n} reported by the file system", n=health.fs_errors) if health.fs_errors else tr.text("none")
        found.append(WatchFact(tr.text("Disk errors"), errors, health.fs_errors > 0, "card"))
    return found
