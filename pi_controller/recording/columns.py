"""Lossless block codec: about a second of entries as columns, differences, byte planes, zlib.

Samples are written as what their two neighbours before do not foretell (order 0, 1 or 2, whichever is smallest for a
pad), small numbers whatever their sign, and all low bytes stand before all high bytes: zlib then finds almost nothing
but zeros in the second half. Times are float64 to the last bit, as differences of their bit patterns.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from pi_controller.link.messages import BoardEvent, Field, Gap, Health, LinkDown, LinkUp, Piezo, Touch
from pi_controller.mat.events import Button
from pi_controller.recording.model import Armed, Batch, Began, Ended, Entry, Felt, Lost, RecordingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LEVEL = 6
MOST_BYTES = 1 << 26
"""No block is larger when unpacked: a damaged or hostile file cannot fill the memory."""
RARE = {kind.__name__: kind for kind in (BoardEvent, Gap, Health, LinkUp, LinkDown, Lost, Felt)}


class Columns(msgspec.Struct, array_like=True):
    """A block before zlib, as a MessagePack array; `README.md` tells what stands in each place."""

    kinds: bytes
    times: bytes
    piezo: tuple[int, float, int]
    lengths: list[int]
    starts: list[int]
    orders: bytes
    samples: bytes
    touch: tuple[int, int]
    counts: bytes
    field: tuple[int, float]
    ut: bytes
    ok: bytes
    rare: list[list[Any]]


def pack(entries: Sequence[Entry], counts_per_ut: float) -> bytes:
    """Return `entries` as a block. All piezo messages must be alike, and so the scans (see `alike`)."""
    kinds = bytearray()
    times: list[float] = []
    piezo: list[Piezo] = []
    touch: list[Touch] = []
    field: list[Field] = []
    rare: list[list[Any]] = []
    for entry in entries:
        match entry:
            case Began():
                kinds += b"S"
                times.append(entry.t)
            case Batch(armed=armed):
                kinds += b"B" if armed else b"b"
            case Armed(armed=armed):
                kinds += b"A" if armed else b"a"
            case Ended():
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
                rare.append([type(entry).__name__, *(getattr(entry, name) for name in entry.__slots__)])
    columns = Columns(
        bytes(kinds),
        _pack_times(times),
        *_pack_piezo(piezo),
        *_pack_touch(touch),
        *_pack_field(field, counts_per_ut),
        rare,
    )
    return zlib.compress(msgspec.msgpack.encode(columns), LEVEL)


def alike(entry: Entry) -> tuple[Any, ...] | None:
    """Return what must be the same for all such messages of a block; None for entries that go anywhere."""
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
    """Return the entries of a block. Raises `RecordingError` for bytes that are none."""
    try:
        unzip = zlib.decompressobj()
        plain = unzip.decompress(data, MOST_BYTES)
        found = list(_entries(msgspec.msgpack.decode(plain, type=Columns))) if unzip.eof else None
    except RecordingError:
        raise
    except (zlib.error, msgspec.MsgspecError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise RecordingError("a block of the recording cannot be read", "it was written by another version") from error
    if found is None:
        raise RecordingError("a block of the recording is cut short or too large")
    return found


def _entries(c: Columns) -> Iterator[Entry]:
    times = iter(_unpack_times(c.times))
    piezo, touch, field, rare = _piezo(c), _touch(c), _field(c), iter(c.rare)
    for kind in c.kinds.decode("ascii"):
        match kind:
            case "S":
                yield Began(next(times))
            case "B" | "b":
                yield Batch(kind == "B")
            case "A" | "a":
                yield Armed(kind == "A")
            case "E":
                yield Ended()
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
    """All lowest bytes, then all next ones."""
    return values.ravel().view(np.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()


def _from_planes(data: bytes, dtype: str) -> NDArray[Any]:
    width = np.dtype(dtype).itemsize
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(width, -1).T).view(dtype).ravel()


def _zigzag(x: NDArray[Any]) -> NDArray[Any]:
    """Small numbers of either sign as small unsigned ones: 0, -1, 1, -2 ... become 0, 1, 2, 3."""
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
    # differences wrap around in 16 bits, and so do the sums that undo them
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
    """Counts where counts say it to the last bit, else float64 (a scale of 0)."""
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
