"""Store of the waveforms around each expected strike, beside the journal, for the judges to review.

`<journal>.hits` is an SQLite file: one row a strike, with the samples of all pads 200 ms to either side and the
detector's conclusion. It has no data of beads or hands. It is evidence and not the game: it is bounded (the oldest row
is deleted), and a power cut may lose the last row. A row is written as soon as its samples are complete, because a
protest is decided before play goes on.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.errors import MatError
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.system.files import create_private_file

BESIDE_S = 0.2
"""Time stored before and after the first touch, s."""
MAX_HITS = 1000
"""Most stored strikes: some thirty games, at about 5 kB a strike."""
APPLICATION_ID = 0x4D4D4849
"""`MMHI`."""
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS hits(
  id INTEGER PRIMARY KEY, hide INTEGER NOT NULL, t REAL NOT NULL, start REAL NOT NULL, rate REAL NOT NULL,
  full_scale INTEGER NOT NULL, pads TEXT NOT NULL, margin_db REAL, sure INTEGER NOT NULL, strikes TEXT NOT NULL,
  width INTEGER NOT NULL, samples BLOB NOT NULL
);
PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1; COMMIT;
"""
_WHOLE = "SELECT hide, t, start, rate, full_scale, pads, margin_db, sure, strikes, width, samples FROM hits"


class ReviewError(MatError, RuntimeError):
    """The stored waveforms cannot be read or written."""

    code = "review"


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A strike that was expected, with the waveforms of the pads around it.

    `t` is the first touch and `start` the first sample, host seconds; `samples` is int16 (n, pads) in ADC counts,
    `rate` in samples a second. `pads`, `margin_db` and `sure` are as in `sensing.events.Strike`; `strikes` are the
    settings in use.
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


class StoredHit(NamedTuple):
    """Summary of a stored hit: `id` is its permanent number, the other fields are as in `Stroke`."""

    id: int
    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool


def hits_path(journal: str | Path) -> Path:
    """Return the path of the stored hits of the journal at `journal`."""
    path = Path(journal)
    return path.with_name(path.name + ".hits")


def move_hits(path: Path, place: Path, t: float) -> None:
    """Move the hits stored at `path` to `place` if they are of a game that was over at `t`, s. The file must not be
    open.

    If there are hits at `place` already, neither file is changed. Raises `ReviewError`.
    """
    if not path.is_file() or place.exists() or not any(hit.t < t for hit in stored_hits(path)):
        return
    try:
        with closing(sqlite3.connect(path, timeout=0.25, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # the log must not be left to the next file of this name
        path.rename(place)
    except (sqlite3.Error, OSError) as error:
        raise _wrong(path, error) from error


class Review:
    """The hits stored at `path`, opened for adding; created if missing. Raises `ReviewError`."""

    def __init__(self, path: Path, most: int = MAX_HITS) -> None:
        self._path = path
        self._most = most
        try:
            create_private_file(
                path
            )  # only the head judge may see a hide in progress, not every account of the machine
            self._db = sqlite3.connect(path, timeout=0.25, isolation_level=None)
            _identify(self._db, path)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise _wrong(path, error) from error

    def add(self, strokes: Iterable[Stroke]) -> None:
        """Store `strokes`, and delete the oldest beyond the limit."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "INSERT INTO hits VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [_row(stroke) for stroke in strokes]
            )
            self._db.execute("DELETE FROM hits WHERE id <= (SELECT max(id) FROM hits) - ?", (self._most,))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise _wrong(self._path, error) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def strokes(path: Path, hide: int | None = None) -> list[Stroke]:
    """Return the hits stored at `path` in order, of one hide or all. The file is only read. Raises `ReviewError`."""
    with _looked_at(path) as db:
        return [_stroke(row) for row in db.execute(f"{_WHOLE} WHERE ?1 IS NULL OR hide = ?1 ORDER BY id", (hide,))]


def stroke(path: Path, number: int) -> Stroke:
    """Return hit `number` (`StoredHit.id`) of those stored at `path`. Raises `ReviewError`."""
    with _looked_at(path) as db:
        row = db.execute(f"{_WHOLE} WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise ReviewError(f"hit {number} is not stored", "the oldest hits are deleted")
        return _stroke(row)


def stored_hits(path: Path, number: int | None = None) -> list[StoredHit]:
    """List the hits stored at `path`, or the one of that `number`, without samples. Raises `ReviewError`."""
    with _looked_at(path) as db:
        rows = db.execute(
            "SELECT id, hide, t, pads, margin_db, sure FROM hits WHERE ?1 IS NULL OR id = ?1 ORDER BY id", (number,)
        )
        return [
            StoredHit(n, hide, t, msgspec.json.decode(pads, type=tuple[int, ...]), margin, bool(sure))
            for n, hide, t, pads, margin, sure in rows
        ]


@contextmanager
def _looked_at(path: Path) -> Generator[sqlite3.Connection]:
    """Open the hits stored at `path` for reading; turn every error into a `ReviewError`."""
    if not path.is_file():
        raise ReviewError(
            f"this journal has no stored hits: {path.name} does not exist", "[recording] hits = true stores them"
        )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.25)) as db:
            _identify(db, path)
            yield db
    except (sqlite3.Error, msgspec.MsgspecError, zlib.error, ValueError, TypeError) as error:
        raise _wrong(path, error) from error


def _row(stroke: Stroke) -> tuple[Any, ...]:
    moves = np.diff(stroke.samples, axis=0, prepend=np.int16(0)).T.astype("<i2")
    planes = np.ascontiguousarray(moves).view(np.uint8).reshape(-1, 2).T.tobytes()
    return (
        stroke.hide, stroke.t, stroke.start, stroke.rate, stroke.full_scale, msgspec.json.encode(stroke.pads).decode(),
        stroke.margin_db, stroke.sure, msgspec.json.encode(asdict(stroke.strikes)).decode(), stroke.samples.shape[1],
        zlib.compress(planes),
    )  # fmt: skip


def _stroke(row: tuple[Any, ...]) -> Stroke:
    hide, t, start, rate, full_scale, pads, margin_db, sure, strikes, width, blob = row
    planes = np.frombuffer(zlib.decompress(blob), np.uint8).reshape(2, -1)
    moves = np.ascontiguousarray(planes.T).view("<i2").reshape(width, -1)
    return Stroke(
        hide,
        t,
        start,
        rate,
        full_scale,
        msgspec.json.decode(pads, type=tuple[int, ...]),
        margin_db,
        bool(sure),
        msgspec.convert(msgspec.json.decode(strikes), StrikeSettings),
        np.cumsum(moves.T, axis=0, dtype=np.int16),
    )


def _identify(db: sqlite3.Connection, path: Path) -> None:
    """Raise `ReviewError` if the file belongs to another program."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION_ID:
        raise ReviewError(f"{path.name} belongs to another program", "move it away")


def _wrong(path: Path, error: Exception) -> ReviewError:
    return ReviewError(f"{path.name} cannot be used: {error}", "check the disk, or move the file away")
