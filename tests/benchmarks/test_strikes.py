"""How much four-pad signal one second of processor time feels strikes in, in the blocks a board sends (8 ms).

Beside it a bare filter of the same samples.
"""

import numpy as np
import pytest

from pi_controller.sensing.strikes import StrikeDetector

RATE, SECONDS, BLOCK = 4000, 20, 32


@pytest.fixture(scope="module")
def signal():
    """Return scipy's; it takes a second to import, in the one worker that needs it."""
    from scipy import signal

    return signal


def blocks(struck: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1.5, (RATE * SECONDS, 4))
    if struck:
        t = np.arange(RATE // 4) / RATE
        for k in range(0, len(x) - RATE, RATE // 3):  # a drum on all pads, now and then a stroke
            ring = np.exp(-t / 0.05) * (200 * np.sin(540 * t) + 40 * np.sin(3300 * t))
            x[k : k + len(t)] += ring[:, None] * rng.uniform(0.8, 1.2, 4)
            if k % 3 == 0:
                x[k + 500 : k + 500 + len(t), k % 4] += 800 * np.exp(-t / 0.012) * np.sin(3300 * t)
    x = np.round(x).astype(np.int16)
    return [x[i : i + BLOCK] for i in range(0, len(x), BLOCK)]


def seconds_a_second(benchmark) -> None:
    if benchmark.stats is not None:
        best = benchmark.stats.stats.min
        benchmark.extra_info["seconds of signal a second"] = round(SECONDS / best)
        benchmark.extra_info["us a block of 8 ms"] = round(best / (SECONDS * RATE / BLOCK) * 1e6)


@pytest.mark.benchmark(group="strikes")
@pytest.mark.parametrize("armed", [True, False], ids=["a hit is due", "none is"])
@pytest.mark.parametrize("struck", [False, True], ids=["silent", "drums and strokes"])
def test_detector(benchmark, struck, armed):
    parts = blocks(struck)

    def run() -> int:
        detector = StrikeDetector(RATE, 4)
        detector.reporting_enabled = armed
        return sum(len(detector.feed_samples(part)) for part in parts)

    assert bool(benchmark.pedantic(run, rounds=5)) == (struck and armed)
    seconds_a_second(benchmark)


@pytest.mark.benchmark(group="strikes")
def test_floor_a_bare_filter(benchmark, signal):
    parts = blocks(struck=False)
    sections = signal.butter(4, 400, "highpass", fs=RATE, output="sos")

    def run() -> float:
        state, last = np.zeros((len(sections), 4, 2)), 0.0
        for part in parts:
            y, state = signal.sosfilt(sections, np.ascontiguousarray(part.T, dtype=float), axis=-1, zi=state)
            last = float(y[0, -1])
        return last

    assert np.isfinite(benchmark.pedantic(run, rounds=5))
    seconds_a_second(benchmark)
