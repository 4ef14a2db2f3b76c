"""A broker in memory and the hub itself with its tournament, on the table's virtual time: both sides are watched.

The hub and the table's link run whole; only their connections and the event loop's clock are other.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import TYPE_CHECKING
from unittest import mock

from linked_table import VENUE
from memory_broker import MemoryBroker

from pi_controller.hub import mqtt
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.hub import Hub
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.settings import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TURNS = 40
"""Of the event loop in a step: more than any message needs to come, be taken and be answered."""


class Venue:
    """All that is sent goes to `sent(account, topic, payload, retain)`; the hub's store is at `path`."""

    def __init__(self, path: Path, clock: Callable[[], float], sent: Callable[[str, str, bytes, bool], None]):
        self.loop = VirtualLoop(clock)
        self.broker = MemoryBroker(sent)
        self._path, self._clock = path, clock
        self._hub: asyncio.Task[None] | None = None
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)

    def connections(self):
        """Return a context in which tables and hub meet at this broker."""
        return mock.patch.object(mqtt, "make_client", self.broker.connect)

    def start_hub(self) -> None:
        self._inbox, self._log = Inbox(self._path), TournamentLog(self._path)
        self.director = Director(self._log, self._inbox)
        hub = Hub(self._inbox, self.broker.account(ACCOUNT), VENUE, lambda _: None, self._clock, self.director)
        self._hub = self.loop.create_task(hub.run(asyncio.Event()))

    def kill_hub(self) -> None:
        """Its connection is gone, and its last will comes."""
        assert self._hub is not None
        self._hub.cancel()
        self.turn()
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
        """All connections break; each side's last will comes."""
        for account in list(self.broker.clients):
            self.broker.drop(account)

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
