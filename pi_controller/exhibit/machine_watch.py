"""Watches the machine of an installation: what the staff is to know of it, and when it is dangerous to go on.

Under-voltage stays on the staff page until the staff lifts it: a supply that is too weak shows for seconds, and ruins
cards over months. The kernel may keep its own memory of it until the machine starts anew; what was lifted shows again
only where it happens again.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.machine_health import ENOUGH_BYTES, MachineHealth
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

WARM_C, HOT_C, COOL_C = 75.0, 85.0, 75.0
"""The staff is told; visitors see a notice, for a Pi slows down to save itself; and the game goes on again."""
WEAK_S = 60.0
"""So long without a break the supply is too weak, and visitors see a notice."""


class MachineWatch:
    """Watches by `read`, which is given the reading before; `kept` is the file that keeps the latch for `boot`."""

    def __init__(
        self, read: Callable[[MachineHealth | None], MachineHealth], kept: Path | None = None, boot: str = ""
    ) -> None:
        self.health = MachineHealth()
        self.under_voltage = False
        """Whether the supply was too weak since the machine started, or since the staff lifted it."""
        self._read, self._kept, self._boot = read, kept, boot
        self._lifted = False
        self._weak_since: float | None = None
        self._hot = False
        if kept is not None and boot:
            with suppress(OSError, ValueError, KeyError, TypeError):
                found = json.loads(kept.read_text("utf-8"))
                if str(found["boot"]) == boot:
                    self.under_voltage, self._lifted = bool(found["under_voltage"]), bool(found["lifted"])

    def look(self, t: float) -> None:
        """Read how the machine is at `t`, s."""
        health = self.health = self._read(self.health)
        if (health.under_voltage or (health.under_voltage_since_start and not self._lifted)) and not self.under_voltage:
            self.under_voltage = True
            log.warning("the power supply is too weak: the voltage was too low")
            self._keep()
        self._weak_since = (self._weak_since if self._weak_since is not None else t) if health.under_voltage else None
        if health.temperature_c is not None:
            self._hot = health.temperature_c >= (COOL_C if self._hot else HOT_C)

    def lift(self) -> None:
        """The staff has seen to the supply."""
        self.under_voltage, self._lifted = False, True
        self._keep()

    def danger(self, t: float) -> bool:
        """Return whether it is dangerous to go on at `t`: too hot, or the supply too weak for long."""
        return self._hot or (self._weak_since is not None and t - self._weak_since >= WEAK_S)

    def _keep(self) -> None:
        if self._kept is None:
            return
        content = {"boot": self._boot, "under_voltage": self.under_voltage, "lifted": self._lifted}
        try:
            replace_file(self._kept, json.dumps(content).encode())
        except OSError as error:
            log.warning("that the supply was too weak is not kept for a restart: %s", error)


class Fact(NamedTuple):
    """Something known of the machine, as `name` and `value`; `wrong` where somebody must see to it."""

    name: str
    value: str
    wrong: bool = False


def facts(watch: MachineWatch, text: Callable[[str], str]) -> list[Fact]:
    """Return what is known of the machine, in the language of `text`; what cannot be read is left out."""
    health, found = watch.health, list[Fact]()
    if health.temperature_c is not None:
        found.append(Fact(text("Temperature"), f"{health.temperature_c:.0f} °C", health.temperature_c >= WARM_C))
    if health.under_voltage is not None or watch.under_voltage:
        if health.under_voltage:
            supply = text("too weak now")
        else:
            supply = text("was too weak") if watch.under_voltage else text("good")
        found.append(Fact(text("Power supply"), supply, watch.under_voltage))
    if health.free_bytes is not None:
        room = text("{gb} GB free").format(gb=f"{health.free_bytes / 1e9:.1f}")
        found.append(Fact(text("Disk"), room, health.free_bytes < ENOUGH_BYTES))
    if health.fs_errors is not None:
        errors = text("{n} noted by the file system").format(n=health.fs_errors) if health.fs_errors else text("none")
        found.append(Fact(text("Disk errors"), errors, health.fs_errors > 0))
    return found
