"""The hub itself with its tournament, on a line in memory and the table's virtual time: both sides are watched.

The hub and the table's link run whole; only the line and the event loop's clock are other.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import TYPE_CHECKING

from hub_line import HubLine

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.hub import Hub
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLE = "t01"
TURNS = 200
"""Of the event loop in a step: more than any message needs to come, be taken and be answered."""


class Venue:
    """A table's reports go to `sent(table, body)` and the hub's answers to `answered`; its store is at `path`."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float],
        sent: Callable[[str, bytes], None],
        answered: Callable[[str, bytes], None],
    ):
        self.loop = VirtualLoop(clock)
        self._path, self._clock = path, clock
        self._hub: asyncio.Task[None] | None = None
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        with Tokens(path) as tokens:
            self._token = tokens.issue(TABLE)
        self.line = HubLine(clock, None, sent, answered)

    def client(self):
        """Return the client of the table that has joined."""
        return self.line.client(TABLE, self._token)

    def start_hub(self) -> None:
        self._inbox, self._log = Inbox(self._path), TournamentLog(self._path)
        self.director = Director(self._log, self._inbox)
        self._tokens = self.line.tokens = Tokens(self._path)
        hub = self.line.hub = Hub(self._inbox, lambda _: None, self._clock, self.director)
        self._hub = self.loop.create_task(hub.run(asyncio.Event()))

    def kill_hub(self) -> None:
        """It answers no more."""
        assert self._hub is not None
        self.line.hub = None
        self._hub.cancel()
        self.turn()
        self._tokens.close()
        self._log.close()
        self._inbox.close()

    def decide(self, *facts) -> None:
        """The tournament's director does something."""
        for fact in facts:
            self.director.decide(self._clock(), "Ann", fact)

    def turn(self) -> None:
        """Let everybody do what can be done at this moment."""
        self.loop.turn(TURNS)

    def cut(self) -> None:
        """Nothing comes through any more."""
        self.line.cut.add("all")

    def mend(self) -> None:
        """All comes through again."""
        self.line.cut.clear()

    def close(self) -> None:
        self.kill_hub()
        self.loop.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time that runs only in `turn`."""

    def __init__(self, clock: Callable[[], float]):
        super().__init__()
        self._virtual = clock
        self.set_default_executor(_Here())

    def time(self):
        return self._virtual()

    def turn(self, times: int) -> None:
        """Let everybody do what can be done at this moment, at most `times` things one after the other."""
        for _ in range(times):
            due = bool(self._scheduled) and self._scheduled[0].when() <= self.time()
            if not self._ready and not due:
                return
            self.call_soon(self.stop)
            self.run_forever()


class _Here(concurrent.futures.ThreadPoolExecutor):
    """Does at once, here, what would be done in a thread."""

    def submit(self, fn, /, *args, **kwargs):
        done = concurrent.futures.Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is whoever waits that gets it
            done.set_exception(error)
        return done
