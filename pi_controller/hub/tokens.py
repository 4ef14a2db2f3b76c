"""The tables' tokens at the hub: each is stored as its hash, and a table proves with it that it has joined."""

import hashlib
import secrets
import threading
from contextlib import suppress
from pathlib import Path

from pi_controller.hub.store import Database, StoreError, StoreUser

_TABLE = "tokens(tid TEXT PRIMARY KEY, hash TEXT NOT NULL)"
REREAD_S = 1.0
"""How long tokens that were read are used: another hub on the database may have issued or revoked some."""


class Tokens(StoreUser):
    """The tokens in the hub's file or database. Raises `StoreError`. Usable from any thread."""

    def __init__(self, where: Path | Database) -> None:
        super().__init__(where, [_TABLE], append_only=[])
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._read_at = float("-inf")
        self._read()

    @property
    def tables(self) -> frozenset[str]:
        """The tables that have joined, as of the last `refresh`; quick."""
        return frozenset(self._known)

    def is_due(self, now: float) -> bool:
        """Return whether `refresh` is due; quick. `now` are seconds of one clock."""
        return not 0 <= now - self._read_at < REREAD_S

    def refresh(self, now: float) -> None:
        """Read the tokens if that is due. Others use what was read before meanwhile, or if the store fails."""
        if self.is_due(now):
            self._read_at = now
            with suppress(StoreError):
                self._read()

    def _read(self) -> None:
        with self._lock:
            self._known = dict(self._store.execute("SELECT tid, hash FROM tokens"))

    def issue(self, table: str) -> str:
        """Return a new token of `table`; an earlier one is no longer valid."""
        token = secrets.token_urlsafe(32)
        with self._lock, self._store.transaction():
            self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
            self._store.execute("INSERT INTO tokens VALUES (?, ?)", [table, _hash(token)])
            self._known = {**self._known, table: _hash(token)}
        return token

    def revoke(self, table: str) -> None:
        """Take the table out: its token is no longer valid."""
        with self._lock, self._store.transaction():
            self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
            self._known = {name: known for name, known in self._known.items() if name != table}

    def is_valid(self, table: str, token: str) -> bool:
        """Return whether `token` is that of `table`, as of the last `refresh`; quick."""
        return secrets.compare_digest(self._known.get(table, ""), _hash(token))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
