"""Server-sent events: one write for each event, padded to whole kilobytes, so that sizes leak no secret."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from pi_controller.display.i18n import Translator
from pi_controller.web.feed import ContentT, Feed, Snapshot
from pi_controller.web.frames import frame_regions

if TYPE_CHECKING:
    from pi_controller.table.view import View
    from pi_controller.web.connection_limits import ConnectionLimits

HEARTBEAT_S, DESK_HEARTBEAT_S = 5.0, 3.0
"""How often a page, and a judge's or director's, hears at least a heartbeat; after two missed ones it is not live."""
BLOCK = 1024
_RETRY_MS, _RETRY_SPREAD_MS = 1000, 3000
_STRIDE = 1117  # spreads the delays evenly for any number of watchers


def retry_ms(number: int) -> int:
    """Return the reconnection delay of watcher `number`, spread so that not all reconnect at once."""
    return _RETRY_MS + number * _STRIDE % _RETRY_SPREAD_MS


@lru_cache(maxsize=4)
def event(snapshot: Snapshot[View], tr: Translator, frame: str = "") -> bytes:
    """Encode a snapshot as one event `view` (`EventContent`); `frame` is one of `FRAMES`."""
    regions = frame_regions(snapshot.content, tr, frame)
    data = msgspec.json.encode({"view": snapshot.content, "regions": regions}, enc_hook=str)
    return encode_event(snapshot.id, "view", data)


def encode_event(id_: object, name: str, data: bytes) -> bytes:
    """Encode an event, padded with a comment to whole kilobytes."""
    body = b"id: %s\nevent: %s\ndata: %s\n" % (str(id_).encode(), name.encode(), data)
    return body + b":" + b" " * (-(len(body) + 3) % BLOCK) + b"\n\n"


def beat(t: float) -> bytes:
    """Return a heartbeat: a comment, and an event `beat` with the time `t` on the table's clock."""
    return b": heartbeat\nevent: beat\ndata: %.2f\n\n" % t


async def stream(
    feed: Feed[ContentT],
    write: Callable[[Snapshot[ContentT]], bytes],
    last_id: str | None,
    number: int,
    heartbeat_s: float = HEARTBEAT_S,
    *,
    place: str = "",
    shares: ConnectionLimits | None = None,
    may_go_on: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncIterator[bytes]:
    """Yield the events of one watcher until the feed ends; a heartbeat after `heartbeat_s` without news.

    `write` returns a snapshot as an event. The stream holds a slot of `place` in `shares`, and ends if the slot is
    closed for another client, or when `may_go_on` is no longer true. Heartbeats let a page distinguish a quiet table
    from a lost connection. The first one is sent at once: it has the time, and confirms to a page that already has the
    newest content (`last_id`) that it is current.
    """
    watcher = feed.subscribe(last_id)
    share = shares.take(place, watcher.end) if shares is not None else None
    try:
        yield b"retry: %d\n\n" % retry_ms(number)
        yield beat(feed.clock())
        while not watcher.ended:
            snapshot = await watcher.next(heartbeat_s)
            if watcher.ended or (may_go_on is not None and not await may_go_on()):
                return
            yield beat(feed.clock()) if snapshot is None else write(snapshot)
    finally:
        watcher.close()
        if shares is not None and share is not None:
            shares.release(share)
