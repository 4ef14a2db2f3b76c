"""Connect to a simulated mat in lock step, on virtual time: for `mat check` and `mat calibrate`, which play no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from pi_controller.board.connection import BoardConnection
from pi_controller.board.messages import Message
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.mat import SimMat

TICK_S = 0.032


class SimListening:
    """A `BoardConnection` to a simulated mat; each of `faults` breaks its board. `t` is virtual seconds."""

    def __init__(
        self, seed: int, conditions: Conditions | None = None, faults: Sequence[Callable[[SimBoard], None]] = ()
    ) -> None:
        self.mat = SimMat(seed, conditions)
        for fault in faults:
            fault(self.mat.board)
        built = self.mat.world.conditions.magnetometers
        self.connection = BoardConnection(self.mat.open_port, built)
        self.t = 0.0
        self._sent = 0

    def tick(self, dt: float = TICK_S) -> list[Message]:
        """Advance both ends by `dt` seconds; return the board's messages."""
        waiting = self.mat.advance(dt, self.connection.sent - self._sent)
        self._sent = self.connection.sent
        self.t += dt
        return self.connection.step(self.t, waiting)

    def close(self) -> None:
        """Close the port and the mat."""
        self.connection.close()
        self.mat.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
