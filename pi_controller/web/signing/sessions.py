"""Sessions: who is signed in, by a random cookie of which only the hash is kept.

They outlive a restart of the program: a table is restarted just when something went wrong, and that is no moment to
type PINs. What is kept signs nobody in, and whoever could write the file could as well write a PIN.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.web.signing.users import User, hashed

if TYPE_CHECKING:
    from pi_controller.web.signing.users import Users

IDLE_S = 1800.0
ABSOLUTE_S = 12 * 3600.0
EACH = 8
"""Sessions of one person; the oldest goes."""
_WRITTEN_S = 60.0
_SKEW_S = 60.0
"""A clock that was set back by more than this ends sessions."""


class Session(NamedTuple):
    """Somebody signed in. `id` tells sessions apart and opens nothing; times are seconds of the table's clock."""

    id: str
    person: User
    began: float
    seen: float


class Sessions:
    """The sessions of `users`; may be used from any thread. `idle_s` without a touch ends one."""

    def __init__(self, users: Users, idle_s: float = IDLE_S) -> None:
        self._users = users
        self._idle_s = idle_s
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def begin(self, person: User, now: float) -> str:
        """Return the cookie of a new session."""
        token = secrets.token_urlsafe(32)
        with self._users.db() as db:
            db.execute("DELETE FROM sessions WHERE began < ? OR began > ?", (now - ABSOLUTE_S, now + _SKEW_S))
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (hashed(token), person.id, now, now))
            db.execute(
                "DELETE FROM sessions WHERE person = ?1 AND hash NOT IN"
                " (SELECT hash FROM sessions WHERE person = ?1 ORDER BY began DESC, rowid DESC LIMIT ?2)",
                (person.id, EACH),
            )
        with self._lock:
            self._seen[hashed(token)] = now
        return token

    def of(self, token: str, now: float, *, touch: bool) -> Session | None:
        """Return the session of the cookie, None where it has ended. With `touch` somebody did something just now."""
        key = hashed(token)
        with self._users.look() as db:
            row = db.execute(
                "SELECT people.id, name, role, began, seen FROM sessions JOIN people ON people.id = person"
                " WHERE hash = ?",
                (key,),
            ).fetchone()
        if row is None:
            with self._lock:
                self._seen.pop(key, None)
            return None
        began, written = row[3:]
        with self._lock:
            seen = max(written, self._seen.get(key, written))
        if now - began > ABSOLUTE_S or now - seen > self._idle_s or began > now + _SKEW_S:
            self.end(token)
            return None
        if touch:
            seen = now
            with self._lock:
                self._seen[key] = now
            if now - written > _WRITTEN_S:
                with self._users.db() as db:
                    db.execute("UPDATE sessions SET seen = ? WHERE hash = ?", (now, key))
        return Session(key[:12], User._make(row[:3]), began, seen)

    def end(self, token: str) -> None:
        """End the session of the cookie."""
        with self._users.db() as db:
            db.execute("DELETE FROM sessions WHERE hash = ?", (hashed(token),))
        with self._lock:
            self._seen.pop(hashed(token), None)

    def of_all(self, now: float) -> list[Session]:
        """Return the sessions that go on."""
        with self._users.look() as db:
            rows = db.execute(
                "SELECT hash, people.id, name, role, began, seen FROM sessions JOIN people ON people.id = person"
                " ORDER BY began"
            ).fetchall()
        with self._lock:
            found = [
                Session(key[:12], User(*who), began, max(seen, self._seen.get(key, seen)))
                for key, *who, began, seen in rows
            ]
        return [one for one in found if now - one.began <= ABSOLUTE_S and now - one.seen <= self._idle_s]

    def revoke(self, person: int) -> int:
        """End all sessions of a person, and forget their devices; return how many sessions there were."""
        with self._users.db() as db:
            ended = db.execute("DELETE FROM sessions WHERE person = ?", (person,)).rowcount
            db.execute("DELETE FROM devices WHERE person = ?", (person,))
        return ended
