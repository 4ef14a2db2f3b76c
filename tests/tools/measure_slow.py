"""`python tests/tools/measure_slow.py [SEEDS]`: the strike detector at what a Pi without the board reads, a table.

Simulated piezos (`simulation/piezo_discs.py`) read 500 to 4000 times a second with the ten bits of an MCP3008, as they
are and behind a peak hold (attack at once, decay 15 ms, one side only); the board's sums beside them. As in a
game strikes are reported while a hit is due only, and hands are away then. Each seed is 20 such stretches of 1.7 s,
in a quiet room and in a hall with drums; three in four have one stroke of -30 to -10 dBFS, soft below -23. With
other seeds than those that the detector's low band was chosen on (200 to 205); what stillness means at ten
bits, and that no grid is finer than 1500, were settled on the first run of these, and hold on seeds 700 to 711.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from pi_controller.board import wire
from pi_controller.errors import SettingsError
from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.piezo_discs import MID, SimPiezo

RATES = (500, 1000, 1250, 1500, 2000, 4000)
STRETCHES, STRETCH_S, BEGINS_S = 20, 2.6, 0.5
ARMED = (0.8, 2.5)
DECAY_S, SOFT_DBFS = 0.015, -23.0
EARLY_S, LATE_S, RINGS_S = 0.005, 0.080, 0.3
Strokes = list[tuple[float, int, float]]


def scene(seed: int, conditions: Conditions) -> tuple[np.ndarray, Strokes]:
    """Return what the discs give at the board's 4000 a second, counts of a reading around mid-scale; the strokes."""
    random, piezo, strokes = np.random.default_rng(seed), SimPiezo(seed, conditions), Strokes()
    for n in range(STRETCHES):
        t = BEGINS_S + n * STRETCH_S
        hand = int(random.integers(1, 5))
        piezo.press(t + 0.05, hand)
        piezo.rub(hand, t + 0.05, t + 0.5)
        if random.random() < 0.75:
            stroke = t + ARMED[0] + random.uniform(0.2, 1.2), int(random.integers(1, 5)), random.uniform(-30.0, -10.0)
            piezo.strike(*stroke)
            strokes.append(stroke)
    blocks = int((STRETCHES * STRETCH_S + 1.0) * piezo.hz) // piezo.block_samples
    return piezo.samples(0, blocks * piezo.block_samples) / wire.READINGS - MID, strokes


def held(x: np.ndarray, rate: float = 4000.0) -> np.ndarray:
    """Return `x` behind a peak hold."""
    keeps, level, out = math.exp(-1.0 / rate / DECAY_S), np.zeros(x.shape[1]), np.empty_like(x)
    for i, row in enumerate(x):
        level = np.maximum(level * keeps, row)
        out[i] = level
    return out


def read(x: np.ndarray, rate: float, bits: int) -> np.ndarray:
    """Return what a converter of `bits` reads of `x` at `rate`; 16 are the board's sums."""
    at = (np.arange(int(len(x) * rate / 4000.0)) * (4000.0 / rate)).astype(int)
    step = 2.0 ** (12 - bits)
    return (np.clip(x[at] + MID, 0, wire.TOP / wire.READINGS) // step - (1 << bits - 1)).astype(np.int16)


def felt(x: np.ndarray, rate: float, bits: int, strokes: Strokes) -> tuple[list[tuple[float, bool, bool, float]], int]:
    """Return for each stroke its level, whether it was felt, on the right pad, and after how long; the false ones."""
    detector = StrikeDetector(rate, x.shape[1], 1 << bits - 1)
    told, block = [], max(1, round(0.016 * rate))
    for first in range(0, len(x), block):
        detector.reporting_enabled = ARMED[0] <= (first / rate - BEGINS_S) % STRETCH_S < ARMED[1]
        told += detector.feed_samples(x[first : first + block])
    rows, used = [], set()
    for t, pad, level in strokes:
        k = next(
            (k for k, one in enumerate(told) if k not in used and -EARLY_S <= one.decided_index / rate - t <= LATE_S),
            None,
        )
        used.add(k)
        late = told[k].decided_index / rate - t if k is not None else math.nan
        rows.append((level, k is not None, k is not None and told[k].pad == pad, late))
    spare = [one.decided_index / rate for k, one in enumerate(told) if k not in used]
    return rows, sum(not any(-EARLY_S <= at - t <= RINGS_S for t, _, _ in strokes) for at in spare)


def measure(scenes: list[tuple[np.ndarray, Strokes]], rate: float, bits: int) -> dict[str, float]:
    """Return the shares of all scenes: `felt`, `right`, `soft` (right, of the soft ones), `false` a minute, `ms`."""
    rows, false = [], 0
    for x, strokes in scenes:
        some, wrong = felt(read(x, rate, bits), rate, bits, strokes)
        rows, false = rows + some, false + wrong
    minutes = len(scenes) * STRETCHES * (ARMED[1] - ARMED[0]) / 60.0
    soft = [right for level, _, right, _ in rows if level < SOFT_DBFS]
    return {
        "strokes": len(rows),
        "felt": float(np.mean([row[1] for row in rows])),
        "right": float(np.mean([row[2] for row in rows])),
        "soft": float(np.mean(soft)),
        "false": false / minutes,
        "ms": 1e3 * float(np.nanmedian([row[3] for row in rows])),
    }


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 12
    print("room   front end   rate  bits   felt  right pad  soft right  false/min  median ms")
    for name, conditions in (("quiet", Conditions.quiet()), ("drums", Conditions.drums())):
        plain = [scene(seed, conditions) for seed in range(300, 300 + count)]
        for front, scenes in (("plain", plain), ("peak hold", [(held(x), strokes) for x, strokes in plain])):
            for rate, bits in (*((rate, 10) for rate in RATES), (4000, 16)):
                try:
                    row = measure(scenes, rate, bits)
                except SettingsError as error:
                    print(f"{name:6} {front:10}  {rate:5}  {bits:4}  {error.message}")
                    continue
                print(
                    f"{name:6} {front:10}  {rate:5}  {bits:4}  {row['felt']:5.3f}  {row['right']:9.3f}"
                    f"  {row['soft']:10.3f}  {row['false']:9.2f}  {row['ms']:9.1f}",
                    flush=True,
                )
    print(f"{sum(len(strokes) for _, strokes in plain)} simulated strokes in each room")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
