"""The dipole fit on seeded scenes of `measure_beads.py` (its own formula, crooked sensors), and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from cases import cases
from load_file import load_file

from pi_controller.errors import MatError
from pi_controller.pinmap import pinmap
from pi_controller.sensing import bead_solver
from pi_controller.sensing.bead_fit import BeadFitter, fit, shipped_fitter
from pi_controller.sensing.bead_solver import MARKED_AM2, UNMARKED_AM2, Steel
from pi_controller.sensing.grid_search import FieldGrid

scenes = load_file("tests/tools/measure_beads.py")

ALL = np.ones(24, dtype=np.bool_)

# kind: scenes, least sure and right, most surely wrong, most for the median place error (mm); by day half of the scenes
WANTED = {
    "empty": (40, 40, 0, None),
    "unmarked": (40, 38, 0, 2.5),
    "marked": (40, 40, 0, 1.5),
    "two": (40, 39, 0, 1.5),
    "two kinds": (40, 38, 0, 2.0),
    "two near": (30, 26, 1, 2.0),
    "moved": (40, 38, 0, 2.0),
    "between": (30, 29, 0, 1.5),
    "off": (30, 12, 0, 4.0),
    "held": (30, 0, 0, None),
    "four": (30, 28, 0, 2.0),
    "three of four": (20, 18, 0, 2.0),
    "two fists": (30, 29, 0, 4.0),
    "one fist": (30, 29, 0, 4.0),
    "no fist": (20, 20, 0, None),
    "telephone": (20, 0, 0, None),
    "chair": (20, 0, 0, None),
    "ring": (20, 18, 0, None),
    "turned": (20, 17, 0, None),
    "silent": (20, 17, 0, None),
    "stuck": (20, 17, 0, None),
    "rail": (20, 17, 0, None),
    "noisy": (20, 17, 0, None),
    "steel 15": (20, 0, 0, None),
    "steel 60": (20, 17, 0, None),
    "steel two": (20, 0, 0, None),
    "iron": (20, 18, 0, None),
    "moving chair": (20, 18, 0, None),
    "warming": (20, 10, 0, None),
}


@pytest.mark.parametrize("kind", [*WANTED][:: cases(4, 1)])
def test_scenes(kind: str) -> None:
    scenes_wanted, least_right, most_wrong, median = WANTED[kind]
    count = cases(scenes_wanted // 2, scenes_wanted)
    many = [scenes.play(number, kind, 11) for number in range(count)]
    assert sum(told.verdict == "right" for told in many) >= least_right * count / scenes_wanted
    assert sum(told.verdict not in ("right", "unsure") for told in many) <= most_wrong
    if median is not None:
        assert np.median([mm for told in many for mm in told.off_mm]) < median


@pytest.mark.parametrize("number", [741, 969])
def test_one_bead_over_steel_is_not_surely_two(number: int) -> None:
    assert scenes.play(number, "steel 15", 2026).verdict == "unsure"


def place_on_each_pad(kind: str, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the readings of one marked bead laid on the middle part of each pad in turn, in a world of `kind`."""
    rng = np.random.default_rng([seed, 31])
    world = scenes.scene(kind, rng)
    if world.plate is not None:
        world.plate.edges_mm = (-700.0, 700.0, -300.0, 300.0)
    mat = scenes.Mat(rng, plate=world.plate, iron=world.iron)
    empty, _ = mat.mean([], 20)
    readings = [mat.mean([scenes.on_pad(rng, pad, True, inset=60.0), *world.others], 5) for pad in (1, 2, 3, 4)]
    return [(ut - empty, ok) for ut, ok in readings]


@pytest.mark.parametrize("under_mm", [15, 30])
@pytest.mark.slow
def test_steel_is_found_with_its_depth(under_mm: int) -> None:
    for seed in range(cases(3, 8)):
        steel = shipped_fitter().find_steel(place_on_each_pad(f"steel {under_mm}", seed), 1.0)
        assert steel is not None
        assert steel.depth_mm - 30.0 == pytest.approx(under_mm, abs=10.0)


@pytest.mark.parametrize("kind", ["marked", "telephone", "keys", "chair", "ring"])
def test_no_steel_is_found_without_steel(kind: str) -> None:
    for seed in range(cases(2, 12)):
        readings = place_on_each_pad(kind, seed)
        assert shipped_fitter().find_steel(readings, 1.0) is None
        assert shipped_fitter().find_steel(readings[:1], 1.0) is None


def test_reported_sigmas_match_actual_errors() -> None:
    sigmas = [n for number in range(cases(30, 60)) for n in scenes.play(number, "marked", 12).off_sigmas]
    assert 0.6 < np.quantile(sigmas, 0.95) < 2.0


@pytest.mark.parametrize("answer", range(4))
def test_sensors_silent_under_known_bead_give_unsure_fit(answer: int) -> None:
    fitter = shipped_fitter()
    ut = bead_solver.response(fitter.sensors_mm, np.array([20.0, 10.0, 6.0])) @ np.array([0.0, 0.0, MARKED_AM2])
    known = fitter.fit(ut, ALL).beads
    assert len(known) == 1
    few = fitter.fit(ut, np.arange(24) < answer, start=known)
    assert (few.beads, few.sure) == ((), False)


def test_every_fit_is_bounded_work() -> None:
    for kind in ("telephone", "chair", "held", "two near", "four"):
        for number in range(cases(4, 15)):
            played = scenes.Play(kind, number, 13)
            played.told()
            assert played.last.work < 1500


def test_warm_start_does_not_bias_the_fit() -> None:
    rng = np.random.default_rng(21)
    for _ in range(20):
        mat = scenes.Mat(rng)
        four = scenes.apart(rng, [1, 2, 3, 4], [True, False, False, False], 170)
        empty, _ = mat.mean([], 20)
        ut, ok = mat.mean(four, 20)
        cold = fit(ut - empty, ok, noise=0.5, smallest=UNMARKED_AM2)
        warm = shipped_fitter().fit(ut - empty, ok, noise=0.5, smallest=UNMARKED_AM2, start=cold.beads)
        assert [(b.pad, b.marked) for b in warm.beads] == [(b.pad, b.marked) for b in cold.beads]
        ut, ok = mat.mean(four[1:3], 20)
        fewer = shipped_fitter().fit(ut - empty, ok, noise=0.5, smallest=UNMARKED_AM2, start=cold.beads)
        assert [(b.pad, b.marked) for b in fewer.beads] == [(2, False), (3, False)]
        ut, ok = mat.mean([four[3], scenes.on_pad(rng, 1, False)], 20)
        other = shipped_fitter().fit(ut - empty, ok, noise=0.5, smallest=UNMARKED_AM2, start=cold.beads[1:3])
        assert not other.sure or [(b.pad, b.marked) for b in other.beads] == [(1, False), (4, False)]


def test_field_over_steel_is_that_of_the_images() -> None:
    place, moment = np.array([30.0, 20.0, 6.0]), np.array([0.1, -0.05, 0.12])
    over = bead_solver.response(scenes.SENSORS, place, Steel(45.0, 0.8)) @ moment
    image = bead_solver.response(scenes.SENSORS, np.array([30.0, 20.0, -96.0])) @ (0.8 * moment * [-1, -1, 1])
    assert pytest.approx(bead_solver.response(scenes.SENSORS, place) @ moment + image) == over


@pytest.mark.parametrize("steel", [None, Steel(45.0, 0.8)])
def test_field_and_jacobian_of_several_magnets(steel: Steel | None) -> None:
    rng = np.random.default_rng(1)
    sensors = scenes.SENSORS
    places = np.array([[100.0, 30.0, 5.0], [-200.0, -40.0, 9.0]])
    moments = rng.normal(0, 0.1, (2, 3))
    d2, fields, change = (
        each[0] for each in bead_solver.field_and_jacobian(sensors.T, places[None], moments[None], steel)
    )
    for n in range(2):
        assert pytest.approx(bead_solver.response(sensors, places[n], steel) @ moments[n]) == fields[n].T
        assert d2[n] == pytest.approx(((sensors - places[n]) ** 2).sum(axis=1))
        for axis in range(3):
            assert pytest.approx(bead_solver.response(sensors, places[n], steel)[:, :, axis]) == change[n, 3 + axis].T
            step = np.zeros(3)
            step[axis] = 1e-4
            slope = (
                (
                    bead_solver.response(sensors, places[n] + step, steel)
                    - bead_solver.response(sensors, places[n] - step, steel)
                )
                @ moments[n]
            ) / 2e-4
            assert pytest.approx(slope, abs=1e-5) == change[n, axis].T


def test_grid_gain_matches_least_squares() -> None:
    rng = np.random.default_rng(2)
    grid = FieldGrid(scenes.SENSORS, pinmap().pads, step_mm=150.0)
    weights = rng.uniform(0.1, 2.0, 24)
    weights[[3, 11]] = 0.0
    reading = rng.normal(0, 10, (24, 3))
    reading -= weights @ reading / weights.sum()
    gain = grid.gain(reading, weights, moment=1e6)
    root = np.sqrt(np.repeat(weights, 3))
    uniform = np.tile(np.eye(3), (24, 1))
    for n in range(0, len(grid.places), 7):
        matrix = np.hstack([bead_solver.response(scenes.SENSORS, grid.places[n]).reshape(72, 3), uniform])
        fitted = np.linalg.lstsq(matrix * root[:, None], reading.ravel() * root, rcond=None)
        total = (weights[:, None] * reading**2).sum()
        assert gain[n] == pytest.approx(total - fitted[1][0], rel=1e-3)


def test_fit_ignores_uniform_field_and_saturated_sensor() -> None:
    mat = scenes.Mat(np.random.default_rng(5), noise=0.5)
    bead = scenes.Magnet(np.array([-497.0, -98.0, 2.0]), np.array([0.0, 0.0, 0.176]), True)  # right over a sensor
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean([bead])
    assert list(np.flatnonzero(~ok)) == [0]
    found = fit(ut - empty + np.array([20.0, -15.0, 30.0]), ok, noise=0.6)
    assert found.sure
    assert [(b.pad, b.marked) for b in found.beads] == [(1, True)]
    assert np.hypot(found.beads[0].x_mm + 497, found.beads[0].y_mm + 98) < 4


def test_too_few_sensors_are_not_surely_empty() -> None:
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


def test_one_dead_sensor_leaves_faint_bead_unsure() -> None:
    ok = ALL.copy()
    ok[0] = False
    reading = np.random.default_rng(4).normal(0, 0.4, (24, 3))
    assert fit(reading, ok, noise=0.6, smallest=MARKED_AM2).sure
    assert not fit(reading, ok, noise=0.6, smallest=UNMARKED_AM2).sure


def test_nan_reading_is_left_out() -> None:
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
    assert error.value.hint
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


def test_fitter_is_stateless_between_fits() -> None:
    mat = scenes.Mat(np.random.default_rng(9))
    empty, _ = mat.mean([], 20)
    ut, ok = mat.mean([scenes.on_pad(mat.rng, 2, True)])
    fitter = BeadFitter()
    first = fitter.fit(ut - empty, ok)
    fitter.fit(np.zeros((24, 3)), ALL)
    assert fitter.fit(ut - empty, ok) == first == shipped_fitter().fit(ut - empty, ok)


@pytest.mark.parametrize("seed", range(6))
def test_second_magnet_beside_pads_is_unsure(seed: int) -> None:
    """One alone beside the pads is a bead out of place; while another lies where beads belong, the judge is asked."""
    mat = scenes.Mat(np.random.default_rng(20 + seed), noise=0.5)
    empty, _ = mat.mean([], 20)
    beside = scenes.Magnet(np.array([290.0, 60.0, 6.0]), MARKED_AM2 * scenes.direction(mat.rng), True)
    ut, ok = mat.mean([beside])
    alone = fit(ut - empty, ok, noise=0.6)
    assert [bead.pad for bead in alone.beads] == [None]
    ut, ok = mat.mean([beside, scenes.on_pad(mat.rng, 1, True, inset=60.0)])
    both = fit(ut - empty, ok, noise=0.6)
    assert sorted(bead.pad or 0 for bead in both.beads) == [0, 1]
    assert alone.sure
    assert not both.sure


def test_bead_near_pad_edge_is_unsure() -> None:
    mat = scenes.Mat(np.random.default_rng(3), noise=0.5)
    empty, _ = mat.mean([], 20)
    x, _ = pinmap().pads.centre(2)
    for inside, sure in ((6.0, False), (40.0, True)):
        place = np.array([x + 20.0, pinmap().pads.depth_mm / 2 - inside, 6.0])
        ut, ok = mat.mean([scenes.Magnet(place, np.array([0.1, 0.1, 0.1055]), True)])
        found = fit(ut - empty, ok, noise=0.6)
        assert [bead.pad for bead in found.beads] == [2]
        assert found.sure is sure
