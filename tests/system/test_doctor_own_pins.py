"""What the doctor says of a table without the board: which kind, how often it reads, and that it is slower."""

import numpy as np
from pins_world import PinsWorld

from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import SensorListener
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.tools import pin_checks


def looked_at(pins, seconds=4.0):
    ears = SensorListener(Detectors(StrikeSettings()), without="none")
    while pins.world.t < seconds:
        ears.take(pins.tick())
    return {line.name: line for line in [*pin_checks.sensors(pins.source, ears), *ears.lines()]}


def test_working_own_pins_table_passes():
    lines = looked_at(PinsWorld(1, 1040.0, Conditions.drums()))
    assert [line for line in lines.values() if line.outcome == "fail"] == []
    assert "slower than the board" in lines["kind"].message
    told = lines["samples"].message
    rate = int(told.split()[0].replace(",", ""))
    assert told.startswith(f"{rate:,} samples a second for each pad; the board gives 4,000; resampled to 1,000")
    assert abs(rate - 1040) < 25
    assert lines["touch chip"].outcome == "pass"
    assert {line.outcome for name, line in lines.items() if "magnet" in name} == {"not here"}


def test_quiet_disc_at_ten_bits_passes():
    lines = looked_at(PinsWorld(2, conditions=Conditions(adc_noise_lsb=0.1)))
    piezos = [line for name, line in lines.items() if name.startswith("piezo")]
    assert {line.outcome for line in piezos} == {"pass"}
    assert any("tap the pad" in line.message for line in piezos)


def test_missing_or_slow_pins_fail_with_remedy():
    pins = PinsWorld(3)
    pins.there = False
    lines = looked_at(pins, 2.0)
    assert (lines["port"].outcome, lines["port"].hint) == ("fail", "turn SPI on")
    assert lines["samples"].outcome == "not here"
    lines = looked_at(PinsWorld(4, 800.0), 2.0)
    assert lines["port"].message == "the piezos are read too slowly to feel strikes"
    assert "970 are needed" in lines["port"].hint


def test_silent_touch_chip_and_stalled_readings_fail():
    pins = PinsWorld(5)
    pins.touch.there = False
    pins.stalls = [(t, t + 0.01) for t in np.arange(1.0, 4.0, 0.2)]
    lines = looked_at(pins)
    assert "0x5A" in lines["touch chip"].message
    assert lines["touch chip"].hint
    assert lines["losses"].outcome == "fail"
    assert "stop other programs" in lines["losses"].hint
