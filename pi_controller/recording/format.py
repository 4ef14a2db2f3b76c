"""Data model of a sensor recording, and the lossless codec of its blocks: about a second of entries in each."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import BoardEvent, Field, Gap, Health, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.errors import MatError
from pi_controller.referee.facts import Seats
from pi_controller.referee.settings import RefereeSettings
from pi_controller.sensing.events import Button
from pi_controller.sensing.strikes import StrikeSettings

FORMAT = 1


class RecordingError(MatError, ValueError):
    """A sensor recording cannot be read, or a ground truth does not match it."""

    code = "recording"


class DamagedBlockError(RecordingError):
    """A block's bytes are damaged: it cannot be unpacked, or its checksum is wrong."""


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """The table's setup at the time of recording, sufficient for a replay except for the judge's calls.

    `t` is when the table was opened (host seconds), `seq` the journal's last record before that. `strikes` and
    `referee` are the settings used, `seats` is the seating. `game` is empty if no game was played. `magnetometers`
    is the number that the mat has, `depth_mm` their depth below its surface, and `profile` its calibration; they are
    None if no game was played, and `profile` on a mat without one.
    """

    t: float
    format: int = FORMAT
    program: str = ""
    table: str = ""
    journal: str = ""
    seq: int = 0
    game: str = ""
    version: str = ""
    options: dict[str, Any] = {}
    teams: dict[str, str] = {}
    referee: dict[str, Any] = {}
    strikes: dict[str, Any] = {}
    seats: Seats = "stay"
    magnetometers: int | None = None
    depth_mm: float | None = None
    profile: dict[str, Any] | None = None

    def strike_settings(self) -> StrikeSettings:
        """Return the strike detector's settings. Raises `RecordingError` if this program does not support them."""
        try:
            return msgspec.convert(self.strikes, StrikeSettings)
        except (msgspec.ValidationError, TypeError, MatError) as error:
            raise RecordingError(
                f"the strike settings of the recording cannot be used: {error}", "choose other settings with --settings"
            ) from error

    def referee_settings(self) -> RefereeSettings:
        """Return the referee's settings. Raises `RecordingError` if this program does not support them."""
        try:
            return RefereeSettings(**self.referee)
        except (TypeError, MatError) as error:
            raise RecordingError(
                f"the referee's settings in the recording cannot be used: {error}", "replay it with its own version"
            ) from error


def settings_as_json(settings: StrikeSettings | RefereeSettings) -> dict[str, Any]:
    """Return settings as stored in the header."""
    return asdict(settings)


@dataclass(frozen=True, slots=True)
class StepBegan:
    """The controller began a step at `t`; the judge's calls with earlier times precede it."""

    t: float


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages up to the next entry were processed together; strikes counted if `reporting_enabled`."""

    reporting_enabled: bool


@dataclass(frozen=True, slots=True)
class ReportingChange:
    """From here on strikes count if `reporting_enabled`."""

    reporting_enabled: bool


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The current step ended and advanced the table to its `t`."""


@dataclass(frozen=True, slots=True)
class RecordingGap:
    """The readings from `t` to `until` were not kept; `why` states the reason in one line."""

    t: float
    until: float
    why: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint: the number `count` of mat events so far, and the CRC-32 `crc` of their concatenated JSON."""

    count: int
    crc: int


Entry = StepBegan | Batch | ReportingChange | StepEnded | RecordingGap | Checkpoint | Button | Message


# Lossless block codec: encodes about a second of entries as columns, differences, byte planes and zlib.
#
# Samples are written as differences of order 0, 1 or 2, whichever is smallest for a pad, zigzag-encoded, with all low
# bytes before all high bytes: zlib then finds almost only zeros in the second half. Times are float64 to the last bit,
# as differences of their bit patterns.


LEVEL = 5
STRATEGY = zlib.Z_FILTERED
"""Differences are mostly small random numbers: short matches cost more than Huffman codes (2 to 4 % on the mat)."""
MAX_BLOCK_BYTES = 1 << 26
"""Largest size of an unpacked block, so that a damaged or hostile file cannot fill the memory."""
RARE = {
    "BoardEvent": BoardEvent,
    "Gap": Gap,
    "Health": Health,
    "LinkUp": LinkUp,
    "LinkDown": LinkDown,
    "Lost": RecordingGap,
    "Felt": Checkpoint,
}
"""The tag of each seldom entry in a file, and its class."""
RARE_TAGS = {kind: tag for tag, kind in RARE.items()}


class Columns(msgspec.Struct, array_like=True):
    """A block before zlib, as a MessagePack array in this order.

    Times and samples are differences in zigzag (`_zigzag`) and byte planes (`_planes`).
    """

    kinds: bytes
    """A letter for each entry: see `pack`."""
    times: bytes
    """float64 times of the entries S, P, T, F and K, host seconds: differences of the bit patterns."""
    piezo: tuple[int, float, int]
    """Pads, samples a second, counts of the rail."""
    lengths: list[int]
    """Rows of each P."""
    starts: list[int]
    """First sample's number of each P, less the one that would follow."""
    orders: bytes
    """How often each pad's samples were differenced: 0, 1 or 2, whichever came out smallest."""
    samples: bytes
    """(pads, rows), 16-bit differences that wrap around."""
    touch: tuple[int, int]
    """Pads and strips."""
    counts: bytes
    """(electrodes, scans), differences from scan to scan."""
    field: tuple[int, float]
    """Sensors, and counts a microtesla; 0 if `ut` is float64 in byte planes."""
    ut: bytes
    """(axes, scans) in 32-bit counts, differences from scan to scan."""
    ok: bytes
    """A bit for each sensor and scan: it can be trusted."""
    rare: list[list[Any]]
    """`[name, values...]` of the rare entries, and `["Button", name]`."""


def pack(entries: Sequence[Entry], counts_per_ut: float) -> bytes:
    """Encode `entries` as a block. All messages of one kind must have the same shape (see `shape_key`)."""
    kinds = bytearray()
    times: list[float] = []
    piezo: list[Piezo] = []
    touch: list[Touch] = []
    field: list[Field] = []
    rare: list[list[Any]] = []
    for entry in entries:
        match entry:
            case StepBegan():
                kinds += b"S"
                times.append(entry.t)
            case Batch(reporting_enabled=armed):
                kinds += b"B" if armed else b"b"
            case ReportingChange(reporting_enabled=armed):
                kinds += b"A" if armed else b"a"
            case StepEnded():
                kinds += b"E"
            case Piezo():
                kinds += b"P"
                times.append(entry.t)
                piezo.append(entry)
            case Touch():
                kinds += b"T"
                times.append(entry.t)
                touch.append(entry)
            case Field():
                kinds += b"F"
                times.append(entry.t)
                field.append(entry)
            case Button():
                kinds += b"K"
                times.append(entry.t)
                rare.append(["Button", entry.name])
            case _:
                kinds += b"o"
                rare.append([RARE_TAGS[type(entry)], *(getattr(entry, name) for name in entry.__slots__)])
    columns = Columns(
        bytes(kinds),
        _pack_times(times),
        *_pack_piezo(piezo),
        *_pack_touch(touch),
        *_pack_field(field, counts_per_ut),
        rare,
    )
    zipper = zlib.compressobj(LEVEL, strategy=STRATEGY)
    return zipper.compress(msgspec.msgpack.encode(columns)) + zipper.flush()


def shape_key(entry: Entry) -> tuple[Any, ...] | None:
    """Return the properties that all messages of this kind in a block must share; None for other entries."""
    match entry:
        case Piezo():
            return ("P", entry.samples.shape[1], entry.rate, entry.full_scale)
        case Touch():
            return ("T", *entry.counts.shape)
        case Field():
            return ("F", len(entry.ut))
        case _:
            return None


def unpack(data: bytes) -> list[Entry]:
    """Decode the entries of a block. Raises `DamagedBlockError`, and `RecordingError` for other invalid content."""
    try:
        unzip = zlib.decompressobj()
        plain = unzip.decompress(data, MAX_BLOCK_BYTES)
        if not unzip.eof:
            raise DamagedBlockError("a block of the recording is cut short or too large")
        return list(_entries(msgspec.msgpack.decode(plain, type=Columns)))
    except RecordingError:
        raise
    except zlib.error as error:
        raise DamagedBlockError("a block of the recording is damaged") from error
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise RecordingError("a block of the recording cannot be read", "it was written by another version") from error


def _entries(c: Columns) -> Iterator[Entry]:
    times = iter(_unpack_times(c.times))
    piezo, touch, field, rare = _piezo(c), _touch(c), _field(c), iter(c.rare)
    for kind in c.kinds.decode("ascii"):
        match kind:
            case "S":
                yield StepBegan(next(times))
            case "B" | "b":
                yield Batch(kind == "B")
            case "A" | "a":
                yield ReportingChange(kind == "A")
            case "E":
                yield StepEnded()
            case "P":
                index, samples = next(piezo)
                yield Piezo(next(times), index, c.piezo[1], samples, c.piezo[2])
            case "T":
                yield Touch(next(times), next(touch))
            case "F":
                yield Field(next(times), *next(field))
            case "K":
                yield Button(next(times), next(rare)[1])
            case "o":
                name, *values = next(rare)
                yield RARE[name](*values)
            case _:
                raise RecordingError(f"there is no entry of kind {kind!r}")


def _planes(values: NDArray[np.unsignedinteger[Any]]) -> bytes:
    """Return all lowest bytes, then all next ones."""
    return values.ravel().view(np.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()


def _from_planes(data: bytes, dtype: str) -> NDArray[Any]:
    width = np.dtype(dtype).itemsize
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(width, -1).T).view(dtype).ravel()


def _zigzag(x: NDArray[Any]) -> NDArray[Any]:
    """Map signed numbers to small unsigned ones: 0, -1, 1, -2 ... become 0, 1, 2, 3."""
    bits = x.dtype.itemsize * 8
    return ((x << 1) ^ (x >> (bits - 1))).view(f"<u{x.dtype.itemsize}")


def _unzigzag(x: NDArray[Any]) -> NDArray[Any]:
    signed = f"<i{x.dtype.itemsize}"
    return (x >> 1).view(signed) ^ -((x & 1).view(signed))


def _pack_times(times: list[float]) -> bytes:
    return _planes(_zigzag(np.diff(np.array(times, "<f8").view("<i8"), prepend=np.int64(0))))


def _unpack_times(data: bytes) -> list[float]:
    return np.cumsum(_unzigzag(_from_planes(data, "<u8"))).view("<f8").tolist()


def _pack_piezo(piezo: list[Piezo]) -> tuple[tuple[int, float, int], list[int], list[int], bytes, bytes]:
    if not piezo:
        return (0, 0.0, 0), [], [], b"", b""
    starts: list[int] = []
    end = 0
    for block in piezo:
        starts.append(block.index - end)
        end = block.index + len(block.samples)
    x = np.concatenate([block.samples for block in piezo]).T.astype("<i2")
    # differences wrap around in 16 bits, and so do the sums that reverse them
    orders = [x, np.diff(x, prepend=np.int16(0)), np.diff(x, n=2, prepend=np.zeros((len(x), 2), "<i2"))]
    sizes = np.stack([np.abs(tried.astype(np.int64)).sum(axis=1) for tried in orders])
    best = np.argmin(sizes, axis=0)
    rest = np.stack([orders[order][pad] for pad, order in enumerate(best)])
    like = (len(x), piezo[0].rate, piezo[0].full_scale)
    return like, [len(block.samples) for block in piezo], starts, bytes(best.tolist()), _planes(_zigzag(rest))


def _piezo(c: Columns) -> Iterator[tuple[int, NDArray[np.int16]]]:
    if not c.lengths:
        return
    x = _unzigzag(_from_planes(c.samples, "<u2")).reshape(c.piezo[0], sum(c.lengths)).copy()
    for pad, order in enumerate(c.orders):
        for _ in range(order):
            x[pad] = np.cumsum(x[pad], dtype="<i2")
    at = end = 0
    for n, start in zip(c.lengths, c.starts, strict=True):
        yield end + start, np.ascontiguousarray(x[:, at : at + n].T)
        at, end = at + n, end + start + n


def _pack_touch(touch: list[Touch]) -> tuple[tuple[int, int], bytes]:
    if not touch:
        return (0, 0), b""
    pads, strips = touch[0].counts.shape
    x = np.stack([scan.counts.ravel() for scan in touch]).T.astype("<i2")
    return (pads, strips), _planes(_zigzag(np.diff(x, prepend=np.int16(0))))


def _touch(c: Columns) -> Iterator[NDArray[np.int16]]:
    pads, strips = c.touch
    if pads:
        x = np.cumsum(_unzigzag(_from_planes(c.counts, "<u2")).reshape(pads * strips, -1), axis=1, dtype="<i2")
        yield from (np.ascontiguousarray(scan).reshape(pads, strips) for scan in x.T)


def _pack_field(field: list[Field], counts_per_ut: float) -> tuple[tuple[int, float], bytes, bytes]:
    """Encode fields as counts if that is exact to the last bit, else as float64 (a scale of 0)."""
    if not field:
        return (0, 0.0), b"", b""
    ut = np.stack([scan.ut.ravel() for scan in field]).T.astype("<f8")
    ok = np.packbits(np.stack([scan.ok for scan in field])).tobytes()
    raw = np.rint(ut * counts_per_ut)
    if np.abs(raw).max() < 32768:
        counts = raw.astype("<i4")
        if np.array_equal((counts / counts_per_ut).view("<i8"), ut.view("<i8")):
            return (len(field[0].ut), counts_per_ut), _planes(_zigzag(np.diff(counts, prepend=np.int32(0)))), ok
    return (len(field[0].ut), 0.0), _planes(ut.view("<u8")), ok


def _field(c: Columns) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    sensors, scale = c.field
    if not sensors:
        return
    if scale:
        x = np.cumsum(_unzigzag(_from_planes(c.ut, "<u4")).reshape(3 * sensors, -1), axis=1, dtype="<i4") / scale
    else:
        x = _from_planes(c.ut, "<f8").reshape(3 * sensors, -1)
    ok = np.unpackbits(np.frombuffer(c.ok, np.uint8), count=sensors * x.shape[1]).astype(np.bool_)
    for scan, well in zip(x.T, ok.reshape(-1, sensors), strict=True):
        yield np.ascontiguousarray(scan).reshape(sensors, 3), well


# Buffers entries for about a second, then packs them into a block.


MAX_ROWS = 4096
"""Most sample rows in a block: a second of a board at 4 kHz."""
MAX_ENTRIES = 2000


class BlockWriter:
    """Packs entries into blocks and calls `out` with each full one. `last` returns a block's final entry."""

    def __init__(self, counts_per_ut: float, out: Callable[[bytes], None], last: Callable[[], Entry] | None = None):
        self._counts_per_ut = counts_per_ut
        self._out = out
        self._last = last
        self._entries: list[Entry] = []
        self._alike: dict[Any, tuple[Any, ...]] = {}
        self._rows = 0

    def add(self, entry: Entry) -> None:
        """Add one entry. A message with another shape than those before ends the block at once."""
        like = shape_key(entry)
        if like is not None:
            if self._alike.setdefault(like[0], like) != like:
                self._end(None)
                self._alike[like[0]] = like
            if isinstance(entry, Piezo):
                self._rows += len(entry.samples)
        self._entries.append(entry)

    def end_if_full(self) -> None:
        """End the block if it is full; call it only between batches."""
        if self._rows >= MAX_ROWS or len(self._entries) >= MAX_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """End the block."""
        if self._entries:
            self._end(self._last() if self._last else None)

    def clear(self) -> None:
        """Discard the buffered entries."""
        self._entries, self._alike, self._rows = [], {}, 0

    def _end(self, last: Entry | None) -> None:
        entries = self._entries if last is None else [*self._entries, last]
        self.clear()
        if entries:
            self._out(pack(entries, self._counts_per_ut))
