"""Connection to a simulated mat in lock step, on virtual time: for `doctor` and `calibrate`, which play no game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pi_controller.drivers.serial_port import SerialPort
from pi_controller.link.connection import BoardConnection
from pi_controller.sim.mat import SimMat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.link.messages import Message
    from pi_controller.sim.conditions import Conditions
    from pi_controller.sim.faulty import Fault

TICK_S = 0.032


class SimListening:
    """A `BoardConnection` at a simulated mat; `faults` are built into its board. `t` is virtual seconds."""

    def __init__(self, seed: int, conditions: Conditions | None = None, faults: Sequence[Fault] = ()) -> None:
        self.mat = SimMat(seed, conditions)
        for fault in faults:
            fault.inject(self.mat.board)
        self.connection = BoardConnection(lambda: SerialPort(self.mat.device))
        self.t = 0.0
        self._sent = 0

    def tick(self, dt: float = TICK_S) -> list[Message]:
        """Let `dt` seconds pass at both ends; return what the board said."""
        waiting = self.mat.advance(dt, self.connection.sent - self._sent)
        self._sent = self.connection.sent
        self.t += dt
        return self.connection.step(self.t, waiting)

    def close(self) -> None:
        """Give the port and the mat back."""
        self.connection.close()
        self.mat.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
