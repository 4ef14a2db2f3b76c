"""The chips on I2C: one MPR121, and 24 QMC5883L behind three TCA9548A. MicroPython >= 1.23."""

import time

import machine
import wire
from wiring import I2C_HZ, MPR121, MUXES, QMC5883L, SCL, SDA

RETRY_US = 1_000_000  # a sensor that does not answer is asked again once a second
_BUS = SDA >> 1 & 1  # which of the two controllers has these pins: 0 and 1, 4 and 5... or 2 and 3, 6 and 7...


class Bus:
    """I2C that counts its errors and frees itself from a chip that holds the data line; `news` tells of that."""

    def __init__(self, news):
        self.errors = 0
        self._news = news
        self._row = 0
        self._open()

    def _open(self):
        self._i2c = machine.I2C(_BUS, sda=machine.Pin(SDA), scl=machine.Pin(SCL), freq=I2C_HZ, timeout=2000)

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
