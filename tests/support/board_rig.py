"""A small board in virtual time, the real firmware's sampler on it, and a session at the other end of the wire."""

import random
import struct

from pi_controller.board import wire
from pi_controller.board.session import BoardSession
from pi_controller.simulation.portable_files import modules


class ToyBoard:
    """The face of the board. Sample values are the low bits of their own number, so that order and loss show."""

    SAMPLE_HZ, BLOCK, PADS, TOUCH_HZ, MAGNET_HZ = 4000, 32, 4, 50, 20
    PIXELS = 69

    def __init__(self, boots=1):
        self.id = b"\x01\0\x02\0\x03\0\x04\0"
        self.boot_count, self.boot_reason = boots, 1
        self.overflows = self.i2c_errors = self.early = 0
        self.news = []
        self.magnets = wire.QMC5883L
        self.pixels = [(9, 9, 9)] * self.PIXELS
        self.strip, self.painted = [], []
        self.us = 0
        self.taken = 0
        self.heard, self.sent = bytearray(), bytearray()
        self.fed, self.lit = 0, []
        self.silent = set()
        self.saturated = set()
        self.touched = True
        self.built = [wire.ALL_MAGNETS]

    def now_us(self):
        return self.us

    def ticks(self):
        return self.us & 0x3FFFFFFF

    def piezo(self, buf):
        if (self.taken + 1) * self.BLOCK * 1_000_000 > self.us * self.SAMPLE_HZ:
            return -1
        number = self.taken
        buf[:] = struct.pack("<128H", *((number * 128 + i) & 0xFFF for i in range(128)))
        self.taken += 1
        return number

    def overrun(self, blocks):
        self.taken += blocks
        self.overflows += blocks

    def touch(self, buf):
        if not self.touched:
            return False
        buf[:] = struct.pack("<12H", *range(700, 712))
        return True

    def charge(self, buf):
        buf[:] = bytes((40,) * 13 + (0x44,) * 6)  # 40 uA for 4 us
        return self.touched

    def bias(self, on):
        pass

    def check_wiring(self):
        return 0

    def build(self, built):
        self.built.append(built)

    def magnet(self, i, buf, at):
        if i in self.silent:
            return False
        if i in self.saturated:
            return None
        struct.pack_into("<3h", buf, at, 30 * i, -300, 3000)
        return True

    def read(self):
        data, self.heard = bytes(self.heard), bytearray()
        return data

    def send(self, body, number):
        self.sent += wire.seal(body, number)

    def flush(self):
        pass

    def paint(self, first, colours):
        self.painted.append((first, bytes(colours)))
        for i in range(0, len(colours), 3):
            self.pixels[first + i // 3] = tuple(colours[i : i + 3])

    def show(self):
        self.strip = list(self.pixels)
        return True

    def calm(self):
        self.early = 0

    def feed(self):
        self.fed += 1

    def light(self, state):
        self.lit.append(state)


class Rig:
    """Board and session in turn. `spoil(data)` may change what the board sends, `spoil_said` what the host says."""

    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.sampler_module = modules()["sampler"]
        self.t = 100.0
        self.slow = 1.0  # the host's seconds in a board's second
        self.plugged = True
        self.said = bytearray()
        self.spoil = lambda data: data
        self.spoil_said = lambda data: data
        self.session = BoardSession(self.write)
        self.power_up()

    def power_up(self, boots=1):
        self.board = ToyBoard(boots)
        self.sampler = self.sampler_module.Sampler(self.board)

    def write(self, data):
        self.said += data
        if self.plugged:
            self.board.heard += self.spoil_said(data)

    def step(self, dt=0.008, delay=0.0):
        """Let the board go on for `dt`; its bytes are read `delay` later (host seconds)."""
        self.board.us += round(dt * 1e6)
        self.sampler.step()
        self.t += dt * self.slow
        data = self.spoil(bytes(self.board.sent))
        self.board.sent = bytearray()
        out = self.session.feed(data if self.plugged else b"", self.t + delay)
        return out + self.session.tick(self.t + delay)

    def run(self, seconds, dt=0.008):
        out = []
        for _ in range(round(seconds / dt)):
            out += self.step(dt)
        return out

    def connect(self):
        self.session.start(self.t)
        return self.run(0.1)
