"""The filters against scipy's, and the same to the last bit however the stream is cut."""

import numpy as np
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.sensing.filters import band, share_of_white
from pi_controller.sensing.recursive_filter import FilterDesign, RecursiveFilter, butterworth

RATE = 4000.0


@pytest.fixture(scope="module")
def signal():
    """Return scipy's; it takes a second to import, in the one worker that needs it."""
    from scipy import signal

    return signal


@pytest.mark.parametrize("rate", [1000.0, 4000.0, 7350.0, 48000.0])
@pytest.mark.parametrize("kind", ["highpass", "lowpass"])
@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.375, 0.45])
def test_butterworth_is_scipys(signal, order, kind, rate, share):
    ours = butterworth(order, share * rate, kind, rate)
    zeros, poles, gain = signal.butter(order, share * rate, kind, fs=rate, output="zpk")
    np.testing.assert_allclose(np.poly(ours.poles), np.poly(poles), rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(ours.zeros, zeros)
    assert ours.gain == pytest.approx(gain, rel=1e-10)


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [(4000, 400, 1500), (4000, 900, 3000), (8000, 400, 1500), (8000, 900, 3000), (4000, 70, 400), (1000, 150, 3000)],
)
def test_band_filter_matches_scipy(signal, rate, low, high):
    x = np.random.default_rng(1).normal(0, 300, (3, 5000))
    design = band(rate, low, high)
    expected = signal.sosfilt(signal.zpk2sos(*design), x, axis=-1)
    np.testing.assert_allclose(RecursiveFilter([design], 3).feed(x)[0], expected, rtol=0, atol=1e-9)


def test_equal_zeros_and_poles_filter_matches_scipy(signal):
    x = np.random.default_rng(1).normal(0, 300, (2, 3000))
    sections = signal.butter(6, 3200, fs=44100, output="sos")
    (y,) = RecursiveFilter([butterworth(6, 3200, "lowpass", 44100)], 2).feed(x)
    np.testing.assert_allclose(y, signal.sosfilt(sections, x, axis=-1), rtol=0, atol=1e-9)


@given(cuts=st.lists(st.integers(0, 2000), max_size=40), channels=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_cutting_the_stream_changes_no_bit(cuts, channels):
    x = np.random.default_rng(2).normal(0, 300, (channels, 2000))
    designs = [band(RATE, 400, 1500), band(RATE, 900, 3000), butterworth(4, 500, "lowpass", RATE)]
    whole, parts = RecursiveFilter(designs, channels), RecursiveFilter(designs, channels)
    pieces = [parts.feed(part) for part in np.split(x, sorted(cuts), axis=1) if part.shape[1]]
    np.testing.assert_array_equal(np.concatenate(pieces, axis=2), whole.feed(x))


def test_filters_stay_right_for_an_hour():
    filters = RecursiveFilter([band(RATE, 400, 1500)], 1)
    x = np.random.default_rng(3).normal(0, 300, (1, 6000))
    first = filters.feed(x)
    silence = np.zeros((1, 100_000))
    for _ in range(cases(36, 144)):
        last = filters.feed(silence)
    assert not last.any()
    np.testing.assert_allclose(filters.feed(x), first, rtol=0, atol=1e-9)


def test_invalid_filter_design_is_refused():
    for order, hz in ((3, 400), (0, 400), (4, 0), (4, 2000)):
        with pytest.raises(ValueError, match="Butterworth"):
            butterworth(order, hz, "lowpass", RATE)
    with pytest.raises(ValueError, match="pairs"):
        RecursiveFilter([FilterDesign(np.array([0j]), np.array([0.5 + 0j]), 1.0)], 1)
    with pytest.raises(ValueError, match="first"):
        RecursiveFilter([butterworth(2, 400, "lowpass", RATE), butterworth(4, 400, "lowpass", RATE)], 1)


@pytest.mark.parametrize(("rate", "low", "high"), [(4000, 900, 3000), (4000, 250, 1000), (1000, 150, 3000)])
def test_white_noise_share_equals_impulse_response_energy(rate, low, high):
    design, one = band(rate, low, high), np.zeros((1, 4000))
    one[0, 0], one[0, 1] = 1.0, -1.0  # the difference is part of the filter
    response = RecursiveFilter([design], 1).feed(one)
    assert share_of_white(design) == pytest.approx(float(np.sum(response**2)), rel=1e-9)
