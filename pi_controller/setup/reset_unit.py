"""The unit that does a reset which was accepted, when the machine starts, and makes the number of the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.setup.place import NAME, RESETS, SYSTEM_UNITS
from pi_controller.setup.unit import word

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_controller.setup.place import Place

UNIT = SYSTEM_UNITS / f"{NAME}-reset.service"
MOST_EXPOSED = 3.0
"""What `systemd-analyze security` may find: it removes what belongs to the service's user."""
_TEXT = """\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, a reset that was accepted
DefaultDependencies=no
# at any other start there is nothing to do
ConditionPathExists=|{resets}/pending
ConditionPathExists=|!{resets}/number
RequiresMountsFor={folders}
After=local-fs.target boot-firmware.mount systemd-tmpfiles-setup.service
Before=moccasin-mat-card.service moccasin-mat.service shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={program} reset --settle
TimeoutStartSec=180
ProtectSystem=strict
ReadWritePaths={writable}
ProtectHome=yes
PrivateTmp=yes
PrivateNetwork=yes
PrivateDevices=yes
ProtectControlGroups=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_OVERRIDE
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
MemoryDenyWriteExecute=yes

[Install]
WantedBy=multi-user.target
"""


def reset_unit(place: Place, written: Iterable[Path]) -> str:
    """Return the unit's text; `written` are the folders that the service writes beside its own."""
    own = [place.settings_folder, place.state]
    beyond = sorted({path for path in written if not any(path.is_relative_to(one) for one in own)})
    return _TEXT.format(
        program=word(place.program),
        resets=RESETS,
        folders=" ".join(map(word, own)),
        # what has gone since is no reason not to start
        writable=" ".join([*map(word, own), *(f"-{word(path)}" for path in beyond)]),
    )
