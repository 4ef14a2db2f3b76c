"""A wire that turns bits over and loses bytes, and a board that is broken, starves or is of another day."""

import fault_lab
import pytest
from cable import Cable
from cases import cases
from fault_kinds import FAULTS

HIDES = cases(4, 6)
"""So many are played; the fault comes in the second."""
GAME = 8
"""The seed of a game in whose first hides nobody pauses after tidying the pads: the mat has no other reason to ask."""
HIT = "The mat was disconnected for a moment. Was there a hit?"


def done(name, tmp_path):
    outcome = fault_lab.run(FAULTS[name], GAME, tmp_path, HIDES)
    assert outcome.winner is not None or outcome.hides >= HIDES
    assert outcome.invented == []
    assert outcome.lost == []
    assert outcome.wrong == []
    return outcome


@pytest.mark.parametrize("name", ["bit errors 1e-4, 20 s", "1 byte in 10,000 lost, 20 s"])
@pytest.mark.slow
def test_bit_errors_and_lost_bytes_invent_no_hit(name, tmp_path):
    outcome = done(name, tmp_path)
    assert outcome.shows(HIT)
    assert outcome.questions["link_gap"] > 0


@pytest.mark.slow
def test_a_board_that_was_reset(tmp_path):
    outcome = done("the board's watchdog resets it", tmp_path)
    assert "The board started (watchdog)." in outcome.reports
    assert outcome.seen_s <= 1.1
    assert outcome.back_s <= 3.0


def test_other_major_firmware_is_reported_and_judge_continues(tmp_path):
    outcome = done("firmware of another major", tmp_path)
    assert any(line.endswith("copies the right firmware to it.") for line in outcome.sees)
    assert outcome.back_s is None
    assert outcome.entered > 0


@pytest.mark.slow
def test_dead_magnetometer_is_unreported_while_bead_is_hidden(tmp_path):
    outcome = done("one magnetometer dies", tmp_path)
    assert outcome.sees == []
    assert outcome.reports == []
    assert outcome.questions == {}


@pytest.mark.slow
def test_a_piezo_at_its_rail_is_the_judges(tmp_path):
    outcome = done("one pad's ADC input at its rail", tmp_path)
    assert outcome.shows("The mat does not feel hits on pad 3: the judge enters them.")
    assert "The piezo of pad 3 is at its rail." in outcome.reports


@pytest.mark.slow
def test_a_bus_that_hangs_calls_no_foul(tmp_path):
    done("the I2C bus hangs, 10 s", tmp_path)


@pytest.mark.parametrize(
    "name", ["brown-outs, every 300 ms for 10 s", "restarts without hanging up, every 300 ms for 10 s"]
)
@pytest.mark.slow
def test_a_board_that_keeps_starting(name, tmp_path):
    outcome = done(name, tmp_path)
    assert outcome.downs > 3
    assert outcome.back_s <= 3.0


def test_cable_corrupts_at_its_set_error_rates():
    with Cable(1) as cable:
        assert cable.corrupt(bytes(1000)) == bytes(1000)
        cable.set_error_rates(bit_errors=0.01)
        flipped = sum(byte.bit_count() for byte in cable.corrupt(bytes(10_000)))
        assert flipped == cable.flips
        assert 600 < flipped < 1000
        cable.set_error_rates(byte_loss=0.01)
        assert len(cable.corrupt(bytes(10_000))) == 10_000 - cable.leaked
        assert 50 < cable.leaked < 200
