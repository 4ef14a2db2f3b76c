"""Stored hits: the waveforms around each expected strike, beside the journal, for the judges to review.

`<journal>.hits` has a short recording for each strike, in a block: a header, the detector's conclusion, and the samples
of all pads 200 ms to either side. It has no data of beads or hands. It is written as soon as the samples are complete,
because a protest is decided before play goes on.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Gap, LinkDown, LinkUp, Message, Piezo
from pi_controller.host.files import create_private_file
from pi_controller.host.retention import Retention
from pi_controller.recording.entries import Header, RecordingError, pack, settings_as_json
from pi_controller.recording.store import BestEffortWriter, SensorWriter, read_blocks, store_errors
from pi_controller.sensing.events import MatEvent, Strike
from pi_controller.sensing.mirror import mirror_pad
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.table import Observer, Table

log = logging.getLogger(__name__)

BESIDE_S = 0.2
"""Time stored before and after the first touch, s."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedStroke:
    """A strike that was expected, with the waveforms of the pads around it.

    `t` is the first touch and `start` the first sample, host seconds; `samples` is int16 (n, pads), `full_scale` the
    count of their rail, `rate` in samples a second. `pads`, `margin_db` and `sure` are as in `sensing.events.Strike`;
    `strikes` are the settings in use. `id` is the permanent number of a stored stroke.
    """

    hide: int
    t: float
    start: float
    rate: float
    full_scale: int
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool
    strikes: StrikeSettings
    samples: NDArray[np.int16]
    id: int = 0


def hits_path(journal: str | Path) -> Path:
    """Return the path of the stored hits of the journal at `journal`."""
    path = Path(journal)
    return path.with_name(path.name + ".hits")


def open_hits(path: Path, retention: Retention | None = None) -> SensorWriter:
    """Open the stored hits at `path` for adding; a new file is its owner's alone. Raises `RecordingError`."""
    with store_errors(path):
        create_private_file(path)  # only the head judge may see a hide in progress, not every account
    return SensorWriter(path, retention)


def pack_stroke(stroke: RecordedStroke) -> bytes:
    """Return the block of a stroke."""
    header = Header(stroke.t, strikes=settings_as_json(stroke.strikes), hide=stroke.hide)
    strike = Strike(stroke.t, stroke.pads, stroke.margin_db, stroke.sure)
    return pack([header, strike, Piezo(stroke.start, 0, stroke.rate, stroke.samples, stroke.full_scale)])


def strokes(path: Path, hide: int | None = None, number: int | None = None) -> list[RecordedStroke]:
    """Return the hits stored at `path` in order: of one hide, the one of that `number`, or all.

    The file is only read. Raises `RecordingError`.
    """
    if not path.is_file():
        raise RecordingError(
            f"this journal has no stored hits: {path.name} does not exist", "[recording] hits = true stores them"
        )
    found: list[RecordedStroke] = []
    for n, parts in read_blocks(path, number):
        match parts:
            case [Header(hide=int(of)) as header, Strike() as strike, Piezo() as piezo]:
                if hide in {None, of}:
                    found.append(_stroke(n, of, header.strike_settings(), strike, piezo))
            case _:
                raise RecordingError(f"{path.name}, block {n}: this is no stored hit", "check the file's name")
    return found


def _stroke(number: int, hide: int, strikes: StrikeSettings, strike: Strike, piezo: Piezo) -> RecordedStroke:
    return RecordedStroke(
        hide, strike.t, piezo.t, piezo.rate, piezo.full_scale, strike.pads, strike.margin_db, strike.sure, strikes,
        piezo.samples, number,
    )  # fmt: skip


def move_hits(path: Path, place: Path, t: float) -> None:
    """Move the hits stored at `path` to `place` if they are of a game that was over at `t`, s.

    No program may have the file open. If there are hits at `place` already, neither file is changed. Raises
    `RecordingError`.
    """
    if path.is_file() and not place.exists() and any(stroke.t < t for stroke in strokes(path)):
        with store_errors(path):
            path.rename(place)


RING_S = 3 * BESIDE_S
"""Duration of the sample buffer, s: more than a clip has before a strike when that is reported."""


@dataclass
class _Waiting:
    strike: Strike
    hide: int
    turned: bool


class StrikeClipper(Observer[Table]):
    """Cuts a clip of samples around each strike, and stores it with the settings `strikes`.

    `open_file` opens the file, again for each game that the table continues with. Its errors are passed on.
    """

    def __init__(self, open_file: Callable[[], SensorWriter], strikes: StrikeSettings) -> None:
        self._open = open_file
        self._writer = BestEffortWriter(open_file(), "stored hits")
        self._settings = strikes
        self._game: int | None = None
        self._ring: deque[Piezo] = deque()
        self._waiting: list[_Waiting] = []
        self._hide, self._turned = 0, False
        self._done: list[RecordedStroke] = []
        self._t = 0.0

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:  # noqa: ARG002
        """Buffer the samples."""
        for message in messages:
            match message:
                case Piezo():
                    self._remember(message)
                case Gap() | LinkUp() | LinkDown():
                    self._cut()
                case _:
                    pass

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:  # noqa: ARG002
        """Note the strikes; they are reported only while the game expects one."""
        self._waiting += [_Waiting(event, self._hide, self._turned) for event in events if isinstance(event, Strike)]

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Store the clips that are complete, each game's in its own file."""
        if self._game not in (None, table.story.revision_from):
            self._next_game()
        self._game = table.story.revision_from
        self._hide, self._turned = table.story.hide.number, table.mirrored and table.seats == "turn"
        end = _end(self._ring[-1]) if self._ring else float("inf")
        ready = [one for one in self._waiting if one.strike.t + BESIDE_S <= end]
        self._waiting = [one for one in self._waiting if one.strike.t + BESIDE_S > end]
        self._finish(ready)
        self._write(t)

    def close(self) -> None:
        """Store the last strikes with the samples available; close the file."""
        self._cut()
        self._write(self._t)
        self._writer.close()

    def _next_game(self) -> None:
        self.close()
        try:
            self._writer = BestEffortWriter(self._open(), "stored hits")
        except RecordingError as error:
            log.warning("the hits are no longer recorded: %s", error.message)

    def _remember(self, piezo: Piezo) -> None:
        if self._ring:
            last = self._ring[-1]
            like = (last.rate, last.samples.shape[1], last.full_scale)
            if piezo.index != last.index + len(last.samples) or like != (
                piezo.rate,
                piezo.samples.shape[1],
                piezo.full_scale,
            ):
                self._cut()
        self._ring.append(piezo)
        # samples that a pending strike still needs are kept
        oldest = min([one.strike.t for one in self._waiting], default=piezo.t) - RING_S
        while len(self._ring) > 1 and _end(self._ring[0]) < oldest:
            self._ring.popleft()

    def _cut(self) -> None:
        """Finish all pending clips with the samples available, because samples are missing from here."""
        self._finish(self._waiting)
        self._waiting = []
        self._ring.clear()

    def _finish(self, ready: Sequence[_Waiting]) -> None:
        if not ready or not self._ring:
            return
        blocks = list(self._ring)
        samples = np.concatenate([block.samples for block in blocks])
        # the clock mapping is refined all the time: the last block's time is the best one
        rate, last = blocks[-1].rate, blocks[-1]
        start = last.t - (len(samples) - len(last.samples)) / rate
        for one in ready:
            first, until = (round((one.strike.t + beside - start) * rate) for beside in (-BESIDE_S, BESIDE_S))
            first, until = max(0, first), min(len(samples), until)
            if first >= until:
                continue
            pads, cut = one.strike.pads, samples[first:until]
            if one.turned:  # the judge sees it from the hiders' side
                pads, cut = tuple(map(mirror_pad, pads)), cut[:, ::-1]
            self._done.append(
                RecordedStroke(
                    hide=one.hide,
                    t=one.strike.t,
                    start=start + first / rate,
                    rate=rate,
                    full_scale=last.full_scale,
                    pads=pads,
                    margin_db=one.strike.margin_db,
                    sure=one.strike.sure,
                    strikes=self._settings,
                    samples=cut,
                )
            )

    def _write(self, t: float) -> None:
        self._t = t
        if self._done:
            self._writer.add([pack_stroke(stroke) for stroke in self._done])
            self._done = []
        self._writer.commit()


def _end(piezo: Piezo) -> float:
    return piezo.t + len(piezo.samples) / piezo.rate
