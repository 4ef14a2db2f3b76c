"""Two faces of the board without chips. They run under CPython and MicroPython alike.

One plays a recording, which is JSON: `steps`, each [time in us, bytes heard (hex), blocks [[number, samples (hex)],
...]], and the readings `touch` and `magnet` (hex, "" for a bus error), which are used in turn and over again. The other
makes no object itself, to see whether the sampler does.
"""

import gc
import json

try:
    from binascii import hexlify, unhexlify
except ImportError:
    from ubinascii import hexlify, unhexlify


PASS_US = 1000


class Quiet:
    """A board that measures, paints and lights nothing."""

    SAMPLE_HZ, BLOCK, PADS, TOUCH_HZ, MAGNET_HZ, PIXELS = 4000, 32, 4, 50, 20, 69
    magnets = 16
    heard = b""

    def read(self):
        heard = self.heard
        self.heard = b""
        return heard

    def check_wiring(self):
        return 0

    def charge(self, buf):
        return False

    def show(self):
        return True

    def bias(self, on):
        pass

    def build(self, built):
        pass

    def paint(self, first, colours):
        pass

    def flush(self):
        pass

    def calm(self):
        pass

    def feed(self):
        pass

    def light(self, state):
        pass


class PlaybackBoard(Quiet):
    def __init__(self, recording, seal):
        self.seal = seal
        self.id = b"\x00\x11\x22\x33\x44\x55\x66\x77"
        self.boot_count = 258
        self.boot_reason = 3
        self.overflows = 0
        self.early = 3
        self.news = []
        self.i2c_errors = 0
        self.sent = []
        self.log = []
        self.us = 0
        self._blocks = []
        self._touch = [unhexlify(reading) for reading in recording["touch"]]
        self._magnet = [unhexlify(reading) for reading in recording["magnet"]]
        self._touched = 0
        self._measured = 0

    def at(self, step):
        self.us, heard, self._blocks = step
        self.heard += unhexlify(heard)

    def now_us(self):
        return self.us

    def ticks(self):
        return self.now_us() & 0x3FFFFFFF

    def piezo(self, buf):
        if not self._blocks:
            return -1
        number, samples = self._blocks.pop(0)
        buf[:] = unhexlify(samples)
        return number

    def touch(self, buf):
        reading = self._touch[self._touched % len(self._touch)]
        self._touched += 1
        if not reading:
            self.i2c_errors += 1
            return False
        buf[:] = reading
        return True

    def magnet(self, i, buf, at):
        reading = self._magnet[self._measured % len(self._magnet)]
        self._measured += 1
        if not reading:
            self.i2c_errors += 1
            return False
        buf[at : at + 6] = reading
        return True

    def send(self, body, number):
        self.sent.append(self.seal(body, number))

    def paint(self, first, colours):
        self.log.append((first, hexlify(colours).decode()))

    def show(self):
        self.log.append("show")
        return True

    def calm(self):
        self.log.append("calm")

    def light(self, state):
        self.log.append(state)


def play(text, sampler):
    """Play the recording; return all that the board sent, in hex, and how it lit its light."""
    recording = json.loads(text)
    board = PlaybackBoard(recording, sampler.wire.seal)
    work = sampler.Sampler(board)
    for step in recording["steps"]:
        board.at(step)
        work.step()
    return hexlify(b"".join(board.sent)).decode(), board.log


def rate(sampler, ticks_us, ticks_diff, blocks=2000):
    """Return (frames, microseconds) of a Sampler that sends `blocks` piezo blocks, with all else, as fast as it can."""
    board = PlaybackBoard({"touch": ["bc02" * 12], "magnet": ["010002000300"]}, sampler.wire.seal)
    board.at([0, "", []])
    work = sampler.Sampler(board)
    board.heard = sampler.wire.seal(sampler.wire.hello_body(), 0)
    work.step()
    samples = "0008" * 64 + "fa07" * 64
    began = ticks_us()
    for i in range(blocks):
        board.at([8000 * (i + 1), "", [[i, samples]]])
        if i % 62 == 0:
            board.heard = sampler.wire.seal(sampler.wire.ping_body(i), i // 62 + 1)
        work.step()
        if i % 100 == 99:
            board.sent = board.sent[-1:]
    return (work.frame_number, ticks_diff(ticks_us(), began))


class StillBoard(Quiet):
    def __init__(self, up_us):
        self.id = bytes(8)
        self.boot_count = self.boot_reason = 1
        self.overflows = self.early = self.i2c_errors = 0
        self.news = []
        self._up_us = up_us
        self._ticks = up_us & 0x3FFFFFFF
        self._block = up_us // 8000
        self._since = 0
        self.sent = 0
        self.samples = bytes(range(256))
        self.counts = b"\xbc\x02" * 12

    def now_us(self):
        return self._up_us

    def ticks(self):
        self._ticks = self._ticks + PASS_US & 0x3FFFFFFF
        self._since += PASS_US
        return self._ticks

    def piezo(self, buf):
        if self._since < 8000:
            return -1
        self._since -= 8000
        self._block += 1
        for i in range(256):
            buf[i] = self.samples[i]
        return self._block

    def touch(self, buf):
        for i in range(24):
            buf[i] = self.counts[i]
        return True

    def magnet(self, i, buf, at):
        buf[at] = i
        return True

    def send(self, body, number):
        self.sent += 1


def made(sampler, up_us, seconds=2):
    """Return how many bytes of memory a streaming board's passes take in `seconds`, and how many frames it sent."""
    board = StillBoard(up_us)
    work = sampler.Sampler(board)
    wire = sampler.wire
    board.heard = wire.seal(wire.hello_body(), 0)
    for _ in range(1500):  # its self test, and its first second
        work.step()
    board.heard = wire.seal(wire.ack_body(2), 1)
    for _ in range(500):
        work.step()
    passes = seconds * 1_000_000 // PASS_US
    sent = board.sent
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    step = work.step
    while passes:
        passes -= 1
        step()
    after = gc.mem_alloc()
    gc.enable()
    return after - before, board.sent - sent
