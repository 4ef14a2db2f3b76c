"""A board that makes no object itself, to see whether the sampler does. Runs under CPython and MicroPython alike."""

import gc

PASS_US = 1000


class StillBoard:
    SAMPLE_HZ, BLOCK, PADS, TOUCH_HZ, MAGNET_HZ, PIXELS = 4000, 32, 4, 50, 20, 69
    magnets = 16

    def __init__(self, up_us):
        self.id = bytes(8)
        self.boot_count = self.boot_reason = 1
        self.overflows = self.early = self.i2c_errors = 0
        self.news = []
        self._up_us = up_us
        self._ticks = up_us & 0x3FFFFFFF
        self._block = up_us // 8000
        self._since = 0
        self.heard = b""
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

    def charge(self, buf):
        return False

    def bias(self, on):
        pass

    def check_wiring(self):
        return 0

    def build(self, built):
        pass

    def magnet(self, i, buf, at):
        buf[at] = i
        return True

    def read(self):
        heard = self.heard
        self.heard = b""
        return heard

    def send(self, body, number):
        self.sent += 1

    def paint(self, first, colours):
        pass

    def show(self):
        return True

    def flush(self):
        pass

    def calm(self):
        pass

    def feed(self):
        pass

    def light(self, state):
        pass


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
