"""`python tests/tools/measure_fsr.py [SEEDS]`: the strike detector on simulated force sensors, tables.

Each scene is a minute: a stroke every two to three seconds at 0.02 to 6 m/s on any pad, a hand, palm or knee bearing on
another pad in between, drums in the floor at 0, 0.1 and 0.5 m/s^2. Then minutes of hands alone. A simulation
(`fsr_mat.py`), with other seeds than those that the detector's figures were chosen on (1000 to 3500). First the mat
board, then the school mat: a tile of cork, ten bits, as often as a Pi reads it, and with the resistor of 10 kOhm that
most guides show.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "hardware" / "drawings"))

from fsr_mat import CORK, HANDS, PLATE, RATE, FsrMat, Pad

from pi_controller.sensing.strike_settings import FSR_SETTINGS, StrikeSettings
from pi_controller.sensing.strikes import StrikeDecision, StrikeDetector

FLOORS = (0.0, 0.1, 0.5)
SECONDS = 60.0
COLUMNS = ("all", "feather", "light", "firm", "pad", "false")
BUILDS: dict[str, tuple[Pad, float, int]] = {
    "mat board": (PLATE, RATE, 12),
    "school mat, 1500 readings a second": (CORK, 1500.0, 10),
    "school mat, 1000 readings a second": (CORK, 1000.0, 10),
    "school mat with 10 kOhm, 1000 readings a second": (CORK._replace(divider_ohm=10e3), 1000.0, 10),
}
"""What lies on the sensors, how often they are read, and with how many bits."""
PRE, POST, REARM = 0.005, 0.060, 0.3


def scene(seed: int, floor: float, pad: Pad = PLATE) -> tuple[FsrMat, list[tuple[float, int, float]]]:
    """A minute, and its strokes: (time, pad, speed)."""
    mat = FsrMat(seed, SECONDS, pad=pad)
    mat.drums(floor)
    rng, t, strokes = mat.rng, 1.5, []
    while t < SECONDS - 2:
        struck, speed = int(rng.integers(1, mat.pads + 1)), float(np.exp(rng.uniform(np.log(0.02), np.log(6.0))))
        mat.strike(t, struck, speed)
        strokes.append((t, struck, speed))
        mat.hand(t + rng.uniform(0.5, 0.8), int(rng.integers(1, mat.pads + 1)), HANDS[int(rng.integers(len(HANDS)))])
        t += rng.uniform(3.0, 4.0)
    return mat, strokes


def hands(seed: int, floor: float, pad: Pad = PLATE) -> FsrMat:
    """A minute of hands, palms and knees and no stroke."""
    mat = FsrMat(seed, SECONDS, pad=pad)
    mat.drums(floor)
    for k in range(80):
        mat.hand(0.8 + 0.7 * k + mat.rng.uniform(0, 0.3), int(mat.rng.integers(1, mat.pads + 1)), HANDS[k % len(HANDS)])
    return mat


def felt(
    mat: FsrMat, settings: StrikeSettings = FSR_SETTINGS, hz: float = RATE, bits: int = 12
) -> list[StrikeDecision]:
    return StrikeDetector(hz, mat.pads, 1 << bits - 1, settings).feed_samples(mat.samples(hz, bits))


def measure(
    seeds: range, settings: StrikeSettings = FSR_SETTINGS, build: tuple[Pad, float, int] = BUILDS["mat board"]
) -> tuple[dict[float, dict[str, list[float]]], dict[float, float]]:
    """Per floor: right pads by strength, times to the decision (ms), false strikes; and strikes of hands a minute."""
    table: dict[float, dict[str, list[float]]] = {}
    pressed: dict[float, float] = {}
    pad, hz, bits = build
    for floor in FLOORS:
        row: dict[str, list[float]] = defaultdict(list)
        for seed in seeds:
            mat, strokes = scene(seed, floor, pad)
            told = felt(mat, settings, hz, bits)
            at = [d.decided_index / hz for d in told]
            used: set[int] = set()
            for t, struck, speed in strokes:
                k = next((k for k, a in enumerate(at) if k not in used and t - PRE <= a <= t + POST), None)
                ok = k is not None and told[k].pad == struck
                row["all"].append(ok)
                row["feather" if speed < 0.1 else "light" if speed < 0.5 else "firm"].append(ok)
                if k is not None:
                    used.add(k)
                    row["pad"].append(ok)
                    row["ms"].append((at[k] - t) * 1e3)
            spare = [a for k, a in enumerate(at) if k not in used]
            row["false"].append(sum(not any(t - PRE <= a <= t + REARM for t, _, _ in strokes) for a in spare))
        table[floor] = row
        pressed[floor] = sum(len(felt(hands(seed + 500, floor, pad), settings, hz, bits)) for seed in seeds) / len(
            seeds
        )
    return table, pressed


def report(table: dict[float, dict[str, list[float]]], pressed: dict[float, float], minutes: int) -> None:
    print("floor m/s^2  right pad  feather  light   firm  pad right  false/min  p50 ms  p95 ms  strikes of hands/min")
    for floor, row in table.items():
        share = [float(np.mean(row[key])) if row[key] else float("nan") for key in COLUMNS]
        p50, p95 = np.percentile(row["ms"], (50, 95)) if row["ms"] else (float("nan"),) * 2
        print(
            f"{floor:11.1f}  {share[0]:9.3f}  {share[1]:7.3f}  {share[2]:5.3f}  {share[3]:5.3f}  {share[4]:9.3f}"
            f"  {share[5]:9.2f}  {p50:6.1f}  {p95:6.1f}  {pressed[floor]:20.2f}",
            flush=True,
        )
    print(f"{len(table[0.0]['all'])} simulated strokes and {minutes} minutes of 80 hands at each floor")


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 10
    for name, build in BUILDS.items():
        print(name)
        report(*measure(range(5000, 5000 + count), build=build), count)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
