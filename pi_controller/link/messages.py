"""What the link hands up: readings of the board, stamped with the host's clock.

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
    """The board is gone, silent, or refused; `why` is one line for the judge."""

    t: float
    why: str


Message = Piezo | Touch | Field | Health | Gap | LinkUp | LinkDown
