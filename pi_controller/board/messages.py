"""The link's messages: the board's readings, stamped with the host's clock.

The serial board, the simulator, a recording and a build without the board all produce the same types. Times `t` are
seconds on the host's monotonic clock (or virtual time), never the board's. Treat arrays as read-only: copy one before
changing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.board import wire

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Piezo:
    """A block of strike samples: `samples` int16 of shape (n, pads), ADC counts minus mid-scale (0 = rest).

    `t` is the time of the first sample, `rate` the samples a second, `index` the first sample's number since the board
    started: a jump in `index` between two blocks is a gap. `full_scale` is the count of the rail: 32768 for the board's
    sums of 16 readings, 2048 for a converter of twelve bits, 512 for one of ten.
    """

    t: float
    index: int
    rate: float
    samples: NDArray[np.int16]
    full_scale: int = 2048

    @property
    def counts(self) -> NDArray[np.float64]:
        """The samples in counts of a 12-bit converter, whatever their full scale."""
        return self.samples.astype("f8") * (2048 / self.full_scale)


@dataclass(frozen=True, slots=True)
class Touch:
    """One scan of the touch strips: `counts` int16 of shape (pads, strips); a hand lowers the count."""

    t: float
    counts: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Field:
    """One scan of the magnetometers: `ut` float (sensors, 3), microtesla; `ok` is false if silent or saturated."""

    t: float
    ut: NDArray[np.float64]
    ok: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BoardHealth:
    """The board's own counters, cumulative since it started."""

    t: float
    uptime_s: float
    overflows: int
    i2c_errors: int
    bad_frames: int
    worst_loop_us: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Strike samples are missing from `t` to `until` (host time); strikes in between are unknown."""

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
    """The board is gone, silent, or refused; `why` is one line for the judge, without a port's path."""

    t: float
    why: str


@dataclass(frozen=True, slots=True)
class BoardEvent:
    """An event of the board itself, delivered exactly once and in order for each boot.

    `number` counts from 1 in each boot, `kind` is a key of `WORDS`, `part` and `value` are described in
    `help/pages/reference/wire.md`. `lost` is the number of events before this one that never arrived. `t` may be long
    before the link came up.
    """

    t: float
    number: int
    kind: str
    part: int
    value: int
    lost: int = 0

    @property
    def is_public(self) -> bool:
        """True if it may be published. A magnetometer's fault could reveal a bead, so it stays off pages and logs."""
        return not self.kind.startswith("magnetometer")

    @property
    def is_good(self) -> bool:
        """True if the event is not a fault. Like `line` it ignores magnetometers."""
        return self.kind in _GOOD or (self.kind == "tested" and self.part == (2 << _PADS) - 1)

    @property
    def is_all_good(self) -> bool:
        """True if a self test found all sensors in order, magnetometers included: as secret as `detailed_line`."""
        return self.is_good and self.kind == "tested" and self.value == _ALL

    @property
    def line(self) -> str:
        """One line for the judge, empty if the event is not `is_public`. It never depends on a magnetometer."""
        return self._words(secret=False) if self.is_public else ""

    @property
    def detailed_line(self) -> str:
        """One line with every detail, for repairing the mat while no bead is hidden."""
        return self._words(secret=True)

    def _words(self, *, secret: bool) -> str:
        if self.kind == "tested":
            return _describe_self_test(self.part, self.value if secret else _ALL)
        if self.kind == "wiring":
            return _describe_wiring(self.value)
        if self.kind == "strips":
            found = ", ".join(f"{pf:.0f}" for pf in wire.strips_pf(self.value))
            return f"The touch strips of pad {self.part} have {found} pF."
        if self.kind == "discs":
            return _describe_step(self.part, self.value)
        part = REASONS.get(self.part, "unknown") if self.kind == "started" else self.part
        return WORDS[self.kind].format(part=part, value=self.value, thousands=self.value / 1000)


REASONS = {1: "power", 2: "reset", 3: "watchdog", 4: "restart"}
"""Reason of a start by its number on the wire: power, the board's RUN button, its watchdog, or its own program."""
WORDS = {
    "started": "The board started ({part}).",
    "brown-out": "The board started {value} times within a short time: check its supply.",
    "lost": "The board lost {value} blocks of samples.",
    "bus stuck": "A chip blocks the board's I2C bus.",
    "bus free": "The board's I2C bus is free again, after {value} clocks.",
    "touch silent": "The touch chip does not answer.",
    "touch back": "The touch chip answers again, after {thousands:.0f} s.",
    "magnetometer silent": "Magnetometer {part} does not answer.",
    "magnetometer back": "Magnetometer {part} answers again, after {thousands:.0f} s.",
    "piezo rail": "The piezo of pad {part} is at its rail.",
    "piezo stuck": "The piezo of pad {part} has given no signal for {thousands:.0f} s.",
    "piezo good": "The piezo of pad {part} works again, after {thousands:.0f} s.",
    "tested": "",
    "late": "One pass of the board's main loop took {thousands:.0f} ms.",
    "host silent": "The board received no data for {thousands:.0f} s, and switched its lights off.",
    "host back": "The board receives data from this program again, after {thousands:.0f} s.",
    "slow": "The board completes only {value} % of its scans.",
    "wiring": "",
    "strips": "",
    "discs": "",
}
"""Line of each kind of `BoardEvent`, in the order of the kinds' numbers on the wire (from 1)."""
_GOOD = {"started", "bus free", "touch back", "magnetometer back", "piezo good", "host back", "strips", "discs"}
_PADS, _ALL = 4, (1 << 24) - 1


def _describe_wiring(wrong: int) -> str:
    if wrong & wire.EXCHANGED:
        return "SDA and SCL of the board's I2C bus are exchanged."
    low = [name for name, bit in (("SDA", wire.SDA_LOW), ("SCL", wire.SCL_LOW)) if wrong & bit]
    return f"{' and '.join(low)} of the board's I2C bus {'do' if low[1:] else 'does'} not rest high."


def _describe_step(pad: int, value: int) -> str:
    if value == wire.NOT_SWITCHED:
        return f"Pad {pad} does not follow the board's bias pin."
    if not value:
        return f"Pad {pad} does not rise when its bias is switched on."
    return f"Pad {pad} rises in {wire.disc_ms(value):.1f} ms when its bias is switched on."


def _describe_self_test(seen: int, magnetometers: int) -> str:
    silent = [f"the piezo of pad {pad + 1}" for pad in range(_PADS) if not seen >> pad & 1]
    silent += [] if seen >> _PADS & 1 else ["the touch chip"]
    silent += [f"magnetometer {i + 1}" for i in range(_ALL.bit_length()) if not magnetometers >> i & 1]
    if not silent:
        return "The board's self test found no faults."
    return f"The board's self test got no answer from {', '.join(silent)}."


Message = Piezo | Touch | Field | BoardHealth | Gap | LinkUp | LinkDown | BoardEvent
