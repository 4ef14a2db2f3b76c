"""The diagnosis of each kind of sensor, from statistics of an untouched mat: what fails, and what is no fault."""

import numpy as np
import pytest

from pi_controller.board import wire
from pi_controller.host.findings import find_failures
from pi_controller.sensing.events import HUM
from pi_controller.sensing.magnetometer_diagnosis import NOISY_MAGNETOMETER_UT, diagnose_magnetometers
from pi_controller.sensing.piezo_diagnosis import NOISY_COUNTS, diagnose_piezos, explain_step
from pi_controller.sensing.strip_diagnosis import NOISY_STRIP_COUNTS, diagnose_strips, find_shorted_strips
from pi_controller.sensing.strip_faults import StripFault

MOVES = np.zeros(4, bool)


def judge_pads(rest=0.0, noise=1.0, still=MOVES, faults=None, sensor="piezo"):
    """Return the failures of four pads, of which the second has the given statistics."""
    rests, noises = np.array([0.0, rest, 0.0, 0.0]), np.array([1.0, noise, 1.0, 1.0])
    return find_failures(diagnose_piezos(rests, noises, still, faults or {}, {}, sensor))


def judge_strips(rest=700.0, noise=1.0, still=False, faults=(), pf=np.nan):
    """Return the failures of twelve strips, of which the last has the given statistics."""
    shape = (4, 3)
    rests, noises, stills, pfs = np.full(shape, 700.0), np.ones(shape), np.zeros(shape, bool), np.full(shape, np.nan)
    rests[3, 2], noises[3, 2], stills[3, 2], pfs[3, 2] = rest, noise, still, pf
    return find_failures(diagnose_strips(rests, noises, stills, faults, pfs))


def judge_magnetometers(share=1.0, noise=0.5, faults=None, built=None):
    """Return the failures of 24 magnetometers that all have the given statistics."""
    built = np.ones(24, bool) if built is None else built
    return find_failures(diagnose_magnetometers(np.full(24, share), np.full(24, noise), built, faults or {}, {}))


def test_digital_silence_is_healthy():
    assert judge_pads(noise=0.0, still=~MOVES) == ()


@pytest.mark.parametrize("why", ["noisy", "drowned by hum or noise"])
def test_noise_of_pad_is_named(why):
    for found in (judge_pads(noise=NOISY_COUNTS + 1), judge_pads(faults={2: why})):
        (finding,) = found
        assert str(finding).startswith("piezo of pad 2: noisy")
    assert judge_pads(noise=NOISY_COUNTS) == ()


def test_hum_of_pad_is_named_as_hum():
    (finding,) = judge_pads(faults={2: HUM})
    assert str(finding).startswith("piezo of pad 2: hum of the mains")


@pytest.mark.parametrize("sensor", ["piezo", "fsr"])
@pytest.mark.parametrize("why", ["silent", "feeling nothing"])
def test_pad_without_signal_is_silent(sensor, why):
    (finding,) = judge_pads(faults={2: why}, sensor=sensor)
    assert str(finding) == "piezo of pad 2: silent: no signal"


def test_samples_missing_are_no_fault_of_pad():
    assert judge_pads(faults={2: "samples are missing"}) == ()


@pytest.mark.parametrize("rest", [-848.0, 752.0])  # the limits of rest_counts in hardware/circuits.toml
def test_force_sensor_may_rest_off_the_middle(rest):
    assert judge_pads(rest=rest, sensor="fsr") == ()
    assert len(judge_pads(rest=rest)) == 1
    (finding,) = judge_pads(rest=-2048.0, sensor="fsr")
    assert "it rests at ground" in finding.message


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"faults": [StripFault(4, 2, "silent")]}, "dead"),
        ({"faults": [StripFault(4, 2, "stuck")]}, "stuck"),
        ({"faults": [StripFault(4, 2, "restless")]}, "jump"),
        ({"still": True}, "stuck"),
        ({"rest": 1001.0}, "no strip at this input"),
        ({"pf": 8.0}, "only 8 pF"),
        ({"noise": NOISY_STRIP_COUNTS + 0.1}, "noisy"),
    ],
)
def test_strip_fault_is_named_alone(given, word):
    (finding,) = judge_strips(**given)
    assert finding.name == "touch strip 12 (pad 4, hitter)"
    assert word in finding.message
    assert finding.hint
    assert judge_strips(noise=NOISY_STRIP_COUNTS) == ()


@pytest.mark.parametrize(
    "pf",
    [
        [np.nan] * 12,
        [60.0] * 12,
        [45.0, 90.0, 45.0] * 4,
        [50.0, 50.0, 50.0, 60.0, 60.0, 60.0, 70.0, 70.0, 70.0, 80.0, 80.0, 80.0],
        [np.nan, 150.0, *[60.0] * 10],
        [150.0, 110.0, *[60.0] * 10],
    ],
)
@pytest.mark.filterwarnings("error")
def test_normal_or_unknown_capacitance_is_no_short(pf):
    assert find_shorted_strips(np.array(pf).reshape(4, 3)) == {}


def test_noise_of_all_magnetometers_is_named():
    assert judge_magnetometers(noise=NOISY_MAGNETOMETER_UT) == ()
    assert {finding.message for finding in judge_magnetometers(noise=NOISY_MAGNETOMETER_UT + 0.1)} == {"noisy"}


@pytest.mark.parametrize(
    ("why", "word"), [("silent", "dead"), ("rail", "at its rail"), ("stuck", "stuck"), ("noisy", "noisy")]
)
def test_magnetometer_fault_is_named_alone(why, word):
    (finding,) = judge_magnetometers(faults={6: why})
    assert finding.name.startswith("magnetometer 7 (")
    assert word in finding.message


def test_silent_multiplexers_replace_their_magnetometers():
    found = judge_magnetometers(share=0.0)
    assert [finding.name for finding in found] == ["multiplexer 0x70", "multiplexer 0x71", "multiplexer 0x72"]
    assert judge_magnetometers(share=0.0, built=np.zeros(24, bool)) == ()
    assert len(judge_magnetometers(share=0.4)) == 24


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        ({}, ""),
        ({1: 300, 2: 300}, ""),
        ({1: 300, 2: 85}, "no disc"),
        ({1: 300, 2: 0}, "short"),
        ({1: 300, 2: wire.NOT_SWITCHED}, "does not follow"),
        ({1: wire.NOT_SWITCHED, 2: wire.NOT_SWITCHED}, ""),
        ({1: 0, 2: wire.NOT_SWITCHED}, ""),
    ],
)
def test_disc_is_judged_by_bias_steps(steps, word):
    found = explain_step(2, steps)
    assert (found is None) == (not word)
    if found is not None:
        assert word in found[0]
        assert found[1]
