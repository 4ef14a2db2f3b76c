"""An MCP3008 and an MPR121 of Python, as their data sheets have them: on gpiozero's mock pins, and on an I2C bus."""

import struct

from gpiozero import SPI
from gpiozero.pins.mock import MockFactory, MockSPIDevice

CHANNEL_BITS = 12  # seven zeros, start, single-ended, three bits of the channel


class Mcp3008Slave(MockSPIDevice):
    """Bit by bit on mock pins; `read(channel)` gives the count."""

    def __init__(self, factory, read):
        super().__init__(11, 10, 9, 8, pin_factory=factory)
        self.read = read

    def on_bit(self):
        if self.rx_bit == CHANNEL_BITS:
            asked = self.rx_word()
            assert asked >> 3 == 0b11, "start bit and single-ended"
            self.tx_word(self.read(asked & 7), 12)


class QuickBus(SPI):
    """The same chip word by word, for longer stories: a mock pin takes a hundred times longer."""

    read = staticmethod(lambda channel: 0)
    there = True

    def __init__(self, clock_pin, mosi_pin, miso_pin, select_pin, *, pin_factory):
        super().__init__(pin_factory=pin_factory)
        self.hz = 0

    def transfer(self, data):
        start, asked, _ = data
        assert (start, asked & 0x8F) == (1, 0x80), "start bit, single-ended, then zeros"
        count = self.read(asked >> 4 & 7) if self.there else 0x7FF
        return [0xFF, 0xF8 | count >> 8, count & 0xFF]

    def _set_rate(self, value):
        self.hz = value

    @property
    def closed(self):
        return False

    def close(self):
        super().close()


class QuickFactory(MockFactory):
    """Mock pins whose SPI is a `QuickBus`."""

    def __init__(self, read):
        super().__init__()
        self.bus = type("Bus", (QuickBus,), {"read": staticmethod(read)})

    def _get_spi_class(self, shared, hardware):
        return self.bus


class Mpr121:
    """The chip's registers on a bus: filtered data only while it runs, zeros after a reset, its baseline as told."""

    ADDRESS = 0x5A

    def __init__(self, counts):
        self.counts = counts
        self.there = True
        self.reset()
        self.written = []
        self.closed = 0

    def reset(self):
        """As at power-on."""
        self.registers = bytearray(0x81)
        self.registers[0x5C], self.registers[0x5D] = 0x10, 0x24

    def writeto(self, address, data):
        self._ack(address)
        register, value = data
        self.written.append(bytes(data))
        if register == 0x80:
            assert value == 0x63
            self.reset()
            return
        running = self.registers[0x5E] & 0x3F
        assert not running or register == 0x5E, "most registers are written only while the chip is stopped"
        self.registers[register] = value

    def writeto_then_readfrom(self, address, out, into):
        self._ack(address)
        electrodes = self.registers[0x5E] & 0x0F
        data = struct.pack("<12H", *self.counts()) if electrodes == 12 else bytes(24)
        self.registers[0x04:0x1C] = data
        into[:] = self.registers[out[0] : out[0] + len(into)]

    def deinit(self):
        self.closed += 1

    @property
    def keeps_a_baseline(self):
        return self.registers[0x5E] & 0xC0 != 0x40

    def _ack(self, address):
        if not self.there or address != self.ADDRESS:
            raise OSError(121, "Remote I/O error")
