"""Decoding and framing beside their floor: the least that any reader of zero-ended frames must do.

python -m pytest -n 0 --benchmark-enable tests/benchmarks/test_link.py
"""

import struct

import numpy as np
import pytest

from pi_controller.board import wire
from pi_controller.board.session import BoardSession
from pi_controller.simulation.portable_files import modules

FRAMES = 400


def bodies():
    rng = np.random.default_rng(1)
    body = wire.piezo_body(32)
    for i in range(FRAMES):
        wire.piezo_number(body, i, 32, 8000, 0)
        body[3 + wire.PIEZO_HEAD : -2] = rng.normal(wire.REST, 5, 128).astype("<u2").tobytes()
        yield bytearray(body)


@pytest.fixture(scope="module")
def frames():
    return [wire.seal(body, i + 1) for i, body in enumerate(bodies())]


def opened():
    return wire.seal(
        wire.welcome_body(
            firmware=(0, 1, 0), board=bytes(8), boots=1, reason=1, features=7, pads=4, sample_hz=4000, block_samples=32
        ),
        0,
    )


def test_floor_split_at_zeros(benchmark, frames):
    stream = b"".join(frames)
    assert len(benchmark(stream.split, b"\0")) == FRAMES + 1


def test_decode(benchmark, frames):
    stream = opened() + b"".join(frames)
    assert len(benchmark(lambda: wire.Decoder(wire.TO_HOST, wire.WELCOME).feed(stream))) == FRAMES + 1


def test_frame(benchmark):
    ready = list(bodies())
    assert len(benchmark(lambda: [wire.seal(body, 7) for body in ready])) == FRAMES


def test_session_chunks_of_four(benchmark, frames):
    chunks = [b"".join(frames[i : i + 4]) for i in range(0, FRAMES, 4)]

    def fresh():
        session = BoardSession(lambda _: None)
        session.start(0.0)
        session.feed(opened(), 0.0)
        return (session,), {}

    def feed(session):
        return sum(len(session.feed(chunk, 0.032 * (i + 1))) for i, chunk in enumerate(chunks))

    assert benchmark.pedantic(feed, setup=fresh, rounds=20) == FRAMES


def test_a_pass_of_the_firmware(benchmark):
    """One pass that sends one piezo block, with touch, field and health as they fall due."""
    sampler = modules()["sampler"]
    block = struct.pack("<128H", *range(2000, 2128))
    field = struct.pack("<3h", 1, 2, 3)

    class Board:
        SAMPLE_HZ, BLOCK, PADS, TOUCH_HZ, MAGNET_HZ = 4000, 32, 4, 50, 20
        id, boot_count, boot_reason, overflows, i2c_errors = bytes(8), 1, 1, 0, 0
        PIXELS, early, news, magnets = 69, 0, (), wire.QMC5883L

        def __init__(self):
            self.blocks, self.taken, self.sent = 0, 0, 0
            self.said = wire.seal(wire.hello_body(), 0)

        def now_us(self):
            return self.blocks * 8000

        def ticks(self):
            return self.now_us() & 0x3FFFFFFF

        def piezo(self, buf):
            if self.taken == self.blocks:
                return -1
            buf[:] = block
            self.taken += 1
            return self.taken

        def touch(self, buf):
            return True

        def charge(self, buf):
            return False

        def bias(self, on):
            pass

        def check_wiring(self):
            return 0

        def build(self, built):
            pass

        def magnet(self, i, buf, at):
            buf[at : at + 6] = field
            return True

        def read(self):
            said, self.said = self.said, b""
            return said

        def send(self, body, number):
            self.sent += 1

        def flush(self):
            pass

        def paint(self, first, colours):
            pass

        def show(self):
            return True

        def calm(self):
            pass

        def feed(self):
            pass

        def light(self, state):
            pass

    def fresh():
        board = Board()
        work = sampler.Sampler(board)
        work.step()
        return (board, work), {}

    def passes(board, work):
        for _ in range(300):  # 2.4 s: shorter than the silence after which it would stop
            board.blocks += 1
            work.step()
        return board.sent

    assert benchmark.pedantic(passes, setup=fresh, rounds=20) > 300
