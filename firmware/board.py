"""The mat board itself: an RP2040 with four piezos, an MPR121 and 24 QMC5883L behind three TCA9548A. MicroPython >= 1.23.

`Board` is the face that `sampler.py` works with; everything that knows a pin, a register or a chip is in this file.
The constants are those of `hardware/pinmap.toml`; a test compares them.
"""

import os
import select
import sys
import time

import machine
import micropython
import rp2
import uctypes

import wire
from lights import Lamp, Pixels

ADC_PINS = (26, 27, 28, 29)
SAMPLE_HZ = 4000
BLOCK = 32
PADS = 4
SDA = 4
SCL = 5
I2C_HZ = 400000
MPR121 = 0x5A
MUXES = (0x70, 0x71, 0x72)
QMC5883L = 0x0D
TOUCH_HZ = 50
MAGNET_HZ = 20
STRIP_PIN = 6
PIXELS = 69

WATCHDOG_MS = 2000
RETRY_US = 1_000_000  # a sensor that does not answer is asked again once a second

_ADC = 0x4004C000
_CS = _ADC
_FCS = _ADC + 0x08
_FIFO = _ADC + 0x0C
_DIV = _ADC + 0x10
_ON = 1
_START_MANY = 1 << 3
_ROUND_ROBIN = 0xF << 16
_FIFO_ON = 1 | 1 << 3 | 1 << 24  # with DMA requests, from the first value on
_FIFO_EMPTY = 1 << 8
_FIFO_OVER = 1 << 11
_FIFO_CLEAR = 1 << 10 | 1 << 11
_ADC_CLOCK = 48_000_000
_DREQ_ADC = 36

_BLOCK_BYTES = 2 * PADS * BLOCK
_RING_BITS = 13
_RING_BYTES = 1 << _RING_BITS  # 256 ms: longer than any pass of the loop, a slow host included
_RING_BLOCKS = _RING_BYTES // _BLOCK_BYTES
_MOST = 0x3FFFFC00  # transfers a DMA run, below a small integer's end: 18.6 h, then one block is lost


@micropython.viper
def crc16(data, n: int) -> int:
    """CRC-16/CCITT-FALSE, as `wire.crc16`, in machine code."""
    source = ptr8(data)
    crc = 0xFFFF
    for i in range(n):
        x = (crc >> 8) ^ source[i]
        x = x ^ (x >> 4)
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


class Piezos:
    """The converter goes round the four pins by itself and DMA carries each value into a ring; nothing is copied by hand."""

    def __init__(self):
        raw = bytearray(2 * _RING_BYTES)
        skip = -uctypes.addressof(raw) % _RING_BYTES  # the ring must lie on a multiple of its size
        view = memoryview(raw)
        self._base = uctypes.addressof(raw) + skip
        self._blocks = [
            view[skip + i * _BLOCK_BYTES : skip + (i + 1) * _BLOCK_BYTES] for i in range(_RING_BLOCKS)
        ]
        self._pins = [machine.ADC(machine.Pin(pin)) for pin in ADC_PINS]
        self._dma = rp2.DMA()
        self._start_us = 0
        self._first = 0
        self._taken = 0
        self.overflows = 0

    def start(self, now):
        """Begin a run at board time `now` (us), pin 1 first."""
        mem32 = machine.mem32
        mem32[_CS] = _ON
        self._dma.active(0)
        mem32[_FCS] = _FIFO_ON | _FIFO_CLEAR
        while not mem32[_FCS] & _FIFO_EMPTY:
            mem32[_FIFO]
        mem32[_DIV] = (_ADC_CLOCK // (SAMPLE_HZ * PADS) - 1) << 8
        self._dma.config(
            read=_FIFO,
            write=self._base,
            count=_MOST,
            ctrl=self._dma.pack_ctrl(
                size=1, inc_read=False, inc_write=True, ring_size=_RING_BITS, ring_sel=True, treq_sel=_DREQ_ADC
            ),
            trigger=True,
        )
        mem32[_CS] = _ON | _START_MANY | _ROUND_ROBIN
        self._start_us = now
        self._first = (now * SAMPLE_HZ + 500_000) // 1_000_000
        self._taken = 0

    def _finished(self, now):
        # the address says where in the ring the DMA is; the clock, which runs from the same crystal, how often round
        ring = _RING_BYTES // 2
        address = self._dma.write  # pyright: ignore[reportAttributeAccessIssue]  # the stubs lack it
        place = ((address - self._base) & (_RING_BYTES - 1)) >> 1
        expected = (now - self._start_us) * (SAMPLE_HZ * PADS) // 1_000_000
        turns = max((expected - place + ring // 2) // ring, 0)
        return (turns * ring + place) // (PADS * BLOCK)

    def take(self, buf, now):
        """Copy the oldest finished block into `buf`; return the number of its first sample, or -1."""
        if machine.mem32[_FCS] & _FIFO_OVER or not self._dma.active():
            self.overflows += 1  # values are missing, so the pins may have changed places: begin again
            self.start(now)
            return -1
        finished = self._finished(now)
        if finished - self._taken > _RING_BLOCKS - 2:
            self.overflows += finished - 1 - self._taken
            self._taken = finished - 1
        if finished <= self._taken:
            return -1
        buf[:] = self._blocks[self._taken % _RING_BLOCKS]
        index = self._first + self._taken * BLOCK
        self._taken += 1
        return index


class Bus:
    """I2C that counts its errors and frees itself from a chip that holds the data line; `news` tells of that."""

    def __init__(self, news):
        self.errors = 0
        self._news = news
        self._row = 0
        self._open()

    def _open(self):
        self._i2c = machine.I2C(0, sda=machine.Pin(SDA), scl=machine.Pin(SCL), freq=I2C_HZ, timeout=2000)

    def put(self, address, data):
        """Write `data`; False when the chip does not answer."""
        try:
            self._i2c.writeto(address, data)
        except OSError:
            return self._failed()
        self._row = 0
        return True

    def get(self, address, register, buf):
        """Read from `register` on into `buf`; False when the chip does not answer."""
        try:
            self._i2c.readfrom_mem_into(address, register, buf)
        except OSError:
            return self._failed()
        self._row = 0
        return True

    def _failed(self):
        self.errors += 1
        self._row += 1
        if self._row % 8 == 0:
            self.recover()
        return False

    def recover(self):
        """Clock until the chip in the middle of a byte lets go, say stop, and open the bus anew."""
        scl = machine.Pin(SCL, machine.Pin.OPEN_DRAIN, value=1)
        sda = machine.Pin(SDA, machine.Pin.OPEN_DRAIN, value=1)
        time.sleep_us(5)
        stuck = not sda()
        if stuck:
            self._news.append((wire.BUS_STUCK, self._row))
        clocks = 0
        while clocks < 9 and (clocks == 0 or not sda()):  # once in any case: the chip may be about to send a 1
            clocks += 1
            scl(0)
            time.sleep_us(5)
            scl(1)
            time.sleep_us(5)
        if stuck and sda():
            self._news.append((wire.BUS_FREE, clocks))
        sda(0)
        time.sleep_us(5)
        sda(1)
        self._open()


class Strips:
    """MPR121: 12 electrodes, filtered data. The chip's own baseline stays off: it swallows a hand that rests."""

    _SET_UP = (
        b"\x80\x63",  # reset
        b"\x5e\x00",  # stop
        b"\x5c\x10",  # 6 samples, 16 uA
        b"\x5d\x21",  # 0.5 us, 4 samples, every 2 ms: a value each 8 ms
        b"\x7b\x09",  # find each electrode's current and time, once
        b"\x7d\xc9",  # for 3.3 V: upper limit,
        b"\x7e\x82",  # lower limit,
        b"\x7f\xb5",  # target: about 724 counts
        b"\x5e\x4c",  # run, 12 electrodes, no baseline
    )

    def __init__(self, bus):
        self._bus = bus
        self._ready = False
        self._again = 0

    def read(self, buf, now):
        """Read all electrodes, 12 x u16; False on a bus error."""
        if not self._ready:
            if now < self._again:
                return False
            self._again = now + RETRY_US
            self._ready = all(self._bus.put(MPR121, pair) for pair in self._SET_UP)
            return False  # the first values come in some milliseconds
        self._ready = self._bus.get(MPR121, 0x04, buf) and any(buf)  # all zero: the chip has started anew
        return self._ready


class Magnets:
    """24 QMC5883L, all with one address: a multiplexer's channel is chosen for each."""

    _SET_UP = (
        b"\x0a\x80",  # reset
        b"\x0b\x01",  # set/reset period, as its maker says
        b"\x09\x19",  # 512 samples, +-8 gauss, 100 Hz, continuous
    )

    def __init__(self, bus):
        self._bus = bus
        self._mux = 0
        self._ready = [False] * wire.MAGNETS
        self._again = [0] * wire.MAGNETS
        self._status = bytearray(1)
        self._channel = bytearray(1)

    def _choose(self, i):
        mux = MUXES[i >> 3]
        if mux != self._mux:
            if self._mux and not self._bus.put(self._mux, b"\0"):  # two open channels would answer together
                return False
            self._mux = mux
        self._channel[0] = 1 << (i & 7)
        return self._bus.put(mux, self._channel)

    def read(self, i, buf, at, now):
        """Read magnetometer `i` into buf[at:at+6]; False when it is silent, None when it is saturated."""
        if not self._ready[i]:
            if now < self._again[i]:
                return False
            self._again[i] = now + RETRY_US
            self._ready[i] = self._choose(i) and all(self._bus.put(QMC5883L, pair) for pair in self._SET_UP)
            return False
        status = self._status
        if not (self._choose(i) and self._bus.get(QMC5883L, 0x06, status) and status[0] & 1):
            self._ready[i] = False  # no answer, or it does not measure: set it up again
            return False
        if not self._bus.get(QMC5883L, 0x00, memoryview(buf)[at : at + 6]):
            return False
        return None if status[0] & 2 else True


class Board:
    """The face of the board. Times in microseconds since boot."""

    SAMPLE_HZ = SAMPLE_HZ
    BLOCK = BLOCK
    PADS = PADS
    TOUCH_HZ = TOUCH_HZ
    MAGNET_HZ = MAGNET_HZ
    PIXELS = PIXELS

    def __init__(self):
        micropython.kbd_intr(-1)  # pyright: ignore[reportAttributeAccessIssue]  # a 3 in a frame is no Ctrl-C
        wire.crc16 = crc16
        self.id = machine.unique_id()
        self.boot_reason = machine.reset_cause()
        self.boot_count, self.early = count_boot(self.boot_reason == machine.PWRON_RESET)
        self.news = []
        self._ticks = time.ticks_us()
        self._us = 0
        self._line = 0
        self._heard = select.poll()
        self._heard.register(sys.stdin, select.POLLIN)
        self._free = select.poll()
        self._free.register(sys.stdout, select.POLLOUT)
        self._lamp = Lamp()
        self._pixels = Pixels(STRIP_PIN, PIXELS)
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
        """Return what the host has sent, at most 64 bytes, without waiting."""
        poll, stream = self._heard.poll, sys.stdin.buffer
        data = b""
        while len(data) < 64 and poll(0):
            byte = stream.read(1)
            data += byte
            if self._line < 2 or byte == b"\0":
                self._watch(byte[0])
        return data

    def _watch(self, byte):
        # "\r\x03" at the start of a frame is no frame but mpremote: let it in
        if self._line == 1 and byte == 3:
            stay()
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
            keep_boots(self.boot_count, 0)

    def feed(self):
        """Tell the watchdog that the loop runs, and let the lamp blink."""
        self._watchdog.feed()
        self._lamp.step(time.ticks_ms())

    def light(self, state):
        """Show "wait", "run" or "fault" on the lamp."""
        self._lamp.state = state

    def fail(self, error):
        """Keep the trace of `error` in fault.txt and start anew."""
        with open("fault.txt", "w") as file:
            sys.print_exception(error, file)
        machine.reset()


def count_boot(power):
    """Add one to the starts kept in the file `boots`; return that and how many in a row came early, this one included.

    A start that is not from `power` neither counts as early nor ends the row.
    """
    boots = early = 0
    try:
        with open("boots") as file:
            words = file.read().split()
        boots = int(words[0])
        early = int(words[1])
    except (OSError, ValueError, IndexError):  # the first start, or an older program's file
        pass
    boots = boots + 1 & 0xFFFFFFFF
    early = min(early + 1, 255) if power else early
    keep_boots(boots, early)
    return boots, early


def keep_boots(boots, early):
    """Write the file `boots`, whole or not at all."""
    with open("boots.new", "w") as file:
        file.write("%d %d" % (boots, early))
    os.rename("boots.new", "boots")


def stay():
    """Start anew without the mat's program, and without its watchdog, for somebody who wants to copy files."""
    with open("stay", "w"):
        pass
    machine.reset()


def asked_to_stay():
    """Return whether this start was asked for by `stay`; the next will be an ordinary one."""
    try:
        os.remove("stay")
    except OSError:
        return False
    return True


def programming():
    """Let the lamp say that files may be copied; the mat does not run."""
    lamp = Lamp()
    lamp.state = "program"
    machine.Timer(-1, period=100, mode=machine.Timer.PERIODIC, callback=lambda _: lamp.step(time.ticks_ms()))
