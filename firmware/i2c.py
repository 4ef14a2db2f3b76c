"""The chips on I2C: one MPR121, and 24 QMC5883L or QMC5883P behind three TCA9548A. MicroPython >= 1.23."""

import time

import machine
import micropython
import wire
from wiring import I2C_HZ, MPR121, MUXES, QMC5883L, QMC5883P, SCL, SDA

RETRY_US = 1_000_000  # a sensor that does not answer is asked again once a second
_ALL = (1 << len(MUXES)) - 1
_ABSENT, _RESET, _READY = 0, 1, 2  # a chip's state; after a reset it is left alone until its next turn, 20 ms or more
_BUS = SDA >> 1 & 1  # which of the two controllers has these pins: 0 and 1, 4 and 5... or 2 and 3, 6 and 7...


class Bus:
    """I2C that counts its errors and frees itself from a chip that holds the data line; `news` tells of that."""

    def __init__(self, news):
        self.errors = 0
        self._news = news
        self.recovered = lambda: None  # called when it has been opened anew
        self._row = 0
        self._open()

    def _open(self):
        i2c = machine.I2C(_BUS, sda=machine.Pin(SDA), scl=machine.Pin(SCL), freq=I2C_HZ, timeout=2000)
        self._put, self._get = i2c.writeto, i2c.readfrom_mem_into

    @micropython.native
    def put(self, address, data):
        """Write `data`; False when the chip does not answer."""
        try:
            self._put(address, data)
        except OSError:
            return self._failed()
        self._row = 0
        return True

    @micropython.native
    def get(self, address, register, buf):
        """Read from `register` on into `buf`; False when the chip does not answer."""
        try:
            self._get(address, register, buf)
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

    def asks(self, address, register, buf):
        """Read as `get` does, where it is no error that nobody answers."""
        try:
            self._get(address, register, buf)
        except OSError:
            return False
        return True

    def check_wiring(self):
        """Return what is wrong with the two lines, as the value of `wire.WIRING`; 0 if nothing is seen.

        The chip pulls each line down weakly: with its pull-up it stays high.
        """
        wrong = 0
        for bit, line in ((wire.SDA_LOW, SDA), (wire.SCL_LOW, SCL)):
            pin = machine.Pin(line, machine.Pin.IN, machine.Pin.PULL_DOWN)
            time.sleep_us(20)
            if not pin():
                wrong |= bit
        self._open()
        if not wrong and not _answers(self._put):
            exchanged = machine.SoftI2C(sda=machine.Pin(SCL), scl=machine.Pin(SDA), timeout=500)
            if _answers(exchanged.writeto):
                wrong = wire.EXCHANGED
            self._open()
        return wrong

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
        self.recovered()


def _answers(put):
    """Return whether the touch chip or a multiplexer takes a byte: a register's number, or no channel."""
    for address in (MPR121,) + MUXES:
        try:
            put(address, b"\0")
        except OSError:
            continue
        return True
    return False


def _waits(again, ticks):
    """Return whether the moment `again`, at most `RETRY_US` away, is still to come. One long gone may look far away."""
    return 0 < time.ticks_diff(again, ticks) <= RETRY_US


class Strips:
    """MPR121: 12 electrodes, filtered data. The chip's own baseline stays off: it swallows a hand that rests."""

    _SET_UP = (
        b"\x80\x63",  # reset, then the rest at the next turn
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
        self._state = _ABSENT
        self._again = time.ticks_us()

    @micropython.native
    def read(self, buf):
        """Fill `buf` with the counts of all electrodes, 12 x u16; False on a bus error."""
        if self._state != _READY:
            self._begin(time.ticks_us())
            return False  # the first values come in some milliseconds
        if self._bus.get(MPR121, 0x04, buf):
            for i in range(24):
                if buf[i]:
                    return True
        self._state = _ABSENT  # no answer, or all zero: the chip has started anew
        return False

    def charge(self, buf):
        """Fill `buf` with the current and the time that the chip found for each electrode; False on a bus error."""
        return self._state == _READY and self._bus.get(MPR121, 0x5F, buf)

    def _begin(self, ticks):
        put = self._bus.put
        if self._state == _RESET:
            self._state = _READY if all(put(MPR121, pair) for pair in self._SET_UP[1:]) else _ABSENT
        elif not _waits(self._again, ticks):
            self._again = time.ticks_add(ticks, RETRY_US)
            if put(MPR121, self._SET_UP[0]):
                self._state = _RESET


@micropython.viper
def _moved(answer, buf, at: int) -> bool:
    """Copy six bytes of `answer` to buf[at:]; return whether any is not zero."""
    source = ptr8(answer)
    to = ptr8(buf)
    some = 0
    for k in range(6):
        byte = source[k]
        some |= byte
        to[at + k] = byte
    return some != 0


class Magnets:
    """24 magnetometers of one kind, all with one address: a multiplexer's channel is chosen for each."""

    # kind: address, first register of a read, how many, which of them is the status; register and value of the chip's
    # identity; reset; set-up
    _KINDS = {
        wire.QMC5883L: (QMC5883L, 0x00, 7, 6, 0x0D, 0xFF, b"\x0a\x80", (
            b"\x0b\x01",  # set/reset period, as its maker says
            b"\x09\x19",  # 512 samples, +-8 gauss, 100 Hz, continuous
        )),
        wire.QMC5883P: (QMC5883P, 0x01, 9, 8, 0x00, 0x80, b"\x0b\x80", (
            b"\x29\x06",  # signs of the axes, as its maker says
            b"\x0b\x08",  # +-8 gauss, set and reset
            b"\x0a\xcd",  # 8 x 8 samples, 200 Hz, normal
        )),
    }  # fmt: skip

    def __init__(self, bus):
        self._bus = bus
        bus.recovered = self._forget
        self._mux = 0
        self._nth = bytearray(range(wire.MAGNETS))  # magnetometer -> which of those that are built it is
        # a bit for each multiplexer, and for each that may have a channel open: a reset of the board closes none
        self._muxes = self._open = _ALL
        self._channels = [bytes((1 << i,)) for i in range(8)]
        self._state = bytearray(wire.MAGNETS)
        self._again = [time.ticks_us()] * wire.MAGNETS
        self._answer = b""
        self.kind = 0
        i = 0
        while i < wire.MAGNETS and not (self._choose(i) and self._found()):
            i += 1

    def build(self, built):
        """There are the magnetometers whose bits are set, eight behind each multiplexer, in this order."""
        n = 0
        for i in range(wire.MAGNETS):
            self._nth[i] = n
            self._state[i] = _ABSENT  # another chip, maybe
            self._again[i] = time.ticks_us()
            n += built >> i & 1
        self._mux = 0
        self._muxes = self._open = (1 << (n + 7 >> 3)) - 1  # the others need not be there to be closed

    def _found(self):
        """Ask both kinds on the channel that is open; return whether one is there. The first is the kind of all."""
        answer = bytearray(1)
        for kind, (address, first, count, status, register, identity, reset, set_up) in self._KINDS.items():
            if self._bus.asks(address, register, answer) and answer[0] == identity:
                self.kind = kind
                self._address, self._first, self._status, self._answer = address, first, status, bytearray(count)
                self._soft_reset, self._set_up = reset, set_up
                return True
        return False

    @micropython.native
    def _choose(self, i):
        n = self._nth[i]
        at = n >> 3
        mux = MUXES[at]
        if mux != self._mux:
            self._close()
            self._mux = mux
            self._open |= 1 << at
        return self._bus.put(mux, self._channels[n & 7])

    def _close(self):
        # two open channels would answer together. A multiplexer that does not answer is asked twice at each change, and
        # keeps nobody from the others
        bus = self._bus  # not its method alone: that would be a new object
        for at in range(len(MUXES)):
            if self._open >> at & 1 and (bus.put(MUXES[at], b"\0") or bus.put(MUXES[at], b"\0")):
                self._open ^= 1 << at

    def _forget(self):
        self._mux = 0  # what was not heard while the bus was stuck is said again
        self._open = self._muxes

    @micropython.native
    def read(self, i, buf, at):
        """Read magnetometer `i` into buf[at:at+6]; False when it is silent, None when it is saturated."""
        if self._state[i] != _READY:
            self._begin(i, time.ticks_us())
            return False
        bus = self._bus
        answer = self._answer
        n = self._nth[i]
        if MUXES[n >> 3] != self._mux:
            there = self._choose(i)
        else:
            there = bus.put(self._mux, self._channels[n & 7])
        if there and bus.get(self._address, self._first, answer) and _moved(answer, buf, at):
            return None if answer[self._status] & 2 else True
        self._state[i] = _ABSENT  # no answer, or all zero: it has started anew and does not measure
        return False

    def _begin(self, i, ticks):
        put = self._bus.put
        if self._state[i] == _RESET:
            done = self._choose(i) and all(put(self._address, pair) for pair in self._set_up)
            self._state[i] = _READY if done else _ABSENT
        elif not _waits(self._again[i], ticks):
            self._again[i] = time.ticks_add(ticks, RETRY_US)
            if self._choose(i) and (self.kind or self._found()) and put(self._address, self._soft_reset):
                self._state[i] = _RESET
