"""Profiles: kept whole or not at all, read strictly, and used by the table's detectors."""

import os

import numpy as np
import pytest
from cases import cases
from ground_truth import disagreements
from walking import walked

from pi_controller.calibration import profile as profiles
from pi_controller.calibration.profile import MagnetProfile, Profile, ProfileError, StrikeProfile, TouchProfile
from pi_controller.config import Settings, read_settings
from pi_controller.rules.registry import game
from pi_controller.runtime.assembly import apply_profile, mat_sensors
from pi_controller.sensing.events import BeadsAtRest
from pi_controller.sensing.hands import HandSettings
from pi_controller.simulation import simulation
from pi_controller.simulation.listening import SimListening
from pi_controller.table.mats import mat_sensors_for


@pytest.fixture(scope="module")
def measured():
    done = walked(1)
    assert done.view.passed
    return done.walk.profile("hall", "2026-11-20 12:00 UTC", "0.1.0")


def test_saved_profile_is_read_back(tmp_path, measured):
    path = profiles.save_profile(tmp_path, measured)
    assert path == tmp_path / "hall.profile.json"
    assert profiles.load_profile(tmp_path, "hall") == measured
    assert [one.name for one in tmp_path.iterdir()] == ["hall.profile.json"]


def test_previous_profile_is_saved_as_bak(tmp_path, measured):
    profiles.save_profile(tmp_path, measured)
    before = (tmp_path / "hall.profile.json").read_bytes()
    profiles.save_profile(tmp_path, Profile("hall", "later", "0.1.0", "x"))
    assert (tmp_path / "hall.bak").read_bytes() == before
    assert profiles.load_profile(tmp_path, "hall").made == "later"
    assert len(list(tmp_path.iterdir())) == 2


def test_disk_failure_leaves_old_profile(tmp_path, measured, monkeypatch):
    profiles.save_profile(tmp_path, measured)
    before = (tmp_path / "hall.profile.json").read_bytes()

    def broken(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(ProfileError, match="No space left") as caught:
        profiles.save_profile(tmp_path, Profile("hall", "later", "0.1.0", "x"))
    assert caught.value.hint
    assert (tmp_path / "hall.profile.json").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["hall.profile.json"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", ".hidden", "-x", "x" * 41, "naïve", "a b", "a\n"])
def test_unsafe_profile_name_is_refused(tmp_path, name):
    with pytest.raises(ProfileError):
        profiles.path_of(tmp_path, name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a profile"),
        ("[]", "not a profile"),
        ('{"name":"x"}', "not a profile"),
        ('{"name":"x","made":"","program":"","board_id":"","extra":1}', "not a profile"),
        ('{"name":"x","made":"","program":"","board_id":"","format":2}', "format 2"),
        (b"\xff\xfe", "not a profile"),
    ],
)
def test_invalid_profile_file_is_refused_with_hint(tmp_path, text, says):
    path = tmp_path / "x.profile.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ProfileError, match=says) as caught:
        profiles.load_profile(tmp_path, "x")
    assert "moccasin-mat mat calibrate" in caught.value.hint


def test_missing_profile_is_reported(tmp_path):
    with pytest.raises(ProfileError, match="there is no profile"):
        profiles.load_profile(tmp_path, "x")


def with_strikes(**changed):
    told = {"threshold_db": 15.0, "sensor": "piezo", "noise": (1,) * 4, "level_dbfs": (-30,) * 4, "margin_db": (8,) * 4}
    return StrikeProfile(**(told | changed))


def with_touch(**changed):
    told = {
        "touch": 9.0, "clear": 5.0, "brushed": 6.0, "rest": (700,) * 12, "noise": (1,) * 12, "lost": (40,) * 12
    }  # fmt: skip
    return TouchProfile(**(told | changed))


def with_magnets(**changed):
    told = {
        "offsets": ((1.0, 2.0, 3.0),) * 24, "known": (True,) * 24, "scans": 100.0, "scatter": 10.0,
        "level": (0.0, 0.0, 50.0), "noise_ut": 0.5, "moment_am2": (0.17,) * 4,
    }  # fmt: skip
    return MagnetProfile(**(told | changed))


@pytest.mark.parametrize(
    "parts",
    [
        {"strikes": with_strikes(threshold_db=99.0)},
        {"strikes": with_strikes(noise=(1.0,) * 3)},
        {"touch": with_touch(clear=10.0)},
        {"touch": with_touch(rest=(700,) * 11)},
        {"magnets": with_magnets(known=(True,) * 23)},
        {"magnets": with_magnets(offsets=((1e9, 0.0, 0.0),) * 24)},
        {"magnets": with_magnets(scatter=0.0)},
    ],
)
def test_profile_with_impossible_values_is_refused(tmp_path, parts):
    profiles.save_profile(tmp_path, Profile("x", "", "", "", **parts))
    with pytest.raises(ProfileError, match="does not fit"):
        profiles.load_profile(tmp_path, "x")


def test_profile_threshold_applies_unless_settings_name_one(tmp_path, measured):
    profiles.save_profile(tmp_path, measured)
    assert measured.strikes is not None
    file = tmp_path / "table.toml"
    file.write_text('[board]\nprofile = "hall"\n', "utf-8")
    settings, profile = apply_profile(read_settings(file), tmp_path)
    assert profile == measured
    assert settings.strikes.detector_settings().peak_db == measured.strikes.threshold_db
    file.write_text('[board]\nprofile = "hall"\n[strikes]\nthreshold_db = 20\n', "utf-8")
    assert apply_profile(read_settings(file), tmp_path)[0].strikes.detector_settings().peak_db == 20.0
    file.write_text('[board]\nprofile = "hall"\n[strikes]\nsensor = "fsr"\n', "utf-8")
    settings = read_settings(file)
    assert apply_profile(settings, tmp_path)[0] == settings, "a threshold of other sensors is none for these"
    assert apply_profile(Settings(), tmp_path) == (Settings(), None)


def test_detectors_use_measured_profile(measured):
    made = mat_sensors(Settings(), measured)
    assert made.beads.baseline is not None
    assert made.beads.baseline.firm
    assert measured.touch is not None
    wanted = HandSettings(touch=measured.touch.touch, clear=measured.touch.clear, brushed=measured.touch.brushed)
    assert measured.hand_settings() == wanted
    assert mat_sensors_for("dakota").beads.baseline is None


@pytest.mark.slow
def test_table_with_profile_plays_without_disagreement(tmp_path, measured, monkeypatch):
    made = Settings.model_validate({"strikes": {"threshold_db": measured.strikes.threshold_db}})
    monkeypatch.setattr(simulation, "mat_sensors_for", lambda _, **__: mat_sensors(made, measured))
    with simulation.Simulation(1, tmp_path / "j.sqlite", game("dakota")) as played:
        played.play(limit_s=cases(40.0, 80.0))
        assert played.view.hide > cases(2, 5)
        assert disagreements(played) == []


def first_reading(seed, profile):
    """Return what the beads are first read to be, on a mat switched on with the bead lying on pad 3."""
    with SimListening(seed) as sim:
        made = mat_sensors_for("dakota", profile=profile)
        sim.mat.world.drop("bead", 3)
        while sim.t < 5.0:
            for message in sim.tick():
                for event in made.feed(message):
                    if isinstance(event, BeadsAtRest):
                        return event, made
        return None, made


def test_bead_at_power_on_is_sure_with_profile(measured):
    told, _ = first_reading(1, measured)
    assert told is not None
    assert told.sure
    assert [bead.pad for bead in told.found] == [3]
    without, _ = first_reading(1, None)
    assert without is None or not without.sure


def test_the_profile_of_another_board_is_not_believed(measured):
    _, made = first_reading(7, measured)
    own = measured.baseline()
    assert own is not None
    assert made.beads.baseline is None or not np.allclose(made.beads.baseline.offsets, own.offsets, atol=1.0)
