"""How many bytes of the wire one strike sample takes, here and as two well-known projects format theirs: computed.

python tests/benchmarks/bytes_per_sample.py

Ours are the firmware's own frames. The others are computed from their published formats, filled as full as they go:

* Firmata, protocol.md 2.5 (repository firmata/protocol): an analog I/O message is 0xE0 + pin, then the value's bits 0
  to 6 and 7 to 13. One pin a message; no number, no time, no checksum.
* Klipper (repository Klipper3d/klipper), src/command.c and docs/Protocol.md: a block of at most 64 bytes has two of
  header (length, sequence) and three of trailer (CRC, sync). src/sensor_bulk.h and sensor_bulk.c: a message of one byte
  of id, then oid and sequence as variable length quantities, the data's length, and up to 52 bytes of data. The host
  (klippy/extras/bulk_sensor.py) asks for the clock by another message, some times a second; that is left out here.
"""

from pi_controller.board import wire
from pi_controller.pinmap import pinmap

BLOCK_MOST, BLOCK_ENDS, DATA_MOST = 64, 5, 52
"""Klipper: bytes of a block, of its header and trailer, and of one message's data."""
REST = wire.REST


def vlq(value):
    """Return how many bytes Klipper's variable length quantity takes for `value`, 0 or more."""
    return 1 + sum(value >= 3 << bits for bits in (5, 12, 19, 26))


def klipper(set_bytes, pads):
    """Return (bytes, samples) of a full message, with sets of all pads that are `set_bytes` long; a mean of numbers."""
    sequence = sum(map(vlq, range(1 << 16))) / (1 << 16)
    sets = DATA_MOST // set_bytes
    head = 1 + vlq(1) + 1  # id, oid, length of the data
    most = BLOCK_ENDS + head + 3 + sets * set_bytes
    assert most <= BLOCK_MOST
    return BLOCK_ENDS + head + sequence + sets * set_bytes, sets * pads


def ours(block, pads):
    """Return (bytes, samples) of a PIEZO frame at rest, a mean over its running numbers."""
    body = wire.piezo_body(block)
    sizes = []
    for n in range(0, 20_000, 37):
        samples = b"".join((REST + (n + i) % 9 - 4).to_bytes(2, "little") for i in range(block * pads))
        wire.piezo_number(body, n, block, 8000, 0)
        body[3 + wire.PIEZO_HEAD : -2] = samples
        sizes.append(len(wire.seal(body, n)))
    return sum(sizes) / len(sizes), block * pads


def rest_of_ours(board):
    """Return the bytes a second of all that is no sample of a piezo, at its usual rates."""
    touch = wire.seal(wire.touch_body(10**9, bytearray(range(1, 25))), 7)
    field = wire.seal(wire.field_body(10**9, 0xFFFFFF, bytearray(144 * b"\x11")), 7)
    health = wire.seal(
        wire.health_body(uptime_ms=10**6, overflows=0, i2c_errors=0, bad_frames=0, worst_us=900, us=10**9), 7
    )
    pong = wire.seal(wire.pong_body(9, 10**9), 7)
    return board.touch_hz * len(touch) + board.magnet_hz * len(field) + len(health) + 2 * len(pong)


def main():
    board, pads = pinmap().board, pinmap().pads.count
    cases = (
        (
            "this mat, PIEZO of protocol {}.{}".format(*wire.PROTOCOL),
            *ours(board.block_samples, pads),
            "CRC, number, time",
        ),
        ("Firmata, analog message", 3, 1, "nothing"),
        ("Klipper, bulk sensor, 16 bits", *klipper(2 * pads, pads), "CRC, number"),
        ("Klipper, bulk sensor, 12 bits packed", *klipper(12 * pads // 8, pads), "CRC, number"),
    )
    print(f"{'format':<38}{'bytes':>8}{'samples':>9}{'bytes/sample':>14}{'bytes/s':>10}  with each message")
    for name, size, samples, carries in cases:
        each = size / samples
        rate = each * board.sample_hz * pads
        print(f"{name:<38}{size:>8.1f}{samples:>9}{each:>14.3f}{rate:>10,.0f}  {carries}")
    print(f"({board.sample_hz} Hz on {pads} pads; 12 bits alone are 1.500 bytes, 16 bits 2.000)")
    print(f"touch, magnetometers, health and pongs of this mat besides: {rest_of_ours(board):,.0f} bytes/s")


if __name__ == "__main__":
    main()
