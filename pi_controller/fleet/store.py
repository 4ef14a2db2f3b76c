"""Where a hub keeps what must never be lost: an SQLite file of its own, or for many venues a PostgreSQL database.

Both take the same SQL with `?` for each value. What `transaction` has left is on the disk: SQLite in WAL mode with
synchronous=FULL, PostgreSQL with synchronous_commit. In a database each venue has a schema of its own.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pi_controller.errors import MatError
from pi_controller.private_files import make_private
from pi_controller.table import journal_file

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from typing import Self

    import psycopg

APPLICATION_ID = 0x4D4D4855
"""`MMHU`: tells a hub's file from any other SQLite file."""
SCHEMA_VERSION = 1
CONNECT_S = 5
BUSY_S = 10.0
"""How long another connection may hold the file before that is an error, s."""


class StoreError(MatError, RuntimeError):
    """What the hub keeps cannot be opened, read or written."""

    code = "store"


class DatabaseAwayError(StoreError):
    """The database does not answer, or the connection broke: another time it may be there."""


@dataclass(frozen=True, slots=True)
class Database:
    """A PostgreSQL database: its address without a password, and the venue whose schema it is."""

    url: str
    venue: str
    password: str | None = None


class Store(ABC):
    """One connection. Raises `StoreError`. It may be used from any thread, a transaction from one at a time."""

    name: str
    """What people know it by."""

    @abstractmethod
    def create(self, tables: Iterable[str], append_only: Iterable[str]) -> None:
        """Make the tables that are not there, each as `NAME(COLUMNS)` with SERIAL for a number that counts itself.

        No record of those named in `append_only` can be changed or removed afterwards.
        """

    @abstractmethod
    def execute(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of `query`; [] where it has none."""

    @abstractmethod
    def execute_many(self, query: str, rows: Iterable[Iterable[Any]]) -> None:
        """Execute `query` once for the values of each row, with few journeys to a database."""

    @abstractmethod
    def transaction(self) -> Any:
        """Return a context: all that is executed in it is kept, or nothing. Nobody else writes meanwhile."""

    @abstractmethod
    def close(self) -> None:
        """Close it. Closing twice is fine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(where: Path | Database, tables: Iterable[str] = (), append_only: Iterable[str] = ()) -> Store:
    """Return the store in a file or a database, with these tables (`Store.create`). Raises `StoreError`."""
    store = _SqliteStore(where) if isinstance(where, Path) else _PostgresStore(where)
    try:
        store.create(tables, append_only)
    except BaseException:
        store.close()
        raise
    return store


class _SqliteStore(Store):
    def __init__(self, path: Path) -> None:
        self.name = path.name
        with self._errors("opened"):
            make_private(path)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_S)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        found = journal_file.identity(self._db)
        if found.tables and (found.application, found.version) != (APPLICATION_ID, SCHEMA_VERSION):
            raise StoreError(
                f"{self.name} is no hub's file of this version", "choose another folder, or update the program"
            )
        (mode,) = self._db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(f"{self.name}: this disk cannot keep it safe against power cuts", "choose another")
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
                with suppress(sqlite3.Error):  # some errors have rolled back already
                    self._db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _errors(self, doing: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.name} cannot be {doing}: {error}", "check the disk and who owns the folder"
            ) from error


class _PostgresStore(Store):
    """A connection that broke is made again with the next use: what was under way in it has failed."""

    def __init__(self, database: Database) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StoreError("PostgreSQL's driver is not installed", "pip install 'moccasin-mat[postgres]'") from error
        self.name = "the database"
        self._database, self._psycopg = database, psycopg
        self._schema = f'"mat_{database.venue}"'
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
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
        with self._errors("written"), self._connected().cursor() as cursor:
            cursor.executemany(cast("Any", query.replace("?", "%s")), map(tuple, rows))

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._errors("written"), self._connected().transaction():
            # one writer a venue, as SQLite has it
            self.execute("SELECT pg_advisory_xact_lock(hashtext(?))", (self._schema,))
            yield

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            connection = self._psycopg.connect(
                self._database.url, password=self._database.password, autocommit=True, connect_timeout=CONNECT_S
            )
            try:
                for query in (
                    "SET synchronous_commit = on",
                    f"CREATE SCHEMA IF NOT EXISTS {self._schema}",
                    f"SET search_path = {self._schema}",
                ):
                    connection.execute(cast("Any", query))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            return connection
        return self._connection

    @contextmanager
    def _errors(self, doing: str) -> Generator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            away = isinstance(error, self._psycopg.OperationalError)
            raise (DatabaseAwayError if away else StoreError)(
                f"{self.name} cannot be {doing}: {lines[0]}", "check that PostgreSQL runs, and [store] in hub.toml"
            ) from error
