"""Waveforms around each strike that was due, kept beside the journal for the judges.

`<journal>.hits` is SQLite: one row a strike, the samples of all pads 200 ms to either side, and what was concluded. No
bead, no hand: only what shook. It is evidence to look at and not the game, so it is bounded (the oldest goes), and a
power cut may take the last row. A row is there as soon as the samples are: a protest is decided before play goes on.
"""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from pi_controller.errors import MatError
from pi_controller.mat.strikes import StrikeSettings
from pi_controller.private_files import make_private

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from numpy.typing import NDArray

BESIDE_S = 0.2
"""Kept before and after the first touch, s."""
MOST = 1000
"""Strikes kept; some thirty games at about 5 kB each."""
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
    """The waveforms cannot be read or kept."""

    code = "review"


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A strike that was due and what the pads felt around it.

    `t` is the first touch and `start` the first sample, host seconds; `samples` int16 (n, pads) in ADC counts, `rate`
    samples a second. `pads`, `margin_db` and `sure` as in `mat.events.Strike`; `strikes` the settings that held.
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


class Kept(NamedTuple):
    """Which hit is kept: `id` is its number for good, the rest as in `Stroke`."""

    id: int
    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool


def beside(journal: str | Path) -> Path:
    """Return where the hits of the journal at `journal` are kept."""
    path = Path(journal)
    return path.with_name(path.name + ".hits")


def follow(path: Path, place: Path, t: float) -> None:
    """Move the hits kept at `path` to `place` where they are of a game that was over at `t`, s; nobody has them open.

    Where there are some at `place` already both stay as they are. Raises `ReviewError`.
    """
    if not path.is_file() or place.exists() or not any(hit.t < t for hit in kept(path)):
        return
    try:
        with closing(sqlite3.connect(path, timeout=0.25, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # the log must not be left to the next file of this name
        path.rename(place)
    except (sqlite3.Error, OSError) as error:
        raise _wrong(path, error) from error


class Review:
    """The hits kept at `path`, opened for adding; made when there are none. Raises `ReviewError`."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        self._path = path
        self._most = most
        try:
            make_private(path)  # a hide in progress is the head judge's to look at, not every account's on the machine
            self._db = sqlite3.connect(path, timeout=0.25, isolation_level=None)
            _identify(self._db, path)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise _wrong(path, error) from error

    def add(self, strokes: Iterable[Stroke]) -> None:
        """Keep `strokes`; the oldest beyond what is kept go."""
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
    """Return the hits kept at `path` in order, of one hide or all. The file is only read. Raises `ReviewError`."""
    with _looked_at(path) as db:
        return [_stroke(row) for row in db.execute(f"{_WHOLE} WHERE ?1 IS NULL OR hide = ?1 ORDER BY id", (hide,))]


def stroke(path: Path, number: int) -> Stroke:
    """Return hit `number` (`Kept.id`) of those kept at `path`. Raises `ReviewError`."""
    with _looked_at(path) as db:
        row = db.execute(f"{_WHOLE} WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise ReviewError(f"hit {number} is not kept", "the oldest are let go")
        return _stroke(row)


def kept(path: Path, number: int | None = None) -> list[Kept]:
    """Return which hits are kept at `path`, all or the one of that `number`, without samples. Raises `ReviewError`."""
    with _looked_at(path) as db:
        rows = db.execute(
            "SELECT id, hide, t, pads, margin_db, sure FROM hits WHERE ?1 IS NULL OR id = ?1 ORDER BY id", (number,)
        )
        return [
            Kept(n, hide, t, msgspec.json.decode(pads, type=tuple[int, ...]), margin, bool(sure))
            for n, hide, t, pads, margin, sure in rows
        ]


@contextmanager
def _looked_at(path: Path) -> Generator[sqlite3.Connection]:
    """Open the hits kept at `path` for reading; whatever goes wrong is a `ReviewError`."""
    if not path.is_file():
        raise ReviewError(
            f"there is nothing kept beside this journal: {path.name} is not there", "[recording] hits = true keeps them"
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
    """Refuse a file that is another program's."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION_ID:
        raise ReviewError(f"{path.name} belongs to another program", "move it away")


def _wrong(path: Path, error: Exception) -> ReviewError:
    return ReviewError(f"{path.name} cannot be used: {error}", "check the disk, or move the file away")
