"""The simulated mat felt through the Pi's own pins, in virtual time: real drivers on chips of Python."""

import numpy as np
from cork_pads import CorkPads
from mock_chips import Mpr121, QuickFactory

from pi_controller.board.chips import SCAN
from pi_controller.board.mcp3008 import Mcp3008
from pi_controller.board.mpr121 import TouchChip
from pi_controller.board.pins import PinsSource
from pi_controller.errors import PortError
from pi_controller.pinmap import pinmap
from pi_controller.simulation.world import World


class PiezoReads:
    """Reads the chip `hz` times a second up to the world's present, as the reader's process would."""

    name = "the simulated MCP3008"

    def __init__(self, pins):
        self.pins = pins
        self.now = pins.world.t
        self.chip = Mcp3008(pins.factory)
        self.open = True

    def take(self):
        rows = []
        while (ended := self.now + 0.9 / self.pins.hz) <= self.pins.world.t:
            began = self.now
            self.now = began + self.pins.jitter.uniform(0.8, 1.2) / self.pins.hz
            if self.pins.stalled(began):
                continue
            self.pins.reading, self.pins.each = began, (ended - began) / 4
            rows.append((began, ended, self.chip.scan()))
        return np.array(rows, SCAN)

    def wait(self, seconds):
        raise AssertionError("nobody waits in virtual time")

    def close(self):
        self.open = False
        self.chip.close()


class StripReads:
    """Polls the touch chip 50 times a second of the world's time."""

    def __init__(self, pins):
        self.pins, self.now = pins, pins.world.t
        self.strips = TouchChip(lambda: pins.touch)

    @property
    def missing(self):
        return self.strips.missing

    def take(self):
        scans = []
        while self.now <= self.pins.world.t:
            self.pins.touching = self.now
            scans.append((self.now, self.strips.poll(self.now)))
            self.now += 1.0 / pinmap().pi.mpr121.hz
        return scans

    def close(self):
        self.strips.close()


class PinsWorld:
    """A world, its chips, the `source` on them; `pads` replaces its discs. In `stalls` (from, to) nothing is read."""

    def __init__(self, seed, hz=1100.0, conditions=None, pads=None):
        self.world = World(seed, conditions)
        self.world.piezo = pads or self.world.piezo
        self.hz = hz
        self.stalls = []
        self.there = True
        self.jitter = np.random.default_rng(seed)
        self.factory = QuickFactory(self._count)
        self.touch = Mpr121(self._counts)
        self.reading = self.each = self.touching = 0.0
        self.source = PinsSource(self._open, lambda: StripReads(self))

    def tick(self, dt=0.032):
        self.world.advance(dt)
        return self.source.step(self.world.t)

    def stalled(self, t):
        return any(a <= t < b for a, b in self.stalls)

    def _open(self):
        if not self.there:
            raise PortError("SPI0.0 cannot be opened", "turn SPI on")
        return PiezoReads(self)

    def _count(self, channel):
        piezo, t = self.world.piezo, self.reading + self.each * (channel + 0.5)
        if isinstance(piezo, CorkPads):
            return piezo.count(t, channel)
        n = int(t * piezo.rate)
        first = n // piezo.block_samples * piezo.block_samples
        at = ((n - first) * piezo.pads + channel) * 2
        return int.from_bytes(piezo.block(first)[at : at + 2], "little") >> 6  # ten bits of a sum

    def _counts(self):
        raw = self.world.strips.read(self.touching, self.world.hands.values())
        return np.frombuffer(raw, "<u2").tolist() if raw else [0] * 12
