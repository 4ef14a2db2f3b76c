"""The four piezos: the RP2040's converter, and DMA that carries its values into a ring. MicroPython >= 1.23."""

import machine
import micropython
import rp2
import uctypes
from wiring import ADC_PINS, BLOCK, PADS, SAMPLE_HZ

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
_MOST = 0x3FFFFC00  # transfers a DMA run, below a small integer's end: 18.6 h, then a block or two are lost
_LOOKS = 64  # without a block, and the converter is asked whether it runs
_SAMPLE_US = 1_000_000 // SAMPLE_HZ


class _Slice:
    def __getitem__(self, what):
        return what


_WHOLE = _Slice()[:]  # made once: machine code would make a new one for each copy


class Piezos:
    """The converter goes round the four pins by itself, DMA carries each value into a ring; no loop copies any."""

    def __init__(self, now_us):
        self._now_us = now_us
        raw = bytearray(2 * _RING_BYTES)
        skip = -uctypes.addressof(raw) % _RING_BYTES  # the ring must lie on a multiple of its size
        view = memoryview(raw)
        self._base = uctypes.addressof(raw) + skip
        self._blocks = [view[skip + i * _BLOCK_BYTES : skip + (i + 1) * _BLOCK_BYTES] for i in range(_RING_BLOCKS)]
        self._pins = [machine.ADC(machine.Pin(pin)) for pin in ADC_PINS]
        self._dma = rp2.DMA()
        self._skipped = 0
        self._first = 0
        self._looked = 0
        self._taken = 0
        self.overflows = 0

    def start(self):
        """Begin a run, pin 1 first.

        Block n holds the samples from n * BLOCK since boot on, wherever in a block the run begins: the block that it
        begins in is not whole and never taken.
        """
        sample = (self._now_us() + _SAMPLE_US // 2) // _SAMPLE_US
        self._skipped = PADS * (sample % BLOCK)
        self._first = sample // BLOCK
        self._taken = 1 if self._skipped else 0
        mem32 = machine.mem32
        mem32[_CS] = _ON
        self._dma.active(0)
        mem32[_FCS] = _FIFO_ON | _FIFO_CLEAR
        while not mem32[_FCS] & _FIFO_EMPTY:
            mem32[_FIFO]
        mem32[_DIV] = (_ADC_CLOCK // (SAMPLE_HZ * PADS) - 1) << 8
        self._dma.config(
            read=_FIFO,
            write=self._base + 2 * self._skipped,
            count=_MOST,
            ctrl=self._dma.pack_ctrl(
                size=1, inc_read=False, inc_write=True, ring_size=_RING_BITS, ring_sel=True, treq_sel=_DREQ_ADC
            ),
            trigger=True,
        )
        mem32[_CS] = _ON | _START_MANY | _ROUND_ROBIN

    @micropython.native
    def take(self, buf):
        """Copy the oldest finished block into `buf`; return its number since boot, or -1."""
        # transfers that are done; the last value is in the ring before anybody can look for it
        left = self._dma.count  # pyright: ignore[reportAttributeAccessIssue]  # the stubs lack it
        finished = (_MOST - left + self._skipped) // (PADS * BLOCK)
        taken = self._taken
        self._looked += 1
        if finished > taken or self._looked > _LOOKS:
            self._looked = 0
            if machine.mem32[_FCS] & _FIFO_OVER or not self._dma.active():
                self.overflows += 1  # values are missing, so the pins may have changed places: begin again
                self.start()
                return -1
        if finished - taken > _RING_BLOCKS - 2:
            self.overflows += finished - 1 - taken
            taken = finished - 1
        if finished <= taken:
            return -1
        buf[_WHOLE] = self._blocks[taken % _RING_BLOCKS]
        self._taken = taken + 1
        return self._first + taken
