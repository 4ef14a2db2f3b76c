"""Magnetometers that cannot be believed are named and left out; what beads do is no fault."""

from __future__ import annotations

import numpy as np
import pytest

from pi_controller.board.messages import Field
from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import response
from pi_controller.sensing.beads import BeadTracker
from pi_controller.sensing.magnetometer_faults import MagnetometerMonitor

SENSORS = np.array(pinmap().magnetometer_positions())
ALL = np.ones(24, dtype=np.bool_)


def readings(seed: int, count: int, noise: float = 1.0) -> np.ndarray:
    ut = np.random.default_rng(seed).normal(30, noise, (count, 24, 3))
    return np.rint(ut * 30) / 30


def test_sound_sensors_have_no_faults() -> None:
    for noise in (0.1, 0.5, 2.0):
        watch = MagnetometerMonitor(24)
        for ut in readings(1, 2000, noise):
            assert watch.feed(ut, ALL).all()
            assert watch.faults == {}


def test_sensors_without_any_noise_are_not_called_stuck() -> None:
    watch = MagnetometerMonitor(24)
    for _ in range(100):
        assert watch.feed(np.full((24, 3), 12.0), ALL).all()
    assert watch.faults == {}


@pytest.mark.parametrize("wrong", ["silent", "rail", "stuck", "noisy"])
def test_a_fault_is_named_and_forgiven(wrong: str) -> None:
    watch = MagnetometerMonitor(24)
    rng = np.random.default_rng(2)

    def scan(ut: np.ndarray, broken: bool) -> np.ndarray:
        ok = ALL.copy()
        if broken:
            match wrong:
                case "silent":
                    ok[7], ut[7] = False, 0.0
                case "rail":
                    ut[7, 1] = -800.0
                case "stuck":
                    ut[7] = (10.0, -20.0, 3.0)
                case _:
                    ut[7] += rng.normal(0, 6.0, 3)
        return watch.feed(ut, ok)

    for ut in readings(3, 100):
        scan(ut, broken=False)
    for ut in readings(4, 100):
        use = scan(ut, broken=True)
    assert watch.faults == {7: wrong}
    assert list(np.flatnonzero(~use)) == [7]
    for ut in readings(5, 250):
        use = scan(ut, broken=False)
    assert watch.faults == {}
    assert use.all()


def test_sensor_silent_after_rising_is_at_rail() -> None:
    watch = MagnetometerMonitor(24)
    for n, ut in enumerate(readings(6, 100)):
        ok = ALL.copy()
        if n < 50:
            ut[3, 2] = 15.0 * n
        else:
            ok[3], ut[3] = False, 0.0
        watch.feed(ut, ok)
    assert watch.faults == {3: "rail"}


def test_bead_stirred_over_sensor_is_not_noise_fault() -> None:
    watch = MagnetometerMonitor(24)
    for n, ut in enumerate(readings(7, 1200)):
        place = SENSORS[8] + (30 * np.sin(n / 3), 30 * np.cos(n / 2.3), 60.0)
        watch.feed(ut + response(SENSORS, place) @ np.array([0.09, -0.11, 0.104]), ALL)
        assert watch.faults == {}, n


def test_sensor_saturated_by_bead_is_no_fault() -> None:
    tracker = BeadTracker()
    tracker.set_empty()
    rng = np.random.default_rng(8)
    bead = response(SENSORS, SENSORS[8] + (0.0, 0.0, 33.0)) @ np.array([0.0, 0.0, 0.176])
    said = []
    for n in range(300):
        ut = 30 + rng.normal(0, 0.7, (24, 3)) + (bead if n > 60 else 0.0)
        ok = (np.abs(ut) < 800).all(axis=1)
        said += tracker.feed(Field(0.05 * n, np.where(ok[:, None], ut, 0.0), ok))
    assert not ok[8]
    assert [bead.pad for bead in said[-1].found] == [2]
    assert tracker.faults == {}


def test_tracker_names_dead_sensor_until_forget() -> None:
    tracker = BeadTracker()
    for n, ut in enumerate(readings(9, 60)):
        ok = ALL.copy()
        ok[20] = False
        tracker.feed(Field(0.05 * n, ut, ok))
    assert tracker.faults == {20: "silent"}
    tracker.forget()
    assert tracker.faults == {}
