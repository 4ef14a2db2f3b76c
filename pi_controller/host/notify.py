"""systemd notifications (sd_notify): ready, watchdog, status, stopping. Without a service manager it has no effect.

Not used: systemd-watchdog 1.0 (uses the wall clock, which jumps when a Pi gets the network's time; after a jump back
it is silent until the table is killed), sdnotify 0.3 (of 2017, without watchdog), systemd-python and cysystemd
(compiled).
"""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pi_controller.host.status import FaultChannel, own_channel

FEEDS = 4
"""Watchdog notifications per timeout, so that a few may be missed."""


class Notifier:
    """Sends datagrams to the socket `address` ("" for none, a leading "@" for an abstract one).

    `watchdog_s` is the watchdog's timeout, 0 for none. A failure to send is ignored: then the watchdog acts. `faults`
    has the reason of a failed start; it is cleared when the service is ready.
    """

    def __init__(self, address: str = "", watchdog_s: float = 0.0, faults: FaultChannel | None = None) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None
        if self._socket is not None:
            self._socket.setblocking(False)  # the game does not wait for the service manager
        self._every_s = watchdog_s / FEEDS
        self._fed = float("-inf")
        self._status = ""
        self._ready = False
        self._faults = faults

    @property
    def managed(self) -> bool:
        """True if a service manager started this program and listens."""
        return self._socket is not None

    def ready(self) -> None:
        """Notify that the service has started; sent once."""
        if not self._ready and self._send("READY=1"):
            self._ready = True
            if self._faults is not None:
                self._faults.clear()

    def feed(self, t: float) -> None:
        """Feed the watchdog at `t` (seconds on a monotonic clock); sent no more often than needed."""
        if self._every_s > 0 and t - self._fed >= self._every_s and self._send("WATCHDOG=1"):
            self._fed = t

    def status(self, line: str) -> None:
        """Send the status `line` if it changed."""
        if line != self._status and self._send(f"STATUS={line}"):
            self._status = line

    def stopping(self) -> None:
        """Notify that the service is about to end."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, text: str) -> bool:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.sendto(text.encode(), self._address)
                return True
        return False


def from_environment(environment: Mapping[str, str] = os.environ, pid: int | None = None) -> Notifier:
    """Return the notifier configured by the service manager's variables; an inactive one without them."""
    usec, meant = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    mine = meant in {"", str(os.getpid() if pid is None else pid)}
    watchdog_s = int(usec) / 1e6 if usec.isdigit() and mine else 0.0
    return Notifier(environment.get("NOTIFY_SOCKET", ""), watchdog_s, own_channel(environment))


def save_last_line(folder: Path, line: str) -> None:
    """Save the result of an update for the staff page."""
    if folder.is_dir():
        (folder / "last").write_text(f"{line}\n", "utf-8")


def last_line(folder: Path) -> str:
    """Return the result of the last update, "" for none."""
    try:
        return (folder / "last").read_text("utf-8")[:300].strip()
    except (OSError, UnicodeError):
        return ""
