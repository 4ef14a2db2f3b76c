"""A simulated world that an emulated board feels: piezo samples at its converter, counts in its chips."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Self

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
                "data": base64.b64encode(world.piezo.block(first)).decode(),
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
        return Port(self)

    def _magnets(self) -> list[list[int]]:
        world = self.world
        read = (world.magnets.read(i, world.t) for i in range(24))
        return [SATURATED if words is None else list(struct.unpack("<3h", words)) for words in read]


class Port:
    """The face of `board.interfaces.Port`."""

    def __init__(self, mat: EmulatedMat) -> None:
        self.name = mat.device
        self._mat = mat

    def read(self, at_least: int = 0) -> bytes:
        mat = self._mat
        assert len(mat.read) >= at_least
        data, mat.read = bytes(mat.read), bytearray()
        return data

    def wait(self, seconds: float) -> None:
        pass

    def write(self, data: bytes) -> None:
        self._mat.said += data

    def close(self) -> None:
        self._mat.board.change("open", False)
