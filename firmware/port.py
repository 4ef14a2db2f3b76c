"""The USB serial port: what the host has sent, and a queue of what is to be sent; neither waits. MicroPython >= 1.23.

USB's own buffer says that it has room when a byte is free in it, and a longer write then waits for the host. So all
that is written comes in pieces of 64 bytes, a packet of the bus: what is free in the buffer is a multiple of that, and
room for a byte is room for a piece. The last piece of a queue is filled up with zeros, which end no frame.
"""

import array
import select
import sys

import micropython

_PIECE = 64
_QUEUE = 4096  # a power of two: some 85 ms of all there is to send
_MOST = 64  # bytes of the host in one pass


def _table():
    """Return for each byte what it makes of an empty CRC-16/CCITT-FALSE."""
    table = array.array("H", bytes(512))
    for byte in range(256):
        x = byte ^ byte >> 4
        table[byte] = (x << 12 ^ x << 5 ^ x) & 0xFFFF
    return table


_CRC = _table()


@micropython.viper
def seal(at: int, crc: int, i: int, body, ring, n: int) -> int:
    """Put the frame that `frames.seal` makes of `body` (`n` bytes) into `ring` from `at` on; return where it ends.

    Byte `_QUEUE` of the ring is byte 0 again. `crc` is 0xFFFF, `i` is 0: machine code keeps the first three variables
    in registers, which makes it twice as fast.
    """
    source = ptr8(body)
    out = ptr8(ring)
    table = ptr16(_CRC)
    end = n - 2
    head = at
    at += 1
    while True:
        while i < end:
            byte = source[i]
            i += 1
            crc = (crc << 8 ^ table[crc >> 8 ^ byte]) & 0xFFFF
            if byte:
                out[at & 0xFFF] = byte
                at += 1
                if at - head < 255:
                    continue
            out[head & 0xFFF] = at - head
            head = at
            at += 1
        if end == n:
            out[head & 0xFFF] = at - head
            out[at & 0xFFF] = 0
            return at + 1
        source[end] = crc & 0xFF
        source[end + 1] = crc >> 8
        crc = 0  # what it makes of these two is nobody's
        end = n


@micropython.viper
def clear(ring, at: int, n: int):
    """Put `n` zeros into `ring` from `at` on."""
    out = ptr8(ring)
    for i in range(n):
        out[(at + i) & 0xFFF] = 0


class Port:
    """`read` and `send` of the board's face; `flush` sends what waits, as far as there is room for it."""

    def __init__(self, stay):
        self._stay = stay  # called when somebody wants in to copy files
        self._ring = bytearray(_QUEUE)
        view = memoryview(self._ring)
        self._pieces = [view[at : at + _PIECE] for at in range(0, _QUEUE, _PIECE)]
        self._begin = 0  # where the oldest byte is, always the first of a piece
        self._used = 0
        self._line = 0
        self._one = bytearray(1)
        self._data = bytearray(_MOST)
        self._view = memoryview(self._data)
        readable = select.poll()
        readable.register(sys.stdin, select.POLLIN)
        self._readable = readable.ipoll  # `poll` would make a list each time
        free = select.poll()
        free.register(sys.stdout, select.POLLOUT)
        self._free = free.ipoll
        self._out = sys.stdout.buffer.write

    @micropython.native
    def read(self):
        """Return what the host has sent, at most `_MOST` bytes, without waiting."""
        # a byte at a time: MicroPython's stdin waits until it has as many bytes as it was asked for, and tells nobody
        # how many there are
        readable = self._readable
        more = False
        for _ in readable(0):
            more = True
        if not more:
            return b""
        into, one, data = sys.stdin.buffer.readinto, self._one, self._data
        n = 0
        while more:
            into(one)
            byte = data[n] = one[0]
            n += 1
            if self._line < 2 or byte == 0:
                self._watch(byte)
            more = False
            if n < _MOST:
                for _ in readable(0):
                    more = True
        return bytes(self._view[:n])

    def _watch(self, byte):
        # "\r\x03" at the start of a frame is no frame but mpremote: let it in
        if self._line == 1 and byte == 3:
            self._stay()
        if byte == 0:
            self._line = 0
        else:
            self._line = 1 if self._line == 0 and byte == 13 else 2

    @micropython.native
    def send(self, body, number):
        """Queue the frame of `body`, or, where there is no room, drop it whole: its number will be missing."""
        n = len(body)
        most = n + n // 254 + 2
        if self._used + most > _QUEUE - _PIECE:  # the rest is for zeros
            self._send(_PIECE)
            if self._used + most > _QUEUE - _PIECE:
                return
        begin = self._begin
        body[1] = number & 0xFF
        body[2] = number >> 8 & 0xFF
        self._used = seal(begin + self._used, 0xFFFF, 0, body, self._ring, n) - begin

    @micropython.native
    def flush(self):
        """Send what waits, as far as there is room."""
        used = self._used
        if used:
            short = -used & _PIECE - 1
            if short:
                clear(self._ring, self._begin + used, short)
                self._used = used + short
            self._send(0)

    @micropython.native
    def _send(self, least):
        free, write, pieces = self._free, self._out, self._pieces
        begin, used = self._begin, self._used
        while used > least:
            room = False
            for _ in free(0):
                room = True
            if not room:
                break
            write(pieces[begin // _PIECE])
            begin = begin + _PIECE & _QUEUE - 1
            used -= _PIECE
        self._begin = begin
        self._used = used
