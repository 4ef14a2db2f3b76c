"""Connect a program to a running table: follow its view, and send a signed-in judge's commands.

from pi_controller.client import Client
with Client("mat.local:8080") as table:
    for view in table.views():
        print(view.scoreboard)
"""

from __future__ import annotations

import logging
import random
import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.errors import MatError, UsageError, describe_error
from pi_controller.extras import requires_extra
from pi_controller.host.backoff import Backoff
from pi_controller.host.place import LOCAL_TABLE
from pi_controller.referee.judge import JudgeAction, JudgeCommand
from pi_controller.table.view import View

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

log = logging.getLogger(__name__)

CONNECT_S, READ_TIMEOUT_S = 10.0, 20.0
"""Timeouts for a table's first answer and for silence, s; it sends a heartbeat every 5 s."""
RETRY_S, MAX_RETRY_S = 2.0, 60.0
"""The first wait before a reconnection, unless the table names one, and the longest, s."""
_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of temporary failures."""


class ClientError(MatError, OSError):
    """A table does not answer, or refuses: `code` is then the table's own (`invalid`, `illegal`, `pin`, `stale`)."""

    code = "client"

    def __init__(self, message: str, hint: str = "", code: str = "client") -> None:
        super().__init__(message, hint)
        self.code = code


class _ViewEvent(msgspec.Struct):
    view: View


class Client:
    """A connection to the pages of one table. Use it in a `with`; one thread at a time.

    `address` is as in a browser, http by default. Raises `UsageError` if it is none, `MissingExtraError` without the
    extra `watch`. Every method raises `ClientError`.
    """

    def __init__(
        self,
        address: str = LOCAL_TABLE,
        *,
        http: httpx.Client | None = None,
        wait: Callable[[float], object] = time.sleep,
        dice: random.Random | None = None,
    ) -> None:
        """Connect with the first request. `http` sends the requests, `wait` and `dice` space the reconnections."""
        with requires_extra("watch", "a connection to a table"):
            import httpx  # noqa: PLC0415
            import httpx_sse  # noqa: F401, PLC0415 - a missing package is reported before the first connection
        self.address = check_address(address)
        self._wait, self._dice = wait, dice or random.Random()  # noqa: S311
        # use the machine's certificates, including those of a hall's network, and no proxy for a local address
        self._http = http or httpx.Client(
            verify=ssl.create_default_context(),
            timeout=httpx.Timeout(CONNECT_S, read=READ_TIMEOUT_S),
            trust_env=False,
        )

    def __enter__(self) -> Client:
        """Return the client."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the connection."""
        self._http.close()

    def view(self) -> View:
        """Return the table's public view."""
        return self._decode(self._ask("GET", "/view.json").content, View)

    def views(self) -> Iterator[View]:
        """Yield the table's public view now and whenever it changes; reconnect as often as necessary."""
        return (self._decode(data, _ViewEvent).view for data in self._follow(reconnect=True))

    def events(self, *, reconnect: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the data of each event `view` (`web.api.EventContent`), the first at once.

        Raises `ClientError` without `reconnect` if the stream ends.
        """
        return (self._decode(data, dict[str, Any]) for data in self._follow(reconnect=reconnect))

    def _follow(self, *, reconnect: bool) -> Iterator[str]:
        """Yield the data of each event `view` as it was sent.

        A stream that ends or breaks is reopened with the id of the last event, unless `reconnect` is False. Each wait
        starts from the table's own value, is doubled for each failure, and is randomised, so that clients do not return
        all at once.
        """
        import httpx  # noqa: PLC0415
        from httpx_sse import connect_sse  # noqa: PLC0415

        url = f"{self.address}/events"
        last, backoff = "", Backoff(RETRY_S, MAX_RETRY_S, self._dice)
        while True:
            try:
                headers = {"last-event-id": last} if last else {}
                with connect_sse(self._http, "GET", url, headers=headers) as source:
                    why = _retry_reason(source.response, url)
                    for event in source.iter_sse() if not why else ():
                        if event.retry is not None:
                            backoff.first_s = event.retry / 1000
                        if event.event == "view":
                            last = event.id
                            backoff.reset()
                            yield event.data
                    why = why or "the table ended the stream"
            except httpx.TransportError as error:
                why = describe_error(error)
            if not reconnect:
                raise ClientError(f"no table answers at {url}: {why}", "start it, or name its address")
            wait_s = backoff.next_s()
            log.warning("cut off from %s: %s; again in %.1f s", url, why, wait_s)
            self._wait(wait_s)

    def sign_in(self, name: str, pin: str) -> str:
        """Sign in as a judge; return the role. The table's accounts are made by `moccasin-mat judges add`."""
        return str(self._send("/judge/sign-in", {"name": name, "pin": pin})["role"])

    def legal_actions(self) -> tuple[dict[str, Any], ...]:
        """Return every action that is allowed now, as `Play.legal_actions`; for a signed-in judge."""
        return tuple(self._decode(self._ask("GET", "/judge/state.json").content, dict[str, Any])["legal"])

    def push(self, action: Mapping[str, Any] | str, **keys: Any) -> int:
        """Play an action as a signed-in judge, written as for `Play.push`; return the journal's record number."""
        done = {"do": action, **keys} if isinstance(action, str) else dict(action)
        return self.command(JudgeAction(0.0, done))

    def command(self, call: JudgeCommand, expect: int | None = None) -> int:
        """Send a judge's command, whose `t` the table sets; return the journal's record number.

        The view with that `seq` follows within 0.1 s. `expect` is the `revision` of the view that the command was
        decided by: a table that has changed refuses it.
        """
        sent: dict[str, Any] = msgspec.to_builtins(call)
        del sent["t"]
        return int(
            self._send("/judge/command", {"key": secrets.token_urlsafe(12), "call": sent, "expect": expect})["seq"]
        )

    def _send(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        answer = self._ask("POST", path, json=content, headers={"origin": self.address})
        return self._decode(answer.content, dict[str, Any])

    def _ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Return a successful answer."""
        import httpx  # noqa: PLC0415

        url = f"{self.address}{path}"
        try:
            answer = self._http.request(method, url, **how)
        except httpx.TransportError as error:
            raise ClientError(
                f"no table answers at {url}: {describe_error(error)}", "start it, or name its address"
            ) from error
        if answer.is_success:
            return answer
        from pi_controller.web import requests  # noqa: PLC0415 - slow, and only a refusal needs it

        if (error := requests.parse_error(answer.content)) is None:
            raise ClientError(f"{url} answers with status {answer.status_code}", "check the address")
        raise ClientError(error.message, error.hint, error.code)

    def _decode(self, content: bytes | str, kind: Any) -> Any:
        try:
            return msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError as error:
            raise ClientError(f"{self.address} does not send a table's events: {error}", "check the address") from error


def check_address(address: str) -> str:
    """Return the address of a table's pages with its scheme, http by default. Raises `UsageError`.

    >>> check_address("mat.local:8080/")
    'http://mat.local:8080'
    """
    import httpx  # noqa: PLC0415

    from pi_controller.web.address import normalize_address  # noqa: PLC0415

    try:
        url = httpx.URL(normalize_address(address))
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host or url.query:
        raise UsageError(f"{address!r} is not a table's address", f"name one like {LOCAL_TABLE}")
    return str(url).rstrip("/")


def _retry_reason(response: httpx.Response, url: str) -> str:
    """Return why the stream is unavailable for now, "" if it is open. Raises `ClientError` for a permanent failure."""
    if response.status_code in _TRANSIENT_STATUSES:
        return f"status {response.status_code}"
    if response.status_code != 200 or response.headers.get("content-type", "").partition(";")[0] != "text/event-stream":
        raise ClientError(
            f"there is no event stream at {url}: status {response.status_code}", "name the address of a table's pages"
        )
    return ""
