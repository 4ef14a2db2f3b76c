"""The mat board itself: its chip, piezos (`adc.py`), chips on the bus (`i2c.py`), lights and USB. MicroPython >= 1.23.

`Board` is the face that `sampler.py` works with; everything that knows a pin, a register or a chip is behind it.
"""

# the stubs' ticks cannot be compared:
# pyright: reportOperatorIssue=false
import sys
import time

import machine
import micropython

import guards
import starts
import wire
import wiring
from adc import Piezos, make_ring
from chip import CHIP_RESET, HAD_POWER, WATCHDOG
from i2c import Bus, Magnets, Strips
from lights import Lamp, Pixels
from port import Port

WATCHDOG_MS = 2000
_BLINK_US = 20_000  # the lamp is looked at so often
_REASON = WATCHDOG + 0x08  # bit 0 it bit, bit 1 a program asked for the reset; neither after the chip's own


@micropython.viper
def put(body, at: int, number: int, times: int, more: int):
    """Write a number of 64 bits, as `wire.put`, in machine code."""
    to = ptr8(body)
    low = (number & 0xFFFF) * times + more
    high = (number >> 16) * times + (low >> 16)
    to[at] = low & 0xFF
    to[at + 1] = low >> 8 & 0xFF
    to[at + 2] = high & 0xFF
    to[at + 3] = high >> 8 & 0xFF
    to[at + 4] = high >> 16 & 0xFF
    to[at + 5] = high >> 24 & 0xFF
    to[at + 6] = 0
    to[at + 7] = 0


@micropython.viper
def jolt(block, least: int) -> int:
    """As `guards.jolt`, in machine code."""
    of = ptr8(block)  # it lies on an odd address
    size = int(len(block))
    at = 16
    while at < size:
        moved = (of[at] | of[at + 1] << 8) - (of[at - 16] | of[at - 15] << 8)
        if moved >= least or moved <= 0 - least:
            return (size - at + 7) >> 3
        at += 2
    return 0


def start_reason():
    """Return why the board has started: `wire.POWER`, `BUTTON`, `WATCHDOG` or `RESTART`.

    MicroPython's `reset_cause` knows the watchdog from all else, and no more; `machine.reset` is a watchdog's reset.
    """
    asked = machine.mem32[_REASON]
    if asked & 1:
        return wire.WATCHDOG
    if asked & 2:
        return wire.RESTART
    return wire.POWER if machine.mem32[CHIP_RESET] & HAD_POWER else wire.BUTTON


class Board:
    """The face of the board, as `sampler.py` asks for it; what is another file's method has no other one before it."""

    SAMPLE_HZ = wiring.SAMPLE_HZ
    BLOCK = wiring.BLOCK
    PADS = wiring.PADS
    TOUCH_HZ = wiring.TOUCH_HZ
    MAGNET_HZ = wiring.MAGNET_HZ
    PIXELS = wiring.PIXELS

    def __init__(self, ring=None):
        wire.put = put
        guards.jolt = jolt
        self.id = machine.unique_id()
        self.boot_reason = start_reason()
        self.boot_count, self.early = starts.count_boot(self.boot_reason == wire.POWER)
        self.news = []
        self.ticks = time.ticks_us
        self._began = self._ticks = time.ticks_us()
        self._turns = 0
        self._blinked = self._ticks
        self._alive = False
        self.bias = machine.Pin(wiring.BIAS_PIN, machine.Pin.OUT, value=1)  # called with 0 or 1
        self._port = Port(starts.stay)
        self.read = self._port.read
        self.send = self._port.send
        self.flush = self._port.flush
        self._lamp = Lamp()
        self._pixels = Pixels(wiring.STRIP_PIN, wiring.PIXELS)
        self._bus = Bus(self.news)
        self.check_wiring = self._bus.check_wiring
        self._strips = Strips(self._bus)
        self.touch = self._strips.read
        self.charge = self._strips.charge
        self._magnets = Magnets(self._bus)
        self.magnet = self._magnets.read
        self.build = self._magnets.build
        self._piezos = Piezos(self.now_us, ring or make_ring())
        self.piezo = self._piezos.take
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)
        self._piezos.start()

    def now_us(self):
        """Microseconds since boot; never wraps, as long as `feed` is called once in 17 minutes."""
        ticks = time.ticks_us()
        if ticks < self._ticks:
            self._turns += 1
        self._ticks = ticks
        return (self._turns << 30) + ticks

    @property
    def overflows(self):
        """Blocks lost since boot."""
        return self._piezos.overflows

    @property
    def magnets(self):
        """The kind of magnetometer that answered, `wire.QMC5883L` or `wire.QMC5883P`; 0 before one has."""
        return self._magnets.kind

    @property
    def i2c_errors(self):
        """Bus errors since boot."""
        return self._bus.errors

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

    @micropython.native
    def feed(self):
        """Tell the watchdog that the loop runs, and let the lamp blink."""
        self._watchdog.feed()
        ticks = time.ticks_us()
        if ticks < self._ticks:
            self._turns += 1
        self._ticks = ticks
        if not self._alive and (self._turns or ticks - self._began > starts.LIVED_US):
            self._alive = True
            starts.lived()
        if ticks - self._blinked & 0x3FFFFFFF > _BLINK_US:
            self._blinked = ticks
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
