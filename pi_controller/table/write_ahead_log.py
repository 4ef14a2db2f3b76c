"""Whether the journal's write-ahead log is whole. SQLite reads it up to the first frame whose checksum is wrong, passes
over the rest without a word, and writes over it.

An event that a power cut left half written is such a rest as well: it was never acknowledged. What tells them apart:
the next event is only begun once the one before is on disk, so records of two events behind the last readable one were
acknowledged, the first of them at least. And the number of the last record acknowledged stands in the lock's file,
written after the record is on disk and not waited for: it may lag behind after a power cut, and is never ahead.

The log is laid out as in https://www.sqlite.org/fileformat2.html#walformat: a head of 32 bytes, then frames, each a
head of 24 bytes and a page.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import zlib
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.private_files import make_private
from pi_controller.table import journal_file as file
from pi_controller.table.chain import Row, follow, genesis
from pi_controller.table.record_bytes import rows_in

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from pi_controller.table.journal_file import Meta

_HEAD = struct.Struct(">8I")
"""Magic, format, page size, number of the checkpoint, two salts, two sums."""
_FRAME = struct.Struct(">6I")
"""Page, pages after the commit (0: more frames follow), two salts, two sums."""
_MAGIC = 0x377F0682
"""With the lowest bit set the sums are of words in big endian."""
_FORMAT = 3007000
_MARK = 16


class State(NamedTuple):
    """What was found: `lost` says what acknowledged records cannot be read, or nothing. `torn` is whether the log ends
    in an event that is not whole, and was not acknowledged as far as can be told.
    """

    lost: str = ""
    torn: bool = False


def examine(path: Path) -> State:
    """Return how the log of the journal at `path` is; nothing is changed. A table may be writing it meanwhile.

    Raises `sqlite3.Error`, `OSError`, or `JournalError` where the file itself is none of ours or damaged.
    """
    acknowledged, log = _acknowledged(path), _read(path)
    if not path.is_file() or not path.stat().st_size:
        return State("its log is there and the journal itself is not" if any(log) else "")
    with closing(file.look(path)) as db:
        found = file.identity(db)
        file.check(path, found)
        if log and db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise file.wrong(path, *file.DAMAGED)
        try:
            about = file.meta(db, found.version) if found.tables else None
        except ValueError as error:
            raise file.wrong(path, str(error), file.RECOVER) from error
        last = _last(db, found.version, about) if found.tables else Row(0, 0, 0.0, "", "")
    promised = int(acknowledged.split()[1]) if about and acknowledged.startswith(_mark(about)) else 0
    if promised > last.seq:
        return State(f"{promised} records were acknowledged, and it can be read up to record {last.seq}")
    if not log:
        return State()
    seen = max((row.batch for row in _beyond(log, path.read_bytes(), last, chained=about is not None)), default=0)
    if seen > last.batch + 1:
        return State(f"its log is damaged: it can be read up to event {last.batch}, and event {seen} is seen")
    whole, behind = whole_frames(log)
    if whole < 0:
        return State("its log cannot be read" if any(log[_HEAD.size :]) else "")
    return State(torn=behind)


def keep_aside(path: Path) -> Path:
    """Copy the journal and its log to files beside them, named after what is in the log, and return the journal's copy.

    What is there already under that name is the same, and stays. Raises `OSError`.
    """
    name = hashlib.sha256(_read(path)).hexdigest()[:8]
    copy = path.with_name(f"{path.stem}.damaged-{name}{path.suffix}")
    for ending in ("", "-wal"):
        old, new = file.beside(path, ending), file.beside(copy, ending)
        if old.is_file() and not new.exists():
            part = file.beside(copy, f"{ending}.part")
            make_private(part, old)
            shutil.copyfile(old, part)
            file.sync(part)
            file.put_in_place(part, new)
    return copy


def acknowledge(fd: int, about: Meta, seq: int) -> None:
    """Note in the lock's file, open as `fd`, that the records up to `seq` of the journal `about` are on disk."""
    with suppress(OSError):  # the record itself is on disk: this is a second witness and no more
        os.pwrite(fd, _signed(f"{_mark(about)} {seq:>12}"), 0)


def _acknowledged(path: Path) -> str:
    """Return what `acknowledge` noted, or nothing where there is none or it is torn."""
    try:
        noted = file.beside(path, ".lock").read_bytes()
    except OSError:
        return ""
    text = noted[: _MARK + 13].decode("ascii", "replace")
    return text if noted == _signed(text) else ""


def _signed(text: str) -> bytes:
    return f"{text} {zlib.crc32(text.encode()):08x}\n".encode()


def _mark(about: Meta) -> str:
    """Return what tells this journal from others under its name: one that was recovered is another."""
    return hashlib.sha256("|".join(map(str, about)).encode()).hexdigest()[:_MARK]


def _read(path: Path) -> bytes:
    try:
        return file.beside(path, "-wal").read_bytes()
    except FileNotFoundError:
        return b""


def _last(db: sqlite3.Connection, version: int, about: Meta | None) -> Row:
    (seq,) = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()
    nothing = Row(0, 0, 0.0, "", "", genesis(about.epoch) if about else "")
    return next(file.rows(db, version, seq, first=seq), nothing)


def _beyond(log: bytes, pages: bytes, last: Row, *, chained: bool) -> list[Row]:
    """Return the records in `log` behind `last`; of a journal with hashes those that follow another one there."""
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


def _follows(row: Row, before: set[Row]) -> bool:
    for one in before:
        with suppress(ValueError):  # a hash that was damaged is no hex
            if follow(one.hash, row) == row.hash:
                return True
    return False


def whole_frames(log: bytes) -> tuple[int, bool]:
    """Return how many frames SQLite reads (-1: the log's head is damaged), and whether more of this log follow."""
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
    return whole, any(list(_FRAME.unpack_from(log, at)[2:4]) == salts for at in frames[whole:])


def _sums(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the log's sums over `data` (a multiple of 8 bytes), going on from `sums`."""
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
