"""Measure the noise of the strike sensors at rest: how much in which band, its strongest tones, what they share.

What reaches all pads alike (the supply, the converter, USB) is not averaged out by more readings: the common share
tells of it. The median of many seconds counts, so a knock or two do not spoil the figures.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pi_controller.text import Sentence

Array = NDArray[np.float64]

BANDS_HZ = (0.0, 100.0, 250.0, 1000.0, 2000.0)
"""Limits of the bands; the strokes' own is from 250 Hz on."""
STROKE_HZ = 250.0
MAX_WINDOWS = 120
"""Seconds that are measured; later ones are not."""
TONES = 3
TONE_RATIO = 25.0
"""A tone stands so far above the median of its band, in energy."""


class NoiseSpectrum:
    """Collects the samples of all pads (`add`), and describes their noise."""

    def __init__(self) -> None:
        self._rate = 0.0
        self._rest = np.zeros((0, 0))
        self._power: list[Array] = []  # counts squared, (pads, bins), of each second
        self._together: list[Array] = []  # of all pads' sum, (bins,)

    def add(self, samples: Array, rate: float) -> None:
        """Add `samples` (n, pads) in counts, at `rate` a second."""
        if len(self._power) >= MAX_WINDOWS:
            return
        if rate != self._rate or self._rest.shape[1:] != samples.shape[1:]:
            self._rate, self._rest = rate, np.zeros((0, samples.shape[1]))
            self._power, self._together = [], []
        self._rest = np.concatenate((self._rest, samples))
        n = round(rate)
        while len(self._rest) >= n and len(self._power) < MAX_WINDOWS:
            self._measure(self._rest[:n])
            self._rest = self._rest[n:]

    def _measure(self, x: Array) -> None:
        window = np.hanning(len(x))
        found = np.fft.rfft((x - x.mean(axis=0)).T * window, axis=1)[:, 1:]
        scale = 2.0 / (len(x) * float(window @ window))
        self._power.append(scale * np.abs(found) ** 2)
        self._together.append(scale * np.abs(found.sum(axis=0)) ** 2)

    @property
    def seconds(self) -> int:
        """Seconds measured."""
        return len(self._power)

    @property
    def band_counts(self) -> Array:
        """Noise, counts rms, of each pad in each of `BANDS_HZ`, (pads, bands)."""
        limits = [round(hz) for hz in BANDS_HZ]
        sums = [np.sum(np.stack(self._power)[:, :, a:b], axis=2) for a, b in pairwise(limits)]
        return np.sqrt(np.median(np.stack(sums, axis=2), axis=0))

    @property
    def common_share(self) -> float:
        """Share of the noise above `STROKE_HZ` that all pads have in common: 0 if each has its own, 1 if it is one."""
        first = round(STROKE_HZ) - 1
        own = np.stack([power[:, first:].sum() for power in self._power])
        together = np.stack([power[first:].sum() for power in self._together])
        pads = len(self._power[0])
        shares = (together / np.maximum(own, 1e-12) - 1.0) / (pads - 1)
        return float(np.clip(np.median(shares), 0.0, 1.0))

    def tones(self, pad: int) -> list[tuple[int, float]]:
        """Return the strongest tones of `pad` (0 first): (Hz, counts rms)."""
        power = np.median(np.stack([each[pad] for each in self._power]), axis=0)
        found: list[tuple[float, int]] = []
        for a, b in pairwise(BANDS_HZ):
            band = power[round(a) : round(b)]
            at = round(a) + np.flatnonzero(band > TONE_RATIO * np.median(band))
            peaks = [k for k in at.tolist() if power[k] == power[max(0, k - 2) : k + 3].max()]
            found += [(float(power[max(0, k - 1) : k + 2].sum()), k + 1) for k in peaks]
        return [(hz, energy**0.5) for energy, hz in sorted(found, reverse=True)[:TONES]]

    def lines(self) -> list[tuple[Sentence, Sentence]]:
        """Return name and description of each pad's noise, and of what they share; nothing before the first second."""
        if not self._power:
            return []
        lines: list[tuple[Sentence, Sentence]] = []
        limits = [f"{a:.0f}-{b:.0f} Hz" for a, b in pairwise(BANDS_HZ)]
        for pad, counts in enumerate(self.band_counts.tolist()):
            parts = [f"{band} {count:.2f}" for band, count in zip(limits, counts, strict=True)]
            tones = [f"{hz} Hz {count:.2f}" for hz, count in self.tones(pad)] or ["-"]
            lines.append(
                (
                    Sentence("noise of pad {pad}", pad=pad + 1),
                    Sentence("counts: {bands}; tones: {tones}", bands=", ".join(parts), tones=", ".join(tones)),
                )
            )
        if len(self.band_counts) > 1:
            share = f"{100 * self.common_share:.0f}"
            lines.append((Sentence("noise in common"), Sentence("{share} % of it above 250 Hz", share=share)))
        return lines
