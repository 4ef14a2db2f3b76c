"""The units by which the installation has its screen started anew: a file that it makes, and nothing else it may do.

Passed over: a rule of polkit's for the service's user (a daemon more, and it could start and stop at will), a timer
that asks the page every minute (a program more each minute, for what happens once in months).
"""

from __future__ import annotations

from pathlib import Path

from pi_controller.setup.place import NAME, SYSTEM_UNITS
from pi_controller.setup.unit import RUN

SERVICE = SYSTEM_UNITS / f"{NAME}-kiosk-restart.service"
PATH = SERVICE.with_suffix(".path")
ASKED = "restart-kiosk"
"""The file in the service's run folder."""
MOST_EXPOSED = 2.0
"""What `systemd-analyze security` may find."""


def path_unit() -> str:
    """Return the unit that waits for the file."""
    return f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, the visitors' page does not ask any more

[Path]
PathExists={RUN / ASKED}

[Install]
WantedBy=multi-user.target
"""


def service_unit(kiosk: str) -> str:
    """Return the unit that starts the screen's unit `kiosk` anew where it runs, and takes the file away."""
    return f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, start the visitors' screen anew
# the installation asks three times an hour at most, and goes by no limit of this unit's
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/bin/rm -f {RUN / ASKED}
ExecStart=/bin/systemctl --no-block try-restart {kiosk}.service
ProtectSystem=strict
ReadWritePaths=-{RUN}
ProtectHome=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateNetwork=yes
PrivateDevices=yes
PrivateIPC=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
# the folder is the service's, and root without this may take nothing out of it
CapabilityBoundingSet=CAP_DAC_OVERRIDE
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
UMask=0077
"""


def asked(folder: str) -> Path | None:
    """Return the file by which the service asks; `folder` is its run folder as systemd names it, "" for none."""
    return Path(folder) / ASKED if folder else None
