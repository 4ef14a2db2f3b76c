"""Which pins the circuits of a mat join: one netlist for the perfboard, the printed board and the check with a meter.

A pin is a part's name and its lead ("R1.2 a": resistor R1 of pad 2; "U1 4"). A diode's lead `a` is its cathode. The
piezo part is compared with the netlist that ngspice simulates (`netlists.py`) by a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netlists import Input

    Nets = dict[str, set[str]]

AMPLIFIERS = {1: (1, 2, 3), 2: (7, 6, 5), 3: (8, 9, 10), 4: (14, 13, 12)}
"""Pad -> output, inverting and other input of its amplifier in U1; 4 is the supply, 11 ground."""
BIAS = f"GPIO{pinmap().board.bias_pin}"
"""The pin that feeds the bias resistors R1."""
BUS_PINS = ("SDA", "3V3", "GND", "SCL")
SUPPLIES = ("3V3", "GND", "5V strip")
SHIFTER_LOW, SHIFTER_HIGH = (1, 5, 7, 9, 12), (4, 10, 13, 14)
"""Pins of the 74AHCT125: 1OE, 2A, GND, 3A, 4A to ground; 2OE, 3OE, 4OE, VCC to 5 V. 1A is 2, 1Y is 3."""


def pads() -> range:
    """Return the numbers of the pads."""
    return range(1, pinmap().pads.count + 1)


def piezo_nets(kind: Input) -> Nets:
    """Return the nets of [piezo], [passive], [op_amp], and [amplifier] if it is the `kind` of input.

    The outputs have the names of the board's pins.
    """
    nets: Nets = {"3V3": {"U1 4", "C3 a"}, "GND": {"U1 11", "C3 b"}, BIAS: set()}
    for pad, gpio in zip(pads(), pinmap().board.adc_pins, strict=True):
        out, minus, plus = AMPLIFIERS[pad]
        nets["3V3"] |= {f"D1.{pad} a"}
        nets[BIAS] |= {f"R1.{pad} a"}
        nets["GND"] |= {f"R3.{pad} b", f"D2.{pad} b", f"C1.{pad} b", f"C2.{pad} b", f"J{pad} gnd"}
        nets[f"disc {pad}"] = {f"J{pad} in", f"R1.{pad} b", f"R3.{pad} a", f"R2.{pad} a"}
        nets[f"node {pad}"] = {f"R2.{pad} b", f"D1.{pad} b", f"D2.{pad} a", f"C1.{pad} a", f"R4.{pad} a"}
        nets[f"plus {pad}"] = {f"R4.{pad} b", f"C2.{pad} a", f"U1 {plus}"}
        if kind == "passive":
            nets[f"GPIO{gpio}"] = {f"U1 {out}", f"U1 {minus}"}
            continue
        nets[f"GPIO{gpio}"] = {f"U1 {out}", f"R11.{pad} a", f"C5.{pad} a"}
        nets[f"minus {pad}"] = {f"U1 {minus}", f"R11.{pad} b", f"C5.{pad} b", f"R10.{pad} a"}
        nets[f"hold {pad}"] = {f"R10.{pad} b", f"C6.{pad} a"}
        nets["GND"] |= {f"C6.{pad} b"}
    return nets


def bus_nets(plugs: Iterable[str]) -> Nets:
    """Return the nets of [bus]: its pull-ups R5 and R6 and the plugs that carry it."""
    nets: Nets = {name: {f"{plug} {name}" for plug in plugs} for name in BUS_PINS}
    nets["SDA"] |= {"R5 a"}
    nets["SCL"] |= {"R6 a"}
    nets["3V3"] |= {"R5 b", "R6 b"}
    return nets


def touch_nets() -> Nets:
    """Return the nets of [touch]: strip, resistor R9.n and input n of the touch board (J11)."""
    strips, nets = pinmap().touch.strips, dict[str, set[str]]()
    for pad in pads():
        for i, strip in enumerate(strips):
            n = (pad - 1) * len(strips) + i
            nets[f"strip {n}"] = {f"J{11 + pad} {strip}", f"R9.{n} a"}
            nets[f"ELE{n}"] = {f"R9.{n} b", f"J11 ELE{n}"}
    return nets


def shifter_nets() -> Nets:
    """Return the nets of [shifter]: its data comes from the board or from the Pi (J17), as the jumper JP1 says."""
    return {
        "5V strip": {"J16 5V", "C4 a", *(f"U2 {pin}" for pin in SHIFTER_HIGH)},
        "GND": {"J16 GND", "J17 GND", "R8 b", "C4 b", *(f"U2 {pin}" for pin in SHIFTER_LOW)},
        f"GPIO{pinmap().board.strip_pin}": {"JP1 board"},
        "Pi data": {"J17 data", "JP1 Pi"},
        "1A": {"JP1 1A", "U2 2", "R8 a"},
        "1Y": {"U2 3", "R7 a"},
        "strip data": {"R7 b", "J16 DIN"},
    }


def merge_nets(*several: Nets) -> Nets:
    """Return one netlist of several: nets of the same name become one."""
    found: Nets = {}
    for nets in several:
        for name, pins in nets.items():
            found.setdefault(name, set()).update(pins)
    return found


def perfboard_nets() -> Nets:
    """Return the nets of the perfboard: passive piezo inputs and bus, with J5 to the RP2040 board."""
    adc = [f"GPIO{pin}" for pin in pinmap().board.adc_pins]
    to_board: Nets = {name: {f"J5 {name}"} for name in (*adc, BIAS, "3V3", "GND")}
    return merge_nets(piezo_nets("passive"), bus_nets(("J6", "J7", "J8")), to_board)


def board_nets() -> Nets:
    """Return the nets of the printed board: all circuits but the strip's supply and the buttons, and U3's socket."""
    board = pinmap().board
    socket: Nets = {f"GPIO{pin}": {f"U3 {pin}"} for pin in (*board.adc_pins, board.bias_pin, board.strip_pin)}
    socket |= {"SDA": {f"U3 {board.i2c['sda']}"}, "SCL": {f"U3 {board.i2c['scl']}"}}
    socket |= {"3V3": {"U3 3V3"}, "GND": {"U3 GND"}}
    return merge_nets(
        piezo_nets("amplifier"), bus_nets(("J7", "J8", "J9", "J10")), touch_nets(), shifter_nets(), socket
    )
