"""The table's connection to the hub: an observer whose thread posts the journal and the public view.

The game never waits for it: the main loop only stores the newest view. During a hide its records stay at the table; the
hub sees only the public view of it.
"""

import asyncio
import logging
import random
import secrets
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Literal, NamedTuple, cast

import httpx
import msgspec

from pi_controller import __version__
from pi_controller.config import Settings
from pi_controller.config.model import HubSection
from pi_controller.errors import MatError, SettingsError, describe_error
from pi_controller.host.backoff import Backoff
from pi_controller.host.files import read_secret
from pi_controller.host.machine_health import MachineHealth, read_health, round_health
from pi_controller.host.waiting import is_set_within
from pi_controller.hub import messages, outbox
from pi_controller.hub.received_journals import READ_ERRORS, Journals, NextGameError
from pi_controller.referee.judge import MatchCall, MatchVoidCall, RoundClockCall, VoidReason
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
RETRY_S, MAX_RETRY_S = 0.25, 2.0
"""The first delay after a report was not accepted, and the longest; each is doubled, and spread by a half."""
READ_RETRY_S = 1.0
"""Delay before an unreadable journal is read again, or a command is sent again."""
TIMEOUT_S = 5.0
"""How long the hub may take to answer."""
CLOSING_S = 3.0
"""How long a program waits for the hub when it stops."""
_PART_BYTES = 1 << 18
_IGNORE_DATES = 0x20_0000
"""OpenSSL's `X509_V_FLAG_NO_CHECK_TIME`: the venue's CA is trusted alone, and a Pi's clock may be years off."""


class _News(NamedTuple):
    """The newest view, its journal's epoch, the last record that may be sent, and whether a game can begin."""

    view: View
    epoch: str
    released: int
    free: bool


class LinkError(MatError, OSError):
    """The hub does not answer, or does not accept a report."""

    code = "hub_link"


class TableLink(Observer[Table]):
    """Posts what happens at the table `name` to the hub, through `client`, which has its address and the token.

    `account` is the table's name at the hub. The hub's matches are started through `command_queue`; without one they
    are refused. It works in a thread of its own from `start` on.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        account: str,
        name: str,
        journal: Path,
        clock: Callable[[], float] = time.monotonic,
        command_queue: TableQueue | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._path = messages.RECORDS_PATH.format(table=account)
        self._name = name
        self._clock = clock
        self._wall = wall
        self._machine: MachineHealth | None = None
        self._folder = journal.absolute().parent
        self._journals = Journals(journal)
        self._start = secrets.token_hex(4)
        self._outbox = outbox.Outbox(__version__)
        self._latest: _News | None = None
        self._command_queue = command_queue
        self._order = messages.Order()
        self._mark = ""
        self._reply: messages.Reply | None = None
        self._tried: tuple[str, str] = ("", "")
        """The order that was refused last although the table was free, and the journal at that time."""
        self._clocked: tuple[str, float | None, float | None] = ("", None, None)
        """The order whose clock was applied last, and its values."""
        self._hub_ahead = 0.0
        """How far the hub's clock is ahead of `clock`, s."""
        self._known = ""
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="hub", daemon=True)
        self._forget_hub()

    def _forget_hub(self) -> None:
        """Ask the hub anew where to go on, and send it everything again: it may be another one."""
        self._outbox.ask()
        self._hub: str = ""
        self._sent_view: View | None = None
        self._sent_reply: messages.Reply | None = None
        self._tried, self._clocked = ("", ""), ("", None, None)
        self._mark = ""
        self._view_at = self._health_at = self._report_at = float("-inf")

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Pass the newest view to the thread."""
        view, before, about = table.view, self._latest, table.journal.meta
        if about is None or (before is not None and before.view is view):
            return
        released = before.released if before is not None and before.epoch == about.epoch else 0
        self._latest = _News(view, about.epoch, view.seq if is_between_hides(view) else released, table.can_begin_game)
        self.wake()

    def start(self) -> None:
        """Start the thread, which does `run`."""
        self._thread.start()

    def close(self) -> None:
        """Send the remaining records and say that the table stops; do not wait for a hub that does not answer."""
        self._stopping = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(CLOSING_S)

    def wake(self) -> None:
        """Look at once whether there is something to send; thread-safe."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._news.set)

    def _work(self) -> None:
        try:
            asyncio.run(self.run())
        except Exception:
            log.exception("the connection to the hub has failed permanently; the game continues")

    async def run(self) -> None:
        """Report until `close`; after a failure again with a growing delay, which news does not shorten."""
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        backoff = Backoff(RETRY_S, MAX_RETRY_S, random.Random(self._start))  # noqa: S311
        async with self._client:
            while True:
                stopping = self._stopping
                self._news.clear()
                try:
                    wait = await self._report_due(stopping=stopping)
                    backoff.reset()
                except (LinkError, messages.MessageError) as error:
                    self._note(error.message)
                    self._forget_hub()
                    wait = backoff.next_s()
                    if not stopping:
                        await self._sleep(wait)
                        continue
                if stopping:
                    return
                await is_set_within(self._news, wait)

    async def _sleep(self, seconds: float) -> None:
        end = self._clock() + seconds
        while not self._stopping and (left := end - self._clock()) > 0:
            self._news.clear()
            await is_set_within(self._news, left)

    async def _report_due(self, *, stopping: bool) -> float:
        """Post everything that is due, the last time with `stopping`; return the seconds until the next report."""
        latest = self._latest
        if latest is None:
            return messages.REPORT_S
        waits: list[float | None] = []
        while True:
            records = None
            try:
                self._outbox.set_available(self._journals.games(latest.epoch, latest.view.seq), latest.released)
                waits = [await self._apply_order(latest)]
                records = self._next_records()
                waits.append(self._outbox.wait(self._clock()))
            except NextGameError:
                waits = [JOURNAL_WAIT_S]
            except READ_ERRORS as error:
                self._note(describe_error(error).split("\n", maxsplit=1)[0])
                waits = [READ_RETRY_S]
            now = self._clock()
            view = latest.view if latest.view is not self._sent_view and (now >= self._view_at or stopping) else None
            health = self._read_health(now, latest.view)
            reply = self._reply if self._reply != self._sent_reply else None
            if records or view or health or reply or now >= self._report_at:
                await self._post(records, view, health, reply)
                continue
            if stopping:
                await self._post(None, None, None, None, state="stopped")
            if latest.view is not self._sent_view:
                waits.append(self._view_at - now)
            waits.append(self._report_at - now)
            return max(0.0, min(wait for wait in waits if wait is not None))

    def _next_records(self) -> messages.StoredMessage | None:
        """Return the next question or part of a journal. Raises as `Journals.rows`."""
        out = self._outbox.next_message(self._clock())
        return next_events(out, self._journals) if isinstance(out, outbox.RecordRange) else out

    async def _post(
        self,
        records: messages.StoredMessage | None,
        view: View | None,
        health: messages.Health | None,
        reply: messages.Reply | None,
        state: Literal["ready", "stopped"] = "ready",
    ) -> None:
        """Post a report and process the answer. Raises `LinkError`, `MessageError`."""
        packed = msgspec.Raw(msgspec.json.encode(view)) if view is not None else messages.NO_VIEW
        report = messages.TableReport(self._start, self._name, state, self._mark, records, packed, health, reply)
        began = self._clock()
        try:
            answer = await self._client.post(self._path, content=messages.encode(report))
        except (httpx.HTTPError, OSError) as error:
            raise LinkError(f"no connection to the hub: {describe_error(error) or type(error).__name__}") from error
        if not answer.is_success:
            from pi_controller.web import requests  # noqa: PLC0415 - slow, and only a refusal needs it

            error = requests.parse_error(answer.content)
            why = " ".join(filter(None, (error.message, error.hint and f"({error.hint})"))) if error else ""
            raise LinkError(f"the hub refuses: {why or f'status {answer.status_code}'}")
        found = messages.decode(answer.content, messages.HubAnswer)
        if self._known:
            log.info("the hub is available again")
            self._known = ""
        now = self._clock()
        self._report_at = now + messages.REPORT_S
        if self._hub and found.hub != self._hub:  # it was restarted, or another one answers now
            self._forget_hub()
            return
        self._hub, self._hub_ahead = found.hub, found.now - (began + now) / 2
        if view is not None:
            self._sent_view, self._view_at = view, now + VIEW_S
        if health is not None:
            self._health_at = now + HEALTH_S
        if reply is not None:
            self._sent_reply = reply
        if found.order is not None:
            self._order, self._mark = found.order, found.mark
        if records is not None:
            self._take_answer(now, records, found.ack)

    def _take_answer(self, now: float, sent: messages.StoredMessage, ack: messages.Ack | None) -> None:
        before = self._outbox.refused
        self._outbox.on_answer(now, sent, ack)
        if ack is not None and ack.program:
            log.warning(
                "this table's program (%s) is newer than the hub's (%s): update the hub", __version__, ack.program
            )
        if (refused := self._outbox.refused) and refused != before:
            log.warning("the hub refuses this table's journal: it is %s; ask the director", refused)

    def _read_health(self, now: float, view: View) -> messages.Health | None:
        """Return the machine's health if it is due, with rounded values.

        Not during a hide, so that temperature and disk space cannot leak anything about the bead.
        """
        if now < self._health_at or not is_between_hides(view):
            return None
        self._machine = machine = read_health(folder=self._folder, before=self._machine)
        return messages.Health(self._wall(), round_health(machine, FREE_STEP), view.link)

    async def _apply_order(self, latest: _News) -> float | None:
        """Start the match that the hub has ordered, once, and reply; return the seconds until a retry, None for none.

        The journals show whether an order was executed already, also after a restart of table or hub.
        """
        order = self._order
        if (wait := await self._apply_void(order, latest)) is not None or not order.order:
            return wait
        reply = messages.Reply(order.order, True)
        if order.order not in self._journals.orders:
            reply, wait = await self._start_match(order, latest)
        self._reply = reply or self._reply
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
            return READ_RETRY_S
        return None

    async def _set_clock(self, order: messages.Order) -> float | None:
        """Apply the round's clock to the game of `order`; return the seconds until a retry, None for none."""
        wanted = order.order, order.ends, order.left_s
        if wanted == self._clocked or self._command_queue is None:
            return None
        if order.ends is not None:
            left = max(0.0, order.ends - self._hub_ahead - self._clock())
        elif order.left_s is not None:
            left = order.left_s
        else:
            return None
        call = RoundClockCall(0.0, order.order, left, order.ends is not None)
        try:
            await self._command_queue.submit_call(call, HUB, HUB, secrets.token_hex(8))
        except CommandQueueError:
            return READ_RETRY_S
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
            order.sheet,
        )
        try:
            if set(order.teams) != {"A", "B"}:
                raise messages.MessageError("the match does not have two teams")
            await self._command_queue.submit_call(call, HUB, HUB, order.order)
        except CommandQueueError:  # it may have been accepted: the journal will show it
            return None, READ_RETRY_S
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


def next_events(wanted: outbox.RecordRange, journals: Journals) -> messages.Events | None:
    """Return the first of these records as a message of about `_PART_BYTES` at most; None if there are none.

    It ends with a whole batch, unless that has more than `MAX_RECORDS`: so what the hub has is a state of the game,
    from which another table can go on. Raises as `Journals.rows`.
    """
    rows = journals.rows(wanted)
    after = wanted._replace(first=wanted.last + 1, last=wanted.last + messages.MAX_RECORDS)
    rows += [row for row in journals.rows(after) if rows and row.batch == rows[-1].batch]
    part: list[messages.SentRecord] = []
    size = 0
    for _, batch in groupby(rows, key=attrgetter("batch")):
        records = [messages.SentRecord(*row) for row in batch]
        size += sum(len(record.body) for record in records)
        if part and (size > _PART_BYTES or len(part) + len(records) > messages.MAX_RECORDS):
            break
        part += records
    return messages.Events(wanted.epoch, tuple(part[: messages.MAX_RECORDS])) if part else None


def make_client(hub: HubSection) -> httpx.AsyncClient:
    """Return the client for the hub in the settings. Raises `SettingsError` if its files cannot be read."""
    host = f"[{hub.address}]" if ":" in hub.address else hub.address
    try:
        token = read_secret(Path(hub.token_file))
        trusted = ssl.create_default_context(cafile=hub.ca)
        trusted.verify_flags |= _IGNORE_DATES
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"the files of this table's hub cannot be read: {describe_error(error)}",
            "ask the director for a new code, and join again with 'moccasin-mat hub join'",
        ) from error
    return httpx.AsyncClient(
        base_url=f"https://{host}:{hub.port}",
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        verify=trusted,
        timeout=TIMEOUT_S,
        trust_env=False,
    )


def make_table_link(settings: Settings, command_queue: TableQueue | None = None) -> TableLink:
    """Return the connection to the hub in `settings`, which starts the hub's matches through `command_queue`.

    Raises `SettingsError` if its files cannot be read.
    """
    name, journal = settings.table.name, settings.table.journal
    return TableLink(make_client(settings.hub), settings.hub.table, name, journal, command_queue=command_queue)
