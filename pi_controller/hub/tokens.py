"""The tables' tokens at the hub: each is stored as its hash, and a table proves with it that it has joined."""

import hashlib
import secrets
import threading
from pathlib import Path

from pi_controller.hub.store import Database, StoreUser

_TABLE = "tokens(tid TEXT PRIMARY KEY, hash TEXT NOT NULL)"
REREAD_S = 1.0
"""How often an unknown token is looked up again: another hub on the database may have issued it."""


class Tokens(StoreUser):
    """The tokens in the hub's file or database. Raises `StoreError`. Usable from any thread."""

    def __init__(self, where: Path | Database) -> None:
        super().__init__(where, [_TABLE], append_only=[])
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._read_at = float("-inf")
        self.tables()

    def tables(self) -> frozenset[str]:
        """Return the tables that have joined."""
        with self._lock:
            self._known = dict(self._store.execute("SELECT tid, hash FROM tokens"))
        return frozenset(self._known)

    def issue(self, table: str) -> str:
        """Return a new token of `table`; an earlier one is no longer valid."""
        token = secrets.token_urlsafe(32)
        with self._lock, self._store.transaction():
            self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
            self._store.execute("INSERT INTO tokens VALUES (?, ?)", [table, _hash(token)])
            self._known[table] = _hash(token)
        return token

    def revoke(self, table: str) -> None:
        """Take the table out: its token is no longer valid."""
        with self._lock, self._store.transaction():
            self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
            self._known.pop(table, None)

    def is_valid(self, table: str, token: str, now: float) -> bool:
        """Return whether `token` is that of `table`, if necessary by the store. `now` are seconds of one clock."""
        if not self.is_known(table, token) and now - self._read_at >= REREAD_S:
            self._read_at = now
            self.tables()
        return self.is_known(table, token)

    def is_known(self, table: str, token: str) -> bool:
        """Return whether `token` is that of `table` as far as was read; quick."""
        return secrets.compare_digest(self._known.get(table, ""), _hash(token))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
