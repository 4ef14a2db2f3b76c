"""Bytes thrown at decoder and session: random ones, and a running board's frames damaged in many ways.

The link is up all the while and good frames come between the bad ones, which is when a false one could do harm.
"""

import random

import numpy as np
import pytest
from board_rig import Rig

from pi_controller.board import wire
from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, LinkDown, LinkUp, Piezo, Touch

FIELD = np.array([(i, -10.0, 100.0) for i in range(24)])


def scramble(rng, frame, count, span):
    data = bytearray(frame)
    start = rng.randrange(len(data))
    for _ in range(count):
        data[(start + rng.randrange(span)) % len(data)] = rng.randrange(256)
    return bytes(data)


def under_the_stuffing(rng, frame):
    # only what the CRC alone guards: payload bytes changed, all else as it should be
    body = bytearray(wire.unstuff(frame[:-1]))
    for _ in range(rng.randint(2, 30)):
        body[rng.randrange(3, len(body) - 2)] = rng.choice((0, 1, 2, 7, 8, rng.randrange(256)))
    return wire.stuff(bytes(body)) + b"\0"


def damage(rng, frame, other):
    """Return `frame` damaged in one of many ways; `other` is another frame of the same board."""
    n = len(frame)
    a, b = sorted((rng.randrange(n), rng.randrange(n)))
    ways = (
        lambda: scramble(rng, frame, rng.randint(1, 60), n),
        lambda: scramble(rng, frame, rng.randint(1, 8), 8),
        lambda: bytes(x ^ (1 << rng.randrange(8) if rng.random() < 0.05 else 0) for x in frame),
        lambda: frame[:a] + b"\0",
        lambda: frame[:a] + frame[b:],
        lambda: frame[:a] + rng.randbytes(rng.randint(1, 40)) + frame[a:],
        lambda: frame[:a] + other[a:],
        lambda: frame[b:] + frame[:b],
        lambda: frame[:-1] + other,
        lambda: frame * rng.randint(2, 4),
        lambda: rng.randbytes(n),
        lambda: under_the_stuffing(rng, frame),
        lambda: under_the_stuffing(rng, frame),
        lambda: under_the_stuffing(rng, frame),
    )
    return rng.choice(ways)()


class Fuzz:
    """A running link whose board's bytes are damaged. `share` of the frames are; in a tenth of the
    passes `noise` random bytes come besides."""

    def __init__(self, seed, share, noise):
        self.rng = random.Random(seed)
        self.share, self.noise = share, noise
        self.rig = Rig(seed)
        self.rig.session.start(self.rig.t)
        self.rig.run(0.1)
        self.rig.spoil = self.spoil
        self.bytes = self.bad_bytes = self.passing_crc = self.messages = 0
        self.sent = set()
        self.false = []
        self.last = b"\1\0"

    def spoil(self, data):
        out = []
        if self.rng.random() < 0.1:
            out.append(self.rng.randbytes(self.noise))
            self.bad_bytes += self.noise
        for part in data.split(b"\0")[:-1]:
            frame = part + b"\0"
            self.sent.add(part)
            if self.rng.random() < self.share:
                out.append(damage(self.rng, frame, self.last))
                self.bad_bytes += len(out[-1])
            else:
                out.append(frame)
            self.last = frame
        data = b"".join(out)
        self.bytes += len(data)
        for part in data.split(b"\0"):
            body = wire.unstuff(part)
            if part not in self.sent and body and len(body) > 4:
                end = len(body) - 2
                self.passing_crc += wire.crc16(body, end) == body[end] | body[end + 1] << 8
        if len(self.sent) > 1000:
            self.sent.clear()
        return data

    def true(self, m):
        if isinstance(m, Piezo):
            return (m.samples.reshape(-1) == (np.arange(128) + m.index * 4 & 0xFFF) - wire.REST).all() and self.now(m)
        if isinstance(m, Touch):
            return (m.counts.reshape(-1) == np.arange(700, 712)).all() and self.now(m)
        if isinstance(m, Field):
            return m.ok.all() and np.allclose(m.ut, FIELD) and self.now(m)
        if isinstance(m, BoardHealth):
            return (m.overflows, m.i2c_errors) == (0, 0) and m.bad_frames < 20 and self.now(m)
        if isinstance(m, BoardEvent):
            told = (m.kind, m.part, m.value) in {("started", 1, 0), ("tested", 31, (1 << 24) - 1)}
            return (told and m.lost == 0 and 100 - 1 < m.t < self.rig.t) or m.kind.startswith("host ")
        if isinstance(m, LinkUp):
            return m.board_id == "0100020003000400" and m.boot_count == 1
        return isinstance(m, (Gap, LinkDown))  # these say only that something is missing

    def now(self, m):
        return abs(m.t - self.rig.t) < 0.1

    def run(self, size):
        """Go on until `size` damaged or random bytes have been fed."""
        while self.bad_bytes < size:
            for m in self.rig.step():
                self.messages += 1
                if not self.true(m):
                    self.false.append(m)
        return self


@pytest.mark.parametrize(("share", "noise"), [(0.0, 2000), (0.5, 0), (0.95, 0), (0.3, 1000)])
def test_no_byte_raises_and_none_makes_an_event(share, noise):
    fuzz = Fuzz(7, share, noise).run(75_000)
    assert fuzz.false == []
    assert fuzz.rig.session.stats.bad > 20
    assert fuzz.messages > 0


def test_the_board_survives_the_same(rig):
    rig.connect()
    for _ in range(300):
        rig.board.heard += rig.random.randbytes(500)
        rig.board.us += 8000
        rig.sampler.step()
    decoder = rig.sampler.decoder
    assert decoder.bad > 100
    rig.board.heard = bytearray(b"\0" + wire.seal(wire.hello_body(), 300) + wire.seal(wire.ping_body(5), 301))
    rig.board.sent = bytearray()
    rig.sampler.step()
    assert rig.sampler.running
    assert rig.board.sent
