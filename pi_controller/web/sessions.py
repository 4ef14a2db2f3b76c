"""Sessions of signed-in users, identified by a random cookie of which only the hash is stored.

They survive a restart of the program: that happens when something went wrong, which is no moment to type PINs. A
stored hash cannot be used to sign in, and an attacker who can write the file could change a PIN as well.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from pi_controller.web.users import User, Users, find_role, hash_token

IDLE_S = 1800.0
MAX_SESSION_S = 12 * 3600.0
MAX_SESSIONS_PER_PERSON = 8
"""Maximum sessions of one user; beyond, the oldest is ended."""
_WRITES = 30
"""Activity is stored so many times in the idle time: each write wears the card."""
_SKEW_S = 60.0
"""Sessions end if the clock is set back by more than this."""


class Session(NamedTuple):
    """A session of a user. `id` is a public identifier, not the cookie; times are seconds of the table's clock."""

    id: str
    person: User
    began: float
    seen: float


class Sessions:
    """The sessions of `users`; thread-safe. A session ends after `idle_s` without activity."""

    def __init__(self, users: Users, idle_s: float = IDLE_S) -> None:
        self._users = users
        self._idle_s = idle_s

    def begin(self, person: User, now: float) -> str:
        """Begin a session and return its cookie."""
        token = secrets.token_urlsafe(32)
        with self._users.db() as db:
            db.execute("DELETE FROM sessions WHERE began < ? OR began > ?", (now - MAX_SESSION_S, now + _SKEW_S))
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (hash_token(token), person.id, now, now))
            db.execute(
                "DELETE FROM sessions WHERE person = :person AND hash NOT IN"
                " (SELECT hash FROM sessions WHERE person = :person ORDER BY began DESC, rowid DESC LIMIT :most)",
                {"person": person.id, "most": MAX_SESSIONS_PER_PERSON},
            )
        return token

    def find(self, token: str, now: float, *, touch: bool) -> Session | None:
        """Return the session of the cookie, None if it has ended. `touch` counts as activity."""
        key = hash_token(token)
        with self._users.reading() as db:
            row = db.execute(
                "SELECT people.id, name, role, began, seen FROM sessions JOIN people ON people.id = person"
                " WHERE hash = ?",
                (key,),
            ).fetchone()
        if row is None:
            return None
        began, seen = row[3:]
        if not self._is_active(began, seen, now):
            self.end(token)
            return None
        if touch and now - seen > self._idle_s / _WRITES:
            seen = now
            with self._users.db() as db:
                db.execute("UPDATE sessions SET seen = ? WHERE hash = ?", (now, key))
        return Session(key[:12], User._make(row[:3]), began, seen)

    def end(self, token: str) -> None:
        """End the session of the cookie."""
        with self._users.db() as db:
            db.execute("DELETE FROM sessions WHERE hash = ?", (hash_token(token),))

    def of_all(self, now: float) -> list[Session]:
        """Return all active sessions."""
        with self._users.reading() as db:
            rows = db.execute(
                "SELECT hash, people.id, name, role, began, seen FROM sessions JOIN people ON people.id = person"
                " ORDER BY began"
            ).fetchall()
        found = [Session(key[:12], User(*who), began, seen) for key, *who, began, seen in rows]
        return [one for one in found if self._is_active(one.began, one.seen, now)]

    def _is_active(self, began: float, seen: float, now: float) -> bool:
        return now - began <= MAX_SESSION_S and now - seen <= self._idle_s and began <= now + _SKEW_S

    def revoke(self, person: int) -> int:
        """End all sessions of a user and forget their devices; return their number. Raises `UnknownUserError`."""
        with self._users.db() as db:
            find_role(db, person)
            ended = db.execute("DELETE FROM sessions WHERE person = ?", (person,)).rowcount
            db.execute("DELETE FROM devices WHERE person = ?", (person,))
        return ended
