"""What a bead fit costs, beside one numpy least squares of the same size, and a scan when nothing happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pi_controller.board.messages import Field
from pi_controller.sensing.bead_fit import shipped_fitter
from pi_controller.sensing.bead_solver import response
from pi_controller.sensing.beads import BeadTracker

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

ALL = np.ones(24, dtype=np.bool_)


def reading(beads: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    ut = rng.normal(0, 0.5, (24, 3))
    for n in range(beads):
        place = np.array([-420.0 + 290.0 * n, 35.0, 6.0])
        ut += response(shipped_fitter().sensors_mm, place) @ np.array([0.09, -0.11, 0.104])
    return ut


@pytest.mark.parametrize("beads", [0, 1, 2, 4])
def test_fit(benchmark: BenchmarkFixture, beads: int) -> None:
    fitter, ut = shipped_fitter(), reading(beads)
    found = benchmark(fitter.fit, ut, ALL, noise=0.6)
    assert len(found.beads) == beads


def test_fit_of_two_near_each_other(benchmark: BenchmarkFixture) -> None:
    fitter, ut = shipped_fitter(), reading(0)
    for place in (np.array([-420.0, 35.0, 6.0]), np.array([-450.0, -20.0, 6.0])):
        ut += response(fitter.sensors_mm, place) @ np.array([0.09, -0.11, 0.104])
    found = benchmark(fitter.fit, ut, ALL, noise=0.6)
    assert len(found.beads) == 2


def test_fit_of_something_that_is_no_bead(benchmark: BenchmarkFixture) -> None:
    fitter, ut = shipped_fitter(), reading(0)
    for place, moment in (((-420.0, 35.0, 30.0), (0.2, 0.1, -0.4)), ((-380.0, 90.0, 30.0), (-0.1, 0.3, 0.1))):
        ut += response(fitter.sensors_mm, np.array(place)) @ np.array(moment)
    found = benchmark(fitter.fit, ut, ALL, noise=0.6)
    assert not found.sure


def test_fit_from_the_last_beads_finds_all_four(benchmark: BenchmarkFixture) -> None:
    fitter, ut = shipped_fitter(), reading(4)
    before = fitter.fit(ut, ALL, noise=0.6).beads
    found = benchmark(fitter.fit, ut, ALL, noise=0.6, start=before)
    assert len(found.beads) == 4


@pytest.mark.parametrize("beads", [1, 2, 4])
def test_least_squares_of_the_same_size(benchmark: BenchmarkFixture, beads: int) -> None:
    matrix = np.random.default_rng(1).normal(size=(72, 6 * beads + 3))
    values = reading(beads).ravel()
    benchmark(np.linalg.lstsq, matrix, values, rcond=None)


def test_scan_without_changes_yields_no_events(benchmark: BenchmarkFixture) -> None:
    rng = np.random.default_rng(1)
    tracker = BeadTracker()
    scans = [Field(0.05 * n, rng.normal(20, 0.5, (24, 3)), ALL) for n in range(200)]
    clock = 0

    def scan() -> list[object]:
        nonlocal clock
        clock += 1
        return [*tracker.feed(Field(0.05 * clock, scans[clock % 200].ut, ALL))]

    for _ in range(100):
        scan()
    assert benchmark(scan) == []
