"""The folder of recordings: how files are named, and which go when there are too many."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pi_controller.recording.model import RecordingError

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"(\d{8}T\d{6})Z(-\d+)?\.sensors")
_STAMP = "%Y%m%dT%H%M%S"


def new_path(folder: Path, t: float) -> Path:
    """Return a free path in `folder` (made if need be) for a recording begun at `t`, seconds since 1970.

    Raises `RecordingError` where there can be no such folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"recordings cannot be kept in {folder}: {error.strerror}", "choose a folder") from error
    stamp = datetime.fromtimestamp(t, UTC).strftime(_STAMP)
    path, n = folder / f"{stamp}Z.sensors", 1
    while path.exists():
        n += 1
        path = folder / f"{stamp}Z-{n}.sensors"
    return path


def make_room(folder: Path, t: float, keep_days: int, most_bytes: int, current: Path, size: int) -> bool:
    """Delete recordings older than `keep_days`, then the oldest until all take `most_bytes`; never `current`.

    `size` is what `current` wants to take. Return whether there is room for that. Other files are left alone.
    """
    files = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path != current)
    oldest = datetime.fromtimestamp(t, UTC) - timedelta(days=keep_days)
    sizes = {path: path.stat().st_size for path in files}
    for path in files:
        found = _NAME.fullmatch(path.name)
        try:
            begun = datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC) if found else None
        except ValueError:
            continue
        if (begun and begun < oldest) or size + sum(sizes.values()) > most_bytes:
            path.unlink(missing_ok=True)
            del sizes[path]
    return size <= most_bytes
