"""Sign-in: check a name and a PIN and begin a session. PINs are hashed one at a time in a thread.

It is always the same thread: each thread that hashes keeps its 19 MiB of memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import secrets
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pi_controller.errors import MatError, describe_error
from pi_controller.host.files import create_private_file
from pi_controller.text import NAME_LENGTH, is_name_length, normalize_name, strip_controls
from pi_controller.web.connection_limits import client_network
from pi_controller.web.roles import ROLES
from pi_controller.web.throttle import Throttle

# PINs: random, so none is a birthday; stored only as an Argon2id hash.
#
# A hash takes 19 MiB and two passes (OWASP's minimum for Argon2id). That slows down an attack on a stolen file;
# guesses at the sign-in page are slowed down by `web.throttle`.

DIGITS = 6
"""Minimum digits of a PIN."""
MAX_DIGITS = 16


def new_pin(digits: int = DIGITS) -> str:
    """Return a random PIN."""
    return f"{secrets.randbelow(10**digits):0{digits}d}"


def is_pin(text: str) -> bool:
    """Return whether `text` has the form of a PIN; other text is never hashed."""
    return DIGITS <= len(text) <= MAX_DIGITS and text.isascii() and text.isdecimal()


class PinHasher:
    """Hashes and verifies PINs. Slow on purpose: call it in a thread, one at a time.

    `passes` and `kib` of memory are Argon2id's cost; tests use less.
    """

    def __init__(self, passes: int = 2, kib: int = 19 * 1024) -> None:
        from argon2 import PasswordHasher  # noqa: PLC0415 - a table without judges has no PINs

        self._hasher = PasswordHasher(time_cost=passes, memory_cost=kib, parallelism=1)
        self.hashed = 0
        """The number of computed hashes."""
        self._nobody = self.hash(new_pin())

    def hash(self, pin: str) -> str:
        """Return the hash of `pin`."""
        self.hashed += 1
        return self._hasher.hash(pin)

    def verify(self, kept: str | None, pin: str) -> bool:
        """Return whether `pin` matches the hash `kept`; for None (an unknown user) False, after the same time."""
        from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415

        self.hashed += 1
        try:
            return self._hasher.verify(kept or self._nobody, pin) and kept is not None
        except (VerificationError, InvalidHashError):
            return False


# User database beside the journal: `judges.sqlite`, readable only by the user who runs the table.
#
# It stores names, roles, hashes of PINs, and SHA-256 hashes of the random cookies of browsers and sessions; a thief of
# the file cannot sign in with them. SQLite lets `moccasin-mat judges` change it while a table runs, and survives a
# power cut.

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
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION_ID:
            raise UserStoreError("{name} belongs to another program", "move it away", name=self.path.name)
        if tables and version != SCHEMA_VERSION:
            raise UserStoreError(
                "{name} was written by another version", "use that version, or move the file away", name=self.path.name
            )
        self._db.execute("PRAGMA foreign_keys = ON")
        if not tables:
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


log = logging.getLogger(__name__)


class PinError(MatError, PermissionError):
    """The name or the PIN is wrong; `wait_s` is how long until the next try, s."""

    code = "pin"

    def __init__(self, what: str, hint: str, /, wait_s: float, **values: object) -> None:
        super().__init__(what, hint, **values)
        self.wait_s = math.ceil(wait_s)


class BusyError(PinError):
    """It is too early to try again."""

    code = "often"


class SignedIn(NamedTuple):
    """A successful sign-in: user, session cookie, and device cookie, which exempts the browser from shared limits."""

    person: User
    session: str
    device: str


class Authenticator:
    """Signs people in. `clock` returns the seconds of the table's clock."""

    def __init__(self, users: Users, sessions: Sessions, pins: PinHasher, clock: Callable[[], float]) -> None:
        self.users, self.sessions, self.pins, self.clock = users, sessions, pins, clock
        self.throttle = Throttle()
        self._one = ThreadPoolExecutor(1, "pins")

    async def sign_in(self, name: str, pin: str, address: str, device: str | None) -> SignedIn:
        """Sign in from `address`, with a browser whose cookie is `device`. Raises `PinError`, or `UserError`."""
        person, known = await self._check_pin(name, pin, address, device)
        now = self.clock()
        device = device if known and device else secrets.token_urlsafe(32)
        await asyncio.to_thread(self.users.remember_device, person.id, device, now)
        session = await asyncio.to_thread(self.sessions.begin, person, now)
        log.info("%s (%s) signed in from %s", person.name, person.role, address)
        return SignedIn(person, session, device)

    async def _check_pin(self, name: str, pin: str, address: str, device: str | None) -> tuple[User, bool]:
        """Return the user of that name and PIN, and whether they use the browser `device`.

        A wrong name gets the same answer as a wrong PIN, after the same time. Raises `PinError` or `UserError`.
        """
        found = await asyncio.to_thread(self.users.find_by_name, name)
        person, kept = found or (None, None)
        known = bool(device and person and await asyncio.to_thread(self.users.has_device, person.id, device))
        # the names are on the sign-in page: all others share one back-off
        key = (person.id if person else 0, device if known else None)
        network = "" if known else client_network(address)
        # the typed name is not logged: it may be a PIN in the wrong field
        who = person.name if person else "an unknown name"
        if (wait := self.throttle.admit(key, network, self.clock())) > 0:
            log.warning("sign-in refused for %s from %s: too early", who, address)
            raise BusyError("there were too many tries", _wait(wait), wait)
        if not (is_pin(pin) and await self._right(kept, pin)) or person is None:
            log.warning("sign-in refused for %s from %s: wrong PIN", who, address)
            wait = self.throttle.wait(key, network, self.clock())
            raise PinError("the name or the PIN is wrong", _wait(wait), wait)
        self.throttle.record_success(key)
        return person, known

    async def session(self, token: str, *, touch: bool) -> Session | None:
        """Return the session of the cookie, None if it has ended. `touch` counts as activity."""
        return await asyncio.to_thread(self.sessions.find, token, self.clock(), touch=touch)

    async def end(self, token: str) -> None:
        """End the session of the cookie."""
        await asyncio.to_thread(self.sessions.end, token)

    async def hash(self, pin: str) -> str:
        """Return the hash of a new PIN."""
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.hash, pin)

    async def _right(self, kept: str | None, pin: str) -> bool:
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.verify, kept, pin)


def _wait(seconds: float) -> str:
    whole = math.ceil(seconds)
    return f"wait {whole} s, then try again" if whole else "try again"


# Sessions of signed-in users, identified by a random cookie of which only the hash is stored.
#
# They survive a restart of the program: that happens when something went wrong, which is no moment to type PINs. A
# stored hash cannot be used to sign in, and an attacker who can write the file could change a PIN as well.

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
