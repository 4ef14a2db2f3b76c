"""Models of the mat's sensors: magnetometers, piezo discs, touch strips, and the hands that move over them.

A simulation from physics, not checked against a real mat: it is never evidence about one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pi_controller.board import wire
from pi_controller.errors import UsageError
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import response
from pi_controller.simulation.conditions import Conditions, Stream, rng

# Model of the 24 magnetometers: the earth's field, each chip's offset, and the dipole of every bead nearby.
#
# A simulation, not evidence about a real mat. Bead fields are recomputed only after a movement; noise is a function of
# time on a grid of 20 ms.


MARKED_AM2 = 0.176
"""D6x6 mm, N42."""
UNMARKED_AM2 = 0.052
"""D4x4 mm, N42."""
LYING_Z = 6.0
GRID_HZ = 50


@dataclass(slots=True)
class SimBead:
    """One bead: in a hand, at rest at `place`, or (neither) away from the mat. `moment` is a vector, A m^2."""

    moment: NDArray[np.float64]
    place: NDArray[np.float64] | None = None
    hand: Hand | None = None


class Magnets:
    """All magnetometers, in wire order."""

    def __init__(self, seed: int, conditions: Conditions) -> None:
        pins = pinmap()
        self._seed = seed
        self._conditions = conditions
        self._range = pins.magnetometers.range_ut
        self._per_ut = pins.magnetometers.counts_per_ut
        fixed = rng(seed, Stream.MAT, 3)
        drawn = np.array(pins.magnetometer_positions(conditions.depth_mm))
        self.count = len(drawn)
        self._places = drawn + conditions.sensor_place_mm * fixed.standard_normal(drawn.shape)
        dip, heading = np.radians(fixed.uniform(55.0, 75.0)), fixed.uniform(0.0, 2 * np.pi)
        earth = 50.0 * np.array([np.cos(dip) * np.cos(heading), np.cos(dip) * np.sin(heading), -np.sin(dip)])
        self._rest = earth + conditions.field_offset_ut * fixed.uniform(-1.0, 1.0, drawn.shape)
        self._gain = 1.0 + conditions.field_gain_error * fixed.standard_normal((self.count, 1))
        self._drift = fixed.standard_normal((2, 3)) * conditions.field_drift_ut
        self._period = fixed.uniform((70.0, 400.0), (200.0, 1500.0))
        self.beads: dict[str, SimBead] = {}
        self._lying: NDArray[np.float64] = np.zeros_like(drawn)
        self._second = -1
        self._noise: NDArray[np.float64] = np.zeros((GRID_HZ, self.count, 3))
        self._bad: NDArray[np.bool_] = np.zeros((GRID_HZ, self.count), bool)
        self._still: tuple[Any, bytes] | None = None
        self._slot = -1
        self._silent: list[bool] = []
        self._words = b""

    def update_fields(self) -> None:
        """Recompute the fields after a bead was put down or taken, or a hand started to move."""
        lying = np.zeros_like(self._lying)
        for bead in self.beads.values():
            if bead.place is not None:
                lying += response(self._places, bead.place) @ bead.moment
        self._lying = lying
        self._still, self._slot = None, -1

    def read(self, i: int, t: float) -> bytes | None:
        """Return magnetometer `i` at time `t`: x, y, z as i16 little endian; None if saturated or silent."""
        slot = int(t * GRID_HZ)
        if slot != self._slot:
            self._turn(slot)
        return None if self._silent[i] else self._words[6 * i : 6 * i + 6]

    def has_failed(self, i: int) -> bool:
        """Return True if the last reading of magnetometer `i` failed on the bus (and was not only saturated)."""
        second, row = divmod(self._slot, GRID_HZ)
        return second == self._second and bool(self._bad[row, i])

    def field(self, t: float) -> NDArray[np.float64]:
        """Return the noise-free field at the sensors at time `t`, microtesla (sensors, 3)."""
        field = self._lying
        for bead in self.beads.values():
            if bead.hand is not None:
                field = field + response(self._places, np.array(bead.hand.at(t))) @ bead.moment
        second = int(t)
        drift = self._drift[0] * np.sin(2 * np.pi * second / self._period[0])
        drift = drift + self._drift[1] * np.sin(2 * np.pi * second / self._period[1])
        return (field + drift) * self._gain + self._rest

    def _turn(self, slot: int) -> None:
        """Compute the readings of time slot `slot`; if no bead moves, those of its whole second at once."""
        second, row = divmod(slot, GRID_HZ)
        t = slot / GRID_HZ
        self._slot = slot
        if second != self._second:
            random = rng(self._seed, Stream.FIELD, second)
            self._noise = self._conditions.field_noise_ut * random.standard_normal((GRID_HZ, self.count, 3))
            self._bad = random.random((GRID_HZ, self.count)) < self._conditions.i2c_error_rate
            self._second, self._still = second, None
        if any(bead.hand is not None and bead.hand.still_from > t for bead in self.beads.values()):
            self._silent, self._words = self._pack(self.field(t) + self._noise[row], self._bad[row])
            return
        if self._still is None:
            self._still = self._pack(self.field(t) + self._noise, self._bad)
        silent, words = self._still
        size = 6 * self.count
        self._silent, self._words = silent[row], words[row * size : (row + 1) * size]

    def _pack(self, seen: NDArray[np.float64], bad: NDArray[np.bool_]) -> tuple[Any, bytes]:
        over = np.abs(seen).max(axis=-1) > self._range
        words = np.rint(np.clip(seen, -self._range, self._range) * self._per_ut).astype("<i2").tobytes()
        return (over | bad).tolist(), words


# Model of the four piezo discs: strokes, crosstalk between pads, drums through the floor, hands, hum, noise.
#
# A simulation from published figures (onset to half of the peak about 0.75 ms, to the peak 1.75 ms, 20 dB of decay in
# 35 ms, most energy below 900 Hz, cross-talk 22 to 45 dB down and up to 9 ms late, a frame that goes on rocking). It
# is never evidence about a real mat. Samples are numbered from virtual time 0; sample n is the same for any order and
# size of requests.


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


# Model of the pads' bias, which the board's self-test switches off and on: a disc's capacitance delays the level.


DISC_FARAD = 20e-9
"""Capacitance of a disc, within 30 %."""
BIAS_OHM, SERIES_OHM, SMOOTH_FARAD, POLE_OHM, POLE_FARAD = 100e3, 33e3, 3.3e-9, 33e3, 1e-9
"""The parts of a pad's input, as in `hardware/circuits.toml`: a test compares them."""


class Bias:
    """Level of each pad between ground (0) and its rest (1) after its bias is switched. `farads` (pads,) of the discs.

    Three capacitors in a row: the disc's, and those of the two filter poles.
    """

    def __init__(self, seed: int) -> None:
        fixed = rng(seed, Stream.MAT, 4)
        self.farads: NDArray[np.float64] = DISC_FARAD * fixed.uniform(0.7, 1.3, PADS)
        self._on = 1.0
        self._from: NDArray[np.float64] = np.ones((PADS, 3))  # the three capacitors when it was switched
        self._since = 0.0

    def switch(self, *, on: bool, t: float) -> None:
        """Switch the bias at time `t`."""
        self._from = self._levels(np.array([t]))[0]
        self._on, self._since = float(on), t

    def levels(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the levels (times, pads) at the times `t`; before the last switch they are those of that moment."""
        return self._levels(t)[:, :, 2]

    def _levels(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        after = np.maximum(t - self._since, 0.0)
        source, series, pole = 2.0 / BIAS_OHM, 1.0 / SERIES_OHM, 1.0 / POLE_OHM
        flow = np.array(
            [[-source - series, series, 0.0], [series, -series - pole, pole], [0.0, pole, -pole]]
        )  # amperes into each capacitor for a volt at each
        found = np.empty((len(t), PADS, 3))
        for pad, farad in enumerate(self.farads.tolist()):
            farads = np.array([[max(farad, 1e-12)], [SMOOTH_FARAD], [POLE_FARAD]])
            rate, modes = map(np.real, np.linalg.eig(flow / farads))  # complex since numpy 2.5
            share = np.linalg.solve(modes, self._from[pad] - self._on)
            found[:, pad] = self._on + (np.exp(after[:, None] * rate) * share) @ modes.T
        return found


# Kinematics of hands: position over time, and coverage of each touch strip.
#
# x to the right, y away from the hider, z up, mm, as in the pin map. A simulation, not evidence about real hands.


Side = Literal["hider", "hitter"]
Place = tuple[float, float, float]

HOME_Y = 480.0
"""Resting place of a hand in front of its own edge, mm from the mat's middle line."""
EDGE_Y = 215.0
"""A place just clear of the pads' edge."""
UNDER_Z = 22.0
OVER_Z = 70.0
HOME_Z = 150.0
SLEEVE_MM = 120.0
"""Distance behind the fingers at which a trailing sleeve still touches the edge of a pad."""
FIST_MM = 35.0
"""Reach of a fist beyond the held object."""


@dataclass(frozen=True, slots=True)
class HandStyle:
    """How somebody's hand goes under a pad.

    `move_s` is the time of the way in, `counts` the loss of a covered strip, `reach_mm` the reach past the pad's middle
    (negative: short of it). `sleeve` is the share of `counts` lost to a sleeve on the strip of its own edge, from
    before the hand arrives until it rests in front of the mat again.
    """

    move_s: float = 0.3
    counts: float = 40.0
    reach_mm: float = 60.0
    sleeve: float = 0.0


class Hand:
    """A hand moving smoothly through timed points."""

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self.sign = -1.0 if side == "hider" else 1.0
        self.style = HandStyle()
        self.pad: int | None = None
        """The pad that the hand is under or rests on."""
        self.ahead_mm = 0.0
        """Reach of the fingers beyond the hand's point: 0 for a flat hand, `FIST_MM` for a fist."""
        home = (0.0, self.sign * HOME_Y, HOME_Z)
        self._times = [0.0]
        self._points: list[Place] = [home]

    def at(self, t: float) -> Place:
        """Return the position (x, y, z) at time `t`, mm."""
        times = self._times
        i = bisect_right(times, t)
        if i == 0:
            return self._points[0]
        if i == len(times):
            return self._points[-1]
        t0, t1 = times[i - 1], times[i]
        s = (t - t0) / (t1 - t0)
        s = s * s * (3.0 - 2.0 * s)
        a, b = self._points[i - 1], self._points[i]
        return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])

    @property
    def still_from(self) -> float:
        """Time from which the hand is at rest."""
        return self._times[-1]

    def _go(self, t: float, legs: Iterable[tuple[float, Place]]) -> float:
        here = self.at(t)
        self._times, self._points = [t], [here]
        for seconds, point in legs:
            t += max(seconds, 1e-3)
            self._times.append(t)
            self._points.append(point)
        return t

    def go_in(self, t: float, pad: int, style: HandStyle) -> float:
        """Go under `pad`, leaving another pad first; return the time of arrival."""
        self.style, self.ahead_mm = style, 0.0
        x, _ = pinmap().pads.centre(pad)
        edge = (x, self.sign * EDGE_Y, OVER_Z)
        under = (x, -self.sign * style.reach_mm, UNDER_Z)
        legs = [(style.move_s * 0.45, edge), (style.move_s * 0.55, under)]
        if self.pad is not None and self.pad != pad:
            hx = self.at(t)[0]
            legs.insert(0, (style.move_s * 0.5, (hx, self.sign * EDGE_Y, OVER_Z)))
        self.pad = pad
        return self._go(t, legs)

    def rest_on(
        self, t: float, pad: int, x_offset_mm: float = 0.0, style: HandStyle | None = None, z_mm: float = 25.0
    ) -> float:
        """Put a fist on `pad`, `x_offset_mm` to the right of its middle; return the time of arrival.

        It covers the strip of its own edge and the middle one. The held object is `z_mm` (12 to 45) above the surface.
        Raises `UsageError` if the fist would be beside the pad.
        """
        pads = pinmap().pads
        if abs(x_offset_mm) > pads.width_mm / 2:
            raise UsageError(
                f"a fist {x_offset_mm} mm from the middle of pad {pad} is outside the pad",
                f"stay within {pads.width_mm / 2:.0f} mm",
            )
        if not 12.0 <= z_mm <= 45.0:
            raise UsageError(f"no fist holds a bead {z_mm} mm above the mat", "choose 12 to 45 mm")
        self.style, self.ahead_mm = style or self.style, FIST_MM
        x = pads.centre(pad)[0] + x_offset_mm
        self.pad = pad
        over = (x, self.sign * EDGE_Y, OVER_Z + FIST_MM)
        return self._go(t, [(self.style.move_s * 0.45, over), (self.style.move_s * 0.55, (x, 0.0, z_mm))])

    def go_out(self, t: float) -> float:
        """Leave the pad and rest clear of the edge; return the time of arrival."""
        x = self.at(t)[0]
        self.pad = None
        clear = self.style.move_s * 0.55
        self._go(t, [(clear, (x, self.sign * EDGE_Y, OVER_Z)), (clear, (x * 0.9, self.sign * (EDGE_Y + 60.0), HOME_Z))])
        return t + clear

    def go_home(self, t: float) -> float:
        """Draw the hand back to its own side; return the time of arrival."""
        self.pad = None
        x = self.at(t)[0]
        return self._go(t, [(0.3, (x, self.sign * HOME_Y, HOME_Z))])


class Cover:
    """Loss of counts of each strip to a hand, by plain geometry."""

    def __init__(self) -> None:
        pads, strips = pinmap().pads, pinmap().touch.strips
        self._x = [pads.centre(p)[0] for p in EVERY_PAD]
        self._half = pads.width_mm / 2
        self._deep = pads.depth_mm / len(strips)
        self._start = [i * self._deep - pads.depth_mm / 2 for i in range(len(strips))]  # in a hand's own direction
        self._edge = pads.depth_mm / 2

    def counts(self, hand: Hand, t: float) -> list[float] | None:
        """Return the loss of every electrode in wire order, or None if the hand is far from all of them."""
        x, y, z = hand.at(t)
        inward = hand.ahead_mm - hand.sign * y  # grows as the hand goes in
        if inward < -(self._edge + (SLEEVE_MM if hand.style.sleeve else 60.0)):
            return None
        strips: list[float] = []
        for start in self._start:
            covered = min(1.0, max(0.0, (inward - start) / self._deep))
            palm = min(1.0, max(0.0, 1.0 - (inward - 100.0 - start) / self._deep))
            strips.append(covered * (0.65 + 0.35 * palm))
        strips[0] = max(strips[0], 0.12 * min(1.0, 1.0 + (inward + self._edge) / 60.0))
        trailing = hand.style.sleeve * min(1.0, max(0.0, (inward + self._edge + SLEEVE_MM) / SLEEVE_MM))
        lift = min(1.0, max(0.0, (OVER_Z + 20.0 - z) / (OVER_Z + 20.0 - UNDER_Z)))
        strips = [strip * lift for strip in strips]
        strips[0] = max(strips[0], trailing)
        if hand.side == "hitter":
            strips.reverse()
        full = hand.style.counts * (1.0 + 0.08 * math.sin(2.0 * math.pi * 1.7 * t + x))
        loss: list[float] = []
        for centre in self._x:
            beside = abs(centre - x)
            near = full if beside <= self._half else 0.05 * full if beside <= self._half + 190.0 else 0.0
            loss += [near * strip for strip in strips]
        return loss


# Model of the twelve touch strips: about 700 counts at rest, less under a hand, with drift and noise.
#
# A simulation, not evidence about a real mat. The reading is a function of time only, on a grid of 10 ms.


TOUCH_GRID_HZ = 100
REST = 700.0
STRIP_PF = 65.0
"""Capacitance of a strip with its wire, within 15 %."""


class TouchStrips:
    """All strips of all pads, electrode (pad - 1) * 3 + strip."""

    def __init__(self, seed: int, conditions: Conditions) -> None:
        self.count = PADS * len(pinmap().touch.strips)
        self._seed = seed
        self._conditions = conditions
        self._cover = Cover()
        fixed = rng(seed, Stream.MAT, 2)
        self._rest = REST + fixed.uniform(-15.0, 15.0, self.count)
        self._gain = fixed.uniform(0.85, 1.15, self.count)
        self._period = fixed.uniform(90.0, 700.0, self.count)
        self._phase = fixed.uniform(0.0, 2 * np.pi, self.count)
        self.picofarads: NDArray[np.float64] = STRIP_PF * fixed.uniform(0.85, 1.15, self.count)
        """Capacitance of each strip without a hand."""
        self._second = -1
        self._rows: NDArray[np.float64] = np.zeros((TOUCH_GRID_HZ, self.count))
        self._bytes = b""
        self._bad: NDArray[np.bool_] = np.zeros(TOUCH_GRID_HZ, bool)

    def read(self, t: float, hands: Iterable[Hand]) -> bytes | None:
        """Return all counts at time `t` as u16 little endian, or None on a bus error."""
        row = int(t * TOUCH_GRID_HZ)
        second, i = divmod(row, TOUCH_GRID_HZ)
        if second != self._second:
            self._load(second)
        if self._bad[i]:
            return None
        loss: list[float] | None = None
        for hand in hands:
            covered = self._cover.counts(hand, row / TOUCH_GRID_HZ)
            if covered is not None:
                loss = covered if loss is None else [a + b for a, b in zip(loss, covered, strict=True)]
        if loss is None:
            return self._bytes[i * 2 * self.count : (i + 1) * 2 * self.count]
        return _counts(self._rows[i] - np.array(loss) * self._gain)

    def _load(self, second: int) -> None:
        conditions = self._conditions
        random = rng(self._seed, Stream.TOUCH, second)
        drift = conditions.touch_drift * np.sin(2 * np.pi * second / self._period + self._phase)
        self._rows = self._rest + drift + conditions.touch_noise * random.standard_normal((TOUCH_GRID_HZ, self.count))
        self._bad = random.random(TOUCH_GRID_HZ) < conditions.i2c_error_rate
        self._bytes = _counts(self._rows)
        self._second = second


def _counts(values: NDArray[np.float64]) -> bytes:
    return np.minimum(np.maximum(np.rint(values), 0.0), 1023.0).astype("<u2").tobytes()
