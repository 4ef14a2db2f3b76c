"""The doctor listens to the simulated mat with the real firmware files: every fault is found, and named alone."""

import numpy as np
import pytest
from board_faults import parse_fault
from cases import cases

from pi_controller.board.messages import BoardEvent, Gap, LinkUp, Piezo
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.config import Settings
from pi_controller.sensing.events import Strike
from pi_controller.sensing.magnetometer_diagnosis import magnetometer_name
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.listening import SimListening
from pi_controller.tools import doctor_checks
from pi_controller.tools.doctor import examine_simulated

SENSORS = 4 + 12 + 24


def look(*faults, seed=1):
    return examine_simulated(Settings(), lambda _: None, seed, [parse_fault(fault) for fault in faults])


def failed(lines):
    return {line.name: line for line in lines if line.outcome == "fail"}


def test_working_mat_passes_each_sensor():
    lines = look()
    assert not failed(lines)
    assert sum(line.group == "Sensors" for line in lines) == SENSORS
    assert len({line.name for line in lines}) == len(lines)
    assert {line.outcome for line in lines} == {"pass"}


@pytest.mark.parametrize("tapped", [False, True])
def test_discs_resting_on_one_count_pass(tapped):
    ears, x = SensorListener(Detectors(StrikeSettings())), np.zeros((20000, 4), np.int16)
    if tapped:
        go = np.arange(400)
        x[8000:8400, 1] = 900 * np.exp(-go / 50) * np.sin(0.8 * go)
    ears.take([LinkUp(0.0, "1", "1.0", 1, "power", 4)])
    ears.take(Piezo(i / 4000, i, 4000.0, x[i : i + 32]) for i in range(0, len(x), 32))
    found = [line for line in ears.lines() if line.name.startswith("piezo")]
    assert {line.outcome for line in found} == {"pass"}
    assert ["tap the pad" in line.message for line in found] == [True, not tapped, True, True]


@pytest.mark.parametrize(
    ("rest", "noise", "word", "remedy"),
    [
        (-2048, 0, "at ground", "R1"),
        (2047, 0, "at 3.3 V", "R3"),
        (-1986, 0, "at ground", "short"),
        (1986, 50, "at 3.3 V", "short"),
        (-1825, 0, "D2", "D2"),
        (1824, 0, "D1", "D1"),
        (-1825, 60, "D2", "D2"),
        (1000, 0, "+1000 counts off the middle", "R1 and R3"),
        (-400, 60, "-400 counts off the middle", "R1 and R3"),
        (0, 60, "noisy", "shield"),
    ],
)
def test_each_rest_level_has_its_own_sentence(rest, noise, word, remedy):
    ears, random = SensorListener(Detectors(StrikeSettings())), np.random.default_rng(1)
    x = random.normal(0.0, 1.0, (20000, 4))
    x[:, 1] = rest + noise * random.normal(0.0, 1.0, 20000)
    x = np.clip(np.rint(x), -2048, 2047).astype(np.int16)
    ears.take([LinkUp(0.0, "1", "1.0", 1, "power", 4)])
    ears.take(Piezo(i / 4000, i, 4000.0, x[i : i + 32]) for i in range(0, len(x), 32))
    (line,) = failed(line for line in ears.lines() if line.name.startswith("piezo")).values()
    assert line.name == "piezo of pad 2"
    assert word in line.message
    assert remedy in line.hint


def test_a_sound_mats_discs_are_measured():
    found = {line.name: line.message for line in look() if line.name.startswith("piezo")}
    for text in found.values():
        assert 2.0 < float(text.partition("disc is there: ")[2].removesuffix(" ms")) < 4.0


@pytest.mark.parametrize("fault", [(), ("reversed-diode=2",)])
def test_unswitched_bias_passes_with_disc_not_tested(monkeypatch, fault):
    monkeypatch.setattr(SimBoard, "bias_is_switched", False)
    lines = [line for line in look(*fault) if line.name.startswith("piezo")]
    assert sum(line.outcome == "fail" for line in lines) == len(fault)
    assert sum("bias is not switched: disc not tested" in line.message for line in lines) == 4 - len(fault)


@pytest.mark.parametrize("conditions", [Conditions(), Conditions.drums()])
@pytest.mark.parametrize("seed", cases([1], range(1, 7)))
def test_bias_step_causes_no_strike_or_sample_loss(conditions, seed):
    detectors, told, rest = Detectors(StrikeSettings()), [], []
    with SimListening(seed, conditions) as sim:
        while sim.t < LISTEN_S:
            if sim.t > 1.5 and not told:
                sim.connection.session.request_self_test()
                told.append("asked")
            for message in sim.tick():
                told += [event for event in detectors.feed(message) if isinstance(event, Strike)]
                told += [message] if isinstance(message, Gap) else []
                told += [message.kind] if isinstance(message, BoardEvent) and message.kind == "discs" else []
                rest += [message.counts] if isinstance(message, Piezo) else []
        assert told == ["asked"] + 4 * ["discs"]
        assert sim.connection.session.stats.missing_samples == 0
    if conditions == Conditions():
        assert np.abs(np.concatenate(rest)).max() < 300


def test_several_faults_are_all_named():
    lines = failed(look("rail-piezo=3", "dead-touch=8", "dead-magnetometer=17"))
    assert set(lines) == {"piezo of pad 3", "touch strip 8 (pad 3, middle)", magnetometer_name(16)}


@pytest.mark.parametrize(
    ("fault", "name", "word"),
    [
        ("wrong-firmware", "firmware", "this program includes " + doctor_checks.shipped_firmware()),
        ("wrong-protocol", "handshake", "protocol 10.0"),
        ("mute", "handshake", "does not answer"),
    ],
)
def test_wrong_or_missing_firmware_fails_with_flash_remedy(fault, name, word):
    lines = failed(look(fault))
    assert list(lines) == [name]
    assert word in lines[name].message
    assert "flash" in lines[name].hint


def test_mute_board_marks_sensors_not_here():
    lines = look("mute")
    assert all(line.outcome == "not here" for line in lines if line.group == "Sensors")


def test_lost_samples_fail_samples_and_losses():
    lines = failed(look("lost-samples"))
    assert {"samples", "losses"} <= set(lines)
    assert "gaps" in lines["losses"].message


def test_a_loud_hall_is_no_fault():
    ears = SensorListener(Detectors(StrikeSettings()))
    with SimListening(5, Conditions.drums()) as sim:
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
        lines = [*doctor_checks.link_lines(sim.connection, ears), *ears.lines()]
    assert not failed(lines)


def listened(hidden, bead_on):
    """Return the lines of a mat with the bead right over one of pad `bead_on`'s magnetometers, as text."""
    ears = SensorListener(Detectors(StrikeSettings()), hidden=hidden)
    with SimListening(4) as sim:
        sim.mat.world.drop("bead", ((bead_on - 2.5) * 290.0 - 62.5, 0.0), facing=(0, 0, 1))
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
        return [(line.group, line.name, line.outcome, line.message) for line in ears.lines()]


def test_magnetometer_lines_reveal_no_hide():
    first = [line for line in listened(True, 1) if line[1].startswith("magnet")]
    assert len(first) == 24
    assert all(outcome == "not here" for _, _, outcome, _ in first)
    assert first == [line for line in listened(True, 4) if line[1].startswith("magnet")]
