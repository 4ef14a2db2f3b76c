"""The hub's inbox: a verified copy of every table's journals in one store, each record once and in order.

A batch of messages is one transaction, so acknowledged records survive a power cut. Only the next record of a journal
is accepted, and only if its hash follows from the last one; a record that is stored already is acknowledged again, and
one after a gap is ignored. A journal that was replaced or changed is never mixed with the stored one: it is refused,
and an alarm remains until people have checked it.
"""

import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pi_controller.hub.messages import Ack, Events, Hello, RefusalReason, StoredMessage
from pi_controller.hub.store import BadValueError, Database, DatabaseUnavailableError, StoreError, StoreUser
from pi_controller.journal.chain import JournalRow, genesis, next_hash

_TABLES = (
    """games(
      id SERIAL PRIMARY KEY, tid TEXT NOT NULL, epoch TEXT NOT NULL, refused TEXT NOT NULL DEFAULT '',
      UNIQUE(tid, epoch)
    )""",
    """records(
      game SERIAL NOT NULL REFERENCES games(id), seq BIGINT NOT NULL, batch BIGINT NOT NULL,
      t DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(game, seq)
    )""",
    """alarms(
      id SERIAL PRIMARY KEY, t DOUBLE PRECISION NOT NULL, tid TEXT NOT NULL, epoch TEXT NOT NULL, about TEXT NOT NULL,
      what TEXT NOT NULL, open INTEGER NOT NULL DEFAULT 1
    )""",
)


log = logging.getLogger(__name__)
LATE_S = 1.0
"""A question that was held up on its way says less than the table has: it asks again, later than this."""
MAX_SEQ = 2**53 - 1
"""The largest record number that the messages allow."""


class Alarm(NamedTuple):
    """A journal was refused at `t` (seconds since 1970). `open` until it is accepted."""

    t: float
    table: str
    epoch: str
    about: Literal["replaced", "tampered"]
    message: str
    open: bool


@dataclass(slots=True)
class _StoredJournal:
    """A stored journal: its id in the store, and its last record's number and hash."""

    id: int
    seq: int
    hash: str
    refused: RefusalReason = ""


_Answers = dict[tuple[str, str], Ack]
"""Answers by table and epoch."""


class Inbox(StoreUser):
    """The tables' journals in a file or a database, created if it is empty. Raises `StoreError`."""

    def __init__(self, where: Path | Database) -> None:
        self.duplicates = 0
        """Records received again since the inbox was opened."""
        self.gaps = 0
        """Records received before their predecessor."""
        self._held: dict[str, dict[str, _StoredJournal]] = {}
        self._behind: dict[tuple[str, str], float] = {}
        """Since when a table, by its questions, has less of a journal than the hub."""
        self._failed: dict[str, str] = {}
        """Why the last messages of a table could not be written."""
        self._lock = threading.RLock()
        """Held during a transaction, so that uncommitted records are never read."""
        self._alarms = (0, 0)
        """The number of all and of open alarms when `_held` was read."""
        super().__init__(where, _TABLES, append_only=["records"])

    def store_messages(self, t: float, messages: Sequence[tuple[str, StoredMessage]]) -> list[tuple[str, Ack]]:
        """Store the (table, message) pairs received at `t` safely on disk; return the (table, answer) pairs to send.

        Several event messages of one table get one answer. If the transaction fails it is repeated table by table: a
        table whose messages cannot be written gets no answer and resends them. A journal with a value that the store
        rejects is refused. Raises `StoreError` if no table's messages can be written or the database is unavailable.
        """
        try:
            answers = self._store_together(t, messages)
        except DatabaseUnavailableError:
            raise
        except StoreError:
            answers = self._store_by_table(t, messages)
            if not answers:
                raise
        return [(table, ack) for (table, _), ack in answers.items()]

    def _store_together(self, t: float, messages: Sequence[tuple[str, StoredMessage]]) -> _Answers:
        answers: _Answers = {}
        with self._transaction():
            for table, message in messages:
                is_hello = isinstance(message, Hello)
                ack = self._hello(t, table, message) if is_hello else self._events(t, table, message)
                if ack is not None:
                    answers[table, ack.epoch] = ack
        return answers

    def _store_by_table(self, t: float, messages: Sequence[tuple[str, StoredMessage]]) -> _Answers:
        """Store `messages` in one transaction for each table. Raises `DatabaseUnavailableError`."""
        answers: _Answers = {}
        failed: dict[str, str] = {}
        for table in dict.fromkeys(table for table, _ in messages):
            try:
                answers |= self._store_by_halves(t, [one for one in messages if one[0] == table])
            except DatabaseUnavailableError:
                raise
            except StoreError as error:
                failed[table] = error.message
        for table, why in failed.items():
            if answers and self._failed.get(table) != why:  # if all fail the hub says so, once
                log.warning("%s: %s; the table will resend its records", table, why)
        self._failed = failed if answers else {}
        return answers

    def _store_by_halves(self, t: float, messages: Sequence[tuple[str, StoredMessage]]) -> _Answers:
        """Store `messages` of one table; halve them until only the record that the store rejects is left."""
        try:
            return self._store_together(t, messages)
        except BadValueError as error:
            halves = [messages[: len(messages) // 2], messages[len(messages) // 2 :]]
            if len(messages) == 1:
                table, message = messages[0]
                if not isinstance(message, Events):
                    raise
                if len(message.records) == 1:
                    return self._refuse_record(t, table, message, error)
                middle = len(message.records) // 2
                parts = message.records[:middle], message.records[middle:]
                halves = [[(table, Events(message.epoch, part))] for part in parts]
            return self._store_by_halves(t, halves[0]) | self._store_by_halves(t, halves[1])

    def _refuse_record(self, t: float, table: str, events: Events, error: BadValueError) -> _Answers:
        with self._transaction():
            held = self._games(table)[events.epoch]
            what = f"record {events.records[0].seq} cannot be kept: {error.message}"
            self._refuse(t, table, events.epoch, held, what)
        ack = Ack(events.epoch, held.seq, refused=held.refused)
        return {(table, ack.epoch): ack}

    def accept(self, table: str) -> int:
        """Accept the journals of `table` that were refused as replaced; return how many. Raises `StoreError`."""
        query = "UPDATE games SET refused = '' WHERE tid = ? AND refused = 'replaced' RETURNING id"
        with self._transaction():
            self._store.execute("UPDATE alarms SET open = 0 WHERE tid = ?", [table])
            return len(self._store.execute(query, [table]))

    def alarms(self) -> list[Alarm]:
        """Return all alarms, the newest first. Raises `StoreError`."""
        with self._lock:
            rows = self._store.execute("SELECT t, tid, epoch, about, what, open FROM alarms ORDER BY id DESC")
        return [Alarm(t, tid, epoch, about, what, bool(still)) for t, tid, epoch, about, what, still in rows]

    def record_counts(self) -> dict[str, dict[str, int]]:
        """Return the number of stored records of each journal: {table: {epoch: count}}. Raises `StoreError`."""
        query = "SELECT tid, epoch, (SELECT coalesce(max(seq), 0) FROM records WHERE game = id) FROM games ORDER BY id"
        with self._lock:
            rows = self._store.execute(query)
        found: dict[str, dict[str, int]] = {}
        for tid, epoch, seq in rows:
            found.setdefault(tid, {})[epoch] = seq
        return found

    def rows(self, table: str, epoch: str, first: int = 1, last: int = MAX_SEQ) -> Iterator[JournalRow]:
        """Yield the stored records of this journal from `first` to `last`, in order. Raises `StoreError`."""
        query = (
            "SELECT seq, batch, t, kind, body, hash FROM records "
            "WHERE game = (SELECT id FROM games WHERE tid = ? AND epoch = ?) AND seq BETWEEN ? AND ? ORDER BY seq"
        )
        with self._lock:
            found = self._store.execute(query, (table, epoch, first, last))
        yield from map(JournalRow._make, found)

    def _hello(self, t: float, table: str, hello: Hello) -> Ack | None:
        self._held.pop(table, None)  # another hub on the database may have taken its reports meanwhile
        known = self._games(table)
        last = hello.games[-1]
        begun = any(held.seq for held in known.values())  # any journal may follow one that has no record here
        trusted = {epoch for epoch, held in known.items() if held.refused != "replaced"}
        if begun and last.epoch not in known and not any(game.epoch in trusted for game in hello.games):
            self._add(table, last.epoch, "replaced")
            self._alarm(t, table, last.epoch, "replaced", "its journal follows none that the hub has of this table")
        refused = known.get(last.epoch)
        if refused is not None and refused.refused == "replaced":
            return Ack(last.epoch, refused.seq, "replaced")
        for game in hello.games:
            held = known.get(game.epoch) or self._add(table, game.epoch)
            if held.seq <= game.seq:
                self._behind.pop((table, game.epoch), None)
            elif not held.refused:
                if t - self._behind.setdefault((table, game.epoch), t) < LATE_S:
                    return None
                what = f"its journal ends with record {game.seq}, and the hub has {held.seq}"
                self._refuse(t, table, game.epoch, held, what)
        wanted = next(
            (game for game in hello.games if not known[game.epoch].refused and known[game.epoch].seq < game.seq), last
        )
        held = known[wanted.epoch]
        return Ack(wanted.epoch, held.seq, held.refused)

    def _events(self, t: float, table: str, events: Events) -> Ack | None:
        held = self._games(table).get(events.epoch)
        if held is None:
            return None  # there was no hello: without an answer the table sends one
        new: list[JournalRow] = []
        hashes = self._hashes(held, [record.seq for record in events.records if record.seq <= held.seq])
        for record in events.records:
            if held.refused:
                break
            if record.seq > held.seq + 1:
                self.gaps += 1
            elif record.seq <= held.seq:
                self.duplicates += 1
                if hashes[record.seq] != record.hash:
                    self._refuse(t, table, events.epoch, held, f"record {record.seq} is another than the hub has")
            else:
                row = record.row()
                if "\0" in row.kind or "\0" in row.body:  # PostgreSQL cannot store it, and tables never write it
                    self._refuse(t, table, events.epoch, held, f"record {record.seq} has a NUL character")
                    break
                if next_hash(held.hash, row) != row.hash:
                    what = f"record {record.seq} was changed: its hash does not match"
                    self._refuse(t, table, events.epoch, held, what)
                    break
                new.append(row)
                hashes[row.seq] = row.hash
                held.seq, held.hash = row.seq, row.hash
        self._keep(held, new)
        return Ack(events.epoch, held.seq, refused=held.refused)

    def _keep(self, held: _StoredJournal, new: list[JournalRow]) -> None:
        if new:
            query = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._store.execute_many(query, [(held.id, *row) for row in new])

    def _games(self, table: str) -> dict[str, _StoredJournal]:
        if table not in self._held:
            found: dict[str, _StoredJournal] = {}
            query = "SELECT id, epoch, refused FROM games WHERE tid = ? ORDER BY id"
            for number, epoch, refused in self._store.execute(query, [table]):
                query = "SELECT seq, hash FROM records WHERE game = ? ORDER BY seq DESC LIMIT 1"
                ((seq, its_hash),) = self._store.execute(query, [number]) or [(0, genesis(epoch))]
                found[epoch] = _StoredJournal(number, seq, its_hash, refused)
            self._held[table] = found
        return self._held[table]

    def _add(self, table: str, epoch: str, refused: RefusalReason = "") -> _StoredJournal:
        query = "INSERT INTO games(tid, epoch, refused) VALUES (?, ?, ?) RETURNING id"
        ((number,),) = self._store.execute(query, (table, epoch, refused))
        held = self._games(table)[epoch] = _StoredJournal(number, 0, genesis(epoch), refused)
        return held

    def _hashes(self, held: _StoredJournal, numbers: Sequence[int]) -> dict[int, str]:
        """Return the hashes of the stored records with these numbers."""
        if not numbers:
            return {}
        places = ", ".join("?" * len(numbers))
        query = f"SELECT seq, hash FROM records WHERE game = ? AND seq IN ({places})"  # noqa: S608 - only placeholders
        return dict(self._store.execute(query, (held.id, *numbers)))

    def _refuse(self, t: float, table: str, epoch: str, held: _StoredJournal, what: str) -> None:
        held.refused = "tampered"
        self._store.execute("UPDATE games SET refused = ? WHERE id = ?", (held.refused, held.id))
        self._alarm(t, table, epoch, "tampered", what)

    def _alarm(self, t: float, table: str, epoch: str, about: str, what: str) -> None:
        self._store.execute(
            "INSERT INTO alarms(t, tid, epoch, about, what) VALUES (?, ?, ?, ?, ?)", (t, table, epoch, about, what)
        )

    @contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            with self._lock, self._store.transaction():
                ((alarms, open_alarms),) = self._store.execute("SELECT count(*), coalesce(sum(open), 0) FROM alarms")
                if self._alarms != (alarms, open_alarms):  # for example a table was accepted
                    self._alarms = alarms, open_alarms
                    self._held.clear()
                yield
        except BaseException:
            self._held.clear()  # it may be ahead of the store
            raise
