"""The table's connection to the hub: an observer whose thread sends the journal and the public view.

The game never waits for it: the main loop only stores the newest view. During a hide its records stay at the table; the
hub sees only the public view of it.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, cast

import aiomqtt
import msgspec

from pi_controller import __version__
from pi_controller.config import Settings
from pi_controller.errors import MatError, describe_error
from pi_controller.host.machine_health import MachineHealth, read_health, round_health
from pi_controller.hub import messages, mqtt, outbox
from pi_controller.hub.received_journals import READ_ERRORS, Journals, NextGameError
from pi_controller.referee.judge import CopiedRecords, MatchCall, MatchVoidCall, RoundClockCall, VoidReason
from pi_controller.table.commands import CommandQueueError
from pi_controller.table.table import Observer, Table
from pi_controller.table.table_queue import TableQueue
from pi_controller.table.view import View, is_between_hides

log = logging.getLogger(__name__)
VIEW_S = 0.25
"""Minimum interval between two views."""
HUB = "hub"
"""The actor in the journal for the hub's commands."""
HEALTH_S = 30.0
"""Minimum interval between two health messages."""
FREE_STEP = 10_000_000
"""The free disk space is rounded down to a multiple of this many bytes."""
JOURNAL_WAIT_S = 0.05
"""Delay until the journal of a new match is expected on disk."""
RETRY_S = 1.0
"""Delay before an unreadable journal is read again."""
_PART_BYTES = 1 << 18


class _News(NamedTuple):
    """The newest view, its journal's epoch, the last record that may be sent, and whether a game can begin."""

    view: View
    epoch: str
    released: int
    free: bool


class TableLink(mqtt.BackgroundLink, Observer[Table]):
    """Sends the events of the table `name` to the hub, under the account `broker.user`.

    The hub's matches are started through `command_queue`; without one they are refused. It connects with `start`.
    """

    def __init__(
        self,
        broker: mqtt.Broker,
        venue: str,
        name: str,
        journal: Path,
        clock: Callable[[], float] = time.monotonic,
        command_queue: TableQueue | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._venue = venue
        self._name = name
        self._clock = clock
        self._wall = wall
        self._machine: MachineHealth | None = None
        self._health_at = float("-inf")
        self._folder = journal.absolute().parent
        self._journals = Journals(journal)
        self._start = secrets.token_hex(4)
        self._outbox = outbox.Outbox(self._start, __version__)
        self._latest: _News | None = None
        self._sent: View | None = None
        self._command_queue = command_queue
        self._order = messages.Order()
        self._reply: messages.Reply | None = None
        self._tried: tuple[str, str] = ("", "")
        """The order that was refused last although the table was free, and the journal at that time."""
        self._hub_ahead: float | None = None
        """How far the hub's clock is ahead of `clock`, s; None if not known on this connection."""
        self._clocked: tuple[str, float | None, float | None] = ("", None, None)
        """The order whose clock was applied last, and its values."""
        self._hub = ""
        self._view_at = float("-inf")
        self._known = ""
        where = messages.topic(venue, broker.user, "state")
        super().__init__(broker, mqtt.Will(where, messages.State("lost", self._start, name)))

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Pass the newest view to the thread."""
        view, before, about = table.view, self._latest, table.journal.meta
        if about is None or (before is not None and before.view is view):
            return
        released = before.released if before is not None and before.epoch == about.epoch else 0
        self._latest = _News(view, about.epoch, view.seq if is_between_hides(view) else released, table.can_begin_game)
        self.wake()

    def _topic(self, kind: str) -> str:
        return messages.topic(self._venue, self._broker.user, kind)

    async def _session(self, client: aiomqtt.Client, inbound: asyncio.Queue[aiomqtt.Message]) -> None:
        self._outbox.stop()
        self._sent, self._hub, self._reply, self._tried = None, "", None, ("", "")
        self._health_at = float("-inf")
        self._hub_ahead, self._clocked = None, ("", None, None)
        await client.subscribe(self._topic("ack"), mqtt.QOS)
        await client.subscribe(self._topic(messages.ORDER), mqtt.QOS)
        await client.subscribe(messages.topic(self._venue, "", "state"), mqtt.QOS)
        await mqtt.publish(client, self._topic("state"), messages.State("ready", self._start, self._name), retain=True)
        self._outbox.start_hello(self._clock())
        await mqtt.until_one_ends(self._receive(inbound), self._send(client))
        await mqtt.publish(
            client, self._topic("state"), messages.State("stopped", self._start, self._name), retain=True
        )

    async def _receive(self, inbound: asyncio.Queue[aiomqtt.Message]) -> None:
        while True:
            message = await inbound.get()
            try:
                about = messages.parse_topic(message.topic.value)
                # the embedded broker also sends messages without a subscription
                if not about.table or about.kind in ("ack", messages.ORDER):
                    payload = bytes(message.payload)  # pyright: ignore[reportArgumentType]
                    self._take(about.kind, payload, kept=message.retain)
            except messages.MessageError as error:
                self._note(error.message)
            self._news.set()

    def _take(self, kind: str, payload: bytes, *, kept: bool) -> None:
        """Process a message; one with `kept` was retained by the broker and may be old."""
        now = self._clock()
        if kind == messages.ORDER:
            self._order = messages.decode(payload, messages.Order) if payload else messages.Order()
            if not kept and self._order.sent is not None:
                self._hub_ahead = self._order.sent - now
        elif kind == "ack":
            before, ack = self._outbox.refused, messages.decode(payload, messages.Ack)
            self._outbox.on_ack(now, ack)
            if ack.program:
                self._note(
                    f"this table's program ({__version__}) is newer than the hub's ({ack.program}): update the hub"
                )
            if (refused := self._outbox.refused) and refused != before:
                log.warning("the hub refuses this table's journal: it is %s; ask the director", refused)
        elif payload and (hub := messages.decode(payload, messages.State)).state == "ready" and hub.since != self._hub:
            self._hub = hub.since
            self._outbox.start_hello(now)

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
        """Send all due messages; return the seconds until the next one, None if there is none without news."""
        latest = self._latest
        if latest is None:
            return None
        waits: list[float | None] = []
        try:
            self._outbox.set_available(self._journals.games(latest.epoch, latest.view.seq), latest.released)
            waits.append(await self._apply_order(client, latest))
            while (out := self._outbox.next_message(self._clock())) is not None:
                if isinstance(out, messages.Hello):
                    await mqtt.publish(client, self._topic("hello"), out)
                else:
                    for events in split_events(out, self._journals):
                        await mqtt.publish(client, self._topic("ev"), events)
            if latest.view is not self._sent:
                now = self._clock()
                if now >= self._view_at:
                    self._sent, self._view_at = latest.view, now + VIEW_S
                    await mqtt.publish(client, self._topic("view"), latest.view, retain=True)
                else:
                    waits.append(self._view_at - now)
        except NextGameError:
            waits.append(JOURNAL_WAIT_S)
        except (*READ_ERRORS, messages.MessageError) as error:
            self._note(describe_error(error).split("\n", maxsplit=1)[0])
            waits.append(RETRY_S)
        waits += [await self._send_health(client, latest.view), self._outbox.wait(self._clock())]
        return min((wait for wait in waits if wait is not None), default=None)

    async def _send_health(self, client: aiomqtt.Client, view: View) -> float | None:
        """Send the machine's health if it is due; return the seconds until the next time, None if not known.

        Not during a hide, so that temperature and disk space cannot leak anything about the bead. The values are
        rounded.
        """
        now = self._clock()
        if now < self._health_at:
            return self._health_at - now
        if not is_between_hides(view):
            return None
        self._machine = machine = read_health(folder=self._folder, before=self._machine)
        self._health_at = now + HEALTH_S
        health = messages.Health(self._wall(), round_health(machine, FREE_STEP), view.link)
        await mqtt.publish(client, self._topic("health"), health, retain=True)
        return HEALTH_S

    async def _apply_order(self, client: aiomqtt.Client, latest: _News) -> float | None:
        """Start the match that the hub has ordered, once, and reply; return the seconds until a retry, None for none.

        The journals show whether an order was executed already, also after a restart of table, hub or broker.
        """
        order = self._order
        if (wait := await self._apply_void(order, latest)) is not None or not order.order:
            return wait
        reply = messages.Reply(order.order, True)
        if order.order not in self._journals.orders:
            reply, wait = await self._start_match(order, latest)
        if reply is not None and reply != self._reply:
            self._reply = reply
            await mqtt.publish(client, self._topic("match"), reply, retain=True)
        if order.order == self._journals.order and latest.view.phase != "over":
            wait = wait or await self._set_clock(order)
        return wait

    async def _apply_void(self, order: messages.Order, latest: _News) -> float | None:
        """Pass on whether the current match still counts; return the seconds until a retry, None for none."""
        played = self._journals.order
        if not played or self._command_queue is None or played not in (order.void, order.order):
            return None
        why = cast("VoidReason", order.why if played == order.void else "")
        if why == latest.view.void:
            return None
        try:
            await self._command_queue.submit_call(MatchVoidCall(0.0, played, why), HUB, HUB, secrets.token_hex(8))
        except MatError:
            return RETRY_S
        return None

    async def _set_clock(self, order: messages.Order) -> float | None:
        """Apply the round's clock to the game of `order`; return the seconds until a retry, None for none."""
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
            await self._command_queue.submit_call(call, HUB, HUB, secrets.token_hex(8))
        except CommandQueueError:
            return RETRY_S
        except MatError as error:
            log.warning("the round's clock is refused: %s", error.message)
        self._clocked = wanted
        return None

    async def _start_match(self, order: messages.Order, latest: _News) -> tuple[messages.Reply | None, float | None]:
        """Start the match of `order`; return the reply, None if not known yet, and the seconds until a retry."""
        if not latest.free or self._command_queue is None:
            return messages.Reply(order.order, False, "a game is in progress at this table"), None
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
                raise messages.MessageError("the match does not have two teams")
            if (copy := order.copied) is not None:
                records = tuple((row.batch, row.body) for row in copy.rows())
                call = msgspec.structs.replace(call, copied=CopiedRecords(copy.epoch, copy.seq, records))
            await self._command_queue.submit_call(call, HUB, HUB, order.order)
        except CommandQueueError:  # it may have been accepted: the journal will show it
            return None, RETRY_S
        except MatError as error:
            log.warning("match %s is not played here: %s", order.match, error.message)
            self._tried = (order.order, latest.epoch)
            return messages.Reply(order.order, False, ": ".join(filter(None, (error.message, error.hint)))[:400]), None
        log.info("match %s of the tournament is played here", order.match)
        return None, JOURNAL_WAIT_S

    def _note(self, what: str) -> None:
        if what != self._known:
            self._known = what
            log.warning("to the hub: %s", what)


def split_events(wanted: outbox.RecordRange, journals: Journals) -> list[messages.Events]:
    """Split these records, and the rest of their last batch, into messages of about `_PART_BYTES` at most.

    Each message ends with a whole batch, unless that has more than `MAX_RECORDS`: so what the hub has is a state of the
    game, from which another table can go on. Raises as `Journals.rows`.
    """
    rows = journals.rows(wanted)
    after = wanted._replace(first=wanted.last + 1, last=wanted.last + messages.MAX_RECORDS)
    rows += [row for row in journals.rows(after) if rows and row.batch == rows[-1].batch]
    made: list[messages.Events] = []
    part: list[messages.SentRecord] = []
    size = 0
    for _, batch in groupby(rows, key=attrgetter("batch")):
        records = [messages.SentRecord(*row) for row in batch]
        length = sum(len(record.body) for record in records)
        if part and (size + length > _PART_BYTES or len(part) + len(records) > messages.MAX_RECORDS):
            made.append(messages.Events(wanted.epoch, tuple(part)))
            part, size = [], 0
        part += records
        size += length
        while len(part) > messages.MAX_RECORDS:
            made.append(messages.Events(wanted.epoch, tuple(part[: messages.MAX_RECORDS])))
            del part[: messages.MAX_RECORDS]
    return [*made, messages.Events(wanted.epoch, tuple(part))] if part else made


def make_table_link(settings: Settings, command_queue: TableQueue | None = None) -> TableLink:
    """Return the connection to the hub in `settings`, which starts the hub's matches through `command_queue`.

    Raises `SettingsError` if its files cannot be read.
    """
    name, journal = settings.table.name, settings.table.journal
    return TableLink(mqtt.account_broker(settings.hub), settings.hub.venue, name, journal, command_queue=command_queue)
