"""`moccasin-mat watch`: the event stream of a running table as JSON lines, for other programs to read."""

from __future__ import annotations

import random
import sys
import time
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import MatError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import httpx

URL = "http://127.0.0.1:8080"
CONNECT_S, SILENT_S = 10.0, 45.0
"""How long a table may take to answer, and to say nothing at all, s; it gives a sign of life every 15 s."""
RETRY_S, MOST_S = 2.0, 60.0
"""The first wait before coming back, where the table names none, and the longest, s."""
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that pass by themselves."""


class WatchError(MatError, OSError):
    """There is no table's event stream at the address."""

    code = "watch"


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "watch",
        "Print what a running table's pages show, one JSON object a line, whenever it changes. "
        "Cut off, it says so on stderr and comes back by itself. Ctrl-C stops it.",
    )
    parser.add_argument("--url", metavar="URL", default=URL, help=f"where the table's pages are ({URL})")
    parser.add_argument("--once", action="store_true", help="print how the table stands now, and end")
    return parser


def main(argv: Sequence[str]) -> int:
    """Print the stream until it is stopped, or with `--once` its first line; return 0. Raises `MatError`."""
    args = parser().parse_args(argv)
    import ssl

    import httpx

    url = stream_url(args.url)
    # the machine's own certificates, so that those of a hall's network count, and no proxy on the way to a neighbour
    with httpx.Client(
        verify=ssl.create_default_context(),
        timeout=httpx.Timeout(CONNECT_S, read=SILENT_S),
        trust_env=False,
    ) as client:
        for line in follow(client, url, time.sleep, random.Random(), once=args.once):  # noqa: S311
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
    return 0


def stream_url(address: str) -> httpx.URL:
    """Return where the event stream of the pages at `address` is; http where no scheme is named. Raises `UsageError`.

    >>> print(stream_url("mat.local:8080/"))
    http://mat.local:8080/events
    """
    import httpx

    from pi_controller.web.address import base

    try:
        url = httpx.URL(f"{base(address)}/events")
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host or url.query:
        raise UsageError(f"{address!r} is no address of a table", f"name one like {URL}")
    return url


def follow(
    client: httpx.Client,
    url: httpx.URL,
    wait: Callable[[float], object],
    dice: random.Random,
    *,
    once: bool = False,
) -> Iterator[bytes]:
    """Yield the data of each `view` event at `url`, an object in JSON without a line end; with `once` the first only.

    A stream that ends or breaks is begun again after `wait(seconds)` with the id of the last event. Each wait is the
    table's own, doubled for each time nothing came, and spread by `dice`, so that not all come back at once.
    Raises `WatchError` for an address that is no table's, with `once` also where there is none now.
    """
    import httpx
    import msgspec
    from httpx_sse import connect_sse

    last, retry_s, in_vain = "", RETRY_S, 0
    while True:
        try:
            headers = {"last-event-id": last} if last else {}
            with connect_sse(client, "GET", str(url), headers=headers) as source:
                why = _refused(source.response, url)
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
            why = str(error) or type(error).__name__
        except msgspec.DecodeError as error:
            raise WatchError(f"what {url} sends is not a table's: {error}", "look at the address") from error
        if once:
            raise WatchError(f"no table answers at {url}: {why}", "start it, or name its address: --url")
        wait_s = min(retry_s * 2**in_vain, MOST_S) * dice.uniform(0.5, 1.5)
        in_vain += in_vain < 16
        print(f"cut off from {url}: {why}; again in {wait_s:.1f} s", file=sys.stderr, flush=True)
        wait(wait_s)


def _refused(response: httpx.Response, url: httpx.URL) -> str:
    """Return why there is no stream for the moment, "" where there is one. Raises `WatchError` where none will be."""
    if response.status_code in _LATER:
        return f"status {response.status_code}"
    if response.status_code != 200 or response.headers.get("content-type", "").partition(";")[0] != "text/event-stream":
        raise WatchError(
            f"there is no event stream at {url}: status {response.status_code}", "name the address of a table's pages"
        )
    return ""
