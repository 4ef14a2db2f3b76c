"""Webhook: tells another program of turns, the end of a game, questions and faults, by HTTP.

Each message is a JSON object with `event`, `table`, `sent` (s since 1970), `id` and `view`, the public view as in
`view.json`. The header `X-Moccasin-Signature` is `sha256=` and the HMAC of the body with the key of the settings, so
that the receiver can tell who sent it; `sent` and `id` let it refuse a repetition. A message that is not accepted
(status 2xx) is sent again after 1, 2, 4, ... s, `ATTEMPTS` times in all, and then dropped.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import os
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from pi_controller import __version__
from pi_controller.errors import MatError, SettingsError, describe_error
from pi_controller.table.watcher import TableWatcher
from pi_controller.text import strip_controls

if TYPE_CHECKING:
    from pi_controller.config.model import Settings
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

ATTEMPTS = 8
"""Attempts to send a message: the last one two minutes after the first."""
TIMEOUT_S = 10.0
"""Longest time for one attempt, s."""
MAX_STATUS_BYTES = 4096
"""Maximum length of the first line of an answer; no more of it is read."""
MIN_KEY_BYTES = 16
SIGNATURE = "X-Moccasin-Signature"

Send = Callable[[bytes, str], None]
"""Send a body with its signature. Raises `WebhookError` if it was not accepted."""


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
        why = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._wait(2.0 ** (attempt - 1))
            try:
                return self._send(body, signature)
            except WebhookError as error:
                why = error.message
        log.warning("webhook: %s at hide %d: %s", event, view.hide, why)
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


class WebhookError(MatError, ConnectionError):
    """The receiver did not accept a message. The text does not contain its address."""

    code = "waiting"


async def post_json(
    url: str, body: bytes, timeout_s: float = TIMEOUT_S, headers: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Post `body` to `url`, within `timeout_s` in all. Raises `WebhookError` unless the status is 2xx.

    Redirects are not followed: the message goes to the host's address only. Written on streams, because a receiver that
    answers byte by byte would hold a thread of `urllib` for hours, and the program's end with it.
    """
    parts = urlsplit(url)
    secure, why = parts.scheme == "https", ""
    fields = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "User-Agent": f"moccasin-mat/{__version__}",
        "Connection": "close",
        **headers,
    }
    head = [f"POST {parts.path or '/'}{f'?{parts.query}' if parts.query else ''} HTTP/1.1"]
    head += [f"{name}: {value}" for name, value in fields.items()]
    try:
        message = "\r\n".join([*head, "", ""]).encode("ascii") + body
        context = ssl.create_default_context() if secure else None
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(
                parts.hostname, parts.port or (443 if secure else 80), ssl=context, limit=MAX_STATUS_BYTES
            )
            try:
                writer.write(message)
                await writer.drain()
                answer = (await reader.readuntil(b"\n")).split()
            finally:
                writer.transport.abort()
        if len(answer) < 2 or not answer[0].startswith(b"HTTP/1."):
            why = "the answer is not HTTP"
        elif not answer[1].startswith(b"2"):
            why = f"it was answered with status {strip_controls(answer[1][:3].decode('ascii', 'replace'))}"
    except TimeoutError:
        why = f"no answer within {timeout_s:g} s"
    except (asyncio.LimitOverrunError, asyncio.IncompleteReadError):
        why = "the answer is not HTTP"
    except ssl.SSLError:
        why = "no encrypted connection: check the certificate"
    except OSError as error:  # its own text contains the address
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else "no connection"
    except ValueError:
        why = "the address is not valid"
    if why:
        raise WebhookError(
            "the receiver did not accept the message: {why}", "check its address in the settings", why=why
        )


def post_to(url: str) -> Send:
    """Return the function that posts to `url` from a thread without an event loop."""
    return lambda body, signature: asyncio.run(post_json(url, body, headers={SIGNATURE: signature}))


def make_webhook(settings: Settings) -> Webhook:
    """Return the webhook of the settings. Raises `SettingsError` if the key cannot be read or is too short."""
    wanted = settings.webhook
    path = Path(wanted.key_file)
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise SettingsError(
            "the webhook's key {path} cannot be read: {why}",
            "write a long random text to it",
            path=path,
            why=describe_error(error),
        ) from error
    if len(key) < MIN_KEY_BYTES:
        raise SettingsError(
            "the webhook's key {path} is shorter than {min_key_bytes} characters",
            "write a long random text to it",
            path=path,
            min_key_bytes=MIN_KEY_BYTES,
        )
    return Webhook(settings.table.name, key, wanted.events, post_to(wanted.url), time.sleep)
