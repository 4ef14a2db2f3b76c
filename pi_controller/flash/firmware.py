"""The firmware image that ships with this program: its files as they lie on a board."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path

import msgspec

from pi_controller.errors import MatError
from pi_controller.link import frames, wire
from pi_controller.pinmap import shipped
from pi_controller.sim.firmware import modules

MAIN = "main.py"
LIST = "firmware.json"
"""On the board: which files are ours, so that a later firmware can remove those it no longer has."""


class FlashError(MatError, RuntimeError):
    """The firmware cannot be put on the board, and what was there still is."""

    code = "flash"


class Firmware(msgspec.Struct, frozen=True, dict=True):
    """A version and its files, name -> content, in the order they are put in place: what starts the rest comes last."""

    version: str
    files: dict[str, bytes]

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file, in hexadecimal."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}


def made(version: str, files: dict[str, bytes]) -> Firmware:
    """Return a firmware of these `files` and the list of them."""
    listing = json.dumps({"version": version, "files": sorted(files)}, separators=(",", ":"))
    names = sorted(files.keys() - {MAIN})
    return Firmware(version, {**{name: files[name] for name in names}, LIST: listing.encode(), MAIN: files[MAIN]})


def ours() -> Firmware:
    """Return the firmware that travels with this program. Raises `FlashError` where its files are missing."""
    folder = shipped("firmware", MAIN).parent
    paths = [*folder.glob("*.py"), Path(frames.__file__), Path(wire.__file__)]  # the files that both ends run
    if not (folder / MAIN).exists():
        raise FlashError(f"the firmware's {MAIN} is not there", "reinstall moccasin-mat")
    version = ".".join(map(str, modules()["sampler"].FIRMWARE))
    return made(version, {path.name: path.read_bytes() for path in paths})
