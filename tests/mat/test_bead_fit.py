"""The dipole fit on seeded scenes of `measure_beads.py` (its own formula, crooked sensors), and at its edges."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from pi_controller.errors import MatError
from pi_controller.mat import dipole
from pi_controller.mat.bead_fit import MARKED_AM2, UNMARKED_AM2, BeadFitter, fit, shipped_fitter
from pi_controller.mat.bead_grid import Grid
from pi_controller.pinmap import pinmap

SPEC = importlib.util.spec_from_file_location("measure_beads", Path(__file__).with_name("measure_beads.py"))
assert SPEC is not None
assert SPEC.loader is not None
scenes = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = scenes
SPEC.loader.exec_module(scenes)

ALL = np.ones(24, dtype=np.bool_)

# kind: scenes, least sure and right, most sure and wrong, median place error (mm)
WANTED = {
    "empty": (300, 299, 0, None),
    "unmarked": (300, 262, 0, 2.0),
    "marked": (300, 292, 0, 1.5),
    "two": (300, 250, 2, 2.0),
    "between": (300, 280, 0, 1.5),
    "off": (300, 265, 1, 5.0),
    "dead": (300, 280, 1, 1.5),
    "drift": (300, 292, 0, 1.5),
    "two on a pad": (60, 48, 1, 2.0),
    "four": (40, 24, 1, 2.5),
    "held": (60, 0, 1, None),
    "phone": (20, 0, 1, None),
}


@pytest.mark.parametrize("kind", WANTED)
def test_scenes(kind: str) -> None:
    count, least_right, most_wrong, median = WANTED[kind]
    told = scenes.measure(kind, count, seed=11)
    assert told["right"] >= least_right
    assert told["wrong"] <= most_wrong
    if median is not None:
        assert told["median_mm"] < median


def test_the_fields_of_several_magnets_and_how_they_change() -> None:
    rng = np.random.default_rng(1)
    sensors = scenes.SENSORS
    places = np.array([[100.0, 30.0, 5.0], [-200.0, -40.0, 9.0]])
    moments = rng.normal(0, 0.1, (2, 3))
    d2, fields, change = dipole.look(sensors, places, moments)
    for n in range(2):
        assert fields[:, n] == pytest.approx(dipole.response(sensors, places[n]) @ moments[n])
        assert d2[:, n] == pytest.approx(((sensors - places[n]) ** 2).sum(axis=1))
        assert change[:, :, n, 3:] == pytest.approx(dipole.response(sensors, places[n]))
        for axis in range(3):
            step = np.zeros(3)
            step[axis] = 1e-4
            slope = (
                (dipole.response(sensors, places[n] + step) - dipole.response(sensors, places[n] - step)) @ moments[n]
            ) / 2e-4
            assert change[:, :, n, axis] == pytest.approx(slope, abs=1e-5)


def test_the_grid_is_the_least_squares_it_stands_for() -> None:
    rng = np.random.default_rng(2)
    grid = Grid(scenes.SENSORS, pinmap().pads, step_mm=150.0)
    weights = rng.uniform(0.1, 2.0, 24)
    weights[[3, 11]] = 0.0
    reading = rng.normal(0, 10, (24, 3))
    reading -= weights @ reading / weights.sum()
    gain = grid.gain(reading, weights, moment=1e6)
    root = np.sqrt(np.repeat(weights, 3))
    uniform = np.tile(np.eye(3), (24, 1))
    for n in range(0, len(grid.places), 7):
        matrix = np.hstack([dipole.response(scenes.SENSORS, grid.places[n]).reshape(72, 3), uniform])
        fitted = np.linalg.lstsq(matrix * root[:, None], reading.ravel() * root, rcond=None)
        total = (weights[:, None] * reading**2).sum()
        assert gain[n] == pytest.approx(total - fitted[1][0], rel=1e-6)


def test_a_uniform_field_and_a_saturated_sensor_do_not_matter() -> None:
    mat = scenes.Mat(np.random.default_rng(5), noise=0.5)
    bead = scenes.Magnet(np.array([-497.0, -98.0, 2.0]), np.array([0.0, 0.0, 0.176]), True)  # right over a sensor
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean([bead])
    assert list(np.flatnonzero(~ok)) == [0]
    found = fit(ut - empty + np.array([20.0, -15.0, 30.0]), ok, noise=0.6)
    assert found.sure
    assert [(b.pad, b.marked) for b in found.beads] == [(1, True)]
    assert np.hypot(found.beads[0].x_mm + 497, found.beads[0].y_mm + 98) < 4


def test_no_sensor_at_all_is_not_an_empty_mat() -> None:
    for working in (0, 1, 3):
        found = fit(np.zeros((24, 3)), np.arange(24) < working)
        assert found.beads == ()
        assert not found.sure


def test_a_pad_without_sensors_is_not_surely_empty() -> None:
    rng = np.random.default_rng(4)
    ok = ALL.copy()
    ok[6:12] = False
    assert not fit(rng.normal(0, 0.5, (24, 3)), ok).sure
    assert fit(rng.normal(0, 0.5, (24, 3)), ALL).sure


def test_one_dead_sensor_leaves_no_place_for_a_marked_bead_to_hide_but_for_a_faint_one() -> None:
    ok = ALL.copy()
    ok[0] = False
    reading = np.random.default_rng(4).normal(0, 0.4, (24, 3))
    assert fit(reading, ok, noise=0.6, smallest=MARKED_AM2).sure
    assert not fit(reading, ok, noise=0.6, smallest=UNMARKED_AM2).sure


def test_a_reading_that_is_not_a_number_is_left_out() -> None:
    mat = scenes.Mat(np.random.default_rng(5), noise=0.5)
    bead = scenes.Magnet(np.array([120.0, 20.0, 6.0]), np.array([0.0, 0.12, 0.13]), True)
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean([bead])
    reading = ut - empty
    reading[20] = np.nan
    found = fit(reading, ok, noise=0.6)
    assert [(b.pad, b.marked) for b in found.beads] == [(3, True)]


def test_another_shape_is_refused() -> None:
    with pytest.raises(MatError, match="24 magnetometers") as error:
        fit(np.zeros((6, 3)), np.ones(6, dtype=np.bool_))
    assert error.value.todo
    with pytest.raises(ValueError, match="magnetometers"):
        fit(np.zeros((24, 3)), np.ones(6, dtype=np.bool_))


def test_no_more_than_asked_for() -> None:
    mat = scenes.Mat(np.random.default_rng(8), noise=0.5)
    magnets = [scenes.on_pad(mat.rng, pad, True, inset=60.0) for pad in (1, 3)]
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean(magnets)
    one = fit(ut - empty, ok, noise=0.6, most=1)
    assert len(one.beads) == 1
    assert not one.sure
    assert [b.pad for b in fit(ut - empty, ok, noise=0.6).beads] == [1, 3]


def test_the_place_is_in_no_repr() -> None:
    mat = scenes.Mat(np.random.default_rng(8), noise=0.5)
    empty, _ = mat.mean([], 20)
    shown = set()
    for pad in (1, 2, 3, 4):
        ut, ok = mat.mean([scenes.Magnet(np.array([*pinmap().pads.centre(pad), 6.0]), np.array([0, 0, 0.176]), True)])
        found = fit(ut - empty, ok, noise=0.6)
        assert [b.pad for b in found.beads] == [pad]
        shown.add(repr(found.beads))
    assert len({text.split("sd_mm")[0] for text in shown}) == 1


def test_a_fitter_keeps_nothing() -> None:
    mat = scenes.Mat(np.random.default_rng(9))
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean([scenes.on_pad(mat.rng, 2, True)])
    fitter = BeadFitter()
    first = fitter.fit(ut - empty, ok)
    fitter.fit(np.zeros((24, 3)), ALL)
    assert fitter.fit(ut - empty, ok) == first == shipped_fitter().fit(ut - empty, ok)
