"""Records every reading of a table as an observer of the daemon; readings reach the disk only after their hide.

The readings of a hide reveal the bead's position. So they are packed a second at a time and held in memory, and the
file grows only when the table itself has shown the bead (or settled the hide), all at once: neither the file's content
nor its size nor its timing reveals a hide in progress. Readings while a bead is being shown may belong to the next
hide, and are held with it. The price: a power cut loses the hide in progress, and a hide that outgrows the memory loses
its beginning. Both losses are noted in the file.

Recording never delays play: a hide is written and synced in one commit after the step's result was shown, when no hit
is owed; if a reader prevents the commit, each further step tries again. A disk failure ends the recording and
not the game.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from pi_controller import __version__
from pi_controller.board.interfaces import Buttons
from pi_controller.board.message_source import Source
from pi_controller.board.messages import Message, Piezo
from pi_controller.config import Settings
from pi_controller.errors import describe_error
from pi_controller.pinmap import pinmap
from pi_controller.recording.format import (
    Batch,
    BlockWriter,
    Checkpoint,
    Entry,
    Header,
    RecordingError,
    RecordingGap,
    ReportingChange,
    StepBegan,
    StepEnded,
    settings_as_json,
)
from pi_controller.recording.hits import HitStore, ReviewError, StrikeClipper, hits_path, move_hits
from pi_controller.recording.store import RECORDING, RecordingWriter, journal_path, store_errors
from pi_controller.sensing.events import Button, MatEvent
from pi_controller.table.table import Observer, Table
from pi_controller.table.view import View

log = logging.getLogger(__name__)

HOLD_BYTES = 32 << 20
"""Most memory for a hide; beyond that its beginning is dropped."""
SYNC_S = 5.0
"""Interval between commits if no bead is hidden: a killed process loses no more than this and the current block."""
_SHOWN = ("show", "over")
_json = msgspec.json.Encoder().encode


class Recorder(Observer[Table]):
    """Writes all readings and checkpoints of the mat events to `file`.

    Before each release `room(size)` returns whether the file may grow to `size` bytes; it may free space first. `hold`
    is the most memory for held readings, bytes.
    """

    def __init__(
        self, file: RecordingWriter, table: Table, room: Callable[[int], bool] | None = None, hold: int = HOLD_BYTES
    ) -> None:
        self._file: RecordingWriter | None = file
        self._room = room or (lambda _: True)
        self._hold = hold
        self._hides = table.game.hidden is not None
        self._blocks = BlockWriter(pinmap().magnetometers.counts_per_ut, self._take_block, self._checkpoint)
        self._held: deque[tuple[float, bytes]] = deque()
        self.held_bytes = 0
        self._sync_at = float("-inf")
        self._lost: tuple[float, float] | None = None
        self._t = 0.0
        self._since: float | None = None
        self._in_step = False
        self._armed: bool | None = None
        self._view: View | None = None
        self._count = self._crc = 0
        self._opening = table.story.opening
        self._phase = table.story.phase

    def __repr__(self) -> str:
        return "<Recorder>" if self._file else "<Recorder, stopped>"

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Record messages."""
        if self._file is None:
            return
        self._begin(t)
        self._armed = armed
        self._blocks.add(Batch(armed))
        for message in messages:
            self._blocks.add(message)

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """Update the events' count and CRC, so that a replay can verify its events."""
        self._count += len(events)
        for event in events:
            self._crc = zlib.crc32(_json(event), self._crc)
        self._arm(armed)

    def on_press(self, t: float, press: Button) -> None:
        """Record a button press."""
        if self._file is not None:
            self._begin(t)
            self._blocks.add(press)

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """Record the end of the step, and write the readings that may be public now."""
        if self._file is None:
            return
        view = table.view
        if self._in_step or view is not self._view or armed != self._armed:
            self._begin(t)
            self._blocks.add(StepEnded())
            self._arm(armed)
            self._in_step, self._view = False, view
        self._blocks.end_if_full()
        phase, opening = table.story.phase, table.story.opening
        settled = phase in _SHOWN and self._phase not in _SHOWN
        opened = opening is not None and opening is not self._opening
        # an opening that disappears reveals no bead: the next game has begun
        if settled or opened if self._hides else t >= self._sync_at:
            self._sync_at = t + SYNC_S
            self._release()
        self._phase, self._opening = phase, opening
        self._end_on_failure(lambda file: file.commit())

    def close(self) -> None:
        """End the recording. Unless the game is over, readings after the last hide are discarded."""
        if self._file is None:
            return
        self._blocks.flush()
        why = "the hide outgrew the memory"
        if self._held and self._hides and self._phase != "over":
            self._lost = (self._lost[0] if self._lost else self._held[0][0], self._t)
            self._held.clear()
            self.held_bytes = 0
            why = "the hide was not over"
        self._release(why)
        self._stop()

    def _begin(self, t: float) -> None:
        if not self._in_step:
            self._in_step, self._t = True, t
            self._since = t if self._since is None else self._since
            self._blocks.add(StepBegan(t))

    def _arm(self, armed: bool) -> None:
        if self._file is not None and armed != self._armed:
            self._armed = armed
            self._blocks.add(ReportingChange(armed))

    def _checkpoint(self) -> Entry:
        return Checkpoint(self._count, self._crc)

    def _take_block(self, data: bytes) -> None:
        self._held.append((self._t if self._since is None else self._since, data))
        self._since = self._t
        self.held_bytes += len(data)
        while self.held_bytes > self._hold and len(self._held) > 1:
            since, gone = self._held.popleft()
            self.held_bytes -= len(gone)
            self._lost = (self._lost[0] if self._lost else since, self._held[0][0])

    def _release(self, why_lost: str = "the hide outgrew the memory") -> None:
        """Write the held readings, because the hide is over; end the recording if there is no room."""
        self._blocks.flush()
        if self._lost is not None:
            held, self._held = self._held, deque()
            self._blocks.add(RecordingGap(*self._lost, why=why_lost))
            self._blocks.flush()
            self._held += held
            self._lost = None
        self._end_on_failure(self._write)
        self._held.clear()
        self.held_bytes = 0

    def _write(self, file: RecordingWriter) -> None:
        with store_errors(file.path, RECORDING):
            if not self._room(file.size + self.held_bytes):
                raise RecordingError("it reached its size limit")
        for _, data in self._held:
            file.add(data)

    def _end_on_failure(self, action: Callable[[RecordingWriter], object]) -> None:
        if self._file is not None:
            try:
                action(self._file)
            except RecordingError as error:
                log.warning("the recording of the sensors ends: %s", error.message)
                self._stop()

    def _stop(self) -> None:
        file, self._file = self._file, None
        self._blocks.clear()
        self._held.clear()
        if file is not None:
            try:
                file.close()
            except RecordingError as error:
                log.warning("the recording of the sensors: %s", error.message)


# Bench recording without a game: writes every reading at once, with the stick's contact as ground truth.
#
# No bead is hidden, so no reading is held back. Like the daemon, it is driven by `Bench.step(t)`; the CLI verb calls
# it on the wall clock.


CONTACT = "contact"
"""Name of the button event for the stick's contact closing."""


class Bench:
    """Records the messages of `source` to `file`.

    `contact` is the stick's contact, if it is wired.
    """

    def __init__(self, file: RecordingWriter, source: Source, contact: Buttons | None = None) -> None:
        self.source = source
        self.rows = self.touches = 0
        """Rows of samples, and touches, recorded so far."""
        self._file = file
        self._contact = contact
        self._blocks = BlockWriter(pinmap().magnetometers.counts_per_ut, file.add)
        self._waiting: list[Button] = []
        self._sync_at = float("-inf")
        if contact is not None:
            contact.listen(lambda _, t: self._waiting.append(Button(t, CONTACT)))

    def step(self, t: float, at_least: int = 0) -> None:
        """Record new messages (in lock step, `at_least` bytes). Raises `RecordingError`."""
        messages = self.source.step(t, at_least)
        if self._contact is not None:
            self._contact.tick(t)
        if messages or self._waiting:
            self._keep(t, messages)
        self._blocks.end_if_full()
        if t >= self._sync_at:
            self._sync_at = t + SYNC_S
            self._file.commit()

    def close(self) -> None:
        """Write the buffered entries; close the port, the contact and the file."""
        self.source.close()
        if self._contact is not None:
            self._contact.close()
        try:
            self._blocks.flush()
        finally:
            self._file.close()

    def _keep(self, t: float, messages: Iterable[Message]) -> None:
        self._blocks.add(StepBegan(t))
        self._blocks.add(Batch(reporting_enabled=True))
        for message in messages:
            self._blocks.add(message)
            if isinstance(message, Piezo):
                self.rows += len(message.samples)
        for press in self._waiting:
            self._blocks.add(press)
        self.touches += len(self._waiting)
        self._waiting.clear()
        self._blocks.add(StepEnded())


# Creates a table's observers from its settings: the sensor recorder and the strike clips.

MB = 1_000_000


def make_observers(
    settings: Settings, table: Table, t: float, stack: ExitStack, profile: dict[str, Any] | None = None
) -> list[Observer[Table]]:
    """Return the observers for a table opened at `t`, whose mat has the calibration `profile`; `stack` closes them.

    An observer that cannot be opened is logged as a warning, and the table plays without it.
    """
    found: list[Observer[Table]] = []
    try:
        if settings.recording.hits:
            around = StrikeClipper(lambda: open_review(table), settings.strikes.detector_settings())
            stack.callback(around.close)
            found.append(around)
        if settings.recording.sensors:
            recorder = make_recorder(settings, table, t, profile)
            stack.callback(recorder.close)
            found.append(recorder)
    except (RecordingError, ReviewError) as error:
        log.warning("%s; %s", error.message, error.hint)
    return found


def open_review(table: Table) -> HitStore:
    """Open the store for the hits of the game at `table`; hits of the game before stay with that game.

    Raises `ReviewError`.
    """
    path, opened = hits_path(table.journal.path), table.journal.read_opening()
    if opened is not None and opened.after:
        move_hits(path, hits_path(path.with_name(opened.after)), opened.t)
    return HitStore(path)


def make_recorder(settings: Settings, table: Table, t: float, profile: dict[str, Any] | None = None) -> Recorder:
    """Return a recorder for a table opened at `t`, whose mat has the calibration `profile`.

    Raises `RecordingError` if the folder cannot be written.
    """
    wanted = settings.recording
    path = new_path(wanted.folder, t)

    def room(size: int) -> bool:
        return make_room(wanted.folder, t, wanted.keep_days, wanted.max_mb * MB, path, size)

    try:
        room(0)
        return Recorder(RecordingWriter(path, header(settings, table, t, profile)), table, room)
    except OSError as error:
        raise RecordingError(
            f"recordings cannot be kept in {wanted.folder}: {describe_error(error)}", "choose another folder"
        ) from error


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


_NAME = re.compile(r"(\d{8}T\d{6})Z(-\d+)?\.sensors")
_STAMP = "%Y%m%dT%H%M%S"


def new_path(folder: Path, t: float) -> Path:
    """Return an unused path in `folder` (created if missing) for a recording begun at `t`, seconds since 1970.

    Raises `RecordingError` if the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"recordings cannot be kept in {folder}: {describe_error(error)}", "choose a folder"
        ) from error
    stamp = datetime.fromtimestamp(t, UTC).strftime(_STAMP)
    path, n = folder / f"{stamp}Z.sensors", 1
    while path.exists():
        n += 1
        path = folder / f"{stamp}Z-{n}.sensors"
    return path


def make_room(folder: Path, t: float, keep_days: int, most_bytes: int, current: Path, size: int) -> bool:
    """Delete recordings older than `keep_days`, then the oldest ones above `most_bytes` in all; never `current`.

    `size` is the size that `current` needs. Return True if there is room for it. Other files are not touched.
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
            journal_path(path).unlink(missing_ok=True)  # of a table that was killed
            del sizes[path]
    return size <= most_bytes
