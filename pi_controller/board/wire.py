"""Encodes and decodes the payload of each frame type. CPython and MicroPython both run this file and `frames.py`.

`help/pages/reference/wire.md` documents every byte. The two files may only use features that MicroPython has (no
typing, dataclasses, `__future__`, or deleting from a bytearray).
"""

import struct
from struct import pack_into, unpack

try:
    from pi_controller.board.frames import LONGEST, WINDOW, Frames, crc16, seal, stuff, unstuff
except ImportError:  # on the board the files are in one folder
    from frames import (  # pyright: ignore[reportMissingImports]
        LONGEST,
        WINDOW,
        Frames,
        crc16,
        seal,
        stuff,
        unstuff,
    )

# exported again, so that users need to import only this file
__all__ = ("LONGEST", "WINDOW", "Frames", "crc16", "seal", "stuff", "unstuff")

PROTOCOL = (1, 0)
"""Major and minor: majors are incompatible. A newer minor adds types, and sends none of them to an older end."""

# Host to board. A frame of one of these never begins with "\r\x03", which mpremote sends to stop a program.
HELLO = 0x11
PING = 0x12
BYE = 0x13
LIGHTS = 0x14
TEST = 0x15
ACK = 0x16
BUILT = 0x17
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
READINGS = 16
"""Readings of the converter, 12 bits each, that are summed in a sample of a pad."""
REST, TOP = READINGS * 2048, READINGS * 4095
"""A sample of a pad at rest, and the largest."""
ELECTRODES = 12
STRIPS_EACH = ELECTRODES // PADS
CHARGE_BYTES = 19
"""Registers of the touch chip from 0x5F on: an electrode's current each, one that is not used, two times in each."""
STEPS_PER_PF = 5
"""STRIPS counts a strip's capacitance in steps of 0.2 pF."""
DISC_STEP_US = 10
"""DISCS counts time in steps of this many microseconds."""
NOT_SWITCHED = 0xFFFF
"""DISCS' value for a pad that does not follow the bias pin."""
MAGNETS = 24
ALL_MAGNETS = (1 << MAGNETS) - 1

# WELCOME's features.
HAS_PIEZO, HAS_TOUCH, HAS_FIELD, HAS_STRIP = 1, 2, 4, 8
QMC5883L, QMC5883P = 16, 32
"""The kind of magnetometer that answered; neither before one has."""

# Reasons in WELCOME and STARTED: 2 is the board's RUN button, 4 a restart requested by its own program or `flash`.
POWER, BUTTON, WATCHDOG, RESTART = 1, 2, 3, 4

# DONE's results.
OBEYED, REFUSED = 0, 1

# EVENT's kinds, with the meaning of `part` and `value`. They are hints for repairs: the host judges the samples.
STARTED = 1  # part: reason; value: starts from power in a row without a calm run (10 s), with this one
BROWN_OUT = 2  # the third such start or a later one, weak supply?; value: as in STARTED
LOST = 3  # value: blocks; once a second at most
BUS_STUCK = 4  # a chip holds the I2C data line; value: bus errors in a row
BUS_FREE = 5  # value: clocks it took
TOUCH_SILENT = 6  # the touch chip has not answered for a second
TOUCH_BACK = 7  # value: ms it was silent
MAGNET_SILENT = 8  # likewise; part: magnetometer, 1 first. Never shown at the table: it could show the bead
MAGNET_BACK = 9  # part: magnetometer; value: ms it was silent
PIEZO_RAIL = 10  # within 4 counts of a rail for half a second; part: pad; value: counts
PIEZO_STUCK = 11  # not moved by one count for 4 s; part: pad; value: ms without any change
PIEZO_GOOD = 12  # part: pad; value: ms it was faulty
# TESTED: at a start or by TEST; part: bit p for pad p + 1, bit 4 for the touch chip; value: bit i for magnetometer
# i + 1; 1 is good
TESTED = 13
LATE = 14  # a pass of the loop took over 100 ms; value: us, the longest; once in 10 s at most
HOST_SILENT = 15  # for 3 s, the strip is dark; value: ms
HOST_BACK = 16  # value: ms
SLOW = 17  # value: per cent of the scans due in 2 s that came, less than 90; once in 10 s at most
WIRING = 18  # value: bits `SDA_LOW`, `SCL_LOW`, `EXCHANGED`
STRIPS = 19  # part: pad; value: the capacitance of its touch strips, see `pack_strips`
# DISCS: part: pad; value: how long it rises from a tenth to nine tenths of its rest after its bias is switched on, in
# 10 us; 0 it does not rise, or rests near ground; NOT_SWITCHED
DISCS = 20
KINDS = DISCS
"""Event kinds are 1 to this; a newer minor adds kinds and sends none of them to an older end."""

# WIRING's value: a line of the I2C bus does not rest high; chips answer with SDA and SCL exchanged.
SDA_LOW, SCL_LOW, EXCHANGED = 1, 2, 4

_HELLO = "<BB"
_PING = "<I"
_WELCOME = "<BBBBB8sIBIBHH"
_PONG = "<IQ"
_PIEZO = "<IHQ"
_TOUCH = "<Q12H"
_FIELD = "<QI72h"
_HEALTH = "<IIIIIQ"
_ORDER = "<H"
_BUILT = "<HI"
_ACK = "<I"
_DONE = "<HB"
_EVENT = "<IBHQBBI"

PIEZO_HEAD = 14
"""Bytes of a PIEZO payload before its samples."""

VARIES = -1
TO_BOARD = {HELLO: 2, PING: 4, BYE: 0, LIGHTS: VARIES, TEST: 2, ACK: 4, BUILT: 6}
"""Payload bytes of every type a host sends; a LIGHTS has its command number and any number of runs."""
TO_HOST = {WELCOME: 27, PONG: 12, PIEZO: VARIES, TOUCH: 32, FIELD: 156, HEALTH: 28, DONE: 3, EVENT: 21}
"""Payload bytes of every type a board sends; a PIEZO has its header and any number of whole samples of all pads."""
SAME = 0x80
"""Flag in the count of a LIGHTS run: one colour for all its pixels."""


def _body(kind: int, form: str, *values: int | bytes) -> bytearray:
    body = bytearray(struct.calcsize(form) + 5)
    body[0] = kind
    pack_into(form, body, 3, *values)
    return body


def put(body: bytearray, at: int, number: int, times: int, more: int) -> None:
    """Write `number` * `times` + `more` into body[at : at + 8], u64.

    The board replaces this function with machine code. Every step stays within MicroPython's small integers, which need
    no memory: `number` below 2 ** 30, `times` below 2 ** 14, `more` below 2 ** 24.
    """
    low = (number & 0xFFFF) * times + more
    high = (number >> 16) * times + (low >> 16)
    body[at] = low & 0xFF
    body[at + 1] = low >> 8 & 0xFF
    body[at + 2] = high & 0xFF
    body[at + 3] = high >> 8 & 0xFF
    body[at + 4] = high >> 16 & 0xFF
    body[at + 5] = high >> 24 & 0xFF
    body[at + 6] = 0
    body[at + 7] = 0


def hello_body() -> bytearray:
    """Return the body of a HELLO, which opens a session and carries the host's protocol version."""
    return _body(HELLO, _HELLO, *PROTOCOL)


def hello(payload: bytes) -> tuple[int, int]:
    """Return protocol major and minor, also of another major's HELLO."""
    return payload[0], payload[1]


def ping_body(mark: int) -> bytearray:
    """Return the body of a PING; the PONG returns `mark` (u32)."""
    return _body(PING, _PING, mark)


def ping(payload: bytes) -> tuple[int]:
    """Return the mark of a PING."""
    return unpack(_PING, payload)


def bye_body() -> bytearray:
    """Return the body of a BYE: the host leaves, and the board falls silent."""
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
    """Return the body of a WELCOME, the answer to HELLO: the board's identity and its features.

    `firmware` x.y.z, `board` id of 8 bytes, `boots` number of starts, `reason` of the last start, `features` bits
    (1 piezo, 2 touch, 4 field, 8 strip, 16 QMC5883L magnetometers, 32 QMC5883P), `sample_hz` of each piezo,
    `block_samples` of each piezo in a PIEZO.
    """
    return _body(
        WELCOME, _WELCOME, *PROTOCOL, *firmware, board, boots, reason, features, pads, sample_hz, block_samples
    )


def welcome(payload: bytes) -> tuple[int, int, int, int, int, bytes, int, int, int, int, int, int]:
    """Return major, minor, firmware x, y, z, board, boots, reason, features, pads, sample_hz, block_samples."""
    return unpack(_WELCOME, payload)


def pong_body(mark: int, us: int) -> bytearray:
    """Return the body of a PONG: the PING's mark and the board's time, microseconds since boot."""
    return _body(PONG, _PONG, mark, us)


def pong(payload: bytes) -> tuple[int, int]:
    """Return mark and board time (us)."""
    return unpack(_PONG, payload)


def piezo_body(block_samples: int) -> bytearray:
    """Return a reusable body for a PIEZO of `block_samples` samples of each pad.

    `piezo_number` writes index and time; the samples go into body[3 + PIEZO_HEAD : -2]: pads interleaved, u16 of 0 to
    `TOP`.
    """
    body = bytearray(5 + PIEZO_HEAD + 2 * PADS * block_samples)
    body[0] = PIEZO
    return body


def piezo_number(body: bytearray, block: int, block_samples: int, block_us: int, overflows: int) -> None:
    """Write index and time of `block` (number since boot) into a PIEZO's body, and `overflows`.

    A block has `block_samples` samples and lasts `block_us`; `overflows` counts blocks lost on the board.
    """
    put(body, 3, block, block_samples, 0)
    put(body, 9, block, block_us, 0)
    body[7] = overflows & 0xFF
    body[8] = overflows >> 8 & 0xFF


def piezo(payload: bytes) -> tuple[int, int, int]:
    """Return the first sample's index (low 32 bits), lost blocks (low 16 bits), the first sample's board time (us)."""
    return unpack(_PIEZO, payload[:PIEZO_HEAD])


def touch_body(us: int, counts: bytearray) -> bytearray:
    """Return the body of a TOUCH: board time (us) and 12 x u16 filtered counts in electrode order."""
    body = bytearray(37)
    body[0] = TOUCH
    pack_into("<Q", body, 3, us)
    body[11:35] = counts
    return body


def touch(payload: bytes) -> tuple[int, ...]:
    """Return board time (us) and the 12 counts."""
    return unpack(_TOUCH, payload)


def pack_strips(charge: "bytes | bytearray", counts: "bytes | memoryview", pad: int) -> int:
    """Return STRIPS' value for `pad` (0 first): ten bits for each strip, the first lowest, in steps of 0.2 pF.

    `charge` are the touch chip's `CHARGE_BYTES`, `counts` the 12 x u16 of a TOUCH. A strip charged with a current for
    a time reads counts of 1024 for 3.3 V (the chip's data sheet). 1023 is that or more, 0 unknown.
    """
    value = 0
    for i in range(STRIPS_EACH):
        n = STRIPS_EACH * pad + i
        count = counts[2 * n] | counts[2 * n + 1] << 8
        time = charge[13 + (n >> 1)] >> (4 * (n & 1)) & 7  # 1 is 0.5 us, and each further one twice as long
        if count and time:
            # uA * us * 1024 / (counts * 3.3 V), five times; 388 is 5 / 4 * 1024 / 3.3
            value |= min(((charge[n] & 63) << time) * 388 // count, 1023) << (10 * i)
    return value


def disc_ms(value: int) -> float:
    """Return the time that DISCS' value stands for, ms."""
    return value * DISC_STEP_US / 1000


def strips_pf(value: int) -> "tuple[float, ...]":
    """Return the capacitance of a pad's touch strips, pF, from STRIPS' value."""
    return tuple((value >> (10 * i) & 1023) / STEPS_PER_PF for i in range(STRIPS_EACH))


def field_body(us: int, ok: int, counts: bytearray) -> bytearray:
    """Return the body of a FIELD: board time (us), a mask of the sensors that answered, 24 x 3 x i16 counts."""
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
    """Return the body of a HEALTH: counters since the start (wrapping at 32 bits), longest loop, board time (us)."""
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
    """Return the body of a LIGHTS command, which changes the pixels in `runs` (see `runs`) and no others."""
    body = bytearray(7 + len(runs))
    body[0] = LIGHTS
    pack_into(_ORDER, body, 3, order)
    body[5:-2] = runs
    return body


def runs(payload: bytes, pixels: int) -> "list[tuple[int, bytes]] | None":
    """Return the runs of a LIGHTS, each (first pixel, RGB bytes of each pixel), or None if any exceeds `pixels`.

    A run is first pixel u8, count u8 (1 to 127) and a colour for each; with `SAME` in the count, one colour for all.
    """
    out: list[tuple[int, bytes]] = []
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
    """Return the body of a TEST command, which tests every sensor; the event TESTED has the result."""
    return _body(TEST, _ORDER, order)


def built_body(magnets: int, order: int) -> bytearray:
    """Return the body of a BUILT command: the mat has the magnetometers whose bits are set in `magnets`.

    The nth of them (from 0) is on channel n % 8 of multiplexer n // 8. After each HELLO the board assumes all of them.
    """
    return _body(BUILT, _BUILT, order, magnets)


def built_mask(payload: bytes) -> int:
    """Return the mask of a BUILT, at most `ALL_MAGNETS`."""
    return unpack(_BUILT, payload)[1] & ALL_MAGNETS


def order(payload: bytes) -> int:
    """Return the number of a command (LIGHTS, TEST, BUILT)."""
    return payload[0] | payload[1] << 8


def done_body(order: int, result: int) -> bytearray:
    """Return the body of a DONE: the command was executed once or refused (`OBEYED`, `REFUSED`)."""
    return _body(DONE, _DONE, order, result)


def done(payload: bytes) -> tuple[int, int]:
    """Return the command number and the result of a DONE."""
    return unpack(_DONE, payload)


def event_body(number: int, before: int, dropped: int, us: int, kind: int, part: int, value: int) -> bytearray:
    """Return the body of EVENT `number` of this boot (from 1), of `kind` at board time `us`.

    `before` is the number of earlier events that the board still keeps, `dropped` the number of unacknowledged events
    it had to drop before those.
    """
    return _body(EVENT, _EVENT, number, before, min(dropped, 0xFFFF), us, kind, part, min(value, 0xFFFFFFFF))


def event(payload: bytes) -> tuple[int, int, int, int, int, int, int]:
    """Return number, before, dropped, board time (us), kind, part and value of an EVENT."""
    return unpack(_EVENT, payload)


def ack_body(number: int) -> bytearray:
    """Return the body of an ACK: the host has all events up to `number` (u32)."""
    return _body(ACK, _ACK, number)


def ack(payload: bytes) -> tuple[int]:
    """Return the event number of an ACK."""
    return unpack(_ACK, payload)


class Decoder(Frames):
    """Decodes the frames of one direction: `lengths` is `TO_HOST` or `TO_BOARD`, `opener` begins a session."""

    def __init__(self, lengths: dict[int, int], opener: int) -> None:
        Frames.__init__(self, opener)
        self._lengths = lengths

    def fits(self, kind: int, size: int, body: bytes) -> bool:
        """Return True if a `body` of this type may have a payload of `size` bytes."""
        due = self._lengths.get(kind)
        if due == VARIES:
            if kind == LIGHTS:
                return size >= 7
            return size > PIEZO_HEAD and (size - PIEZO_HEAD) % (2 * PADS) == 0
        # another major's opener may be longer but begins like ours, so that its major can be read
        return size == due or (kind == self._opener and size >= 2 and body[3] != PROTOCOL[0])
