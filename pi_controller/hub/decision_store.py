"""The director's decisions on disk: append-only in the hub's store, as a hash chain.

The log has its own connection, so a decision never waits for messages of tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from pi_controller.hub.store import Database, StoreError, StoreUser
from pi_controller.journal.chain import JournalRow, genesis, next_hash
from pi_controller.tournament.decisions import Decision, Fact

_TABLE = """decisions(
  seq INTEGER PRIMARY KEY, t DOUBLE PRECISION NOT NULL, actor TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
)"""
_decoder = msgspec.json.Decoder(Fact)


class TournamentLog(StoreUser):
    """The decisions in the hub's file or database. Raises `StoreError`."""

    def __init__(self, where: Path | Database) -> None:
        self.keys: dict[tuple[str, str], int] = {}
        """The number of the decision by actor and idempotency key: a repeated command counts once."""
        self._last = (0, genesis(""))
        super().__init__(where, [_TABLE], append_only=["decisions"])

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last decision: who knows it can tell whether the log was swapped later."""
        return self._last

    def read(self) -> Iterator[Decision]:
        """Yield the decisions after the last one that was read or appended, in order; verify the hash chain."""
        query = "SELECT seq, t, actor, key, body, hash FROM decisions WHERE seq > ? ORDER BY seq"
        for n, t, actor, key, body, its_hash in self._store.execute(query, [self._last[0]]):
            seq = self._last[0] + 1
            if n != seq or next_hash(self._last[1], _row(n, t, actor, key, body)) != its_hash:
                raise StoreError(f"{self._store.name}: decision {seq} was changed", "use its last backup")
            self._remember_last(n, actor, key, its_hash)
            try:
                fact = _decoder.decode(body)
            except msgspec.MsgspecError as error:
                raise StoreError(
                    f"{self._store.name} has a decision that this program cannot read: {error}", "update the program"
                ) from error
            yield Decision(n, t, actor, fact)

    def try_direct(self, *, reached: bool) -> bool:
        """Return whether this hub directs: no other one of the venue on the same database does.

        `reached`: tables report to this hub. One to which none reports leaves it to another to which they do.
        """
        if reached:
            self._store.try_lock("tables", shared=True)
        else:
            self._store.unlock("tables")
            if not self._store.try_lock("tables"):
                self._store.unlock("director")
                return False
            self._store.unlock("tables")
        return self._store.try_lock("director")

    def append(self, decision: Decision, key: str = "") -> None:
        """Write `decision` safely to disk. Call `read` to its end first."""
        row = self._as_row(decision, key)
        with self._store.transaction():
            self._store.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", row)
        self._remember_last(decision.seq, decision.actor, key, row[-1])

    def was_written(self, decision: Decision, key: str = "") -> bool:
        """Return whether `decision` was written although `append` raised an error."""
        its_hash = self._as_row(decision, key)[-1]
        if self._store.execute("SELECT hash FROM decisions WHERE seq = ?", [decision.seq]) != [(its_hash,)]:
            return False
        self._remember_last(decision.seq, decision.actor, key, its_hash)
        return True

    def _as_row(self, decision: Decision, key: str) -> tuple[int, float, str, str, str, str]:
        """Return the row of `decision` in the store."""
        seq, t, actor, fact = decision
        body = msgspec.json.encode(fact).decode()
        return seq, t, actor, key, body, next_hash(self._last[1], _row(seq, t, actor, key, body))

    def _remember_last(self, seq: int, actor: str, key: str, its_hash: str) -> None:
        self._last = seq, its_hash
        if key:
            self.keys[actor, key] = seq


def _row(seq: int, t: float, actor: str, key: str, body: str) -> JournalRow:
    return JournalRow(seq, seq, t, f"{actor}\0{key}", body)
