"""Simulated mat on a pseudo-terminal: world, board and the real firmware.

`device` is a path that stays the same over replugging, as /dev/serial/by-id does. A test moves it on by `advance` and
reads exactly as many bytes as that returns: both ends then go in step. This is a simulation: that a controller works
with it says nothing about a real mat's sensors.
"""

from __future__ import annotations

import os
import select
import tempfile
import tty
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import PortError
from pi_controller.pinmap import pinmap
from pi_controller.sim.board import POWER_ON, WATCHDOG, SimBoard
from pi_controller.sim.firmware import Firmware
from pi_controller.sim.world import NS, World

if TYPE_CHECKING:
    from pi_controller.sim.conditions import Conditions

OUTBOX_BYTES = 8192
"""What the board's USB stack holds when the host does not read; a frame that does not fit is dropped whole."""
LINK_NAME = "usb-Moccasin_Mat_simulated-if00"


class SimMat:
    """A mat on a pseudo-terminal. Close it (or use `with`) to give the terminal and the link back."""

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        self.world = World(seed, conditions)
        self.dropped = 0
        """Frames that found the board's outbox full since the mat was made."""
        self._folder = tempfile.TemporaryDirectory(prefix="moccasin-mat-")
        self.device = str(Path(self._folder.name) / LINK_NAME)
        self._block_ns = pinmap().board.block_samples * NS // pinmap().board.sample_hz
        self._outbox = bytearray()
        self._master: int | None = None
        self._slave: int | None = None
        self._boots = 0
        self.board: SimBoard
        self._open()
        self._boot(POWER_ON, None)

    @property
    def plugged(self) -> bool:
        """Whether the mat is on the cable."""
        return self._master is not None

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass and return how many bytes went to the host.

        The firmware runs once a block's time (8 ms), whatever `dt` is. With `expect`, wait until that many bytes of
        the host have come through the terminal first (at most a second), so that a run repeats to the byte.
        """
        if self._master is not None:
            self._receive(expect)
        end = self.world.ns + round(dt * NS)
        while self.world.ns < end:
            grid = (self.world.ns // self._block_ns + 1) * self._block_ns
            upto = min(grid, end)
            self.world.advance((upto - self.world.ns) / NS)
            if self._master is not None and upto == grid:
                self._firmware.run()
        return self._flush()

    def unplug(self) -> None:
        """Pull the cable: the terminal hangs up, the link is gone, the board loses power."""
        if self._master is None or self._slave is None:
            raise PortError("the mat is not plugged in", "plug it in first")
        Path(self.device).unlink()
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = None
        self._outbox.clear()

    def plug(self) -> None:
        """Put the cable back: a new terminal under the same name, and a board that starts from power-on."""
        if self._master is not None:
            raise PortError("the mat is plugged in already", "unplug it first")
        self._open()
        self._boot(POWER_ON, 0.0)

    def reset_board(self, reason: int = WATCHDOG) -> None:
        """The board starts over (by default its watchdog bit); the terminal stays, what it had not sent is lost."""
        self._outbox.clear()
        self._boot(reason, 0.0)

    def close(self) -> None:
        """Give everything back. Closing twice is fine."""
        if self._master is not None:
            self.unplug()
        self._folder.cleanup()

    def __enter__(self) -> SimMat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        Path(self.device).symlink_to(os.ttyname(self._slave))

    def _boot(self, reason: int, up_s: float | None) -> None:
        # as the board's own file of starts: one from power comes early until the start before has run calmly
        early = self.board.early if self._boots else 0
        self._boots += 1
        self.board = SimBoard(self.world, self._send, self._boots, reason, up_s)
        self.board.early = early + (reason == POWER_ON)
        self._firmware = Firmware(self.board)

    def _send(self, data: bytes) -> None:
        if len(self._outbox) + len(data) > OUTBOX_BYTES:
            self.dropped += 1
            self.board.overflows += 1
        else:
            self._outbox += data

    def _receive(self, expect: int) -> None:
        assert self._master is not None
        received = 0
        while True:
            if received < expect and not select.select([self._master], [], [], 1.0)[0]:
                return
            try:
                data = os.read(self._master, 4096)
            except BlockingIOError:
                return
            received += len(data)
            self.board.arrive(data)

    def _flush(self) -> int:
        """Write what the terminal takes; the rest waits in the outbox."""
        if self._master is None or not self._outbox:
            return 0
        try:
            n = os.write(self._master, self._outbox)
        except BlockingIOError:
            return 0
        del self._outbox[:n]
        return n
