"""The hub's durable store: an SQLite file, or a PostgreSQL database for many venues.

Both accept the same SQL with `?` for each value. A finished `transaction` is on disk: SQLite in WAL mode with
synchronous=FULL, PostgreSQL with synchronous_commit. In a database each venue has its own schema.
"""

from __future__ import annotations

import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from pi_controller.errors import MatError, describe_error
from pi_controller.extras import install_hint
from pi_controller.host.files import create_private_file
from pi_controller.journal import file

if TYPE_CHECKING:
    import psycopg


APPLICATION_ID = 0x4D4D4855
"""`MMHU`: distinguishes a hub's file from other SQLite files."""
SCHEMA_VERSION = 1
CONNECT_S = 5
HANGING_S = 4
"""After this long a program that does not go on loses its locks in a database, s."""
_BAD_VALUE = "check that table and hub have the same version"
BUSY_S = 10.0
"""How long another connection may lock the file before that is an error, s."""


class StoreError(MatError, RuntimeError):
    """The hub's store cannot be opened, read or written."""

    code = "store"


class DatabaseUnavailableError(StoreError):
    """The database does not answer, or the connection broke; a later attempt may succeed."""


class BadValueError(StoreError):
    """The store rejects a value of this query: too large, or against a constraint. The store itself works."""


@dataclass(frozen=True, slots=True)
class Database:
    """A PostgreSQL database: its address without a password, and the venue, which names the schema."""

    url: str
    venue: str
    password: str | None = None


class Store(ABC):
    """One connection. Raises `StoreError`. Usable from any thread; a transaction from one thread at a time."""

    name: str
    """The name in messages."""

    @abstractmethod
    def create(self, tables: Iterable[str], append_only: Iterable[str]) -> None:
        """Create missing tables, each given as `NAME(COLUMNS)`; SERIAL is an automatic number.

        Records of the tables in `append_only` cannot be changed or removed.
        """

    @abstractmethod
    def execute(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of `query`; [] if it has none."""

    @abstractmethod
    def execute_many(self, query: str, rows: Iterable[Iterable[Any]]) -> None:
        """Execute `query`, an INSERT that ends with its VALUES, for each of the rows, with one round trip."""

    @abstractmethod
    def transaction(self) -> Any:
        """Return a context that commits all its changes or none. Other writers wait."""

    def try_lock(self, name: str, *, shared: bool = False) -> bool:  # noqa: ARG002
        """Return whether this connection has the lock `name` of the venue; call it every second.

        It is free when its holder is gone or has not called for `HANGING_S`. Several may have it `shared`. A file has
        one hub, which always has all.
        """
        return True

    def unlock(self, name: str) -> None:  # noqa: B027 - there is nothing to do for a file
        """Give up the lock `name`, if this connection has it."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection. Closing twice is fine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(where: Path | Database, tables: Iterable[str] = (), append_only: Iterable[str] = ()) -> Store:
    """Open the store in a file or a database and create these tables (`Store.create`). Raises `StoreError`."""
    store = _SqliteStore(where) if isinstance(where, Path) else _PostgresStore(where)
    try:
        store.create(tables, append_only)
    except BaseException:
        store.close()
        raise
    return store


class StoreUser:
    """Owns one connection to the store, with these tables. Raises `StoreError`."""

    def __init__(self, where: Path | Database, tables: Iterable[str], append_only: Iterable[str]) -> None:
        self._store = open_store(where, tables, append_only)

    def close(self) -> None:
        """Close the store. Closing twice is fine."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _SqliteStore(Store):
    def __init__(self, path: Path) -> None:
        self.name = path.name
        with self._errors("opened"):
            create_private_file(path)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_S)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        found = file.identity(self._db)
        if found.tables and (found.application, found.version) != (APPLICATION_ID, SCHEMA_VERSION):
            raise StoreError(
                f"{self.name} is not a hub file of this version", "choose another folder, or update the program"
            )
        (mode,) = self._db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(f"{self.name}: this disk is not safe against power cuts", "choose another disk")
        self._db.execute("PRAGMA synchronous = FULL")
        if not found.tables:
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def create(self, tables: Iterable[str], append_only: Iterable[str]) -> None:
        made = [f"CREATE TABLE IF NOT EXISTS {table.replace('SERIAL', 'INTEGER')};" for table in tables]
        made += [
            f"CREATE TRIGGER IF NOT EXISTS {table}_{name} BEFORE {change} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} are never changed or removed'); END;"
            for table in append_only
            for change, name in (("UPDATE", "stay"), ("DELETE", "remain"))
        ]
        with self._errors("made"):
            self._db.executescript("\n".join(["BEGIN;", *made, "COMMIT;"]))

    def execute(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors("read" if query.startswith("SELECT") else "written"):
            return self._db.execute(query, tuple(values)).fetchall()

    def execute_many(self, query: str, rows: Iterable[Iterable[Any]]) -> None:
        with self._errors("written"):
            self._db.executemany(query, map(tuple, rows))

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._errors("written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors roll back automatically
                    self._db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _errors(self, doing: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.DataError, sqlite3.IntegrityError, OverflowError, UnicodeError) as error:
            raise BadValueError(f"{self.name} cannot store this: {error}", _BAD_VALUE) from error
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.name} cannot be {doing}: {describe_error(error)}", "check the disk and the owner of the folder"
            ) from error


class _PostgresStore(Store):
    """Reconnects at the next use after the connection broke; a transaction under way has failed then."""

    def __init__(self, database: Database) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StoreError("PostgreSQL's driver is not installed", install_hint("postgres")) from error
        self.name = "the database"
        self._database, self._psycopg = database, psycopg
        self._schema = f'"mat_{database.venue}"'
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._locks: dict[str, str] = {}
        """The locks that the connection has, and "_shared" for those it shares."""
        self._connecting = threading.Lock()
        """Held while connecting, so that two threads never connect at once."""
        with self._errors("reached"):
            self._connected()

    def create(self, tables: Iterable[str], append_only: Iterable[str]) -> None:
        with self.transaction():
            for table in tables:
                columns = table.replace("id SERIAL", "id BIGINT GENERATED ALWAYS AS IDENTITY").replace(
                    "SERIAL", "BIGINT"
                )
                self.execute(f"CREATE TABLE IF NOT EXISTS {columns}")
            for table in append_only:
                refuse = f"BEGIN RAISE EXCEPTION '{table} are never changed or removed'; END"
                self.execute(
                    f"CREATE OR REPLACE FUNCTION {table}_stay() RETURNS trigger LANGUAGE plpgsql AS $${refuse}$$"
                )
                self.execute(
                    f"CREATE OR REPLACE TRIGGER {table}_stay BEFORE UPDATE OR DELETE ON {table} "
                    f"FOR EACH ROW EXECUTE FUNCTION {table}_stay()"
                )

    def execute(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors("read" if query.startswith("SELECT") else "written"):
            cursor = self._connected().execute(cast("Any", query.replace("?", "%s")), tuple(values) or None)
            return cursor.fetchall() if cursor.description else []

    def execute_many(self, query: str, rows: Iterable[Iterable[Any]]) -> None:
        # psycopg's executemany is a pipeline: a program that hangs in one would never be `idle_in_transaction`
        rows = list(rows)
        begin, _, values = query.rpartition("VALUES ")
        self.execute(f"{begin}VALUES {', '.join([values] * len(rows))}", chain.from_iterable(rows))

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._errors("written"), self._connected().transaction():
            # one writer for each venue, as with SQLite
            self.execute("SELECT pg_advisory_xact_lock(hashtext(?))", (self._schema,))
            yield

    def try_lock(self, name: str, *, shared: bool = False) -> bool:
        # each query shows that the connection, and so its locks, are still there
        self.execute(f"SET idle_session_timeout = '{HANGING_S}s'")
        if name not in self._locks:
            kind = "_shared" if shared else ""
            ((held,),) = self.execute(f"SELECT pg_try_advisory_lock{kind}(hashtext(?))", (f"{self._schema} {name}",))
            if held:
                self._locks[name] = kind
        return name in self._locks

    def unlock(self, name: str) -> None:
        if (kind := self._locks.pop(name, None)) is not None:
            self.execute(f"SELECT pg_advisory_unlock{kind}(hashtext(?))", (f"{self._schema} {name}",))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
            return self._connection

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        self._locks.clear()
        connection = self._psycopg.connect(
            self._database.url, password=self._database.password, autocommit=True, connect_timeout=CONNECT_S
        )
        try:
            for query in (
                "SET synchronous_commit = on",
                "SET tcp_keepalives_idle = 2",  # the lock of a machine that is gone is free within 5 s
                "SET tcp_keepalives_interval = 1",
                "SET tcp_keepalives_count = 2",
                f"SET idle_in_transaction_session_timeout = '{HANGING_S}s'",  # of a program that hangs: others go on
                f"CREATE SCHEMA IF NOT EXISTS {self._schema}",
                f"SET search_path = {self._schema}",
            ):
                connection.execute(cast("Any", query))
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors(self, doing: str) -> Generator[None]:
        try:
            yield
        except (self._psycopg.DataError, self._psycopg.IntegrityError, OverflowError, UnicodeError) as error:
            raise BadValueError(f"{self.name} cannot store this: {_first_line(error)}", _BAD_VALUE) from error
        except self._psycopg.Error as error:
            away = isinstance(error, self._psycopg.OperationalError)
            what = f"{self.name} cannot be {doing}: {_first_line(error)}"
            hint = "check that PostgreSQL runs, and [store] in hub.toml"
            raise (DatabaseUnavailableError if away else StoreError)(what, hint) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
