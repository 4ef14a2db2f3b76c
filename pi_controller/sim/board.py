"""The simulated mat board: the face that `firmware/sampler.py` uses, over a `World` instead of pins.

It has its own crystal (offset and drift against virtual time), a converter that fills a short ring of blocks and drops
the oldest when nobody reads, and counters that go on until the next boot. Not evidence about a real board.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pi_controller.link import wire
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sim.seeds import Stream, rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.drivers.ports import Rgb
    from pi_controller.sim.world import World

RING_BLOCKS = 16
"""How many finished blocks wait for the firmware: 128 ms."""
INBOX_BYTES = 4096
POWER_ON = wire.POWER
WATCHDOG = wire.WATCHDOG
"""Reasons of a start."""


class SimBoard:
    """One boot of the board. `send` takes the bytes it writes; `arrive` gives it the host's."""

    def __init__(
        self,
        world: World,
        send: Callable[[bytes], None],
        boot_count: int = 1,
        boot_reason: int = POWER_ON,
        up_s: float | None = None,
    ) -> None:
        pins = pinmap()
        self.SAMPLE_HZ = pins.board.sample_hz
        self.BLOCK = pins.board.block_samples
        self.PADS = PADS
        self.TOUCH_HZ = pins.board.touch_hz
        self.MAGNET_HZ = pins.board.magnet_hz
        self.PIXELS = pins.lights.count
        self.id = bytes(rng(world.seed, Stream.CLOCK, 0).integers(0, 256, 8).tolist())
        self.boot_count = boot_count
        self.boot_reason = boot_reason
        self.early = 0
        """How many starts in a row, this one included, came before the last had run calmly."""
        self.news: list[tuple[int, int]] = []
        """What became of the bus: kind of event and value, for the firmware to take away."""
        self.magnets = wire.QMC5883L
        """The kind of its magnetometers, as `wire` has them."""
        self.overflows = 0
        self.i2c_errors = 0
        self.work = 0
        """Grows whenever the firmware finds or does something; a pass of its loop that leaves it alone was idle."""
        self.state = ""
        self.fed = 0
        self.strip: list[Rgb] = [(0, 0, 0)] * self.PIXELS
        """What the light strip on the board shows."""
        self._pixels = list(self.strip)
        self._world = world
        self._send = send
        self._inbox = bytearray()
        self._mega = 1_000_000_000 + world.conditions.clock_ppb
        if up_s is None:
            up_s = float(rng(world.seed, Stream.CLOCK, boot_count).uniform(3.0, 90.0))
        # Boot falls on the block grid, so that sample n of this boot is taken at board time n / SAMPLE_HZ.
        self._boot = (self._taken() - int(up_s * self.SAMPLE_HZ)) // self.BLOCK * self.BLOCK
        self._next = -(-self._taken() // self.BLOCK) * self.BLOCK

    def now_us(self) -> int:
        """Return microseconds since boot on the board's own crystal."""
        return self._world.ns * self._mega // 1_000_000_000_000 - self._boot * 1_000_000 // self.SAMPLE_HZ

    def ticks(self) -> int:
        """Return `now_us` modulo 2 ** 30."""
        return self.now_us() & 0x3FFFFFFF

    def piezo(self, buf: bytearray) -> int:
        """Fill `buf` with the oldest finished block, u16 little endian, and return its number since boot, or -1."""
        taken = self._taken()
        if self._next + self.BLOCK > taken:
            return -1
        waiting = (taken - self._next) // self.BLOCK
        if waiting > RING_BLOCKS:
            lost = waiting - RING_BLOCKS
            self.overflows += lost
            self._next += lost * self.BLOCK
        self.work += 1
        first = self._next
        buf[:] = self._world.piezo.block(first)
        self._next = first + self.BLOCK
        return (first - self._boot) // self.BLOCK

    def touch(self, buf: bytearray) -> bool:
        """Fill `buf` with the twelve counts, u16 little endian; False on a bus error."""
        self.work += 1
        counts = self._world.strips.read(self._world.t, self._world.hands.values())
        if counts is None:
            self.i2c_errors += 1
            return False
        buf[:] = counts
        return True

    def magnet(self, i: int, buf: bytearray, at: int) -> bool | None:
        """Put magnetometer `i` into `buf[at:at + 6]`, i16 little endian; False when silent, None when saturated."""
        self.work += 1
        words = self._world.magnets.read(i, self._world.t)
        if words is None:
            failed = self._world.magnets.failed(i)
            self.i2c_errors += failed
            return False if failed else None
        if self.magnets == wire.QMC5883P:
            words = _as_qmc5883p(words)
        buf[at : at + 6] = words
        return True

    def read(self) -> bytes:
        """Return what the host has sent since the last call."""
        if not self._inbox:
            return b""
        self.work += 1
        data = bytes(self._inbox)
        self._inbox.clear()
        return data

    def send(self, body: bytearray, number: int) -> None:
        """Send the frame of `body` to the host."""
        self.work += 1
        self._send(wire.seal(body, number))

    def flush(self) -> None:
        """Nothing waits here."""

    def paint(self, first: int, colours: bytes) -> None:
        """Give the pixels from `first` on their colours: red, green, blue of each."""
        self.work += 1
        for i in range(0, len(colours), 3):
            self._pixels[first + i // 3] = (colours[i], colours[i + 1], colours[i + 2])

    def show(self) -> bool:
        """Send the pixels to the strip."""
        self.strip = list(self._pixels)
        return True

    def calm(self) -> None:
        """This start has lived for a while."""
        self.early = 0

    def feed(self) -> None:
        """Feed the watchdog."""
        self.fed += 1

    def light(self, state: str) -> None:
        """Set the board's own lamp."""
        self.state = state

    def arrive(self, data: bytes) -> None:
        """Take bytes from the host; what does not fit is lost and counted, as on a full USB buffer."""
        room = INBOX_BYTES - len(self._inbox)
        if len(data) > room:
            self.overflows += 1
        self._inbox += data[:room]

    def _taken(self) -> int:
        """How many samples the converter has taken since virtual time 0."""
        return self._world.ns * self.SAMPLE_HZ * self._mega // 1_000_000_000_000_000_000


def _as_qmc5883p(words: bytes) -> bytes:
    """Return what a QMC5883P says where a QMC5883L says `words`, three i16."""
    maps = pinmap().magnetometers
    scale = maps.qmc5883p_counts_per_ut / maps.counts_per_ut
    return struct.pack("<3h", *(round(scale * word) for word in struct.unpack("<3h", words)))
