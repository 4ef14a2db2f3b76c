"""The figures of `measure_clock.py`: a board's time is right to a millisecond over links that jitter."""

import pytest
from cases import cases
from load_file import load_file


@pytest.fixture
def measure():
    return load_file("tests/tools/measure_clock.py")


@pytest.mark.parametrize("ppm", [-100, 100])
@pytest.mark.parametrize("name", ["usual USB", "uniform 0 to 5 ms", "bursts to 50 ms", "stalls of 2 s"])
def test_99_of_100_blocks_are_within_a_millisecond(measure, name, ppm):
    found = measure.errors(name, ppm, seed=11, minutes=cases(2.0, 5.0))
    assert found[len(found) * 99 // 100] < 0.001
    assert found[-1] < 0.0015


@pytest.mark.parametrize("name", ["one way 1 ms, the other 0 to 10 ms", "one way always 4 ms longer"])
def test_clock_error_is_half_the_delay_asymmetry(measure, name):
    found = measure.errors(name, 50, seed=11, minutes=5.0)
    least = measure.MODELS[name][2]
    assert least - 0.0005 < found[len(found) // 2] < least + 0.0005
    assert found[len(found) * 99 // 100] < least + 0.0005


def test_a_drift_is_found(measure):
    clock = measure.BoardClock()
    for i in range(200):
        board = i / 2
        clock.take_pong(50 + board * 1.00008 - 0.001, 50 + board * 1.00008 + 0.002, board)
    assert clock.drift * 1e6 == pytest.approx(80, abs=2)
