"""Writes files that are there whole or not at all, also after a power cut."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Put `content` at `path`, safe on disk: whoever reads sees the old file or the new one. Raises `OSError`.

    `mode` says who may read it; None: as the umask lets. What a program left that was killed here is removed.
    """
    remove_unfinished(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                with suppress(OSError):  # the boot partition's file system has no modes
                    os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    sync(path.parent)


def remove_unfinished(path: Path) -> None:
    """Remove what programs left beside `path` that were killed while they replaced it. Raises `OSError`."""
    for left in path.parent.glob(f".{path.name}.*.new"):
        if not Path("/proc", left.name.split(".")[-2]).exists():
            left.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Have the file, or the names in the folder, on disk. Raises `OSError`."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
