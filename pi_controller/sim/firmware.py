"""Runs the real firmware's portable files, as they are flashed, over a simulated board.

The board has a file `wire.py` beside them; here that name stands for `pi_controller.link.wire`, the same file.
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
    from types import ModuleType

    from pi_controller.sim.board import SimBoard

MOST_STEPS = 200
"""No firmware that works needs more passes of its loop for what falls due in one block's time."""
PORTABLE = ("events", "guards", "sampler")
"""The firmware's files that touch no chip, each after those it imports."""


class Sampler(Protocol):
    """The firmware's main loop, one pass at a time."""

    def step(self) -> object:
        """Do one pass."""
        ...


@cache
def modules() -> dict[str, Any]:
    """Return the firmware's portable files as modules, by name. Raises `UsageError` where they are missing.

    They import each other by their short names, which nobody else gets to see.
    """
    found: dict[str, ModuleType] = {"wire": wire}
    hidden = {name: sys.modules.pop(name) for name in ("wire", *PORTABLE) if name in sys.modules}
    try:
        for name in PORTABLE:
            sys.modules.update(found)
            path = shipped("firmware", f"{name}.py")
            spec = importlib.util.spec_from_file_location(f"moccasin_mat_firmware_{name}", path)
            if spec is None or spec.loader is None or not path.exists():
                raise UsageError(f"the firmware's {name}.py is not there", "reinstall moccasin-mat")
            found[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found[name])
    finally:
        for name in ("wire", *PORTABLE):
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
    return {name: found[name] for name in PORTABLE}


class Firmware:
    """One boot of the firmware on `board`."""

    def __init__(self, board: SimBoard) -> None:
        self._board = board
        self._sampler: Sampler = modules()["sampler"].Sampler(board)

    def run(self) -> None:
        """Pass through the loop until a pass finds nothing left to do."""
        board, sampler = self._board, self._sampler
        for _ in range(MOST_STEPS):
            before = board.work
            sampler.step()
            if board.work == before:
                return
