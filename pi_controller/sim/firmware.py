"""The real firmware, run here: `firmware/sampler.py` as it is flashed, over a simulated board.

The board has a file `wire.py` beside it; here that name stands for `pi_controller.link.wire`, the same file.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from pi_controller.errors import UsageError
from pi_controller.link import wire
from pi_controller.pinmap import shipped

if TYPE_CHECKING:
    from pi_controller.sim.board import SimBoard

MOST_STEPS = 200
"""No firmware that works needs more passes of its loop for what falls due in one block's time."""


class Sampler(Protocol):
    """The firmware's main loop, one pass at a time."""

    def step(self) -> object:
        """Do one pass."""
        ...


@cache
def _module() -> Any:
    path = shipped("firmware", "sampler.py")
    spec = importlib.util.spec_from_file_location("moccasin_mat_firmware_sampler", path)
    if spec is None or spec.loader is None or not path.exists():
        raise UsageError("the firmware's sampler.py is not there", "reinstall moccasin-mat")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get("wire")
    sys.modules["wire"] = wire
    try:
        spec.loader.exec_module(module)
    finally:
        if before is None:
            del sys.modules["wire"]
        else:
            sys.modules["wire"] = before
    return module


class Firmware:
    """One boot of the firmware on `board`."""

    def __init__(self, board: SimBoard) -> None:
        self._board = board
        self._sampler: Sampler = _module().Sampler(board)

    def run(self) -> None:
        """Pass through the loop until a pass finds nothing left to do."""
        board, sampler = self._board, self._sampler
        for _ in range(MOST_STEPS):
            before = board.work
            sampler.step()
            if board.work == before:
                return
