"""Players, a simulated mat and a table that take turns in virtual time, so that an hour of play is a minute of work.

Each tick the players act, the world and the firmware move on and write to their pseudo-terminal, the table reads
exactly those bytes, and the players look at what it shows. The table may sit in this process (`simulation`) or in
another one (`elsewhere`), where a test can kill it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pi_controller.sim.mat import SimMat
    from pi_controller.sim.people import People
    from pi_controller.table.view import View

TICK_S = 0.032
"""Virtual seconds a tick: four piezo blocks."""


class TableSide(Protocol):
    """The table's end of the terminal."""

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Take in the `n` bytes the mat wrote, let time pass to `t`; return the view and the bytes sent back."""
        ...


class LockStep:
    """`t` is virtual seconds since the mat was laid out, plus `start`."""

    def __init__(self, mat: SimMat, players: People, side: TableSide, start: float = 0.0) -> None:
        self._mat = mat
        self._players = players
        self._side = side
        self.t = start
        self.view, self.sent = side.step(start, 0)
        players.watch(self.view)

    def tick(self, dt: float = TICK_S) -> View:
        """Let `dt` seconds pass for everyone; return what the table shows."""
        self._players.act(self.t)
        n = self._mat.advance(dt, self.sent)
        self.t += dt
        self.view, self.sent = self._side.step(self.t, n)
        self._players.watch(self.view)
        return self.view

    def again(self) -> None:
        """The table was started anew: look at what it shows."""
        self.sent = 0
        self.view, self.sent = self._side.step(self.t, 0)
        self._players.watch(self.view)

    def play(self, limit_s: float = 4 * 3600.0) -> View:
        """Play until the game is over, or for `limit_s` virtual seconds."""
        end = self.t + limit_s
        while self.view.phase != "over" and self.t < end:
            self.tick()
        return self.view
