"""A message source for sensors on the Pi's own pins, without the mat board: [board] port = "pins".

Piezos on an MCP3008, touch strips on an MPR121, no magnetometers. The Pi reads the piezos as often as it can, which is
less often than the board does; `reads_per_s` is the measured rate. If a reader cannot be opened, or ends, the link is
down, and opening is retried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.interfaces import BoardOptions
from pi_controller.board.messages import LinkDown, LinkUp, Message, Touch
from pi_controller.board.resampler import RATES, REACHED, Resampler, grid_rate, measure_rate
from pi_controller.errors import PortError
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from pi_controller.board.chips import ReaderProcess
    from pi_controller.board.mpr121 import TouchThread

RETRY_S = 1.0
"""Interval between attempts to open missing readers."""
MEASURE_S = 0.5
"""Duration over which the rate of readings is measured."""
STARTS_S = 15.0
"""Longest time until a reader's first reading: Python is slow to start on a small Pi."""
SILENT_S = 1.0
"""A running reader that is silent for this long is lost."""
SLOWER = 0.8
"""Readings below this share of the grid's rate are too slow for it."""
BOARD_ID = "pins"


class PinsSource:
    """Reads the piezos and strips of `open_piezos` and `open_strips`; both raise `PortError` while they are missing.

    Implements `message_source.Source`. Times are on the readers' clock.
    """

    def __init__(self, open_piezos: Callable[[], ReaderProcess], open_strips: Callable[[], TouchThread]) -> None:
        self.missing: PortError | None = None
        """Why the piezos cannot be read; None while they are."""
        self.why = ""
        """Why there is no link, in one line; empty while the link is up."""
        self.sent = 0
        self.reads_per_s = 0.0
        """Measured readings of each piezo per second."""
        self._open_piezos = open_piezos
        self._open_strips = open_strips
        self._piezos: ReaderProcess | None = None
        self._strips: TouchThread | None = None
        self._grid: Resampler | None = None
        self._index = 0
        self._ups = 0
        self._early: list[NDArray[Any]] = []
        self._since = self._received_at = 0.0
        self._look_at = float("-inf")

    @property
    def up(self) -> bool:
        """True if readings arrive."""
        return self._grid is not None

    @property
    def pinging(self) -> bool:
        """False, because the readings have the host's time."""
        return False

    @property
    def port(self) -> ReaderProcess | None:
        """The piezos' reader; None while it is closed."""
        return self._piezos

    @property
    def strips_missing(self) -> PortError | None:
        """Why the touch strips cannot be read; None while they can. The table shows it as a strip fault."""
        return self._strips.missing if self._strips is not None else None

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Process the new readings, advance to `t`, and return the messages. `at_least` is ignored."""
        del at_least
        try:
            if self._piezos is None:
                if t < self._look_at:
                    return []
                self._open(t)
            return [*self._read(t), *self._touch()]
        except PortError as error:
            return self._lost(t, error)

    def close(self) -> None:
        """Stop the readers. Closing twice is fine."""
        for reader in (self._piezos, self._strips):
            if reader is not None:
                reader.close()
        self._piezos = self._strips = self._grid = None
        self._early.clear()

    def _open(self, t: float) -> None:
        self._look_at = t + RETRY_S
        self._piezos = self._open_piezos()
        self._strips = self._open_strips()
        self._since, self._received_at = t, t + STARTS_S - SILENT_S

    def _read(self, t: float) -> list[Message]:
        assert self._piezos is not None
        scans = self._piezos.take()
        if len(scans):
            self._received_at = t
        elif t - self._received_at > SILENT_S:
            raise PortError(f"{self._piezos.name} sends no readings", "check its wires, then start the table again")
        if self._grid is not None:
            out = self._grid.feed(scans)
            self._index = self._grid.next
            return out + self._follow(t, scans)
        if len(scans):
            self._early.append(scans)
        return self._begin(t) if self._early else []

    def _begin(self, t: float) -> list[Message]:
        """Choose the grid once enough readings have come to measure the rate."""
        scans = np.concatenate(self._early)
        began = scans["began"]
        if began[-1] - began[0] < MEASURE_S or len(scans) < 3:
            return []
        self._early.clear()
        self.reads_per_s = measure_rate(began)
        rate = grid_rate(self.reads_per_s)
        if rate is None:
            raise PortError(
                "the piezos are read too slowly to feel strikes",
                f"each is read {self.reads_per_s:,.0f} times a second, {REACHED * RATES[-1]:,.0f} are needed: "
                "stop other programs on this Pi, or use the mat board",
            )
        self._grid = Resampler(float(began[-1]), rate, pinmap().pi.mcp3008.bits, self._index)
        self._ups += 1
        self.missing, self.why = None, ""
        if self._strips is not None:
            self._strips.take()  # discard scans from before the link
        return [LinkUp(t, BOARD_ID, "", self._ups, "opened", PADS)]

    def _follow(self, t: float, scans: NDArray[Any]) -> list[Message]:
        """Keep measuring the rate; choose another grid if the readings have become too slow."""
        self._early.append(scans)
        seen = np.concatenate(self._early)
        if len(seen) < 3 or seen["began"][-1] - seen["began"][0] < 4 * MEASURE_S:
            return []
        self._early.clear()
        self.reads_per_s = measure_rate(seen["began"])
        if self._grid is None or self.reads_per_s >= SLOWER * self._grid.rate:
            return []
        self._grid = None
        self._index += 1  # a jump in the index, because the next grid differs
        self.why = f"each piezo is read only {self.reads_per_s:,.0f} times a second now"
        return [LinkDown(t, self.why)]

    def _touch(self) -> list[Message]:
        shape = (PADS, len(pinmap().touch.strips))
        if self._strips is None or self._grid is None:
            return []
        return [Touch(at, np.array(counts, np.int16).reshape(shape)) for at, counts in self._strips.take()]

    def _lost(self, t: float, error: PortError) -> list[Message]:
        was_up = self.up
        self.close()
        self.missing = error
        is_news = was_up or error.message != self.why
        self.why = error.message
        return [LinkDown(t, error.message)] if is_news else []


def make_pins_board(options: BoardOptions) -> PinsSource:
    """Return a closed source for this Pi's own pins."""
    from pi_controller.board.chips import ReaderProcess  # noqa: PLC0415
    from pi_controller.board.mpr121 import TouchChip, TouchThread, open_i2c  # noqa: PLC0415

    clock = options.clock
    return PinsSource(lambda: ReaderProcess(clock), lambda: TouchThread(TouchChip(open_i2c), clock))
