"""Simulated mat on a cable in memory: world, board and the real firmware.

`advance` returns how many bytes the host can read, which keeps both ends in step. A simulation is no evidence about a
real mat's sensors.
"""

from __future__ import annotations

from pi_controller.board.interfaces import Port
from pi_controller.board.mock_port import CAPACITY, MockCable
from pi_controller.board.serial_port import no_board_error
from pi_controller.errors import PortError
from pi_controller.pinmap import pinmap
from pi_controller.simulation.board import POWER_ON, WATCHDOG, SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.portable_files import SimFirmware
from pi_controller.simulation.world import NS, World

OUTBOX_BYTES = 8192
"""Size of the board's USB buffer; a frame that does not fit is dropped whole."""


class SimMat:
    """A mat on a cable that can be unplugged."""

    device = "simulated mat"
    """The name of its port."""

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        self.world = World(seed, conditions)
        self.dropped = 0
        """Frames dropped because of a full outbox since the mat was created."""
        self._block_ns = pinmap().board.block_samples * NS // pinmap().board.sample_hz
        self._outbox = bytearray()
        self._boots = 0
        self.board: SimBoard
        self._open()
        self._boot(POWER_ON, None)

    @property
    def is_plugged(self) -> bool:
        """True if the mat is connected by the cable."""
        return self._cable is not None

    def open_port(self) -> Port:
        """Open the host's end of the cable. Raises `PortError`."""
        if self._cable is None:
            raise no_board_error(self.device)
        return self._cable.open()

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass and return how many bytes were sent to the host.

        The firmware runs once a block's time (8 ms), for any `dt`. With `expect`, first wait until that many bytes of
        the host have arrived (at most a second), so that a run is reproducible to the byte.
        """
        if self.is_plugged:
            self._receive(expect)
        end = self.world.ns + round(dt * NS)
        while self.world.ns < end:
            grid = (self.world.ns // self._block_ns + 1) * self._block_ns
            upto = min(grid, end)
            self.world.advance((upto - self.world.ns) / NS)
            if self.is_plugged and upto == grid:
                self._firmware.run()
        return self._flush()

    def unplug(self) -> None:
        """Pull the cable: the board loses power."""
        if self._cable is None:
            raise PortError("the mat is not plugged in", "plug it in first")
        self._cable.unplug()
        self._cable = None
        self._outbox.clear()

    def plug(self) -> None:
        """Plug the cable in: the board starts from power-on."""
        if self.is_plugged:
            raise PortError("the mat is plugged in already", "unplug it first")
        self._open()
        self._boot(POWER_ON, 0.0)

    def reset_board(self, reason: int = WATCHDOG) -> None:
        """Restart the board (by default by its watchdog); the port stays open, unsent bytes are lost."""
        self._outbox.clear()
        self._boot(reason, 0.0)

    def close(self) -> None:
        """Pull the cable if it is plugged in. Closing twice is allowed."""
        if self.is_plugged:
            self.unplug()

    def __enter__(self) -> SimMat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        self._cable: MockCable | None = MockCable(self.device)

    def _boot(self, reason: int, up_s: float | None) -> None:
        # like the board's record of starts: a power-on counts as early until one start has run long enough
        early = self.board.early if self._boots else 0
        self._boots += 1
        self.board = SimBoard(self.world, self._send, self._boots, reason, up_s)
        self.board.early = early + (reason == POWER_ON)
        self._firmware = SimFirmware(self.board)

    def _send(self, data: bytes) -> None:
        if len(self._outbox) + len(data) > OUTBOX_BYTES:
            self.dropped += 1
            self.board.overflows += 1
        else:
            self._outbox += data

    def _receive(self, expect: int) -> None:
        del expect  # all of the host's bytes are here already
        assert self._cable is not None
        self.board.arrive(self._cable.board.read())

    def _flush(self) -> int:
        """Write what the cable takes; the rest waits in the outbox."""
        if self._cable is None or (host := self._cable.board.far) is None:
            return 0
        n = min(len(self._outbox), CAPACITY - len(host.inbox))
        self._cable.board.write(bytes(self._outbox[:n]))
        del self._outbox[:n]
        return n
