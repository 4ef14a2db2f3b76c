"""The four piezos: the RP2040's converter, and DMA that carries its values into a ring. MicroPython >= 1.23."""

import machine
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
_MOST = 0x3FFFFC00  # transfers a DMA run, below a small integer's end: 18.6 h, then one block is lost


class Piezos:
    """The converter goes round the four pins by itself, DMA carries each value into a ring; no loop copies any."""

    def __init__(self):
        raw = bytearray(2 * _RING_BYTES)
        skip = -uctypes.addressof(raw) % _RING_BYTES  # the ring must lie on a multiple of its size
        view = memoryview(raw)
        self._base = uctypes.addressof(raw) + skip
        self._blocks = [view[skip + i * _BLOCK_BYTES : skip + (i + 1) * _BLOCK_BYTES] for i in range(_RING_BLOCKS)]
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
