"""Resamples irregular ADC readings to a uniform rate: blocks of samples, and gaps where none were taken.

A strike detector wants samples that are evenly apart; a program that reads a converter takes them as it can. Each
channel is laid on the grid by its own moments (the pads are read one after the other), straight between the reading
before and the one after. No reading is ever made up across a longer stretch: there stands a `Gap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pi_controller.link.messages import Gap, Message, Piezo

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATES = (1500.0, 1250.0, 1000.0)
"""What a grid may be, samples a second: the first that the readings reach. With ten bits the strike detector's low band
serves better than those it listens to from 2000 on (`python tests/mat/measure_slow.py`)."""
REACHED = 0.97
"""Share of a rate that the readings must reach for it."""
LATE_S = 0.004
"""Readings farther apart than this leave a gap. A stroke rings ten times as long."""
KEPT = 4
"""Readings kept from one call to the next."""


def measured(began: NDArray[np.float64]) -> float:
    """Estimate the readings a second, from the median interval between them."""
    return 1.0 / float(np.median(np.diff(began)))


def grid_rate(readings_a_second: float) -> float | None:
    """Return the rate of the grid for so many readings a second, or None where they are too few for any."""
    return next((rate for rate in RATES if readings_a_second >= REACHED * rate), None)


class Resampler:
    """Sample n of the grid is at `origin` + n / `rate`. Feed it scans (dtype `readings.SCAN`), oldest first."""

    def __init__(self, origin: float, rate: float, bits: int, index: int = 0) -> None:
        """`index` is the number of the first sample, that at `origin`."""
        self.rate = rate
        self.next = index
        """The number of the next sample."""
        self._origin = origin - index / rate
        self._full_scale = 1 << bits - 1
        self._before: NDArray[Any] | None = None

    def feed(self, scans: NDArray[Any]) -> list[Message]:
        """Return the blocks that these readings complete, and the gaps between them, in order."""
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
        # those before the last are not needed again: what lies between them is told
        self._before = scans[max(int(breaks[-1]) if len(breaks) else 0, len(scans) - KEPT) :]
        return out

    def _at(self, index: int) -> float:
        return self._origin + index / self.rate

    def _gap(self, until: float) -> list[Message]:
        """Leave out the samples before the reading at `until`."""
        first = self.next
        self.next = max(first, int(np.ceil((until - self._origin) * self.rate - 1e-6)) + 1)
        missing = self.next - first
        return [Gap(self._at(first), self._at(self.next), missing)] if missing else []

    def _block(self, run: NDArray[Any]) -> list[Message]:
        """Lay one unbroken run on the grid, as far as all channels reach."""
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
