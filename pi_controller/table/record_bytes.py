"""Carves a journal's records out of raw bytes, by the form of their headers, whatever became of the pages.

SQLite keeps a row as its length, its number, a head that tells the type of each column, and the columns. The head of a
record of the journal is so particular that it can be searched for, in the file, in its log, and in pages given free.
What is found may be old or torn: the hash chain tells. Bytes that are no text are kept as `chain.BYTES` says.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from pi_controller.table.chain import BYTES, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE = rb"[\x01-\x06\x08\x09]"
_TEXT = rb"(?:[\x0d-\x7f]|[\x81-\xff][\x00-\x7f]|[\x81-\xff][\x80-\xff][\x00-\x7f])"
# its own length; seq is the row's number, so nothing; batch; t, where it is a whole number as one; kind; body; hash
_HEAD = re.compile(rb"(?=([\x06-\x0b]\x00" + _WHOLE + rb"[\x01-\x09][\x0d-\x7f]" + _TEXT + rb"(\x81\x0d)?))")
_EPOCH = re.compile(rb"\x03\x17\x4depoch([0-9a-f]{32})")
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
"""Bytes of a number by its type."""
_MOST = 1_000_000
"""Bytes of a record at most: beyond that it is none."""


def rows_in(data: bytes, pages: bytes) -> Iterator[Row]:
    """Yield what looks like a record in `data`; a long one goes on in `pages`, the journal's own file."""
    for match in _HEAD.finditer(data):
        at, head = match.start(), match[1]
        if head[0] == len(head):
            row = _row(data, at, head, pages)
        elif match[2] and head[0] == len(head) - 2:  # a body that begins like the type of a hash
            row = _row(data, at, head[:-2], pages)
        else:
            row = None
        if row is not None:
            yield row


def epochs_in(data: bytes) -> Iterator[str]:
    """Yield what looks like a journal's epoch."""
    for match in _EPOCH.finditer(data):
        yield match[1].decode()


def _row(data: bytes, at: int, head: bytes, pages: bytes) -> Row | None:
    types = list(_varints(head[1:]))
    sizes = [_SIZES[kind] if kind < 10 else (kind - 13) // 2 for kind in types]
    if any(kind >= 10 and kind % 2 == 0 for kind in types) or sum(sizes) > _MOST:
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
    kind, body, *rest = (text.decode("utf-8", BYTES) for text in texts)
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
    """Return the row's number: it stands before the head, behind the row's length."""
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
    """Return the row's bytes; what does not fit on its page stands on others, each with the number of the next."""
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
