"""The noise of the strike sensors at rest: bands, tones, and what all pads have in common."""

import numpy as np
import pytest

from pi_controller.sensing.noise_spectrum import NoiseSpectrum

RATE = 4000


def spectrum(x, block=777):
    found = NoiseSpectrum()
    for at in range(0, len(x), block):
        found.add(x[at : at + block], RATE)
    return found


def noise(seconds=6, rms=2.0, pads=4):
    return np.random.default_rng(1).normal(0.0, rms, (seconds * RATE, pads))


def test_white_noise_is_shared_among_bands_by_width():
    counts = spectrum(noise()).band_counts
    assert np.sqrt((counts**2).sum(axis=1)) == pytest.approx(2.0, rel=0.05)
    assert counts[:, 3] ** 2 == pytest.approx(2.0, rel=0.1)  # half of the frequencies


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_common_share_is_that_of_all_pads(share):
    common = np.random.default_rng(2).normal(0.0, 2.0, (6 * RATE, 1))
    x = np.sqrt(1 - share) * noise() + np.sqrt(share) * common
    assert spectrum(x).common_share == pytest.approx(share, abs=0.03)


def test_hum_is_listed_as_tones_of_its_pad():
    x, t = noise(), np.arange(6 * RATE) / RATE
    x[:, 1] += 5.0 * np.sin(2 * np.pi * 60 * t) + 2.0 * np.sin(2 * np.pi * 300 * t)
    found = spectrum(x)
    assert [hz for hz, _ in found.tones(1)] == [60, 300]
    assert found.tones(1)[0][1] == pytest.approx(5.0 / np.sqrt(2), rel=0.1)
    assert found.tones(0) == []


def test_single_knock_does_not_change_noise():
    x = noise()
    x[9000:9040] += 500.0
    assert spectrum(x).band_counts == pytest.approx(spectrum(noise()).band_counts, rel=0.15)


def test_less_than_a_second_has_no_lines():
    assert spectrum(noise()[: RATE - 1]).lines() == []
    assert len(spectrum(noise()[:RATE]).lines()) == 5
