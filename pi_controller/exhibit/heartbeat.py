"""The heartbeat: report the state of an installation to the host's uptime monitor every few minutes.

It is off unless the host sets an address (`[exhibit] heartbeat`). A beat contains no data of visitors, and visitors do
not affect its timing. A failed beat is not retried, because the next one follows soon.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from pi_controller import __version__
from pi_controller.errors import MatError, describe_error
from pi_controller.exhibit.faults import KINDS
from pi_controller.table.table import Observer

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)
BEAT_S = 300.0
FIRST_BEAT_S = 60.0
"""Time from the start to the first beat: the board of the mat is missing for some seconds, which is no fault."""
CAN_WAIT = frozenset({"texts", "recording", "journals"})
"""Faults that stop no visitor: a beat names them, but does not report the installation as down."""
TIMEOUT_S = 10.0
_HEADERS = {"Content-Type": "application/json", "User-Agent": f"moccasin-mat/{__version__}"}


class HeartbeatError(MatError, ConnectionError):
    """The monitor did not accept a beat. The text does not contain its address."""

    code = "waiting"


def find_state(at: Installation) -> dict[str, str]:
    """Return the `status` of the installation ("up" or "down") and the `msg`: its faults by their keys, or "OK"."""
    shown = at.staff.page.shown
    found = {one.kind for one in shown.faults} if shown is not None else set[str]()
    names = [kind for kind in KINDS if kind in found]
    return {"status": "down" if found - CAN_WAIT else "up", "msg": ", ".join(names) or "OK"}


def post_state(address: str, state: dict[str, str]) -> None:
    """Post `state` to `address`; redirects are not followed. Raises `HeartbeatError` if it was not accepted."""
    # Uptime Kuma reads the query, and its address comes with these keys; Healthchecks reads words of the body
    parts = urlsplit(address)
    query = urlencode(dict(parse_qsl(parts.query, keep_blank_values=True)) | state)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(connect(parts.hostname or "", parts.port, timeout=TIMEOUT_S)) as line:
            line.request("POST", f"{parts.path or '/'}?{query}", msgspec.json.encode(state), _HEADERS)
            status = line.getresponse().status
    except OSError as error:
        raise HeartbeatError("the monitor does not answer: {why}", why=describe_error(error)) from None
    except (HTTPException, ValueError):  # their texts contain the address
        raise HeartbeatError("the monitor's answer is not HTTP") from None
    if not 200 <= status < 300:
        raise HeartbeatError("the monitor answered with status {status}", status=status)


def start_thread(work: Callable[[], None]) -> None:
    """Run `work` in a thread that the end of the program does not wait for."""
    threading.Thread(target=work, name="heartbeat", daemon=True).start()


class Heartbeat(Observer["Installation"]):
    """Reports the state of an installation to the monitor at `address` every `BEAT_S`.

    `send` posts a state to the address, and `start` runs it beside the installation, which never waits for it.
    """

    def __init__(
        self,
        address: str,
        send: Callable[[str, dict[str, str]], None] = post_state,
        start: Callable[[Callable[[], None]], None] = start_thread,
    ) -> None:
        self._address, self._send, self._start = address, send, start
        self._due: float | None = None
        self._failed = self._sending = False

    def on_step(self, t: float, table: Installation, armed: bool) -> None:  # noqa: ARG002
        """Start the next beat if it is due at `t`."""
        if self._due is None:
            self._due = t + FIRST_BEAT_S
        if t >= self._due and not self._sending:  # a monitor that never ends its answer gets no second beat
            self._due, self._sending = t + BEAT_S, True
            self._start(partial(self._beat, find_state(table)))

    def _beat(self, state: dict[str, str]) -> None:
        """Send a beat; log the first failure of several."""
        try:
            self._send(self._address, state)
        except HeartbeatError as error:
            if not self._failed:
                log.warning("heartbeat: %s", error.message)
            self._failed = True
        else:
            self._failed = False
        finally:
            self._sending = False
