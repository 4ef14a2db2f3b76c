"""Fault channel: one small file in /run that says why the table or the exhibit does not run.

The service writes it if it cannot start; the card's `moccasin-mat-fault.service` writes it if a unit that the service
needs has failed. The start page on the machine's own screen loads the file as a script, and the text screen reads it.
The service removes it once it is ready. The file holds no secrets, because visitors can read the screen.
"""

import errno
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from pi_controller import __version__
from pi_controller.errors import MatError, SettingsError, describe_error
from pi_controller.host.files import atomic_write

log = logging.getLogger(__name__)

FILE = "fault.js"
SCREEN_RESTART = "restart-kiosk"
"""File in the same folder that requests a restart of the machine's own screen."""
SCREEN_ON = "switch-on-kiosk"
"""File in the same folder that requests that the machine's own screen is started."""
SCREEN_IS_OFF = "kiosk-is-off"
"""File that exists while the installation has switched that screen off; a start of the machine forgets it."""
WAS_READY = "was-ready"
"""File that exists if visitors' page was served since the screen last returned to its start page."""
CALL = "showFault"
"""The function of the start page that the script calls."""
RESULTS = {
    "watchdog": "the game loop hung",
    "exit-code": "it ended with an error",
    "timeout": "it did not start in time",
    "oom-kill": "there was too little memory",
}
"""Reasons why the service does not run, by systemd's service result."""
CARD_FAULTS = Path("/run/moccasin-mat-card/faults")
"""Faults in the files that a laptop writes on the card, one a line; the last valid files stay in use."""
POWER_CYCLE_HINT = "Switch the machine off and on once."
SETTINGS_HINT = "Correct table.toml (on a card: on its drive MAT), then switch the machine off and on."
NEW_CARD = "If this page comes back, put in the spare card or write a new one. Keep this card: games are on it."


class StartFault(msgspec.Struct, frozen=True):
    """A start fault: `message` and `hint` are one line each; `card` is "" if the disk has no id."""

    code: str
    message: str
    hint: str
    since: str
    version: str = __version__
    card: str = ""


class FaultChannel:
    """Writes and reads the fault file in `folder`; None writes no file. No method raises, so that a fault cannot cause
    another.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def write(self, code: str, message: str, hint: str, t: float) -> None:
        """Write a fault found at `t`, s since 1970. A fault that is already there keeps its time and its file."""
        before = self.read()
        if self._folder is None or (before and (before.code, before.message, before.hint) == (code, message, hint)):
            return
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(t))
        content = msgspec.json.encode(StartFault(code, message, hint, since, __version__, card_id()))
        try:
            atomic_write(self._folder / FILE, b"%s(%s);\n" % (CALL.encode(), content), 0o644)
        except OSError as error:
            log.warning("the fault cannot be shown on the screen: %s", describe_error(error))

    def read(self) -> StartFault | None:
        """Return the current fault; None if there is none or it cannot be read."""
        if self._folder is None:
            return None
        with suppress(OSError, msgspec.MsgspecError):
            content = (self._folder / FILE).read_bytes().strip()
            return msgspec.json.decode(content.removeprefix(CALL.encode() + b"(").removesuffix(b");"), type=StartFault)
        return None

    def clear(self) -> None:
        """Remove the fault: the service is ready and shows its own page."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / FILE).unlink(missing_ok=True)
                (self._folder / WAS_READY).touch()

    def restart_screen(self) -> None:
        """Send a screen that showed the service's page back to the start page on the disk, once.

        A screen that the installation had switched off is started.
        """
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / WAS_READY).unlink()
                (self._folder / SCREEN_RESTART).touch()
            with suppress(OSError):
                (self._folder / SCREEN_IS_OFF).unlink()
                (self._folder / SCREEN_ON).touch()


def own_channel(environment: Mapping[str, str] = os.environ) -> FaultChannel:
    """Return the channel in the service's run folder (RUNTIME_DIRECTORY); without that variable it writes no file."""
    folder = environment.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return FaultChannel(Path(folder) if folder else None)


@contextmanager
def report_start_faults(channel: FaultChannel) -> Iterator[None]:
    """Write the error that ends the service into `channel`, then raise it again."""
    try:
        yield
    except Exception as error:
        channel.write(*describe(error), time.time())
        channel.restart_screen()
        raise


def describe(error: Exception) -> tuple[str, str, str]:
    """Return code, message and hint of an error. Of invalid settings it gives only the places: a value may be a
    password.
    """
    if isinstance(error, SettingsError):
        places = "; ".join(error.places)
        return error.code, f"The settings cannot be used: {places}", f"{SETTINGS_HINT} {error.hint}".strip()
    if isinstance(error, MatError):
        return error.code, error.message, error.hint or POWER_CYCLE_HINT
    number = error.errno if isinstance(error, OSError) else None
    text = str(error) if isinstance(error, sqlite3.Error) else ""
    if number in {errno.ENOSPC, errno.EDQUOT} or "disk is full" in text:
        return "disk_full", "The disk is full.", "Remove old recordings, or use a larger card."
    if number == errno.EROFS or "readonly" in text:
        return "read_only", "The disk has become read-only.", f"{POWER_CYCLE_HINT} {NEW_CARD}"
    if number == errno.EIO or "disk I/O" in text:
        return "disk_error", "The disk cannot be read or written.", f"{POWER_CYCLE_HINT} {NEW_CARD}"
    what = f"The program stopped because of an internal error ({type(error).__name__})."
    return "program", what, f"{POWER_CYCLE_HINT} If this page comes back, tell your support person."


def card_id(device: int | None = None, links: Path = Path("/dev/disk/by-partuuid")) -> str:
    """Return the id of the disk that the system runs from, eight characters; "" if it cannot be found.

    The id is in the disk's partition table, so it is the same even if no partition can be read. `device` is the device
    number of the root file system.
    """
    with suppress(OSError):
        wanted = Path("/").stat().st_dev if device is None else device
        for link in sorted(links.iterdir()):
            if link.stat().st_rdev == wanted:
                return link.name[:8]
    return ""
