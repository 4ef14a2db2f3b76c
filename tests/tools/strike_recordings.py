"""The strike recordings that the scripts of this folder score: read, sampled as the mat board does, and made worse.

A folder of recordings holds `single/*.wav`, one pad each, with `labels.csv` (file, time_s, class: "hit" or what is not
asked for, snr_db) and `segments.csv` (file, start_s, end_s: what is scored); `four/LEVEL-TAKE.wav`, a channel each of
four pads, with `four.csv` (scene, time_s, pad struck first, level_db). Recordings are not part of this project.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import signal

from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.sensing.wav import WavReader

if TYPE_CHECKING:
    from collections.abc import Callable

PRE_S, POST_S, AGAIN_S = 0.005, 0.040, 0.30  # a decision belongs to a stroke; the next stroke can be asked for
SOFT_DB, FEATHER_DB = 32.0, -40.0  # over the noise; of full scale


@dataclass
class Score:
    """Counts; they can be added."""

    strokes: int = 0
    found: int = 0  # and, with several pads, on the right one
    other_pad: int = 0
    surely_other: int = 0
    sure: int = 0  # of those on the right pad
    soft: int = 0  # of single pads: little above the noise; of four: feathers
    soft_found: int = 0
    false: int = 0
    surely_false: int = 0
    seconds: float = 0.0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def recall(self) -> float:
        return self.found / max(1, self.strokes)

    @property
    def soft_recall(self) -> float:
        return self.soft_found / self.soft if self.soft else float("nan")

    @property
    def precision(self) -> float:
        felt = self.found + self.other_pad
        return felt / max(1, felt + self.false)

    @property
    def false_a_minute(self) -> float:
        return 60.0 * self.false / max(self.seconds, 1e-9)

    @property
    def cost(self) -> float:
        """What the fit makes small: the share of strokes missed, and of false ones."""
        return 1.0 - self.recall + self.false / max(1, self.strokes)


@dataclass
class Recording:
    """One file, and what is true of it."""

    group: str
    samples: np.ndarray
    rate: float
    full_scale: float
    strokes: list[tuple[float, int, bool]]  # time, pad (1 first), whether soft
    others: list[float]  # times of what is not asked for
    spans: list[tuple[float, float]]  # what is scored
    level: str = ""

    def score(self, settings: StrikeSettings) -> Score:
        pads = self.samples.shape[1]
        felt = StrikeDetector(self.rate, pads, self.full_scale, settings).feed_samples(self.samples)
        told = [(d.decided_index / self.rate, d.pad, d.sure) for d in felt]
        told = [each for each in told if any(a <= each[0] < b for a, b in self.spans)]
        score, used = Score(seconds=sum(b - a for a, b in self.spans)), set[int]()
        for t, pad, soft in self.strokes:
            hits = (k for k, (at, *_) in enumerate(told) if k not in used and t - PRE_S <= at <= t + POST_S)
            hit = next(hits, None)
            score += Score(1, soft=int(soft))
            if hit is None:
                continue
            used.add(hit)
            _, named, sure = told[hit]
            if named == pad:
                score += Score(found=1, sure=int(sure), soft_found=int(soft))
            else:
                score += Score(other_pad=1, surely_other=int(sure))
        known = [t - PRE_S for t, _, _ in self.strokes] + [t - 0.010 for t in self.others]
        after = [t + AGAIN_S for t, _, _ in self.strokes] + [t + AGAIN_S for t in self.others]
        for k, (at, _, sure) in enumerate(told):
            if k not in used and not any(a <= at <= b for a, b in zip(known, after, strict=True)):
                score += Score(false=1, surely_false=int(sure))
        return score


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _samples(path: Path) -> tuple[np.ndarray, float, float]:
    with path.open("rb") as file:
        reader = WavReader(file, path.name, print)
        return np.concatenate(list(reader.blocks(1 << 16))), float(reader.format.rate), reader.format.full_scale


def single_pads(folder: Path) -> list[Recording]:
    """The recordings of one pad, grouped by its model."""
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in _rows(folder / "segments.csv"):
        spans[row["file"]].append((float(row["start_s"]), float(row["end_s"])))
    labels: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder / "labels.csv"):
        labels[row["file"]].append(row)
    found: list[Recording] = []
    for name, parts in sorted(spans.items()):
        times = sorted(float(row["time_s"]) for row in labels[name])
        strokes: list[tuple[float, int, bool]] = []
        for row in labels[name]:
            t = float(row["time_s"])
            before = max((other for other in times if other < t - 1e-6), default=-9.0)
            if row["class"] == "hit" and t - before >= AGAIN_S and any(a <= t < b for a, b in parts):
                strokes.append((t, 1, float(row["snr_db"]) < SOFT_DB))
        asked = {t for t, _, _ in strokes}
        others = [t for t in times if t not in asked]
        found.append(
            Recording(name.split("_")[0], *_samples(folder / "single" / f"{name}.wav"), strokes, others, parts)
        )
    return found


def four_pads(folder: Path) -> list[Recording]:
    """The scenes of four pads, grouped by take."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder / "four.csv"):
        rows[row["scene"]].append(row)
    found: list[Recording] = []
    for scene, each in sorted(rows.items()):
        level, _, take = scene.rpartition("-")
        x, rate, full_scale = _samples(folder / "four" / f"{scene}.wav")
        strokes = [(float(r["time_s"]), int(r["pad"]), float(r["level_db"]) < FEATHER_DB) for r in each]
        found.append(Recording(f"take {take}", x, rate, full_scale, strokes, [], [(0.0, len(x) / rate)], level))
    return found


# The board's samples, computed from a recording: the drawn circuit, the converter's noise and steps, and its mean.

GAIN_DB = {"passive": 0.0, "amplifier": 11.8}
"""The two circuits of `hardware/circuits.md`, with a recording's full scale taken for the rail of the passive one."""
POLES = {"passive": (96.0, (1461.0, 4823.0)), "amplifier": (127.0, (1324.0, 2228.0, 12439.0))}
"""What they pass: from a first-order corner on, up to first-order poles, Hz; fitted to the simulated figures there."""
BOARD_HZ = 4000
READINGS = 16
READING_NOISE = 1.15  # counts rms of a single reading
STEPS = (512, 1536, 2560, 3584)
CONVERT_AT_ONCE = 1 << 16
STEP_COUNTS = 9  # width of the codes above; all others are 1 wide


def convert(volts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the RP2040's readings (0 to 4095) of levels given in counts."""
    edges, codes = [-1e6], [-1e6]
    for k, code in enumerate(STEPS):
        first = code + k * (STEP_COUNTS - 1)
        edges += [first, first + STEP_COUNTS]
        codes += [code, code + 1 - 1e-9]
    edges, codes = [*edges, 1e6], [*codes, 1e6 - len(STEPS) * (STEP_COUNTS - 1)]
    scale, readings = (4096 + len(STEPS) * (STEP_COUNTS - 1)) / 4096, np.empty(len(volts))
    for k in range(0, len(volts), CONVERT_AT_ONCE):  # large arrays take longer
        part = volts[k : k + CONVERT_AT_ONCE]
        levels = (part + rng.normal(0.0, READING_NOISE, len(part))) * scale
        readings[k : k + len(part)] = np.clip(np.floor(np.interp(levels, edges, codes)), 0, 4095)
    return readings


def as_board(recording: Recording, circuit: str, seed: int = 0) -> Recording:
    """Return the recording as the mat board samples it: 4 kHz, the sum of 16 readings, a full scale of 32768."""
    rng = np.random.default_rng(seed)
    rate = BOARD_HZ * READINGS
    low, poles = POLES[circuit]
    zeros, ends, gain = signal.bilinear_zpk([0.0], [-2 * np.pi * hz for hz in (low, *poles)], 1.0, rate)
    b, a = signal.zpk2tf(zeros, ends, gain)
    b = b / abs(signal.freqz(b, a, [800.0], fs=rate)[1][0])
    channels = []
    for x in (recording.samples / recording.full_scale * 2048 * 10 ** (GAIN_DB[circuit] / 20)).T:
        fine = signal.resample_poly(x, rate // round(recording.rate), 1)
        readings = convert(2048 + rng.uniform(-12, 12) + signal.lfilter(b, a, fine), rng)
        whole = len(readings) // READINGS * READINGS
        channels.append(readings[:whole].reshape(-1, READINGS).sum(axis=1) - 32768)
    return replace(recording, samples=np.stack(channels, axis=1), rate=float(BOARD_HZ), full_scale=32768.0)


# Worse worlds: each changes the board's samples (n, pads) of a recording; the strokes stay.


def add_hum(hz: float) -> Callable[[Recording], Recording]:
    """Return a change that adds mains hum of -35 dBFS with its harmonics."""

    def change(recording: Recording) -> Recording:
        t = np.arange(len(recording.samples)) / recording.rate
        parts = {1: 1.0, 2: 0.3, 3: 0.5, 5: 0.35, 7: 0.2, 9: 0.12, 11: 0.08}
        hum = sum(share * np.sin(2 * np.pi * hz * k * t + k) for k, share in parts.items())
        hum *= recording.full_scale * 10 ** (-35 / 20) / np.abs(hum).max()
        gains = np.array([1.0, 0.8, 0.6, 0.9])[: recording.samples.shape[1]]
        return replace(recording, samples=_clip(recording, recording.samples + hum[:, None] * gains))

    return change


def add_spikes(samples: int) -> Callable[[Recording], Recording]:
    """Return a change that adds a spike of so many samples every two seconds, away from strokes."""

    def change(recording: Recording) -> Recording:
        rng, x = np.random.default_rng(samples), recording.samples.copy()
        for t in np.arange(1.0, len(x) / recording.rate - 1.0, 2.0) + rng.uniform(0, 1):
            if not any(-0.05 < t - at < AGAIN_S + 0.05 for at, *_ in recording.strokes):
                at, pad = round(t * recording.rate), rng.integers(x.shape[1])
                x[at : at + samples, pad] += rng.choice([-1, 1]) * rng.uniform(0.01, 0.25) * recording.full_scale
        return replace(recording, samples=_clip(recording, x))

    return change


def couple(db: float) -> Callable[[Recording], Recording]:
    """Return a change in which a pad's neighbours feel it `db` below, three quarters of a millisecond later."""

    def change(recording: Recording) -> Recording:
        x = recording.samples.copy()
        late = np.roll(recording.samples, 3, axis=0) * 10 ** (db / 20)
        x[:, 1:] += late[:, :-1]
        x[:, :-1] += late[:, 1:]
        return replace(recording, samples=_clip(recording, x))

    return change


def louder_between(db: float) -> Callable[[Recording], Recording]:
    """Return a change that raises all that is between the strokes: drums, hands, hum."""

    def change(recording: Recording) -> Recording:
        t, gain = np.arange(len(recording.samples)) / recording.rate, np.ones(len(recording.samples))
        for at, *_ in recording.strokes:
            gain = np.minimum(gain, np.clip(np.maximum(at - 0.02 - t, t - at - AGAIN_S) / 0.05, 0.0, 1.0))
        return replace(recording, samples=_clip(recording, recording.samples * (10 ** (db * gain / 20))[:, None]))

    return change


def kill_disc(recording: Recording) -> Recording:
    """Return the recording with a wire off: the disc of one pad, by the take, shows only the converter's flicker."""
    rng, x = np.random.default_rng(1), recording.samples.copy()
    pad = sum(map(ord, recording.group + recording.level)) % x.shape[1]
    x[:, pad] = np.where(rng.random(len(x)) < 0.02, 16, 0) + rng.normal(0, 4 * READING_NOISE, len(x))
    return replace(recording, samples=x)


def strike_again(delay_s: float) -> Callable[[Recording], Recording]:
    """Return a change in which each stroke is followed after `delay_s` by its like on the next pad."""

    def change(recording: Recording) -> Recording:
        x, lead, n = recording.samples.copy(), round(0.005 * recording.rate), round(0.2 * recording.rate)
        fade = np.minimum(1.0, np.minimum(np.arange(n) / lead, np.arange(n)[::-1] / (n / 2)))[:, None]
        for t, *_ in recording.strokes:
            at = round(t * recording.rate) - lead
            after = at + round(delay_s * recording.rate)
            if at >= 0 and after + n <= len(x):
                x[after : after + n] += fade * np.roll(recording.samples[at : at + n], 1, axis=1)
        return replace(recording, samples=_clip(recording, x))

    return change


def keep_bits(bits: int) -> Callable[[Recording], Recording]:
    """Return a change that rounds each sample to so many bits."""

    def change(recording: Recording) -> Recording:
        step = recording.full_scale / 2 ** (bits - 1)
        return replace(recording, samples=_clip(recording, np.rint(recording.samples / step) * step))

    return change


def add_noise_of(bits: int) -> Callable[[Recording], Recording]:
    """Return a change that adds the noise of a converter with so many effective bits."""

    def change(recording: Recording) -> Recording:
        rms = recording.full_scale / 2 ** (bits - 1) / np.sqrt(12.0)
        noise = np.random.default_rng(bits).normal(0.0, rms, recording.samples.shape)
        return replace(recording, samples=_clip(recording, recording.samples + noise))

    return change


def _clip(recording: Recording, x: np.ndarray) -> np.ndarray:
    return np.clip(x, -recording.full_scale, recording.full_scale)


WORLDS: dict[str, Callable[[Recording], Recording]] = {
    "hum of 50 Hz": add_hum(50.0),
    "hum of 60 Hz": add_hum(60.0),
    "spikes of 2 samples": add_spikes(2),
    "spikes of 3 samples": add_spikes(3),
    "spikes of 4 samples": add_spikes(4),
    "coupling of -15 dB": couple(-15.0),
    "10 dB louder between": louder_between(10.0),
    "one dead disc": kill_disc,
    "next pad 60 ms later": strike_again(0.06),
    "ten effective bits": add_noise_of(10),
    "rounded to ten bits": keep_bits(10),
}
