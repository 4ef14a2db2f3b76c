"""Fault injection on the simulated serial cable: unplugged, renamed, stalled, noisy, lossy.

The bytes go through a real pseudo-terminal that pyserial reads. All faults happen on virtual time and are drawn from
the seed, so they can be repeated. It tests the host's reaction to the bytes of a bad cable, not a real cable's
contacts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pty_mat import PtyMat

from pi_controller.errors import PortError, UsageError
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions

NAME = "usb-MicroPython_Mat_Board_{}-if00"
"""udev's name for the board's port; a board with another serial number gets another name."""
_PATCHED = ("piezo", "touch", "magnet", "send", "arrive")


class Cable(PtyMat):
    """A simulated mat on a cable that fails on demand. It changes only during `advance`.

    `by_id` is the folder of the port's name, like /dev/serial/by-id.
    """

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        self.flips = 0
        """Bits flipped so far, both directions."""
        self.leaked = 0
        """Bytes lost so far, both directions."""
        self.cut_frames = 0
        """Number of times it was pulled in the middle of a frame."""
        self.faults: list[Callable[[SimBoard], object]] = []
        """Faults injected into every boot of the board from now on (such as `SimulatedFault.inject`)."""
        self._random = np.random.default_rng([seed, 0xCAB1E])
        self._bit_errors = self._byte_loss = 0.0
        self._stalled = self._fresh = False
        self._cut: int | None = None
        self._owed = 0
        PtyMat.__init__(self, seed, conditions)
        self.by_id = Path(self.device).parent
        self._name(NAME.format("e6614103"))

    def set_error_rates(self, bit_errors: float = 0.0, byte_loss: float = 0.0) -> None:
        """Set the share of bits to flip and of bytes to lose from now on, in both directions; 0 stops it."""
        if not (0.0 <= bit_errors < 1.0 and 0.0 <= byte_loss < 1.0):
            raise UsageError("a share of bits or bytes is from 0 to below 1", "choose a smaller one")
        self._bit_errors, self._byte_loss = bit_errors, byte_loss

    def corrupt(self, data: bytes) -> bytes:
        """Return `data` with random errors at the rates set by `set_error_rates`."""
        if not (self._bit_errors or self._byte_loss):
            return data
        worn = np.frombuffer(data, np.uint8)
        if self._bit_errors:
            bits = np.unpackbits(worn)
            hit = self._random.random(len(bits)) < self._bit_errors
            self.flips += int(hit.sum())
            worn = np.packbits(bits ^ hit)
        if self._byte_loss:
            kept = self._random.random(len(worn)) >= self._byte_loss
            self.leaked += len(worn) - int(kept.sum())
            worn = worn[kept]
        return worn.tobytes()

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass and return how many bytes went to the host: see `PtyMat.advance`."""
        if self._cut == 0 and self.is_plugged:
            self.unplug()
        if self._fresh:
            expect, self._fresh = 0, False  # the host's bytes went into the earlier terminal
        return super().advance(dt, expect)

    def unplug(self) -> None:
        """Pull the cable: the terminal hangs up, the link is removed, the board loses power."""
        super().unplug()
        self._cut, self._stalled, self._owed = None, False, 0

    def plug(self, serial: str | None = None) -> None:
        """Plug the cable in; with `serial`, the port is named by that serial number from now on."""
        if serial is not None and not self.is_plugged:
            self.device = str(self.by_id / NAME.format(serial))
        super().plug()
        self._fresh = True

    def cut(self, after: int | None = None) -> None:
        """Pull the cable in the middle of a frame: the host gets `after` more bytes (by default random).

        The bytes are sent by the next `advance` that has any; the terminal hangs up at the one after, so that they can
        be read. At least one byte is sent, and never the last waiting one.
        """
        if not self.is_plugged:
            raise PortError("the mat is not plugged in", "plug it in first")
        self._cut = int(self._random.integers(1, 1200)) if after is None else max(after, 1)

    def stall(self) -> None:
        """Stop all bytes from now on; the board's bytes wait, or are dropped when its buffer is full."""
        self._stalled = True

    def flow(self) -> None:
        """Let bytes through again."""
        self._stalled = False

    def break_board(self, fault: Callable[[SimBoard], object]) -> None:
        """Inject `fault` into the running board and into every later boot."""
        self.faults.append(fault)
        fault(self.board)

    def mend_board(self) -> None:
        """Remove all faults from the running board."""
        self.faults.clear()
        for name in _PATCHED:
            self.board.__dict__.pop(name, None)
        self._wire()

    def _boot(self, reason: int, up_s: float | None) -> None:
        super()._boot(reason, up_s)
        self._wire()
        for fault in self.faults:
            fault(self.board)

    def _wire(self) -> None:
        arrive: Callable[[bytes], None] = self.board.arrive
        self.board.arrive = lambda data: arrive(self.corrupt(data))

    def _name(self, name: str) -> None:
        link = Path(self.device)
        self.device = str(link.rename(link.with_name(name)))

    def _send(self, data: bytes) -> None:
        super()._send(self.corrupt(data))

    def _receive(self, expect: int) -> None:
        if self._stalled:
            self._owed += expect
            return
        super()._receive(expect + self._owed)
        self._owed = 0

    def _flush(self) -> int:
        if self._stalled:
            return 0
        if self._cut is not None and len(self._outbox) > 1:
            del self._outbox[min(self._cut, len(self._outbox) - 1) :]
            self._cut = 0
            self.cut_frames += self._outbox[-1] != 0  # a zero ends a frame
        return super()._flush()
