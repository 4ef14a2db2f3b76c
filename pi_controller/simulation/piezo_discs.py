"""Model of the four piezo discs: strokes, crosstalk between pads, drums through the floor, hands, hum, noise.

A simulation from published figures (onset to half of the peak about 0.75 ms, to the peak 1.75 ms, 20 dB of decay in
35 ms, most energy below 900 Hz, cross-talk 22 to 45 dB down and up to 9 ms late, a frame that goes on rocking). It
is never evidence about a real mat. Samples are numbered from virtual time 0; sample n is the same for any order and
size of requests.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pi_controller.board import wire
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.simulation.conditions import Conditions, Stream, rng

MID = 2048
"""Rest, in counts of one reading of the converter, as all levels here until they are read."""
WIDE_CODES = (512, 1536, 2560, 3584)
"""Codes of the RP2040's converter that cover more of its input than others."""
WIDE, NARROW = 9.0, (4096 - 4 * 9) / (4096 - 4)
"""Counts of the input that such a code covers, and each other one."""
CODES = np.array([-0.5, *(code + half for code in WIDE_CODES for half in (-0.5, 0.5)), 4095.5])
INPUTS = np.cumsum([-0.5, *np.tile([NARROW, WIDE], 5)[:-1] * np.diff(CODES)])
DECAY_S = 0.035 / np.log(10.0)
"""Time constant of a stroke: 20 dB in 35 ms."""

F32 = np.float32
SPAN = 800
"""Number of samples made at once: a divisor of a second's, a multiple of a block's."""
NEVER = 1 << 62


def dbfs(level: float) -> float:
    """Return the counts of a level in dB under the rail."""
    return MID * 10.0 ** (level / 20.0)


def read_converter(counts: NDArray[np.floating[Any]]) -> NDArray[np.uint16]:
    """Return the board's sums of 16 readings of `counts` (with noise, which evens out the steps of single readings)."""
    readings = np.clip(np.interp(counts, INPUTS, CODES), 0.0, 4095.0)
    return np.rint(wire.READINGS * readings).astype("<u2")


class Burst:
    """A sound added to the noise: `shape` (n, pads) counts from sample `start` on."""

    __slots__ = ("end", "shape", "start")

    def __init__(self, start: int, shape: NDArray[np.float32]) -> None:
        self.start = start
        self.end = start + len(shape)
        self.shape = shape


class SimPiezo:
    """The piezo channels. `rate` is the true sample rate in virtual time, samples a second."""

    def __init__(self, seed: int, conditions: Conditions) -> None:
        board = pinmap().board
        self.pads = PADS
        self.hz = board.sample_hz
        self.block_samples = board.block_samples
        self.rate = board.sample_hz * (1.0 + conditions.clock_ppb * 1e-9)
        self._seed = seed
        self._conditions = conditions
        self._chunk_no = -1
        self._base: NDArray[np.float32] = np.zeros((self.hz, self.pads), F32)
        self._bytes = b""
        self._bursts: list[Burst] = []
        self._rubs: list[list[int]] = []  # [pad, from sample, to sample]
        self._span = -1
        self._stale_from = NEVER
        fixed = rng(seed, Stream.MAT, 1)
        self._modes = np.sort(fixed.uniform(300.0, 900.0, (self.pads, 4)), axis=1)
        self._drums = self._drum_shapes(fixed) if conditions.drum_dbfs is not None else []
        self._hum = self._hum_shape(fixed)
        self._rest = F32(MID) + fixed.uniform(-1.0, 1.0, self.pads).astype(F32) * F32(conditions.bias_lsb)
        self._rub_bank: NDArray[np.float32] | None = None

    # people's actions

    def strike(self, t: float, pad: int, level_dbfs: float) -> None:
        """Strike `pad` at time `t` with a peak of `level_dbfs` (above 0 it clips); the other pads echo it."""
        random = rng(self._seed, Stream.STRIKE, pad, int(t * 1e6))
        at = t * self.rate
        start = int(np.ceil(at))
        n = int(0.25 * self.rate)
        time = (np.arange(n) + (start - at)) / self.rate
        shape = np.zeros((n, self.pads), F32)
        peak = dbfs(level_dbfs)
        shape[:, pad - 1] = peak * self._stroke(random, pad, time)
        rock_hz = random.uniform(18.0, 45.0)
        for other in range(1, self.pads + 1):
            if other == pad:
                continue
            far = abs(other - pad)
            down = min(45.0, random.uniform(22.0, 38.0) + 3.5 * (far - 1))
            late = min(9e-3, random.uniform(0.4e-3, 5e-3) + 1.3e-3 * (far - 1))
            echo = self._stroke(random, other, time - late, soft=True)
            rock = -np.sin(2 * np.pi * rock_hz * time) * np.exp(-time / 0.06) * np.clip(time / 8e-3, 0.0, 1.0)
            shape[:, other - 1] = peak * (
                10.0 ** (-down / 20.0) * echo + 10.0 ** (-random.uniform(40, 52) / 20.0) * rock
            )
        self._add(Burst(start, shape))

    def press(self, t: float, pad: int) -> None:
        """Press on the plate of `pad` with a moving hand: slow, without the ring of a stroke."""
        random = rng(self._seed, Stream.PRESS, pad, int(t * 1e6))
        start = int(np.ceil(t * self.rate))
        n = int(0.22 * self.rate)
        time = np.arange(n) / self.rate
        wave = np.zeros(n)
        for _ in range(int(random.integers(1, 4))):
            at, width = random.uniform(0.0, 0.12), random.uniform(0.025, 0.08)
            phase = np.clip((time - at) / width, 0.0, 1.0)
            wave += random.choice((-1.0, 1.0)) * random.uniform(0.4, 1.0) * np.sin(np.pi * phase) ** 2
        shape = np.zeros((n, self.pads), F32)
        shape[:, pad - 1] = dbfs(self._conditions.press_dbfs) * wave / max(1.0, float(np.abs(wave).max()))
        self._add(Burst(start, shape))

    def rub(self, pad: int, start_t: float, end_t: float) -> None:
        """Rub cloth over `pad` from `start_t` to `end_t` (seconds)."""
        first, last = int(np.ceil(start_t * self.rate)), int(np.ceil(end_t * self.rate))
        self._rubs.append([pad, first, last])
        self._stale_from = min(self._stale_from, first)

    def rub_ends(self, pad: int, t: float) -> None:
        """End all rubbing over `pad` at `t`."""
        last = int(np.ceil(t * self.rate))
        for rub in self._rubs:
            if rub[0] == pad:
                rub[2] = min(rub[2], last)
        self._stale_from = min(self._stale_from, last)

    # converter readings

    def block(self, first: int) -> bytes:
        """Return one block from sample `first` (a multiple of the block) as the board sends it: interleaved u16."""
        span = first // SPAN
        if span != self._span or first + self.block_samples > self._stale_from:
            self._render(span)
        at = (first - span * SPAN) * self.pads * 2
        return self._bytes[at : at + self.block_samples * self.pads * 2]

    def samples(self, first: int, count: int) -> NDArray[np.uint16]:
        """Return `count` samples from `first` on (both multiples of the block), shape (count, pads)."""
        blocks = b"".join(self.block(n) for n in range(first, first + count, self.block_samples))
        return np.frombuffer(blocks, "<u2").reshape(-1, self.pads)

    # inside

    def _add(self, burst: Burst) -> None:
        self._bursts.append(burst)
        self._stale_from = min(self._stale_from, burst.start)

    def _render(self, span: int) -> None:
        """Make the samples of one span, with all known sounds."""
        first = span * SPAN
        last = first + SPAN
        chunk_no, offset = divmod(first, self.hz)
        if chunk_no != self._chunk_no:
            self._load(chunk_no)
        wave = self._base[offset : offset + SPAN].copy()
        for burst in self._bursts:
            a, b = max(first, burst.start), min(last, burst.end)
            if a < b:
                wave[a - first : b - first] += burst.shape[a - burst.start : b - burst.start]
        for pad, start, end in self._rubs:
            a, b = max(first, start), min(last, end)
            if a < b:
                wave[a - first : b - first, pad - 1] += np.take(self._bank()[:, pad - 1], range(a, b), mode="wrap")
        self._bytes = read_converter(wave + self._rest).tobytes()
        self._span, self._stale_from = span, NEVER

    def _load(self, chunk_no: int) -> None:
        """Make second `chunk_no` without strokes and hands; forget sounds that ended long before."""
        long_ago = (chunk_no - 1) * self.hz
        self._bursts = [burst for burst in self._bursts if burst.end > long_ago]
        self._rubs = [rub for rub in self._rubs if rub[2] > long_ago]
        conditions = self._conditions
        random = rng(self._seed, Stream.PIEZO, chunk_no)
        wave = random.standard_normal((self.hz, self.pads), F32)
        wave *= F32(conditions.adc_noise_lsb / math.sqrt(wire.READINGS))
        if conditions.hum_lsb:
            wave += self._hum
        for pad in range(self.pads):
            for _ in range(int(random.poisson(conditions.spikes_per_minute / 60.0))):
                wave[int(random.integers(self.hz)), pad] += random.choice((-1, 1)) * random.uniform(20.0, 100.0)
        for start, gain, kind in (*self._beats(chunk_no - 1), *self._beats(chunk_no)):
            shape = self._drums[kind]
            a = start - chunk_no * self.hz
            lo, hi = max(0, a), min(self.hz, a + len(shape))
            if lo < hi:
                wave[lo:hi] += F32(gain) * shape[lo - a : hi - a]
        self._chunk_no, self._base = chunk_no, wave

    def _beats(self, second: int) -> list[tuple[int, float, int]]:
        """Return the drum beats that start in a second: (sample, gain, kind)."""
        if not self._drums or second < 0:
            return []
        random = rng(self._seed, Stream.DRUM, second)
        period = self.hz / self._conditions.drum_hz
        beats: list[tuple[int, float, int]] = []
        n = int(np.ceil(second * self.hz / period))
        while n * period < (second + 1) * self.hz:
            start = int(n * period + abs(random.normal(0.0, 0.012 * self.hz)))
            honour = 1.6 if n % 16 in (9, 11, 13) else 1.0
            beats.append((start, honour * 10.0 ** (random.normal(0.0, 2.5) / 20.0), n % len(self._drums)))
            n += 1
        return beats

    def _stroke(
        self, random: np.random.Generator, pad: int, time: NDArray[np.floating[Any]], soft: bool = False
    ) -> NDArray[np.float64]:
        """Return a stroke's ring with a peak of 1: four modes, a rise of about a millisecond."""
        modes = self._modes[pad - 1] * random.normal(1.0, 0.02, 4)
        weight = random.uniform(0.4, 1.0, 4) * np.array([1.0, 0.8, 0.6, 0.4])
        phase = random.uniform(-0.6, 0.6, 4)
        after = np.maximum(time, 0.0)
        rise = 1.8e-3 if soft else 0.6e-3
        swell = np.where(time > 0.0, 1.0 - np.exp(-((after / rise) ** 1.5)), 0.0)
        decay = DECAY_S * random.uniform(0.8, 1.3, 4)
        ring = (np.sin(2 * np.pi * modes * after[:, None] + phase) * np.exp(-after[:, None] / decay) * weight).sum(
            axis=1
        ) * swell
        return ring / np.abs(ring).max()

    def _drum_shapes(self, random: np.random.Generator) -> list[NDArray[np.float32]]:
        """Return three beats (n, pads): the floor shakes all pads nearly equally."""
        level = dbfs(self._conditions.drum_dbfs or 0.0)
        time = np.arange(int(0.5 * self.hz)) / self.hz
        gains = 10.0 ** (random.normal(0.0, 1.0, self.pads) / 20.0)
        late = random.uniform(0.0, 1.5e-3, self.pads)
        shapes: list[NDArray[np.float32]] = []
        for _ in range(3):
            low, high = random.uniform(55.0, 170.0, 3), random.uniform(250.0, 450.0, 2)
            phase = random.uniform(0.0, 2 * np.pi, 5)
            shape = np.zeros((len(time), self.pads))
            for pad in range(self.pads):
                t = np.maximum(time - late[pad], 0.0)
                wave = sum(np.sin(2 * np.pi * f * t + p) for f, p in zip(low, phase, strict=False)) * np.exp(-t / 0.07)
                wave += (
                    0.15
                    * sum(np.sin(2 * np.pi * f * t + p) for f, p in zip(high, phase[3:], strict=True))
                    * np.exp(-t / 0.012)
                )
                shape[:, pad] = wave * (1.0 - np.exp(-t / 4e-3)) * gains[pad]
            shapes.append((level * shape / np.abs(shape).max()).astype(F32))
        return shapes

    def _hum_shape(self, random: np.random.Generator) -> NDArray[np.float32]:
        """Return one second of mains hum (60 Hz with its third and fifth harmonics), which repeats each second."""
        time = np.arange(self.hz)[:, None] / self.hz
        gain, phase = random.uniform(0.5, 1.0, self.pads), random.uniform(0.0, 2 * np.pi, self.pads)
        wave = sum(part * np.sin(2 * np.pi * f * time + phase) for f, part in ((60, 0.8), (180, 0.3), (300, 0.15)))
        return np.asarray(self._conditions.hum_lsb * gain * wave, F32)

    def _bank(self) -> NDArray[np.float32]:
        """Return a few seconds of cloth noise (80 to 600 Hz, in strokes of the hand), to be repeated."""
        if self._rub_bank is not None:
            return self._rub_bank
        random = rng(self._seed, Stream.RUB)
        n = 3 * self.hz + 17
        spectrum = np.fft.rfft(random.standard_normal((n, self.pads)), axis=0)
        hz = np.fft.rfftfreq(n, 1.0 / self.hz)[:, None]
        noise = np.fft.irfft(
            spectrum / np.sqrt((1.0 + (80.0 / (hz + 1.0)) ** 4) * (1.0 + (hz / 600.0) ** 4)), n, axis=0
        )
        strokes = 0.4 + 0.6 * np.abs(np.sin(np.pi * np.arange(n)[:, None] / self.hz * random.uniform(2, 4, self.pads)))
        noise *= strokes
        bank = (dbfs(self._conditions.rub_dbfs) * noise / noise.std()).astype(F32)
        self._rub_bank = bank
        return bank
