"""Detects faulty touch strips: silent, stuck at one count, or unstable.

Each strip is compared with the others, scan by scan; it is trusted again as soon as it reads like them. A hand's
effect on a strip is too short and too smooth to look like a fault.
"""

from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

StripFaultKind = Literal["silent", "stuck", "restless"]

MIN_COUNT = 20
"""An electrode reading less is disconnected (chip off, wire broken)."""
STRIP_STUCK_SCANS = 500
"""Scans (10 s) at exactly one count, while others change, that make a strip stuck."""
RESTLESS_STEP = 7.0
"""Mean step between scans, counts, above which the wire is loose: no hand sustains it. Noise of 2 counts makes 2.3."""
RESTLESS_SCANS = 100
"""Time constant of that mean, scans."""


@dataclass(frozen=True, slots=True)
class StripFault:
    """Fault `wrong` of the strip `strip` (0 first, from the hider's edge) of `pad` (1 first)."""

    pad: int
    strip: int
    wrong: StripFaultKind

    def __str__(self) -> str:
        return f"touch strip {self.strip + 1} of pad {self.pad}, counted from the hider's edge, is {self.wrong}"


class StripMonitor:
    """Monitors `shape` = (pads, strips) electrodes; feed it every scan."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._strips = shape[1]
        count = shape[0] * shape[1]
        self._last: list[float] = []
        self._same = [0] * count
        self._step = [0.0] * count
        self._silent = [False] * count
        self._restless = [False] * count

    def feed(self, counts: list[float]) -> list[bool]:
        """Process one scan, a count for each strip, pad by pad; return for each strip whether it is faulty."""
        self._silent = [count < MIN_COUNT for count in counts]
        for k, last in enumerate(self._last):
            step = abs(counts[k] - last)
            self._same[k] = self._same[k] + 1 if step == 0.0 else 0
            self._step[k] += (min(step, 6.0 * RESTLESS_STEP) - self._step[k]) / RESTLESS_SCANS
            self._restless[k] = self._step[k] > (RESTLESS_STEP / 2.0 if self._restless[k] else RESTLESS_STEP)
        self._last = counts[:]
        return [a or b or c for a, b, c in zip(self._silent, self._find_stuck(), self._restless, strict=True)]

    def _find_stuck(self) -> list[bool]:
        stuck = [same >= STRIP_STUCK_SCANS for same in self._same]
        if any(stuck):
            others = [same for same, silent in zip(self._same, self._silent, strict=True) if not silent]
            if others and median(others) >= STRIP_STUCK_SCANS / 10:
                return [False] * len(stuck)
        return stuck

    @property
    def faults(self) -> tuple[StripFault, ...]:
        """The current faults, pad by pad."""
        faults: list[StripFault] = []
        for k, states in enumerate(zip(self._silent, self._find_stuck(), self._restless, strict=True)):
            wrong = next((name for name, state in zip(get_args(StripFaultKind), states, strict=True) if state), None)
            if wrong is not None:
                faults.append(StripFault(k // self._strips + 1, k % self._strips, wrong))
        return tuple(faults)
