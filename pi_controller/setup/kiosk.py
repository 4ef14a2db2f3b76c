"""The visitors' screen of an installation: Chromium alone on it, in cage, as a service beside the table's.

The browser is a user of its own, may reach this machine's page and nothing else, and forgets everything when it ends.
It begins with a page on the disk, which waits for the installation's page. Passed over: X11 with a window manager (more
of everything), WPE's cog (not on every Debian).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.setup import kiosk_restart
from pi_controller.setup.changes import Link, WholeFile, read
from pi_controller.setup.place import NAME, SYSTEM_UNITS
from pi_controller.setup.reset_unit import UNIT as RESET
from pi_controller.setup.reset_unit import reset_unit
from pi_controller.show.i18n import catalogue, chosen
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.setup.changes import Change
    from pi_controller.setup.place import Place
    from pi_controller.table.settings import Settings

KIOSK = f"{NAME}-kiosk"
UNIT = SYSTEM_UNITS / f"{KIOSK}.service"
SYSUSERS = Path(f"/etc/sysusers.d/{KIOSK}.conf")
WAITING = Path("/usr/local/share") / NAME / "kiosk.html"
POLICY = Path("/etc/chromium/policies/managed") / f"{NAME}.json"
STARTED = (RESET, kiosk_restart.PATH, UNIT)
"""The units that start with the machine."""
RUNNING = Path("/run") / KIOSK
"""Is there while the screen's unit runs."""
PROGRAMS = {
    "cage": Path("/usr/bin/cage"),
    "chromium": Path("/usr/bin/chromium"),
    "seatd": Path("/usr/sbin/seatd"),
    # Debian 12's cage does not start where it is not there; nothing here uses it
    "xwayland": Path("/usr/bin/Xwayland"),
}
"""By the name of their package."""
MOST_EXPOSED = 6.0
"""What `systemd-analyze security` may find: a browser compiles as it runs, and makes its own sandbox of namespaces."""
_PAGE = Path(__file__).with_name("kiosk.html")

_FEATURES = (
    "Translate",
    "MediaRouter",
    "OptimizationHints",
    "AutofillServerCommunication",
    # the page on the disk looks whether the installation's page is there
    "LocalNetworkAccessChecks",
    # the address bar's list is a page of its own, with 160 MB and a fifth of the start, on a screen without one
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
"""Of Chromium's, off; it passes over names that it does not know."""
FLAGS = (
    "--kiosk",
    "--no-first-run",
    "--no-default-browser-check",
    "--noerrdialogs",
    "--incognito",
    "--disable-pinch",
    "--overscroll-history-navigation=0",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--no-pings",
    "--password-store=basic",
    f"--disable-features={','.join(_FEATURES)}",
)
_UNIT = """\
# Written by 'moccasin-mat setup --kiosk'; changes of your own belong into a drop-in: systemctl edit {kiosk}
[Unit]
Description=Moccasin Mat, the visitors' screen
# seatd gives cage the screen. A session of logind's would take more (polkit, or nobody may show it), and take the
# browser out of this unit, with its limits on memory and addresses
Requires=seatd.service
After=seatd.service
ConditionPathExists=/dev/tty0
# a machine with less (Zero 2 W, Pi 3) has strips, sound, and phones by the QR code
ConditionMemory=>=1500M
# the screen comes back however often it has to
StartLimitIntervalSec=0

[Service]
ExecStart={command}
User={kiosk}
# of seatd's socket and the screen's devices; of the graphics processor
SupplementaryGroups=video render
# forgotten with each start: no session to restore, no cache that grows
RuntimeDirectory={kiosk}
RuntimeDirectoryMode=0700
Environment=HOME=/run/{kiosk} XDG_RUNTIME_DIR=/run/{kiosk} LIBSEAT_BACKEND=seatd
# a touch screen whose cable comes late, or is out, keeps nothing from being shown
Environment=WLR_LIBINPUT_NO_DEVICES=1
Restart=always
RestartSec=3
# what a tab has leaked is gone the next day; a tab that crashed is started anew when its page does not ask any more
RuntimeMaxSec=1d
# where memory is short the screen goes before the game, and the game's turn comes first
OOMScoreAdjust=500
CPUWeight=50
MemoryMax=70%
LimitCORE=0
NoNewPrivileges=yes
# this machine's page and nothing else
IPAddressDeny=any
IPAddressAllow=localhost
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
ProtectSystem=full
ProtectHome=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
RemoveIPC=yes
UMask=0077

[Install]
WantedBy=multi-user.target
"""


def wanted_before(place: Place) -> bool:
    """Return whether the screen was set up here already."""
    return place.system and place.on_disk(UNIT).exists()


def shown_port(place: Place) -> int | None:
    """Return the port of the page that the screen set up here shows, None where no screen was set up."""
    found = re.search(r"#http://127\.0\.0\.1:([0-9]+)/", read(place.on_disk(UNIT)) or "")
    return int(found[1]) if found else None


def changes(place: Place, settings: Settings, written: Iterable[Path] = ()) -> list[Change]:
    """Return the files of the visitors' screen; `written` are the folders that the service writes beside its own."""
    return [
        WholeFile(
            SYSUSERS,
            f"# Written by 'moccasin-mat setup --kiosk'.\nu {KIOSK} - \"Moccasin Mat's screen\" /run/{KIOSK}\n",
        ),
        WholeFile(WAITING, waiting_page(settings)),
        WholeFile(POLICY, policy(settings.web.port)),
        WholeFile(UNIT, kiosk_unit(settings.web.port)),
        WholeFile(RESET, reset_unit(place, written)),
        WholeFile(kiosk_restart.PATH, kiosk_restart.path_unit()),
        WholeFile(kiosk_restart.SERVICE, kiosk_restart.service_unit(KIOSK)),
        *(Link(unit.parent / "multi-user.target.wants" / unit.name, unit) for unit in STARTED),
    ]


def notes(place: Place, settings: Settings, *, small: bool) -> list[str]:
    """Return what is to be said of the screen: packages, the page, and a machine that is too `small` for a browser."""
    found: list[str] = []
    if packages := [name for name, path in PROGRAMS.items() if not place.on_disk(path).exists()]:
        found.append(f"the visitors' screen needs: sudo apt install {' '.join(packages)}")
    if not (settings.web.enabled and settings.web.port):
        found.append(f"the visitors' screen shows a page: set [web] enabled, and a port, in {place.settings}")
    if small:
        found.append("too little memory for a browser: strips and sound play, phones by [exhibit] touch")
    return found


def kiosk_unit(port: int) -> str:
    """Return the unit of the screen that shows the page at `port`."""
    own = ("--ozone-platform=wayland", f"--user-data-dir=/run/{KIOSK}/browser")
    browser = " ".join((str(PROGRAMS["chromium"]), *own, *FLAGS, f"file://{WAITING}#{address(port)}"))
    return _UNIT.format(kiosk=KIOSK, command=f"{PROGRAMS['cage']} -d -- {browser}")


def address(port: int) -> str:
    """Return the page's address on this machine."""
    return f"http://127.0.0.1:{port}/"


def waiting_page(settings: Settings) -> str:
    """Return the page that is shown until the installation's own answers."""
    language = chosen(settings.exhibit.languages[0])
    text = catalogue(language).gettext
    return render(_PAGE, language, lead=text("One moment, please."), under=text("It comes back by itself."))


def policy(port: int) -> str:
    """Return what the browser may: the installation's page, and nothing that listens, looks, asks or keeps."""
    wanted = {
        "URLBlocklist": ["*"],
        "URLAllowlist": [address(port).removesuffix("/"), f"file://{WAITING}"],
        "AudioCaptureAllowed": False,
        "VideoCaptureAllowed": False,
        "AutofillAddressEnabled": False,
        "AutofillCreditCardEnabled": False,
        "BackgroundModeEnabled": False,
        "BrowserSignin": 0,
        "DefaultGeolocationSetting": 2,
        "DefaultNotificationsSetting": 2,
        "DefaultPopupsSetting": 2,
        "DeveloperToolsAvailability": 2,
        "DownloadRestrictions": 3,
        "MetricsReportingEnabled": False,
        "NetworkPredictionOptions": 2,
        "PasswordManagerEnabled": False,
        "PrintingEnabled": False,
        "SafeBrowsingProtectionLevel": 0,
        "SearchSuggestEnabled": False,
        "SpellcheckEnabled": False,
        "TranslateEnabled": False,
    }
    return json.dumps(wanted, indent=1) + "\n"
