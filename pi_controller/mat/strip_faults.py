"""Detects faulty touch strips: silent, stuck at one count, or unstable.

A strip is judged by its own readings against those of the others, scan by scan; it is believed again as soon as it
reads like the others. What a hand does to a strip lasts too short and is too smooth to look like a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Wrong = Literal["silent", "stuck", "restless"]

LEAST_COUNT = 20
"""An electrode reading less is not there (chip off, wire broken)."""
STUCK_SCANS = 500
"""So many scans (10 s) at exactly one count while others change: nothing is measured."""
RESTLESS = 7.0
"""Mean step from scan to scan, counts, that no hand keeps up: a loose wire. Noise of 2 counts makes 2.3."""
RESTLESS_SCANS = 100
"""Over about so many scans."""


@dataclass(frozen=True, slots=True)
class StripFault:
    """The strip `strip` (0 first, from the hider's edge) of `pad` (1 first) is not judged by: it is `wrong`."""

    pad: int
    strip: int
    wrong: Wrong

    def __str__(self) -> str:
        return f"touch strip {self.strip + 1} of pad {self.pad}, counted from the hider's edge, is {self.wrong}"


class StripFaults:
    """Watches `shape` = (pads, strips) electrodes; feed it every scan."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._last: NDArray[np.float64] | None = None
        self._same = np.zeros(shape, dtype=np.int64)
        self._step = np.zeros(shape)
        self._silent = np.zeros(shape, dtype=np.bool_)
        self._restless = np.zeros(shape, dtype=np.bool_)

    def feed(self, counts: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Take one scan (pads, strips); return which strips cannot be believed."""
        self._silent = counts < LEAST_COUNT
        if self._last is not None:
            step = np.abs(counts - self._last)
            self._same = np.where(step == 0.0, self._same + 1, 0)
            self._step += (np.minimum(step, 6.0 * RESTLESS) - self._step) / RESTLESS_SCANS
            self._restless = self._step > np.where(self._restless, RESTLESS / 2.0, RESTLESS)
        self._last = counts
        return self._silent | self._stuck | self._restless

    @property
    def _stuck(self) -> NDArray[np.bool_]:
        stuck = self._same >= STUCK_SCANS
        if stuck.any() and not self._silent.all():
            stuck &= bool(np.median(self._same[~self._silent]) < STUCK_SCANS / 10)
        return stuck

    @property
    def found(self) -> tuple[StripFault, ...]:
        """The faults that stand now, pad by pad."""
        wrong: list[StripFault] = []
        for pad, strip in np.ndindex(*self._silent.shape):
            if self._silent[pad, strip]:
                wrong.append(StripFault(pad + 1, strip, "silent"))
            elif self._stuck[pad, strip]:
                wrong.append(StripFault(pad + 1, strip, "stuck"))
            elif self._restless[pad, strip]:
                wrong.append(StripFault(pad + 1, strip, "restless"))
        return tuple(wrong)
