"""Hum of the mains is subtracted before strokes are looked for; what has none is not changed."""

import numpy as np
import pytest

from pi_controller.sensing.filters import HUM_FADE_S, HUM_FRAME_S, HUM_WINDOW_S, HumCanceller
from pi_controller.sensing.strikes import StrikeDetector

PARTS = {1: 1.0, 2: 0.3, 3: 0.5, 5: 0.35, 7: 0.2, 9: 0.12, 11: 0.08}
"""A harmonic's share of the first."""
NOISE = 5.0


def hum(hz, rate, seconds=5.0, height=400.0, parts=PARTS):
    """Return hum and noise at four pads, (pads, n)."""
    t = np.arange(round(seconds * rate)) / rate
    wave = height * sum(share * np.sin(2 * np.pi * hz * k * t + k) for k, share in parts.items())
    random = np.random.default_rng(1)
    return np.array([1.0, 0.8, 0.6, 0.9])[:, None] * wave + random.normal(0.0, NOISE, (4, len(t)))


@pytest.mark.parametrize("rate", [1000, 4000, 8000])
@pytest.mark.parametrize("hz", [50.0, 49.91, 50.08, 60.0, 59.95])
def test_cancelled_hum_leaves_the_noise_level(hz, rate):
    parts = {k: share for k, share in PARTS.items() if k * hz < 0.4 * rate}
    left = HumCanceller(rate, 4).feed(hum(hz, rate, parts=parts))
    settled = round((HUM_WINDOW_S + HUM_FRAME_S + HUM_FADE_S) * rate)
    assert left[:, settled:].std() == pytest.approx(NOISE, rel=0.05)


def test_shared_harmonics_do_not_hide_60_hz():
    left = HumCanceller(4000, 4).feed(hum(60.0, 4000, parts={1: 0.5, 5: 1.0, 10: 0.6, 15: 0.4}))
    assert left[:, 8000:].std() == pytest.approx(NOISE, rel=0.05)


def test_noise_and_strokes_are_not_changed():
    random = np.random.default_rng(2)
    x = random.normal(0.0, NOISE, (4, 40_000))
    for at in range(3000, 40_000, 2900):
        ring = np.arange(200)
        x[at // 2900 % 4, at : at + 200] += 900 * np.exp(-ring / 40) * np.sin(ring * 0.9)
    assert (HumCanceller(4000, 4).feed(x) == x).all()


@pytest.mark.parametrize("block", [1, 32, 777, 5000])
def test_block_size_does_not_change_hum_output(block):
    x = hum(50.03, 4000, seconds=3.0 if block == 1 else 5.0)
    whole = HumCanceller(4000, 4).feed(x)
    canceller = HumCanceller(4000, 4)
    cut = [canceller.feed(x[:, i : i + block]) for i in range(0, x.shape[1], block)]
    assert (np.concatenate(cut, axis=1) == whole).all()


def test_strike_passes_hum_canceller_unchanged():
    x = hum(50.0, 4000)
    ring = np.arange(400)
    stroke = 300 * np.exp(-ring / 60) * np.sin(ring * 1.1)
    struck = x.copy()
    struck[1, 14_100:14_500] += stroke
    left = HumCanceller(4000, 4).feed(struck) - HumCanceller(4000, 4).feed(x)
    assert left[1, 14_100:14_500] == pytest.approx(stroke, abs=0.02 * 300)
    assert np.abs(np.delete(left, 1, axis=0)).max() < 0.02 * 300
    assert np.abs(left[1, 14_500:]).max() < 0.02 * 300, "it comes back in no later second"


def test_learned_hum_gives_no_strike():
    quiet = hum(50.0, 4000, height=0.0)
    x = np.concatenate((quiet, hum(50.0, 4000, seconds=8.0), quiet), axis=1).T
    detector = StrikeDetector(4000, 4)
    found = [decision.decided_index for decision in detector.feed_samples(x) + detector.finish()]
    known = range(len(quiet.T) + 400, len(quiet.T) + 32_000)
    assert not [at for at in found if at in known]
