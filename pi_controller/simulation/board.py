"""The simulated mat board: the interface of `firmware/sampler.py` to a board, over a `World` instead of pins.

It has its own crystal (offset and drift against virtual time), a converter with a short ring of blocks that drops the
oldest when full, and counters that continue until the next boot. Not evidence about a real board.
"""

import struct
from collections.abc import Callable

import numpy as np

from pi_controller.board import wire
from pi_controller.board.interfaces import Rgb
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.pad_bias import Bias
from pi_controller.simulation.piezo_discs import NEVER
from pi_controller.simulation.touch_strips import REST
from pi_controller.simulation.world import World

RING_BLOCKS = 16
"""Finished blocks stored for the firmware: 128 ms."""
INBOX_BYTES = 4096
SETTLING_SAMPLES = 400
"""Samples after which a pad is at its rest again after its bias is switched on."""
NOISE_SUMS = 18.0
"""Noise of a sample of a pad without a disc: 1.15 counts of a reading, 16 of them added."""
POWER_ON = wire.POWER
WATCHDOG = wire.WATCHDOG
"""Reasons of a start."""


class SimBoard:
    """One boot of the board. It writes frames with `send`; `arrive` delivers the host's bytes."""

    bias_is_switched = True
    """False for a mat whose bias resistors hang on 3.3 V."""

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
        """Number of starts in a row, including this one, without a long enough run before."""
        self.news: list[tuple[int, int]] = []
        """Bus events for the firmware: kind and value."""
        self.work = 0
        """Increases with each action of the firmware; a pass of its loop that leaves it unchanged was idle."""
        built = pins.magnetometers_built(world.conditions.magnetometers)
        self._plugged = [i for i, there in enumerate(built) if there]  # what hangs on each channel
        self.build(wire.ALL_MAGNETS)
        self.magnets = wire.QMC5883L
        """The kind of its magnetometers, as a code of `wire`."""
        self.wiring = 0
        """What is wrong with the bus's two lines, as the value of `wire.WIRING`."""
        self.discs = Bias(world.seed)
        self._settled_at = 0
        """Sample from which on the bias has no more effect."""
        self.overflows = 0
        self.i2c_errors = 0
        self.state = ""
        self.fed = 0
        self.strip: list[Rgb] = [(0, 0, 0)] * self.PIXELS
        """Pixels shown by the light strip on the board."""
        self._pixels = list(self.strip)
        self.world = world
        self._send = send
        self._inbox = bytearray()
        self._mega = 1_000_000_000 + world.conditions.clock_ppb
        if up_s is None:
            up_s = float(rng(world.seed, Stream.CLOCK, boot_count).uniform(3.0, 90.0))
        # Align the boot to the block grid: sample n of this boot is at board time n / SAMPLE_HZ.
        self._boot = (self._samples_taken() - int(up_s * self.SAMPLE_HZ)) // self.BLOCK * self.BLOCK
        self._next = -(-self._samples_taken() // self.BLOCK) * self.BLOCK

    def now_us(self) -> int:
        """Return microseconds since boot on the board's own crystal."""
        return self.world.ns * self._mega // 1_000_000_000_000 - self._boot * 1_000_000 // self.SAMPLE_HZ

    def ticks(self) -> int:
        """Return `now_us` modulo 2 ** 30."""
        return self.now_us() & 0x3FFFFFFF

    def piezo(self, buf: bytearray) -> int:
        """Fill `buf` with the oldest finished block, u16 little endian, and return its number since boot, or -1."""
        taken = self._samples_taken()
        if self._next + self.BLOCK > taken:
            return -1
        waiting = (taken - self._next) // self.BLOCK
        if waiting > RING_BLOCKS:
            lost = waiting - RING_BLOCKS
            self.overflows += lost
            self._next += lost * self.BLOCK
        self.work += 1
        first = self._next
        buf[:] = self.world.piezo.block(first)
        if first < self._settled_at or not self.discs.farads.all():
            self._apply_bias(buf, first)
        self._next = first + self.BLOCK
        return (first - self._boot) // self.BLOCK

    def bias(self, on: int) -> None:
        """Switch the pads' bias, if the mat has it on the pin."""
        self.work += 1
        if self.bias_is_switched:
            self.discs.switch(on=bool(on), t=self.world.t)
            self._settled_at = self._samples_taken() + SETTLING_SAMPLES if on else NEVER

    def _apply_bias(self, buf: bytearray, first: int) -> None:
        """Give a block the level of each pad's bias; a pad without a disc has only the converter's noise."""
        sums = np.frombuffer(buf, "<u2").reshape(-1, self.PADS)
        noise = rng(self.world.seed, Stream.PIEZO, 1, first).normal(0.0, NOISE_SUMS, sums.shape)
        felt = np.where(self.discs.farads > 0.0, sums, wire.REST + noise)
        t = (first + np.arange(len(sums), dtype=np.float64) + 0.5) / (self.SAMPLE_HZ * self._mega / 1_000_000_000)
        sums[:] = np.clip(np.rint(felt - wire.REST * (1.0 - self.discs.levels(t))), 0, wire.TOP)

    def touch(self, buf: bytearray) -> bool:
        """Fill `buf` with the twelve counts, u16 little endian; return False on a bus error."""
        self.work += 1
        counts = self.world.strips.read(self.world.t, self.world.hands.values())
        if counts is None:
            self.i2c_errors += 1
            return False
        buf[:] = counts
        return True

    def charge(self, buf: bytearray) -> bool:
        """Fill `buf` with the current and the time that charge each strip, as the touch chip's registers have them."""
        self.work += 1
        buf[:] = bytes(len(buf))
        for n, pf in enumerate(self.world.strips.picofarads.tolist()):
            pc = pf * 3.3 * REST / 1024.0
            time = next(time for time in range(1, 8) if pc <= 63 * 2.0 ** (time - 2))
            buf[n] = round(pc / 2.0 ** (time - 2))
            buf[13 + n // 2] |= time << 4 * (n % 2)
        return True

    def check_wiring(self) -> int:
        """Return the value of `wire.WIRING`, 0 for a sound bus."""
        return self.wiring

    def build(self, built: int) -> None:
        """Number the magnetometers as those of a mat that has the ones whose bits are set in `built`."""
        self.work += 1
        self._nth = [(built & (1 << i) - 1).bit_count() for i in range(wire.MAGNETS)]

    def place_on_bus(self, i: int) -> int:
        """Return which of the built magnetometers number `i` is: channel n % 8 of multiplexer n // 8."""
        return self._nth[i]

    def magnet(self, i: int, buf: bytearray, at: int) -> bool | None:
        """Put magnetometer `i` into `buf[at:at + 6]`, i16 little endian; return False if silent, None if saturated."""
        self.work += 1
        if self._nth[i] >= len(self._plugged):
            self.i2c_errors += 1
            return False
        i = self._plugged[self._nth[i]]
        words = self.world.magnets.read(i, self.world.t)
        if words is None:
            failed = self.world.magnets.has_failed(i)
            self.i2c_errors += failed
            return False if failed else None
        if self.magnets == wire.QMC5883P:
            words = _as_qmc5883p(words)
        buf[at : at + 6] = words
        return True

    def read(self) -> bytes:
        """Return the host's bytes since the last call."""
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
        """Return immediately: frames are never buffered."""

    def paint(self, first: int, colours: bytes) -> None:
        """Set the pixels from `first` on to `colours`: red, green, blue of each."""
        self.work += 1
        for i in range(0, len(colours), 3):
            self._pixels[first + i // 3] = (colours[i], colours[i + 1], colours[i + 2])

    def show(self) -> bool:
        """Send the pixels to the strip; return True."""
        self.strip = list(self._pixels)
        return True

    def calm(self) -> None:
        """Record that the program has run long enough since its start."""
        self.early = 0

    def feed(self) -> None:
        """Feed the watchdog."""
        self.fed += 1

    def light(self, state: str) -> None:
        """Set the board's own lamp."""
        self.state = state

    def arrive(self, data: bytes) -> None:
        """Receive bytes from the host; an overflow is dropped and counted, as in a full USB buffer."""
        room = INBOX_BYTES - len(self._inbox)
        if len(data) > room:
            self.overflows += 1
        self._inbox += data[:room]

    def _samples_taken(self) -> int:
        """Return the number of converter samples since virtual time 0."""
        return self.world.ns * self.SAMPLE_HZ * self._mega // 1_000_000_000_000_000_000


def _as_qmc5883p(words: bytes) -> bytes:
    """Convert three i16 from a QMC5883L's scale to a QMC5883P's."""
    maps = pinmap().magnetometers
    scale = maps.qmc5883p_counts_per_ut / maps.counts_per_ut
    return struct.pack("<3h", *(round(scale * word) for word in struct.unpack("<3h", words)))
