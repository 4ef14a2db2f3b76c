"""Fault injection on the simulated serial cable: unplugged, renamed, stalled, noisy, lossy.

The bytes go through a real pseudo-terminal that pyserial reads. Everything happens on virtual time and is drawn from
the seed, so that a bad moment can be had again. That the host comes through it says nothing about a real cable's
contacts, only about what the host does with what such a cable delivers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import PortError, UsageError
from pi_controller.sim.mat import SimMat

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.sim.board import SimBoard
    from pi_controller.sim.conditions import Conditions

NAME = "usb-MicroPython_Mat_Board_{}-if00"
"""How udev would name the board's port; a board with another serial number gets another name."""
_PATCHED = ("piezo", "touch", "magnet", "send", "arrive")


class Wear:
    """What a bad cable does to its bytes, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.flips = 0
        """Bits turned over so far, both ways."""
        self.leaked = 0
        """Bytes lost so far, both ways."""
        self._random = np.random.default_rng([seed, 0xCAB1E])
        self._bit_errors = self._byte_loss = 0.0

    def wear(self, bit_errors: float = 0.0, byte_loss: float = 0.0) -> None:
        """From now on turn over this share of all bits and lose this share of all bytes, both ways; 0 heals it."""
        if not (0.0 <= bit_errors < 1.0 and 0.0 <= byte_loss < 1.0):
            raise UsageError("a share of bits or bytes is from 0 to below 1", "choose a smaller one")
        self._bit_errors, self._byte_loss = bit_errors, byte_loss

    def worn(self, data: bytes) -> bytes:
        """Return `data` as it comes through: with bits flipped and bytes lost as often as `wear` says."""
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


class Cable(Wear, SimMat):
    """A simulated mat on a cable that fails when its methods say so. Between two calls of `advance` it does nothing.

    `by_id` is the folder the port is named in, as /dev/serial/by-id is.
    """

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        Wear.__init__(self, seed)
        self.cut_frames = 0
        """How often it was pulled with a frame half through."""
        self.faults: list[Callable[[SimBoard], object]] = []
        """What is built into every boot of the board from now on (`Fault.inject` of `sim.faulty` is one)."""
        self._stalled = self._fresh = False
        self._cut: int | None = None
        self._owed = 0
        SimMat.__init__(self, seed, conditions)
        self.by_id = Path(self.device).parent
        self._name(NAME.format("e6614103"))

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass and return how many bytes went to the host: see `SimMat.advance`."""
        if self._cut == 0 and self.plugged:
            self.unplug()
        if self._fresh:
            expect, self._fresh = 0, False  # what the host sent went into the terminal before this one
        return super().advance(dt, expect)

    def unplug(self) -> None:
        """Pull the cable: the terminal hangs up, the link is gone, the board loses power."""
        super().unplug()
        self._cut, self._stalled, self._owed = None, False, 0

    def plug(self, serial: str | None = None) -> None:
        """Put it back; with `serial`, the port is named by that serial number from now on."""
        if serial is not None and not self.plugged:
            self.device = str(self.by_id / NAME.format(serial))
        super().plug()
        self._fresh = True

    def cut(self, after: int | None = None) -> None:
        """Pull it in the middle of a frame: the host gets `after` more bytes (by default drawn), then no terminal.

        The bytes go with the next `advance` that has any; the terminal hangs up at the one after, so that they can be
        read. At least one byte goes, and never the last of what waits.
        """
        if not self.plugged:
            raise PortError("the mat is not plugged in", "plug it in first")
        self._cut = int(self._random.integers(1, 1200)) if after is None else max(after, 1)

    def stall(self) -> None:
        """From now on nothing goes through; the board's bytes wait, or are dropped when it can hold no more."""
        self._stalled = True

    def flow(self) -> None:
        """Let everything through again."""
        self._stalled = False

    def break_board(self, fault: Callable[[SimBoard], object]) -> None:
        """Build `fault` into the board as it runs, and into every boot after."""
        self.faults.append(fault)
        fault(self.board)

    def mend_board(self) -> None:
        """Take all faults out of the board as it runs."""
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
        self.board.arrive = lambda data: arrive(self.worn(data))

    def _name(self, name: str) -> None:
        link = Path(self.device)
        self.device = str(link.rename(link.with_name(name)))

    def _send(self, data: bytes) -> None:
        super()._send(self.worn(data))

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
