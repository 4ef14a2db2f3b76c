"""A board that samples on a clock, for the firmware's files under MicroPython: `link_sustained.py` runs it there.

Like the real one it keeps 16 finished blocks; when the firmware is late the oldest are gone and counted.
"""

import sys
import time

from playback import PlaybackBoard, hexlify

RING_BLOCKS = 16
BLOCK_US = 8000
SAYS_US = 500_000


class PacedBoard(PlaybackBoard):
    """With `paced` blocks come in real time; else one a pass, and the clock follows the blocks."""

    def __init__(self, recording, seal, paced):
        PlaybackBoard.__init__(self, recording, seal)
        self.taken = 0
        self._paced = paced
        self._piezo = [bytes.fromhex(block) for block in recording["piezo"]]
        self._said = [bytes.fromhex(frame) for frame in recording["said"]]
        self._says = 0
        self._due = True
        self._began = time.ticks_us()

    def now_us(self):
        return time.ticks_diff(time.ticks_us(), self._began) if self._paced else self.taken * BLOCK_US

    def piezo(self, buf):
        if self._paced:
            waiting = self.now_us() // BLOCK_US - self.taken
            if waiting <= 0:
                return -1
            if waiting > RING_BLOCKS:
                self.overflows += waiting - RING_BLOCKS
                self.taken += waiting - RING_BLOCKS
        else:
            self._due = not self._due
            if self._due:
                return -1
        buf[:] = self._piezo[self.taken % len(self._piezo)]
        self.taken += 1
        return self.taken - 1

    def read(self):
        if self._says == len(self._said) or self.now_us() < self._says * SAYS_US:
            return b""
        self._says += 1
        return self._said[self._says - 1]


def run(sampler, recording, seconds, paced):
    """Sample for `seconds`, then print the interpreter, the time taken (us), blocks lost on the board, all bytes."""
    board = PacedBoard(recording, sampler.wire.seal, paced)
    work = sampler.Sampler(board)
    began = time.ticks_us()
    while board.taken * BLOCK_US < seconds * 1_000_000:
        work.step()
    took = time.ticks_diff(time.ticks_us(), began)
    print(sys.version)
    print(took, board.overflows)
    for data in board.sent:
        print(hexlify(data).decode())
