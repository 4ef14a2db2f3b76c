"""Stored hits: the waveforms around each expected strike, beside the journal, for the judges to review.

`<journal>.hits` is a block store: one row a strike, with the samples of all pads 200 ms to either side and the
detector's conclusion. It has no data of beads or hands. It is evidence and not the game: it is bounded (the oldest row
is deleted), and a power cut may lose the last row. A row is written as soon as its samples are complete, because a
protest is decided before play goes on.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import Gap, LinkDown, LinkUp, Message, Piezo
from pi_controller.host.files import create_private_file
from pi_controller.recording.format import RecordingError, pack, unpack
from pi_controller.recording.store import BlockStore, StoreKind, read_rows, store_errors
from pi_controller.sensing.events import MatEvent, Strike
from pi_controller.sensing.mirror import mirror_pad
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.table import Observer, Table

log = logging.getLogger(__name__)

BESIDE_S = 0.2
"""Time stored before and after the first touch, s."""
MAX_HITS = 1000
"""Most stored strikes: some thirty games, at about 5 kB a strike."""


class ReviewError(RecordingError):
    """The stored hits cannot be read or written."""

    code = "review"


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A strike that was expected, with the waveforms of the pads around it.

    `t` is the first touch and `start` the first sample, host seconds; `samples` is int16 (n, pads), `full_scale` the
    count of their rail, `rate` in samples a second. `pads`, `margin_db` and `sure` are as in `sensing.events.Strike`;
    `strikes` are the settings in use.
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


class StoredHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored hit without its waveforms, as in `Stroke`: the description of its row. `id` is its permanent number."""

    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool
    strikes: StrikeSettings
    id: int = 0


def hits_path(journal: str | Path) -> Path:
    """Return the path of the stored hits of the journal at `journal`."""
    path = Path(journal)
    return path.with_name(path.name + ".hits")


def _row(stroke: Stroke) -> tuple[bytes, str]:
    """Return the data and the description of a stroke's row."""
    hit = StoredHit(stroke.hide, stroke.t, stroke.pads, stroke.margin_db, stroke.sure, stroke.strikes)
    samples = Piezo(stroke.start, 0, stroke.rate, stroke.samples, stroke.full_scale)
    return pack([samples], 1.0), msgspec.json.encode(hit).decode()


HITS = StoreKind(0x4D4D4854, "WAL", ReviewError, 0.25)
"""`MMHT`."""


class HitStore(BlockStore):
    """The hits stored at `path`, opened for adding; created if missing. Raises `ReviewError`."""

    def __init__(self, path: Path, most: int = MAX_HITS) -> None:
        self._most = most
        with store_errors(path, HITS):
            create_private_file(path)  # only the head judge may see a hide in progress, not every account
        super().__init__(path, HITS)

    def add_strokes(self, strokes: Iterable[Stroke]) -> None:
        """Store `strokes`, all or none, and delete the oldest beyond the limit."""
        try:
            for stroke in strokes:
                self.add(*_row(stroke))
            self.keep_newest(self._most)
            self.commit()  # readers of a write-ahead log never prevent it
        except ReviewError:
            self.rollback()
            raise


def strokes(path: Path, hide: int | None = None) -> list[Stroke]:
    """Return the hits stored at `path` in order, of one hide or all. The file is only read. Raises `ReviewError`."""
    with store_errors(path, HITS):
        return [_stroke(hit, data) for hit, data in _read(path) if hide in {None, hit.hide}]


def stroke(path: Path, number: int) -> Stroke:
    """Return hit `number` (`StoredHit.id`) of those stored at `path`. Raises `ReviewError`."""
    with store_errors(path, HITS):
        for hit, data in _read(path, number):
            return _stroke(hit, data)
    raise ReviewError(f"hit {number} is not stored", "the oldest hits are deleted")


def stored_hits(path: Path, number: int | None = None) -> list[StoredHit]:
    """List the hits stored at `path`, or the one of that `number`, without samples. Raises `ReviewError`."""
    return [hit for hit, _ in _read(path, number, with_data=False)]


def _read(path: Path, number: int | None = None, *, with_data: bool = True) -> list[tuple[StoredHit, bytes]]:
    if not path.is_file():
        raise ReviewError(
            f"this journal has no stored hits: {path.name} does not exist", "[recording] hits = true stores them"
        )
    decode = msgspec.json.Decoder(StoredHit).decode
    with store_errors(path, HITS):
        rows = read_rows(path, HITS, number, with_data=with_data)
        return [(msgspec.structs.replace(decode(about), id=n), data) for n, about, data in rows]


def _stroke(hit: StoredHit, data: bytes) -> Stroke:
    piezo = unpack(data)[0]
    if not isinstance(piezo, Piezo):
        raise ReviewError("a stored hit has no samples")
    return Stroke(
        hit.hide, hit.t, piezo.t, piezo.rate, piezo.full_scale, hit.pads, hit.margin_db, hit.sure, hit.strikes,
        piezo.samples,
    )  # fmt: skip


def move_hits(path: Path, place: Path, t: float) -> None:
    """Move the hits stored at `path` to `place` if they are of a game that was over at `t`, s. The file must not be
    open.

    If there are hits at `place` already, neither file is changed. Raises `ReviewError`.
    """
    if not path.is_file() or place.exists() or not any(hit.t < t for hit in stored_hits(path)):
        return
    with store_errors(path, HITS):
        with closing(sqlite3.connect(path, timeout=HITS.timeout_s, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # the log must not be left to the next file of this name
        path.rename(place)


# An observer of the daemon stores the samples around each reported strike.


RING_S = 3 * BESIDE_S
"""Duration of the sample buffer, s: more than a clip has before a strike when that is reported."""


@dataclass
class _Waiting:
    strike: Strike
    hide: int
    turned: bool


class StrikeClipper(Observer[Table]):
    """Cuts a clip of samples around each strike, and stores it with the settings `strikes`.

    `open_store` opens the store, again for each game that the table continues with. Its errors are passed on.
    """

    def __init__(self, open_store: Callable[[], HitStore], strikes: StrikeSettings) -> None:
        self._open = open_store
        self._store: HitStore | None = open_store()
        self._settings = strikes
        self._game: int | None = None
        self._ring: deque[Piezo] = deque()
        self._waiting: list[_Waiting] = []
        self._hide, self._turned = 0, False
        self._done: list[Stroke] = []

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
        """Store the clips that are complete, each game's in its own store."""
        if self._game not in (None, table.story.revision_from):
            self._next_game()
        self._game = table.story.revision_from
        self._hide, self._turned = table.story.hide.number, table.mirrored and table.seats == "turn"
        end = _end(self._ring[-1]) if self._ring else float("inf")
        ready = [one for one in self._waiting if one.strike.t + BESIDE_S <= end]
        self._waiting = [one for one in self._waiting if one.strike.t + BESIDE_S > end]
        self._finish(ready)
        self._keep()

    def close(self) -> None:
        """Store the last strikes with the samples available; close the store."""
        self._cut()
        self._keep()
        if self._store is not None:
            self._store.close()
            self._store = None

    def _next_game(self) -> None:
        self._cut()
        self._keep()
        if self._store is None:
            return
        self._store.close()
        self._store = None
        try:
            self._store = self._open()
        except ReviewError as error:
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
                Stroke(
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

    def _keep(self) -> None:
        done, self._done = self._done, []
        if self._store is None or not done:
            return
        try:
            self._store.add_strokes(done)
        except ReviewError as error:  # the game does not wait for its pictures
            log.warning("the hits are no longer recorded: %s", error.message)
            self._store.close()
            self._store = None


def _end(piezo: Piezo) -> float:
    return piezo.t + len(piezo.samples) / piezo.rate
