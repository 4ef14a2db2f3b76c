"""Front end of the strike detector: turns samples into band energies per half millisecond.

Three steps, all causal and stateful, so the stream may be cut into blocks anywhere:

1. a limit on lone jumps: a single sample that jumps between still ones, and either returns at once (a spike) or stays
   (a step), is caused by the converter or a loose contact. A pad that is struck moves for several samples;
2. a steep high-pass and a gentle low-pass: a drum, a song or a hand on the floor shakes the pads below a few hundred
   hertz, a stick on a pad with a piezo also makes several hundred to some thousand;
3. the mean square over a hop of about half a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pi_controller.sensing.recursive_filter import FilterDesign, RecursiveFilter, butterworth

LOOK_AHEAD = 2  # samples seen before a jump is called lone
LONE_JUMP_RATIO = 1.75  # times the motion around it


def band(rate: float, low_hz: float, high_hz: float) -> FilterDesign:
    """Design the band-pass (order 4 below, 2 above), to be run on *differences* of samples.

    The difference is part of the high-pass, so one of its zeros at 0 Hz is removed here.
    """
    high_pass = butterworth(4, low_hz, "highpass", rate)
    above = high_pass._replace(zeros=high_pass.zeros[1:])
    return above.cascade(butterworth(2, high_hz, "lowpass", rate)) if high_hz < 0.45 * rate else above


def share_of_white(design: FilterDesign) -> float:
    """Return the share of white noise's energy that passes a `band`."""
    turns = np.exp(-1j * np.pi * (np.arange(512) + 0.5) / 512)
    passed = np.full(len(turns), design.gain)
    for zero in (1.0, *design.zeros):  # 1: the difference's zero
        passed *= np.abs(1 - zero * turns)
    for pole in design.poles:
        passed /= np.abs(1 - pole * turns)
    return float(np.mean(passed * passed))


class JumpLimiter:
    """Turns samples into differences with lone jumps limited; the output lags by LOOK_AHEAD samples."""

    def __init__(self, pads: int, still: float) -> None:
        """Take `still`, counts: smaller jumps are never limited."""
        self._still = still
        self._last: NDArray[np.float64] | None = None
        self._moves = np.zeros((pads, 4))

    def feed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the limited differences of `x` (pads, n), n > 0, in the same shape.

        Each is limited to LONE times the second largest of the two before and the two after it: the second largest,
        because a spike is two large differences side by side.
        """
        n = x.shape[1]
        if self._last is None:
            self._last = x[:, :1]
        moves = np.empty((len(x), n + 4))
        moves[:, :4] = self._moves
        np.subtract(x[:, :1], self._last, out=moves[:, 4:5])
        np.subtract(x[:, 1:], x[:, :-1], out=moves[:, 5:])
        self._moves, self._last = moves[:, n:], x[:, -1:]
        size = np.abs(moves)
        # of each move and the next: the greater and the lesser
        greater, lesser = np.maximum(size[:, :-1], size[:, 1:]), np.minimum(size[:, :-1], size[:, 1:])
        limit = np.minimum(greater[:, :-3], greater[:, 3:])
        np.maximum(limit, lesser[:, :-3], out=limit)
        np.maximum(limit, lesser[:, 3:], out=limit)
        limit *= LONE_JUMP_RATIO
        np.maximum(limit, self._still, out=limit)
        np.minimum(limit, size[:, 2:-2], out=limit)
        return np.copysign(limit, moves[:, 2:-2], out=limit)


MAINS_HZ = (50.0, 60.0)
HUM_FRAME_S = 0.5  # between two looks for hum
HUM_WINDOW_S = 1.0  # looked at: one bin of its spectrum is a hertz
HUM_TOP_HZ = 1250.0  # highest harmonic
HUM_STANDS = 25.0  # times the spectrum around it, which noise hardly ever reaches
HUM_AROUND = (6, 20)  # bins from a harmonic, on either side
HUM_WANDERS = 0.002  # share by which the mains' frequency may be off
MIN_HARMONICS = 3
HUM_FADE_S = 0.1  # from one estimate to the next: a jump would look like a stroke
HUM_LIMIT = 6.0  # times the median deviation: strokes count as so much only


class HumCanceller:
    """Subtracts the mains' hum and its harmonics, as they were in the last second; what has no hum is not changed.

    Hum hides soft strokes: its harmonics are in the bands that a stroke is found in. Every half second the
    spectrum is searched for harmonics of 50 and 60 Hz that stand above what is around them, the mains' frequency is
    taken from the turn of their phases between the two halves of the second, and their sum is continued from there. A
    stroke or a drum is not periodic and changes little of it.
    """

    def __init__(self, rate: float, pads: int) -> None:
        self._rate, self._pads = rate, pads
        self._frame, self._window = round(HUM_FRAME_S * rate), round(HUM_WINDOW_S * rate)
        self._past = np.zeros((pads, self._window + self._frame))
        self._fade = np.minimum(np.arange(self._frame) / (HUM_FADE_S * rate), 1.0)
        self._hann = np.hanning(self._window)
        self._bins = [self._bins_of(hz) for hz in MAINS_HZ]
        self._seen = 0  # samples in `_past`, at most the window and a frame
        self._hum: NDArray[np.float64] | None = None  # of this frame, (pads, frame)
        self._next: NDArray[np.float64] | None = None  # the same estimate continued over the next frame
        self.rms = np.zeros(pads)
        """The hum subtracted now from each pad, counts rms."""

    def _bins_of(self, hz: float) -> tuple[float, NDArray[np.intp], NDArray[np.intp]]:
        """Return `hz` and, of each harmonic, the bins in which it may be and those around it."""
        top = min(HUM_TOP_HZ, self._rate / 2 - HUM_AROUND[1] / HUM_WINDOW_S)
        at = np.rint(hz * HUM_WINDOW_S * np.arange(1, int(top / hz) + 1)).astype(np.intp)[:, None]
        off = 1 + int(HUM_WANDERS * top * HUM_WINDOW_S)
        away = np.arange(*HUM_AROUND)
        return hz, at + np.arange(-off, off + 1), at + np.r_[-away, away]

    def feed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `x` (pads, n) without hum; the same array if there is none."""
        parts: list[NDArray[np.float64]] = []
        start = 0
        while start < x.shape[1]:
            at = self._seen % self._frame
            end = min(x.shape[1], start + self._frame - at)
            part = x[:, start:end]
            self._past[:, self._seen : self._seen + end - start] = part
            parts.append(part if self._hum is None else part - self._hum[:, at : at + end - start])
            self._seen += end - start
            start = end
            if self._seen % self._frame == 0:
                self._look()
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _look(self) -> None:
        """At the end of a frame: estimate the hum of the next one."""
        if self._seen < self._window:
            return
        x = self._past[:, self._seen - self._window : self._seen]
        found = self._estimate(x - np.median(x, axis=1, keepdims=True))
        if self._seen > self._window:
            self._past[:, : self._window] = x
            self._seen = self._window
        before, self._next = self._next, None
        if found is None and before is None:
            self._hum = None
            self.rms = np.zeros(self._pads)
            return
        hum = np.zeros((self._pads, self._frame))
        if found is not None:
            hum, self._next = found[:, : self._frame], found[:, self._frame :]
        self._hum = hum * self._fade + (0.0 if before is None else before * (1.0 - self._fade))
        self.rms = np.sqrt(np.mean(hum * hum, axis=1))

    def _estimate(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the hum in `x` continued over two frames, (pads, 2 frames); None without any."""
        limit = HUM_LIMIT * np.median(np.abs(x), axis=1, keepdims=True)
        x = np.clip(x, -limit, limit)
        windowed = x * self._hann
        power: NDArray[np.float64] = (np.abs(np.fft.rfft(windowed, axis=1)) ** 2).max(axis=0)
        mains_hz, harmonics = self._find_harmonics(power)
        if not harmonics:
            return None
        hz = self._measure_mains(x, mains_hz, harmonics)
        n = np.arange(self._window + 2 * self._frame)
        hum = np.zeros((self._pads, 2 * self._frame))
        for k in harmonics:
            turns = np.exp(2j * np.pi * hz * k / self._rate * n)
            amplitude = 2.0 / self._hann.sum() * (windowed @ np.conj(turns[: self._window]))
            hum += (amplitude[:, None] * turns[self._window :]).real
        return hum

    def _find_harmonics(self, power: NDArray[np.float64]) -> tuple[float, list[int]]:
        """Return the mains' frequency and the harmonics in the spectrum `power` (bins,), from 1; none without hum.

        50 and 60 Hz share every 300 Hz: the frequency whose harmonics are stronger is the mains'.
        """
        strongest, found = 0.0, (0.0, list[int]())
        for mains_hz, near, around in self._bins:
            peaks = power[near].max(axis=1)
            stands = peaks > HUM_STANDS * np.median(power[around], axis=1)
            if stands.sum() >= MIN_HARMONICS and (strength := float(peaks[stands].sum())) > strongest:
                strongest, found = strength, (mains_hz, (1 + np.flatnonzero(stands)).tolist())
        return found

    def _measure_mains(self, x: NDArray[np.float64], hz: float, harmonics: Sequence[int]) -> float:
        """Return the mains' frequency near `hz`, from the turn of each harmonic between the halves of `x`."""
        half = self._window // 2
        halves = x[:, : 2 * half].reshape(self._pads, 2, half) * np.hanning(half)
        n = np.arange(half)
        weighted = total = 0.0
        for k in harmonics:  # from the lowest: what it tells unwraps the next one's turn
            found = halves @ np.exp(-2j * np.pi * k * hz / self._rate * n)
            turned = np.vdot(found[:, 0], found[:, 1]) * np.exp(-2j * np.pi * k * hz * half / self._rate)
            known = weighted / total if total else 0.0
            per_hz = 2.0 * np.pi * k * half / self._rate
            off = known + float(np.angle(turned * np.exp(-1j * per_hz * known))) / per_hz
            weight = k * k * abs(turned)
            weighted, total = weighted + weight * off, total + weight
        return hz + weighted / total


MAX_SPIKE_SAMPLES = 3
SPIKE_SHARE = 0.25  # of its height: what is lower belongs to the rest level


def is_spike(x: NDArray[np.float64], before: int) -> bool:
    """Return True if `x` (n,) left its rest level, that of its first `before` samples, only for a spike's few samples.

    On a pad that a drum moves it is two opposite jumps close together, and no others as high. A pad that is struck
    rings for many more.
    """
    away = np.abs(x - np.median(x[:before]))
    high = np.flatnonzero(away > SPIKE_SHARE * away.max())
    if len(high) > 0 and high[0] >= before and int(high[-1] - high[0]) < MAX_SPIKE_SAMPLES:
        return True
    jumps = np.diff(x)
    high = np.flatnonzero(np.abs(jumps) > SPIKE_SHARE * np.abs(jumps).max(initial=0.0))
    if len(high) != 2 or high[0] < before - 1:
        return False
    up, down = (float(jump) for jump in jumps[high])
    return up * down < 0 and int(high[1] - high[0]) <= MAX_SPIKE_SAMPLES


class StrikeFilter:
    """Filters all pads and keeps the state between blocks. `feed` returns the hops that its samples complete."""

    def __init__(
        self, rate: float, pads: int, bands: Sequence[tuple[float, float]], still: float, hop_s: float = 0.0005
    ) -> None:
        """Take `bands` in Hz, `still` as in `JumpLimiter`, and `hop_s`, the seconds of a hop, rounded to samples."""
        self.hop = max(1, round(rate * hop_s))
        designs = sorted(((band(rate, *hz), hz) for hz in bands), key=lambda d: -len(d[0].poles))
        self._bands = [design for design, _ in designs]
        self.bands_hz = [hz for _, hz in designs]
        """The bands in the order of the energies that `feed` returns."""
        self.share_of_white = share_of_white(self._bands[0])  # in the first band
        self._rate, self._pads = rate, pads
        self._still = still
        self.reset()

    def reset(self) -> None:
        """Reset all state, so that the next sample is the first of a new stream."""
        self._hum = HumCanceller(self._rate, self._pads)
        self._jumps = JumpLimiter(self._pads, self._still)
        self._filters = RecursiveFilter(self._bands, self._pads)
        self._rest = np.zeros((len(self._bands), self._pads, 0))

    @property
    def hum_rms(self) -> NDArray[np.float64]:
        """The hum of the mains at each pad, (pads,), in the samples' unit; it is subtracted."""
        return self._hum.rms

    def feed(self, samples: ArrayLike) -> NDArray[np.float64]:
        """Return the mean squares (bands, pads, hops) of `samples` (n, pads), in their unit squared."""
        x = np.ascontiguousarray(np.asarray(samples).T, dtype=np.float64)
        if not x.shape[1]:
            return np.zeros((len(self._bands), self._pads, 0))
        steady = self._jumps.feed(self._hum.feed(x))
        y = self._filters.feed(steady)
        np.multiply(y, y, out=y)
        if self._rest.shape[2]:
            y = np.concatenate((self._rest, y), axis=2)
        hops = y.shape[2] // self.hop
        self._rest = y[:, :, hops * self.hop :]
        whole = np.reshape(y[:, :, : hops * self.hop], (len(y), self._pads, hops, self.hop))
        total = whole[:, :, :, 0].copy()
        for k in range(1, self.hop):  # a hop has two samples: `reduce` over so short an axis is eight times as slow
            total += whole[:, :, :, k]
        total *= 1.0 / self.hop
        return total
