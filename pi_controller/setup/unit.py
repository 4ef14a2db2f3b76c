"""The service's unit: started with the machine, watched by the game loop itself, allowed no more than a table needs.

What stands here and what is left out was tried; hardware/INSTALL.md says how.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.setup.place import NAME, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.setup.place import Place

RUN = Path("/run") / NAME
"""Where the installation's service leaves what it asks of the machine; gone when it ends."""
WATCHDOG_S = 10
"""The loop turns a hundred times a second; a bad card may hold one write of the journal for seconds."""
GROUPS = ("dialout", "gpio", "spi", "i2c")
"""Who may open the board's port, the pins, and the buses of strips and sensors on the Pi's own pins."""

_HEAD = """\
# Written by 'moccasin-mat setup'; changes of your own belong into a drop-in: systemctl {user}edit moccasin-mat
[Unit]
Description=Moccasin Mat, {what}
After=network.target
# a table comes back however often it has to
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart={program} {verb} --settings {settings}
WorkingDirectory={state}
# the game loop feeds the watchdog: a loop that hangs is ended, with where it hung in the log, and resumes its journal
WatchdogSec={watchdog}
Environment=PYTHONFAULTHANDLER=1
# a thousand phones that watch, and all that the table has open itself
LimitNOFILE=4096
LimitCORE=0
# the chances of winning are solved before the table opens
TimeoutStartSec=180
TimeoutStopSec=15
Restart=always
RestartSec=3
# or Blinka may want to run pip
Environment=BLINKA_SKIP_DEPENDENCY_CHECK=1
UMask=0027
"""
# What the kernel holds without any privilege: also in a user's own service.
_CONFINED = """
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
"""
# Left out: ProcSubset=pid and PrivateDevices (the drivers read the Pi's model in /proc/device-tree and open devices),
# PrivateUsers (groups open the devices), PrivateNetwork and IPAddressDeny (the page is for the hall to see).
_SYSTEM = """
User={name}
Group={name}
SupplementaryGroups={groups}
StateDirectory={name}
StateDirectoryMode=0750
{runtime}CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome={home}
{writable}PrivateTmp=yes
PrivateIPC=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
KeyringMode=private
DevicePolicy=closed
# the board (ttyACM), SPI and I2C by number: by name they must be there when the service starts
DeviceAllow=char-166 rw
DeviceAllow=char-153 rw
DeviceAllow=char-89 rw
DeviceAllow=char-gpiochip rw
DeviceAllow=/dev/gpiomem rw
DeviceAllow=/dev/pio0 rw
"""
_TAIL = """
[Install]
WantedBy={target}.target
"""


def unit(place: Place, written: Iterable[Path] = (), *, exhibit: bool = False) -> str:
    """Return the unit's text. `written` are folders beyond its own that the settings have it write.

    `exhibit` runs the installation in place of a table.
    """
    beyond = sorted(path for path in set(written) if not path.is_relative_to(place.state))
    at_home = any(_at_home(path) for path in (place.program, place.settings, *beyond))
    text = _HEAD.format(
        what="an installation" if exhibit else "one table",
        verb="exhibit" if exhibit else "run",
        user="" if place.system else "--user ",
        program=word(place.program),
        settings=word(place.settings),
        state=_plain(place.state),
        watchdog=WATCHDOG_S,
    )
    text += _CONFINED
    if place.system:
        text += _SYSTEM.format(
            name=NAME,
            runtime=f"RuntimeDirectory={RUN.name}\n" if exhibit else "",
            groups=" ".join(GROUPS),
            home="read-only" if at_home else "yes",
            writable="".join(f"ReadWritePaths={word(path)}\n" for path in beyond),
        )
    return text + _TAIL.format(target="multi-user" if place.system else "default")


def word(path: Path) -> str:
    """Return `path` as one word of a unit; `SetupError` where a unit cannot hold it."""
    return f'"{_plain(path)}"' if " " in str(path) else _plain(path)


def _plain(path: Path) -> str:
    if not str(path).isprintable() or set(str(path)) & set("\"'\\$"):
        raise SetupError(f"the path {str(path)!r} cannot stand in a unit", "install it in a folder with a plain name")
    return str(path).replace("%", "%%")


def _at_home(path: Path) -> bool:
    return path.parts[:2] in {("/", "home"), ("/", "root")}
