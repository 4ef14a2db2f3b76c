"""The four piezos: the chip's converter, and DMA that carries its readings into a ring. MicroPython >= 1.23."""

# the stubs lack parts of DMA:
# pyright: reportAttributeAccessIssue=false

import array
import gc

import machine
import micropython
import rp2
import uctypes
from chip import ADC, DMA, DREQ_ADC
from wire import READINGS
from wiring import ADC_PINS, BLOCK, PADS, SAMPLE_HZ

_CS = ADC
_FCS = ADC + 0x08
_FIFO = ADC + 0x0C
_DIV = ADC + 0x10
_ON = 1
_START_MANY = 1 << 3
_ROUND_ROBIN = 0xF << 16
_FIFO_ON = 1 | 1 << 3 | 1 << 24  # with DMA requests, from the first value on
_FIFO_EMPTY = 1 << 8
_FIFO_OVER = 1 << 11
_FIFO_CLEAR = 1 << 10 | 1 << 11
_ADC_CLOCK = 48_000_000
_ROUND_HZ = SAMPLE_HZ * READINGS  # each pin is read so often
_DIVIDER = 256 * _ADC_CLOCK // (_ROUND_HZ * PADS)  # 187.5 of its clocks a reading, in 256ths
_RESTART = DMA + 0x1C  # DMA channel 0: a count written here starts it again; the next channel's is 64 further on

_BLOCK_ROUNDS = BLOCK * READINGS
_BLOCK_READINGS = PADS * _BLOCK_ROUNDS
_BLOCK_BYTES = 2 * _BLOCK_READINGS
_RING_BITS = 15  # the most that DMA knows
_RING_BYTES = 1 << _RING_BITS  # 64 ms: longer than any pass of the loop, a slow host included
_RING_BLOCKS = _RING_BYTES // _BLOCK_BYTES
_RUN = 1 << 27  # readings of a DMA run, whole blocks and at most `chip.MAX_DMA_COUNT`: 8.7 minutes
_LOOKS = 64  # without a block, and the converter is asked whether it runs


class _Slice:
    def __getitem__(self, what):
        return what


_WHOLE = _Slice()[:]  # made once: machine code would make a new one for each copy


@micropython.viper
def add_up(readings, sums):
    """Fill `sums`, four u16 a sample, with the sums of 16 rounds of four `readings` each.

    Two pads are added at once: a sum of 16 readings of 12 bits fits 16 bits and carries nothing into its neighbour.
    Offsets that are constant make it three times as fast.
    """
    at = int(ptr32(readings))
    to = int(ptr32(sums))
    end = to + int(len(sums))
    while to < end:
        of = ptr32(at)
        first = of[0] + of[2] + of[4] + of[6] + of[8] + of[10] + of[12] + of[14]
        first += of[16] + of[18] + of[20] + of[22] + of[24] + of[26] + of[28] + of[30]
        second = of[1] + of[3] + of[5] + of[7] + of[9] + of[11] + of[13] + of[15]
        second += of[17] + of[19] + of[21] + of[23] + of[25] + of[27] + of[29] + of[31]
        pair = ptr32(to)
        pair[0] = first
        pair[1] = second
        at += 128
        to += 8


def make_ring():
    """Return the memory of the ring and its address. Make it before the program's other files are loaded: they leave
    the heap without a piece of twice its size.
    """
    return aligned(_RING_BYTES)


def aligned(size):
    """Return a view of `size` bytes at a multiple of `size`, and their address.

    Where the heap allows, what lies before that place is free again; else as much again is lost.
    """
    raw = bytearray(size)
    skip = -uctypes.addressof(raw) % size
    if skip:
        del raw
        gc.collect()
        before = bytearray(skip)
        raw = bytearray(size)
        del before
    if uctypes.addressof(raw) % size:
        raw = bytearray(2 * size)
    skip = -uctypes.addressof(raw) % size
    return memoryview(raw)[skip : skip + size], uctypes.addressof(raw) + skip


class Piezos:
    """The converter goes round the four pins by itself, DMA carries each reading into a ring without any loop.

    A DMA run has an end. A second channel, which the first one starts there, starts the first one again.
    """

    def __init__(self, now_us, ring):
        self._now_us = now_us
        ring, self._base = ring
        self._blocks = [ring[i * _BLOCK_BYTES : (i + 1) * _BLOCK_BYTES] for i in range(_RING_BLOCKS)]
        self._sums = bytearray(2 * PADS * BLOCK)
        self._pins = [machine.ADC(machine.Pin(pin)) for pin in ADC_PINS]
        self._dma = rp2.DMA()
        self._again = rp2.DMA()
        self._run = array.array("I", [_RUN])
        self._left = 0  # readings to the end of the run
        self._before = 0  # blocks of the runs before it
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
        rounds = self._now_us() * (_ROUND_HZ // 1000) // 1000 + 1
        self._skipped = PADS * (rounds % _BLOCK_ROUNDS)
        self._first = rounds // _BLOCK_ROUNDS
        self._taken = 1 if self._skipped else 0
        self._left = _RUN
        self._before = 0
        mem32 = machine.mem32
        mem32[_CS] = _ON
        dma, again = self._dma, self._again
        # so that what is cut off starts no other run; on the RP2350 both must be off before (its erratum E5)
        for channel in (dma, again):
            channel.config(ctrl=channel.pack_ctrl(enable=False))
        dma.active(0)
        again.active(0)
        mem32[_FCS] = _FIFO_ON | _FIFO_CLEAR
        while not mem32[_FCS] & _FIFO_EMPTY:
            mem32[_FIFO]
        mem32[_DIV] = _DIVIDER - 256
        again.config(
            read=self._run,
            write=_RESTART + 64 * dma.channel,
            count=1,
            ctrl=again.pack_ctrl(size=2, inc_read=False, inc_write=False),
        )
        dma.config(
            read=_FIFO,
            write=self._base + 2 * self._skipped,
            count=_RUN,
            ctrl=dma.pack_ctrl(
                size=1,
                inc_read=False,
                inc_write=True,
                ring_size=_RING_BITS,
                ring_sel=True,
                chain_to=again.channel,
                treq_sel=DREQ_ADC,
            ),
            trigger=True,
        )
        mem32[_CS] = _ON | _START_MANY | _ROUND_ROBIN

    @micropython.native
    def take(self, buf):
        """Put the sums of the oldest finished block into `buf`; return its number since boot, or -1."""
        # transfers that are done; the last value is in the ring before anybody can look for it
        left = self._dma.count
        if left > self._left:
            self._before += _RUN // _BLOCK_READINGS
        self._left = left
        finished = self._before + (_RUN - left + self._skipped) // _BLOCK_READINGS
        taken = self._taken
        self._looked += 1
        if finished > taken or self._looked > _LOOKS:
            late = self._looked > _LOOKS
            self._looked = 0
            if machine.mem32[_FCS] & _FIFO_OVER or (late and not self._dma.active()):
                self.overflows += 1  # values are missing, so the pins may have changed places: begin again
                self.start()
                return -1
        if finished - taken > _RING_BLOCKS - 2:
            self.overflows += finished - 1 - taken
            taken = finished - 1
        if finished <= taken:
            return -1
        add_up(self._blocks[taken % _RING_BLOCKS], self._sums)
        buf[_WHOLE] = self._sums
        self._taken = taken + 1
        return self._first + taken
