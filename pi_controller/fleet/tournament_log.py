"""The director's decisions on disk: in the hub's store, append only, each record's hash holding all before it.

An older program that opens it passes them over. One connection of its own, so that a decision never waits for
what tables send.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from pi_controller.fleet.store import Database, StoreError, open_store
from pi_controller.table.chain import Row, follow, genesis
from pi_controller.tournament.decisions import Decision, Fact

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from typing import Self

_TABLE = """decisions(
  seq INTEGER PRIMARY KEY, t DOUBLE PRECISION NOT NULL, actor TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
)"""
_decoder = msgspec.json.Decoder(Fact)


class TournamentLog:
    """The decisions in the hub's file or database. Raises `StoreError`."""

    def __init__(self, where: Path | Database) -> None:
        self.keys: dict[tuple[str, str], int] = {}
        """By actor and key, which decision was made by a command: said again it counts once."""
        self._last = (0, genesis(""))
        self._store = open_store(where, [_TABLE], append_only=["decisions"])

    def read(self) -> Iterator[Decision]:
        """Yield all decisions in order, each as it was written."""
        with self._readable():
            before = genesis("")
            rows = self._store.execute("SELECT seq, t, actor, key, body, hash FROM decisions ORDER BY seq")
            for seq, (n, t, actor, key, body, its_hash) in enumerate(rows, 1):
                if n != seq or (before := follow(before, _row(n, t, actor, key, body))) != its_hash:
                    raise StoreError(
                        f"{self._store.name}: decision {seq} is not what was written", "take its last backup"
                    )
                if key:
                    self.keys[actor, key] = n
                self._last = n, its_hash
                yield Decision(n, t, actor, _decoder.decode(body))

    def append(self, decision: Decision, key: str = "") -> None:
        """Write `decision`, safe on disk when this returns. Read all of it first."""
        seq, t, actor, fact = decision
        body = msgspec.json.encode(fact).decode()
        its_hash = follow(self._last[1], _row(seq, t, actor, key, body))
        query = "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)"
        with self._store.transaction():
            self._store.execute(query, (seq, t, actor, key, body, its_hash))
        self._appended(decision, key, its_hash)

    def stands(self, decision: Decision, key: str = "") -> bool:
        """Return whether `decision` was written, though `append` raised: its answer was lost."""
        seq, t, actor, fact = decision
        its_hash = follow(self._last[1], _row(seq, t, actor, key, msgspec.json.encode(fact).decode()))
        if self._store.execute("SELECT hash FROM decisions WHERE seq = ?", [seq]) != [(its_hash,)]:
            return False
        self._appended(decision, key, its_hash)
        return True

    def _appended(self, decision: Decision, key: str, its_hash: str) -> None:
        self._last = decision.seq, its_hash
        if key:
            self.keys[decision.actor, key] = decision.seq

    def close(self) -> None:
        """Close the store. Closing twice is fine."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _readable(self) -> Generator[None]:
        try:
            yield
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"{self._store.name} has a decision that this program cannot read: {error}", "update the program"
            ) from error


def _row(seq: int, t: float, actor: str, key: str, body: str) -> Row:
    return Row(seq, seq, t, f"{actor}\0{key}", body)
