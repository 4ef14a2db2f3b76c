"""Watch the machine of an installation: facts for the staff page, and dangerous states that stop the game.

Under-voltage stays on the staff page until the staff dismisses it: a weak supply shows for seconds only, and ruins
cards over months. The kernel may remember it until the machine restarts; a dismissed warning returns only if the
voltage drops again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pi_controller.board.messages import Message, Piezo, Touch
from pi_controller.calibration.detectors import RunningStats
from pi_controller.calibration.profile import Profile
from pi_controller.errors import describe_error
from pi_controller.exhibit import faults
from pi_controller.host.files import atomic_write
from pi_controller.host.machine_health import LOW_DISK_BYTES, MachineHealth
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap

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
    """Watches the machine: `read(previous)` returns a new reading of its health.

    The file `kept` stores the warning for `boot`.
    """

    def __init__(
        self, read: Callable[[MachineHealth | None], MachineHealth], kept: Path | None = None, boot: str = ""
    ) -> None:
        self.health = MachineHealth()
        self.under_voltage = False
        """True if the supply was too weak since the machine started, or since the staff dismissed the warning."""
        self._read, self._kept, self._boot = read, kept, boot
        self._lifted = False
        self._weak_since: float | None = None
        self._hot = False
        if kept is not None and boot:
            with suppress(OSError, ValueError, KeyError, TypeError):
                found = json.loads(kept.read_text("utf-8"))
                if str(found["boot"]) == boot:
                    self.under_voltage, self._lifted = bool(found["under_voltage"]), bool(found["lifted"])

    def check(self, t: float) -> None:
        """Read the machine's health at `t`, s."""
        health = self.health = self._read(self.health)
        if (health.under_voltage or (health.under_voltage_since_start and not self._lifted)) and not self.under_voltage:
            self.under_voltage = True
            log.warning("the power supply is too weak: the voltage was too low")
            self._keep()
        self._weak_since = (self._weak_since if self._weak_since is not None else t) if health.under_voltage else None
        if health.temperature_c is not None:
            self._hot = health.temperature_c >= (COOL_C if self._hot else HOT_C)

    def dismiss_under_voltage(self) -> None:
        """Dismiss the under-voltage warning because the staff has dealt with the supply."""
        self.under_voltage, self._lifted = False, True
        self._keep()

    def is_dangerous(self, t: float) -> bool:
        """Return True if the machine is too hot at `t`, or the supply has been too weak for too long."""
        return self._hot or (self._weak_since is not None and t - self._weak_since >= MAX_WEAK_SUPPLY_S)

    def _keep(self) -> None:
        content = {"boot": self._boot, "under_voltage": self.under_voltage, "lifted": self._lifted}
        store_state(self._kept, json.dumps(content), "the power supply warning cannot be saved for a restart")


class Fact(NamedTuple):
    """A property of the machine, as `name` and `value`; `wrong` if somebody must act, on a fault of `kind`."""

    name: str
    value: str
    wrong: bool = False
    kind: faults.Kind | None = None


def facts(watch: MachineWatch, text: Callable[[str], str]) -> list[Fact]:
    """Return the machine's properties in the language of `text`; those that cannot be read are left out."""
    health, found = watch.health, list[Fact]()
    if health.temperature_c is not None:
        found.append(
            Fact(text("Temperature"), f"{health.temperature_c:.0f} °C", health.temperature_c >= WARM_C, "heat")
        )
    if health.under_voltage is not None or watch.under_voltage:
        if health.under_voltage:
            supply = text("too weak now")
        else:
            supply = text("was too weak") if watch.under_voltage else text("good")
        found.append(Fact(text("Power supply"), supply, watch.under_voltage, "supply"))
    if health.free_bytes is not None:
        room = text("{gb} GB free").format(gb=f"{health.free_bytes / 1e9:.1f}")
        found.append(Fact(text("Disk"), room, health.free_bytes < LOW_DISK_BYTES, "disk"))
    if health.fs_errors is not None:
        errors = (
            text("{n} reported by the file system").format(n=health.fs_errors) if health.fs_errors else text("none")
        )
        found.append(Fact(text("Disk errors"), errors, health.fs_errors > 0, "card"))
    return found


# Watch the page on the machine's own screen and restart the browser if the page stops polling.
#
# A crashed or hung tab stays on the screen until the browser is restarted. The page polls `/here` every ten seconds: by
# a timer, because a screen that the staff has switched off draws no frames, and when the service sends something,
# because a browser that is too slow for its page starves timers. The service may not restart units itself: it creates a
# file that triggers a unit of the machine (`system.kiosk`).

SILENCE_TIMEOUT_S = 120.0
"""The page counts as lost after this time without a poll.

The page polls every ten seconds, and a browser returns from the staff page within sixty.
"""
START_TIMEOUT_S = 300.0
"""Time for a browser to reach the installation's page. The unit itself waits for a first sign of life
(`kiosk.FIRST_SIGN_TIMEOUT_S`).

A shorter time here would interrupt a slow start.
"""
MAX_RESTARTS, HOUR_S = 3, 3600.0


class KioskWatch:
    """Watches the screen.

    `running` identifies the current run of its unit (None: not running), `restart` restarts it.
    """

    def __init__(self, running: Callable[[], object], restart: Callable[[], None]) -> None:
        self.given_up = False
        """True after too many restarts; no more are tried until the page polls again or the hour has passed."""
        self.restarts: list[float] = []
        """Times of the restarts in the last hour."""
        self._running, self._restart = running, restart
        self._run: object = None
        self._since = 0.0

    def check(self, t: float, seen: float | None) -> None:
        """Restart the screen if its page is lost at `t`, s.

        `seen` is the time of the page's last poll, None for never.
        """
        self.restarts = [one for one in self.restarts if t - one < HOUR_S]
        if (run := self._running()) is None or run != self._run:
            self._run, self._since = run, t
        if run is None:
            return
        asked = seen is not None and seen >= self._since
        if t - (seen if asked and seen is not None else self._since) < (
            SILENCE_TIMEOUT_S if asked else START_TIMEOUT_S
        ):
            self.given_up = self.given_up and not asked
            return
        self.given_up = len(self.restarts) >= MAX_RESTARTS
        if self.given_up:
            return
        log.warning("the page on this machine's screen stopped polling: the screen is restarted")
        self.restarts.append(t)
        self._since = t
        try:
            self._restart()
        except OSError as error:
            log.warning("the screen cannot be restarted: %s", describe_error(error))

    def facts(self, text: Callable[[str], str]) -> list[Fact]:
        """Return what the staff page says of the screen; [] if all is well."""
        if not self.restarts and not self.given_up:
            return []
        often = text("restarted {n} times in an hour").format(n=len(self.restarts))
        gone = text("has failed: switch the machine off and on")
        return [Fact(text("Visitors’ screen"), f"{often}; {gone}" if self.given_up else often, self.given_up, "screen")]


def watch_unit(running: Path, asked: Path) -> KioskWatch:
    """Return the watch of the unit whose folder `running` exists while it runs; the file `asked` restarts it."""

    def run() -> object:
        try:
            return running.stat().st_ino
        except OSError:
            return None

    return KioskWatch(run, asked.touch)


# Count the crashes of the installation since the machine was switched on.
#
# A run that ends properly records it; a start after any other end counts as a recovery. After `MAX_CRASHES` recoveries
# in one boot the installation only shows a plain notice, until somebody looks at it or the machine is switched off and
# on.

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


# Measure how far the sensors of an idle mat have drifted since its calibration.
#
# It measures for five seconds at a time, while no visitor has a session and no hand is at the mat. Magnetometers are
# left out: a report of the ones near a bead would reveal its place.

SCANS = 250
"""Scans of the touch strips in one report: five seconds."""
MAX_DRIFT_SHARE = 0.5
"""A strip has drifted too far if its resting value has moved by this share of the loss that a hand causes."""
MAX_NOISE_RATIO = 4.0
"""A disc has become too noisy if its noise is this many times its value at calibration."""


class DriftReading(NamedTuple):
    """A sensor of `pad`: counts `now` and `then` (at calibration; None if uncalibrated).

    `strip` is None for the disc.
    """

    pad: int
    strip: int | None
    now: float
    then: float | None
    far: bool


class SensorDrift:
    """Measures the drift of a mat against its calibration `profile`, if any; `report` is the last complete report."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.report: tuple[DriftReading, ...] = ()
        strips = len(pinmap().touch.strips)
        known = profile.touch if profile is not None else None
        self._rest = None if known is None else np.array(known.rest).reshape(PADS, strips)
        self._far = None if known is None else MAX_DRIFT_SHARE * np.array(known.lost).reshape(PADS, strips)
        self._noise = profile.strikes.noise if profile is not None and profile.strikes is not None else None
        self._strips = strips
        self.forget()

    def forget(self) -> None:
        """Discard the samples collected so far, because the mat is in use."""
        self._touch, self._piezo = RunningStats((PADS, self._strips)), RunningStats((PADS,))
        self._scans = 0

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Add the messages of an idle mat; renew `report` after `SCANS` touch scans."""
        for message in messages:
            if isinstance(message, Touch):
                self._touch.add(message.counts.astype(np.float64))
                self._scans += 1
            elif isinstance(message, Piezo):
                self._piezo.add(message.counts)
        if self._scans >= SCANS:
            self.report = tuple(self._compare_sensors())
            self.forget()

    def _compare_sensors(self) -> Iterable[DriftReading]:
        noise, rest = self._piezo.rms, self._touch.mean
        for pad in EVERY_PAD:
            then = None if self._noise is None else self._noise[pad - 1]
            now = float(noise[pad - 1])
            yield DriftReading(pad, None, now, then, then is not None and now > MAX_NOISE_RATIO * max(then, 1.0))
            for strip in range(self._strips):
                at = pad - 1, strip
                was = None if self._rest is None else float(self._rest[at])
                far = was is not None and self._far is not None and abs(rest[at] - was) > max(self._far[at], 1.0)
                yield DriftReading(pad, strip, float(rest[at]), was, bool(far))
