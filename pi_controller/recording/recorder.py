"""Records every reading of a table as an observer of the daemon; readings reach the disk only after their hide.

The readings of a hide reveal the bead's position. So they are packed a second at a time and held in memory, and the
file grows only when the table itself has shown the bead (or settled the hide), all at once: neither the file's content
nor its size nor its timing reveals a hide in progress. Readings while a bead is being shown may belong to the next
hide, and are held with it. The price: a power cut loses the hide in progress, and a hide that outgrows the memory loses
its beginning. Both losses are noted in the file.

Recording never delays play: a hide is written and synced in one commit after the step's result was shown, when no hit
is owed; if a reader prevents the commit, each further step tries again.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Sequence

import msgspec

from pi_controller.board.messages import Message
from pi_controller.recording.entries import (
    Batch,
    Checkpoint,
    Entry,
    RecordingGap,
    ReportingChange,
    StepBegan,
    StepEnded,
    pack,
)
from pi_controller.recording.store import BestEffortWriter, SensorWriter
from pi_controller.referee.story import SETTLED, Opening
from pi_controller.sensing.events import Button, MatEvent
from pi_controller.table.table import Observer, Table
from pi_controller.table.view import View

BLOCK_S = 1.0
"""Length of a block."""
HOLD_BYTES = 32 << 20
"""Most memory for a hide; beyond that its beginning is dropped."""
SYNC_S = 5.0
"""Interval between commits if no bead is hidden: a killed process loses no more than this and the current block."""
_json = msgspec.json.Encoder().encode


class Recorder(Observer[Table]):
    """Writes all readings and checkpoints of the mat events to `writer`.

    `hold` is the most memory for held readings, bytes.
    """

    def __init__(self, writer: SensorWriter, table: Table, hold: int = HOLD_BYTES) -> None:
        self._writer = BestEffortWriter(writer, "sensor readings")
        self._hold = hold
        self._hides = table.game.hidden is not None
        self._entries: list[Entry] = []
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
        self._opening: Opening | None = table.story.opening
        self._phase = table.story.phase

    def __repr__(self) -> str:
        return "<Recorder>" if self._writer.is_open else "<Recorder, stopped>"

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Record messages."""
        self._begin(t)
        self._armed = armed
        self._entries += [Batch(armed), *messages]

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """Update the events' count and CRC, so that a replay can verify its events."""
        self._count += len(events)
        for event in events:
            self._crc = zlib.crc32(_json(event), self._crc)
        self._arm(armed)

    def on_press(self, t: float, press: Button) -> None:
        """Record a button press."""
        self._begin(t)
        self._entries.append(press)

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """Record the end of the step, and write the readings that may be public now."""
        if not self._writer.is_open:
            self._entries.clear()
            return
        view = table.view
        if self._in_step or view is not self._view or armed != self._armed:
            self._begin(t)
            self._entries.append(StepEnded())
            self._arm(armed)
            self._in_step, self._view = False, view
        if self._since is not None and t - self._since >= BLOCK_S:
            self._end_block()
        phase, opening = table.story.phase, table.story.opening
        settled = phase in SETTLED and self._phase not in SETTLED
        opened = opening is not None and opening is not self._opening
        # an opening that disappears reveals no bead: the next game has begun
        if settled or opened if self._hides else t >= self._sync_at:
            self._sync_at = t + SYNC_S
            self._release()
        self._phase, self._opening = phase, opening
        self._writer.commit()

    def close(self) -> None:
        """End the recording. Unless the game is over, readings after the last hide are discarded."""
        self._end_block()
        why = "the hide outgrew the memory"
        if self._held and self._hides and self._phase != "over":
            self._lost = (self._lost[0] if self._lost else self._held[0][0], self._t)
            self._held.clear()
            why = "the hide was not over"
        self._release(why)
        self._writer.close()

    def _begin(self, t: float) -> None:
        if not self._in_step:
            self._in_step, self._t = True, t
            self._since = t if self._since is None else self._since
            self._entries.append(StepBegan(t))

    def _arm(self, armed: bool) -> None:
        if armed != self._armed:
            self._armed = armed
            self._entries.append(ReportingChange(armed))

    def _end_block(self) -> None:
        if not self._entries:
            return
        data = pack([*self._entries, Checkpoint(self._count, self._crc)])
        self._entries = []
        self._held.append((self._t if self._since is None else self._since, data))
        self._since = None
        self.held_bytes += len(data)
        while self.held_bytes > self._hold and len(self._held) > 1:
            since, gone = self._held.popleft()
            self.held_bytes -= len(gone)
            self._lost = (self._lost[0] if self._lost else since, self._held[0][0])

    def _release(self, why_lost: str = "the hide outgrew the memory") -> None:
        """Write the held readings, because the hide is over."""
        self._end_block()
        blocks = [data for _, data in self._held]
        if self._lost is not None:
            blocks.insert(0, pack([RecordingGap(*self._lost, why=why_lost)]))
        if blocks:
            self._writer.add(blocks)
        self._lost = None
        self._held.clear()
        self.held_bytes = 0
