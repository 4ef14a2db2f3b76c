"""Hash chain of a journal: the hash of each record covers all records before it, so that no change goes unnoticed.

The hash of a record is SHA-256 over a fixed prefix, the previous hash, `seq`, `batch`, `t` (8 bytes, IEEE 754), `kind`
and `body`, the last two after their lengths. The previous hash of the first record is the genesis hash, computed from
the journal's `epoch`: 16 random bytes drawn at its creation, so that no two journals share a chain. The last hash, on
the page or a printed sheet, proves every record up to it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

EPOCH_BYTES = 16
SHORT_HASH_CHARS = 16
"""Hex digits of a hash that are shown on the page and the sheet, for people to compare."""
_GENESIS = b"moccasin-mat journal\0"
_RECORD = b"moccasin-mat record\0"
_NUMBERS = struct.Struct(">qqd")


class JournalRow(NamedTuple):
    """A record as stored in the file; `hash` is hex, empty before the record is chained."""

    seq: int
    batch: int
    t: float
    kind: str
    body: str
    hash: str = ""


def genesis(epoch: str) -> str:
    """Return the hash before the first record of the journal with this `epoch` (hex)."""
    return hashlib.sha256(_GENESIS + bytes.fromhex(epoch)).hexdigest()


def next_hash(previous: str, row: JournalRow) -> str:
    """Return the hash of `row` after the hash `previous` (hex); `row.hash` is ignored."""
    kind, body = row.kind.encode(), row.body.encode()
    numbers = _NUMBERS.pack(row.seq, row.batch, row.t + 0.0)  # SQLite keeps no negative zero
    parts = (_RECORD, bytes.fromhex(previous), numbers, _length(kind), kind, _length(body), body)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def chain_rows(previous: str, rows: Iterable[JournalRow]) -> Iterator[JournalRow]:
    """Yield `rows` with their hashes, starting after the hash `previous`."""
    for row in rows:
        previous = next_hash(previous, row)
        yield row._replace(hash=previous)


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big")
