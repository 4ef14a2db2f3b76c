"""The perfboard: what its wires join is the circuit, every part stands on it once, and no hole has two leads."""

from __future__ import annotations

from collections import Counter

import perfboard
from values import values

from pi_controller.pinmap import pinmap

PADS = range(1, pinmap().pads.count + 1)


def wanted() -> set[frozenset[str]]:
    """The nets of the circuits [piezo], [passive], [op_amp] and [bus]."""
    buses = ("J6", "J7", "J8")
    nets = {
        "3V3": {"U1 4", "C3 a", "J5 3V3", "R5 b", "R6 b", *(f"{j} 3V3" for j in buses)},
        "GND": {"U1 11", "C3 b", "J5 GND", *(f"{j} GND" for j in buses)},
        "SDA": {"R5 a", *(f"{j} SDA" for j in buses)},
        "SCL": {"R6 a", *(f"{j} SCL" for j in buses)},
    }
    for pad, gpio in zip(PADS, pinmap().board.adc_pins, strict=True):
        out, minus, plus = perfboard.AMPLIFIERS[pad]
        nets["3V3"] |= {f"R1.{pad} a", f"D1.{pad} a"}  # a diode's first lead is its cathode
        nets["GND"] |= {f"R3.{pad} b", f"D2.{pad} b", f"C1.{pad} b", f"C2.{pad} b", f"J{pad} gnd"}
        nets[f"disc {pad}"] = {f"J{pad} in", f"R1.{pad} b", f"R3.{pad} a", f"R2.{pad} a"}
        nets[f"node {pad}"] = {f"R2.{pad} b", f"D1.{pad} b", f"D2.{pad} a", f"C1.{pad} a", f"R4.{pad} a"}
        nets[f"plus {pad}"] = {f"R4.{pad} b", f"C2.{pad} a", f"U1 {plus}"}
        nets[f"adc {pad}"] = {f"U1 {out}", f"U1 {minus}", f"J5 GPIO{gpio}"}
    return {frozenset(net) for net in nets.values()}


def test_the_wires_join_what_the_circuit_joins_and_nothing_else():
    assert perfboard.joined() == wanted()


def test_a_hole_has_one_lead_and_is_on_the_board():
    holes = Counter(at for part in perfboard.parts() for _, at in part.leads)
    assert max(holes.values()) == 1
    assert all(0 <= x < perfboard.COLUMNS and 0 <= y < perfboard.ROWS for x, y in holes)
    assert perfboard.CUT_MM[0] > (perfboard.COLUMNS - 1) * perfboard.PITCH_MM
    assert (perfboard.ROWS - 1) * perfboard.PITCH_MM < perfboard.CUT_MM[1] <= 90 / 2


def test_every_part_of_the_circuits_stands_on_it_once():
    v, pads = values(), len(PADS)
    circuits = ((v.piezo, pads), (v.passive, pads), (v.op_amp, 1), (v.bus, 1))
    said = Counter({c.label(name): 0 for c, _ in circuits for name in c.parts if name != "disc"})
    for circuit, times in circuits:
        for name in circuit.parts:
            if name != "disc":
                said[circuit.label(name)] += times
    assert Counter(part.said for part in perfboard.parts() if part.name[0] != "J") == said


def test_the_chip_has_the_pins_of_a_dip_14():
    assert [perfboard.CHIP[pin] for pin in (1, 7, 8, 14)] == [(20, 5), (20, 11), (23, 11), (23, 5)]
    assert (perfboard.RIGHT - perfboard.LEFT) * perfboard.PITCH_MM == 7.62
