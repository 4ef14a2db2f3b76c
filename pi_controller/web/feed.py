"""Publishes views from the daemon's thread to the subscribers' event loops; each gets the newest.

A watcher holds no queue, only the news that there is something newer than it has seen. So one that is slow skips
pictures and never builds a backlog, and a thousand publications cost it one.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View


ABREAST, PAUSE_S = 40, 0.001
"""Watchers woken at once, and how long until the next, s: what sends to a whole hall leaves other threads their turn,
above all the table's."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A published view. `number` counts publications from 1; `amended`: the one before had the same `seq`.

    `chances` of winning are beside the view where the table shows them: they follow from it and are no part of it.
    `start` is the feed's own, `game` counts the games that followed the first one in it.
    """

    number: int
    view: View
    amended: bool
    chances: ShownChances | None = None
    start: str = ""
    game: int = 0

    @property
    def id(self) -> str:
        """The event id: the journal's sequence number, the feed's start and, after the first, which of its games it is.

        So no other journal has the same, of another table or of another game at this one.
        """
        return f"{self.view.seq}-{self.start}{self.game or ''}"


class Subscription:
    """One watcher, living in one event loop. Made by `Feed.subscribe`; close it when the watcher has gone."""

    def __init__(self, feed: Feed, seen: int) -> None:
        self._feed = feed
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self._seen = seen
        self.ended = False

    async def next(self, timeout: float) -> Snapshot | None:
        """Return the newest snapshot once it is newer than the last; None after `timeout` seconds or at the end."""
        while not self.ended:
            latest = self._feed.latest
            if latest is not None and latest.number > self._seen:
                self._seen = latest.number
                return latest
            self.news.clear()
            if (now := self._feed.latest) is not None and now.number > self._seen:
                continue
            try:
                async with asyncio.timeout(timeout):  # `wait_for` makes a task of every wait
                    await self.news.wait()
            except TimeoutError:
                return None
        return None

    def end(self) -> None:
        """End the watcher's stream; in its loop only."""
        self.ended = True
        self.news.set()

    def close(self) -> None:
        """Leave the feed. Closing twice is fine."""
        self._feed.leave(self)


class Feed:
    """Holds the newest view and wakes the watchers. `publish` may be called from any thread and waits for nobody.

    `chances` looks up what a view's chances of winning are (`ChancesBar.of`); without it no page shows any. `clock` is
    the one by which the views' times are told, in seconds. `start` tells this feed from every other, and nothing else.
    """

    def __init__(
        self,
        chances: Callable[[View], ShownChances | None] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        start: str | None = None,
    ) -> None:
        self.clock = clock
        self._start = secrets.token_hex(4) if start is None else start
        self._chances = chances
        self._lock = threading.Lock()
        self._latest: Snapshot | None = None
        self._watchers: set[Subscription] = set()
        self._hung_up = False
        self._called: set[asyncio.AbstractEventLoop] = set()

    @property
    def latest(self) -> Snapshot | None:
        """The newest snapshot, None before the first."""
        return self._latest

    @property
    def watchers(self) -> int:
        """How many watch."""
        return len(self._watchers)

    def publish(self, view: View) -> None:
        """Make `view` the newest. The same view again is no news."""
        with self._lock:
            before = self._latest
            if before is not None and before.view == view:
                return
            amended = before is not None and before.view.seq == view.seq
            chances = self._chances(view) if self._chances is not None else None
            number, game = (before.number, before.game) if before is not None else (0, 0)
            game += before is not None and view.seq < before.view.seq  # another journal: a journal only grows
            self._latest = Snapshot(number + 1, view, amended, chances, self._start, game)
            self._call()

    def subscribe(self, last_id: str | None = None) -> Subscription:
        """Return a watcher in the running loop; with the newest's id as `last_id` it waits for what comes after.

        An amended snapshot is sent anyway: its id does not tell which of the two the watcher has seen.
        """
        with self._lock:
            latest = self._latest
            known = latest is not None and latest.id == last_id and not latest.amended
            watcher = Subscription(self, latest.number if latest is not None and known else 0)
            watcher.ended = self._hung_up
            self._watchers.add(watcher)
        return watcher

    def leave(self, watcher: Subscription) -> None:
        """Forget a watcher."""
        with self._lock:
            self._watchers.discard(watcher)

    def hang_up(self) -> None:
        """End every watcher's stream, and at once that of any who comes before `reopen`."""
        with self._lock:
            self._hung_up = True
            for watcher in self._watchers:
                watcher.ended = True
            self._call()

    def reopen(self) -> None:
        """Have watchers again."""
        with self._lock:
            self._hung_up = False

    def _call(self) -> None:
        """Wake every watcher (under the lock): one call into each loop, so that a full hall holds up no publisher."""
        for loop in {watcher.loop for watcher in self._watchers}:
            if loop in self._called and not loop.is_closed():
                continue
            try:
                loop.call_soon_threadsafe(self._wake, loop)
                self._called.add(loop)
            except RuntimeError:  # it is closed: its watchers are gone and only have not said so
                self._called.discard(loop)
                for watcher in self._watchers:
                    watcher.ended = watcher.ended or watcher.loop is loop

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._called.discard(loop)
            watchers = [watcher for watcher in self._watchers if watcher.loop is loop]
        self._rouse(loop, watchers)

    def _rouse(self, loop: asyncio.AbstractEventLoop, watchers: list[Subscription]) -> None:
        """Wake `watchers`, so many at once and the next a moment later."""
        for watcher in watchers[:ABREAST]:
            watcher.news.set()
        if len(watchers) > ABREAST:
            loop.call_later(PAUSE_S, self._rouse, loop, watchers[ABREAST:])
