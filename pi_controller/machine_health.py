"""How the machine itself is: heat, voltage, room on its disk, errors of its file systems. Read in the kernel's files.

Passed over: psutil (knows neither voltage nor errors of a file system), vcgencmd (a program of its own for one bit).
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

_HERE = Path("/")
_VOLTAGE_CHIP = "rpi_volt"
_NOW, _SINCE_START = 1 << 0, 1 << 16
"""Bits of a Pi's `get_throttled`."""
ENOUGH_BYTES = 200_000_000
"""With less room on the disk people are told."""


class MachineHealth(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a machine is; None for what it does not have or what cannot be read.

    `temperature_c` is that of its hottest part. `under_voltage`: the supply is, or was seconds ago, too weak;
    `under_voltage_since_start`: at some time since the machine started, as far as its kernel keeps that, or since the
    first of the readings. `free_bytes` is what a program without privileges may still write. `fs_errors` counts what
    the kernel has noted on all its ext4 file systems; any at all means a disk to replace.
    """

    temperature_c: float | None = None
    under_voltage: bool | None = None
    under_voltage_since_start: bool | None = None
    free_bytes: int | None = None
    fs_errors: int | None = None


def read_health(root: Path = _HERE, folder: Path | None = None, before: MachineHealth | None = None) -> MachineHealth:
    """Return how the machine is whose files are under `root`; raises nothing.

    `folder` is on the disk whose room counts, `root` where it is None; `before` is the last reading, whose
    under-voltage is remembered.
    """
    now, since_start = _under_voltage(root)
    if since_start is None and now is not None:
        since_start = now
    if before is not None and before.under_voltage_since_start and since_start is not None:
        since_start = True
    errors = [count for path in (root / "sys/fs/ext4").glob("*/errors_count") if (count := _number(path)) is not None]
    return MachineHealth(_temperature(root), now, since_start, _free(folder or root), sum(errors) if errors else None)


def _temperature(root: Path) -> float | None:
    """Return °C; the kernel has thousandths of it."""
    zones = (_number(path) for path in (root / "sys/class/thermal").glob("thermal_zone*/temp"))
    found = [zone / 1000 for zone in zones if zone is not None]
    return max(found, default=None)


def _under_voltage(root: Path) -> tuple[bool | None, bool | None]:
    """Return whether the voltage is too low now, and whether it was since the machine started.

    The driver `rpi_volt` (raspberrypi-hwmon.c) looks every two seconds whether it was since its last look; kernels
    with `get_throttled` keep both (bits 0 and 16 of a hexadecimal number).
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
        about = os.statvfs(folder)
    except OSError:
        return None
    return about.f_bavail * about.f_frsize


def _number(path: Path, base: int = 10) -> int | None:
    try:
        return int(_text(path), base)
    except ValueError:
        return None


def _text(path: Path) -> str:
    """Return what stands in `path`, "" where that cannot be read: a driver may also refuse for a moment."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
