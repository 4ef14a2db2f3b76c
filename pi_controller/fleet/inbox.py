"""The hub's side: every table's journals once more, in one store, each record once and only if it follows.

A batch of messages is one transaction, so what was acknowledged is there after a power cut. Only the record after the
last one is taken, and only when its hash follows; what is there already is acknowledged again, and what leaves a gap
is passed over. A journal that is another, or not what it was, is never mixed with what is kept: it is refused, and an
alarm stays until people have looked.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from pi_controller.fleet.messages import Ack, Events, Hello
from pi_controller.fleet.store import Database, open_store
from pi_controller.table.chain import Row, follow, genesis

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from pi_controller.fleet.messages import Refusal

_TABLES = (
    """games(
      id SERIAL PRIMARY KEY, tid TEXT NOT NULL, epoch TEXT NOT NULL, refused TEXT NOT NULL DEFAULT '',
      UNIQUE(tid, epoch)
    )""",
    """records(
      game SERIAL NOT NULL REFERENCES games(id), seq INTEGER NOT NULL, batch INTEGER NOT NULL,
      t DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(game, seq)
    )""",
    """alarms(
      id SERIAL PRIMARY KEY, t DOUBLE PRECISION NOT NULL, tid TEXT NOT NULL, epoch TEXT NOT NULL, about TEXT NOT NULL,
      what TEXT NOT NULL, open INTEGER NOT NULL DEFAULT 1
    )""",
)


class Alarm(NamedTuple):
    """A journal was refused at `t` (seconds since 1970). `open` until it is accepted."""

    t: float
    table: str
    epoch: str
    about: Literal["replaced", "tampered"]
    what: str
    open: bool


@dataclass(slots=True)
class _Held:
    """What is held of a journal: its number here, its last record and that one's hash."""

    id: int
    seq: int
    hash: str
    refused: Refusal = ""


class Inbox:
    """All that is kept of the tables in a file or a database, which is made where it is empty. Raises `StoreError`."""

    def __init__(self, where: Path | Database) -> None:
        self.duplicates = 0
        """Records that came once more, since this was opened."""
        self.gaps = 0
        """Records that came before the one they follow."""
        self._held: dict[str, dict[str, _Held]] = {}
        self._alarms = (0, 0)
        """All and open ones when `_held` was read."""
        self._store = open_store(where, _TABLES, append_only=["records"])

    def take(self, t: float, messages: Sequence[tuple[str, Hello | Events]]) -> list[tuple[str, Ack]]:
        """Take what came of (table, message) at `t`, safe on disk when this returns; return (table, answer) to send.

        Several messages of events of one table get one answer. Raises `StoreError`, and then nothing was taken.
        """
        answers: dict[tuple[str, str, str], Ack] = {}
        with self._transaction():
            for table, message in messages:
                is_hello = isinstance(message, Hello)
                ack = self._hello(t, table, message) if is_hello else self._events(t, table, message)
                if ack is not None:
                    answers[table, ack.epoch, ack.ask] = ack
        return [(table, ack) for (table, _, _), ack in answers.items()]

    def accept(self, table: str) -> int:
        """Take the journals of `table` that were refused as another's; return how many. Raises `StoreError`."""
        with self._transaction():
            self._store.execute("UPDATE alarms SET open = 0 WHERE tid = ?", [table])
            return len(
                self._store.execute(
                    "UPDATE games SET refused = '' WHERE tid = ? AND refused = 'replaced' RETURNING id", [table]
                )
            )

    def alarms(self) -> list[Alarm]:
        """Return all alarms, the last one first. Raises `StoreError`."""
        rows = self._store.execute("SELECT t, tid, epoch, about, what, open FROM alarms ORDER BY id DESC")
        return [Alarm(t, tid, epoch, about, what, bool(still)) for t, tid, epoch, about, what, still in rows]

    def held(self) -> dict[str, dict[str, int]]:
        """Return how many records are held of each journal, by table and epoch. Raises `StoreError`."""
        found: dict[str, dict[str, int]] = {}
        for tid, epoch, seq in self._store.execute(
            "SELECT tid, epoch, (SELECT coalesce(max(seq), 0) FROM records WHERE game = id) FROM games ORDER BY id"
        ):
            found.setdefault(tid, {})[epoch] = seq
        return found

    def rows(self, table: str, epoch: str, first: int = 1) -> Iterator[Row]:
        """Yield the records held of this journal from number `first` on, in order. Raises `StoreError`."""
        query = (
            "SELECT seq, batch, t, kind, body, hash FROM records "
            "WHERE game = (SELECT id FROM games WHERE tid = ? AND epoch = ?) AND seq >= ? ORDER BY seq"
        )
        yield from map(Row._make, self._store.execute(query, (table, epoch, first)))

    def close(self) -> None:
        """Close the store. Closing twice is fine."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hello(self, t: float, table: str, hello: Hello) -> Ack:
        known = self._games(table)
        last = hello.games[-1]
        begun = any(held.seq for held in known.values())  # journals without a record here can be followed by any
        if begun and not any(game.epoch in known for game in hello.games):
            self._add(table, last.epoch, "replaced")
            self._alarm(t, table, last.epoch, "replaced", "its journal follows none that the hub has of this table")
        refused = known.get(last.epoch)
        if refused is not None and refused.refused == "replaced":
            return Ack(last.epoch, refused.seq, hello.ask, "replaced")
        for game in hello.games:
            held = known.get(game.epoch) or self._add(table, game.epoch)
            if not held.refused and held.seq > game.seq:
                what = f"its journal ends with record {game.seq}, and the hub has {held.seq}"
                self._refuse(t, table, game.epoch, held, what)
        wanted = next(
            (game for game in hello.games if not known[game.epoch].refused and known[game.epoch].seq < game.seq), last
        )
        held = known[wanted.epoch]
        return Ack(wanted.epoch, held.seq, hello.ask, held.refused)

    def _events(self, t: float, table: str, events: Events) -> Ack | None:
        held = self._games(table).get(events.epoch)
        if held is None:
            return None  # nobody introduced it: the table says hello when nothing answers
        new: list[Row] = []
        for record in events.records:
            if held.refused:
                break
            if record.seq > held.seq + 1:
                self.gaps += 1
            elif record.seq <= held.seq:
                self.duplicates += 1
                self._keep(held, new)
                if self._hash(held, record.seq) != record.hash:
                    self._refuse(t, table, events.epoch, held, f"record {record.seq} is another than the hub has")
            else:
                row = record.row()
                if follow(held.hash, row) != row.hash:
                    what = f"record {record.seq} is not what was written: its hash does not follow"
                    self._refuse(t, table, events.epoch, held, what)
                    break
                new.append(row)
                held.seq, held.hash = row.seq, row.hash
        self._keep(held, new)
        return Ack(events.epoch, held.seq, refused=held.refused)

    def _keep(self, held: _Held, new: list[Row]) -> None:
        """Write the records in `new`, and empty it."""
        if new:
            self._store.execute_many(
                "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", [(held.id, *row) for row in new]
            )
            new.clear()

    def _games(self, table: str) -> dict[str, _Held]:
        if table not in self._held:
            found: dict[str, _Held] = {}
            query = "SELECT id, epoch, refused FROM games WHERE tid = ? ORDER BY id"
            for number, epoch, refused in self._store.execute(query, [table]):
                query = "SELECT seq, hash FROM records WHERE game = ? ORDER BY seq DESC LIMIT 1"
                ((seq, its_hash),) = self._store.execute(query, [number]) or [(0, genesis(epoch))]
                found[epoch] = _Held(number, seq, its_hash, refused)
            self._held[table] = found
        return self._held[table]

    def _add(self, table: str, epoch: str, refused: Refusal = "") -> _Held:
        query = "INSERT INTO games(tid, epoch, refused) VALUES (?, ?, ?) RETURNING id"
        ((number,),) = self._store.execute(query, (table, epoch, refused))
        held = self._games(table)[epoch] = _Held(number, 0, genesis(epoch), refused)
        return held

    def _hash(self, held: _Held, seq: int) -> str:
        ((found,),) = self._store.execute("SELECT hash FROM records WHERE game = ? AND seq = ?", (held.id, seq))
        return str(found)

    def _refuse(self, t: float, table: str, epoch: str, held: _Held, what: str) -> None:
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
            with self._store.transaction():
                ((alarms, open_alarms),) = self._store.execute("SELECT count(*), coalesce(sum(open), 0) FROM alarms")
                if self._alarms != (alarms, open_alarms):  # somebody accepted a table, say
                    self._alarms = alarms, open_alarms
                    self._held.clear()
                yield
        except BaseException:
            self._held.clear()  # it may know more than the store
            raise
