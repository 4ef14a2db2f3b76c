"""The machine's clock: whether it has been set, and the units by which the staff page sets it.

A Raspberry Pi has no clock of its own. Without a network it continues from the time of its last start, which may be
weeks ago. The service may not set the clock: it writes the time to a file that triggers a root unit.
"""

from contextlib import suppress
from pathlib import Path

from pi_controller.system.install import RUN
from pi_controller.system.place import NAME, SYSTEM_UNITS

SERVICE = SYSTEM_UNITS / f"{NAME}-clock.service"
PATH = SERVICE.with_suffix(".path")
REQUEST = "set-clock"
"""The file in the service's run folder: seconds since 1970."""
SET_BY_STAFF = Path("/run") / f"{NAME}-clock-set"
"""Exists after the staff has set the clock, until the machine restarts."""
MAX_EXPOSURE = 2.5
"""Exposure limit for `systemd-analyze security`: the unit sets the system clock and writes the clock chip."""


def is_clock_set(now: float, root: Path = Path("/")) -> bool:
    """Return False if the time `now`, s since 1970, merely continues from the last start.

    The clock counts as set after an answer of a time server or a clock chip, or by the staff. If systemd-timesyncd is
    not in use, any plausible time is accepted: other programs leave no mark.
    """
    with suppress(OSError):
        if now < Path(__file__).stat().st_mtime:
            return False
    timesync = root / "run/systemd/timesync"
    marks = (timesync / "synchronized", root / SET_BY_STAFF.relative_to("/"))
    if any(mark.exists() for mark in marks) or not timesync.is_dir():
        return True
    for path in (root / "sys/class/rtc").glob("rtc*/hctosys"):
        with suppress(OSError):
            if path.read_text("utf-8").strip() == "1":
                return True
    return False


def path_unit() -> str:
    """Return the unit that watches for the request."""
    return f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, the staff sets the clock

[Path]
PathExists={RUN / REQUEST}

[Install]
WantedBy=multi-user.target
"""


def service_unit() -> str:
    """Return the unit that sets the clock and the clock chip, if there is one, and deletes the request."""
    file = RUN / REQUEST
    # the service can write anything to this file: accept only digits
    script = (
        f't="$$(head -c 12 {file})"; rm -f {file}; case "$$t" in ""|*[!0-9]*) exit 1;; esac; '
        f'date --utc --set="@$$t"; touch {SET_BY_STAFF}; test ! -e /dev/rtc0 || hwclock --systohc --utc --noadjfile'
    )
    return f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, set the clock as the staff says
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/bin/sh -ec '{script}'
ProtectSystem=strict
ReadWritePaths=/run
ProtectHome=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateNetwork=yes
PrivateIPC=yes
DevicePolicy=closed
DeviceAllow=char-rtc rw
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_SYS_TIME
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service @clock
UMask=0022
"""
