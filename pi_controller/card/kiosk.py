"""The visitors' screen of an installation: Chromium alone in cage, as a service beside the table's.

The browser runs as a user of its own, may reach only this machine's page, and deletes all data when it ends. It starts
with a page on the disk, which waits for the installation's page. While the installation is closed the unit is stopped
and the display's signal is off (`exhibit.screen_power`). Rejected: X11 with a window manager (more of everything),
WPE's cog (missing on some Debian versions).
"""

import re
from pathlib import Path

from pi_controller.card.changes import Change, LinkFile, WholeFile, read
from pi_controller.card.service_unit import RUN, fill_in
from pi_controller.config import Settings
from pi_controller.display.i18n import resolve_language, translator
from pi_controller.host.machine_health import CLOCK_SET_BY_STAFF
from pi_controller.host.place import NAME, SYSTEM_UNITS, Place
from pi_controller.host.request import CLOCK, KIOSK, OFF, ON, RESTART, Request
from pi_controller.host.status import CALL, FILE
from pi_controller.web.templates import render


def watching_unit(request: Request) -> str:
    """Return the text of the unit that watches for the request's file."""
    return fill_in("request.path", purpose=request.purpose, request=RUN / request.file)


def serving_unit(request: Request, **values: object) -> str:
    """Return the text of the unit that fulfils the request."""
    return fill_in(f"{request.units}.service", request=RUN / request.file, **values)


def restart_unit() -> str:
    """Return the unit that restarts the screen if it runs, and deletes the request."""
    return serving_unit(RESTART, purpose="restart the visitors' screen", verb="try-restart", kiosk=KIOSK, run=RUN)


def off_unit() -> str:
    """Return the unit that stops the screen, switches the display's signal off, and deletes the request."""
    return serving_unit(OFF, kiosk=KIOSK, run=RUN)


def on_unit() -> str:
    """Return the unit that starts the screen, which switches the display's signal on, and deletes the request."""
    return fill_in(
        "kiosk-restart.service",
        request=RUN / ON.file,
        purpose="switch the visitors' screen on",
        verb="start",
        kiosk=KIOSK,
        run=RUN,
    )


def clock_unit() -> str:
    """Return the unit that takes digits for a time, sets the clock and a clock chip, and deletes the request."""
    return serving_unit(CLOCK, mark=CLOCK_SET_BY_STAFF)


UNIT = SYSTEM_UNITS / f"{KIOSK}.service"
SYSUSERS = Path(f"/etc/sysusers.d/{KIOSK}.conf")
WAITING = Path("/usr/local/share") / NAME / "kiosk.html"
FIRST_SIGN = WAITING.with_name("first-sign.py")
"""Program that waits for the first request of the page on the disk."""
SIGN_PORT = 8079
FIRST_SIGN_TIMEOUT_S = 60
"""Time for the browser's first request, s; then it is restarted with twice the time, at most four times SIGN_S."""
POLICY = Path("/etc/chromium/policies/managed") / f"{NAME}.json"
STARTED = (RESTART.path, OFF.path, ON.path, CLOCK.path, UNIT)
"""Units that start with the machine."""
PROGRAMS = {
    "cage": Path("/usr/bin/cage"),
    "chromium": Path("/usr/bin/chromium"),
    "seatd": Path("/usr/sbin/seatd"),
    # Debian 12's cage does not start without it; it is not used otherwise
    "xwayland": Path("/usr/bin/Xwayland"),
}
"""Paths of the required programs by Debian package."""
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
    # a slow machine is not a hanging one: the page's own sign of life decides
    "--disable-gpu-watchdog",
    "--ipc-connection-timeout=60",
    "--no-pings",
    "--password-store=basic",
    f"--disable-features={','.join(_FEATURES)}",
)


def is_set_up(place: Place) -> bool:
    """Return True if the screen is already set up here."""
    return place.on_disk(UNIT).exists()


def shown_port(place: Place) -> int | None:
    """Return the port of the page on the screen set up here; None if there is no screen."""
    found = re.search(r"#http://127\.0\.0\.1:([0-9]+)/", read(place.on_disk(UNIT)) or "")
    return int(found[1]) if found else None


def changes(settings: Settings) -> list[Change]:
    """Return the files of the visitors' screen."""
    return [
        WholeFile(
            SYSUSERS,
            f"# Written by 'moccasin-mat service install'.\nu {KIOSK} - \"Moccasin Mat's screen\" /run/{KIOSK}\n",
        ),
        WholeFile(WAITING, waiting_page(settings)),
        WholeFile(FIRST_SIGN, fill_in("first-sign.py.in", kiosk=KIOSK, wait=FIRST_SIGN_TIMEOUT_S)),
        WholeFile(POLICY, policy(settings.web.port)),
        WholeFile(UNIT, kiosk_unit(settings.web.port)),
        WholeFile(RESTART.path, watching_unit(RESTART)),
        WholeFile(RESTART.service, restart_unit()),
        WholeFile(OFF.path, watching_unit(OFF)),
        WholeFile(OFF.service, off_unit()),
        WholeFile(ON.path, watching_unit(ON)),
        WholeFile(ON.service, on_unit()),
        WholeFile(CLOCK.path, watching_unit(CLOCK)),
        WholeFile(CLOCK.service, clock_unit()),
        *(LinkFile(unit.parent / "multi-user.target.wants" / unit.name, unit) for unit in STARTED),
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
    return fill_in(
        "kiosk.service",
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
    tr = translator(resolve_language(settings.exhibit.languages[0]))
    return render(
        _PAGE,
        tr,
        lead=tr.text("One moment, please."),
        under=tr.text("It will restart by itself."),
        fault=f"file://{fault}",
        call=CALL,
        sign=sign_port(settings.web.port),
    )


def policy(port: int) -> str:
    """Return the browser's policy: access to the installation's page only, without audio, video, prompts or storage."""
    return fill_in("chromium-policy.json", page=address(port).removesuffix("/"), waiting=f"file://{WAITING}")
