"""Run the portable files of the real firmware, in their flashed form, on a simulated board.

The board stores `wire.py` beside them; here that name refers to `pi_controller.board.wire`, the same file.
"""

import builtins
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from pi_controller.board import wire
from pi_controller.errors import UsageError
from pi_controller.pads import PADS
from pi_controller.pinmap import shipped_file
from pi_controller.simulation.board import SimBoard

MAX_STEPS = 200
"""Limit of loop passes for the work of one block's time; working firmware needs fewer."""
PORTABLE = ("events", "guards", "sampler")
"""Firmware files without access to chips, each after its imports."""


class Sampler(Protocol):
    """The firmware's main loop, one pass at a time."""

    def step(self) -> object:
        """Do one pass."""
        ...


@cache
def modules() -> dict[str, Any]:
    """Return the firmware's portable files as modules, by name. Raises `UsageError` if one is missing."""
    paths = {name: shipped_file("firmware", f"{name}.py") for name in PORTABLE}
    for path in paths.values():
        if not path.exists():
            raise UsageError(f"the firmware's {path.name} is not there", "reinstall moccasin-mat")
    found: dict[str, ModuleType] = {"wire": wire}
    loaded: dict[str, Any] = {name: load_firmware(name, paths, found) for name in PORTABLE}
    loaded["guards"].jolt = find_jolt
    return loaded


def find_jolt(block: bytes | bytearray, least: int) -> int:
    """As the firmware's `guards.jolt`, which a board replaces too: a tenth of the simulation's time went there."""
    values = np.frombuffer(block, "<u2").astype(np.int32)
    moved = np.flatnonzero(np.abs(values[2 * PADS :] - values[: -2 * PADS]) >= least)
    if not len(moved):
        return 0
    return (len(values) - 2 * PADS - int(moved[0]) + PADS - 1) // PADS


def load_firmware(name: str, paths: Mapping[str, Path], found: dict[str, ModuleType]) -> ModuleType:
    """Return the firmware file `name` as a module. It is added to `found`, and so are the files of `paths` it imports.

    Only these files see each other's short names: `sys.modules` and `sys.path` belong to all threads.
    """

    def import_short(wanted: str, *more: Any) -> ModuleType:
        if wanted in found or wanted in paths:
            return load_firmware(wanted, paths, found)
        return builtins.__import__(wanted, *more)

    if name not in found:
        spec = importlib.util.spec_from_file_location(f"moccasin_mat_firmware_{name}", paths[name])
        assert spec is not None
        assert spec.loader is not None
        found[name] = module = importlib.util.module_from_spec(spec)
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": import_short}
        spec.loader.exec_module(module)
    return found[name]


class SimFirmware:
    """One boot of the firmware on `board`."""

    def __init__(self, board: SimBoard) -> None:
        self._board = board
        self._sampler: Sampler = modules()["sampler"].Sampler(board)

    def run(self) -> None:
        """Run the loop until a pass is idle."""
        board, sampler = self._board, self._sampler
        for _ in range(MAX_STEPS):
            before = board.work
            sampler.step()
            if board.work == before:
                return
