"""Server-sent events: one event is one write, padded to whole kilobytes, so that sizes say nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from pi_controller.web.board import board

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_controller.web.feed import Feed, Snapshot

HEARTBEAT_S = 15.0
BLOCK = 1024
_RETRY_MS, _RETRY_SPREAD_MS = 1000, 3000
_STRIDE = 1117  # spreads the watchers' waits evenly over the range, however many there are


def retry_ms(number: int) -> int:
    """Return how long watcher `number` should wait before it comes back, so that not all come at once."""
    return _RETRY_MS + number * _STRIDE % _RETRY_SPREAD_MS


@lru_cache(maxsize=4)
def event(snapshot: Snapshot, language: str) -> bytes:
    """Return a snapshot as one event `view`: id, the view and the board as JSON, padded with a comment."""
    content = board(snapshot.view, language, snapshot.chances)
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


async def stream(
    feed: Feed, language: str, last_id: str | None, number: int, heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[bytes]:
    """Yield the events of one watcher until the feed hangs up; a heartbeat when `heartbeat_s` pass without news.

    The heartbeat is a comment and an event `beat`, so that a page can tell a quiet table from a dead line.
    """
    watcher = feed.subscribe(last_id)
    try:
        yield b"retry: %d\n\n" % retry_ms(number)
        while not watcher.ended:
            snapshot = await watcher.next(heartbeat_s)
            if snapshot is not None:
                yield event(snapshot, language)
            elif not watcher.ended:
                yield b": heartbeat\nevent: beat\ndata: -\n\n"
    finally:
        watcher.close()
