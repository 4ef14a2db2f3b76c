"""`python tests/hardware/measure_levels.py [SEEDS]`: how soft and how hard a stroke may be, a table for circuits.md.

Simulated piezos (`simulation/sensors.py`) as the board reads them, 20 strokes of one level a seed. The levels are
peaks at the converter, in dB of its full swing: above 0 a stroke is cut off at the ends of the range, and so is what
its neighbours feel of it. Which stroke of the disc that is, `hardware/drawings/simulate.py` says.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "sensing"))

from measure_slow import ARMED, BEGINS_S, STRETCH_S, STRETCHES, felt, read

from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.sensors import MID, Piezo

LEVELS_DB = (-47.0, -44.0, -41.0, -35.0, -25.0, -10.0, 0.0, 10.0, 13.0, 16.0, 18.8)
HZ, BITS = 4000.0, 12


def scene(seed, conditions, level_db):
    """Return what the discs give, counts around the middle, and the strokes."""
    random, piezo, strokes = np.random.default_rng(seed), Piezo(seed, conditions), []
    for n in range(STRETCHES):
        t = BEGINS_S + n * STRETCH_S + ARMED[0] + random.uniform(0.2, 1.2)
        strokes.append((t, int(random.integers(1, 5)), level_db))
        piezo.strike(*strokes[-1])
    blocks = int((STRETCHES * STRETCH_S + 1.0) * piezo.hz) // piezo.block_samples
    return piezo.samples(0, blocks * piezo.block_samples).astype(float) - MID, strokes


def right(seeds, conditions, level_db):
    """Return the share of strokes that were felt on the right pad, and how many were felt that were none."""
    rows, false = [], 0
    for seed in range(900, 900 + seeds):
        x, strokes = scene(seed, conditions, level_db)
        some, wrong = felt(read(x, HZ, BITS), HZ, BITS, strokes)
        rows, false = rows + some, false + wrong
    return float(np.mean([row[2] for row in rows])), false


def main(argv):
    """Print a row for each level."""
    seeds = int(argv[0]) if argv else 3
    print("| stroke, peak | quiet, right pad | drums, right pad |\n| --- | --- | --- |")
    for level_db in LEVELS_DB:
        shares = [right(seeds, conditions, level_db) for conditions in (Conditions.quiet(), Conditions.drums())]
        counts = 2 ** (BITS - 1) * 10 ** (level_db / 20)
        cells = " | ".join(f"{share:.2f}" + (f", {false} false" if false else "") for share, false in shares)
        print(f"| {level_db:+.0f} dB, {counts:.0f} counts | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
