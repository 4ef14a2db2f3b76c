"""Webhook: tells another program of turns, the end of a game, questions and faults, by HTTP.

Each message is a JSON object with `event`, `table`, `sent` (s since 1970), `id` and `view`, the public view as in
`view.json`. The header `X-Moccasin-Signature` is `sha256=` and the HMAC of the body with the key of the settings, so
that the receiver can tell who sent it; `sent` and `id` let it refuse a repetition. A message that is not accepted
(status 2xx) is sent again after 1, 2, 4, ... s, `ATTEMPTS` times in all, and then dropped.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
import urllib.request
from collections.abc import Callable, Iterable
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller import __version__
from pi_controller.errors import SettingsError
from pi_controller.runtime.plugins import TableWatcher

if TYPE_CHECKING:
    from pi_controller.config.model import Settings
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

ATTEMPTS = 8
"""Attempts to send a message: the last one two minutes after the first."""
TIMEOUT_S = 10.0
"""Longest time for one attempt, s."""
MIN_KEY_BYTES = 16
SIGNATURE = "X-Moccasin-Signature"

Send = Callable[[bytes, str], None]
"""Send a body with its signature. Raises `OSError` if it was not accepted."""


class Webhook(TableWatcher):
    """Sends the events named in `wanted` by `send`; `wait` sleeps for some seconds before the next attempt."""

    def __init__(
        self,
        table: str,
        key: bytes,
        wanted: Iterable[str],
        send: Send,
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table, self._key, self._wanted = table, key, frozenset(wanted)
        self._send, self._wait, self._clock = send, wait, clock
        self._before: View | None = None

    def on_view(self, view: View) -> None:
        """Send a message for each event between the last view and `view`."""
        before, self._before = self._before, view
        for event in events_between(before, view):
            if event in self._wanted:
                self._deliver(event, view)

    def _deliver(self, event: str, view: View) -> None:
        message = {
            "event": event,
            "table": self._table,
            "sent": round(self._clock(), 3),
            "id": f"{view.head[:16]}-{event}",
            "view": view,
        }
        body = msgspec.json.encode(message)
        signature = f"sha256={hmac.new(self._key, body, hashlib.sha256).hexdigest()}"
        why = OSError()
        for attempt in range(ATTEMPTS):
            if attempt:
                self._wait(2.0 ** (attempt - 1))
            try:
                return self._send(body, signature)
            except OSError as error:
                why = error
        log.warning("the webhook was not told of %s at hide %d: %s", event, view.hide, why)
        return None


def events_between(before: View | None, view: View) -> list[str]:
    """Return what happened from one view to the next: "turn", "over", "question", "fault"; none for the first view."""
    if before is None:
        return []
    turn = before.phase != "show" and view.phase == "show"
    found = {
        "turn": turn or (before.hide != view.hide and before.phase not in ("show", "toss")),
        "over": view.phase == "over" and before.phase != "over",
        "question": view.question is not None and view.question != before.question,
        "fault": bool(before.link and not view.link),
    }
    return [event for event, happened in found.items() if happened]


class _AsItComes(urllib.request.HTTPErrorProcessor):
    """Returns every answer: no redirect is followed, for a message goes to the address that the host wrote."""

    def http_response(self, request: Any, response: Any) -> Any:  # noqa: ARG002
        """Return the answer, whatever its status."""
        return response

    https_response = http_response


def post_to(url: str) -> Send:
    """Return the function that posts to `url`. A status other than 2xx is an `OSError`."""
    opener = urllib.request.build_opener(_AsItComes)

    def send(body: bytes, signature: str) -> None:
        headers = {
            "Content-Type": "application/json",
            SIGNATURE: signature,
            "User-Agent": f"moccasin-mat/{__version__}",
        }
        request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - the settings allow http and https
        try:
            with opener.open(request, timeout=TIMEOUT_S) as answer:
                status = answer.status
        except (ValueError, HTTPException) as error:  # an answer that is no HTTP
            raise OSError(str(error)) from error
        if status // 100 != 2:
            raise OSError(f"it was answered with status {status}")

    return send


def make_webhook(settings: Settings) -> Webhook:
    """Return the webhook of the settings. Raises `SettingsError` if the key cannot be read or is too short."""
    wanted = settings.webhook
    path = Path(wanted.key_file)
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise SettingsError(
            f"the webhook's key {path} cannot be read: {error.strerror}", "write a long random text to it"
        ) from error
    if len(key) < MIN_KEY_BYTES:
        raise SettingsError(
            f"the webhook's key {path} is shorter than {MIN_KEY_BYTES} characters", "write a long random text to it"
        )
    return Webhook(settings.table.name, key, wanted.events, post_to(wanted.url), time.sleep)
