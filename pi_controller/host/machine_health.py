"""Health of the Raspberry Pi: temperature, voltage, disk and clock, from the kernel's files.

Rejected: psutil (knows neither voltage nor file system errors), vcgencmd (starts a program for one bit).
"""

import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from pi_controller.host.place import NAME

_HERE = Path("/")
_VOLTAGE_CHIP = "rpi_volt"
_NOW, _SINCE_START = 1 << 0, 1 << 16
"""Bits of a Pi's `get_throttled`."""
LOW_DISK_BYTES = 200_000_000
"""With less free disk space a warning is shown."""
CLOCK_SET_BY_STAFF = Path("/run") / f"{NAME}-clock-set"
"""Exists after the staff has set the clock, until the machine restarts."""


class MachineHealth(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Health of a machine; None for values that it lacks or that cannot be read.

    `temperature_c` is that of its hottest part. `under_voltage`: the supply is too weak now, or was seconds ago;
    `under_voltage_since_start`: at some time since the machine started, if its kernel keeps that, else since the first
    reading. `free_bytes` is the space that a program without privileges may still write. `fs_errors` counts the errors
    that the kernel has noted on all its ext4 file systems; replace the disk if there are any.
    """

    temperature_c: float | None = None
    under_voltage: bool | None = None
    under_voltage_since_start: bool | None = None
    free_bytes: int | None = None
    fs_errors: int | None = None


def read_health(root: Path = _HERE, folder: Path | None = None, before: MachineHealth | None = None) -> MachineHealth:
    """Return the health of the machine whose files are under `root`; never raises.

    `folder` is on the disk whose free space is measured (None: `root`); `before` is the last reading, whose
    under-voltage is remembered.
    """
    now, since_start = _under_voltage(root)
    if since_start is None and now is not None:
        since_start = now
    if before is not None and before.under_voltage_since_start and since_start is not None:
        since_start = True
    errors = [count for path in (root / "sys/fs/ext4").glob("*/errors_count") if (count := _number(path)) is not None]
    return MachineHealth(_temperature(root), now, since_start, _free(folder or root), sum(errors) if errors else None)


def round_health(health: MachineHealth, free_step: int) -> MachineHealth:
    """Return `health` with whole degrees, and the free space rounded down to a multiple of `free_step` bytes.

    What is sent elsewhere is rounded, so that it cannot tell what the machine has just done.
    """
    degrees, free = health.temperature_c, health.free_bytes
    return msgspec.structs.replace(
        health,
        temperature_c=None if degrees is None else float(round(degrees)),
        free_bytes=None if free is None else free // free_step * free_step,
    )


def _temperature(root: Path) -> float | None:
    """Return the temperature in °C; the kernel gives thousandths."""
    zones = (_number(path) for path in (root / "sys/class/thermal").glob("thermal_zone*/temp"))
    found = [zone / 1000 for zone in zones if zone is not None]
    return max(found, default=None)


def _under_voltage(root: Path) -> tuple[bool | None, bool | None]:
    """Return whether the voltage is too low now, and whether it was at some time since the machine started.

    The driver `rpi_volt` (raspberrypi-hwmon.c) polls every two seconds and reports under-voltage since its last poll;
    kernels with `get_throttled` keep both (bits 0 and 16 of a hexadecimal number).
    """
    now: bool | None = None
    since_start: bool | None = None
    for path in (root / "sys/devices/platform/soc").glob("*firmware/get_throttled"):
        if (bits := _number(path, 16)) is not None:
            now, since_start = bool(bits & _NOW), bool(bits & _SINCE_START)
    for chip in (root / "sys/class/hwmon").glob("*/name"):
        if _text(chip) == _VOLTAGE_CHIP and (alarm := _number(chip.with_name("in0_lcrit_alarm"))) is not None:
            now = bool(alarm) or bool(now)
    return now, since_start


def _free(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _number(path: Path, base: int = 10) -> int | None:
    try:
        return int(_text(path), base)
    except ValueError:
        return None


def _text(path: Path) -> str:
    """Return the content of `path`, "" if it cannot be read: a driver may also refuse for a moment."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def is_clock_set(now: float, root: Path = Path("/")) -> bool:
    """Return False if the time `now`, s since 1970, merely continues from the last start: a Pi has no clock of its own.

    The clock counts as set after an answer of a time server or a clock chip, or by the staff. If systemd-timesyncd is
    not in use, any plausible time is accepted: other programs leave no mark.
    """
    with suppress(OSError):
        if now < Path(__file__).stat().st_mtime:
            return False
    timesync = root / "run/systemd/timesync"
    marks = (timesync / "synchronized", root / CLOCK_SET_BY_STAFF.relative_to("/"))
    if any(mark.exists() for mark in marks) or not timesync.is_dir():
        return True
    for path in (root / "sys/class/rtc").glob("rtc*/hctosys"):
        with suppress(OSError):
            if path.read_text("utf-8").strip() == "1":
                return True
    return False
