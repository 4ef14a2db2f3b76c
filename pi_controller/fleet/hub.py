"""The hub: takes in what all tables send, answers them, and shows how each of them is."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from pi_controller.fleet.home_assistant import ACCOUNT as HOME
from pi_controller.fleet.home_assistant import CONFIGS, PREFIX, announced_table, discovery
from pi_controller.fleet.hub_settings import ACCOUNT
from pi_controller.fleet.messages import (
    ORDER,
    Events,
    Health,
    Hello,
    MessageError,
    Order,
    Presence,
    Refusal,
    Reply,
    State,
    address,
    decode,
    topic,
)
from pi_controller.fleet.mqtt import QOS, Broker, Will, publish, stay_connected, until_one_ends
from pi_controller.fleet.store import StoreError
from pi_controller.table.view import View
from pi_controller.tournament.schedule import natural_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import aiomqtt

    from pi_controller.fleet.director import Director
    from pi_controller.fleet.inbox import Alarm, Inbox
    from pi_controller.fleet.messages import Ack

log = logging.getLogger(__name__)
MOST_AT_ONCE = 256
"""Messages that are taken in one transaction."""
CALL_S = 1.0
"""How often the hub looks which matches can be called."""
_KINDS = ("hello", "ev", "state", "view", "match", "health")


class TableShown(msgspec.Struct, frozen=True):
    """A table as the hub knows it. `alarm` is why its journal is refused, "" where it is not.

    `clock_s` is by how much its clock was ahead of the hub's when `health` came, less the time that took; None where
    it came from the broker's memory. `heard` is when the table last said anything itself (s since 1970), None where it
    has not since the hub runs. `mat`: whether its mat is heard; None while it was not yet, as where there is none.
    """

    table: str
    name: str = ""
    state: Presence = "lost"
    view: View | None = None
    alarm: Refusal = ""
    health: Health | None = None
    clock_s: float | None = None
    heard: float | None = None
    mat: bool | None = None


class Hub:
    """Receives at `broker` from all tables of `venue` into `inbox`; `show` is called with all of them at each news.

    With `home` tables are announced to Home Assistant. `known` are the tables of which `inbox` has anything; None: they
    are looked for there. Raises `StoreError` where they cannot be.

    `director` keeps the tournament, where there is one: tables are given its matches.
    """

    def __init__(
        self,
        inbox: Inbox,
        broker: Broker,
        venue: str,
        show: Callable[[tuple[TableShown, ...]], None],
        clock: Callable[[], float] = time.time,
        director: Director | None = None,
        *,
        home: bool = False,
        known: Iterable[str] | None = None,
    ) -> None:
        self._inbox = inbox
        self._broker = broker
        self._venue = venue
        self._show = show
        self._clock = clock
        self._start = secrets.token_hex(4)
        self._tables = {table: TableShown(table) for table in (inbox.held() if known is None else known)}
        self._known: dict[str, str] = {}
        self._director = director
        self._home = home
        self._announced: dict[str, str] = {}
        """By what name each table was announced on this connection."""
        self._no_more: list[str] = []
        """Topics of announcements that are to be emptied."""
        self._ordered: dict[str, Order] = {}
        """What each table was given on this connection."""
        self._again: list[Callable[[], None]] = []
        """What the store had no room for, and is tried once more."""
        self._alarms: dict[str, Alarm] = {}
        self._due: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sessions = 0
        self.rival = ""
        """Another hub that answers for this venue, "" for none."""

    async def run(self, closing: asyncio.Event) -> None:
        """Receive until `closing`."""
        self._loop, self._due = asyncio.get_running_loop(), asyncio.Event()
        if self._director is not None:
            self._director.changed = self.wake
            await asyncio.to_thread(self._kept, partial(self._director.catch_up, self._clock()))
        self._publish()
        will = Will(topic(self._venue, "", "state"), State("lost", self._start))
        await stay_connected(self._broker, will, partial(self._session, closing), closing)

    def heard_of(self) -> frozenset[str]:
        """Return the tables of which anything has come."""
        return frozenset(self._tables)

    def wake(self) -> None:
        """Look at once what tables are to be given; may be called from any thread."""
        if self._loop is not None and self._due is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._due.set)

    async def _session(
        self, closing: asyncio.Event, client: aiomqtt.Client, messages: asyncio.Queue[aiomqtt.Message]
    ) -> None:
        for kind in _KINDS:
            await client.subscribe(topic(self._venue, "+", kind), QOS)
        here = topic(self._venue, "", "state")
        await client.subscribe(here, QOS)
        await client.subscribe(CONFIGS, QOS)  # the last: all tables that the broker remembers are known then
        self._ordered.clear()
        self._announced.clear()
        self._sessions += 1
        await publish(client, here, State("ready", self._start), retain=True)
        works = [self._receive(client, messages), _set(closing)]
        if self._director is not None:
            works.append(self._call(client, self._director))
        await until_one_ends(*works)
        await publish(client, here, State("stopped", self._start), retain=True)

    async def _call(self, client: aiomqtt.Client, director: Director) -> None:
        """Give tables their matches, whenever something has changed."""
        assert self._due is not None
        while True:
            self._due.clear()
            here = [
                one.table for one in self._shown() if one.state == "ready" and one.view is not None and not one.alarm
            ]
            await asyncio.to_thread(self._try_again)
            await asyncio.to_thread(self._kept, partial(director.call_due, self._clock(), here), again=False)
            for table, order in director.orders(self._tables).items():
                if self._ordered.get(table) != order:
                    self._ordered[table] = order
                    sent = self._clock() if order.ends is not None else None
                    stamped = msgspec.structs.replace(order, sent=sent)
                    await publish(client, topic(self._venue, table, ORDER), stamped, retain=True)
            self._publish()
            with suppress(TimeoutError):
                async with asyncio.timeout(CALL_S):
                    await self._due.wait()

    async def _receive(self, client: aiomqtt.Client, messages: asyncio.Queue[aiomqtt.Message]) -> None:
        while True:
            batch = [await messages.get()]
            while not messages.empty() and len(batch) < MOST_AT_ONCE:
                batch.append(messages.get_nowait())
            wanted: list[tuple[str, Hello | Events]] = []
            for message in batch:
                if message.topic.value.startswith(f"{PREFIX}/"):
                    self._see_announced(message)
                    continue
                try:
                    table, kind = address(message.topic.value)[1:]
                    if not table:
                        self._see_rival(message)
                        continue
                    found = self._understood(table, kind, message.payload, fresh=not message.retain)
                except MessageError as error:
                    self._note(message.topic.value, error.what)
                    continue
                if not message.retain:
                    self._heard(table, kind)
                if found is not None:
                    wanted.append((table, found))
            answers = await self._taken(wanted) if wanted else []
            if self._director is not None and answers:
                await asyncio.to_thread(self._follow, [(table, ack.epoch) for table, ack in answers if not ack.refused])
            self._publish()
            await asyncio.gather(*(publish(client, topic(self._venue, table, "ack"), ack) for table, ack in answers))
            await self._announce(client)

    def _see_announced(self, message: aiomqtt.Message) -> None:
        """Note what the broker remembers that a hub of this venue announced once, and none would now."""
        if not message.retain:
            return
        table, where = announced_table(self._venue, message.payload), message.topic.value
        stands = self._home and table in self._tables and where in discovery(self._venue, table, "")
        if table is not None and not stands:
            self._no_more.append(where)

    async def _announce(self, client: aiomqtt.Client) -> None:
        """Announce tables that are new, or are called otherwise now, to Home Assistant; take back what is no more."""
        while self._no_more:
            await client.publish(self._no_more.pop(), b"", QOS, retain=True)
        if not self._home:
            return
        for table, shown in self._tables.items():
            if self._announced.get(table) != shown.name:
                self._announced[table] = shown.name
                for where, payload in discovery(self._venue, table, shown.name).items():
                    await client.publish(where, payload, QOS, retain=True)

    def _follow(self, games: list[tuple[str, str]]) -> None:
        for table, epoch in dict.fromkeys(games):
            if self._director is not None:
                self._kept(partial(self._director.progress, self._clock(), table, epoch))

    def _kept(self, do: Callable[[], None], *, again: bool = True) -> None:
        """Do what the store has to keep; where it cannot, do it `again` when the next matches are looked for."""
        try:
            do()
        except StoreError as error:
            self._note("", f"{error.what}; it is tried again")
            if again:
                self._again.append(do)

    def _try_again(self) -> None:
        waiting, self._again = self._again, []
        for do in waiting:
            self._kept(do)

    def _see_rival(self, message: aiomqtt.Message) -> None:
        """Another hub at this broker would give tables other matches: that is said.

        They push each other out, so each finds the other's word when it comes back; that of the first time may be of
        an older start.
        """
        if (message.retain and self._sessions == 1) or not message.payload:
            return
        state = decode(bytes(message.payload), State)  # pyright: ignore[reportArgumentType]
        if state.since != self._start:
            self.rival = state.since
            self._note("another hub", "it answers for the same venue at this broker; stop one of the two")

    def _heard(self, table: str, kind: str) -> None:
        """Note that the table said something just now; its last will is the broker's word."""
        shown = self._tables.get(table)
        if shown is not None and not (kind == "state" and shown.state == "lost"):
            self._tables[table] = msgspec.structs.replace(shown, heard=self._clock())

    def _understood(self, table: str, kind: str, payload: object, *, fresh: bool) -> Hello | Events | None:
        """Return what is for the inbox; take what is for the page. Raises `MessageError`."""
        if table in (ACCOUNT, HOME):
            raise MessageError("this account is no table's")
        if not isinstance(payload, bytes | bytearray):
            raise MessageError("it is empty")
        data, shown = bytes(payload), self._tables.get(table, TableShown(table))
        match kind:
            case "hello":
                return decode(data, Hello)
            case "ev":
                return decode(data, Events)
            case "state":
                state = decode(data, State)
                mat = shown.mat if state.state == "ready" else None
                shown = msgspec.structs.replace(shown, state=state.state, name=state.name, mat=mat)
                if state.state == "ready" and self._ordered.get(table, Order()).ends is not None:
                    del self._ordered[table]  # what the broker kept for it does not say how late it is
                    self.wake()
            case "view":
                view = decode(data, View)
                mat = True if view.link else None if shown.mat is None else False
                shown = msgspec.structs.replace(shown, view=view, mat=mat)
            case "health":
                health = decode(data, Health)
                clock_s = health.t - self._clock() if fresh else shown.clock_s
                shown = msgspec.structs.replace(shown, health=health, clock_s=clock_s)
            case "match":
                reply = decode(data, Reply)
                if self._director is not None:
                    self._kept(partial(self._director.replied, self._clock(), table, reply))
                    self.wake()
            case _:
                return None
        self._tables[table] = shown
        return None

    async def _taken(self, wanted: list[tuple[str, Hello | Events]]) -> list[tuple[str, Ack]]:
        """Take all of it; nothing is answered where the disk refuses, and the tables send it again."""
        try:
            return await asyncio.to_thread(self._inbox.take, self._clock(), wanted)
        except StoreError as error:
            self._note("", f"{error.what}; nothing is lost: the tables keep it, and send it again")
            return []

    def _publish(self) -> None:
        shown = self._shown()
        for table, alarm in self._alarms.items():
            self._note(table, f"{alarm.about}: {alarm.what}")
        self._show(shown)

    def _shown(self) -> tuple[TableShown, ...]:
        """Return all tables, with why the journal of each is refused, as far as the store can be read."""
        with suppress(StoreError):
            self._alarms = {alarm.table: alarm for alarm in reversed(self._inbox.alarms()) if alarm.open}
        alarms = self._alarms
        return tuple(
            msgspec.structs.replace(shown, alarm=alarms[table].about if table in alarms else "")
            for table, shown in sorted(self._tables.items(), key=lambda one: natural_order(one[0]))
        )

    def _note(self, about: str, what: str) -> None:
        if self._known.get(about) != what:
            self._known[about] = what
            log.warning("%s%s", f"{about}: " if about else "", what)


async def _set(event: asyncio.Event) -> None:
    await event.wait()
