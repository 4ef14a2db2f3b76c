"""`python tests/sensing/measure_aliases.py [SEEDS]`: what bells at 2500 to 3600 Hz do to strokes, a table.

Sampled 4000 times a second they are heard as 1500 to 400 Hz, where strokes are listened for. Here every pad hears bells
of its own phase, flat over that band, and soft simulated strokes are to be found among them: with no filter before the
converter, behind the piezo input of `hardware/circuits.toml`, and behind that with an amplifier, as ngspice has them.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "hardware" / "drawings"))
sys.path.insert(0, str(Path(__file__).parents[1] / "hardware"))

import netlists
import simulate
from measure_levels import BITS, HZ, scene
from measure_slow import felt, read
from values import values

from pi_controller.board import wire
from pi_controller.simulation.conditions import Conditions

BAND_HZ = (2500.0, 3600.0)
STROKES_DB = (-35.0, -25.0)
BELLS = (0.0, 4.0, 16.0, 64.0)
"""Bells before the filter, counts rms, where a feather peaks at 18."""


def gains(kind, hz):
    """Return how much of each frequency an input lets through, against 800 Hz."""
    if not kind:
        return np.ones_like(hz)
    at, gain = simulate.run(netlists.piezo(values(), kind), "ac dec 100 10 40k", "vm(adc)")
    return np.interp(hz, at, gain) / np.interp(simulate.REFERENCE_HZ, at, gain)


def bells(shape, rms, kind, seed):
    """Return what the converter shows of bells, counts."""
    random = np.random.default_rng(seed)
    heard = np.fft.rfftfreq(shape[0], 1 / HZ)
    true = HZ - heard
    rings = (true >= BAND_HZ[0]) & (true <= BAND_HZ[1])
    noise = np.zeros((len(heard), shape[1]), complex)
    noise[rings] = random.standard_normal((rings.sum(), shape[1], 2)) @ np.array([1, 1j])
    flat = np.fft.irfft(noise, shape[0], axis=0)
    noise *= gains(kind, true)[:, None]
    return np.fft.irfft(noise, shape[0], axis=0) * (rms / flat.std())


def main(argv):
    """Print a row for each input and loudness of bells."""
    seeds = range(950, 950 + (int(argv[0]) if argv else 3))
    scenes = {db: [scene(seed, Conditions.quiet(), db) for seed in seeds] for db in STROKES_DB}
    print("| input | bells, counts rms |" + "".join(f" {db:.0f} dB, right pad |" for db in STROKES_DB) + " false |")
    print("| --- |" + " ---: |" * (len(STROKES_DB) + 2))
    for kind in ("", *netlists.INPUTS):
        for rms in BELLS:
            shares, false = [], 0
            for some in scenes.values():
                rows = []
                for seed, (x, strokes) in zip(seeds, some, strict=True):
                    told, wrong = felt(
                        read(x / wire.READINGS + bells(x.shape, rms, kind, seed), HZ, BITS), HZ, BITS, strokes
                    )
                    rows, false = rows + told, false + wrong
                shares.append(np.mean([row[2] for row in rows]))
            cells = "".join(f" {share:.2f} |" for share in shares)
            print(f"| {kind or 'no filter'} | {rms:.0f} |{cells} {false} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
