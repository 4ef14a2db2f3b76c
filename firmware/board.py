"""The mat board itself: an RP2040, its piezos (`adc.py`), chips (`i2c.py`) and lights, and USB. MicroPython >= 1.23.

`Board` is the face that `sampler.py` works with; everything that knows a pin, a register or a chip is behind it.
"""

import select
import sys
import time

import machine
import micropython

import frames
import starts
import wiring
from adc import Piezos
from i2c import Bus, Magnets, Strips
from lights import Lamp, Pixels

WATCHDOG_MS = 2000
_MOST = 64  # bytes of the host in one pass


@micropython.viper
def crc16(data, n: int) -> int:
    """CRC-16/CCITT-FALSE, as `frames.crc16`, in machine code."""
    source = ptr8(data)
    crc = 0xFFFF
    for i in range(n):
        x = (crc >> 8) ^ source[i]
        x = x ^ (x >> 4)
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


class Board:
    """The face of the board. Times in microseconds since boot."""

    SAMPLE_HZ = wiring.SAMPLE_HZ
    BLOCK = wiring.BLOCK
    PADS = wiring.PADS
    TOUCH_HZ = wiring.TOUCH_HZ
    MAGNET_HZ = wiring.MAGNET_HZ
    PIXELS = wiring.PIXELS

    def __init__(self):
        frames.crc16 = crc16
        self.id = machine.unique_id()
        self.boot_reason = machine.reset_cause()
        self.boot_count, self.early = starts.count_boot(self.boot_reason == machine.PWRON_RESET)
        self.news = []
        self._ticks = time.ticks_us()
        self._us = 0
        self._alive = False
        self._line = 0
        self._one = bytearray(1)
        self._data = bytearray(_MOST)
        self._view = memoryview(self._data)
        self._heard = select.poll()
        self._heard.register(sys.stdin, select.POLLIN)
        self._free = select.poll()
        self._free.register(sys.stdout, select.POLLOUT)
        self._lamp = Lamp()
        self._pixels = Pixels(wiring.STRIP_PIN, wiring.PIXELS)
        self._bus = Bus(self.news)
        self._strips = Strips(self._bus)
        self._magnets = Magnets(self._bus)
        self._piezos = Piezos()
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)
        self._piezos.start(self.now_us())

    def now_us(self):
        """Microseconds since boot; never wraps, as long as it is called once in eight minutes."""
        ticks = time.ticks_us()
        self._us += int(time.ticks_diff(ticks, self._ticks))
        self._ticks = ticks
        return self._us

    @property
    def overflows(self):
        """Blocks lost since boot."""
        return self._piezos.overflows

    @property
    def i2c_errors(self):
        """Bus errors since boot."""
        return self._bus.errors

    def piezo(self, buf):
        """Fill `buf` with the oldest finished block; return the number of its first sample, or -1."""
        return self._piezos.take(buf, self.now_us())

    def touch(self, buf):
        """Fill `buf` with 12 x u16; False on a bus error."""
        return self._strips.read(buf, self.now_us())

    def magnet(self, i, buf, at):
        """Read magnetometer `i` into buf[at:at+6]; False when it is silent, None when it is saturated."""
        return self._magnets.read(i, buf, at, self.now_us())

    def read(self):
        """Return what the host has sent, at most `_MOST` bytes, without waiting."""
        # a byte at a time: MicroPython's stdin waits until it has as many bytes as it was asked for, and tells nobody
        # how many there are. At least nothing is made anew for each.
        poll, into = self._heard.poll, sys.stdin.buffer.readinto
        one, data = self._one, self._data
        n = 0
        while n < _MOST and poll(0):
            into(one)
            byte = data[n] = one[0]
            n += 1
            if self._line < 2 or byte == 0:
                self._watch(byte)
        return bytes(self._view[:n]) if n else b""

    def _watch(self, byte):
        # "\r\x03" at the start of a frame is no frame but mpremote: let it in
        if self._line == 1 and byte == 3:
            starts.stay()
        if byte == 0:
            self._line = 0
        else:
            self._line = 1 if self._line == 0 and byte == 13 else 2

    def write(self, data):
        """Send; when the host does not take it, drop it whole (its number will be missing) rather than wait."""
        if self._free.poll(0):
            sys.stdout.buffer.write(data)

    def paint(self, first, colours):
        """Give the pixels from `first` on the `colours`: red, green, blue of each. Nothing is seen before `show`."""
        self._pixels.paint(first, colours)

    def show(self):
        """Send the pixels to the strip, which waits for nothing; False while the last frame is still on its way."""
        return self._pixels.show(time.ticks_us())

    def calm(self):
        """This start has lived for a while: it is none of a row of early deaths."""
        if self.early:
            starts.keep_boots(self.boot_count, 0)

    def feed(self):
        """Tell the watchdog that the loop runs, and let the lamp blink."""
        self._watchdog.feed()
        if not self._alive and self._us > starts.LIVED_US:
            self._alive = True
            starts.lived()
        self._lamp.step(time.ticks_ms())

    def light(self, state):
        """Show "wait", "run" or "fault" on the lamp."""
        self._lamp.state = state

    def fail(self, error):
        """Keep the trace of `error` in fault.txt and start anew."""
        with open("fault.txt", "w") as file:
            sys.print_exception(error, file)
        machine.reset()


def programming():
    """Let the lamp say that files may be copied; the mat does not run."""
    lamp = Lamp()
    lamp.state = "program"
    machine.Timer(-1, period=100, mode=machine.Timer.PERIODIC, callback=lambda _: lamp.step(time.ticks_ms()))
