"""User database beside the journal: `judges.sqlite`, readable only by the user who runs the table.

It stores names, roles, hashes of PINs, and SHA-256 hashes of the random cookies of browsers and sessions; a thief of
the file cannot sign in with them. SQLite lets `moccasin-mat judges` change it while a table runs, and survives a power
cut.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import MatError, describe_error
from pi_controller.host.files import create_private_file
from pi_controller.journal import file
from pi_controller.text import NAME_LENGTH, is_name_length, normalize_name, strip_controls
from pi_controller.web.roles import ROLES

FILE = "judges.sqlite"
APPLICATION_ID = 0x4D4D504F
"""`MMPO`."""
MAX_PEOPLE, MAX_DEVICES_PER_PERSON = 200, 20
SCHEMA_VERSION = 1
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
PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;
"""


class UserError(MatError, ValueError):
    """A change of users is refused, or the database cannot be used."""

    code = "people"


class UserStoreError(UserError):
    """The user database cannot be used."""

    code = "store"


class UnknownUserError(UserError):
    """There is no such user."""

    code = "missing"


class User(NamedTuple):
    """A user. An `id` is never reused."""

    id: int
    name: str
    role: str


def fold_name(name: str) -> str:
    """Return `name` in the form for comparisons: without case, outer spaces and different encodings of accents."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def hash_token(token: str) -> str:
    """Return the stored hash of a random cookie. The cookie is long, so one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Users:
    """The users in the SQLite file at `path`, created if it is missing; thread-safe.

    Every method raises `UserStoreError` if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._store_errors():
            create_private_file(path)
            self._db = sqlite3.connect(path, timeout=2.0, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        """Check whose file this is and make its tables. Raises `UserStoreError` and SQLite's errors."""
        found = file.identity(self._db)
        if found.tables and found.application != APPLICATION_ID:
            raise UserStoreError("{name} belongs to another program", "move it away", name=self.path.name)
        if found.tables and found.version != SCHEMA_VERSION:
            raise UserStoreError(
                "{name} was written by another version", "use that version, or move the file away", name=self.path.name
            )
        self._db.execute("PRAGMA foreign_keys = ON")
        if not found.tables:
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def db(self) -> Generator[sqlite3.Connection]:
        """Run one write transaction; other threads wait."""
        with self._lock, self._store_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite has rolled back itself if the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Lock the connection for reading."""
        with self._lock, self._store_errors():
            yield self._db

    def list_users(self) -> list[User]:
        """Return all users, in the order of their creation."""
        with self.reading() as db:
            return [User._make(row) for row in db.execute("SELECT id, name, role FROM people ORDER BY id")]

    def find_by_name(self, name: str) -> tuple[User, str] | None:
        """Return the user with this name and the hash of their PIN, None if there is none."""
        with self.reading() as db:
            row = db.execute("SELECT id, name, role, pin FROM people WHERE folded = ?", (fold_name(name),)).fetchone()
        return (User._make(row[:3]), row[3]) if row else None

    def add(self, name: str, role: str, pin_hash: str) -> User:
        """Add a user. Raises `UserError` for a name that is invalid or in use, and for an unknown role."""
        name = normalize_name(name)
        if not is_name_length(name):
            raise UserError("a name has {name_length}", "enter a name", name_length=NAME_LENGTH)
        if strip_controls(name) != name:
            raise UserError("the name has a control character", "type the name again")
        _check_role(role)
        with self.db() as db:
            if db.execute("SELECT count(*) FROM people").fetchone()[0] >= MAX_PEOPLE:
                raise UserError("there are {max_people} people already", "remove one first", max_people=MAX_PEOPLE)
            try:
                made = db.execute(
                    "INSERT INTO people(name, folded, role, pin) VALUES (?, ?, ?, ?)",
                    (name, fold_name(name), role, pin_hash),
                )
            except sqlite3.IntegrityError as error:
                raise UserError("the name {name} is already taken", "choose another name", name=name) from error
            return User(int(made.lastrowid or 0), name, role)

    def give_pin(self, person: int, pin_hash: str, role: str | None = None) -> None:
        """Give a user another PIN, and another role if given; end their sessions and forget their devices.

        Raises `UserError` for an unknown user or role.
        """
        if role is not None:
            _check_role(role)
        with self.db() as db:
            find_role(db, person)
            db.execute("UPDATE people SET pin = ?, role = coalesce(?, role) WHERE id = ?", (pin_hash, role, person))
            db.execute("DELETE FROM sessions WHERE person = ?", (person,))
            db.execute("DELETE FROM devices WHERE person = ?", (person,))

    def remove(self, person: int) -> None:
        """Remove a user with their sessions. Raises `UserError` for the last head judge, and for an unknown user."""
        with self.db() as db:
            (heads,) = db.execute("SELECT count(*) FROM people WHERE role = 'head'").fetchone()
            if find_role(db, person) == "head" and heads == 1:
                raise UserError("this is the only head judge", "add another head judge first")
            db.execute("DELETE FROM people WHERE id = ?", (person,))

    def has_device(self, person: int, device: str) -> bool:
        """Return whether the browser with the cookie `device` has signed in as `person` before."""
        with self.reading() as db:
            row = db.execute("SELECT 1 FROM devices WHERE hash = ? AND person = ?", (hash_token(device), person))
            return row.fetchone() is not None

    def remember_device(self, person: int, device: str, now: float) -> None:
        """Remember the browser with the cookie `device`; forget the least recently used one beyond
        `MAX_DEVICES_PER_PERSON`.
        """
        with self.db() as db:
            db.execute("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", (hash_token(device), person, now))
            db.execute(
                "DELETE FROM devices WHERE person = :person AND hash NOT IN"
                " (SELECT hash FROM devices WHERE person = :person ORDER BY used DESC LIMIT :most)",
                {"person": person, "most": MAX_DEVICES_PER_PERSON},
            )

    @contextmanager
    def _store_errors(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise UserStoreError(
                "{name} cannot be used: {why}",
                "check the disk and the owner of the file",
                name=self.path.name,
                why=describe_error(error),
            ) from error


def find_role(db: sqlite3.Connection, person: int) -> str:
    """Return the role of a user. Raises `UnknownUserError`."""
    row = db.execute("SELECT role FROM people WHERE id = ?", (person,)).fetchone()
    if row is None:
        raise UnknownUserError("there is no such person", "look at the list again")
    return row[0]


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise UserError(
            "there is no role {role}", "the roles are: {roles}", role=repr(role[:20]), roles=", ".join(ROLES)
        )
