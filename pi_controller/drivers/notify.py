"""systemd notifications (sd_notify): ready, watchdog, status, stopping. Does nothing without a service manager.

Our own few lines. Passed over: systemd-watchdog 1.0 (goes by the wall's clock, which jumps when the network tells a Pi
the time: after a jump back it is silent until the table is killed), sdnotify 0.3 (of 2017, knows no watchdog),
systemd-python and cysystemd (compiled).
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FEEDS = 4
"""The watchdog is fed so often in the time after which it bites: it may miss a few."""


class Notifier:
    """Datagrams to the socket `address` ("" for none, "@" first for an abstract one).

    `watchdog_s` is the time after which the watchdog bites, 0 for none. Failing to send is no error: then it bites.
    """

    def __init__(self, address: str = "", watchdog_s: float = 0.0) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None
        if self._socket is not None:
            self._socket.setblocking(False)  # the game does not wait for who looks after it
        self._every_s = watchdog_s / FEEDS
        self._fed = float("-inf")
        self._status = ""
        self._ready = False

    @property
    def managed(self) -> bool:
        """Whether a service manager has started this, and listens."""
        return self._socket is not None

    def ready(self) -> None:
        """Say that the service has started; sent once."""
        self._ready = self._ready or self._send("READY=1")

    def feed(self, t: float) -> None:
        """Say at `t` (seconds on a clock that never jumps) that the work goes on; sent no oftener than is needed."""
        if self._every_s > 0 and t - self._fed >= self._every_s and self._send("WATCHDOG=1"):
            self._fed = t

    def status(self, line: str) -> None:
        """Say in one line how it is; sent when it changed."""
        if line != self._status and self._send(f"STATUS={line}"):
            self._status = line

    def stopping(self) -> None:
        """Say that the service is about to end."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Give the socket back."""
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
    """Return the notifier that the service manager asks for; one that says nothing where there is none."""
    usec, meant = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    mine = meant in {"", str(os.getpid() if pid is None else pid)}
    return Notifier(environment.get("NOTIFY_SOCKET", ""), int(usec) / 1e6 if usec.isdigit() and mine else 0.0)
