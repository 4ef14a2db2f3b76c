"""The hub: receives the messages of all tables, answers them, and publishes the status of each table."""

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import aiomqtt
import msgspec

from pi_controller import __version__
from pi_controller.display.shown_names import clean_name
from pi_controller.hub import messages
from pi_controller.hub.director import Director, can_take_match
from pi_controller.hub.inbox import Alarm, Inbox
from pi_controller.hub.join import is_newer_version
from pi_controller.hub.mqtt import QOS, Broker, Will, publish, stay_connected, until_one_ends
from pi_controller.hub.settings import ACCOUNT
from pi_controller.hub.store import StoreError
from pi_controller.table.view import View
from pi_controller.text import strip_controls
from pi_controller.tournament.schedule import natural_order
from pi_controller.tournament.table_sentence import TableSentence

log = logging.getLogger(__name__)
MAX_BATCH_MESSAGES = 256
"""Messages in one transaction, approximately, ..."""
MAX_AT_ONCE_OF_TABLE = 8
"""... and at most this many of one table."""
MAX_WAITING_OF_TABLE = 512
"""Queued messages of one table; a well-behaved one has only a few under way."""
CALL_S = 1.0
"""How often the hub checks which matches can be called."""
_KINDS = ("hello", "ev", "state", "view", "match", "health")


class TableStatus(msgspec.Struct, frozen=True):
    """The status of a table. `alarm` is why its journal is refused, "" if it is not.

    `clock_s` is how far its clock was ahead of the hub's when `health` arrived, including the transmission time; None
    if the message came from the broker's memory. `heard` is when the table last sent something itself (s since
    1970), None if it has not since the hub started. `mat` is whether its mat is connected; None if it never was.
    """

    table: str
    name: str = ""
    state: messages.Presence = "lost"
    view: View | None = None
    alarm: messages.RefusalReason = ""
    health: messages.Health | None = None
    clock_s: float | None = None
    heard: float | None = None
    mat: bool | None = None


class FairQueue:
    """Queued messages by table: a table that sends more than others delays only itself."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[aiomqtt.Message]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, message: aiomqtt.Message) -> None:
        """Add a message. More than `MAX_WAITING_OF_TABLE` are dropped: the table resends what matters."""
        try:
            table = messages.parse_topic(message.topic.value).table
        except messages.MessageError:
            table = ""
        waiting = self._waiting.setdefault(table, deque())
        if not table or len(waiting) < MAX_WAITING_OF_TABLE:  # "": the hub
            waiting.append(message)

    def take(self) -> list[aiomqtt.Message]:
        """Return the next few messages of each table in order; a table that has more goes to the end of the queue."""
        taken: list[aiomqtt.Message] = []
        for table in list(self._waiting):
            waiting = self._waiting.pop(table)
            taken += [waiting.popleft() for _ in range(min(len(waiting), MAX_AT_ONCE_OF_TABLE))]
            if waiting:
                self._waiting[table] = waiting
            if len(taken) >= MAX_BATCH_MESSAGES:
                break
        return taken


class Hub:
    """Receives from all tables of `venue` at `broker` into `inbox`; calls `show` with all tables after each change.

    `known` are the tables in `inbox`; None reads them from there, which may raise `StoreError`. `director` runs the
    tournament, if there is one, and gives matches to tables.
    """

    def __init__(
        self,
        inbox: Inbox,
        broker: Broker,
        venue: str,
        show: Callable[[tuple[TableStatus, ...]], None],
        clock: Callable[[], float] = time.time,
        director: Director | None = None,
        *,
        known: Iterable[str] | None = None,
    ) -> None:
        self._inbox = inbox
        self._broker = broker
        self._venue = venue
        self._show = show
        self._clock = clock
        self._start = secrets.token_hex(4)
        self._tables = {table: TableStatus(table) for table in (inbox.record_counts() if known is None else known)}
        self._known: dict[str, str] = {}
        self._director = director
        self._ordered: dict[str, messages.Order] = {}
        """The order that each table was given on this connection."""
        self._again: list[Callable[[], None]] = []
        """Writes that failed and will be retried."""
        self._alarms: dict[str, Alarm] = {}
        self._newer: set[str] = set()
        """Tables whose program is newer than this one."""
        self._to_follow: dict[tuple[str, str], None] = {}
        """Games (table, epoch) with records that the director has not processed."""
        self._records_came, self._due = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sessions = 0
        self.rival = ""
        """The start id of another hub that answers for this venue, "" if there is none."""

    async def run(self, closing: asyncio.Event) -> None:
        """Receive until `closing` is set."""
        self._loop = asyncio.get_running_loop()
        if self._director is not None:
            self._director.changed = self.wake
            await asyncio.to_thread(self._run_or_retry, partial(self._director.catch_up, self._clock()))
        self._publish()
        will = Will(messages.topic(self._venue, "", "state"), messages.State("lost", self._start))
        await stay_connected(self._broker, will, partial(self._session, closing), closing)

    def known_tables(self) -> frozenset[str]:
        """Return the tables from which anything was received."""
        return frozenset(self._tables)

    def wake(self) -> None:
        """Check at once which matches can be called; thread-safe."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._due.set)

    async def _session(
        self, closing: asyncio.Event, client: aiomqtt.Client, inbound: asyncio.Queue[aiomqtt.Message]
    ) -> None:
        for kind in _KINDS:
            await client.subscribe(messages.topic(self._venue, "+", kind), QOS)
        here = messages.topic(self._venue, "", "state")
        await client.subscribe(here, QOS)
        self._ordered.clear()
        self._sessions += 1
        await publish(client, here, messages.State("ready", self._start), retain=True)
        works: list[Coroutine[Any, Any, object]] = [self._receive(client, inbound), closing.wait()]
        if self._director is not None:
            works += [self._call(client, self._director), self._follow(self._director)]
        await until_one_ends(*works)
        await publish(client, here, messages.State("stopped", self._start), retain=True)

    async def _call(self, client: aiomqtt.Client, director: Director) -> None:
        """Assign matches to tables after a change."""
        while True:
            self._due.clear()
            await asyncio.to_thread(self._try_again)
            plan = director.now.plan
            views = {one.table: one.view for one in self._list_tables() if one.state == "ready" and not one.alarm}
            here = {table: view for table, view in views.items() if view is not None}
            for table in self._tables:
                director.note_game(table, here.get(table))
            free = [table for table, view in here.items() if can_take_match(view, plan)]
            await asyncio.to_thread(
                self._run_or_retry, partial(director.call_due, self._clock(), here, free), again=False
            )
            for table, order in director.orders(self._tables).items():
                if self._ordered.get(table) != order:
                    self._ordered[table] = order
                    sent = self._clock() if order.ends is not None else None
                    stamped = msgspec.structs.replace(order, sent=sent)
                    await publish(client, messages.topic(self._venue, table, messages.ORDER), stamped, retain=True)
            self._publish()
            with suppress(TimeoutError):
                async with asyncio.timeout(CALL_S):
                    await self._due.wait()

    async def _receive(self, client: aiomqtt.Client, inbound: asyncio.Queue[aiomqtt.Message]) -> None:
        waiting = FairQueue()
        while True:
            if not waiting:
                waiting.put(await inbound.get())
            while not inbound.empty():
                waiting.put(inbound.get_nowait())
            batch = waiting.take()
            wanted: list[tuple[str, messages.StoredMessage]] = []
            for message in batch:
                try:
                    table, kind = messages.parse_topic(message.topic.value)[1:]
                    if not table:
                        self._see_rival(message)
                        continue
                    found = self._process_message(table, kind, message.payload, fresh=not message.retain)
                except messages.MessageError as error:
                    self._note(message.topic.value, error.message)
                    self._report_unreadable_message(message)
                    continue
                if not message.retain:
                    self._update_last_heard(table, kind)
                if found is not None:
                    wanted.append((table, found))
            answers = await self._store_messages(wanted) if wanted else []
            answers = [(table, self._with_version(table, ack)) for table, ack in answers]
            self._to_follow |= {(table, ack.epoch): None for table, ack in answers if not ack.refused}
            self._records_came.set()
            await asyncio.gather(
                *(publish(client, messages.topic(self._venue, table, "ack"), ack) for table, ack in answers)
            )
            self._publish()

    async def _follow(self, director: Director) -> None:
        """Let the director process new records, without delaying the acknowledgements."""
        while True:
            while self._to_follow:
                table, epoch = next(iter(self._to_follow))
                del self._to_follow[table, epoch]
                await asyncio.to_thread(
                    self._run_or_retry, partial(director.process_records, self._clock(), table, epoch)
                )
            self._publish()
            self._records_came.clear()
            await self._records_came.wait()

    def compare_version(self, table: str, program: str) -> None:
        """Notify the director if the table's program is newer than this one."""
        about = f"program of {table}"
        if is_newer_version(program, __version__):
            self._newer.add(table)
            text = TableSentence(
                "{table} runs a newer program ({program}) than this hub ({version}): update the hub",
                table,
                program=program,
                version=__version__,
            )
            self._note(about, text)
            if self._director is not None:
                self._director.note(about, text, table)
        else:
            self._newer.discard(table)
            if self._director is not None:
                self._director.notes.pop(about, None)

    def _with_version(self, table: str, ack: messages.Ack) -> messages.Ack:
        """Add this program's version to the answer to a hello if the table's program is newer."""
        return msgspec.structs.replace(ack, program=__version__) if ack.ask and table in self._newer else ack

    def _report_unreadable_message(self, message: aiomqtt.Message) -> None:
        """Notify the director of a message that this hub cannot read: its table may have another version."""
        with suppress(messages.MessageError):
            table, kind = messages.parse_topic(message.topic.value)[1:]
            if self._director is not None and table and table != ACCOUNT:
                text = TableSentence(
                    "{table} sends messages ({kind}) that this hub cannot read: install the same version on both",
                    table,
                    kind=kind,
                )
                self._director.note(f"messages of {table}", text, table)

    def _run_or_retry(self, do: Callable[[], None], *, again: bool = True) -> None:
        """Run `do`, which writes to the store; if it fails and `again` is set, retry it before the next calls."""
        try:
            do()
        except StoreError as error:
            self._note("", f"{error.message}; will retry")
            if again:
                self._again.append(do)

    def _try_again(self) -> None:
        waiting, self._again = self._again, []
        for do in waiting:
            self._run_or_retry(do)

    def _see_rival(self, message: aiomqtt.Message) -> None:
        """Detect another hub at this broker: it would give tables other matches.

        Two hubs disconnect each other in turn, so each one finds the other's state message when it reconnects. A
        retained one of the first connection may be of an earlier start of this hub.
        """
        if (message.retain and self._sessions == 1) or not message.payload:
            return
        state = messages.decode(bytes(message.payload), messages.State)  # pyright: ignore[reportArgumentType]
        if state.since != self._start:
            self.rival = state.since
            self._note("another hub", "another hub uses the same venue at this broker; stop one of the two")

    def _update_last_heard(self, table: str, kind: str) -> None:
        """Record that the table sent a message now; its last will comes from the broker and does not count."""
        shown = self._tables.get(table)
        if shown is not None and not (kind == "state" and shown.state == "lost"):
            self._tables[table] = msgspec.structs.replace(shown, heard=self._clock())

    def _process_message(self, table: str, kind: str, payload: object, *, fresh: bool) -> messages.StoredMessage | None:
        """Return a message for the inbox; process any other here and return None. Raises `MessageError`."""
        if table == ACCOUNT:
            raise messages.MessageError("this account does not belong to a table")
        if not isinstance(payload, bytes | bytearray):
            raise messages.MessageError("the message is empty")
        data, shown = bytes(payload), self._tables.get(table, TableStatus(table))
        match kind:
            case "hello":
                hello = messages.decode(data, messages.Hello)
                self.compare_version(table, hello.program)
                return hello
            case "ev":
                return messages.decode(data, messages.Events)
            case "state":
                state = messages.decode(data, messages.State)
                mat = shown.mat if state.state == "ready" else None
                shown = msgspec.structs.replace(shown, state=state.state, name=clean_name(state.name), mat=mat)
                if state.state == "ready" and self._ordered.get(table, messages.Order()).ends is not None:
                    del self._ordered[table]  # the retained order lacks the current time, so the clock would be wrong
                    self.wake()
            case "view":
                view = messages.decode_view(data)
                names = {key: clean_name(name) for key, name in view.teams.items()}
                view = view if names == view.teams else msgspec.structs.replace(view, teams=names)
                mat = True if view.link else None if shown.mat is None else False
                shown = msgspec.structs.replace(shown, view=view, mat=mat)
            case "health":
                health = messages.decode(data, messages.Health)
                clock_s = health.t - self._clock() if fresh else shown.clock_s
                shown = msgspec.structs.replace(shown, health=health, clock_s=clock_s)
            case "match":
                reply = messages.decode(data, messages.Reply)
                if self._director is not None:
                    self._run_or_retry(partial(self._director.handle_reply, self._clock(), table, reply))
                    self.wake()
            case _:
                return None
        self._tables[table] = shown
        return None

    async def _store_messages(self, wanted: list[tuple[str, messages.StoredMessage]]) -> list[tuple[str, messages.Ack]]:
        """Store the messages; return [] if the store fails, and the tables resend them."""
        try:
            return await asyncio.to_thread(self._inbox.store_messages, self._clock(), wanted)
        except StoreError as error:
            self._note("", f"{error.message}; no data is lost: the tables will resend it")
            return []

    def _publish(self) -> None:
        shown = self._list_tables()
        for table, alarm in self._alarms.items():
            self._note(table, f"{alarm.about}: {alarm.message}")
        self._show(shown)

    def _list_tables(self) -> tuple[TableStatus, ...]:
        """Return all tables, each with the reason why its journal is refused, if the store can be read."""
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
            log.warning("%s", strip_controls(f"{about}: {what}" if about else what))
