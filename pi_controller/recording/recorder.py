"""Records every reading of a table as an observer of the daemon; none is on disk before its hide is over.

The readings of a hide say where the bead lies. So a second of them is packed at a time and held in memory, and the file
grows only when the table itself has shown the bead (or settled the hide), all at once: neither what is in the file nor
its size nor when it grew tells anything of a hide in progress. What is felt while a bead is being shown may be the next
hide already, and is held with that one. The price: a power cut loses the hide in progress, and a hide that outgrows
the memory loses its beginning. Both are written down in the file as lost.

Recording never stands in the way of play: a chunk is written a step, after the step's result was shown, and the disk is
waited for once a hide, when no hit is owed. A disk that fails ends the recording, not the game.
"""

from __future__ import annotations

import logging
import zlib
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from pi_controller.pinmap import pinmap
from pi_controller.recording.blocks import Blocks
from pi_controller.recording.model import Armed, Batch, Began, Ended, Entry, Felt, Lost
from pi_controller.table.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.link.messages import Message
    from pi_controller.mat.events import Button, MatEvent
    from pi_controller.recording.chunks import ChunkFile
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

HOLD_BYTES = 32 << 20
"""A hide may grow to this in memory before its beginning is let go."""
_SHOWN = ("show", "over")
_json = msgspec.json.Encoder().encode


class Recorder(Observer):
    """Writes everything that is read and felt to `file`.

    `room(size)` is asked before each release whether the file may go on at that size, bytes; it may make room. `hold`
    is the most that is held in memory.
    """

    def __init__(
        self, file: ChunkFile, table: Table, room: Callable[[int], bool] | None = None, hold: int = HOLD_BYTES
    ) -> None:
        self._file: ChunkFile | None = file
        self._room = room or (lambda _: True)
        self._hold = hold
        self._hides = table.game.hidden is not None
        self._blocks = Blocks(pinmap().magnetometers.counts_per_ut, self._packed, self._felt)
        self._held: deque[tuple[float, bytes]] = deque()
        self.held_bytes = 0
        self._ready: deque[bytes] = deque()
        self._unsynced = False
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
        """Keep messages."""
        if self._file is None:
            return
        self._begin(t)
        self._armed = armed
        self._blocks.add(Batch(armed))
        for message in messages:
            self._blocks.add(message)

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """Count the events, so that a replay can say whether it felt the same."""
        self._count += len(events)
        for event in events:
            self._crc = zlib.crc32(_json(event), self._crc)
        self._arm(armed)

    def on_press(self, t: float, press: Button) -> None:
        """Keep a press."""
        if self._file is not None:
            self._begin(t)
            self._blocks.add(press)

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """Record the end of the step; write out what may be public now, a chunk a step."""
        if self._file is None:
            return
        view = table.view
        if self._in_step or view is not self._view or armed != self._armed:
            self._begin(t)
            self._blocks.add(Ended())
            self._arm(armed)
            self._in_step, self._view = False, view
        self._blocks.rest()
        phase, opening = table.story.phase, table.story.opening
        settled = phase in _SHOWN and self._phase not in _SHOWN
        opened = opening is not None and opening is not self._opening
        if self._hides and (settled or opened):  # that none is open any more shows nothing: the next game has begun
            self._release()
        self._phase, self._opening = phase, opening
        self._write()

    def close(self) -> None:
        """End the recording. Unless the game is over, what came after the last hide is not kept."""
        if self._file is None:
            return
        if self._phase == "over" or not self._hides:
            self._release()
        else:
            self._blocks.flush()
            if self._held:
                self._lost = (self._lost[0] if self._lost else self._held[0][0], self._t)
                self._held.clear()
                self._blocks.add(Lost(*self._lost, why="the hide was not over"))
                self._blocks.flush()
                self._ready += (data for _, data in self._held)
                self._held.clear()
        while self._file is not None and (self._ready or self._unsynced):
            self._write()
        self._stop()

    def _begin(self, t: float) -> None:
        if not self._in_step:
            self._in_step, self._t = True, t
            self._since = t if self._since is None else self._since
            self._blocks.add(Began(t))

    def _arm(self, armed: bool) -> None:
        if self._file is not None and armed != self._armed:
            self._armed = armed
            self._blocks.add(Armed(armed))

    def _felt(self) -> Entry:
        return Felt(self._count, self._crc)

    def _packed(self, data: bytes) -> None:
        if not self._hides:
            self._ready.append(data)
            return
        self._held.append((self._t if self._since is None else self._since, data))
        self._since = self._t
        self.held_bytes += len(data)
        while self.held_bytes > self._hold and len(self._held) > 1:
            since, gone = self._held.popleft()
            self.held_bytes -= len(gone)
            self._lost = (self._lost[0] if self._lost else since, self._held[0][0])

    def _release(self) -> None:
        """The hide is over: what was held may be seen."""
        self._blocks.flush()
        if self._lost is not None:
            held, self._held = self._held, deque()
            self._blocks.add(Lost(*self._lost, why="the hide outgrew the memory"))
            self._blocks.flush()
            self._held += held
            self._lost = None
        self._ready += (data for _, data in self._held)
        self._held.clear()
        self.held_bytes = 0
        if self._file is None:
            return
        try:
            room = self._room(self._file.size + sum(map(len, self._ready)))
        except OSError as error:
            log.warning("the recording of the sensors ends: %s", error.strerror)
            self._stop()
            return
        if not room:
            log.warning("the recording of the sensors ends: it has grown as large as it may")
            self._stop()

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            if self._ready:
                self._file.add(self._ready.popleft())
                self._unsynced = True
            elif self._unsynced:
                self._unsynced = False
                self._file.sync()
        except OSError as error:
            log.warning("the recording of the sensors ends: %s", error.strerror)
            self._stop()

    def _stop(self) -> None:
        file, self._file = self._file, None
        self._blocks.clear()
        self._held.clear()
        self._ready.clear()
        if file is not None:
            try:
                file.close()
            except OSError as error:
                log.warning("the recording of the sensors: %s", error.strerror)
