"""The hash chain of a journal: each record's hash holds all before it, so that no record can be changed unseen.

A record's hash is SHA-256 over a name, the hash before, `seq`, `batch`, `t` (8 bytes, IEEE 754), `kind` and `body`,
each of the two behind its length. The first follows the genesis hash, which comes from the journal's `epoch`: 16 random
bytes drawn when it was made, so that no two journals share a chain. Whoever has the last hash, from the page or from a
printed sheet, has a proof of every record up to it.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EPOCH_BYTES = 16
BYTES = "surrogateescape"
"""How a damaged record's bytes that are no text stand in a `Row`."""
SHORT = 16
"""Hex digits of a hash that people compare: on the page, on the sheet."""
_GENESIS = b"moccasin-mat journal\0"
_RECORD = b"moccasin-mat record\0"
_NUMBERS = struct.Struct(">qqd")


class Row(NamedTuple):
    """A record as it stands in the file; `hash` is hex, empty in a journal of version 1."""

    seq: int
    batch: int
    t: float
    kind: str
    body: str
    hash: str = ""


def genesis(epoch: str) -> str:
    """Return the hash that the first record of the journal with this `epoch` (hex) follows."""
    return hashlib.sha256(_GENESIS + bytes.fromhex(epoch)).hexdigest()


def follow(previous: str, row: Row) -> str:
    """Return the hash of `row` where it follows `previous` (hex); the one it states does not count."""
    kind, body = (text.encode("utf-8", BYTES) for text in (row.kind, row.body))
    numbers = _NUMBERS.pack(row.seq, row.batch, row.t + 0.0)  # SQLite keeps no negative zero
    parts = (_RECORD, bytes.fromhex(previous), numbers, _length(kind), kind, _length(body), body)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def chained(previous: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield `rows` with the hashes that they have after `previous`."""
    for row in rows:
        previous = follow(previous, row)
        yield row._replace(hash=previous)


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big")
