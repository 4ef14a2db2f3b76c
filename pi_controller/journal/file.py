"""SQLite file of the journal: schema, creation, read-only opening, rows, and errors.

The table `facts(seq, batch, t, kind, body, hash)` has the records; `meta(key, value)` describes the journal: `epoch`,
`made_by` (the program's version), `created` (seconds since 1970), and `origin` if it was made from another journal.
Triggers refuse changes to either. A file of version 1 has no `hash` and no `meta`, and can still be read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.errors import DamagedJournalError, JournalError, describe_error
from pi_controller.referee import facts
from pi_controller.referee.facts import ANY_FACT, Fact
from pi_controller.system.files import create_private_file, explain_refusal, sync

# Hash chain of a journal: the hash of each record covers all records before it, so that no change goes unnoticed.
#
# The hash of a record is SHA-256 over a fixed prefix, the previous hash, `seq`, `batch`, `t` (8 bytes, IEEE 754),
# `kind` and `body`, the last two after their lengths. The previous hash of the first record is the genesis hash,
# computed from the journal's `epoch`: 16 random bytes drawn at its creation, so that no two journals share a chain.
# The last hash, on the page or a printed sheet, proves every record up to it.

EPOCH_BYTES = 16
DECODE_ERRORS = "surrogateescape"
"""Error handler that keeps the undecodable bytes of a damaged record in a `Row`."""
SHORT_HASH_CHARS = 16
"""Hex digits of a hash that are shown on the page and the sheet, for people to compare."""
_GENESIS = b"moccasin-mat journal\0"
_RECORD = b"moccasin-mat record\0"
_NUMBERS = struct.Struct(">qqd")


class Row(NamedTuple):
    """A record as stored in the file; `hash` is hex, empty in a journal of version 1."""

    seq: int
    batch: int
    t: float
    kind: str
    body: str
    hash: str = ""


def genesis(epoch: str) -> str:
    """Return the hash before the first record of the journal with this `epoch` (hex)."""
    return hashlib.sha256(_GENESIS + bytes.fromhex(epoch)).hexdigest()


def next_hash(previous: str, row: Row) -> str:
    """Return the hash of `row` after the hash `previous` (hex); `row.hash` is ignored."""
    kind, body = (text.encode("utf-8", DECODE_ERRORS) for text in (row.kind, row.body))
    numbers = _NUMBERS.pack(row.seq, row.batch, row.t + 0.0)  # SQLite keeps no negative zero
    parts = (_RECORD, bytes.fromhex(previous), numbers, _length(kind), kind, _length(body), body)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def chain_rows(previous: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield `rows` with their hashes, starting after the hash `previous`."""
    for row in rows:
        previous = next_hash(previous, row)
        yield row._replace(hash=previous)


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big")


APPLICATION_ID = 0x4D4D4154
"""`MMAT`: distinguishes a journal from other SQLite files."""
SCHEMA_VERSION = 2
BUSY_S = 0.25
"""Longest wait for another program's lock on the file, s."""
RECOVER_HINT = "'moccasin-mat recover FILE -o NEW' saves the readable records"

_TABLES = """
CREATE TABLE facts(
  seq INTEGER PRIMARY KEY, batch INTEGER NOT NULL, t REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TABLE meta(key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE TRIGGER facts_stay BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_remain BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
_FOLLOW = """\
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < coalesce((SELECT batch FROM facts WHERE seq = NEW.seq - 1), 1)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END"""
"""Reads the last record only. The trigger of older journals compared with all batches and so read every record."""
_SEAL = """
CREATE TRIGGER meta_stays BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_remains BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER meta_is_whole BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
"""
SETTING = "[table] journal"
"""Key of the settings that names the journal's file."""
DISK_FULL_HINT = "free some disk space, for example old recordings and games, or use a larger disk: play then continues"
_CAUSES = {
    sqlite3.SQLITE_FULL: ("the disk is full", DISK_FULL_HINT),
    sqlite3.SQLITE_READONLY: ("the file or the disk is read-only", "check the disk's health and the file's owner"),
    sqlite3.SQLITE_BUSY: ("another program is using it", "close the other program"),
    sqlite3.SQLITE_LOCKED: ("another program is using it", "close the other program"),
    sqlite3.SQLITE_IOERR: ("the disk fails", "check the disk, then continue"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", RECOVER_HINT),
    sqlite3.SQLITE_NOTADB: ("it is not a journal, or it is damaged", "check the file's name"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that the folder exists and is writable"),
    sqlite3.SQLITE_CONSTRAINT: ("the record does not follow the last one", "another program wrote to it: restart"),
}
MIN_FREE_BYTES = 8192
"""SQLite needs two pages of free space to write a record."""
NO_FOLDER = _CAUSES[sqlite3.SQLITE_CANTOPEN][1]
_DECODER: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(ANY_FACT)


class DamagedRecordError(sqlite3.DatabaseError):
    """A value in a record has a type other than its column."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Meta(NamedTuple):
    """Description of a journal. `epoch` is hex, `created` seconds since 1970 (0: unknown).

    `origin` names the journal that it was made from; "" if it was created fresh.
    """

    epoch: str
    made_by: str = __version__
    created: float = 0.0
    origin: str = ""


class Identity(NamedTuple):
    """Identity of an SQLite file: its number of tables, application id and user version."""

    tables: int
    application: int
    version: int


def decode(body: str) -> Fact:
    """Decode the fact in a record's body. Raises `JournalError` if this version does not know the fact."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeError, TypeError, RecursionError) as error:
        raise JournalError(
            f"this version does not know this kind of record ({error})",
            "it was written by another version, or it is damaged: update the program",
        ) from error


def journal_error(path: Path, what: str, todo: str = "") -> JournalError:
    """Return a `JournalError` about the journal at `path`."""
    return JournalError(f"journal {path.name}: {what}", todo)


def damage_error(path: Path, what: str = "it is damaged", todo: str = RECOVER_HINT) -> DamagedJournalError:
    """Return a `DamagedJournalError` about the journal at `path`."""
    return DamagedJournalError(f"journal {path.name}: {what}", todo)


@contextmanager
def journal_errors(path: Path, doing: str) -> Generator[None]:
    """Turn errors while `doing` something with the journal at `path` into `JournalError`s."""
    try:
        yield
    except sqlite3.Error as error:
        code: Any = getattr(error, "sqlite_errorcode", 0)
        code = (code or 0) & 0xFF
        what, todo = _CAUSES.get(code, (str(error), "check the disk and the file"))
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise damage_error(path, f"it cannot be {doing}: {what}", todo) from error
        if code != sqlite3.SQLITE_FULL and disk_full(path):  # SQLite's shared memory reports it as a failing disk
            what, todo = _CAUSES[sqlite3.SQLITE_FULL]
        raise journal_error(
            path, f"it cannot be {doing}: {what}", explain_refusal(journal_files(path), SETTING) or todo
        ) from error
    except UnicodeError as error:  # SQLite's message names an undecodable part of the schema
        raise damage_error(path, f"it cannot be {doing}: it is damaged") from error
    except OSError as error:
        todo = advice(path, error, journal_files(path), "check the disk and the file")
        raise journal_error(path, f"it cannot be {doing}: {describe_error(error)}", todo) from error


def advice(path: Path, error: OSError, paths: list[Path], otherwise: str) -> str:
    """Return a hint for `error`, which was raised while writing one of `paths`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL_HINT
    return explain_refusal(paths, SETTING) or (DISK_FULL_HINT if disk_full(path) else otherwise)


def disk_full(path: Path) -> bool:
    """Return whether the disk with `path` has no space for another record."""
    try:
        disk = shutil.disk_usage(path.absolute().parent)
    except OSError:
        return False
    return disk.total > 0 and disk.free < MIN_FREE_BYTES


def journal_files(path: Path) -> list[Path]:
    """Return the files that a table writes for the journal at `path`, the lock first."""
    return [sidecar_path(path, ending) for ending in (".lock", "", "-wal", "-shm")]


def identity(db: sqlite3.Connection) -> Identity:
    """Return the identity of the SQLite file `db`."""
    queries = ("SELECT count(*) FROM sqlite_master", "PRAGMA application_id", "PRAGMA user_version")
    return Identity(*(int(db.execute(query).fetchone()[0]) for query in queries))


def check(path: Path, found: Identity) -> None:
    """Raise `JournalError` if the file at `path` is not a journal of this or an earlier version."""
    if found.tables and found.application != APPLICATION_ID:
        raise journal_error(path, "it belongs to another program", "choose another file for the journal")
    if found.version > SCHEMA_VERSION:
        raise journal_error(path, "it was written by a newer version of this program", "update the program")


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open the journal at `path` read-only, without changing it or leaving files beside it.

    This works while it is written, and on a read-only medium, with or without the log of a writer that was killed.
    Raises `sqlite3.Error`, `OSError`, or `JournalError` if there is no file.
    """
    if not path.is_file():
        raise journal_error(path, "there is no such file", "check its name")
    if path.suffix == ".toml":
        raise journal_error(path, "this is a settings file, not a journal", "use the file named in [table] journal")
    place = path.absolute().as_uri()
    if not sidecar_path(path, "-wal").exists():  # no writer; in the other mode SQLite would leave such a file behind
        return open_without_log(path)
    db = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # on a read-only medium SQLite cannot create its shared-memory file; there can be no writer either
        db.close()
        return _open_copy(path)
    except BaseException:
        db.close()
        raise
    return db


def open_without_log(path: Path) -> sqlite3.Connection:
    """Open the file at `path` read-only, ignoring its write-ahead log."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _open_copy(path: Path) -> sqlite3.Connection:
    with temporary_copy(path) as copy, closing(sqlite3.connect(copy)) as whole:
        memory = sqlite3.connect(":memory:", isolation_level=None)
        try:
            whole.backup(memory)
        except BaseException:
            memory.close()
            raise
        return memory


@contextmanager
def temporary_copy(path: Path) -> Generator[Path]:
    """Copy the journal at `path` and its log to a temporary folder; provide the copy's path."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "journal")
        for ending in ("", "-wal"):
            if (old := sidecar_path(path, ending)).is_file():
                shutil.copyfile(old, sidecar_path(copy, ending))
        yield copy


def write_database(db: sqlite3.Connection, new: Path) -> None:
    """Write the open `db` to the file `new`, synced and without a log beside it."""
    with closing(sqlite3.connect(new, isolation_level=None)) as copy:
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    sync(new)


def require_intact(path: Path, db: sqlite3.Connection) -> None:
    """Raise `DamagedJournalError` if SQLite's own check finds a fault in the journal `db` at `path`."""
    if db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise damage_error(path)


def sidecar_path(path: Path, ending: str) -> Path:
    """Return the path of a file that SQLite keeps beside the one at `path`."""
    return path.with_name(path.name + ending)


def rows(db: sqlite3.Connection, version: int, to: int | None = None, first: int = 1) -> Iterator[Row]:
    """Yield the records in order, from `first` up to `to` (None: the last).

    Raises `sqlite3.Error`, also if a value does not have its column's type: SQLite stores any type in any column.
    """
    stated = "hash" if version > 1 else "''"
    last = 2**63 - 1 if to is None else to
    query = f"SELECT seq, batch, t, kind, body, {stated} FROM facts WHERE seq BETWEEN ? AND ? ORDER BY seq"  # noqa: S608
    for row in map(Row._make, db.execute(query, (first, last))):
        if [type(value) for value in row] != [int, int, float, str, str, str]:
            raise DamagedRecordError("a value has the wrong type")
        yield row


def read_rows(path: Path, epoch: str, first: int, last: int) -> list[Row] | None:
    """Return the records `first` to `last` of the journal at `path`, as stored; None if it is of another `epoch`.

    Raises `JournalError`.
    """
    with journal_errors(path, "read"), closing(open_read_only(path)) as db:
        about = meta(db, SCHEMA_VERSION)
        if about is None or about.epoch != epoch:
            return None
        return list(rows(db, SCHEMA_VERSION, last, first))


def meta(db: sqlite3.Connection, version: int) -> Meta | None:
    """Return the description of the journal; None in version 1. Raises `ValueError` if it is malformed."""
    if version < 2:
        return None
    try:
        stored: dict[str, str] = dict(db.execute("SELECT key, value FROM meta").fetchall())
        genesis(stored["epoch"])
        return Meta(stored["epoch"], stored["made_by"], float(stored["created"]), stored["origin"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it does not name its journal") from error


def require_meta(path: Path, db: sqlite3.Connection, version: int) -> Meta | None:
    """Return the description of the journal `db` at `path`, as `meta`. Raises `DamagedJournalError`."""
    try:
        return meta(db, version)
    except ValueError as error:
        raise damage_error(path, str(error)) from error


def create_tables(db: sqlite3.Connection, about: Meta, records: Iterable[Row] = ()) -> None:
    """Create the tables of a journal in the empty `db`, in one transaction, and insert `records` with new hashes."""
    db.execute("BEGIN IMMEDIATE")
    _run(db, _TABLES)
    db.execute(_FOLLOW)
    pairs = zip(Meta._fields, map(str, about), strict=True)
    db.executemany("INSERT INTO meta VALUES (?, ?)", pairs)
    _run(db, _SEAL)
    insert(db, chain_rows(genesis(about.epoch), records))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    db.execute("COMMIT")


def renew(db: sqlite3.Connection) -> None:
    """Replace the insertion trigger of a journal from an older program with the current one."""
    if db.execute("SELECT sql FROM sqlite_master WHERE name = 'facts_follow'").fetchone() != (_FOLLOW,):
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP TRIGGER IF EXISTS facts_follow")
        db.execute(_FOLLOW)
        db.execute("COMMIT")


def insert(db: sqlite3.Connection, records: Iterable[Row]) -> None:
    """Insert `records` with their hashes."""
    db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)", records)


def _run(db: sqlite3.Connection, script: str) -> None:
    """Execute a script inside the current transaction; `executescript` would commit it."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def hidden_sidecar_path(path: Path, ending: str) -> Path:
    """Return the path of a hidden file beside the journal at `path`, for a journal that is not in use."""
    return path.with_name(f".{path.name}.{ending}")


def write_new_journal(path: Path, about: Meta, records: Iterable[Row], ending: str = "new") -> Path:
    """Write a new, synced journal to a hidden file beside `path`; return it. `put_in_place` renames it to `path`."""
    new = hidden_sidecar_path(path, ending)
    remove(new)
    create_private_file(new)
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")
        create_tables(db, about, records)
    sync(new)
    return new


def link_or_copy(old: Path, new: Path) -> None:
    """Make a hard link `new` of the file `old`, or copy it if the file system has no links. Raises `OSError`."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:
        create_private_file(new, old)
        shutil.copyfile(old, new)
        sync(new)


def put_in_place(new: Path, path: Path) -> None:
    """Rename `new` to `path` atomically, and sync the folder."""
    new.replace(path)
    sync(path.parent)


def file_id(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file at `path`, which identify it under any name; None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def remove(path: Path) -> None:
    """Remove the journal at `path` and the files that SQLite keeps beside it. Raises `OSError`."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            sidecar_path(path, ending).unlink()


# Carves a journal's records out of raw bytes, by the form of their headers, whatever became of the pages.
#
# SQLite keeps a row as its length, its number, a head that tells the type of each column, and the columns. The head of
# a record of the journal is so particular that it can be searched for, in the file, in its log, and in pages given
# free. What is found may be old or torn: the hash chain tells. Bytes that are no text are kept as
# `chain.DECODE_ERRORS` says.

_WHOLE = rb"[\x01-\x06\x08\x09]"
_TEXT = rb"(?:[\x0d-\x7f]|[\x81-\xff][\x00-\x7f]|[\x81-\xff][\x80-\xff][\x00-\x7f])"
# its own length; seq is the row's number, so nothing; batch; t, where it is a whole number as one; kind; body; hash
_RECORD_HEADER = re.compile(rb"(?=([\x06-\x0b]\x00" + _WHOLE + rb"[\x01-\x09][\x0d-\x7f]" + _TEXT + rb"(\x81\x0d)?))")
_EPOCH = re.compile(rb"\x03\x17\x4depoch([0-9a-f]{32})")
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
"""Bytes of a number by its type."""
_MAX_RECORD_BYTES = 1_000_000
"""Bytes of a record at most: beyond that it is none."""


def rows_in(data: bytes, pages: bytes) -> Iterator[Row]:
    """Yield what looks like a record in `data`; a long one goes on in `pages`, the journal's own file."""
    for match in _RECORD_HEADER.finditer(data):
        at, head = match.start(), match[1]
        row = _row(data, at, head, pages) if head[0] == len(head) else None
        if row is not None:
            yield row


def epochs_in(data: bytes) -> Iterator[str]:
    """Yield what looks like a journal's epoch."""
    for match in _EPOCH.finditer(data):
        yield match[1].decode()


def _row(data: bytes, at: int, head: bytes, pages: bytes) -> Row | None:
    types = list(_varints(head[1:]))
    sizes = [_SIZES[kind] if kind < 10 else (kind - 13) // 2 for kind in types]
    if any(kind >= 10 and kind % 2 == 0 for kind in types) or sum(sizes) > _MAX_RECORD_BYTES:
        return None
    length = len(head) + sum(sizes)
    seq = _number_before(data, at, length)
    if seq is None:
        return None
    payload = _payload(data, at, length, pages)
    columns: list[bytes] = []
    end = len(head)
    for size in sizes:
        columns.append(payload[end : end + size])
        end += size
    if len(payload) != length:
        return None
    _, batch, t, *texts = columns
    kind, body, *rest = (text.decode("utf-8", DECODE_ERRORS) for text in texts)
    numbers_stored = _number(types[1], batch), _number(types[2], t)
    return Row(seq, int(numbers_stored[0]), float(numbers_stored[1]), kind, body, rest[0] if rest else "")


def _varints(data: bytes) -> Iterator[int]:
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0


def _varint(value: int) -> bytes:
    parts = [value & 0x7F]
    while value := value >> 7:
        parts.append(value & 0x7F | 0x80)
    return bytes(reversed(parts))


def _number_before(data: bytes, at: int, length: int) -> int | None:
    """Return the row's number, stored between its length and its header; None if it is invalid."""
    size = _varint(length)
    for width in range(1, 6):
        number = data[max(0, at - width) : at]
        values = list(_varints(number))
        if len(values) == 1 and _varint(values[0]) == number and data[: at - width].endswith(size):
            return values[0]
    return None


def _number(kind: int, data: bytes) -> float:
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    return kind - 8 if kind > 7 else int.from_bytes(data, "big", signed=True)


def _payload(data: bytes, at: int, length: int, pages: bytes) -> bytes:
    """Return the row's bytes, including its overflow pages; each of these begins with the number of the next."""
    page = int.from_bytes(pages[16:18], "big")
    page = page if 512 <= page <= 32768 and page & (page - 1) == 0 else 4096
    if length <= page - 35:
        return data[at : at + length]
    least = (page - 12) * 32 // 255 - 23
    here = least + (length - least) % (page - 4)
    here = here if here <= page - 35 else least
    payload = data[at : at + here]
    number = int.from_bytes(data[at + here : at + here + 4], "big")
    while len(payload) < length and 0 < number <= len(pages) // page:
        more = pages[(number - 1) * page : number * page]
        payload += more[4 : 4 + length - len(payload)]
        number = int.from_bytes(more[:4], "big")
    return payload


# Check that the journal's write-ahead log is intact. SQLite reads it up to the first frame with a wrong checksum, and
# silently ignores and later overwrites the rest.
#
# An event that a power cut left half written is also such a rest, but was never acknowledged. Two facts distinguish it
# from lost records. First, an event is only begun once the one before is on disk: if records of two events follow the
# last readable one, at least the first of them was acknowledged. Only buffered events of the mat share a transaction
# with the next event. Second, the lock file has the number of the last acknowledged record, written after the record
# is on disk and not synced: after a power cut it may be too low, but never too high.
#
# The log has the format of https://www.sqlite.org/fileformat2.html#walformat: a header of 32 bytes, then frames, each
# a header of 24 bytes and a page.

_HEAD = struct.Struct(">8I")
"""Magic, format, page size, number of the checkpoint, two salts, two checksums."""
_FRAME = struct.Struct(">6I")
"""Page, pages after the commit (0: more frames follow), two salts, two checksums."""
_MAGIC = 0x377F0682
"""If the lowest bit is set, the checksums are of big-endian words."""
_FORMAT = 3007000
_MARK = 16
BUFFERED_FACTS = (facts.HandPass, facts.RoundBegun, facts.LinkSeen, facts.Ready, facts.SensorsSeen, facts.BeadShown)
"""Facts of the mat that may be lost: after a restart the hide in progress starts over without them.

They share a transaction with the next event.
"""
_BUFFERED_KINDS = {kind.__struct_config__.tag for kind in BUFFERED_FACTS}


class LogState(NamedTuple):
    """State of a log.

    `lost` describes acknowledged records that cannot be read, or is "". `torn`: the log ends in an incomplete event,
    which was not acknowledged as far as can be determined. `unwitnessed`: there is a log but no lock file with the
    number of acknowledged records, so a log that was cut between two events looks intact.
    """

    lost: str = ""
    torn: bool = False
    unwitnessed: bool = False


def examine(path: Path) -> LogState:
    """Check the log of the journal at `path` without changing it. A table may be writing it meanwhile.

    Raises `sqlite3.Error`, `OSError`, or `JournalError` if the file itself is not a journal or is damaged.
    """
    acknowledged, log = _read_acknowledged(path), _read(path)
    if not path.is_file() or not path.stat().st_size:
        return LogState("its log exists, but the journal itself is missing" if any(log) else "")
    with closing(open_read_only(path)) as db:
        found = identity(db)
        check(path, found)
        if log:
            require_intact(path, db)
        about = require_meta(path, db, found.version) if found.tables else None
        last = _last(db, found.version, about) if found.tables else Row(0, 0, 0.0, "", "")
    promised = int(acknowledged.split()[1]) if about and acknowledged.startswith(_mark(about)) else 0
    if promised > last.seq:
        return LogState(f"{promised} records were acknowledged, and it can be read up to record {last.seq}")
    if not log:
        return LogState(unwitnessed=not promised and sidecar_path(path, "-wal").exists())
    beyond = _rows_beyond(log, path.read_bytes(), last, chained=about is not None)
    seen = max((row.batch for row in beyond), default=0)
    if seen > last.batch + 1 and not _one_transaction(log, beyond, last.batch, seen):
        return LogState(f"its log is damaged: it can be read up to event {last.batch}, and event {seen} is seen")
    whole, behind = whole_frames(log)
    if whole < 0:
        return LogState("its log cannot be read" if any(log[_HEAD.size :]) else "", torn=any(log))
    return LogState(torn=behind, unwitnessed=not promised)


def copy_aside(path: Path) -> Path:
    """Copy the journal and its log to files beside them, named after the hash of the log; return the journal's copy.

    An existing copy of that name is the same and is kept. Raises `OSError`.
    """
    name = hashlib.sha256(_read(path)).hexdigest()[:8]
    copy = path.with_name(f"{path.stem}.damaged-{name}{path.suffix}")
    for ending in ("", "-wal"):
        old, new = sidecar_path(path, ending), sidecar_path(copy, ending)
        if old.is_file() and not new.exists():
            part = sidecar_path(copy, f"{ending}.part")
            create_private_file(part, old)
            shutil.copyfile(old, part)
            sync(part)
            put_in_place(part, new)
    return copy


def acknowledge(fd: int, about: Meta, seq: int) -> None:
    """Write to the lock file, open as `fd`, that the records up to `seq` of the journal `about` are on disk."""
    with suppress(OSError):  # the record itself is on disk: this is only a second witness
        os.pwrite(fd, _add_checksum(f"{_mark(about)} {seq:>12}"), 0)


def _read_acknowledged(path: Path) -> str:
    """Return the text that `acknowledge` wrote; "" if there is none or it is incomplete."""
    try:
        noted = sidecar_path(path, ".lock").read_bytes()
    except OSError:
        return ""
    text = noted[: _MARK + 13].decode("ascii", "replace")
    return text if noted == _add_checksum(text) else ""


def _add_checksum(text: str) -> bytes:
    return f"{text} {zlib.crc32(text.encode()):08x}\n".encode()


def _mark(about: Meta) -> str:
    """Return an id that distinguishes this journal from others of the same name, such as a recovered one."""
    return hashlib.sha256("|".join(map(str, about)).encode()).hexdigest()[:_MARK]


def _read(path: Path) -> bytes:
    try:
        return sidecar_path(path, "-wal").read_bytes()
    except FileNotFoundError:
        return b""


def _last(db: sqlite3.Connection, version: int, about: Meta | None) -> Row:
    (seq,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
    nothing = Row(0, 0, 0.0, "", "", genesis(about.epoch) if about else "")
    return next(rows(db, version, seq, first=seq), nothing)


def _rows_beyond(log: bytes, pages: bytes, last: Row, *, chained: bool) -> list[Row]:
    """Return the records in `log` after `last`; in a hashed journal, only those chained to another record there."""
    found: dict[int, set[Row]] = {last.seq: {last}}
    for row in rows_in(log, pages):
        if row.seq > last.seq:
            found.setdefault(row.seq, set()).add(row)
    return [
        row
        for seq, rows in found.items()
        for row in rows
        if seq > last.seq and (not chained or _follows(row, found.get(seq - 1, set())))
    ]


def _one_transaction(log: bytes, beyond: list[Row], last: int, seen: int) -> bool:
    """Return True if the batches after `last` up to `seen` can be one transaction: buffered ones and the last."""
    gathered = {row.batch for row in beyond if row.kind in _BUFFERED_KINDS}
    flushed = {row.batch for row in beyond if row.kind not in _BUFFERED_KINDS}
    if set(range(last + 1, seen)) - gathered or flushed - {seen}:
        return False
    whole, _ = whole_frames(log)
    if whole < 0:
        return False
    _, _, size, _, *salts, _, _ = _HEAD.unpack_from(log)
    places = range(_HEAD.size + whole * (_FRAME.size + size), len(log) - _FRAME.size + 1, _FRAME.size + size)
    heads = [_FRAME.unpack_from(log, at) for at in places]
    return sum(1 for _, commit, *salt, _, _ in heads if commit and salt == salts) <= 1


def _follows(row: Row, before: set[Row]) -> bool:
    for one in before:
        with suppress(ValueError):  # a damaged hash may not be hex
            if next_hash(one.hash, row) == row.hash:
                return True
    return False


def whole_frames(log: bytes) -> tuple[int, bool]:
    """Return the number of frames that SQLite reads (-1: damaged header), and whether more frames of this log follow.

    A last frame that is cut off counts as more, unless it belongs to an older log.
    """
    if len(log) < _HEAD.size:
        return -1, False
    magic, form, size, _, *salts, one, two = _HEAD.unpack_from(log)
    order = ">" if magic & 1 else "<"
    sums = _sums(log[: _HEAD.size - 8], (0, 0), order)
    known = magic & ~1 == _MAGIC and form == _FORMAT and 512 <= size <= 65536 and size & (size - 1) == 0
    if not known or sums != (one, two):
        return -1, False
    whole = 0
    frames = range(_HEAD.size, len(log) - _FRAME.size - size + 1, _FRAME.size + size)
    for n, at in enumerate(frames, 1):
        page, commit, *salt, one, two = _FRAME.unpack_from(log, at)
        sums = _sums(log[at : at + 8], sums, order)
        sums = _sums(log[at + _FRAME.size : at + _FRAME.size + size], sums, order)
        if not page or salt != salts or sums != (one, two):
            break
        whole = n if commit else whole
    rest = log[frames.start + len(frames) * frames.step :]
    cut = bool(rest) and log[16:24].startswith(rest[8:16])
    return whole, cut or any(list(_FRAME.unpack_from(log, at)[2:4]) == salts for at in frames[whole:])


def _sums(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the log's checksums over `data` (a multiple of 8 bytes), continued from `sums`."""
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
