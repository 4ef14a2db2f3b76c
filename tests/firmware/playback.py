"""The face of the board, played from a recording. Runs under CPython and MicroPython alike.

A recording is JSON: `steps`, each [time in us, bytes heard (hex), blocks [[number, samples (hex)], ...]], and the
readings `touch` and `magnet` (hex, "" for a bus error), which are used in turn and over again.
"""

import json

try:
    from binascii import hexlify, unhexlify
except ImportError:
    from ubinascii import hexlify, unhexlify


class PlaybackBoard:
    SAMPLE_HZ = 4000
    BLOCK = 32
    PADS = 4
    TOUCH_HZ = 50
    MAGNET_HZ = 20
    PIXELS = 69
    magnets = 16

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
        self.heard = b""
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

    def charge(self, buf):
        return False

    def bias(self, on):
        pass

    def check_wiring(self):
        return 0

    def build(self, built):
        pass

    def magnet(self, i, buf, at):
        reading = self._magnet[self._measured % len(self._magnet)]
        self._measured += 1
        if not reading:
            self.i2c_errors += 1
            return False
        buf[at : at + 6] = reading
        return True

    def read(self):
        data = self.heard
        self.heard = b""
        return data

    def send(self, body, number):
        self.sent.append(self.seal(body, number))

    def flush(self):
        pass

    def paint(self, first, colours):
        self.log.append((first, hexlify(colours).decode()))

    def show(self):
        self.log.append("show")
        return True

    def calm(self):
        self.log.append("calm")

    def feed(self):
        pass

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
