"""The perfboard: what its wires join is the circuit, every part stands on it once, and no hole has two leads."""

from __future__ import annotations

from collections import Counter

import nets
import perfboard
from values import values

from pi_controller.pinmap import pinmap

PADS = range(1, pinmap().pads.count + 1)


def test_wires_join_exactly_the_circuit():
    assert perfboard.joined() == {frozenset(pins) for pins in nets.perfboard_nets().values()}


def test_each_hole_has_one_lead_on_board():
    holes = Counter(at for part in perfboard.parts() for _, at in part.leads)
    assert max(holes.values()) == 1
    assert all(0 <= x < perfboard.COLUMNS and 0 <= y < perfboard.ROWS for x, y in holes)
    assert perfboard.CUT_MM[0] > (perfboard.COLUMNS - 1) * perfboard.PITCH_MM
    assert (perfboard.ROWS - 1) * perfboard.PITCH_MM < perfboard.CUT_MM[1] <= 90 / 2


def test_each_circuit_part_is_on_perfboard_once():
    v, pads = values(), len(PADS)
    circuits = ((v.piezo, pads), (v.passive, pads), (v.op_amp, 1), (v.bus, 1))
    said = Counter({c.label(name): 0 for c, _ in circuits for name in c.parts if name != "disc"})
    for circuit, times in circuits:
        for name in circuit.parts:
            if name != "disc":
                said[circuit.label(name)] += times
    assert Counter(part.said for part in perfboard.parts() if part.name[0] != "J") == said


def test_chip_has_dip_14_pins():
    assert [perfboard.CHIP[pin] for pin in (1, 7, 8, 14)] == [(20, 5), (20, 11), (23, 11), (23, 5)]
    assert (perfboard.RIGHT - perfboard.LEFT) * perfboard.PITCH_MM == 7.62
