"""Detects faulty touch strips: silent, stuck at one count, or unstable.

A strip is judged by its own readings against those of the others, scan by scan; it is believed again as soon as it
reads like the others. What a hand does to a strip lasts too short and is too smooth to look like a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

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
        self._strips = shape[1]
        count = shape[0] * shape[1]
        self._last: list[float] = []
        self._same = [0] * count
        self._step = [0.0] * count
        self._silent = [False] * count
        self._restless = [False] * count

    def feed(self, counts: list[float]) -> list[bool]:
        """Take one scan, a count for each strip, pad by pad; return which strips cannot be believed."""
        self._silent = [count < LEAST_COUNT for count in counts]
        for k, last in enumerate(self._last):
            step = abs(counts[k] - last)
            self._same[k] = self._same[k] + 1 if step == 0.0 else 0
            self._step[k] += (min(step, 6.0 * RESTLESS) - self._step[k]) / RESTLESS_SCANS
            self._restless[k] = self._step[k] > (RESTLESS / 2.0 if self._restless[k] else RESTLESS)
        self._last = counts[:]
        return list(map(any, zip(self._silent, self._stuck(), self._restless, strict=True)))

    def _stuck(self) -> list[bool]:
        stuck = [same >= STUCK_SCANS for same in self._same]
        if any(stuck):
            others = [same for same, silent in zip(self._same, self._silent, strict=True) if not silent]
            if others and median(others) >= STUCK_SCANS / 10:
                return [False] * len(stuck)
        return stuck

    @property
    def found(self) -> tuple[StripFault, ...]:
        """The faults that stand now, pad by pad."""
        faults: list[StripFault] = []
        for k, states in enumerate(zip(self._silent, self._stuck(), self._restless, strict=True)):
            wrong = next((name for name, state in zip(get_args(Wrong), states, strict=True) if state), None)
            if wrong is not None:
                faults.append(StripFault(k // self._strips + 1, k % self._strips, wrong))
        return tuple(faults)
