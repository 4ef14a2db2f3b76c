"""Runs the strike detector over a WAV file, one channel per pad.

Reads any uncompressed WAV of one to eight channels from front to back in small blocks, so a pipe works like a file, and
a strike is yielded as soon as it is detected. A recording that ends early is read to its end.
"""

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pi_controller.errors import UsageError
from pi_controller.sensing.filters import JumpLimiter
from pi_controller.sensing.recursive_filter import RecursiveFilter, butterworth
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.sensing.strikes import StrikeDecision, StrikeDetector

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
KINDS = {(PCM, 1), (PCM, 2), (PCM, 3), (PCM, 4), (FLOAT, 4), (FLOAT, 8)}  # and bytes a sample
MAX_RATE_HZ = 8500  # above this the recording is decimated by a whole factor
MIN_RATE_HZ = 1500
BLOCK_S = 0.008
FULL_SCALE = 32768.0
STILL = 2.0  # counts: smaller jumps are never limited
WAV_HINT = "Give a WAV of 1 to 8 channels, PCM of 8 to 32 bits or float, 2 kHz or more."


@dataclass(frozen=True, slots=True)
class WavFormat:
    """Format from the header: channels, frames a second, bytes of one sample, and whether samples are floats."""

    channels: int
    rate: int
    width: int
    floating: bool

    @property
    def full_scale(self) -> float:
        """The rail in the unit of the samples returned: 8-bit counts, else 16-bit counts and fractions of them."""
        return 128.0 if self.width == 1 else FULL_SCALE


def _read_exactly(file: BinaryIO, n: int) -> bytes:
    """Read `n` bytes, fewer only at the end (a pipe may return them in pieces)."""
    parts: list[bytes] = []
    while n > 0 and (part := file.read(min(n, 1 << 16))):
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def _format(body: bytes, name: str) -> WavFormat:
    if len(body) < 16:
        raise UsageError(f"{name}: its header is cut short.", WAV_HINT)
    tag, channels, rate, _, align, bits = struct.unpack_from("<HHIIHH", body)
    if tag == EXTENSIBLE and len(body) >= 26:
        tag = struct.unpack_from("<H", body, 24)[0]
    width = align // channels if channels else 0
    if (tag, width) not in KINDS or align != width * channels:
        raise UsageError(f"{name}: samples of kind {tag} with {bits} bits are not supported.", WAV_HINT)
    if not 1 <= channels <= 8:
        raise UsageError(f"{name}: {channels} channels, but there are 1 to 8 pads.", WAV_HINT)
    if not MIN_RATE_HZ <= rate <= 768000:
        raise UsageError(f"{name}: {rate} samples a second are not supported.", WAV_HINT)
    return WavFormat(channels, rate, width, tag == FLOAT)


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield the kind and the size of each chunk; the caller reads as many bytes before the next.

    A chunk of odd size ends with a zero that is not counted; some programs leave it out.
    """
    before = b""
    while len(head := before + _read_exactly(file, 8 - len(before))) == 8:
        kind, size = head[:4], struct.unpack("<I", head[4:])[0]
        yield kind, size
        before = _read_exactly(file, 1).strip(b"\0") if size % 2 else b""


class WavReader:
    """Reads a WAV from front to back: `format` is known at once, `blocks()` then yields the samples.

    Raises `UsageError` if the file is no readable WAV; lesser problems go to `warn`, one line each.
    """

    def __init__(self, file: BinaryIO, name: str, warn: Callable[[str], None]) -> None:
        self._file, self.name, self._warn = file, name, warn
        head = _read_exactly(file, 12)
        if len(head) < 12 or head[:4] not in {b"RIFF", b"RF64"} or head[8:] != b"WAVE":
            raise UsageError(f"{name}: this is not a WAV file.", WAV_HINT)
        found: WavFormat | None = None
        self._chunks = _chunks(file)
        for kind, size in self._chunks:
            if kind == b"data":
                break
            body = _read_exactly(file, size if kind != b"fmt " else min(size, 4096))
            if kind == b"fmt ":
                found = _format(body, name)
        else:
            raise UsageError(f"{name}: it ends before any samples.", WAV_HINT)
        if found is None:
            raise UsageError(f"{name}: it has no format header.", WAV_HINT)
        self.format = found
        # recorders that write to a pipe cannot know the size: the file is complete then
        self._left: int | None = None if size in {0, 0xFFFFFFFF} else size

    def blocks(self, frames: int) -> Iterator[NDArray[np.float64]]:
        """Yield blocks of up to `frames` frames, shape (n, channels), in the unit of `format.full_scale`."""
        f = self.format
        align = f.width * f.channels
        while self._left is None or self._left > 0:
            want = frames * align if self._left is None else min(frames * align, self._left)
            raw = _read_exactly(self._file, want)
            whole = len(raw) // align
            if whole:
                yield self._samples(raw[: whole * align]).reshape(whole, f.channels)
            if len(raw) < want or len(raw) % align:
                if self._left is not None or len(raw) % align:
                    self._warn(f"{self.name}: it ends early; the rest is missing.")
                return
            if self._left is not None:
                self._left -= len(raw)
        for kind, size in self._chunks:
            if kind == b"data":
                self._warn(f"{self.name}: only the first of its recordings is read; save each as a file of its own.")
                return
            _read_exactly(self._file, size)

    def _samples(self, raw: bytes) -> NDArray[np.float64]:
        width = self.format.width
        if self.format.floating:
            x = np.frombuffer(raw, f"<f{width}").astype(np.float64)
            if not np.isfinite(x).all():
                self._warn(f"{self.name}: samples that are not numbers are read as 0.")
                x = np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
            return np.clip(x, -16.0, 16.0) * FULL_SCALE
        if width == 1:
            return np.frombuffer(raw, np.uint8).astype(np.float64) - 128.0
        if width == 3:
            wide = np.zeros((len(raw) // 3, 4), np.uint8)
            wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
            return wide.view("<i4")[:, 0] / 65536.0
        return np.frombuffer(raw, f"<i{width}") / (1.0 if width == 2 else 65536.0)


class Decimator:
    """Decimates a recording by a whole factor, causally: lone jumps limited, low-pass, every n-th sample kept."""

    def __init__(self, rate: float, channels: int, still: float) -> None:
        self.factor = max(1, math.ceil(rate / MAX_RATE_HZ))
        self.rate = rate / self.factor
        self._jumps = JumpLimiter(channels, still)
        low_pass = butterworth(6, 0.4 * self.rate, "lowpass", rate) if self.factor > 1 else None
        self._filter = None if low_pass is None else RecursiveFilter([low_pass], channels)
        self._sum = np.zeros((channels, 1))
        self._phase = 0

    def feed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the samples kept of `x` (n, channels), in the same unit. None depends on a later sample."""
        if self._filter is None or not len(x):
            return x
        level = self._sum + np.cumsum(self._jumps.feed(np.ascontiguousarray(x.T)), axis=1)
        self._sum = level[:, -1:]
        (y,) = self._filter.feed(level)
        first = (self.factor - 1 - self._phase) % self.factor
        self._phase = (self._phase + len(x)) % self.factor
        return y[:, first :: self.factor].T


def detect_strikes(
    reader: WavReader, settings: StrikeSettings, warn: Callable[[str], None]
) -> Iterator[tuple[StrikeDecision, list[float], float]]:
    """Yield each decision, its onsets, and the stream time at which it was decided, s; faulty channels go to `warn`."""
    f = reader.format
    slower = Decimator(f.rate, f.channels, STILL)
    detector = StrikeDetector(slower.rate, f.channels, f.full_scale, settings)
    known: dict[int, str] = {}
    blocks = map(slower.feed, reader.blocks(max(1, round(f.rate * BLOCK_S))))
    for block in chain(blocks, (None,)):
        for d in detector.finish() if block is None else detector.feed_samples(block):
            yield d, [onset / slower.rate for onset in d.onsets], d.decided_index / slower.rate
        if (faults := detector.faults) != known:
            for pad, why in faults.items():
                if known.get(pad) != why:
                    warn(f"{reader.name}: pad {pad} is {why}.")
            known = faults
