"""The chips that the firmware drives (`board.py` and what it imports), made of Python, in virtual time."""

import os
import struct
import types
from typing import ClassVar

import numpy as np

BASE = 0x20001234
NAMES = {"RP2040": "Raspberry Pi Pico with RP2040", "RP2350": "Raspberry Pi Pico 2 with RP2350"}
ADC = {"RP2040": 0x4004C000, "RP2350": 0x400A0000}
WATCHDOG = {"RP2040": 0x40058000, "RP2350": 0x400D8000}
CHIP_RESET = {"RP2040": 0x40064008, "RP2350": 0x4010002C}
HAD_POWER = {"RP2040": 1 << 8, "RP2350": 1 << 16}
DREQ_ADC = {"RP2040": 36, "RP2350": 48}


class Pointer:
    """A pointer to words, made of a buffer or of an address that is the integer of another pointer."""

    buffers: ClassVar[list] = []

    def __init__(self, of):
        if not isinstance(of, int):
            self.buffers.append(memoryview(of).cast("I"))
            of = len(self.buffers) - 1 << 20
        self.address = of
        self.words, self.first = self.buffers[of >> 20], (of & 0xFFFFF) // 4

    def __int__(self):
        return self.address

    def __getitem__(self, i):
        return self.words[self.first + i]

    def __setitem__(self, i, value):
        self.words[self.first + i] = value


class Chips:
    """The chips of a board in virtual time. Reading n of the converter (four a round) is 7 n, low 12 bits."""

    def __init__(self, chip="RP2040"):
        self.chip = chip
        self.fcs = ADC[chip] + 8
        self.us = 1000
        self.mem = {}
        self.over = False
        self.memory = None
        self.dma = None
        self.channels = 0
        self.stuck = 0
        self.bus = (0, 4, 5)
        self.low, self.bus_is_exchanged = (), False
        self.resets = 0
        self.open = {0x70: 0, 0x71: 0, 0x72: 0}
        self.touch = bytearray(struct.pack("<12H", *range(700, 712)))
        self.charge = bytes(range(19))
        self.touch_on = False
        self.touch_reset = 0
        self.kind = "L"
        self.magnets = [types.SimpleNamespace(on=False, there=True, over=False, reset=-1) for _ in range(24)]
        self.muxes = {0x70: True, 0x71: True, 0x72: True}
        self.inputs, self.outputs = bytearray(), bytearray()
        self.fifo = 0  # bytes in USB's buffer of 256 that the host has not fetched
        self.full = False  # the host fetches none
        self.machine = NAMES[chip]
        self.pins, self.bits = {}, []
        self.frames = []
        self.timers = []
        self.reason = 3

    @property
    def reason(self):
        """What MicroPython says of the start: 1 power, 3 the watchdog."""
        return 3 if self.mem[WATCHDOG[self.chip] + 8] else 1

    @reason.setter
    def reason(self, reason):
        self.set_reset(*((1, 0) if reason == 3 else (0, HAD_POWER[self.chip])))

    def set_reset(self, reason, chip_reset):
        """Set the watchdog's reason and the chip's own cause of the last reset."""
        self.mem[WATCHDOG[self.chip] + 8], self.mem[CHIP_RESET[self.chip]] = reason, chip_reset

    def modules(self):
        chips = self

        class Pin:
            OPEN_DRAIN, OUT, IN, PULL_DOWN = 1, 2, 3, 4

            def __init__(self, name, mode=None, pull=None, value=None):
                assert (mode == self.IN) == (pull == self.PULL_DOWN)
                if name == "LED" and chips.machine == "nothing":
                    raise ValueError("unknown named pin")
                self.name = name
                if value is not None:
                    chips.pins[name] = value

            def __call__(self, value=None):
                if value is None:
                    return 0 if (self.name == chips.bus[1] and chips.stuck) or self.name in chips.low else 1
                chips.pins[self.name] = value
                if self.name == chips.bus[2] and value and chips.stuck:
                    chips.stuck -= 1
                return None

        blocks = {ADC[self.chip], WATCHDOG[self.chip], CHIP_RESET[self.chip] & ~0xFFF}

        class Mem32:
            def __getitem__(self, address):
                assert address & ~0xFFF in blocks, "the chip has no such register"
                if address == chips.fcs:
                    return 1 << 8 | (1 << 11 if chips.over else 0)
                return chips.mem.get(address, 0)

            def __setitem__(self, address, value):
                assert address & ~0xFFF in blocks, "the chip has no such register"
                chips.mem[address] = value
                if address == chips.fcs and value & 1 << 11:
                    chips.over = False
                if address == chips.fcs - 8 and value & 8:
                    chips.dma.begin()

        class DMA:
            def __init__(self):
                self.began = None
                self.channel = chips.channels
                chips.channels += 1

            def active(self, value=None):
                if value == 0:
                    self.began = None
                return self.began is not None

            def pack_ctrl(self, **fields):
                return fields

            def config(self, ctrl, read=None, write=None, count=None, trigger=False):
                if ctrl == {"size": 2, "inc_write": False, "treq_sel": 0}:
                    assert (write, count, trigger) == (0x50200010, len(read), True)
                    chips.frames.append([(w >> 16 & 255, w >> 24, w >> 8 & 255) for w in read])
                elif ctrl == {"size": 2, "inc_read": False, "inc_write": False}:
                    assert (count, trigger) == (1, False)
                    self.starts, self.run = (write - 0x5000001C) // 64, read[0]
                    chips.again = self
                elif ctrl != {"enable": False}:
                    assert ctrl == {
                        "size": 1, "inc_read": False, "inc_write": True, "ring_size": 15, "ring_sel": True,
                        "chain_to": chips.again.channel, "treq_sel": DREQ_ADC[chips.chip],
                    }  # fmt: skip
                    assert trigger
                    assert count < 1 << 28, "the bits above are a mode of the RP2350"
                    assert write % 32768 < 4096
                    assert (chips.again.starts, chips.again.run) == (self.channel, count)
                    chips.dma = self
                    self.base, self.run = write, count

            def begin(self):
                self.began, self.done = chips.us, 0
                self.first = (chips.us * 64 // 1000 + 1) * 4

            @property
            def count(self):
                total = max(chips.us - self.began - 10, 0) * 256 // 1000  # it starts a little late
                n = np.arange(max(self.done, total - 16384), total)
                ring = self.base // 32768 * 32768
                ring_of_memory = np.frombuffer(chips.memory, "<u2", 16384, ring - BASE)
                ring_of_memory[((self.base - ring) // 2 + n) % 16384] = (self.first + n) * 7 & 0xFFF
                self.done = total
                return self.run - total % self.run

        class I2C:
            def __init__(self, bus, *, sda, scl, freq, timeout):
                assert (bus, sda.name, scl.name, freq) == (*chips.bus, 400000)

            def _magnet(self, address):
                found = [
                    (mux - 0x70) * 8 + channel
                    for mux, mask in chips.open.items()
                    for channel in range(8)
                    if mask >> channel & 1
                ]
                assert len(found) <= 1, "two magnetometers would answer"
                if not found or not chips.magnets[found[0]].there or address != {"L": 0x0D, "P": 0x2C}[chips.kind]:
                    raise OSError(5)
                return found[0]

            def writeto(self, address, data):
                if chips.stuck:
                    raise OSError(110)
                if chips.bus_is_exchanged:
                    raise OSError(5)
                if address in chips.open:
                    if not chips.muxes[address]:
                        raise OSError(5)
                    chips.open[address] = data[0]
                elif address == 0x5A:
                    if bytes(data) == b"\0":
                        return  # a register's number alone
                    assert data[0] == 0x80 or chips.us - chips.touch_reset >= 1000, "too soon after its reset"
                    chips.touch_on = bytes(data) == b"\x5e\x4c"
                    if data[0] == 0x80:
                        chips.touch_reset = chips.us
                else:
                    magnet = chips.magnets[self._magnet(address)]
                    reset, on = {"L": (b"\x0a\x80", b"\x09\x19"), "P": (b"\x0b\x80", b"\x0a\xcd")}[chips.kind]
                    assert data == reset or chips.us - magnet.reset >= 1000, "too soon after its reset"
                    if data == reset:
                        magnet.reset = chips.us
                    magnet.on = data == on

            def readfrom_mem_into(self, address, register, buf):
                if chips.stuck:
                    raise OSError(110)
                if address == 0x5A:
                    if register == 0x5F:
                        buf[:] = chips.charge
                        return
                    assert register == 4
                    buf[:] = chips.touch if chips.touch_on else bytes(24)
                    return
                i = self._magnet(address)
                magnet = chips.magnets[i]
                values = struct.pack("<3h", i, -i, 1000) if magnet.on else bytes(6)
                status = bytes([magnet.on | magnet.over << 1])
                registers = {"L": values + status + bytes(6) + b"\xff", "P": b"\x80" + values + bytes(2) + status}
                buf[:] = registers[chips.kind][register : register + len(buf)]

        class SoftI2C:
            def __init__(self, *, sda, scl, timeout):
                assert (sda.name, scl.name) == (chips.bus[2], chips.bus[1])

            def writeto(self, address, data):
                if not chips.bus_is_exchanged:
                    raise OSError(5)

        def addressof(raw):
            chips.memory = raw
            return BASE

        def reset():
            chips.resets += 1

        class Poll:
            def register(self, stream, flag):
                self.flag = flag

            def ipoll(self, wait):
                assert wait == 0
                if not chips.full:
                    chips.fifo = 0
                return iter([1] if (chips.inputs if self.flag == 1 else chips.fifo < 256) else [])

        class Stream:
            buffer = property(lambda self: self)

            def readinto(self, buf):
                assert len(chips.inputs) >= len(buf), "it would wait until so many have come"
                buf[:] = chips.inputs[: len(buf)]
                del chips.inputs[: len(buf)]
                return len(buf)

            def write(self, data):
                assert chips.fifo + len(data) <= 256, "it would wait for the host"
                chips.fifo += len(data)
                chips.outputs.extend(data)

        def sleep_us(us):
            chips.us += us

        class PIO:
            OUT_LOW, SHIFT_LEFT, JOIN_TX = "low", "left", "join"

        class StateMachine:
            def __init__(self, number, program, freq, sideset_base):
                assert (number, freq, sideset_base.name) == (0, 8_000_000, 6)

            def active(self, on):
                chips.strip_on = on

        class Timer:
            PERIODIC = 1

            def __init__(self, number, period, mode, callback):
                chips.timers.append(callback)

        fed = types.SimpleNamespace(feed=lambda: None)
        outside = {
            "machine": {
                "Pin": Pin, "ADC": lambda pin: pin, "I2C": I2C, "SoftI2C": SoftI2C, "mem32": Mem32(),
                "WDT": lambda timeout: fed,
                "reset": reset, "reset_cause": lambda: chips.reason, "unique_id": lambda: b"12345678",
                "PWRON_RESET": 1, "bitstream": lambda pin, kind, timing, data: chips.bits.append((pin.name, data)),
                "Timer": Timer,
            },
            "micropython": {"viper": lambda f: f, "native": lambda f: f, "kbd_intr": lambda c: None},
            "rp2": {"DMA": DMA, "PIO": PIO, "StateMachine": StateMachine, "asm_pio": lambda **how: lambda f: (f, how)},
            "uctypes": {"addressof": addressof},
        }  # fmt: skip
        inside = {
            "time": types.SimpleNamespace(
                ticks_us=lambda: chips.us & 0x3FFFFFFF,
                ticks_diff=lambda a, b: ((a - b + 0x20000000) & 0x3FFFFFFF) - 0x20000000,
                ticks_add=lambda a, b: a + b & 0x3FFFFFFF,
                ticks_ms=lambda: chips.us // 1000,
                sleep_us=sleep_us,
            ),
            "os": types.SimpleNamespace(
                uname=lambda: types.SimpleNamespace(machine=chips.machine), rename=os.rename, remove=os.remove
            ),
            "select": types.SimpleNamespace(poll=Poll, POLLIN=1, POLLOUT=4),
            "sys": types.SimpleNamespace(
                stdin=Stream(), stdout=Stream(), print_exception=lambda error, file: file.write(repr(error))
            ),
            "ptr8": lambda data: data,
            "ptr16": lambda data: data,
            "ptr32": Pointer,
        }
        return outside, inside
