"""Strikes on simulated force sensors, and the simulation's own physics."""

import fsr_mat
import numpy as np
import pytest
from cases import cases
from fsr_mat import HANDS, FsrMat

from pi_controller.config.model import StrikesSection
from pi_controller.sensing.strike_settings import FSR_SETTINGS, SETTINGS_BY_SENSOR
from pi_controller.sensing.strikes import StrikeDetector


def felt(mat: FsrMat):
    return StrikeDetector(mat.rate, mat.pads, settings=FSR_SETTINGS).feed_samples(mat.samples())


def test_the_sensor_follows_its_data_sheet():
    force = np.array([0.0, 0.05, 0.1, 1.0, 10.0, 100.0])
    x = fsr_mat.counts(force)
    assert (x[:2] < 2).all()  # blind below 0.1 N: 10 megohm
    assert (np.diff(x[1:]) > 0).all()
    assert x[2] > 100
    assert x[3] == pytest.approx(4095 * 3.3 / 9.3)
    assert x[-1] < 4095
    assert fsr_mat.counts(np.array([1.0]), 1.06)[0] < x[3] < fsr_mat.counts(np.array([1.0]), 0.94)[0]


def test_strike_impulse_matches_stick_momentum():
    mat = FsrMat(1, 2.0)
    mat.strike(1.0, 2, 1.5)
    got = mat.force[:, 1].sum() / mat.rate  # N s: the stick's momentum, there and back, and what goes past the sensor
    assert 0.5 * 2 * fsr_mat.STICK_KG * 1.5 <= got <= 2 * fsr_mat.STICK_KG * 1.5 + 1e-3
    assert mat.force[:, 1].max() > 10 * np.delete(mat.force, 1, axis=1).max()
    assert 0.005 < fsr_mat.contact_s() < 0.012


def test_floor_drum_loads_all_plates_alike():
    mat = FsrMat(1, 5.0)
    mat.drums(0.5)
    assert 0.2 < np.abs(mat.floor).max() < 1.5
    energy = (mat.floor**2).sum(axis=0)
    assert energy.max() < 4 * energy.min()
    still = FsrMat(1, 5.0)
    still.drums(0.0)
    assert not still.floor.any()


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("speed", [0.15, 0.5, 2.0, 6.0])
def test_each_pad_detects_its_strike(floor, speed):
    mat = FsrMat(round(10 * speed), 6.0)
    mat.drums(floor)
    for pad in range(1, 5):
        mat.strike(1.15 * pad, pad, speed)
    found = felt(mat)
    assert [d.pads for d in found] == [(1,), (2,), (3,), (4,)]
    for d in found:
        assert -0.004 <= d.onset_index / mat.rate - 1.15 * d.pad <= 0.012
        assert d.decided_index / mat.rate - 1.15 * d.pad <= 0.03


@pytest.mark.parametrize("floor", cases([0.5], [0.0, 0.5]))
@pytest.mark.parametrize("kind", HANDS)
def test_no_hand_is_a_strike(kind, floor):
    mat = FsrMat(HANDS.index(kind) + 20, 20.0)
    mat.drums(floor)
    for k in range(25):
        mat.hand(0.7 + 0.7 * k, 1 + k % 4, kind)
    assert felt(mat) == []
    assert np.ptp(mat.samples()) > 200


def test_same_seed_repeats_mat_and_other_seed_differs():
    def made(seed: int) -> np.ndarray:
        mat = FsrMat(seed, 1.0)
        mat.strike(0.5, 1, 0.3)
        mat.hand(0.2, 3, "palm")
        return mat.samples()

    assert (made(4) == made(4)).all()
    assert (made(4) != made(5)).any()


def test_settings_choose_sensor_and_shift_its_thresholds():
    assert StrikesSection().detector_settings() == SETTINGS_BY_SENSOR["piezo"]
    assert StrikesSection(sensor="fsr").detector_settings() == FSR_SETTINGS
    stricter = StrikesSection(sensor="fsr", threshold_db=19.0, dominance_db=12.0, lockout_ms=400.0).detector_settings()
    assert stricter.peak_db - FSR_SETTINGS.peak_db == stricter.stand_db - FSR_SETTINGS.stand_db == 5.0
    assert stricter.dominance_db == FSR_SETTINGS.dominance_db + 2.0
    assert stricter.lockout_s == 0.4
    assert stricter.bands_hz == FSR_SETTINGS.bands_hz
