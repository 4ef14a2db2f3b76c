"""Framing on the wire: COBS, CRC-16 and sequence numbers. Runs on both ends, as `wire.py` does.

A frame is a body, COBS-encoded so that it holds no zero byte, and one zero byte as its end. The body is type (u8),
sequence number (u16), payload, CRC-16/CCITT-FALSE (u16) over all before it; all little endian. The number counts every
frame sent in that direction since boot, so lost frames are detected.
"""

try:
    from binascii import crc_hqx

    def crc16(data: bytes | bytearray, n: int) -> int:
        """Return the CRC-16/CCITT-FALSE (start 0xFFFF, polynomial 0x1021) of the first `n` bytes."""
        return crc_hqx(memoryview(data)[:n], 0xFFFF)

except ImportError:  # MicroPython has no crc_hqx

    def crc16(data: bytes | bytearray, n: int) -> int:
        """Return the CRC-16/CCITT-FALSE (start 0xFFFF, polynomial 0x1021) of the first `n` bytes."""
        crc = 0xFFFF
        for i in range(n):
            x = crc >> 8 ^ data[i]
            x ^= x >> 4
            crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xFFFF
        return crc


LONGEST = 1100
"""Longest encoded frame, bytes: a PIEZO of 128 samples is 1059."""
WINDOW = 1024
"""Most frames that may be lost in a row; a number further ahead is invalid in this session."""


_ZERO = b"\0"
_GROUP = tuple(bytes([i]) for i in range(256))


def stuff(data: bytes | bytearray) -> bytes:
    """Return `data` COBS-encoded: without zero bytes, one byte in 254 (and one) longer; without the final zero."""
    out: list[bytes | bytearray] = []
    for run in bytes(data).split(_ZERO):
        rest = run
        while len(rest) >= 254:
            out.append(_GROUP[255])
            out.append(rest[:254])
            rest = rest[254:]
        out.append(_GROUP[len(rest) + 1])
        out.append(rest)
    return b"".join(out)


def unstuff(data: bytes) -> bytes | None:
    """Return the decoded bytes of COBS `data` (which holds no zero), or None if the last group is incomplete."""
    out: list[bytes] = []
    at = 0
    end = len(data)
    while at < end:
        code = data[at]
        after = at + code
        if after > end:
            return None
        out.append(data[at + 1 : after])
        if code < 255 and after < end:
            out.append(_ZERO)
        at = after
    return b"".join(out)


def seal(body: bytearray, number: int) -> bytes:
    """Write `number` (its low 16 bits) and the CRC into `body`; return the frame to send, including the final zero.

    `body` comes from a `*_body` function: type, two bytes for the number, payload, two bytes for the CRC.
    """
    end = len(body) - 2
    body[1] = number & 0xFF
    body[2] = number >> 8 & 0xFF
    crc = crc16(body, end)
    body[end] = crc & 0xFF
    body[end + 1] = crc >> 8
    return stuff(body) + _ZERO


class Frames:
    """Decodes bytes into frames; counts and drops damaged, repeated and random data.

    `opener` is the type that begins a session and may have any number. Frames before it are dropped. After damage, a
    frame is accepted only together with the intact next one: 16 bits of CRC alone would let one in 65536 pieces of
    garbage pass. Subclasses implement `fits`, which checks a body's type and length.

    Counters: `frames` accepted, `bad` (incomplete, CRC, unknown type, wrong length, too long, out of sequence or
    session, unconfirmed), `lost` (skipped numbers), `repeated`.
    """

    def __init__(self, opener: int) -> None:
        self.frames = 0
        self.bad = 0
        self.lost = 0
        self.repeated = 0
        self._opener = opener
        self.unfinished = b""
        self._skip = False
        self.restart()

    def fits(self, kind: int, size: int, body: bytes) -> bool:
        """Return True if a `body` of this type may have a payload of `size` bytes."""
        raise NotImplementedError

    def restart(self) -> None:
        """Forget the session but not the counters: the next frame accepted is an opener."""
        self.last_number = -1
        self._doubt = False
        self._held: tuple[int, int, bytes] | None = None

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Return the frames completed by `data`, each (type, number, payload). Never raises."""
        parts = (self.unfinished + data).split(_ZERO)
        self.unfinished = parts.pop()
        out: list[tuple[int, int, bytes]] = []
        for part in parts:
            if self._skip:
                self._skip = False  # the rest of a frame that was too long
            elif part:
                self._take(part, out)
        if len(self.unfinished) > LONGEST:
            self.unfinished = b""
            if not self._skip:
                self._skip = True
                self._refuse()
        elif self._skip:
            self.unfinished = b""
        return out

    def _refuse(self) -> None:
        self.bad += 1 if self._held is None else 2
        self._held = None
        self._doubt = True

    def _take(self, part: bytes, out: list[tuple[int, int, bytes]]) -> None:
        body = unstuff(part) if len(part) <= LONGEST else None
        end = len(body) - 2 if body is not None else 0
        if body is None or end < 3 or crc16(body, end) != body[end] | body[end + 1] << 8:
            return self._refuse()
        kind = body[0]
        if not self.fits(kind, end - 3, body):
            return self._refuse()
        number = body[1] | body[2] << 8
        held = self._held
        last = self.last_number if held is None else held[1]
        if number == last:
            self.repeated += 1
            return None
        if kind != self._opener and (last < 0 or (number - last & 0xFFFF) > WINDOW):
            return self._refuse()
        frame = (kind, number, body[3:end])
        if not self._doubt:
            return self._believe(frame, out)
        if held is not None and number == held[1] + 1 & 0xFFFF:
            self._doubt = False
            self._held = None
            self._believe(held, out)
            return self._believe(frame, out)
        if held is not None:
            self.bad += 1
        self._held = frame
        return None

    def _believe(self, frame: tuple[int, int, bytes], out: list[tuple[int, int, bytes]]) -> None:
        if frame[0] != self._opener and self.last_number >= 0:
            self.lost += frame[1] - self.last_number - 1 & 0xFFFF
        self.last_number = frame[1]
        self.frames += 1
        out.append(frame)
