"""Server-sent events: one event is one write, padded to whole kilobytes, so that sizes say nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from pi_controller.web.page_content import board
from pi_controller.web.room import room
from pi_controller.web.strip import overlay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View
    from pi_controller.web.feed import Feed, Snapshot
    from pi_controller.web.page_content import Board
    from pi_controller.web.shares import Shares

HEARTBEAT_S = 15.0
BLOCK = 1024
_RETRY_MS, _RETRY_SPREAD_MS = 1000, 3000
_STRIDE = 1117  # spreads the watchers' waits evenly over the range, however many there are
SHAPES: Mapping[str, Callable[[View, str, ShownChances | None], Board]] = {"": board, "overlay": overlay, "room": room}
"""What a page asks to be sent, by the `page` of its address."""


def retry_ms(number: int) -> int:
    """Return how long watcher `number` should wait before it comes back, so that not all come at once."""
    return _RETRY_MS + number * _STRIDE % _RETRY_SPREAD_MS


@lru_cache(maxsize=4)
def event(snapshot: Snapshot, language: str, shape: str = "") -> bytes:
    """Return a snapshot as one event `view`: id, the view and the board as JSON, padded with a comment.

    `shape` is one of `SHAPES`.
    """
    content = SHAPES[shape](snapshot.view, language, snapshot.chances)
    data = msgspec.json.encode(
        {
            "view": snapshot.view,
            "texts": content.texts,
            "marks": content.marks,
            "counts": content.counts,
            "layout": content.layout,
            "table": content.table,
        }
    )
    body = b"id: %s\nevent: view\ndata: %s\n" % (snapshot.id.encode(), data)
    padding = -(len(body) + 3) % BLOCK
    return body + b":" + b" " * padding + b"\n\n"


def beat(t: float) -> bytes:
    """Return a heartbeat: a comment, and an event `beat` with the time `t` on the table's clock."""
    return b": heartbeat\nevent: beat\ndata: %.2f\n\n" % t


async def stream(
    feed: Feed,
    language: str,
    last_id: str | None,
    number: int,
    heartbeat_s: float = HEARTBEAT_S,
    shape: str = "",
    *,
    place: str = "",
    shares: Shares | None = None,
) -> AsyncIterator[bytes]:
    """Yield the events of one watcher until the feed hangs up; a heartbeat when `heartbeat_s` pass without news.

    The watcher's `place` has one of the `shares` meanwhile, and the stream ends too when that is given up for another.

    By the heartbeats a page tells a quiet table from a dead line. The first comes at once: it brings the time, and says
    to one that has the newest picture already (`last_id`) that this still holds.
    """
    watcher = feed.subscribe(last_id)
    share = shares.take(place, watcher.end) if shares is not None else None
    try:
        yield b"retry: %d\n\n" % retry_ms(number)
        yield beat(feed.clock())
        while not watcher.ended:
            snapshot = await watcher.next(heartbeat_s)
            if snapshot is not None:
                yield event(snapshot, language, shape)
            elif not watcher.ended:
                yield beat(feed.clock())
    finally:
        watcher.close()
        if shares is not None and share is not None:
            shares.leave(share)
