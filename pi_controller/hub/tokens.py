"""The tables' tokens at the hub, and the codes by which a table gets one; of both the store has only hashes.

They are in the venue's store, so a code that one hub opened is valid at the other one. Times are seconds of the hub's
clock.
"""

import hashlib
import secrets
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import MatError
from pi_controller.hub.store import Database, StoreError, StoreUser

_TABLES = (
    "tokens(tid TEXT PRIMARY KEY, hash TEXT NOT NULL)",
    """codes(
      hash TEXT PRIMARY KEY, tid TEXT NOT NULL, anew INTEGER NOT NULL, ends DOUBLE PRECISION NOT NULL,
      past TEXT NOT NULL DEFAULT ''
    )""",
)
REREAD_S = 1.0
"""How long tokens that were read are used: another hub on the database may have issued or revoked some."""
CODE_LIFETIME_S = 600.0
"""How long a code is valid."""
MAX_OPEN_CODES = 64
FORGET_CODE_S = 86_400.0
"""How long after its end the reason why a code is not valid is known."""


class JoinServerError(MatError, RuntimeError):
    """A join code cannot be opened, or a table cannot join."""

    code = "illegal"


class JoinableTable(NamedTuple):
    """A table that may join until `ends` (s of the hub's clock); may be shown to all signed-in users."""

    table: str
    ends: float


class Tokens(StoreUser):
    """The tokens and codes in the hub's file or database. Raises `StoreError`. Usable from any thread."""

    def __init__(self, where: Path | Database) -> None:
        super().__init__(where, _TABLES, append_only=[])
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._codes: tuple[JoinableTable, ...] = ()
        self._read_at = float("-inf")
        self._read()

    @property
    def tables(self) -> frozenset[str]:
        """The tables that have joined, as of the last `refresh`; quick."""
        return frozenset(self._known)

    def waiting(self, now: float) -> tuple[JoinableTable, ...]:
        """Return the tables with a valid code, as of the last `refresh`; quick."""
        return tuple(one for one in self._codes if one.ends > now)

    def is_due(self, now: float) -> bool:
        """Return whether `refresh` is due; quick."""
        return not 0 <= now - self._read_at < REREAD_S

    def refresh(self, now: float) -> None:
        """Read tokens and codes if due. Others use what was read before meanwhile, or if the store fails or hangs."""
        if self.is_due(now) and self._lock.acquire(blocking=False):
            try:
                self._read_at = now
                with suppress(StoreError):
                    self._read()
            finally:
                self._lock.release()

    def _read(self) -> None:
        self._known = dict(self._store.execute("SELECT tid, hash FROM tokens"))
        codes = self._store.execute("SELECT tid, ends FROM codes WHERE past = '' ORDER BY ends, tid")
        self._codes = tuple(map(JoinableTable._make, codes))

    def issue(self, table: str) -> str:
        """Return a new token of `table`; an earlier one is no longer valid."""
        with self._lock, self._store.transaction():
            return self._issue(table)

    def _issue(self, table: str) -> str:
        token = secrets.token_urlsafe(32)
        self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
        self._store.execute("INSERT INTO tokens VALUES (?, ?)", [table, _hash(token)])
        self._read()
        return token

    def revoke(self, table: str) -> None:
        """Take the table out: its token and its code are no longer valid."""
        with self._lock, self._store.transaction():
            self._store.execute("DELETE FROM tokens WHERE tid = ?", [table])
            self._close_code(table)
            self._read()

    def is_valid(self, table: str, token: str) -> bool:
        """Return whether `token` is that of `table`, as of the last `refresh`; quick."""
        return secrets.compare_digest(self._known.get(table, ""), _hash(token))

    def open_code(
        self, table: str, secret: str, now: float, *, anew: bool = False, known: Collection[str] = ()
    ) -> JoinableTable:
        """Make the code with this `secret` valid for `table`, once; it replaces an earlier one.

        Unless it is to get a token `anew`, a table that has joined, or is one of those `known`, is refused. Raises
        `JoinServerError`.
        """
        with self._lock, self._store.transaction():
            self._reject_known(table, known, anew=anew)
            self._close_code(table)
            self._store.execute("DELETE FROM codes WHERE ends < ?", [now - FORGET_CODE_S])
            ((count,),) = self._store.execute("SELECT count(*) FROM codes WHERE past = '' AND ends > ?", [now])
            if count >= MAX_OPEN_CODES:
                raise JoinServerError(
                    "{max_open_codes} codes are open", "revoke some first", max_open_codes=MAX_OPEN_CODES
                )
            opened = JoinableTable(table, now + CODE_LIFETIME_S)
            row = _hash(secret), table, int(anew), opened.ends
            self._store.execute("INSERT INTO codes(hash, tid, anew, ends) VALUES (?, ?, ?, ?)", row)
            self._read()
        return opened

    def close_code(self, table: str) -> None:
        """Revoke the code for `table`, if there is one."""
        with self._lock, self._store.transaction():
            self._close_code(table)
            self._read()

    def _close_code(self, table: str) -> None:
        query = "UPDATE codes SET past = 'this code was revoked' WHERE tid = ? AND past = ''"
        self._store.execute(query, [table])

    def redeem(self, secret: str, now: float, known: Collection[str] = ()) -> tuple[str, str]:
        """Use up the code with this `secret`; return its table, and a new token of it.

        The code stays valid if there is an error. Raises `JoinServerError`; `known` as for `open_code`.
        """
        with self._lock, self._store.transaction():
            query = "SELECT tid, anew, ends, past FROM codes WHERE hash = ?"
            found = self._store.execute(query, [_hash(secret)])
            table, anew, ends, past = found[0] if found else ("", 0, now, "the hub does not know this code")
            if past or ends <= now:
                raise JoinServerError(past or "this code has run out", "ask the director for a new one")
            self._reject_known(table, known, anew=bool(anew))
            self._store.execute("UPDATE codes SET past = 'this code was used' WHERE hash = ?", [_hash(secret)])
            return table, self._issue(table)

    def _reject_known(self, table: str, known: Collection[str], *, anew: bool) -> None:
        """Raise `JoinServerError` if there is a `table` already, and it is not to get a token `anew`."""
        self._read()
        if not anew and (table in self._known or table in known):
            raise JoinServerError(
                "there is a table {table} already",
                "choose another name, or choose the option for a new card: the old card then loses access",
                table=table,
            )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
