"""What the board notices: a piezo at a rail, dead still or without a disc, a silent chip, a jolt. Portable.

It only reports events; whether samples can be believed is decided on the host, from the samples themselves. All times
are hundredths of a second since boot: small integers, which need no memory, for 124 days.
"""

import gc
import struct

import wire

EVERY = 16  # of the blocks one is looked at: eight a second
RAIL = 4 * wire.READINGS  # from either end: four counts of the converter
RAIL_TIME = 50  # a stroke is at the rail for milliseconds
STUCK_TIME = 400
GOOD_TIME = 100
GONE_TIME = 100
JOLT = 14 * wire.READINGS  # in half a millisecond: more than hum or a hand that presses, less than a light stroke


def jolt(block, least):
    """Return how many samples before the end of `block` a pad first moved by `least` within two samples, or 0.

    The board puts machine code in this one's place.
    """
    size = len(block)
    two = 4 * wire.PADS
    for at in range(two, size, 2):
        moved = (block[at] | block[at + 1] << 8) - (block[at - two] | block[at - two + 1] << 8)
        if moved >= least or moved <= -least:
            return (size - at + 2 * wire.PADS - 1) // (2 * wire.PADS)
    return 0


class Piezos:
    """Watches each pad's samples. `feed` blocks; `good` has a bit for each pad that moved since `begin`."""

    def __init__(self, block, report):
        self._size = 2 * wire.PADS * block
        self._report = report  # called with kind, part, value
        self._count = 0
        self.good = 0
        self.wrong = 0
        self._held = [-1] * wire.PADS
        self._still = [0] * wire.PADS  # since when it has not changed
        self._inside = [0] * wire.PADS  # when it was last off the rails
        self._fine = [0] * wire.PADS  # since when a pad that was wrong is right again
        self._since = [0] * wire.PADS

    def begin(self, now):
        """Samples begin (again) at `now`; what is wrong stays wrong until it is seen to be right."""
        self.good = 0
        self._held = [-1] * wire.PADS
        self._still = [now] * wire.PADS
        self._inside = [now] * wire.PADS
        self._fine = [now] * wire.PADS

    def feed(self, block, now):
        """Take a block of sums: pads interleaved, u16 little endian."""
        self._count += 1
        if self._count % EVERY:
            return
        for pad in range(wire.PADS):
            self._look(block, pad, now)

    def _look(self, block, pad, now):
        # a pad that lives is known by its first two or three samples, so this costs next to nothing
        at = 2 * pad
        first = block[at] | block[at + 1] << 8
        held = self._held[pad]
        still = held == first or held < 0
        rail = first <= RAIL or first >= wire.TOP - RAIL
        self._held[pad] = first
        while at < self._size and (still or rail):
            value = block[at] | block[at + 1] << 8
            if value != first:
                still = False
            if RAIL < value < wire.TOP - RAIL:
                rail = False
            at += 2 * wire.PADS
        if not still:
            self._still[pad] = now
        if not rail:
            self._inside[pad] = now
        bit = 1 << pad
        if self.wrong & bit:
            if still or rail:
                self._fine[pad] = now
            elif now - self._fine[pad] >= GOOD_TIME:
                self.wrong ^= bit
                self._report(wire.PIEZO_GOOD, pad + 1, 10 * (self._fine[pad] - self._since[pad]))
        elif now - self._inside[pad] >= RAIL_TIME:
            self._fail(wire.PIEZO_RAIL, pad, first // wire.READINGS, self._inside[pad], now)
        elif now - self._still[pad] >= STUCK_TIME:
            self._fail(wire.PIEZO_STUCK, pad, 10 * (now - self._still[pad]), self._still[pad], now)
        if not (still or rail):
            self.good |= bit

    def _fail(self, kind, pad, value, since, now):
        self.wrong |= 1 << pad
        self._fine[pad] = now
        self._since[pad] = since
        self._report(kind, pad + 1, value)


CATCH_UP_BLOCKS = 4  # those that wait after the memory was collected are older than what is switched next
LOW_BLOCKS = 3  # the bias is off for so long: a pad is at ground within 6 ms
RISE_BLOCKS = 12  # a pad that has not risen by then never does
SETTLE_BLOCKS = 2  # from nine tenths of its rest to within half a count


class BiasStep:
    """Switches the pads' bias off and on, and measures each one's rise from a tenth to nine tenths of its rest.

    It is slow with a disc. While this is `busy` it replaces each block by the pads' rest, so that no host takes the
    step for a stroke. Only the samples' own time counts: they lag behind the board's clock.
    """

    def __init__(self, board, report):
        self._board = board
        self._report = report  # called with pad (1 first) and a value of `wire.DISCS`
        self._sample_us = 1_000_000 // board.SAMPLE_HZ
        self._format = "<%dH" % (wire.PADS * board.BLOCK)  # of a block, sample by sample
        self.busy = False
        self._rest = [0] * wire.PADS
        self._rest_block = b""
        self._levels = [0] * wire.PADS
        self._began_us = [0] * wire.PADS  # when it was at a tenth, below 0 before
        self._found = [0] * wire.PADS  # below 0 while it rises
        self._blocks = 0  # taken since `begin`
        self._last = 0  # as many and it is over
        self._next = 0  # the number of the block that follows

    def begin(self):
        """Start with the next block."""
        self.busy = True
        self._blocks = -CATCH_UP_BLOCKS
        self._last = LOW_BLOCKS + RISE_BLOCKS

    def hold(self, block, number):
        """Take a block of sums, while `busy`, and put the pads' rest in its place."""
        blocks = self._blocks
        if blocks < 0:
            if blocks == -CATCH_UP_BLOCKS:
                # it takes 20 ms on the chip: during the step it would delay the switching and make a long pass longer
                gc.collect()
            self._blocks = blocks + 1
            return
        if blocks == 0:
            self._take_rest(block)
            self._board.bias(0)
        elif number != self._next:  # without the samples of the rise there is nothing to tell
            self._board.bias(1)
            self._found = []
            self._last = blocks + SETTLE_BLOCKS
        elif not self._found:
            pass
        elif blocks == LOW_BLOCKS:
            self._raise(block)
        elif blocks > LOW_BLOCKS:
            self._follow(block)
        if blocks == self._last:
            self.busy = False
            for pad in range(len(self._found)):
                self._report(pad + 1, max(self._found[pad], 0))
        block[:] = self._rest_block
        self._blocks = blocks + 1
        self._next = number + 1

    def _take_rest(self, block):
        levels = struct.unpack(self._format, block)
        count = self._board.BLOCK
        for pad in range(wire.PADS):
            self._rest[pad] = sum([levels[i] for i in range(pad, len(levels), wire.PADS)]) // count
        self._rest_block = struct.pack("<%dH" % wire.PADS, *self._rest) * count
        self._found = [-1] * wire.PADS

    def _raise(self, block):
        self._levels = list(struct.unpack(self._format, block)[-wire.PADS :])
        for pad in range(wire.PADS):
            rest, level = self._rest[pad], self._levels[pad]
            self._began_us[pad] = -1
            if rest < wire.TOP // 4:  # near ground it has nowhere to rise to
                self._found[pad] = 0
            elif 2 * level > rest:
                self._found[pad] = wire.NOT_SWITCHED
        self._board.bias(1)

    def _follow(self, block):
        us = (self._blocks - LOW_BLOCKS) * self._board.BLOCK * self._sample_us
        rising = False
        levels = struct.unpack(self._format, block)
        for pad in range(wire.PADS):
            if self._found[pad] < 0:
                self._find(levels, pad, us)
                rising = rising or self._found[pad] < 0
        if not rising:
            self._last = min(self._last, self._blocks + SETTLE_BLOCKS)

    def _find(self, levels, pad, us):
        rest = self._rest[pad]
        low, high = rest // 10, rest * 9 // 10
        began_us, before = self._began_us[pad], self._levels[pad]
        for i in range(pad, len(levels), wire.PADS):
            level = levels[i]
            if began_us < 0 and level >= low:
                began_us = us - self._sample_us * (level - low) // max(level - before, 1)
            if level >= high:
                ended_us = us - self._sample_us * (level - high) // (level - before)
                self._found[pad] = max((ended_us - began_us) // wire.DISC_STEP_US, 1)
                return
            before = level
            us += self._sample_us
        self._began_us[pad], self._levels[pad] = began_us, before


class Silence:
    """Watches `count` sensors answer: one that has not for a second is reported, and so is its coming back."""

    def __init__(self, count, report):
        self._report = report  # called with whether it is back, which (from 0) and for how long it was silent
        self._missed = [0] * count  # since when
        self.gone = 0
        self.good = 0
        self.doubt = 0

    def begin(self, now):
        """They are asked (again) from `now` on."""
        self.good = 0
        self.doubt = (1 << len(self._missed)) - 1
        for i in range(len(self._missed)):
            if not self.gone >> i & 1:
                self._missed[i] = now

    def asked(self, i, answered, now):
        """Take whether sensor `i` answered at `now`. An answer of one without its bit in `doubt` is no news."""
        bit = 1 << i
        if answered:
            self.good |= bit
            self.doubt &= ~bit
            if self.gone & bit:
                self.gone ^= bit
                self._report(True, i, now - self._missed[i])
            return
        if not self.doubt & bit:
            self.doubt |= bit
            self._missed[i] = now
        if not self.gone & bit and now - self._missed[i] >= GONE_TIME:
            self.gone |= bit
            self._report(False, i, now - self._missed[i])
