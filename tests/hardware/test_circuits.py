"""The circuits: what ngspice says of them lies within their limits, and the drawings are those of their values."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import bus
import circuits
import fsr_mat
import harness
import msgspec
import netlists
import numpy as np
import parts
import pytest
import simulate
from board_faults import RESTS
from needed import need
from values import HARDWARE, Circuit, engineering, values

from pi_controller.board import wire
from pi_controller.pinmap import pinmap
from pi_controller.sensing.piezo_diagnosis import (
    MIDDLE_COUNTS,
    MIN_DISC_MS,
    OFF_REST_COUNTS,
    classify_rest,
    explain_step,
)
from pi_controller.simulation import pad_bias
from pi_controller.simulation.portable_files import modules

V = values()
NAMES = [(name, figure) for name in ("passive", "amplifier", "fsr", "bus") for figure in V.limits_of(name)]


@pytest.fixture(scope="module")
def ngspice():
    """Need an ngspice."""
    need(simulate.available(), "there is no ngspice on the path")


@pytest.fixture(scope="module")
def figures(ngspice):
    found = simulate.figures(V)
    print("\n" + simulate.table(found))
    return {(one.circuit, one.name): one for one in found}


def test_figures_and_limits_match_one_to_one(figures):
    assert set(figures) == set(NAMES)


@pytest.mark.parametrize(("circuit", "name"), NAMES)
def test_circuit_figure_is_within_limits(figures, circuit, name):
    one = figures[circuit, name]
    assert one.low <= one.value <= one.high


def changed(circuit: str, **parts: float):
    one = V.circuit(circuit)
    return msgspec.structs.replace(V, **{circuit: Circuit(one.title, one.each, one.parts | parts)})


@pytest.fixture(scope="module")
def rests(ngspice):
    found = simulate.fault_rests(V)
    print("\n" + simulate.rest_table(found))
    return found


def test_a_fault_rests_alike_behind_the_amplifier(rests):
    for fault, amplified in simulate.fault_rests(V, "amplifier").items():
        assert amplified == pytest.approx(rests[fault], abs=1), fault


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("disc or wire shorted to ground", "rail"),
        ("disc or wire shorted to 3.3 V", "rail"),
        ("no R1", "rail"),
        ("no R3", "rail"),
        ("D1 reversed", "diode"),
        ("D2 reversed", "diode"),
        *((f"{name} {ohm} kΩ", "bias") for name in ("R1", "R3") for ohm in (10, 33, 330)),
    ],
)
def test_the_rest_level_tells_a_wiring_fault(rests, fault, cause):
    assert rests.keys() == netlists.FAULTS.keys()
    for counts in rests[fault]:
        assert classify_rest(counts - MIDDLE_COUNTS) == cause


def test_sound_pad_rests_within_doctor_limits(figures):
    for kind in netlists.INPUTS:
        for name in ("rest_counts", "rest_worst_counts"):
            assert classify_rest(figures[kind, name].value - MIDDLE_COUNTS) == ""


def test_the_simulated_board_rests_as_the_circuit(rests):
    assert {
        "shorted-disc": pytest.approx(rests["disc or wire shorted to ground"][0], abs=1),
        "reversed-diode": pytest.approx(rests["D2 reversed"][0], abs=1),
        "wrong-bias": pytest.approx(rests["R3 10 kΩ"][0], abs=1),
    } == RESTS


@pytest.mark.parametrize("kind", netlists.INPUTS)
def test_doctor_finds_missing_disc_by_rise_time(figures, kind):
    limits = V.limits_of(kind)
    assert limits["rise_open_ms"][1] < MIN_DISC_MS < limits["rise_small_ms"][0]
    for cable_farad in (100e-12, 1e-9):  # a long cable without its disc
        assert 1e3 * simulate.rise_s(V, kind, cable_farad) < MIN_DISC_MS
    worn = 0.4 * V.model["disc"]["farad"]
    assert 1e3 * simulate.rise_s(V, kind, worn) > MIN_DISC_MS


@pytest.mark.parametrize("farad", [0.0, 14e-9, 20e-9, 26e-9])
def test_the_simulated_board_rises_as_the_circuit(ngspice, farad):
    p, q = V.piezo, V.passive
    assert (q["bias_high_ohm"], q["bias_low_ohm"]) == (pad_bias.BIAS_OHM, pad_bias.BIAS_OHM)
    assert (p["series_ohm"], p["smooth_farad"]) == (pad_bias.SERIES_OHM, pad_bias.SMOOTH_FARAD)
    assert (q["pole_ohm"], q["pole_farad"]) == (pad_bias.POLE_OHM, pad_bias.POLE_FARAD)
    bias = pad_bias.Bias(1)
    assert (bias.farads >= 0.7 * pad_bias.DISC_FARAD).all()
    assert (bias.farads <= 1.3 * pad_bias.DISC_FARAD).all()
    bias.farads[1] = farad
    bias.switch(on=False, t=0.0)
    bias.switch(on=True, t=0.03)
    t = np.arange(0.0, 0.02, 1e-6)
    level = bias.levels(0.03 + t)[:, 1]
    assert level[0] == pytest.approx(0.0, abs=1e-6)
    assert t[np.argmax(level >= 0.9)] - t[np.argmax(level >= 0.1)] == pytest.approx(
        simulate.rise_s(V, "passive", farad), rel=0.04
    )


class BoardOnCurves:
    """A board whose pads have the levels of ngspice (`curves`: a time axis and volts each) as it switches its bias."""

    SAMPLE_HZ, BLOCK = pinmap().board.sample_hz, pinmap().board.block_samples
    LATE_S = 1.3e-3

    def __init__(self, curves):
        self.curves, self.told, self.off_s, self.now_s = curves, {}, None, 0.0
        self.step = modules()["guards"].BiasStep(self, self.told.__setitem__)

    def bias(self, on):
        if not on:
            self.off_s = self.now_s

    def run(self, blocks=24):
        """Give the self-test its blocks and return what it tells of each pad, ms."""
        self.step.begin()
        for n in range(blocks):
            t = (n * self.BLOCK + np.arange(self.BLOCK) + 0.5) / self.SAMPLE_HZ
            since = 0.0 * t if self.off_s is None else t - self.off_s + netlists.START_S
            volts = np.array([np.interp(since, *curve) for curve in self.curves]).T
            sums = np.rint(wire.READINGS * simulate.counts(V, volts))
            self.now_s = (n + 1) * self.BLOCK / self.SAMPLE_HZ + self.LATE_S
            if self.step.busy:
                self.step.hold(bytearray(sums.astype("<u2").tobytes()), n)
        return [wire.disc_ms(self.told[pad + 1]) for pad in range(len(self.curves))]


@pytest.mark.parametrize("kind", netlists.INPUTS)
@pytest.mark.slow
def test_the_firmware_measures_the_rise_of_each_input(ngspice, kind):
    farads = (0.0, 14e-9, 20e-9, 26e-9)
    curves = [simulate.run(netlists.bias_step(V, kind, farad), "tran 5u 200m 0 20u", "v(adc)") for farad in farads]
    board = BoardOnCurves(curves)
    assert board.run() == pytest.approx([1e3 * simulate.rise_s(V, kind, farad) for farad in farads], abs=0.15)
    assert [explain_step(pad, board.told) is None for pad in (1, 2, 3, 4)] == [False, True, True, True]


def test_simulated_bias_off_time_matches_firmware():
    source = (HARDWARE.parent / "firmware" / "guards.py").read_text("utf-8")
    (blocks,) = re.findall(r"^LOW_BLOCKS = (\d+)", source, re.MULTILINE)
    assert int(blocks) * pinmap().board.block_samples / pinmap().board.sample_hz == netlists.BIAS_OFF_S


def test_without_clamps_the_pin_would_be_lost(ngspice):
    netlist = [
        line for line in netlists.piezo(V, "passive", netlists.ring(V, 20.0)) if not line.startswith(("Dup", "Ddown"))
    ]
    assert simulate.run(netlist, "tran 5u 10m", "v(plus)")[1].max() > V.supply_volt + V.model["op_amp"]["beyond_volt"]


def test_a_netlist_that_cannot_be_run_says_so(ngspice):
    with pytest.raises(simulate.SimulationError, match="netlist"):
        simulate.run(["Rone adc nowhere nonsense"], "tran 5u 1m", "v(nothing)")


def test_the_force_sensors_divider_is_the_simulated_mats():
    assert V.fsr["divider_ohm"] == fsr_mat.PLATE.divider_ohm


def test_doctor_refuses_good_pads_without_followers():
    least = simulate.bare_rest_counts(V)
    assert least == pytest.approx(948, abs=0.5), "circuits.md says 948"
    assert simulate.bare_rest_counts(V, 10e6) == pytest.approx(2024, abs=0.5)
    assert least < V.limits["both"]["rest_counts"][0]


def test_follower_survives_slam_voltage():
    assert V.limits["both"]["slam_high_volt"][1] <= V.supply_volt + V.model["op_amp"]["beyond_volt"]
    assert V.limits["both"]["slam_low_volt"][0] >= -V.model["op_amp"]["beyond_volt"]


def test_the_light_builds_bus_needs_its_pull_ups():
    assert bus.light_line(V, bare=True).rise_s == pytest.approx(322e-9, abs=0.5e-9)
    assert bus.light_line(V).rise_s == pytest.approx(103e-9, abs=0.5e-9)
    assert "bus" in parts.values().circuits["light"]


def test_data_and_clock_are_apart_in_ribbon():
    data, clock = harness.FIELD.index("SDA"), harness.FIELD.index("SCL")
    assert abs(data - clock) > 1
    still = {"3V3", "GND"}
    for at in (data, clock):
        assert still & {harness.FIELD[n] for n in (at - 1, at + 1) if 0 <= n < len(harness.FIELD)}


def test_the_bus_keeps_the_standard_in_every_state():
    m, found = V.model["bus"], bus.lines(V)
    assert len(found) == 1 + len(pinmap().magnetometer_positions())
    assert pinmap().board.i2c["hz"] == 400_000, "the limits below are those of 400 kHz"
    for line in found:
        assert line.rise_s <= m["rise_s"], line.name
        assert line.farad <= m["most_farad"], line.name
        assert V.supply_volt - m["low_volt"] <= m["sink_amp"] * line.ohm, line.name
    weak = changed("bus", data_pullup_ohm=1e6, clock_pullup_ohm=1e6)
    assert max(line.rise_s for line in bus.lines(weak)) > m["rise_s"], "the modules' own pull-ups alone are too weak"


def test_multiplexers_are_near_their_sensors():
    assert max(bus.sensor_m(V).values()) < 0.7
    assert len(V.harness.muxes_mm) == len(pinmap().board.tca9548a_addresses)


def test_limits_match_chips_and_firmware():
    adc = V.model["adc"]
    assert V.limits["both"]["slam_high_volt"][1] <= adc["highest_volt"]
    assert V.limits["both"]["slam_low_volt"][0] >= adc["lowest_volt"]
    middle = 2 ** (pinmap().board.adc_bits - 1)
    assert V.limits["both"]["rest_counts"] == (middle - OFF_REST_COUNTS, middle + OFF_REST_COUNTS)
    assert V.limits["both"]["corner_hz"][1] <= pinmap().board.sample_hz / 2


@pytest.mark.parametrize(("kind", "node"), [("passive", "v(plus)"), ("amplifier", "v(adc)")])
@pytest.mark.slow
def test_stroke_clips_above_largest_unclipped_level(ngspice, kind, node):
    whole = dict(simulate.piezo_figures(V, kind))["whole_volt"]
    room = 0.06 if kind == "amplifier" else 0.0  # its output comes softly to its rails
    for share, inside in ((0.95, True), (1.1, False)):
        level = simulate.run(netlists.piezo(V, kind, netlists.ring(V, share * whole)), "tran 5u 10m", node)[1]
        assert (level.min() > room and level.max() < V.supply_volt - room) == inside


@pytest.mark.parametrize("name", circuits.DRAWINGS)
def test_a_drawing_is_that_of_its_values(name):
    path = circuits.HERE / f"circuit-{name}.svg"
    assert path.read_text("utf-8") == circuits.drawn_one(V, name), "run python hardware/drawings/circuits.py"


def test_other_xml_writers_do_not_change_a_drawing():
    before = circuits.drawn_one(V, "piezo")
    ElementTree.register_namespace("", "")  # as WeasyPrint does when it is imported
    assert circuits.drawn_one(V, "piezo") == before


def test_a_drawing_follows_its_values():
    assert "47 kΩ" in circuits.drawn_one(changed("piezo", series_ohm=47e3), "piezo")


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [(33e3, "Ω", "33 kΩ"), (10e6, "Ω", "10 MΩ"), (330.0, "Ω", "330 Ω"), (3.3e-9, "F", "3.3 nF"), (1e-3, "F", "1000 µF"),
     (220e-12, "F", "220 pF"), (1e3, "Ω", "1 kΩ"), (1e-7, "F", "100 nF")],
)  # fmt: skip
def test_values_are_formatted_in_engineering_notation(value, unit, said):
    assert engineering(value, unit) == said


def test_circuits_page_matches_simulated_figures(figures):
    page = " ".join((circuits.HERE.parent / "circuits.md").read_text("utf-8").split())
    value = {key: figure.value for key, figure in figures.items()}
    assert f"simulates {len(figures)} figures" in page
    for said, unit, found in (
        (r"strokes above ([\d.]+) V are clipped", 1, value["passive", "whole_volt"]),
        (r"clip those above ([\d.]+) V", 1, value["amplifier", "whole_volt"]),
        (r"Wait ([\d.]+) s between", 1000, value["amplifier", "start_ms"]),
        (r"may be ([\d.]+) m longer", 1, value["bus", "spare_m"]),
        (r"never below (\d+) Ω in all", 1, V.limits_of("bus")["pullup_ohm"][0]),
    ):  # another ngspice may round otherwise
        assert float(re.search(said, page)[1]) * unit == pytest.approx(found, rel=0.05, abs=0.05), said
