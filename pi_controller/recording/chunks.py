"""The container file: append-only chunks with a length and a CRC each.

    "MMSENS1\\n"   then chunks:   "MM" kind(1)   length(4)   CRC-32(4)   payload

Numbers are little-endian; the CRC is over kind, length and payload. Kind `H` is the header (JSON), once and first, `D`
a block of entries (`columns`). What a power cut tore off is left out, and a damaged chunk is passed over: the next one
is found by its CRC.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pi_controller.recording.columns import unpack
from pi_controller.recording.model import FORMAT, Header, RecordingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_controller.recording.model import Entry

MAGIC = b"MMSENS1\n"
MARK = b"MM"
HEAD = struct.Struct("<2ssII")
MOST_PAYLOAD = 1 << 24


def chunk(kind: bytes, payload: bytes) -> bytes:
    """Return the bytes of a chunk."""
    return HEAD.pack(MARK, kind, len(payload), _crc(kind, payload)) + payload


def _crc(kind: bytes, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(kind + struct.pack("<I", len(payload))))


class ChunkFile:
    """A recording being written at `path`, which must not be there yet. Raises `OSError` as files do."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._file = path.open("xb", buffering=0)
        self.size = 0
        try:
            self.add(MAGIC + chunk(b"H", msgspec.json.encode(header)))
        except OSError:  # a full disk: nobody has the file yet who could close it
            self._file.close()
            raise

    def add(self, data: bytes) -> None:
        """Write whole chunks at the end."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self.size += len(data)

    def sync(self) -> None:
        """Return when what was written is on the disk."""
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Recording:
    """A recording opened for reading: `header` at once, `entries()` block by block; `damaged` counts lost bytes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.damaged = 0
        chunks = self._chunks()
        first = next(chunks, None)
        if first is None or first[0] != b"H":
            raise RecordingError(f"{self.path.name}: its header is lost", "nothing says what was recorded")
        try:
            self.header = msgspec.json.decode(first[1], type=Header)
        except msgspec.MsgspecError as error:
            raise RecordingError(f"{self.path.name}: its header cannot be read: {error}") from error
        if self.header.format > FORMAT:
            raise RecordingError(f"{self.path.name} was written by a newer version", "update the program")

    def entries(self) -> Iterator[Entry]:
        """Yield every entry in order. Raises `RecordingError` for a block that is whole and makes no sense."""
        for kind, payload in self._chunks():
            if kind == b"D":
                yield from unpack(payload)

    def _chunks(self) -> Iterator[tuple[bytes, bytes]]:
        self.damaged = 0
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise RecordingError(f"cannot read {self.path.name}: {error.strerror}", "name a recording") from error
        if not data.startswith(MAGIC):
            raise RecordingError(f"{self.path.name} is no sensor recording", "check the file's name")
        at = len(MAGIC)
        while at < len(data):
            found = self._at(data, at)
            if found is not None:
                yield found
                at += HEAD.size + len(found[1])
                continue
            after = data.find(MARK, at + 1)
            after = len(data) if after < 0 else after
            self.damaged += after - at
            at = after

    @staticmethod
    def _at(data: bytes, at: int) -> tuple[bytes, bytes] | None:
        """The chunk that begins at `at`, if one does and it is whole."""
        if at + HEAD.size > len(data):
            return None
        mark, kind, length, crc = HEAD.unpack_from(data, at)
        if mark != MARK or length > MOST_PAYLOAD or at + HEAD.size + length > len(data):
            return None
        payload = data[at + HEAD.size : at + HEAD.size + length]
        return (kind, payload) if _crc(kind, payload) == crc else None


def is_recording(path: str | Path) -> bool:
    """Return whether `path` begins as a sensor recording does."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
