"""The netlist that boards are made by is the circuit that ngspice simulates and the pin map names."""

from __future__ import annotations

import bus
import meter
import netlists
import nets
import pytest
from values import HARDWARE, values

from pi_controller.pinmap import pinmap

SPICE = {"Rhigh": "R1", "Rlow": "R3", "Rseries": "R2", "Rpole": "R4", "Csmooth": "C1", "Cpole": "C2", "Dup": "D1"}
SPICE |= {"Ddown": "D2", "Rgain": "R10", "Rback": "R11", "Cback": "C5", "Chold": "C6"}


def simulated(kind: netlists.Input) -> dict[str, tuple[str, str]]:
    """Return each part of the simulated piezo input with the nodes of its two leads."""
    found = {}
    for line in netlists.piezo(values(), kind):
        name, *nodes = line.split()
        if name in SPICE:
            # an ammeter is between D1 and the supply; a diode's first node is its anode, our lead b
            one, other = ("vdd" if node == "up" else node for node in nodes[:2])
            found[SPICE[name]] = (other, one) if name[0] == "D" else (one, other)
    return found


def node_of(lead: str, found: dict[str, set[str]]) -> str:
    (net,) = [name for name, pins in found.items() if lead in pins]
    return net


@pytest.mark.parametrize(("kind", "count"), [("passive", 8), ("amplifier", 12)])
def test_every_pads_input_is_the_simulated_one(kind, count):
    found, there = nets.piezo_nets(kind), simulated(kind)
    assert len(there) == count
    for pad, gpio in zip(nets.pads(), pinmap().board.adc_pins, strict=True):
        names = {
            "vdd": "3V3",
            "bias": nets.BIAS,
            "0": "GND",
            "disc": f"disc {pad}",
            "node": f"node {pad}",
            "plus": f"plus {pad}",
            "minus": f"minus {pad}",
            "hold": f"hold {pad}",
            "adc": f"GPIO{gpio}",
        }
        for part, ends in there.items():
            here = [node_of(f"{part}.{pad} {lead}", found) for lead in "ab"]
            wanted = [names[end] for end in ends]
            assert here == wanted if part[0] == "D" else sorted(here) == sorted(wanted), part


def test_pad_amplifier_drives_its_adc_pin():
    perfboard, printed = nets.perfboard_nets(), nets.board_nets()
    for pad, gpio in zip(nets.pads(), pinmap().board.adc_pins, strict=True):
        out, minus, plus = nets.AMPLIFIERS[pad]
        assert perfboard[f"GPIO{gpio}"] == {f"U1 {out}", f"U1 {minus}", f"J5 GPIO{gpio}"}
        assert printed[f"GPIO{gpio}"] == {f"U1 {out}", f"R11.{pad} a", f"C5.{pad} a", f"U3 {gpio}"}
        assert f"U1 {minus}" in printed[f"minus {pad}"]
        for found in (perfboard, printed):
            assert f"U1 {plus}" in found[f"plus {pad}"]
    assert sorted(pin for pins in nets.AMPLIFIERS.values() for pin in pins) == [
        *range(1, 4),
        *range(5, 11),
        *range(12, 15),
    ]


def test_a_lead_is_in_one_net():
    for found in (nets.perfboard_nets(), nets.board_nets()):
        leads = [lead for pins in found.values() for lead in pins]
        assert len(leads) == len(set(leads))
        assert min(map(len, found.values())) >= 2


def test_each_electrode_reaches_its_pin_map_strip():
    strips, found = pinmap().touch.strips, nets.board_nets()
    for pad in nets.pads():
        for i, strip in enumerate(strips):
            n = (pad - 1) * len(strips) + i
            assert found[f"strip {n}"] == {f"J{11 + pad} {strip}", f"R9.{n} a"}
            assert found[f"ELE{n}"] == {f"R9.{n} b", f"J11 ELE{n}"}


def test_the_shifters_inputs_are_none_of_them_open():
    joined = {lead for pins in nets.board_nets().values() for lead in pins}
    unused_outputs = {"U2 6", "U2 8", "U2 11"}
    assert {f"U2 {pin}" for pin in range(1, 15)} - joined == unused_outputs


def test_the_checklists_readings_are_the_circuits():
    assert meter.table() in (HARDWARE / "CHECKLIST.md").read_text("utf-8"), "run python hardware/drawings/meter.py"


def test_boards_read_alike_and_turned_plug_reads_open():
    both = [meter.board_resistors(found) for found in (nets.perfboard_nets(), nets.board_nets())]
    for red, black in ((nets.BIAS, "GND"), ("SDA", "3V3"), ("SCL", "3V3")):
        one, other = (meter.resistance(resistors, red, black) for resistors in both)
        assert one == pytest.approx(other, rel=1e-4)
    turned = [meter.resistance(found, *ends) for found in both for ends in (("SCL", "GND"), ("3V3", "GND"))]
    assert {meter.describe_reading(ohm) for ohm in turned} == {"open"}
    assert "there the meter reads open" in " ".join((HARDWARE / "CHECKLIST.md").read_text("utf-8").split())


def test_resistances_are_those_of_a_known_network():
    bridge = [("a", "b", 1e3), ("b", "d", 2e3), ("a", "c", 2e3), ("c", "d", 1e3), ("b", "c", 1e3)]
    assert meter.resistance(bridge, "a", "d") == pytest.approx(1400)
    assert meter.resistance(bridge, "a", "nowhere") > 1e10
    pads = len(nets.pads())
    passive = values().passive
    assert meter.resistance(meter.board_resistors(nets.perfboard_nets()), nets.BIAS, "GND") == pytest.approx(
        (passive["bias_high_ohm"] + passive["bias_low_ohm"]) / pads, rel=1e-3
    )


def test_separate_multiplexer_cables_fit_bus_length():
    more = sum(bus.star_m(values())) - sum(bus.trunk_m(values()))
    assert 0 < more < bus.spare_m(values()) / 2
    assert f"{more:.1f} m more" in (HARDWARE / "circuits.md").read_text("utf-8")
