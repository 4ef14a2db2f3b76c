"""The director's decisions on disk: in the hub's SQLite file, append only, each record's hash holding all before it.

An older program that opens the file passes them over. One connection of its own, so that a decision never waits for
what tables send.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from pi_controller.errors import MatError
from pi_controller.private_files import make_private
from pi_controller.table.chain import Row, follow, genesis
from pi_controller.tournament.decisions import Decision, Fact

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

_TABLE = """
CREATE TABLE IF NOT EXISTS decisions(
  seq INTEGER PRIMARY KEY, t REAL NOT NULL, actor TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS decisions_stay BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END;
CREATE TRIGGER IF NOT EXISTS decisions_remain BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END;
"""
_decoder = msgspec.json.Decoder(Fact)


class TournamentLogError(MatError, RuntimeError):
    """The tournament's decisions cannot be read or written."""

    code = "store"


class TournamentLog:
    """The decisions in the hub's file at `path`, which is there. Raises `TournamentLogError`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: dict[tuple[str, str], int] = {}
        """By actor and key, which decision was made by a command: said again it counts once."""
        self._last = (0, genesis(""))
        with self._errors("opened"):
            make_private(path)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_TABLE)

    def read(self) -> Iterator[Decision]:
        """Yield all decisions in order, each as it was written."""
        with self._errors("read"):
            before = genesis("")
            rows = self._db.execute("SELECT * FROM decisions ORDER BY seq").fetchall()
            for seq, (n, t, actor, key, body, its_hash) in enumerate(rows, 1):
                if n != seq or (before := follow(before, _row(n, t, actor, key, body))) != its_hash:
                    raise TournamentLogError(
                        f"{self.path.name}: decision {seq} is not what was written", "take the file's last backup"
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
        with self._errors("written"):
            self._db.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", (seq, t, actor, key, body, its_hash))
        self._last = seq, its_hash
        if key:
            self.keys[actor, key] = seq

    def close(self) -> None:
        """Close the file. Closing twice is fine."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _errors(self, doing: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
            raise TournamentLogError(
                f"the tournament in {self.path.name} cannot be {doing}: {error}", "check the disk; update the program"
            ) from error


def _row(seq: int, t: float, actor: str, key: str, body: str) -> Row:
    return Row(seq, seq, t, f"{actor}\0{key}", body)
