"""A message source for sensors on the Pi's own pins, without the mat board: [board] port = "pins".

Piezos by an MCP3008, touch strips by an MPR121, no magnetometers. The Pi reads the piezos as often as it can, which is
less often than the board does: `reads` says how often. A reader that cannot be opened, or ends, is a link that is down,
and is looked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.errors import PortError
from pi_controller.link.messages import LinkDown, LinkUp, Message, Touch
from pi_controller.link.resample import RATES, REACHED, Resampler, grid_rate, measured
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pi_controller.drivers.readings import PiezoReader, StripReader

AGAIN_S = 1.0
"""How often readers that are missing are looked for."""
MEASURE_S = 0.5
"""Readings of so long give their rate."""
STARTS_S = 15.0
"""So long a reader may take to begin: Python is slow to start on a small Pi."""
SILENT_S = 1.0
"""A reader that has begun and then sends nothing for so long is lost."""
SLOWER = 0.8
"""Share of the grid's rate under which the readings have become too slow for it."""
BOARD_ID = "pins"


class PinsSource:
    """Listens to what `open_piezos` and `open_strips` open; both raise `PortError` while there is nothing to open.

    It has the face of `link.source.Source`. Times are those of the readers' clock.
    """

    def __init__(self, open_piezos: Callable[[], PiezoReader], open_strips: Callable[[], StripReader]) -> None:
        self.missing: PortError | None = None
        """Why the piezos cannot be read; None while they are."""
        self.why = ""
        """Why there is no link, in one line; empty while there is one."""
        self.sent = 0
        self.reads = 0.0
        """How often each piezo is read, a second, as last measured."""
        self._open_piezos = open_piezos
        self._open_strips = open_strips
        self._piezos: PiezoReader | None = None
        self._strips: StripReader | None = None
        self._grid: Resampler | None = None
        self._index = 0
        self._ups = 0
        self._early: list[NDArray[Any]] = []
        self._since = self._received_at = 0.0
        self._look_at = float("-inf")

    @property
    def up(self) -> bool:
        """Whether readings come."""
        return self._grid is not None

    @property
    def pinging(self) -> bool:
        """Never: the readings bear the host's time."""
        return False

    @property
    def port(self) -> PiezoReader | None:
        """The piezos' reader, while it is open."""
        return self._piezos

    @property
    def strips_missing(self) -> PortError | None:
        """Why the touch strips cannot be read; None while they can. Strip faults carry it to the table."""
        return self._strips.missing if self._strips is not None else None

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Take in what was read, let time pass to `t`; return what came. `at_least` means nothing here."""
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
        self._look_at = t + AGAIN_S
        self._piezos = self._open_piezos()
        self._strips = self._open_strips()
        self._since, self._received_at = t, t + STARTS_S - SILENT_S

    def _read(self, t: float) -> list[Message]:
        assert self._piezos is not None
        scans = self._piezos.take()
        if len(scans):
            self._received_at = t
        elif t - self._received_at > SILENT_S:
            raise PortError(f"{self._piezos.name} tells nothing", "check its wires, then start the table again")
        if self._grid is not None:
            out = self._grid.feed(scans)
            self._index = self._grid.next
            return out + self._follow(t, scans)
        if len(scans):
            self._early.append(scans)
        return self._begin(t) if self._early else []

    def _begin(self, t: float) -> list[Message]:
        """Choose the grid once enough was read to know its rate."""
        scans = np.concatenate(self._early)
        began = scans["began"]
        if began[-1] - began[0] < MEASURE_S or len(scans) < 3:
            return []
        self._early.clear()
        self.reads = measured(began)
        rate = grid_rate(self.reads)
        if rate is None:
            raise PortError(
                "the piezos are read too slowly to feel strikes",
                f"each is read {self.reads:,.0f} times a second, {REACHED * RATES[-1]:,.0f} are needed: "
                "stop other programs on this Pi, or use the mat board",
            )
        self._grid = Resampler(float(began[-1]), rate, pinmap().pi.mcp3008.bits, self._index)
        self._ups += 1
        self.missing, self.why = None, ""
        if self._strips is not None:
            self._strips.take()  # what was felt before there was a link is old
        return [LinkUp(t, BOARD_ID, "", self._ups, "opened", PADS)]

    def _follow(self, t: float, scans: NDArray[Any]) -> list[Message]:
        """Measure on; readings that have become too slow for the grid get another one."""
        self._early.append(scans)
        seen = np.concatenate(self._early)
        if len(seen) < 3 or seen["began"][-1] - seen["began"][0] < 4 * MEASURE_S:
            return []
        self._early.clear()
        self.reads = measured(seen["began"])
        if self._grid is None or self.reads >= SLOWER * self._grid.rate:
            return []
        self._grid = None
        self._index += 1  # a jump: the next grid is another
        self.why = f"each piezo is read only {self.reads:,.0f} times a second now"
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
        is_news = was_up or error.what != self.why
        self.why = error.what
        return [LinkDown(t, error.what)] if is_news else []


def pins_source(clock: Callable[[], float]) -> PinsSource:
    """Return the source of this Pi's own pins, not opened yet; `clock` is the one that its `step` goes by."""
    from pi_controller.drivers.readings import ReaderProcess  # noqa: PLC0415 - only a table without a board needs them
    from pi_controller.drivers.touch_chip import Strips, StripThread, open_i2c  # noqa: PLC0415

    return PinsSource(lambda: ReaderProcess(clock), lambda: StripThread(Strips(open_i2c), clock))
