"""Seconds of four-pad signal a processor second feels strikes in, beside aubio's onset detector on the same files.

    python tests/benchmarks/strikes_beside_aubio.py FOUR_CHANNEL.wav...

Both read the same samples from memory, in turns, in one process and on one core; the best of three runs counts. Blocks
are 64 samples (8 ms at 8 kHz, as a mat sends them; aubio knows no other), and for this detector 2048 as well.
aubio hears one channel, so four of it run side by side, which tells no pads apart: it is here for its cost alone. Where
aubio is not installed that is said, and only this project's figure printed.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import aubio  # pyright: ignore[reportMissingImports]
except ImportError:
    aubio: Any = None

from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.sensing.wav import WavReader

if TYPE_CHECKING:
    from collections.abc import Callable

HOP = 64
ROUNDS = 3
METHODS = ("hfc", "specflux", "energy")


def read(path: str) -> tuple[int, float, np.ndarray]:
    """Rate, full scale and samples (n, channels)."""
    with Path(path).open("rb") as file:
        reader = WavReader(file, path, print)
        return reader.format.rate, reader.format.full_scale, np.concatenate(list(reader.blocks(4096)))


def ours(block: int) -> Callable[[int, float, np.ndarray], int]:
    def run(rate: int, full_scale: float, x: np.ndarray) -> int:
        detector = StrikeDetector(rate, x.shape[1], full_scale)
        return sum(len(detector.feed_samples(x[i : i + block])) for i in range(0, len(x), block))

    return run


def theirs(method: str) -> Callable[[int, float, np.ndarray], int]:
    def run(rate: int, full_scale: float, x: np.ndarray) -> int:
        heard = [aubio.onset(method, 4 * HOP, HOP, rate) for _ in range(x.shape[1])]
        y = np.ascontiguousarray((x / full_scale).T, dtype=np.float32)
        return sum(
            bool(onset(channel[i : i + HOP])[0])
            for i in range(0, y.shape[1] - HOP + 1, HOP)
            for onset, channel in zip(heard, y, strict=True)
        )

    return run


def main(paths: list[str]) -> int:
    if not paths:
        print(__doc__)
        return 2
    files = [read(path) for path in paths]
    seconds = sum(len(x) / rate for rate, _, x in files)
    runs: dict[str, Callable[[int, float, np.ndarray], int]] = {
        "this detector, 64 a block": ours(HOP),
        "this detector, 2048": ours(32 * HOP),
    }
    if aubio is None:
        print("aubio is not installed: nothing to compare with")
    else:
        runs |= {f"aubio {method} x channels": theirs(method) for method in METHODS}
    best = dict.fromkeys(runs, float("inf"))
    told = dict.fromkeys(runs, 0)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            started = time.process_time()
            told[name] = sum(run(*file) for file in files)
            best[name] = min(best[name], time.process_time() - started)
    for name, spent in best.items():
        print(f"{name:27s} {seconds / spent:8.0f} s of signal a processor second, {told[name]:5d} onsets")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
