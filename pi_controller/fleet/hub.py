"""The hub: takes in what all tables send, answers them, and shows how each of them is."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from typing import TYPE_CHECKING

import msgspec

from pi_controller.fleet.inbox import InboxError
from pi_controller.fleet.messages import (
    Events,
    Hello,
    MessageError,
    Presence,
    Refusal,
    State,
    address,
    decode,
    topic,
)
from pi_controller.fleet.mqtt import QOS, Broker, Will, publish, stay_connected
from pi_controller.table.view import View

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import aiomqtt

    from pi_controller.fleet.inbox import Inbox
    from pi_controller.fleet.messages import Ack

log = logging.getLogger(__name__)
MOST_AT_ONCE = 256
"""Messages that are taken in one transaction."""
_KINDS = ("hello", "ev", "state", "view")


class TableShown(msgspec.Struct, frozen=True):
    """A table as the hub knows it. `alarm` is why its journal is refused, "" where it is not."""

    table: str
    name: str = ""
    state: Presence = "lost"
    view: View | None = None
    alarm: Refusal = ""


class Hub:
    """Receives at `broker` from all tables of `venue` into `inbox`; `show` is called with all of them at each news."""

    def __init__(
        self,
        inbox: Inbox,
        broker: Broker,
        venue: str,
        show: Callable[[tuple[TableShown, ...]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._inbox = inbox
        self._broker = broker
        self._venue = venue
        self._show = show
        self._clock = clock
        self._start = secrets.token_hex(4)
        self._tables = {table: TableShown(table) for table in inbox.held()}
        self._known: dict[str, str] = {}

    async def run(self, closing: asyncio.Event) -> None:
        """Receive until `closing`."""
        self._tell()
        will = Will(topic(self._venue, "", "state"), State("lost", self._start))
        await stay_connected(self._broker, will, lambda client: self._session(client, closing), closing)

    async def _session(self, client: aiomqtt.Client, closing: asyncio.Event) -> None:
        for kind in _KINDS:
            await client.subscribe(topic(self._venue, "+", kind), QOS)
        here = topic(self._venue, "", "state")
        await publish(client, here, State("ready", self._start), retain=True)
        async with asyncio.TaskGroup() as group:
            receiving = group.create_task(self._receive(client))
            waiting = group.create_task(closing.wait())
            await asyncio.wait((receiving, waiting), return_when=asyncio.FIRST_COMPLETED)
            receiving.cancel()
            waiting.cancel()
        await publish(client, here, State("stopped", self._start), retain=True)

    async def _receive(self, client: aiomqtt.Client) -> None:
        async for messages in _batches(client):
            wanted: list[tuple[str, Hello | Events]] = []
            for message in messages:
                try:
                    table, kind = address(message.topic.value)[1:]
                    found = self._understood(table, kind, message.payload)
                except MessageError as error:
                    self._note(message.topic.value, error.what)
                    continue
                if found is not None:
                    wanted.append((table, found))
            answers = await self._taken(wanted) if wanted else []
            self._tell()
            await asyncio.gather(*(publish(client, topic(self._venue, table, "ack"), ack) for table, ack in answers))

    def _understood(self, table: str, kind: str, payload: object) -> Hello | Events | None:
        """Return what is for the inbox; take what is for the page. Raises `MessageError`."""
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
                shown = msgspec.structs.replace(shown, state=state.state, name=state.name)
            case "view":
                shown = msgspec.structs.replace(shown, view=decode(data, View))
            case _:
                return None
        self._tables[table] = shown
        return None

    async def _taken(self, wanted: list[tuple[str, Hello | Events]]) -> list[tuple[str, Ack]]:
        """Take all of it; nothing is answered where the disk refuses, and the tables send it again."""
        try:
            return await asyncio.to_thread(self._inbox.take, self._clock(), wanted)
        except InboxError as error:
            self._note("", f"{error.what}; nothing is lost: the tables keep it, and send it again")
            return []

    def _tell(self) -> None:
        alarms = {alarm.table: alarm for alarm in reversed(self._inbox.alarms()) if alarm.open}
        for table, alarm in alarms.items():
            self._note(table, f"{alarm.about}: {alarm.what}")
        self._show(
            tuple(
                msgspec.structs.replace(shown, alarm=alarms[table].about if table in alarms else "")
                for table, shown in sorted(self._tables.items())
            )
        )

    def _note(self, about: str, what: str) -> None:
        if self._known.get(about) != what:
            self._known[about] = what
            log.warning("%s%s", f"{about}: " if about else "", what)


async def _batches(client: aiomqtt.Client) -> AsyncIterator[list[aiomqtt.Message]]:
    """Yield what has come, up to `MOST_AT_ONCE` messages at once."""
    messages = client.messages
    async for message in messages:
        batch = [message]
        while len(messages) and len(batch) < MOST_AT_ONCE:
            batch.append(await anext(messages))
        yield batch
