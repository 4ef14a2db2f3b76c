"""A magnetometer that is built in turned is named where the chips' own fields let it be told, and never another one."""

from dataclasses import replace

import numpy as np
import pytest
from board_faults import parse_fault

from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.sensing.magnetometer_diagnosis import FEWEST_SENSORS, TURNS, find_turned_sensors, magnetometer_name
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.magnetometers import Magnets

ALL = np.ones(24, bool)


def empty(seed, offset_ut):
    return Magnets(seed, replace(Conditions(), field_offset_ut=offset_ut)).field(0.0)


@pytest.mark.parametrize(("offset_ut", "share"), [(1.0, 0.99), (5.0, 0.97), (10.0, 0.6)])
def test_turned_sensor_and_its_turn_are_found(offset_ut, share):
    found = tried = 0
    for seed in range(40):
        field = empty(seed, offset_ut)
        for n, (how, turn) in enumerate(TURNS.items()):
            i = (5 * seed + n) % 24
            ut = field.copy()
            ut[i] = turn @ field[i]
            told = find_turned_sensors(ut, ALL)
            assert not set(told) - {i}, "no sound one is named"
            found, tried = found + (told.get(i) == how), tried + 1
    assert found / tried >= share


@pytest.mark.parametrize("offset_ut", [0.0, 5.0, 10.0, 25.0, 60.0])
def test_chip_offsets_report_no_turned_sensor(offset_ut):
    assert not any(find_turned_sensors(empty(seed, offset_ut), ALL) for seed in range(100))


def test_a_turn_is_a_rotation():
    for turn in TURNS.values():
        assert np.allclose(turn @ turn.T, np.eye(3))
        assert np.linalg.det(turn) == pytest.approx(1.0)


def test_few_or_silent_sensors_give_no_turn():
    field = empty(1, 1.0)
    field[3] = TURNS["a half"] @ field[3]
    there = np.zeros(24, bool)
    there[: FEWEST_SENSORS - 1] = True
    assert find_turned_sensors(field, there) == {}
    there[:] = True
    assert find_turned_sensors(field, there) == {3: "a half"}
    there[3] = False
    assert find_turned_sensors(field, there) == {}


def looked(conditions, hidden=False, without=""):
    ears = SensorListener(Detectors(StrikeSettings()), hidden=hidden, without=without)
    with SimListening(3, conditions, [parse_fault("turned-module=7")]) as sim:
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
        return {line.name: line for line in ears.lines()}


def test_the_doctor_names_it_alone():
    lines = looked(replace(Conditions(), field_offset_ut=3.0))
    failed = {name: line for name, line in lines.items() if line.outcome == "fail"}
    assert list(failed) == [magnetometer_name(6)]
    assert "turned: a quarter" in failed[magnetometer_name(6)].message
    assert failed[magnetometer_name(6)].hint


@pytest.mark.parametrize("kept", [{"hidden": True}, {"without": "the judge confirms the bead"}])
def test_unchecked_magnetometers_are_not_here(kept):
    lines = looked(replace(Conditions(), field_offset_ut=3.0), **kept)
    assert {line.outcome for name, line in lines.items() if name.startswith("magnet")} == {"not here"}
