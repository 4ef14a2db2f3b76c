"""The hub: takes the reports of all tables, answers them, and publishes the status of each table."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from pi_controller import __version__
from pi_controller.display.shown_names import clean_name
from pi_controller.errors import MatError
from pi_controller.host.clock import JumpDetector
from pi_controller.host.waiting import is_set_within
from pi_controller.hub import messages
from pi_controller.hub.director import Director, NotDirectingError, can_take_match
from pi_controller.hub.inbox import Alarm, Inbox
from pi_controller.hub.join import is_newer_version
from pi_controller.hub.store import StoreError
from pi_controller.table.view import View
from pi_controller.text import Sentence, strip_controls
from pi_controller.tournament.decisions import HUB, MachineClockSet
from pi_controller.tournament.schedule import natural_order

log = logging.getLogger(__name__)
CALL_S = 1.0
"""How often the hub checks which matches can be called, and which tables are lost."""
PUBLISH_S = 0.05
"""Minimum interval between two updates of the pages."""


class HubError(MatError, RuntimeError):
    """A report is not taken now: `code` is "busy" or "store"."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.code = code


class TableStatus(msgspec.Struct, frozen=True):
    """The status of a table. `alarm` is why its journal is refused, "" if it is not.

    `clock_s` is how far its clock was ahead of the hub's when `health` arrived, including the transmission time.
    `heard` is when the table last reported (s of the hub's clock), None if it has not since the hub started. `mat` is
    whether its mat is connected; None if it never was.
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


class Hub:
    """Takes the reports of all tables into `inbox`; calls `show` with all tables after each change.

    `director` runs the tournament and gives matches to tables. `clock` never jumps; the machine's is `ahead` of it.
    """

    def __init__(
        self,
        inbox: Inbox,
        show: Callable[[tuple[TableStatus, ...]], None],
        clock: Callable[[], float],
        director: Director,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._inbox = inbox
        self._show = show
        self._clock, self._ahead, self._jumps = clock, ahead, JumpDetector(ahead)
        self._start = secrets.token_hex(4)
        self._tables: dict[str, TableStatus] = {}
        self._known: dict[str, str] = {}
        self._director = director
        self._orders: dict[str, tuple[str, messages.Order]] = {}
        """The order in force at each table, with its mark."""
        self._marks = 0
        self._reporting: set[str] = set()
        """Tables whose report is being taken: one at a time of each, so that none delays another."""
        self._incoming: list[tuple[str, messages.StoredMessage, asyncio.Future[messages.Ack | None]]] = []
        self._again: list[Callable[[], object]] = []
        """Writes that failed and will be retried."""
        self._alarms: dict[str, Alarm] = {}
        self._newer: set[str] = set()
        """Tables whose program is newer than this one."""
        self._to_follow: dict[tuple[str, str], None] = {}
        """Games (table, epoch) with records that the director has not processed."""
        self._news, self._records_came = asyncio.Event(), asyncio.Event()
        self._due, self._changed = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, closing: asyncio.Event) -> None:
        """Work until `closing` is set."""
        self._loop = asyncio.get_running_loop()
        self._director.changed = self.wake
        await self._claim()
        self._again.append(self._catch_up)
        parts: list[Coroutine[Any, Any, object]] = [
            closing.wait(),
            self._store(),
            self._publish_changes(),
            self._keep_claiming(),
            self._call(),
            self._follow(),
        ]
        works = [asyncio.ensure_future(part) for part in parts]
        try:
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for work in works:
                work.cancel()
            await asyncio.gather(*works, return_exceptions=True)
            for _, _, answer in self._incoming:
                if not answer.done():
                    answer.set_exception(HubError("busy", "the hub is stopping", "send it again"))
        for work in done:
            work.result()

    async def report_from_thread(self, table: str, report: messages.TableReport) -> messages.HubAnswer:
        """Do `report` in the hub's loop, from the loop of another thread; raises as that does."""
        if self._loop is None or self._loop is asyncio.get_running_loop():
            return await self.report(table, report)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.report(table, report), self._loop))

    async def report(self, table: str, report: messages.TableReport) -> messages.HubAnswer:
        """Take a table's report and return the answer, once its records are on disk. Raises `HubError`."""
        if table in self._reporting:
            raise HubError("busy", "an earlier report of this table is being taken", "send it again")
        self._reporting.add(table)
        try:
            self._note_report(table, report)
            if report.reply is not None:
                reply = partial(self._director.handle_reply, self._clock(), table, report.reply)
                await asyncio.to_thread(self._run_or_retry, reply)
                self.wake()
            ack = None
            if report.records is not None:
                if isinstance(report.records, messages.Hello):
                    self.compare_version(table, report.records.program)
                answer: asyncio.Future[messages.Ack | None] = asyncio.get_running_loop().create_future()
                self._incoming.append((table, report.records, answer))
                self._news.set()
                ack = await answer
            mark, order = self._orders.get(table, (f"{self._start}-0", messages.Order()))
            changed = order if mark != report.mark else None
            return messages.HubAnswer(self._start, self._clock(), ack, mark if changed is not None else "", changed)
        finally:
            self._reporting.discard(table)

    def _note_report(self, table: str, report: messages.TableReport) -> None:
        """Update the table's status from its report."""
        before = shown = self._tables.get(table, TableStatus(table))
        mat = shown.mat if shown.state == "ready" else None
        shown = msgspec.structs.replace(
            shown, state=report.state, name=clean_name(report.name), mat=mat, heard=self._clock()
        )
        if bytes(report.view):
            try:
                view = messages.decode_view(bytes(report.view))
            except messages.MessageError as error:
                self.note_unreadable(table, error)
            else:
                names = {key: clean_name(name) for key, name in view.teams.items()}
                view = view if names == view.teams else msgspec.structs.replace(view, teams=names)
                mat = True if view.link else None if shown.mat is None else False
                shown = msgspec.structs.replace(shown, view=view, mat=mat)
        if report.health is not None:
            clock_s = report.health.t - self._clock() - self._ahead()
            shown = msgspec.structs.replace(shown, health=report.health, clock_s=clock_s)
        self._tables[table] = shown
        if shown != msgspec.structs.replace(before, heard=shown.heard):
            self._changed.set()
        if shown.state != before.state:
            self.wake()

    def known_tables(self) -> frozenset[str]:
        """Return the tables from which anything was received."""
        return frozenset(self._tables)

    def wake(self) -> None:
        """Check at once which matches can be called; thread-safe."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._due.set)

    async def _store(self) -> None:
        """Store what tables have sent meanwhile in one transaction, and answer them."""
        while True:
            if not self._incoming:
                self._news.clear()
                await self._news.wait()
            batch, self._incoming = self._incoming, []
            wanted = [(table, message) for table, message, _ in batch]
            try:
                found = dict(await asyncio.to_thread(self._inbox.store_messages, self._clock(), wanted))
            except StoreError as error:
                self._note("", f"{error.message}; no data is lost: the tables will resend it")
                for _, _, answer in batch:
                    if not answer.done():
                        answer.set_exception(HubError("store", error.message, "the table will send it again"))
                continue
            self._to_follow |= {(table, ack.epoch): None for table, ack in found.items() if not ack.refused}
            self._records_came.set()
            for table, message, answer in batch:
                if not answer.done():
                    ack = found.get(table)
                    if ack is not None and table in self._newer and isinstance(message, messages.Hello):
                        ack = msgspec.structs.replace(ack, program=__version__)
                    answer.set_result(ack)
            self._changed.set()

    async def _publish_changes(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._publish()
            await asyncio.sleep(PUBLISH_S)

    async def _call(self) -> None:
        """Assign matches to tables after a change, and note tables that are lost."""
        while True:
            self._due.clear()
            self._note_lost_tables()
            await self._read_alarms()
            await self._note_set_clock()
            await self._give_matches()
            self._publish()
            await is_set_within(self._due, CALL_S)

    async def _keep_claiming(self) -> None:
        """Claim to direct every second, whatever else waits for the store: who hangs loses it to another hub."""
        while True:
            await asyncio.sleep(CALL_S)
            await self._claim()

    async def _claim(self) -> None:
        """Take over if the hub that directed is gone: the tables then report everything to this one."""
        reached = any(one.state == "ready" for one in self._tables.values())
        with suppress(StoreError):  # all else notes it
            if await asyncio.to_thread(self._director.claim, reached=reached):
                self._start = secrets.token_hex(4)
                self._again.append(self._catch_up)
                self.wake()

    def _catch_up(self) -> None:
        """Know the tables that have reported to another hub of the venue, and process their records."""
        known = self._inbox.record_counts()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._add_tables, known)
        self._director.catch_up(self._clock())

    def _add_tables(self, known: Iterable[str]) -> None:
        self._tables = {table: TableStatus(table) for table in known} | self._tables

    async def _give_matches(self) -> None:
        director = self._director
        await asyncio.to_thread(self._try_again)
        plan = director.now.plan
        views = {one.table: one.view for one in self._list_tables() if one.state == "ready" and not one.alarm}
        here = {table: view for table, view in views.items() if view is not None}
        for table in self._tables:
            director.note_game(table, here.get(table))
        free = [table for table, view in here.items() if can_take_match(view, plan)]
        await asyncio.to_thread(self._run_or_retry, partial(director.call_due, self._clock(), here, free), again=False)
        for table, order in (await asyncio.to_thread(director.orders, [*self._tables])).items():
            if self._orders.get(table, ("", messages.Order()))[1] != order:
                self._marks += 1
                self._orders[table] = f"{self._start}-{self._marks}", order

    async def _note_set_clock(self) -> None:
        """Let planned breaks follow the machine's clock if it was set, and tell the director."""
        if by_s := self._jumps.step():
            decide = partial(self._director.decide, self._clock(), HUB, MachineClockSet(by_s))
            await asyncio.to_thread(self._run_or_retry, decide)
            self._director.note(
                "clock",
                Sentence(
                    "The clock of this machine was set forward by {n} s. Breaks follow it; all else goes on."
                    if by_s > 0
                    else "The clock of this machine was set back by {n} s. Breaks follow it; all else goes on.",
                    n=round(abs(by_s)),
                ),
            )

    def _note_lost_tables(self) -> None:
        """Mark the tables as lost that have not reported for `LOST_S`."""
        oldest = self._clock() - messages.LOST_S
        for table, shown in self._tables.items():
            if shown.state == "ready" and (shown.heard is None or shown.heard < oldest):
                self._tables[table] = msgspec.structs.replace(shown, state="lost")

    async def _follow(self) -> None:
        """Let the director process new records, without delaying the acknowledgements."""
        while True:
            while self._to_follow:
                games, self._to_follow = self._to_follow, {}
                if self._director.directs:  # else it catches up when it takes over
                    await asyncio.to_thread(self._process_records, games)
            self._changed.set()
            self._records_came.clear()
            await self._records_came.wait()

    def _process_records(self, games: Iterable[tuple[str, str]]) -> None:
        for game in games:
            self._run_or_retry(partial(self._director.process_records, self._clock(), *game))

    def compare_version(self, table: str, program: str) -> None:
        """Notify the director if the table's program is newer than this one."""
        about = f"program of {table}"
        if is_newer_version(program, __version__):
            self._newer.add(table)
            text = Sentence(
                "{table} runs a newer program ({program}) than this hub ({version}): update the hub",
                table=table,
                program=program,
                version=__version__,
            )
            self._note(about, text)
            self._director.note(about, text, table)
        else:
            self._newer.discard(table)
            self._director.notes.pop(about, None)

    def note_unreadable(self, table: str, error: MatError) -> None:
        """Notify the director of a report that this hub cannot read: its table may have another version."""
        self._note(table, error.message)
        text = Sentence(
            "{table} sends reports that this hub cannot read: install the same version on both", table=table
        )
        self._director.note(f"messages of {table}", text, table)

    def _run_or_retry(self, do: Callable[[], object], *, again: bool = True) -> None:
        """Run `do`, which writes to the store; if it fails and `again` is set, retry it before the next calls."""
        try:
            do()
        except NotDirectingError:
            return
        except StoreError as error:
            self._note("", f"{error.message}; will retry")
            if again:
                self._again.append(do)

    def _try_again(self) -> None:
        waiting, self._again = self._again, []
        for do in waiting:
            self._run_or_retry(do)

    async def _read_alarms(self) -> None:
        """Read which tables' journals are refused, if the store can be read; other programs accept them."""
        with suppress(StoreError):
            alarms = await asyncio.to_thread(self._inbox.alarms)
            self._alarms = {alarm.table: alarm for alarm in reversed(alarms) if alarm.open}
        for table, alarm in self._alarms.items():
            self._note(table, f"{alarm.about}: {alarm.message}")

    def _publish(self) -> None:
        self._show(self._list_tables())

    def _list_tables(self) -> tuple[TableStatus, ...]:
        """Return all tables, each with the reason why its journal is refused."""
        alarms = self._alarms
        return tuple(
            msgspec.structs.replace(shown, alarm=alarms[table].about if table in alarms else "")
            for table, shown in sorted(self._tables.items(), key=lambda one: natural_order(one[0]))
        )

    def _note(self, about: str, what: str) -> None:
        if self._known.get(about) != what:
            self._known[about] = what
            log.warning("%s", strip_controls(f"{about}: {what}" if about else what))
