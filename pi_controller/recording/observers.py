"""Creates the observers of a table that record its sensors, from the settings."""

from __future__ import annotations

import glob
import logging
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pi_controller import __version__
from pi_controller.config import Settings
from pi_controller.errors import describe_error
from pi_controller.host.retention import Retention
from pi_controller.recording.entries import Header, RecordingError, settings_as_json
from pi_controller.recording.hits import StrikeClipper, hits_path, move_hits, open_hits
from pi_controller.recording.recorder import Recorder
from pi_controller.recording.store import SensorWriter, create_recording
from pi_controller.table.table import Observer, Table

log = logging.getLogger(__name__)

MB = 1_000_000
RECORDINGS = "[0-9]*T[0-9]*Z*.sensors"
"""Names of the recordings that a table begins; others in the folder are somebody's own."""


def make_observers(
    settings: Settings, table: Table, t: float, stack: ExitStack, profile: dict[str, Any] | None = None
) -> list[Observer[Table]]:
    """Return the observers for a table opened at `t`, whose mat has the calibration `profile`; `stack` closes them.

    An observer that cannot be opened is logged as a warning, and the table plays without it.
    """
    found: list[Observer[Table]] = []
    try:
        if settings.recording.hits:
            clipper = StrikeClipper(lambda: open_table_hits(settings, table), settings.strikes.detector_settings())
            stack.callback(clipper.close)
            found.append(clipper)
        if settings.recording.sensors:
            recorder = make_recorder(settings, table, t, profile)
            stack.callback(recorder.close)
            found.append(recorder)
    except RecordingError as error:
        log.warning("%s; %s", error.message, error.hint)
    return found


def open_table_hits(settings: Settings, table: Table) -> SensorWriter:
    """Open the file for the hits of the game at `table`; hits of the game before stay with that game.

    Raises `RecordingError`.
    """
    journal, opened = table.journal.path, table.journal.read_opening()
    path = hits_path(journal)
    if opened is not None and opened.after:
        move_hits(path, hits_path(journal.with_name(opened.after)), opened.t)
    return open_hits(path, _retention(settings, journal.parent, f"{glob.escape(journal.stem)}*.hits"))


def make_recorder(settings: Settings, table: Table, t: float, profile: dict[str, Any] | None = None) -> Recorder:
    """Return a recorder for a table opened at `t`, whose mat has the calibration `profile`.

    Raises `RecordingError` if the folder cannot be written.
    """
    folder = settings.recording.folder
    retention = _retention(settings, folder, RECORDINGS)
    try:
        path = new_path(folder, t)
        retention.make_room(path)
        return Recorder(create_recording(path, header(settings, table, t, profile), retention), table)
    except OSError as error:
        raise RecordingError(
            f"recordings cannot be kept in {folder}: {describe_error(error)}", "choose another folder"
        ) from error


def _retention(settings: Settings, folder: Path, pattern: str) -> Retention:
    return Retention(folder, pattern, settings.recording.keep_days, settings.recording.max_mb * MB)


def header(settings: Settings, table: Table, t: float, profile: dict[str, Any] | None = None) -> Header:
    """Return the recording's header for a table opened at `t`, whose mat has the calibration `profile`."""
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
        strikes=settings_as_json(settings.strikes.detector_settings()),
        seats=table.seats,
        magnetometers=settings.magnetometers,
        depth_mm=settings.board.depth_mm,
        profile=profile,
    )


def new_path(folder: Path, t: float) -> Path:
    """Return an unused path in `folder` (created if missing) for a recording begun at `t`, seconds since 1970.

    Raises `OSError` if the folder cannot be created.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.fromtimestamp(t, UTC).strftime("%Y%m%dT%H%M%S")
    path, n = folder / f"{stamp}Z.sensors", 1
    while path.exists():
        n += 1
        path = folder / f"{stamp}Z-{n}.sensors"
    return path
