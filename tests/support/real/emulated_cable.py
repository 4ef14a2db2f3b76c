"""An emulated mat on a cable that fails as it is told to: the face of `cable.Cable` that the faults use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cable import CableErrors
from emulated_mat import EmulatedMat

from pi_controller.errors import PortError
from pi_controller.simulation.board import POWER_ON

if TYPE_CHECKING:
    from emulated_board import EmulatedBoard
    from emulated_mat import Port

RUNS_S = 1.6
"""So long after power the firmware runs."""


class EmulatedCable(CableErrors, EmulatedMat):
    """`board` is given power anew. Sensors fail by `board.change`, and a pad by `rails`."""

    def __init__(self, seed: int, board: EmulatedBoard) -> None:
        board.power_on()
        board.run(RUNS_S * 1e6)
        CableErrors.__init__(self, seed)
        EmulatedMat.__init__(self, seed, board)
        self.by_id = self.device
        self.plugged = True
        self.cut_frames = 0
        self._cut: int | None = None
        self._stalled = False

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass; return how many bytes wait for the host."""
        if self._cut == 0 and self.plugged:
            self.unplug()
        if not self.plugged:
            self.world.advance(dt)
            return 0
        said = bytes(self.said)
        self.said = bytearray(b"" if self._stalled else self.corrupt(said))
        before = len(self.read)
        super().advance(dt, expect)
        self.read[before:] = self.corrupt(bytes(self.read[before:]))
        if self._cut is not None and len(self.read) > 1:
            del self.read[min(self._cut, len(self.read) - 1) :]
            self._cut = 0
            self.cut_frames += self.read[-1] != 0
        return len(self.read)

    def open_port(self) -> Port:
        """Return the host's end of the cable, open. Raises `PortError` while it is out."""
        if not self.plugged:
            raise PortError("there is no mat board", "plug it in")
        return super().open_port()

    def unplug(self) -> None:
        """Pull the cable: the board loses power."""
        self.gone()
        self.plugged, self._cut, self._stalled = False, None, False

    def plug(self, serial: str | None = None) -> None:
        """Put it back: the board starts from power."""
        del serial  # its port has no name here
        self.plugged = True
        self.board.change("reads", True)
        self.board.change("power", True)
        self.started_again()

    def cut(self, after: int | None = None) -> None:
        """Pull it in the middle of a frame, after so many more bytes."""
        self._cut = int(self._random.integers(1, 1200)) if after is None else max(after, 1)

    def stall(self) -> None:
        """From now on nothing goes through."""
        self._stalled = True
        self.board.change("reads", False)

    def flow(self) -> None:
        """Let everything through again."""
        self._stalled = False
        self.board.change("reads", True)

    def reset_board(self, reason: int = 0) -> None:
        """The board starts over, from power or because its loop hangs; the port stays."""
        self.board.change("power" if reason == POWER_ON else "hang")
