"""A simulated world that an emulated board feels: piezo samples at its converter, counts in its chips."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Self

import numpy as np

from pi_controller.board import wire
from pi_controller.errors import PortError
from pi_controller.simulation.world import NS, World

if TYPE_CHECKING:
    from emulated_board import EmulatedBoard

BLOCK = 32
BLOCK_NS = 8_000_000
SAMPLE_HZ = 4000
SATURATED = [40_000, 0, 0]


class EmulatedMat:
    """Stands in for `SimMat`: `board`, which has started, feels `world`; `open_port` is its cable's end."""

    def __init__(self, seed: int, board: EmulatedBoard) -> None:
        self.world = World(seed)
        self.device = "the emulated board"
        self.board = board
        self.read = bytearray()
        self.said = bytearray()
        self._began_us = board.us
        self._fields: list[list[int]] = []
        self._port: Port | None = None
        self.rails: set[int] = set()
        """Pads (1 first) whose input is at its upper rail."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def advance(self, dt: float, expect: int = 0) -> int:
        """Let `dt` seconds pass, a block at a time; return how many bytes wait for the host."""
        del expect  # what the host writes is here at once
        world = self.world
        end = world.ns + round(dt * NS)
        while world.ns < end:
            step = min(BLOCK_NS - world.ns % BLOCK_NS, end - world.ns)
            first = world.ns // BLOCK_NS * BLOCK
            samples = {
                "first_us": self._began_us + first / SAMPLE_HZ * 1e6,
                "data": base64.b64encode(self._block(first)).decode(),
            }
            touch = world.strips.read(world.t, world.hands.values())
            fields = self._magnets()
            changed = {"fields": fields} if fields != self._fields else {}
            self._fields = fields
            world.advance(step / NS)
            due = self._began_us + world.ns / 1000 - self.board.us
            said, self.said = bytes(self.said), bytearray()
            self.read += self.board.run(
                due, said, samples=samples, touch=list(struct.unpack("<12H", touch or bytes(24))), **changed
            )
        return len(self.read)

    def open_port(self) -> Port:
        """Return the host's end of the cable, open."""
        self.board.change("open", True)
        self._port = Port(self)
        return self._port

    def gone(self) -> None:
        """The host's end of the cable is dead from now on, and what was on its way is lost."""
        self.read.clear()
        self.said.clear()
        if self._port is not None:
            self._port.dead = True

    def started_again(self) -> None:
        """The board was given power now, wherever its own time stood."""
        self._began_us = self.board.us - self.world.ns / 1000

    def _block(self, first: int) -> bytes:
        block = self.world.piezo.block(first)
        if not self.rails:
            return block
        samples = np.frombuffer(block, "<u2").reshape(-1, 4).copy()
        samples[:, [pad - 1 for pad in self.rails]] = wire.TOP
        return samples.tobytes()

    def _magnets(self) -> list[list[int]]:
        world = self.world
        read = (world.magnets.read(i, world.t) for i in range(24))
        return [SATURATED if words is None else list(struct.unpack("<3h", words)) for words in read]


class Port:
    """The face of `board.interfaces.Port`."""

    def __init__(self, mat: EmulatedMat) -> None:
        self.name = mat.device
        self.dead = False
        self._mat = mat

    def read(self, at_least: int = 0) -> bytes:
        self._check()
        mat = self._mat
        assert len(mat.read) >= at_least
        data, mat.read = bytes(mat.read), bytearray()
        return data

    def wait(self, seconds: float) -> None:
        pass

    def write(self, data: bytes) -> None:
        self._check()
        self._mat.said += data

    def close(self) -> None:
        self._mat.board.change("open", False)

    def _check(self) -> None:
        if self.dead:
            raise PortError("the mat board went away", "plug it in again")
