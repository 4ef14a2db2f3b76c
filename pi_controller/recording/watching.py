"""Builds a table's observers from its settings: the sensor recorder and the strike clips."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pi_controller import __version__
from pi_controller.recording.chunks import ChunkFile
from pi_controller.recording.model import Header, RecordingError, settings_as_json
from pi_controller.recording.recorder import Recorder
from pi_controller.recording.strike_clips import Around
from pi_controller.table.review import Review, ReviewError, beside, follow

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from pi_controller.table.observer import Observer
    from pi_controller.table.settings import Settings
    from pi_controller.table.table import Table

log = logging.getLogger(__name__)
MB = 1_000_000


def observers(settings: Settings, table: Table, t: float, stack: ExitStack) -> list[Observer]:
    """Return the observers of a table that was opened at `t`; `stack` closes them.

    What cannot be kept is said, and the table plays without it.
    """
    found: list[Observer] = []
    try:
        if settings.recording.hits:
            around = Around(lambda: review(table), settings.strikes.detector())
            stack.callback(around.close)
            found.append(around)
        if settings.recording.sensors:
            recorder = record(settings, table, t)
            stack.callback(recorder.close)
            found.append(recorder)
    except (RecordingError, ReviewError) as error:
        log.warning("%s; %s", error.what, error.todo)
    return found


def review(table: Table) -> Review:
    """Return where the hits of the game at `table` are kept; those of the game before are kept with that one.

    Raises `ReviewError`.
    """
    path, opened = beside(table.journal.path), table.journal.opened()
    if opened is not None and opened.after:
        follow(path, beside(path.with_name(opened.after)), opened.t)
    return Review(path)


def record(settings: Settings, table: Table, t: float) -> Recorder:
    """Return the recorder of a table that was opened at `t`. Raises `RecordingError` where nothing can be written."""
    wanted = settings.recording
    path = new_path(wanted.folder, t)

    def room(size: int) -> bool:
        return make_room(wanted.folder, t, wanted.keep_days, wanted.max_mb * MB, path, size)

    try:
        room(0)
        return Recorder(ChunkFile(path, header(settings, table, t)), table, room)
    except OSError as error:
        raise RecordingError(
            f"recordings cannot be kept in {wanted.folder}: {error.strerror}", "choose another folder"
        ) from error


def header(settings: Settings, table: Table, t: float) -> Header:
    """Return the header for a table that was opened at `t`."""
    game, before = table.game, 0
    for seq, _, fact in table.journal.records():
        if fact.t == t:  # written by its opening
            break
        before = seq
    return Header(
        t=t,
        program=__version__,
        table=settings.table.name,
        journal=settings.table.journal.name,
        seq=before,
        game=game.name,
        version=game.version,
        options=dict(game.settings),
        teams=dict(table.story.teams),
        referee=settings_as_json(settings.referee_settings(game.settings)),
        strikes=settings_as_json(settings.strikes.detector()),
        seats=table.seats,
    )


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
