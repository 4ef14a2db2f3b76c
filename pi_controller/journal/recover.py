"""Recover a damaged journal: write a new one with all records up to the first gap or invalid hash.

The damaged file is only read. Records are collected in two ways: through SQLite, on a copy, up to the first damaged
one; and by searching the raw bytes of the file and its log for the header of a record, even if the pages around it are
damaged. The hash chain then separates valid records from old and torn ones. A damaged hash is recomputed from the
record after it, and a record with one flipped bit is repaired if its hash then matches.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pi_controller.journal import file
from pi_controller.journal.file import DECODE_ERRORS, EPOCH_BYTES, Meta, Row, epochs_in, genesis, next_hash, rows_in
from pi_controller.journal.journal import acquire_lock
from pi_controller.journal.rotation import set_aside
from pi_controller.journal.verify import ChainChecker
from pi_controller.system.files import create_private_file

Found = dict[int, dict[Row, None]]
"""The candidate records for each record number."""
_MAX_REPAIR_BYTES = 2000
"""The longest body in which each bit is tried as the flipped one."""
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RecoveredJournal:
    """The result of a recovery: the valid `rows` from the first on, the journal's metadata, and the fault after them.

    `seen` is the highest record number that was found, `readable` the number of readable records after the fault.
    """

    rows: tuple[Row, ...]
    about: Meta
    why: str
    seen: int
    readable: int


def recover(path: Path, token: Callable[[int], bytes] = secrets.token_bytes) -> RecoveredJournal:
    """Recover the readable records of the journal at `path`; `token` returns random bytes. Raises `JournalError`."""
    if not path.is_file():
        raise file.journal_error(path, "there is no such file", "check its name")
    with file.journal_errors(path, "read"):
        data = [path.read_bytes()]
        if (wal := file.sidecar_path(path, "-wal")).is_file():
            data.append(wal.read_bytes())
        about, found = _by_sqlite(path)
    for part in data:
        for row in rows_in(part, data[0]):
            found.setdefault(row.seq, {})[row] = None
    chained = any(row.hash for rows in found.values() for row in rows)
    known = [about.epoch] if about else [epoch for part in data for epoch in epochs_in(part)]
    rows, why, epoch = _best(found, known if chained else [], chained=chained)
    end = len(rows)
    if any(row.batch == rows[-1].batch for row in found.get(end + 1, ()) if rows):
        rows = [row for row in rows if row.batch != rows[-1].batch]  # an event is there whole or not at all
    origin = f"{path.name}, recovered up to record {len(rows)}"
    if not epoch and chained:
        origin += "; its epoch was lost, so nothing proves record 1"
    if about is None or not epoch:
        about = Meta(epoch or token(EPOCH_BYTES).hex(), "", rows[0].t if rows else 0.0)
    left = [seq for seq in found if seq > len(rows)]
    return RecoveredJournal(tuple(rows), about._replace(origin=origin[:200]), why, max(found, default=0), len(left))


class ReplacedJournal(NamedTuple):
    """A damaged journal that was replaced: `aside` is its new path, `records` the number of recovered records."""

    aside: Path
    records: int
    why: str

    @property
    def line(self) -> str:
        """The result in one line."""
        kept = f"{self.records} records were recovered" if self.records else "no record of it could be recovered"
        return f"the game's record was damaged ({self.why}): it is kept in {self.aside.name}, and {kept}"


def replace_damaged(path: Path, t: float, why: str, *, anew: bool = False) -> ReplacedJournal:
    """Move the damaged journal at `path` aside under the date of `t` and write a new one with its valid records.

    With `anew` the new journal is empty. Raises `JournalError`; the damaged journal then stays in its place.
    """
    with acquire_lock(path):
        with file.journal_errors(path, "recovered"):
            create_private_file(path)  # its log alone may be left
        found = recover(path)
        rows = () if anew else found.rows
        return ReplacedJournal(set_aside(path, t, found.about, rows), len(rows), why)


def _by_sqlite(path: Path) -> tuple[Meta | None, Found]:
    """Read the records up to the first damaged one, on a copy: SQLite would repair the original on opening."""
    about, found = None, Found()
    faults = (sqlite3.Error, ValueError, TypeError)  # the records behind a fault are found in the bytes
    with suppress(*faults), file.temporary_copy(path) as copy, closing(sqlite3.connect(copy)) as db:
        version = file.identity(db).version
        with suppress(*faults):
            about = file.meta(db, version)
        for row in file.rows(db, version):
            found[row.seq] = {row: None}
    return about, found


def _best(found: Found, epochs: Iterable[str], *, chained: bool) -> tuple[list[Row], str, str]:
    """Return the longest valid chain from the first record, the fault after it, and the epoch, if known."""
    best: tuple[list[Row], str, str] = ([], "no record can be read", "")
    for epoch in epochs:
        rows, why = _follow_chain(found, genesis(epoch), ChainChecker(None, by_rules=False), chained=True)
        if len(rows) > len(best[0]):
            best = rows, why, epoch
    if best[0]:
        return best
    # its epoch is lost, or it never had one: without hashes the rules are what tells a true record
    for by_rules in (not chained, False):
        rows, why = _follow_chain(found, "", ChainChecker(None, by_rules=by_rules), chained=chained)
        if rows:
            return rows, why, ""
    return best


def _follow_chain(found: Found, head: str, follows: ChainChecker, *, chained: bool) -> tuple[list[Row], str]:
    while True:
        seq = len(follows.rows) + 1
        candidates = list(found.get(seq, {}))
        if chained and not head:  # the first, and nothing proves it
            candidates = sorted(map(_opening, candidates), key=_opens, reverse=True)
        why = f"record {seq} cannot be read" if candidates or max(found, default=0) > seq else ""
        following = found.get(seq + 1, {})
        for row in candidates:
            after = _head_after(head, row, following) if chained else ""
            true = row if after is not None else _repair_bit(head, row, following)
            if true is None:
                why = f"record {seq} was changed: its hash does not match"
            elif not (why := follows.take(true._replace(hash=""))):
                head = after or (next_hash(head, true) if chained else "")
                break
        else:
            return follows.rows, why


def _repair_bit(head: str, row: Row, following: Collection[Row]) -> Row | None:
    """Return `row` with its one flipped bit repaired, or None if no single bit explains the damage."""
    if not head:
        return None
    return next((tried for tried in _flip_each_bit(row) if _head_after(head, tried, following) is not None), None)


def _opening(row: Row) -> Row:
    """Return `row` if it opens a game by the rules, else the first one-bit repair of it that does."""
    return row if _opens(row) else next(filter(_opens, _flip_each_bit(row)), row)


def _opens(row: Row) -> bool:
    return not ChainChecker(None).take(row._replace(hash=""))


def _flip_each_bit(row: Row) -> Iterator[Row]:
    """Yield `row` with each single bit of its body flipped; nothing if the body is too long."""
    body = bytearray(row.body.encode("utf-8", DECODE_ERRORS))
    for bit in range(8 * len(body) if len(body) <= _MAX_REPAIR_BYTES else 0):
        body[bit // 8] ^= 1 << bit % 8
        yield row._replace(body=body.decode("utf-8", DECODE_ERRORS))
        body[bit // 8] ^= 1 << bit % 8


def _head_after(head: str, row: Row, following: Collection[Row]) -> str | None:
    """Return the hash of `row` after `head` (empty if unknown) if the chain confirms it, else None."""
    own = next_hash(head, row) if head else row.hash
    if not _HASH.fullmatch(own):
        return None
    joined = any(next_hash(own, after) == after.hash for after in following)
    return own if joined or (own == row.hash and (head or not following)) else None
