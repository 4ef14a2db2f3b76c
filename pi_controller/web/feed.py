"""Publish what pages show from any thread to the subscribers' event loops; each gets the newest.

A watcher has no queue, only a flag that there is something newer. So a slow one skips some without building a backlog,
and a thousand publications cost it one.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pi_controller.host.waiting import is_set_within

MAX_WOKEN_AT_ONCE, PAUSE_S = 40, 0.001
"""Watchers woken together, and the pause before the next, s, which leaves other threads time, above all the table's."""


class Numbered(Protocol):
    """What a feed publishes: its `seq` rises within a game, from 1."""

    @property
    def seq(self) -> int: ...  # noqa: D102


ContentT = TypeVar("ContentT", bound=Numbered)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot(Generic[ContentT]):
    """Published content. `number` counts publications from 1; `amended`: the one before had the same `seq`.

    `start` is the feed's random id, `game` counts the games after the first one.
    """

    number: int
    content: ContentT
    amended: bool
    start: str = ""
    game: int = 0

    @property
    def id(self) -> str:
        """The event id: the journal's sequence number, the feed's start id and, after the first game, its number.

        It is unique across tables and games.
        """
        return f"{self.content.seq}-{self.start}{self.game or ''}"


class Subscription(Generic[ContentT]):
    """One watcher in one event loop. Created by `Feed.subscribe`; close it when the watcher disconnects."""

    def __init__(self, feed: Feed[ContentT], seen: int) -> None:
        self._feed = feed
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self._seen = seen
        self.ended = False

    async def next(self, timeout: float) -> Snapshot[ContentT] | None:
        """Wait for a newer snapshot than the last and return it; None after `timeout` seconds or at the end."""
        while not self.ended:
            latest = self._feed.latest
            if latest is not None and latest.number > self._seen:
                self._seen = latest.number
                return latest
            self.news.clear()
            if (now := self._feed.latest) is not None and now.number > self._seen:
                continue
            if not await is_set_within(self.news, timeout):
                return None
        return None

    def end(self) -> None:
        """End the watcher's stream; call it only in its loop."""
        self.ended = True
        self.news.set()

    def close(self) -> None:
        """Leave the feed. Closing twice is fine."""
        self._feed.leave(self)


class Feed(Generic[ContentT]):
    """Holds the newest content and wakes the watchers. `publish` may be called from any thread and never waits.

    `clock` is the clock of the content's times, in seconds. `start` is a random id of this feed.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        start: str | None = None,
    ) -> None:
        self.clock = clock
        self._start = secrets.token_hex(4) if start is None else start
        self._lock = threading.Lock()
        self._latest: Snapshot[ContentT] | None = None
        self._watchers: set[Subscription[ContentT]] = set()
        self._hung_up = False
        self._called: set[asyncio.AbstractEventLoop] = set()

    @property
    def latest(self) -> Snapshot[ContentT] | None:
        """The newest snapshot, None before the first."""
        return self._latest

    @property
    def watchers(self) -> int:
        """The number of watchers."""
        return len(self._watchers)

    def publish(self, content: ContentT) -> None:
        """Make `content` the newest; ignore it if it equals the last."""
        with self._lock:
            before = self._latest
            if before is not None and before.content == content:
                return
            amended = before is not None and before.content.seq == content.seq
            number, game = (before.number, before.game) if before is not None else (0, 0)
            game += before is not None and content.seq < before.content.seq  # a smaller number means another journal
            self._latest = Snapshot(number + 1, content, amended, self._start, game)
            self._call()

    def subscribe(self, last_id: str | None = None) -> Subscription[ContentT]:
        """Return a watcher in the running loop; with the newest id as `last_id` it waits for the next.

        An amended snapshot is always sent, because its id does not show which of the two versions the watcher has.
        """
        with self._lock:
            latest = self._latest
            known = latest is not None and latest.id == last_id and not latest.amended
            watcher = Subscription(self, latest.number if latest is not None and known else 0)
            watcher.ended = self._hung_up
            self._watchers.add(watcher)
        return watcher

    def leave(self, watcher: Subscription[ContentT]) -> None:
        """Remove a watcher."""
        with self._lock:
            self._watchers.discard(watcher)

    def end_streams(self) -> None:
        """End all streams, and any new one until `reopen`."""
        with self._lock:
            self._hung_up = True
            for watcher in self._watchers:
                watcher.ended = True
            self._call()

    def reopen(self) -> None:
        """Accept watchers again."""
        with self._lock:
            self._hung_up = False

    def _call(self) -> None:
        """Wake all watchers (under the lock) with one call into each loop, so that many watchers do not delay the
        publisher.
        """
        for loop in {watcher.loop for watcher in self._watchers}:
            if loop in self._called and not loop.is_closed():
                continue
            try:
                loop.call_soon_threadsafe(self._wake, loop)
                self._called.add(loop)
            except RuntimeError:  # the loop is closed, so its watchers are gone
                self._called.discard(loop)
                for watcher in self._watchers:
                    watcher.ended = watcher.ended or watcher.loop is loop

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._called.discard(loop)
            watchers = [watcher for watcher in self._watchers if watcher.loop is loop]
        self._wake_batch(loop, watchers)

    def _wake_batch(self, loop: asyncio.AbstractEventLoop, watchers: list[Subscription[ContentT]]) -> None:
        for watcher in watchers[:MAX_WOKEN_AT_ONCE]:
            watcher.news.set()
        if len(watchers) > MAX_WOKEN_AT_ONCE:
            loop.call_later(PAUSE_S, self._wake_batch, loop, watchers[MAX_WOKEN_AT_ONCE:])
