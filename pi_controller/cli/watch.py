"""`moccasin-mat watch`: print the event stream of a running table as JSON lines, for other programs."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import MatError, UsageError, describe_error

if TYPE_CHECKING:
    import httpx


URL = "http://127.0.0.1:8080"
CONNECT_S, READ_TIMEOUT_S = 10.0, 45.0
"""Timeouts for a table's first answer and for silence, s; it sends a sign of life every 15 s."""
RETRY_S, MAX_RETRY_S = 2.0, 60.0
"""The first wait before a reconnection, unless the table names one, and the longest, s."""
_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of temporary failures."""


class WatchError(MatError, OSError):
    """The address does not serve a table's event stream."""

    code = "watch"


def watch_parser() -> Parser:
    """Return the parser of `watch`."""
    parser = Parser(
        "watch",
        "Print what a running table's pages show, one JSON object a line, whenever it changes. "
        "Cut off, it says so on stderr and comes back by itself. Ctrl-C stops it.",
    )
    parser.add_argument("--url", metavar="URL", default=URL, help=f"where the table's pages are ({URL})")
    parser.add_argument("--once", action="store_true", help="print the table's present state, and end")
    return parser


def watch(argv: Sequence[str]) -> int:
    """Print the stream until it is stopped, or with `--once` its first line; return 0. Raises `MatError`."""
    args = watch_parser().parse_args(argv)
    import ssl

    from pi_controller.extras import requires_extra

    with requires_extra("watch", "watch"):
        import httpx
        import httpx_sse  # noqa: F401 - missing packages are reported before the first connection
    url = stream_url(args.url)
    # use the machine's certificates, including those of a hall's network, and no proxy for a local address
    with httpx.Client(
        verify=ssl.create_default_context(),
        timeout=httpx.Timeout(CONNECT_S, read=READ_TIMEOUT_S),
        trust_env=False,
    ) as client:
        for line in follow(client, url, time.sleep, random.Random(), once=args.once):  # noqa: S311
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
    return 0


def stream_url(address: str) -> httpx.URL:
    """Return the URL of the event stream of the pages at `address`; http is the default scheme. Raises `UsageError`.

    >>> print(stream_url("mat.local:8080/"))
    http://mat.local:8080/events
    """
    import httpx

    from pi_controller.web.address import normalize_address

    try:
        url = httpx.URL(f"{normalize_address(address)}/events")
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host or url.query:
        raise UsageError(f"{address!r} is not a table's address", f"name one like {URL}")
    return url


def follow(
    client: httpx.Client,
    url: httpx.URL,
    wait: Callable[[float], object],
    dice: random.Random,
    *,
    once: bool = False,
) -> Iterator[bytes]:
    """Yield the data of each `view` event at `url`, as JSON without a line break; with `once` only the first.

    A stream that ends or breaks is reopened after `wait(seconds)` with the id of the last event. Each wait starts from
    the table's own value, is doubled for each failure, and is randomised by `dice`, so that clients do not return all
    at once. Raises `WatchError` if the address is not a table's; with `once` also if the table does not answer.
    """
    import httpx
    import msgspec
    from httpx_sse import connect_sse

    last, retry_s, in_vain = "", RETRY_S, 0
    while True:
        try:
            headers = {"last-event-id": last} if last else {}
            with connect_sse(client, "GET", str(url), headers=headers) as source:
                why = _retry_reason(source.response, url)
                for event in source.iter_sse() if not why else ():
                    retry_s = event.retry / 1000 if event.retry is not None else retry_s
                    if event.event == "view":
                        line = msgspec.json.encode(msgspec.json.decode(event.data))
                        last, in_vain = event.id, 0
                        yield line
                        if once:
                            return
                why = why or "the table ended the stream"
        except httpx.TransportError as error:
            why = describe_error(error)
        except msgspec.DecodeError as error:
            raise WatchError(f"{url} does not send a table's events: {error}", "check the address") from error
        if once:
            raise WatchError(f"no table answers at {url}: {why}", "start it, or name its address: --url")
        wait_s = min(retry_s * 2**in_vain, MAX_RETRY_S) * dice.uniform(0.5, 1.5)
        in_vain += in_vain < 16
        print(f"cut off from {url}: {why}; again in {wait_s:.1f} s", file=sys.stderr, flush=True)
        wait(wait_s)


def _retry_reason(response: httpx.Response, url: httpx.URL) -> str:
    """Return why the stream is unavailable for now, "" if it is open. Raises `WatchError` for a permanent failure."""
    if response.status_code in _TRANSIENT_STATUSES:
        return f"status {response.status_code}"
    if response.status_code != 200 or response.headers.get("content-type", "").partition(";")[0] != "text/event-stream":
        raise WatchError(
            f"there is no event stream at {url}: status {response.status_code}", "name the address of a table's pages"
        )
    return ""
