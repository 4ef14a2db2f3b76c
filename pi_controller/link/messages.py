"""The messages of the link: readings of the board, stamped with the host's clock.

The same types come from the serial board, the simulator, a recording and a build without the board. Times `t` are
seconds on the host's monotonic clock (or virtual time), never the board's. Arrays are read-only by custom: whoever
needs to change one copies it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Piezo:
    """A block of strike samples: `samples` int16 of shape (n, pads), ADC counts around mid-scale removed (0 = rest).

    `t` is the time of the first sample, `rate` samples a second, `index` its number since the board started: a jump
    in `index` between two blocks is a gap. `full_scale` is the count of the rail (2048 for 12 bits).
    """

    t: float
    index: int
    rate: float
    samples: NDArray[np.int16]
    full_scale: int = 2048


@dataclass(frozen=True, slots=True)
class Touch:
    """One scan of the touch strips: `counts` int16 of shape (pads, strips); a hand lowers the count."""

    t: float
    counts: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Field:
    """One scan of the magnetometers: `ut` float of shape (sensors, 3), microtesla; `ok` false: silent or saturated."""

    t: float
    ut: NDArray[np.float64]
    ok: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Health:
    """The board's own counters, cumulative since it started."""

    t: float
    uptime_s: float
    overflows: int
    i2c_errors: int
    bad_frames: int
    worst_loop_us: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Strike samples are missing from `t` to `until` (host time). Nothing can be said about that stretch."""

    t: float
    until: float
    samples: int


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The board answered HELLO."""

    t: float
    board_id: str
    firmware: str
    boot_count: int
    boot_reason: str
    pads: int


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The board is gone, silent, or refused; `why` is one line for the judge, and names no port's path."""

    t: float
    why: str


@dataclass(frozen=True, slots=True)
class BoardEvent:
    """An event of the board itself, delivered exactly once and in order for each boot.

    `number` counts from 1 in each start, `kind` is a name of `WORDS`, `part` and `value` as `firmware/README.md` has
    them. `lost` events before this one were never heard. `t` may lie well before the link was up.
    """

    t: float
    number: int
    kind: str
    part: int
    value: int
    lost: int = 0

    @property
    def public(self) -> bool:
        """Whether it may be published. A magnetometer's fault could tell where a bead lies: no page, journal or log."""
        return not self.kind.startswith("magnetometer")

    @property
    def good(self) -> bool:
        """Whether nothing is amiss: it works, or works again. No more than `line` does it look at a magnetometer."""
        return self.kind in _GOOD or (self.kind == "tested" and self.part == (2 << _PADS) - 1)

    @property
    def sound(self) -> bool:
        """Whether a self test found all in order, the magnetometers too: as secret as `whole_line`."""
        return self.good and self.kind == "tested" and self.value == _ALL

    @property
    def line(self) -> str:
        """One line for the judge; empty where it is not `public`. Nothing in it comes from a magnetometer."""
        return self._words(secret=False) if self.public else ""

    @property
    def whole_line(self) -> str:
        """One line with every detail, for whoever repairs the mat while no bead is hidden."""
        return self._words(secret=True)

    def _words(self, *, secret: bool) -> str:
        if self.kind == "tested":
            return _tested(self.part, self.value if secret else _ALL)
        part = REASONS.get(self.part, "unknown") if self.kind == "started" else self.part
        return WORDS[self.kind].format(part=part, value=self.value, thousands=self.value / 1000)


REASONS = {1: "power", 2: "reset", 3: "watchdog", 4: "restart"}
"""A start's reason, by its number on the wire: power, the board's RUN button, its watchdog, or its own program."""
WORDS = {
    "started": "The board started ({part}).",
    "brown-out": "The board started {value} times in short order: check its supply.",
    "lost": "The board lost {value} blocks of samples.",
    "bus stuck": "A chip holds the board's I2C bus.",
    "bus free": "The board's I2C bus is free again, after {value} clocks.",
    "touch silent": "The touch chip does not answer.",
    "touch back": "The touch chip answers again, after {thousands:.0f} s.",
    "magnetometer silent": "Magnetometer {part} does not answer.",
    "magnetometer back": "Magnetometer {part} answers again, after {thousands:.0f} s.",
    "piezo rail": "The piezo of pad {part} is at its rail.",
    "piezo stuck": "The piezo of pad {part} has not moved for {thousands:.0f} s.",
    "piezo good": "The piezo of pad {part} is good again, after {thousands:.0f} s.",
    "tested": "",
    "late": "A pass of the board's loop took {thousands:.0f} ms.",
    "host silent": "The board heard nothing for {thousands:.0f} s, and put its lights out.",
    "host back": "The board hears this program again, after {thousands:.0f} s.",
    "slow": "The board manages only {value} in 100 of its scans.",
}
"""Kind of a `BoardEvent`, in the order of its numbers on the wire (from 1), and its line."""
_GOOD = {"started", "bus free", "touch back", "magnetometer back", "piezo good", "host back"}
_PADS, _ALL = 4, (1 << 24) - 1


def _tested(seen: int, magnetometers: int) -> str:
    silent = [f"the piezo of pad {pad + 1}" for pad in range(_PADS) if not seen >> pad & 1]
    silent += [] if seen >> _PADS & 1 else ["the touch chip"]
    silent += [f"magnetometer {i + 1}" for i in range(_ALL.bit_length()) if not magnetometers >> i & 1]
    if not silent:
        return "The board's self test found nothing wrong."
    return f"The board's self test found no life in {', '.join(silent)}."


Message = Piezo | Touch | Field | Health | Gap | LinkUp | LinkDown | BoardEvent
