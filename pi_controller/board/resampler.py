"""Resamples irregular ADC readings to a uniform rate; longer pauses become gaps.

The strike detector needs evenly spaced samples; a program that reads a converter gets them unevenly. Each channel is
interpolated linearly at the grid's times, using its own reading times (the pads are read one after the other). A longer
pause is never interpolated: it becomes a `Gap`.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Gap, Message, Piezo

RATES = (1500.0, 1250.0, 1000.0)
"""Possible rates of the grid, samples a second; the first that the readings reach is used. With ten bits the strike
detector's low band performs better than those it uses from 2000 on (`python tests/tools/measure_slow.py`)."""
REACHED = 0.97
"""Share of a grid's rate that the readings must reach."""
LATE_S = 0.004
"""Readings further apart than this leave a gap. A stroke rings ten times as long."""
KEPT = 4
"""Readings kept from one call to the next."""


def measure_rate(began: NDArray[np.float64]) -> float:
    """Return the readings per second, from the median interval between their times `began`."""
    return 1.0 / float(np.median(np.diff(began)))


def grid_rate(readings_a_second: float) -> float | None:
    """Return the grid's rate for the given rate of readings, or None if that is too low for any grid."""
    return next((rate for rate in RATES if readings_a_second >= REACHED * rate), None)


class Resampler:
    """Resamples scans (dtype `chips.SCAN`), fed oldest first. Sample n of the grid is at `origin` + n / `rate`."""

    def __init__(self, origin: float, rate: float, bits: int, index: int = 0) -> None:
        """Take the number `index` of the first sample, which is at `origin`."""
        self.rate = rate
        self.next = index
        """The number of the next sample."""
        self._origin = origin - index / rate
        self._full_scale = 1 << bits - 1
        self._before: NDArray[Any] | None = None

    def feed(self, scans: NDArray[Any]) -> list[Message]:
        """Return the blocks completed by these readings, and the gaps between them, in order."""
        if self._before is not None:
            scans = np.concatenate((self._before, scans))
        if len(scans) < 2:
            self._before = scans
            return []
        out: list[Message] = []
        breaks = np.flatnonzero(np.diff(scans["began"]) > LATE_S) + 1
        for i, run in enumerate(np.split(scans, breaks)):
            if i:
                out += self._gap(float(run["began"][0]))
            out += self._block(run)
        # older readings are not needed again: the samples between them have been returned
        self._before = scans[max(int(breaks[-1]) if len(breaks) else 0, len(scans) - KEPT) :]
        return out

    def _at(self, index: int) -> float:
        return self._origin + index / self.rate

    def _gap(self, until: float) -> list[Message]:
        """Skip the samples before the reading at `until`."""
        first = self.next
        self.next = max(first, int(np.ceil((until - self._origin) * self.rate - 1e-6)) + 1)
        missing = self.next - first
        return [Gap(self._at(first), self._at(self.next), missing)] if missing else []

    def _block(self, run: NDArray[Any]) -> list[Message]:
        """Interpolate one unbroken run of readings on the grid, up to the last time that all channels cover."""
        pads = int(run["counts"].shape[1])
        began, ended = (cast("NDArray[np.float64]", run[name])[:, None] for name in ("began", "ended"))
        moments = began + (ended - began) * ((np.arange(pads) + 0.5) / pads)
        last = int(np.floor((float(moments[-1, 0]) - self._origin) * self.rate))
        count = last - self.next + 1
        if len(run) < 2 or count <= 0:
            return []
        first = self.next
        grid = self._origin + np.arange(first, last + 1) / self.rate
        values = np.stack([np.interp(grid, moments[:, pad], run["counts"][:, pad]) for pad in range(pads)], axis=1)
        samples = (np.rint(values) - self._full_scale).astype(np.int16)
        self.next = last + 1
        return [Piezo(self._at(first), first, self.rate, samples, self._full_scale)]
