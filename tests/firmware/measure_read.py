"""`python tests/firmware/measure_read.py`: what the board's reading byte by byte costs, under MicroPython here.

`Port.read` itself is taken from `firmware/port.py`; `ipoll` and `readinto` are MicroPython's own functions that do as
little. Beside it stands what a pass of the sampler with a block of samples takes: a board does 125 of those a second,
so the two say which share of them reading is (the best of ten rounds each: other programs only add to it). And how much
memory a byte costs that is to be collected again. An RP2040 is slower in both alike; its USB driver is not in here.
"""

import re
import sys
import tempfile

import micropython

from pi_controller.board import wire
from pi_controller.pinmap import pinmap

ROUNDS = 10
READ = """
import gc, io, sys, time
import sampler, playback

READY = (None,)

def ipoll(wait):
    return READY

class Board:
    def __init__(self, data):
        self._one, self._data = bytearray(1), bytearray(_MOST)
        self._view, self._line, self._left = memoryview(self._data), 0, len(data)
        self._heard = ipoll
        sys_stdin.buffer = io.BytesIO(data)

class sys_stdin: pass
class starts: pass

_MOST = {most}
{source}
Board.read, Board._watch = read, _watch

data = playback.unhexlify("{data}") * 40
passes = len(data) // _MOST
reads, works = [], []
for _ in range({rounds}):
    board = Board(data)
    began = time.ticks_us()
    for _ in range(passes):
        board.read()
    reads.append(time.ticks_diff(time.ticks_us(), began) / (passes * _MOST))
    frames, us = playback.rate(sampler, time.ticks_us, time.ticks_diff, 300)
    works.append(us / frames)
gc.collect()
gc.disable()
board = Board(data)
began = gc.mem_alloc()
for _ in range(passes):
    board.read()
print(min(reads), min(works), (gc.mem_alloc() - began) / (passes * _MOST))
"""


def source():
    """Return `read` and `_watch` of the port as functions, and how many bytes they read at most."""
    text = (micropython.ROOT / "firmware" / "port.py").read_text("utf-8")
    body = text[text.index("    def read(self):") : text.index("    @micropython.native\n    def send(self")]
    most = re.search(r"^_MOST = (\d+)", text, re.MULTILINE)
    return re.sub(r"^    ", "", body, flags=re.MULTILINE).replace("sys.stdin", "sys_stdin"), int(most[1])


def main():
    """Print what a byte and a pass cost, and the share of a busy and of a calm host."""
    pixels = pinmap().lights.count
    frame = wire.seal(wire.lights_body(1, bytes((0, pixels, *range(1, 3 * pixels + 1)))), 1)
    code, most = source()
    with tempfile.TemporaryDirectory() as folder:
        program = READ.format(rounds=ROUNDS, most=most, source=code, data=frame.hex())
        byte_us, pass_us, heap = map(float, micropython.run(program, micropython.firmware_files(), folder).split())
    passes = pinmap().board.sample_hz / pinmap().board.block_samples
    print(f"a byte: {byte_us:.2f} us, {heap:.1f} bytes of the heap")
    print(f"a frame sent, with all else: {pass_us:.1f} us ({passes:.0f} passes a second)")
    for what, hz in (("every pixel 30 times a second", 30.0), ("every pixel once a second", 1.0)):
        size = hz * len(frame)
        print(f"{what}: {size:.0f} bytes a second, {size * byte_us / (passes * pass_us):.1%} of what the passes take")
    return 0


if __name__ == "__main__":
    sys.exit(main())
