"""The visitors' screen of an installation: Chromium alone in cage, as a service beside the table's.

The browser runs as a user of its own, may reach only this machine's page, and deletes all data when it ends. It starts
with a page on the disk, which waits for the installation's page. Rejected: X11 with a window manager (more of
everything), WPE's cog (missing on some Debian versions).
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from pi_controller.config import Settings
from pi_controller.display.i18n import catalogue, resolve_language
from pi_controller.system import clock
from pi_controller.system.files import atomic_write
from pi_controller.system.install import RUN, Change, Link, WholeFile, quote_path, read
from pi_controller.system.place import NAME, RESET_REQUEST, RESETS, SYSTEM_UNITS, Place
from pi_controller.system.status import CALL, FILE, SCREEN_RESTART
from pi_controller.web.templates import render

# The units that restart the screen at the installation's request: a file is the only thing it may create for this.
#
# Rejected: a polkit rule for the service's user (one more daemon, and it could start and stop at will), a timer that
# polls the page every minute (one more process each minute, for an event once in months).


SERVICE = SYSTEM_UNITS / f"{NAME}-kiosk-restart.service"
PATH = SERVICE.with_suffix(".path")
ASKED = SCREEN_RESTART
"""Name of the request file in the service's run folder."""
RESTART_MAX_EXPOSURE = 2.0
"""Exposure limit for `systemd-analyze security`."""


def path_unit() -> str:
    """Return the unit that watches for the request."""
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
    """Return the unit that restarts the screen's unit `kiosk` if it runs, and deletes the request."""
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


def restart_request_path(folder: str) -> Path | None:
    """Return the path of the request file; `folder` is the service's run folder from systemd, "" for none."""
    return Path(folder) / ASKED if folder else None


# The units of a reset: one watches for the staff's request and accepts it, one carries out an accepted reset when the
# machine starts.


RESET_UNIT = SYSTEM_UNITS / f"{NAME}-reset.service"
RESET_REQUEST_UNIT = SYSTEM_UNITS / f"{NAME}-reset-request.service"
RESET_PATH = RESET_REQUEST_UNIT.with_suffix(".path")
RESET_MAX_EXPOSURE = 3.0
"""Exposure limit for `systemd-analyze security`: the units read and remove files of the service's user."""
_RESET_SANDBOX = """\
ProtectSystem=strict
ReadWritePaths={writable}
ProtectHome=yes
PrivateTmp=yes
PrivateNetwork=yes
DevicePolicy=closed
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
"""
_RESET_REQUEST_TEXT = f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, accept the reset that the staff requested

[Service]
Type=oneshot
ExecStart={{program}} reset --requested
# also after a failure: the request must not start this unit again
ExecStopPost=/bin/rm -f {RUN / RESET_REQUEST}
TimeoutStartSec=180
{_RESET_SANDBOX}"""
_RESET_TEXT = f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, a reset that was accepted
DefaultDependencies=no
ConditionPathExists={RESETS}/pending
RequiresMountsFor={{folders}}
After=local-fs.target boot-firmware.mount systemd-tmpfiles-setup.service
Before=moccasin-mat-card.service moccasin-mat.service shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={{program}} reset --settle
TimeoutStartSec=180
PrivateDevices=yes
{_RESET_SANDBOX}
[Install]
WantedBy=multi-user.target
"""


def reset_path_unit() -> str:
    """Return the unit that watches for the staff's request of a reset."""
    return f"""\
# Written by 'moccasin-mat setup --kiosk'.
[Unit]
Description=Moccasin Mat, the staff requests a reset

[Path]
PathExists={RUN / RESET_REQUEST}

[Install]
WantedBy=multi-user.target
"""


def reset_request_unit(place: Place) -> str:
    """Return the unit that accepts the requested reset and restarts the machine, and deletes the request."""
    writable = f"{quote_path(place.settings_folder)} -{RUN}"
    return _RESET_REQUEST_TEXT.format(program=quote_path(place.program), writable=writable)


def reset_unit(place: Place, written: Iterable[Path]) -> str:
    """Return the unit that carries out an accepted reset; `written` are the service's additional writable folders."""
    own = [place.settings_folder, place.state]
    beyond = sorted({path for path in written if not any(path.is_relative_to(one) for one in own)})
    return _RESET_TEXT.format(
        program=quote_path(place.program),
        folders=" ".join(map(quote_path, own)),
        # a folder removed since must not keep the unit from starting
        writable=" ".join([*map(quote_path, own), *(f"-{quote_path(path)}" for path in beyond)]),
    )


def reset_request_path(folder: str) -> Path | None:
    """Return the path of the request file in the service's run folder `folder`; None if no unit watches for it."""
    return Path(folder) / RESET_REQUEST if folder and RESET_PATH.exists() else None


KEEP, ERASE = b"keep", b"erase"
"""Contents of a request: the old files are put aside, or erased."""


def request_reset(path: Path, *, erased: bool) -> None:
    """Write the staff's request for a reset to `path`, which the machine watches. Raises `OSError`."""
    atomic_write(path, ERASE if erased else KEEP)


KIOSK = f"{NAME}-kiosk"
UNIT = SYSTEM_UNITS / f"{KIOSK}.service"
SYSUSERS = Path(f"/etc/sysusers.d/{KIOSK}.conf")
WAITING = Path("/usr/local/share") / NAME / "kiosk.html"
FIRST_SIGN = WAITING.with_name("first-sign.py")
"""Program that waits for the first request of the page on the disk."""
SIGN_PORT = 8079
FIRST_SIGN_TIMEOUT_S = 60
"""Time for the browser's first request, s; then it is restarted with twice the time, at most four times SIGN_S."""
POLICY = Path("/etc/chromium/policies/managed") / f"{NAME}.json"
STARTED = (RESET_UNIT, RESET_PATH, PATH, clock.PATH, UNIT)
"""Units that start with the machine."""
RUNNING = Path("/run") / KIOSK
"""Exists while the screen's unit runs."""
PROGRAMS = {
    "cage": Path("/usr/bin/cage"),
    "chromium": Path("/usr/bin/chromium"),
    "seatd": Path("/usr/sbin/seatd"),
    # Debian 12's cage does not start without it; it is not used otherwise
    "xwayland": Path("/usr/bin/Xwayland"),
}
"""Paths of the required programs by Debian package."""
MAX_EXPOSURE = 6.0
"""Exposure limit for `systemd-analyze security`: a browser compiles code at run time and makes a namespace sandbox."""
_PAGE = Path(__file__).with_name("kiosk.html")

_FEATURES = (
    "Translate",
    "MediaRouter",
    "OptimizationHints",
    "AutofillServerCommunication",
    # the page on the disk polls for the installation's page
    "LocalNetworkAccessChecks",
    # the address bar's list is a page of its own, with 160 MB and a fifth of the start, on a screen without one
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # the on-device model service: Chromium starts it to measure the machine, but it is not used here
    "OnDeviceModelFetchPerformanceClassEveryStartup",
    "OnDeviceModelPerformanceParams",
    "OnDeviceModelBackgroundDownload",
    "OptimizationGuideModelExecution",
    "OptimizationGuideOnDeviceModel",
)
"""Chromium features to switch off; Chromium ignores unknown names."""
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
# Written by 'moccasin-mat setup --kiosk'; put your own changes in a drop-in file: systemctl edit {kiosk}
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
# the card turns the picture by it (display.py)
Environment=CAGE_OPTIONS=
ExecStart={command}
# a browser whose page gives no sign of life is ended here, and started anew
ExecStartPost=/usr/bin/python3 -I {first_sign} {sign}
TimeoutStartSec={longest}
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

_FIRST_SIGN = """\
# Written by 'moccasin-mat setup --kiosk': wait until the page on the disk asks at port N; end with 1 if it does not.
import contextlib
import os
import socket
import subprocess
import sys
import time

SOON_S = 1800


def waiting_s():
    # a machine that has just been switched on may be slow: after each time in vain it has longer
    command = ["systemctl", "show", "--value", "--property=NRestarts", "{kiosk}.service"]
    restarts = 0
    if time.monotonic() < SOON_S:
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            restarts = int(subprocess.run(command, capture_output=True, text=True, timeout=5).stdout)
    return {wait} * 2 ** min(restarts, 2)


try:
    port = socket.create_server(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    print(f"<4>nothing waits for the screen's first sign of life: {{error}}", file=sys.stderr)
    sys.exit(0)
port.settimeout(1)
ends = time.monotonic() + waiting_s()
while time.monotonic() < ends:
    try:
        port.accept()
        sys.exit(0)
    except TimeoutError:
        if not os.path.exists("/proc/" + os.environ["MAINPID"]):
            break  # a browser that has ended is not waited for
print("<4>the screen gave no sign of life and is started anew", file=sys.stderr)
sys.exit(1)
"""


def is_set_up(place: Place) -> bool:
    """Return True if the screen is already set up here."""
    return place.system and place.on_disk(UNIT).exists()


def shown_port(place: Place) -> int | None:
    """Return the port of the page on the screen set up here; None if there is no screen."""
    found = re.search(r"#http://127\.0\.0\.1:([0-9]+)/", read(place.on_disk(UNIT)) or "")
    return int(found[1]) if found else None


def changes(place: Place, settings: Settings, written: Iterable[Path] = ()) -> list[Change]:
    """Return the files of the visitors' screen; `written` are the service's additional writable folders."""
    return [
        WholeFile(
            SYSUSERS,
            f"# Written by 'moccasin-mat setup --kiosk'.\nu {KIOSK} - \"Moccasin Mat's screen\" /run/{KIOSK}\n",
        ),
        WholeFile(WAITING, waiting_page(settings)),
        WholeFile(FIRST_SIGN, _FIRST_SIGN.format(kiosk=KIOSK, wait=FIRST_SIGN_TIMEOUT_S)),
        WholeFile(POLICY, policy(settings.web.port)),
        WholeFile(UNIT, kiosk_unit(settings.web.port)),
        WholeFile(RESET_UNIT, reset_unit(place, written)),
        WholeFile(RESET_PATH, reset_path_unit()),
        WholeFile(RESET_REQUEST_UNIT, reset_request_unit(place)),
        WholeFile(PATH, path_unit()),
        WholeFile(SERVICE, service_unit(KIOSK)),
        WholeFile(clock.PATH, clock.path_unit()),
        WholeFile(clock.SERVICE, clock.service_unit()),
        *(Link(unit.parent / "multi-user.target.wants" / unit.name, unit) for unit in STARTED),
    ]


def notes(place: Place, settings: Settings, *, small: bool) -> list[str]:
    """Return notes for the user: missing packages, a missing page, or a machine too `small` for a browser."""
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
    return _UNIT.format(
        kiosk=KIOSK,
        command=f"{PROGRAMS['cage']} $CAGE_OPTIONS -d -- {browser}",
        first_sign=FIRST_SIGN,
        sign=sign_port(port),
        longest=FIRST_SIGN_TIMEOUT_S * 4 + 30,
    )


def sign_port(port: int) -> int:
    """Return the local port that waits for the browser's first request; it differs from the page's own `port`."""
    return SIGN_PORT if port != SIGN_PORT else SIGN_PORT + 1


def address(port: int) -> str:
    """Return the page's address on this machine."""
    return f"http://127.0.0.1:{port}/"


def waiting_page(settings: Settings, fault: Path = RUN / FILE) -> str:
    """Return the page shown until the installation's page answers; it displays the text in the file `fault`."""
    language = resolve_language(settings.exhibit.languages[0])
    text = catalogue(language).gettext
    return render(
        _PAGE,
        language,
        lead=text("One moment, please."),
        under=text("It will restart by itself."),
        fault=f"file://{fault}",
        call=CALL,
        sign=sign_port(settings.web.port),
    )


def policy(port: int) -> str:
    """Return the browser's policy: access to the installation's page only, without audio, video, prompts or storage."""
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
        "GenAILocalFoundationalModelSettings": 1,
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
