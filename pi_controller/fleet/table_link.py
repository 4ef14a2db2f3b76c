"""The table's side of the network: an observer whose own thread sends the journal and the public view to the hub.

The game never waits for it: the main loop leaves it the newest view and goes on. While a hide is in progress its
records stay at the table; the hub sees of it what everybody sees on the live page.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.errors import MatError
from pi_controller.fleet.journals import READING, Journals, NextGameError
from pi_controller.fleet.messages import (
    ORDER,
    Ack,
    Events,
    Health,
    Hello,
    MessageError,
    Order,
    Record,
    Reply,
    State,
    address,
    decode,
    topic,
)
from pi_controller.fleet.mqtt import (
    QOS,
    Broker,
    Will,
    password_in,
    publish,
    readable_ca,
    stay_connected,
    until_one_ends,
)
from pi_controller.fleet.outbox import Outbox
from pi_controller.machine_health import read_health
from pi_controller.referee.judge import MatchCall, RoundClockCall
from pi_controller.table.command_queue import CommandQueueError
from pi_controller.table.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiomqtt

    from pi_controller.fleet.outbox import Range
    from pi_controller.machine_health import MachineHealth
    from pi_controller.table.command_queue import CommandQueue
    from pi_controller.table.settings import Settings
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

log = logging.getLogger(__name__)
VIEW_S = 0.25
"""The view is sent no more often."""
HUB = "hub"
"""Who gives the table a match, in the journal."""
HEALTH_S = 30.0
"""How the machine is, is sent no more often."""
FREE_STEP = 10_000_000
"""Room on the disk is sent in steps of so many bytes."""
SOON_S = 0.05
"""So soon the journal of a match that was begun is there."""
AGAIN_S = 1.0
"""After so long a journal that could not be read is tried again."""
CLOSING_S = 3.0
"""A broker that is slower than this when the table stops is not waited for."""
_PART_BYTES = 1 << 18
_HIDDEN = frozenset({"hide", "check", "hit", "guess", "halted"})
"""The phases in which something may be hidden."""


class _News(NamedTuple):
    """The newest view, which journal it is of, up to which record that may be sent, and whether a game can begin."""

    view: View
    epoch: str
    released: int
    free: bool


def nothing_hidden(view: View) -> bool:
    """Return whether no hide is in progress: all records so far may leave the table."""
    return view.phase not in _HIDDEN or (view.phase == "hide" and not view.passes)


class TableLink(Observer):
    """Sends what happens at the table called `name` to the hub, under the account `broker.user`.

    What the hub gives the table to play is commanded by `command_queue`; without one it is refused.
    """

    def __init__(
        self,
        broker: Broker,
        venue: str,
        name: str,
        journal: Path,
        clock: Callable[[], float] = time.monotonic,
        command_queue: CommandQueue | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._broker = broker
        self._venue = venue
        self._name = name
        self._clock = clock
        self._wall = wall
        self._machine: MachineHealth | None = None
        self._health_at = float("-inf")
        self._folder = journal.absolute().parent
        self._journals = Journals(journal)
        self._start = secrets.token_hex(4)
        self._outbox = Outbox(self._start, __version__)
        self._latest: _News | None = None
        self._sent: View | None = None
        self._command_queue = command_queue
        self._order = Order()
        self._reply: Reply | None = None
        self._tried: tuple[str, str] = ("", "")
        """The order that was refused last though the table was free, and the journal at that time."""
        self._hub_ahead: float | None = None
        """How far the hub's clock is before `clock`, s, as far as it is known on this connection."""
        self._clocked: tuple[str, float | None, float | None] = ("", None, None)
        """The order whose clock was taken last, and how that stood."""
        self._hub = ""
        self._view_at = float("-inf")
        self._known = ""
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="hub", daemon=True)
        self._thread.start()

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Leave the newest view to the thread."""
        view, before, about = table.view, self._latest, table.journal.meta
        if about is None or (before is not None and before.view is view):
            return
        released = before.released if before is not None and before.epoch == about.epoch else 0
        self._latest = _News(view, about.epoch, view.seq if nothing_hidden(view) else released, table.free)
        self._wake()

    def close(self) -> None:
        """Send what is left and say goodbye; a broker that does not answer is not waited for."""
        self._stopping = True
        self._wake()
        self._thread.join(CLOSING_S)

    def _wake(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._woken)

    def _woken(self) -> None:
        self._news.set()
        if self._stopping:
            self._closing.set()

    def _work(self) -> None:
        try:
            asyncio.run(self._stay())
        except Exception:
            log.exception("nothing is sent to the hub any more; the game goes on")

    async def _stay(self) -> None:
        self._news, self._closing = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._woken()
        will = Will(self._topic("state"), State("lost", self._start, self._name))
        await stay_connected(self._broker, will, self._session, self._closing)

    def _topic(self, kind: str) -> str:
        return topic(self._venue, self._broker.user, kind)

    async def _session(self, client: aiomqtt.Client, messages: asyncio.Queue[aiomqtt.Message]) -> None:
        self._outbox.stop()
        self._sent, self._hub, self._reply, self._tried = None, "", None, ("", "")
        self._health_at = float("-inf")
        self._hub_ahead, self._clocked = None, ("", None, None)
        await client.subscribe(self._topic("ack"), QOS)
        await client.subscribe(self._topic(ORDER), QOS)
        await client.subscribe(topic(self._venue, "", "state"), QOS)
        await publish(client, self._topic("state"), State("ready", self._start, self._name), retain=True)
        self._outbox.ask(self._clock())
        await until_one_ends(self._receive(messages), self._send(client))
        await publish(client, self._topic("state"), State("stopped", self._start, self._name), retain=True)

    async def _receive(self, messages: asyncio.Queue[aiomqtt.Message]) -> None:
        while True:
            message = await messages.get()
            try:
                about = address(message.topic.value)
                if not about.table or about.kind in (
                    "ack",
                    ORDER,
                ):  # the hub's own broker sends more than was asked for
                    payload = bytes(message.payload)  # pyright: ignore[reportArgumentType]
                    self._take(about.kind, payload, kept=message.retain)
            except MessageError as error:
                self._note(error.what)
            self._news.set()

    def _take(self, kind: str, payload: bytes, *, kept: bool) -> None:
        """Take in a message; one that the broker had `kept` may be of any time."""
        now = self._clock()
        if kind == ORDER:
            self._order = decode(payload, Order) if payload else Order()
            if not kept and self._order.sent is not None:
                self._hub_ahead = self._order.sent - now
        elif kind == "ack":
            before = self._outbox.refused
            self._outbox.on_ack(now, decode(payload, Ack))
            if (refused := self._outbox.refused) and refused != before:
                log.warning(
                    "the hub takes nothing of this table: its journal is %s; the director can say more", refused
                )
        elif payload and (hub := decode(payload, State)).state == "ready" and hub.since != self._hub:
            self._hub = hub.since
            self._outbox.ask(now)

    async def _send(self, client: aiomqtt.Client) -> None:
        while True:
            closing = self._closing.is_set()
            self._news.clear()
            wait = await self._send_due(client)
            if closing:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    async def _send_due(self, client: aiomqtt.Client) -> float | None:
        """Send all that is due; return after how many seconds there may be more without news, None for never."""
        latest = self._latest
        if latest is None:
            return None
        waits: list[float | None] = []
        try:
            self._outbox.have(self._journals.games(latest.epoch, latest.view.seq), latest.released)
            waits.append(await self._obey(client, latest))
            while (out := self._outbox.due(self._clock())) is not None:
                if isinstance(out, Hello):
                    await publish(client, self._topic("hello"), out)
                else:
                    for events in parts(out, self._journals):
                        await publish(client, self._topic("ev"), events)
            if latest.view is not self._sent:
                now = self._clock()
                if now >= self._view_at:
                    self._sent, self._view_at = latest.view, now + VIEW_S
                    await publish(client, self._topic("view"), latest.view, retain=True)
                else:
                    waits.append(self._view_at - now)
        except NextGameError:
            waits.append(SOON_S)
        except (*READING, MessageError) as error:
            self._note(str(error).split("\n", maxsplit=1)[0])
            waits.append(AGAIN_S)
        waits += [await self._send_health(client, latest.view), self._outbox.wait(self._clock())]
        return min((wait for wait in waits if wait is not None), default=None)

    async def _send_health(self, client: aiomqtt.Client, view: View) -> float | None:
        """Send how the machine is, where that is due; return after how many seconds it is next, None for with news.

        Never while something is hidden: heat or room on the disk say nothing of the bead, and so it stays. What is
        sent is rounded.
        """
        now = self._clock()
        if now < self._health_at:
            return self._health_at - now
        if not nothing_hidden(view):
            return None
        self._machine = machine = read_health(folder=self._folder, before=self._machine)
        machine = msgspec.structs.replace(
            machine,
            temperature_c=None if machine.temperature_c is None else float(round(machine.temperature_c)),
            free_bytes=None if machine.free_bytes is None else machine.free_bytes // FREE_STEP * FREE_STEP,
        )
        self._health_at = now + HEALTH_S
        await publish(client, self._topic("health"), Health(self._wall(), machine, view.link), retain=True)
        return HEALTH_S

    async def _obey(self, client: aiomqtt.Client, latest: _News) -> float | None:
        """Play what the hub has ordered, once, and reply; return after how many seconds to try again, None for not.

        Whether it was is read in the journals: an order that comes once more after any of the three was killed is
        known there.
        """
        order = self._order
        if not order.order:
            return None
        reply, wait = Reply(order.order, True), None
        if order.order not in self._journals.orders:
            reply, wait = await self._try(order, latest)
        if reply is not None and reply != self._reply:
            self._reply = reply
            await publish(client, self._topic("match"), reply, retain=True)
        if order.order == self._journals.order and latest.view.phase != "over":
            wait = wait or await self._set_clock(order)
        return wait

    async def _set_clock(self, order: Order) -> float | None:
        """Let the game of `order` be played on its round's clock; return after how many seconds to try again."""
        wanted = order.order, order.ends, order.left_s
        if wanted == self._clocked or self._command_queue is None:
            return None
        if order.ends is not None and self._hub_ahead is not None:
            left = max(0.0, order.ends - self._hub_ahead - self._clock())
        elif order.ends is None and order.left_s is not None:
            left = order.left_s
        else:
            return None
        call = RoundClockCall(0.0, order.order, left, order.ends is not None)
        try:
            await self._command_queue.ask(call, HUB, HUB, secrets.token_hex(8))
        except CommandQueueError:
            return AGAIN_S
        except MatError as error:
            log.warning("the clock of the round is not taken: %s", error.what)
        self._clocked = wanted
        return None

    async def _try(self, order: Order, latest: _News) -> tuple[Reply | None, float | None]:
        """Return what became of `order`, None where that is not known yet, and when to try again."""
        if not latest.free or self._command_queue is None:
            return Reply(order.order, False, "a game is under way at this table"), None
        if self._tried == (order.order, latest.epoch):
            return self._reply, None
        call = MatchCall(
            0.0,
            order.tournament,
            order.match,
            order.order,
            order.game,
            order.version,
            order.options,
            {letter: str(name) for letter, name in order.teams.items()},
        )
        try:
            if set(order.teams) != {"A", "B"}:
                raise MessageError("the match has not two teams")
            await self._command_queue.ask(call, HUB, HUB, order.order)
        except CommandQueueError:  # it may have been taken: the journal tells
            return None, AGAIN_S
        except MatError as error:
            log.warning("match %s is not played here: %s", order.match, error.what)
            self._tried = (order.order, latest.epoch)
            return Reply(order.order, False, ": ".join(filter(None, (error.what, error.todo)))[:400]), None
        log.info("match %s of the tournament is played here", order.match)
        return None, SOON_S

    def _note(self, what: str) -> None:
        if what != self._known:
            self._known = what
            log.warning("to the hub: %s", what)


def parts(wanted: Range, journals: Journals) -> list[Events]:
    """Return these records as messages, none much longer than `_PART_BYTES`. Raises as `Journals.rows`."""
    made: list[Events] = []
    part: list[Record] = []
    size = 0
    for row in journals.rows(wanted):
        if part and size + len(row.body) > _PART_BYTES:
            made.append(Events(wanted.epoch, tuple(part)))
            part, size = [], 0
        part.append(Record(*row))
        size += len(row.body)
    return [*made, Events(wanted.epoch, tuple(part))] if part else made


def table_link(settings: Settings, command_queue: CommandQueue | None = None) -> TableLink:
    """Return what sends to the hub that `settings` name, and takes its matches by `command_queue`.

    Raises `SettingsError` where its files cannot be read.
    """
    hub = settings.hub
    password = password_in(Path(hub.password_file)) if hub.password_file else None
    broker = Broker(hub.address, hub.port, hub.table, password, readable_ca(hub.ca))
    return TableLink(broker, hub.venue, settings.table.name, settings.table.journal, command_queue=command_queue)
