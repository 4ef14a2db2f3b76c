"""What a board says of itself, in the doctor's words: its start, its self test, and what it noticed before."""

import pytest
from board_faults import parse_fault

from pi_controller.board.messages import BoardEvent, LinkUp
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.listening import SimListening
from pi_controller.tools import doctor_checks

ALL_MAGNETOMETERS = (1 << 24) - 1
SEEN_ALL = (1 << 5) - 1


def up(reason="power", boots=7):
    return LinkUp(1.0, "E66", "0.4.0", boots, reason, pads=4)


def ears(*told, reason="power", **kept):
    heard = SensorListener(Detectors(StrikeSettings()), **kept)
    heard.take([up(reason), *told])
    return heard


def lines(heard):
    return {line.name: line for line in doctor_checks.board_events(heard)}


def event(kind, part=0, value=0, *, number=1, t=2.0, lost=0):
    return BoardEvent(t, number, kind, part, value, lost)


GOOD = event("tested", SEEN_ALL, ALL_MAGNETOMETERS)


def test_the_names_are_those_of_the_lines():
    assert tuple(lines(ears(GOOD))) == doctor_checks.EVENTS


@pytest.mark.parametrize("reason", [*doctor_checks.STARTS, "unknown"])
def test_why_it_started(reason):
    line = lines(ears(GOOD, reason=reason))["start"]
    assert line.outcome == "pass"
    assert line.message.startswith("its 7., ")
    assert doctor_checks.STARTS.get(reason, reason) in line.message


def test_repeated_brown_out_fails_with_supply_remedy():
    line = lines(ears(GOOD, event("brown-out", 0, 4)))["start"]
    assert line.outcome == "fail"
    assert "4 times" in line.message
    assert "supply" in line.hint


def test_self_test_ignores_parts_with_own_line():
    silent = event("tested", SEEN_ALL, ALL_MAGNETOMETERS - (1 << 4))
    line = lines(ears(silent, without="left out"))["self test"]
    assert line.outcome == "pass", "nobody asked for magnetometers"
    heard = SensorListener(Detectors(StrikeSettings()))
    with SimListening(2, faults=[parse_fault("dead-magnetometer=5")]) as sim:
        sim.connection.session.request_self_test()
        while sim.t < LISTEN_S:
            heard.take(sim.tick())
        line = lines(heard)["self test"]
        assert line.outcome == "pass"
        assert "listed separately" in line.message


def test_self_test_from_earlier_link_is_ignored():
    line = lines(ears(event("tested", SEEN_ALL, ALL_MAGNETOMETERS, t=0.5)))["self test"]
    assert line.outcome == "fail"
    assert "does not report" in line.message


def test_earlier_events_are_newest_first_with_counts():
    told = [
        event("late", value=120_000, number=2),
        event("touch silent", number=3),
        event("late", value=120_000, number=4),
    ]
    found = lines(ears(GOOD, *told))["events"].message
    assert found.index("(2 times)") < found.index("touch chip")
    assert "self test" not in found


def test_slow_board_fails_pace_with_remedy():
    assert lines(ears(GOOD))["pace"].outcome == "pass"
    found = lines(ears(GOOD, event("slow", value=52, number=2)))
    assert found["pace"].outcome == "fail"
    assert "52 %" in found["pace"].message
    assert "flash" in found["pace"].hint
    assert "52" not in found["events"].message
    assert lines(ears(GOOD, event("slow", value=52, number=2, t=0.5)))["pace"].outcome == "pass", "that was before"


def test_lost_events_are_counted():
    assert "5 more were lost" in lines(ears(GOOD, event("bus stuck", number=9, lost=5)))["events"].message


@pytest.mark.parametrize("kept", [{"hidden": True}, {"without": "the judge confirms the bead"}])
def test_magnetometer_faults_are_omitted_during_a_hide(kept):
    told = [event("magnetometer silent", 11, number=2), event("tested", SEEN_ALL, 1 << 3, number=3)]
    found = lines(ears(GOOD, *told, **kept))
    assert found["events"].message == "only its start"
    assert found["self test"].outcome == "pass"
    assert "agnetometer" not in "".join(line.message + line.hint for line in found.values())
    assert "Magnetometer 11" in lines(ears(GOOD, *told))["events"].message
