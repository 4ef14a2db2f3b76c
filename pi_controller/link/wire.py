"""The frames between board and host. The one file that both ends run: CPython here, MicroPython on the board.

A frame on the wire is a body, COBS-stuffed so that it holds no zero, and one zero to end it. The body is
type (u8), sequence number (u16), payload, CRC-16/CCITT-FALSE (u16) over all before it; all little endian. The number
counts every frame sent in that direction since boot, so a lost frame shows. `firmware/README.md` is the byte-by-byte
page. Nothing here may need what MicroPython lacks (typing, dataclasses, `__future__`, deleting from a bytearray).
"""

import struct
from struct import pack_into, unpack

try:
    from binascii import crc_hqx

    def crc16(data: bytes | bytearray, n: int) -> int:
        """Return the CRC-16/CCITT-FALSE (start 0xFFFF, polynomial 0x1021) of the first `n` bytes."""
        return crc_hqx(memoryview(data)[:n], 0xFFFF)

except ImportError:  # MicroPython has no crc_hqx; the board puts machine code in this one's place

    def crc16(data: bytes | bytearray, n: int) -> int:
        """Return the CRC-16/CCITT-FALSE (start 0xFFFF, polynomial 0x1021) of the first `n` bytes."""
        crc = 0xFFFF
        for i in range(n):
            x = crc >> 8 ^ data[i]
            x ^= x >> 4
            crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xFFFF
        return crc


PROTOCOL = (1, 1)
"""Major and minor: another major cannot be talked to. A newer minor adds types, and sends none to an older end."""
ORDERS = 1
"""The minor from which on there are orders (LIGHTS, TEST, DONE) and events (EVENT, ACK)."""

# Host to board. A frame of one of these never begins with "\r\x03": that is what mpremote says to stop a program.
HELLO = 0x11
PING = 0x12
BYE = 0x13
LIGHTS = 0x14
TEST = 0x15
ACK = 0x16
# Board to host.
WELCOME = 0x21
PONG = 0x22
PIEZO = 0x23
TOUCH = 0x24
FIELD = 0x25
HEALTH = 0x26
DONE = 0x27
EVENT = 0x28

PADS = 4
ELECTRODES = 12
MAGNETS = 24

# WELCOME's features.
HAS_PIEZO, HAS_TOUCH, HAS_FIELD, HAS_STRIP = 1, 2, 4, 8

# DONE's results.
OBEYED, REFUSED = 0, 1

# EVENT's kinds, with what `part` and `value` say; `firmware/README.md` has them as a table.
STARTED = 1  # part: reason; value: starts in a row without a calm run
BROWN_OUT = 2  # value: starts from power in a row without a calm run
LOST = 3  # value: blocks
BUS_STUCK = 4  # value: bus errors in a row
BUS_FREE = 5  # value: clocks it took
TOUCH_SILENT = 6
TOUCH_BACK = 7  # value: ms it was silent
MAGNET_SILENT = 8  # part: magnetometer, 1 first
MAGNET_BACK = 9  # part: magnetometer; value: ms it was silent
PIEZO_RAIL = 10  # part: pad; value: counts
PIEZO_STUCK = 11  # part: pad; value: ms without any change
PIEZO_GOOD = 12  # part: pad; value: ms it was wrong
TESTED = 13  # part: bit p for pad p + 1, bit 4 for the touch chip; value: bit i for magnetometer i + 1; 1 is good
LATE = 14  # value: us of the pass
HOST_SILENT = 15  # value: ms
HOST_BACK = 16  # value: ms
KINDS = HOST_BACK
"""Event kinds are 1 to this; a newer minor adds kinds and tells none of them to an older end."""

_HELLO = "<BB"
_PING = "<I"
_WELCOME = "<BBBBB8sIBIBHH"
_PONG = "<IQ"
_PIEZO = "<IHQ"
_TOUCH = "<Q12H"
_FIELD = "<QI72h"
_HEALTH = "<IIIIIQ"
_ORDER = "<H"
_ACK = "<I"
_DONE = "<HB"
_EVENT = "<IBHQBBI"

PIEZO_HEAD = 14
"""Bytes of a PIEZO payload before its samples."""

VARIES = -1
TO_BOARD = {HELLO: 2, PING: 4, BYE: 0, LIGHTS: VARIES, TEST: 2, ACK: 4}
"""Payload bytes of every type a host sends; a LIGHTS has its order and any number of runs."""
TO_HOST = {WELCOME: 27, PONG: 12, PIEZO: VARIES, TOUCH: 32, FIELD: 156, HEALTH: 28, DONE: 3, EVENT: 21}
"""Payload bytes of every type a board sends; a PIEZO has its head and any number of whole samples of all pads."""
SAME = 0x80
"""In the count of a run of LIGHTS: one colour for all its pixels."""

LONGEST = 1100
"""No stuffed frame is longer (bytes): a PIEZO of 128 samples is 1059."""
WINDOW = 1024
"""So many frames may be lost in a row; a number farther on is no number of this session."""

_ZERO = b"\0"
_NO_GROUP = b"\x01"
_GROUP = tuple(bytes([i]) for i in range(256))


def stuff(data: bytes | bytearray) -> bytes:
    """Return `data` COBS-stuffed: no zero in it, at most one byte in 254 longer (and one); without the ending zero."""
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
    """Return what was stuffed into `data` (which holds no zero), or None when the last group is torn."""
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
    """Put `number` (its low 16 bits) and the CRC into `body` and return the frame to send, ending zero included.

    `body` is as the `*_body` functions make it: type, two bytes for the number, payload, two bytes for the CRC.
    """
    end = len(body) - 2
    body[1] = number & 0xFF
    body[2] = number >> 8 & 0xFF
    crc = crc16(body, end)
    body[end] = crc & 0xFF
    body[end + 1] = crc >> 8
    return stuff(body) + _ZERO


def _body(kind: int, form: str, *values: int | bytes) -> bytearray:
    body = bytearray(struct.calcsize(form) + 5)
    body[0] = kind
    pack_into(form, body, 3, *values)
    return body


def hello_body() -> bytearray:
    """HELLO: the host is there and speaks this protocol. Opens a session."""
    return _body(HELLO, _HELLO, *PROTOCOL)


def hello(payload: bytes) -> tuple[int, int]:
    """Return protocol major and minor (also of another major's HELLO)."""
    return payload[0], payload[1]


def ping_body(mark: int) -> bytearray:
    """PING: the host lives; `mark` (u32) comes back in the PONG."""
    return _body(PING, _PING, mark)


def ping(payload: bytes) -> tuple[int]:
    """Return the mark."""
    return unpack(_PING, payload)


def bye_body() -> bytearray:
    """BYE: the host goes; the board falls silent."""
    return bytearray((BYE, 0, 0, 0, 0))


def welcome_body(
    *,
    firmware: tuple[int, int, int],
    board: bytes,
    boots: int,
    reason: int,
    features: int,
    pads: int,
    sample_hz: int,
    block_samples: int,
) -> bytearray:
    """WELCOME, the answer to HELLO: who the board is and what it will send.

    `firmware` x.y.z, `board` 8 bytes, `boots` how often it has started, `reason` of the last start, `features` bits
    (1 piezo, 2 touch, 4 field, 8 strip), `sample_hz` of each piezo, `block_samples` of each piezo in a PIEZO.
    """
    return _body(
        WELCOME, _WELCOME, *PROTOCOL, *firmware, board, boots, reason, features, pads, sample_hz, block_samples
    )


def welcome(payload: bytes) -> tuple[int, int, int, int, int, bytes, int, int, int, int, int, int]:
    """Return major, minor, firmware x, y, z, board, boots, reason, features, pads, sample_hz, block_samples."""
    return unpack(_WELCOME, payload)


def pong_body(mark: int, us: int) -> bytearray:
    """PONG: the PING's mark and the board's time, microseconds since boot."""
    return _body(PONG, _PONG, mark, us)


def pong(payload: bytes) -> tuple[int, int]:
    """Return mark and board time (us)."""
    return unpack(_PONG, payload)


def piezo_body(block_samples: int) -> bytearray:
    """Return the body of a PIEZO of `block_samples` samples of each pad, for `piezo_fill` to fill again and again."""
    body = bytearray(5 + PIEZO_HEAD + 2 * PADS * block_samples)
    body[0] = PIEZO
    return body


def piezo_fill(body: bytearray, index: int, overflows: int, us: int, samples: bytearray) -> None:
    """Fill in a block: number since boot of its first sample, that one's board time (us), blocks lost on the board.

    `samples`: pads interleaved, u16 of 0 to 4095, rest at 2048.
    """
    pack_into(_PIEZO, body, 3, index & 0xFFFFFFFF, overflows & 0xFFFF, us)
    body[3 + PIEZO_HEAD : -2] = samples


def piezo(payload: bytes) -> tuple[int, int, int]:
    """Return the first sample's index (low 32 bits), lost blocks (low 16 bits), the first sample's board time (us)."""
    return unpack(_PIEZO, payload[:PIEZO_HEAD])


def touch_body(us: int, counts: bytearray) -> bytearray:
    """TOUCH: board time (us) and 12 x u16 filtered counts in electrode order."""
    body = bytearray(37)
    body[0] = TOUCH
    pack_into("<Q", body, 3, us)
    body[11:35] = counts
    return body


def touch(payload: bytes) -> tuple[int, ...]:
    """Return board time (us) and the 12 counts."""
    return unpack(_TOUCH, payload)


def field_body(us: int, ok: int, counts: bytearray) -> bytearray:
    """FIELD: board time (us), a bit for each magnetometer that answered, and 24 x 3 x i16 counts (0 where not ok)."""
    body = bytearray(161)
    body[0] = FIELD
    pack_into("<QI", body, 3, us, ok)
    body[15:159] = counts
    return body


def field(payload: bytes) -> tuple[int, ...]:
    """Return board time (us), ok mask and the 72 counts."""
    return unpack(_FIELD, payload)


def health_body(
    *, uptime_ms: int, overflows: int, i2c_errors: int, bad_frames: int, worst_us: int, us: int
) -> bytearray:
    """HEALTH: the board's counters since it started (they wrap at 32 bits), its longest loop, and its time (us)."""
    low = 0xFFFFFFFF
    return _body(
        HEALTH,
        _HEALTH,
        uptime_ms & low,
        overflows & low,
        i2c_errors & low,
        bad_frames & low,
        min(worst_us, low),
        us,
    )


def health(payload: bytes) -> tuple[int, int, int, int, int, int]:
    """Return uptime (ms), overflows, I2C errors, bad frames, longest loop (us), board time (us)."""
    return unpack(_HEALTH, payload)


def lights_body(order: int, runs: bytes) -> bytearray:
    """LIGHTS, an order: change these pixels and leave the others; `runs` as `runs` reads them."""
    body = bytearray(7 + len(runs))
    body[0] = LIGHTS
    pack_into(_ORDER, body, 3, order)
    body[5:-2] = runs
    return body


def runs(payload: bytes, pixels: int) -> "list[tuple[int, bytes]] | None":
    """Return the runs of a LIGHTS, each (first pixel, red, green, blue of each), or None unless all fit `pixels`.

    A run is first pixel u8, count u8 (1 to 127) and a colour for each; with `SAME` in the count one colour for all.
    """
    out: "list[tuple[int, bytes]]" = []
    at = 2
    while at + 2 < len(payload):
        first = payload[at]
        count = payload[at + 1] & ~SAME
        stored = 3 if payload[at + 1] & SAME else 3 * count
        colours = payload[at + 2 : at + 2 + stored]
        at += 2 + stored
        if not count or first + count > pixels or at > len(payload):
            return None
        out.append((first, colours if stored == 3 * count else colours * count))
    return out if at == len(payload) else None


def test_body(order: int) -> bytearray:
    """TEST, an order: look at every sensor; TESTED tells what came of it."""
    return _body(TEST, _ORDER, order)


def order(payload: bytes) -> int:
    """Return the number of an order (LIGHTS, TEST)."""
    return payload[0] | payload[1] << 8


def done_body(order: int, result: int) -> bytearray:
    """DONE: the order was done once, or refused (`OBEYED`, `REFUSED`), however often it came."""
    return _body(DONE, _DONE, order, result)


def done(payload: bytes) -> tuple[int, int]:
    """Return order and result."""
    return unpack(_DONE, payload)


def event_body(number: int, before: int, dropped: int, us: int, kind: int, part: int, value: int) -> bytearray:
    """EVENT `number` of this boot (from 1): `kind` at board time `us`.

    `before` are the events before it that the board still keeps, `dropped` those before these that no host has
    acknowledged.
    """
    return _body(EVENT, _EVENT, number, before, min(dropped, 0xFFFF), us, kind, part, min(value, 0xFFFFFFFF))


def event(payload: bytes) -> tuple[int, int, int, int, int, int, int]:
    """Return number, before, dropped, board time (us), kind, part and value."""
    return unpack(_EVENT, payload)


def ack_body(number: int) -> bytearray:
    """ACK: the host has all events up to `number` (u32)."""
    return _body(ACK, _ACK, number)


def ack(payload: bytes) -> tuple[int]:
    """Return the number."""
    return unpack(_ACK, payload)


class Decoder:
    """Bytes in, frames out; whatever is torn, flipped, repeated or random is counted and dropped.

    `lengths` is `TO_HOST` or `TO_BOARD`; `opener` the type that begins a session and may bear any number. Before it
    nothing is let through. After damage a frame must be followed by the next one, whole, before either is believed:
    16 bits of CRC alone would let one in 65536 pieces of garbage pass.

    Counters: `frames` let through, `bad` (torn, CRC, unknown, wrong length, too long, out of sequence or
    session, unconfirmed), `lost` (numbers that were skipped), `repeated`.
    """

    def __init__(self, lengths: dict[int, int], opener: int) -> None:
        self.frames = 0
        self.bad = 0
        self.lost = 0
        self.repeated = 0
        self._lengths = lengths
        self._opener = opener
        self._left = b""
        self._skip = False
        self.restart()

    def restart(self) -> None:
        """Forget the session (not the counters): only an opener is let through next."""
        self._last = -1
        self._doubt = False
        self._held: "tuple[int, int, bytes] | None" = None

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Return the frames that `data` completes, each (type, number, payload). Never raises."""
        parts = (self._left + data).split(_ZERO)
        self._left = parts.pop()
        out: list[tuple[int, int, bytes]] = []
        for part in parts:
            if self._skip:
                self._skip = False  # the rest of a frame that was too long
            elif part:
                self._take(part, out)
        if len(self._left) > LONGEST:
            self._left = b""
            if not self._skip:
                self._skip = True
                self._refuse()
        elif self._skip:
            self._left = b""
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
        if not self._fits(kind, end - 3, body):
            return self._refuse()
        number = body[1] | body[2] << 8
        held = self._held
        last = self._last if held is None else held[1]
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

    def _fits(self, kind: int, size: int, body: bytes) -> bool:
        due = self._lengths.get(kind)
        if due == VARIES:
            if kind == LIGHTS:
                return size >= 7
            return size > PIEZO_HEAD and (size - PIEZO_HEAD) % (2 * PADS) == 0
        # another major's opener may be longer, but begins like ours, or nobody could tell that it is another's
        return size == due or (kind == self._opener and size >= 2 and body[3] != PROTOCOL[0])

    def _believe(self, frame: tuple[int, int, bytes], out: list[tuple[int, int, bytes]]) -> None:
        if frame[0] != self._opener and self._last >= 0:
            self.lost += frame[1] - self._last - 1 & 0xFFFF
        self._last = frame[1]
        self.frames += 1
        out.append(frame)
