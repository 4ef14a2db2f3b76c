"""A disk that forgets what was not flushed: an NBD server on a Unix socket.

    with ForgetfulDisk(image, socket_path) as disk:     # qemu: -drive file=nbd:unix:SOCKET,format=raw,cache=writeback
        ...
        disk.lose_power(random.Random(1))               # after qemu was killed

Of what was written since the last flush each sector is afterwards there or not, as on a card whose cache keeps its
word about a flush. One client at a time. The protocol's words are those of the NBD project's proto.md.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    import random
    from pathlib import Path

SECTOR = 512
OPTION_REPLY = 0x3E889045565A9
REPLY = 0x67446698
FIXED_NEWSTYLE, NO_ZEROES = 1, 2
HAS_FLAGS, CAN_FLUSH, CAN_FORCE = 1, 4, 8
EXPORT_NAME, INFO, GO = 1, 6, 7
ACK, INFO_REPLY, UNSUPPORTED = 1, 3, 0x80000001
READ, WRITE, DISCONNECT, FLUSH = range(4)
FORCE = 1
"""A write's flag: it is on the disk before it is answered."""


class Lost(NamedTuple):
    """Sectors that were only in the cache, and how many of them were lost."""

    held: int
    lost: int


class ForgetfulDisk:
    """Serves `image`, which is written in place, at the socket `path` until it is closed."""

    def __init__(self, image: Path, path: Path) -> None:
        self.flushes = 0
        self.writes = 0
        self._file = os.open(image, os.O_RDWR)
        self._size = os.fstat(self._file).st_size
        self._before: dict[int, bytes] = {}  # what stood in a sector at the last flush
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._cut_at_flush = threading.Event()
        self._flush_asked = threading.Event()
        path.unlink(missing_ok=True)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(1)
        threading.Thread(target=self._serve, daemon=True).start()

    def reach_flush(self, seconds: float) -> bool:
        """Wait until the next flush is asked for, which is never done nor answered; return whether one was."""
        self._cut_at_flush.set()
        return self._flush_asked.wait(seconds)

    def lose_power(self, chance: random.Random, share: float = 0.5) -> Lost:
        """Lose each sector that was not flushed with a probability of `share`, once the client is gone."""
        if not self._idle.wait(30):
            raise RuntimeError("the disk is still in use")
        with self._lock:
            lost = [sector for sector in self._before if chance.random() < share]
            for sector in lost:
                os.pwrite(self._file, self._before[sector], sector * SECTOR)
            found = Lost(len(self._before), len(lost))
            self._before.clear()
            self._cut_at_flush.clear()
            self._flush_asked.clear()
            return found

    def close(self) -> None:
        """Stop serving."""
        self._server.close()
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            self._idle.clear()
            with client, suppress(OSError, EOFError):
                self._greet(client)
                while self._answer(client):
                    pass
            self._idle.set()

    def _greet(self, client: socket.socket) -> None:
        """Agree on the one disk that there is."""
        flags = HAS_FLAGS | CAN_FLUSH | CAN_FORCE
        client.sendall(b"NBDMAGICIHAVEOPT" + struct.pack(">H", FIXED_NEWSTYLE | NO_ZEROES))
        _received(client, 4)
        while True:
            _, option, length = struct.unpack(">8sII", _received(client, 16))
            _received(client, length)
            if option == EXPORT_NAME:
                client.sendall(struct.pack(">QH", self._size, flags))
                return
            if option not in {INFO, GO}:
                client.sendall(struct.pack(">QIII", OPTION_REPLY, option, UNSUPPORTED, 0))
                continue
            export = struct.pack(">HQH", 0, self._size, flags)
            client.sendall(struct.pack(">QIII", OPTION_REPLY, option, INFO_REPLY, len(export)) + export)
            client.sendall(struct.pack(">QIII", OPTION_REPLY, option, ACK, 0))
            if option == GO:
                return

    def _answer(self, client: socket.socket) -> bool:
        """Answer one request; return False when the client takes its leave."""
        _, flags, kind, handle, offset, length = struct.unpack(">IHHQQI", _received(client, 28))
        data = _received(client, length) if kind == WRITE else b""
        if kind == FLUSH and self._cut_at_flush.is_set():
            self._flush_asked.set()
            while client.recv(65536):  # until the power is gone
                pass
            return False
        with self._lock:
            if kind == READ:
                data = os.pread(self._file, length, offset)
            elif kind == WRITE:
                self._write(data, offset, forced=bool(flags & FORCE))
                data = b""
            elif kind == FLUSH:
                self._before.clear()
                self.flushes += 1
        if kind != DISCONNECT:
            client.sendall(struct.pack(">IIQ", REPLY, 0, handle) + data)
        return kind != DISCONNECT

    def _write(self, data: bytes, offset: int, *, forced: bool) -> None:
        self.writes += 1
        for sector in range(offset // SECTOR, -(-(offset + len(data)) // SECTOR)):
            if forced:
                self._before.pop(sector, None)
            elif sector not in self._before:
                self._before[sector] = os.pread(self._file, SECTOR, sector * SECTOR)
        os.pwrite(self._file, data, offset)


def _received(client: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        more = client.recv(length - len(data))
        if not more:
            raise EOFError
        data += more
    return bytes(data)
