"""User database, kept beside the journal: `judges.sqlite`, readable by the table's user alone.

It holds names, roles, hashes of PINs, and SHA-256 hashes of the random cookies of browsers and sessions: nothing in it
signs anybody in. SQLite, so that `moccasin-mat judges` may change it while a table runs, and a power cut tears nothing.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.errors import MatError
from pi_controller.games.wording import printable
from pi_controller.private_files import make_private
from pi_controller.web.signing.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FILE = "judges.sqlite"
APPLICATION_ID = 0x4D4D504F
"""`MMPO`."""
MOST_PEOPLE, MOST_DEVICES = 200, 20
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS people(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
  pin TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS devices(
  hash TEXT PRIMARY KEY, person INTEGER NOT NULL REFERENCES people(id) ON DELETE CASCADE, used REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions(
  hash TEXT PRIMARY KEY, person INTEGER NOT NULL REFERENCES people(id) ON DELETE CASCADE,
  began REAL NOT NULL, seen REAL NOT NULL
);
PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1; COMMIT;
"""


class UserError(MatError, ValueError):
    """A change of users that is refused, or a database that cannot be used."""

    code = "people"


class StoreError(UserError):
    """The user database cannot be used."""

    code = "store"


class User(NamedTuple):
    """Somebody who may sign in. `id` is never given twice."""

    id: int
    name: str
    role: str


def folded(name: str) -> str:
    """Return `name` as names are compared: capitals, spaces around it and ways to write an accent do not count."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def hashed(token: str) -> str:
    """Return what is kept of a random cookie. It is long: one round says nothing of it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Users:
    """The users in the SQLite file at `path`, made when it is not there; may be used from any thread.

    Every method raises `StoreError` where the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._store_errors():
            make_private(path)
            self._db = sqlite3.connect(path, timeout=2.0, isolation_level=None, check_same_thread=False)
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and application != APPLICATION_ID:
                self._db.close()
                raise StoreError(f"{path.name} belongs to another program", "move it away")
            self._db.execute("PRAGMA foreign_keys = ON")
            if not tables:
                self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def db(self) -> Generator[sqlite3.Connection]:
        """Give the file to one thread for one transaction."""
        with self._lock, self._store_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def look(self) -> Generator[sqlite3.Connection]:
        """Give the file to one thread for reading."""
        with self._lock, self._store_errors():
            yield self._db

    def everybody(self) -> list[User]:
        """Return all, in the order they came."""
        with self.look() as db:
            return [User._make(row) for row in db.execute("SELECT id, name, role FROM people ORDER BY id")]

    def named(self, name: str) -> tuple[User, str] | None:
        """Return who is called so, with the hash of their PIN."""
        with self.look() as db:
            row = db.execute("SELECT id, name, role, pin FROM people WHERE folded = ?", (folded(name),)).fetchone()
        return (User._make(row[:3]), row[3]) if row else None

    def add(self, name: str, role: str, pin_hash: str) -> User:
        """Add somebody. Raises `UserError` for a name that is taken or is none, and for an unknown role."""
        name = unicodedata.normalize("NFC", name).strip()
        if not name or len(name) > 40 or printable(name) != name:
            raise UserError("a name has 1 to 40 letters", "give the name as it is to be shown")
        _known(role)
        with self.db() as db:
            if db.execute("SELECT count(*) FROM people").fetchone()[0] >= MOST_PEOPLE:
                raise UserError(f"there are {MOST_PEOPLE} people already", "remove somebody first")
            try:
                made = db.execute(
                    "INSERT INTO people(name, folded, role, pin) VALUES (?, ?, ?, ?)",
                    (name, folded(name), role, pin_hash),
                )
            except sqlite3.IntegrityError as error:
                raise UserError(f"somebody is called {name} already", "choose another name") from error
            return User(int(made.lastrowid or 0), name, role)

    def give_pin(self, person: int, pin_hash: str, role: str | None = None) -> None:
        """Give somebody another PIN, and another role where one is named; their sessions and known devices end."""
        if role is not None:
            _known(role)
        with self.db() as db:
            db.execute("UPDATE people SET pin = ?, role = coalesce(?, role) WHERE id = ?", (pin_hash, role, person))
            db.execute("DELETE FROM sessions WHERE person = ?", (person,))
            db.execute("DELETE FROM devices WHERE person = ?", (person,))

    def remove(self, person: int) -> None:
        """Remove somebody with their sessions. Raises `UserError` for the last head judge, and for nobody."""
        with self.db() as db:
            row = db.execute("SELECT role FROM people WHERE id = ?", (person,)).fetchone()
            if row is None:
                raise UserError("there is no such person", "look at the list again")
            (heads,) = db.execute("SELECT count(*) FROM people WHERE role = 'head'").fetchone()
            if row[0] == "head" and heads == 1:
                raise UserError("this is the only head judge", "add another head judge first")
            db.execute("DELETE FROM people WHERE id = ?", (person,))

    def knows(self, person: int, device: str) -> bool:
        """Return whether the browser with the cookie `device` has signed in as `person` before."""
        with self.look() as db:
            row = db.execute("SELECT 1 FROM devices WHERE hash = ? AND person = ?", (hashed(device), person))
            return row.fetchone() is not None

    def know(self, person: int, device: str, now: float) -> None:
        """Remember the browser with the cookie `device`; of many the one that was used longest ago is forgotten."""
        with self.db() as db:
            db.execute("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", (hashed(device), person, now))
            db.execute(
                "DELETE FROM devices WHERE person = ?1 AND hash NOT IN"
                " (SELECT hash FROM devices WHERE person = ?1 ORDER BY used DESC LIMIT ?2)",
                (person, MOST_DEVICES),
            )

    @contextmanager
    def _store_errors(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.path.name} cannot be used: {error}", "check the disk, and whose the file is"
            ) from error


def _known(role: str) -> None:
    if role not in ROLES:
        raise UserError(f"there is no role {role[:20]!r}", f"the roles are: {', '.join(ROLES)}")
