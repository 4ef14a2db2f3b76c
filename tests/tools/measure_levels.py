"""`python tests/tools/measure_levels.py [SEEDS]`: how soft and how hard a stroke may be, a table for circuits.md.

Simulated piezos (`simulation/piezo_discs.py`) as the board reads them, 20 strokes of one level a seed: by single
readings, by its sums of 16, and by its sums behind the amplifier of `hardware/circuits.toml`, which raises all that
the discs feel and none of the converter's own noise. The levels are peaks at the converter behind the recommended
input, in dB of its full swing: above 0 a stroke is cut off at the ends of the range, and so is what its neighbours
feel of it. Which stroke of the disc that is, `hardware/drawings/simulate.py` says.
"""

import sys
from dataclasses import replace

import numpy as np
from measure_slow import ARMED, BEGINS_S, STRETCH_S, STRETCHES, felt

from pi_controller.board import wire
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.piezo_discs import SimPiezo

LEVELS_DB = (-53.0, -50.0, -47.0, -44.0, -41.0, -35.0, -25.0, -10.0, 0.0, 10.0, 13.0, 16.0, 18.8)
HZ, BITS = 4000.0, 16
AMPLIFIED_DB = 11.8
"""What a feather's 69 counts are above its 18: figures of `circuits.md`."""


def scene(seed, conditions, level_db):
    """Return the board's sums around the middle, and the strokes."""
    random, piezo, strokes = np.random.default_rng(seed), SimPiezo(seed, conditions), []
    for n in range(STRETCHES):
        t = BEGINS_S + n * STRETCH_S + ARMED[0] + random.uniform(0.2, 1.2)
        strokes.append((t, int(random.integers(1, 5)), level_db))
        piezo.strike(*strokes[-1])
    blocks = int((STRETCHES * STRETCH_S + 1.0) * piezo.hz) // piezo.block_samples
    return piezo.samples(0, blocks * piezo.block_samples).astype(int) - wire.REST, strokes


def amplified(conditions, db):
    """Return the conditions with all that the discs feel so much louder at the converter."""
    drums = conditions.drum_dbfs
    return replace(
        conditions,
        hum_lsb=conditions.hum_lsb * 10 ** (db / 20),
        drum_dbfs=None if drums is None else drums + db,
        rub_dbfs=conditions.rub_dbfs + db,
        press_dbfs=conditions.press_dbfs + db,
    )


def right(seeds, conditions, level_db, *, single=False):
    """Return the share of strokes that were felt on the right pad, and how many were felt that were none."""
    rows, false = [], 0
    for seed in range(900, 900 + seeds):
        x, strokes = scene(seed, conditions, level_db)
        if single:
            noise = np.random.default_rng(seed).normal(0.0, conditions.adc_noise_lsb, x.shape)
            x = np.clip(np.rint(x / wire.READINGS + noise), -2048, 2047).astype(np.int16)
        some, wrong = felt(x.astype(np.int16), HZ, 12 if single else BITS, strokes)
        rows, false = rows + some, false + wrong
    return float(np.mean([row[2] for row in rows])), false


def main(argv):
    """Print a row for each level: right pad in a quiet room and beside drums."""
    seeds = int(argv[0]) if argv else 3
    print("| stroke, peak | one reading: quiet | drums | 16 readings: quiet | drums | amplifier: quiet | drums |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rooms = Conditions.quiet(), Conditions.drums()
    for level_db in LEVELS_DB:
        shares = [right(seeds, room, level_db, single=True) for room in rooms]
        shares += [right(seeds, room, level_db) for room in rooms]
        shares += [right(seeds, amplified(room, AMPLIFIED_DB), level_db + AMPLIFIED_DB) for room in rooms]
        counts = 2048 * 10 ** (level_db / 20)
        cells = " | ".join(f"{share:.2f}" + (f", {false} false" if false else "") for share, false in shares)
        print(f"| {level_db:+.0f} dB, {counts:.0f} counts | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
