"""The school mat's pads under a simulated world's people: force sensors under tiles of cork."""

import numpy as np
from fsr_mat import CORK, FSR_TOP, RATE, FsrMat, counts

STROKE_S, HAND_S = 0.4, 2.5


class CorkPads:
    """Takes the place of the world's discs (`World.piezo`): the people's strokes and hands as forces on the tiles."""

    def __init__(self, seed, pad=CORK):
        self._random = np.random.default_rng(seed)
        self._pad = pad
        self._part = 1.0 + self._random.uniform(-0.06, 0.06, 4)
        self._rest = counts(np.full(4, pad.rest_n), self._part, pad.divider_ohm)
        self._noise = self._random.normal(0.0, 1.0, 4096)
        self._bursts = []
        self._reads = 0

    def strike(self, t, pad, level_dbfs):
        """Strike at 1 m/s for -20 dBFS."""
        mat = self._mat(STROKE_S)
        mat.strike(0.0, pad, 10.0 ** ((level_dbfs + 20.0) / 20.0))
        self._add(t, mat)

    def press(self, t, pad):
        mat = self._mat(HAND_S)
        mat.hand(0.0, pad, "quick")
        self._add(t, mat)

    def rub(self, pad, start_t, end_t):
        """Cloth that rubs weighs nothing."""

    def rub_ends(self, pad, t):
        """Cloth that rubs weighs nothing."""

    def count(self, t, channel):
        """Return the ten bits that the converter reads of a pad at `t`."""
        self._bursts = [burst for burst in self._bursts if t < burst[0] + HAND_S]
        self._reads += 1
        level = self._rest[channel]
        if more := sum(
            forces[n, channel] for start, forces in self._bursts if 0 <= (n := int((t - start) * RATE)) < len(forces)
        ):
            level = counts(self._pad.rest_n + more, self._part[channel], self._pad.divider_ohm)
        return min(FSR_TOP, max(0, round(float(level) + self._noise[self._reads % 4096]))) >> 2

    def lift(self, pad):
        """Take the tile off the sensor of `pad`."""
        self._rest[pad - 1] = 0.0

    def _mat(self, seconds):
        return FsrMat(int(self._random.integers(1 << 30)), seconds, pad=self._pad)

    def _add(self, t, mat):
        self._bursts.append((t, mat.forces() - self._pad.rest_n))
