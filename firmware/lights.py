"""The lights on the board's pins: the table's WS2812 strip, and the board's own lamp. MicroPython >= 1.23."""

import array
import os
import time

import machine
import rp2

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython
    TYPE_CHECKING = False
if TYPE_CHECKING:
    from rp2.asm_pio import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]

_PIO_HZ = 8_000_000  # ten cycles a bit: 1.25 us
_LATCH_US = 300  # a WS2812B takes the frame when the wire has been low for 280 us
_TXF = 0x50200010  # PIO 0, state machine 0; this and its DREQ are the same on RP2040 and RP2350
_DREQ = 0


@rp2.asm_pio(
    sideset_init=rp2.PIO.OUT_LOW,
    out_shiftdir=rp2.PIO.SHIFT_LEFT,
    autopull=True,
    pull_thresh=24,
    fifo_join=rp2.PIO.JOIN_TX,
)
def ws2812():
    """One pixel for each word, its highest 24 bits: high 0.375 us for a 0, 0.875 us for a 1, of 1.25 us each."""
    wrap_target()  # noqa: F405
    label("bit")  # noqa: F405
    out(x, 1).side(0)[2]  # noqa: F405
    jmp(not_x, "nought").side(1)[2]  # noqa: F405
    jmp("bit").side(1)[3]  # noqa: F405
    label("nought")  # noqa: F405
    nop().side(0)[3]  # noqa: F405
    wrap()  # noqa: F405


class Pixels:
    """A strip of `count` WS2812 on `pin`. DMA carries a frame to the state machine: 30 us a pixel, and nobody waits."""

    def __init__(self, pin, count):
        self._words = array.array("I", [0] * count)
        self._machine = rp2.StateMachine(0, ws2812, freq=_PIO_HZ, sideset_base=machine.Pin(pin))
        self._machine.active(1)
        self._dma = rp2.DMA()
        self._ctrl = self._dma.pack_ctrl(size=2, inc_write=False, treq_sel=_DREQ)
        self._takes = 30 * count + _LATCH_US + 100  # the FIFO holds eight pixels more when the DMA is done
        self._began = time.ticks_us()

    def paint(self, first, colours):
        """Give the pixels from `first` on their `colours`: red, green, blue of each."""
        words = self._words
        at = 0
        while at < len(colours):
            # green leaves first; a word's lowest byte is not sent
            words[first] = colours[at + 1] << 24 | colours[at] << 16 | colours[at + 2] << 8
            first += 1
            at += 3

    def show(self, ticks):
        """Begin to send the frame; False while the one before is on its way."""
        if 0 <= time.ticks_diff(ticks, self._began) < self._takes:
            return False
        self._began = ticks
        self._dma.config(read=self._words, write=_TXF, count=len(self._words), ctrl=self._ctrl, trigger=True)
        return True


PATTERNS = {
    "wait": (100, 2000),  # a short blink each two seconds: no host
    "run": (1, 1),  # lit
    "fault": (250, 500),  # two blinks a second: a piezo, the touch chip or the bus
    "program": (1000, 2000),  # a second lit, a second dark
}
"""State -> for how many milliseconds of how many the lamp is lit. Nothing changes faster than 3 Hz."""

LEDS = {
    "Feather RP2040": 13,
    "KB2040": -17,
    "QT Py RP2040": -12,
    "RP2040-Zero": -16,
    "RP2350-Zero": -16,
}
"""A part of the machine's name -> the pin of its plain LED, or minus the pin of its one pixel."""
POWER = {"QT Py RP2040": 11}
"""Boards whose pixel has a pin for its supply."""
_DIM = b"\x08\x08\x08"
_TIMING = (400, 850, 800, 450)


def machine_name():
    """Return the board's name: from the file `machine` where there is one, else what MicroPython was built for.

    Some boards run another board's MicroPython, mostly the Pico's.
    """
    try:
        with open("machine") as file:
            return file.read().strip()
    except OSError:
        return os.uname().machine


class Lamp:
    """The board's own lamp, plain or one pixel; on a board with neither it does nothing."""

    def __init__(self):
        self.state = "wait"
        self.on = False
        self._pin = self._pixel = None
        name = machine_name()
        for part, pin in LEDS.items():
            if part in name:
                if part in POWER:
                    machine.Pin(POWER[part], machine.Pin.OUT, value=1)
                if pin < 0:
                    self._pixel = machine.Pin(-pin, machine.Pin.OUT, value=0)
                else:
                    self._pin = machine.Pin(pin, machine.Pin.OUT, value=0)
                break
        else:
            try:
                self._pin = machine.Pin("LED", machine.Pin.OUT)
            except (TypeError, ValueError):
                pass
        self._show()

    def step(self, ms):
        """Blink as the time wants it."""
        lit, period = PATTERNS[self.state]
        on = ms % period < lit
        if on != self.on:
            self.on = on
            self._show()

    def _show(self):
        if self._pin is not None:
            self._pin(1 if self.on else 0)
        elif self._pixel is not None:
            machine.bitstream(self._pixel, 0, _TIMING, _DIM if self.on else b"\0\0\0")
