"""`python hardware/drawings/circuits.py`: draw every circuit with the values of `hardware/circuits.toml`.

Writes `hardware/drawings/circuit-*.svg`. With `--simulate` it prints what ngspice says of them instead.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simulate
from power import values as power_values
from sheet import dot, down, e, line, named, note, part, port, sheet, svg, up
from values import Values, values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent


def _input(v: Values, rest: str) -> tuple[float, float]:
    """Draw the piezo input and return where its clamped node is; `rest` labels the resistor from the disc to ground."""
    p, y = v.piezo, 0.0
    e.Crystal().at((0, y)).to((0, y - 2.4)).label("P1\npiezo disc\n27 mm", loc="top", halign="right")
    e.Ground().at((0, y - 2.4))
    line((0, y), (2, y))
    dot((2, y))
    down("Resistor", (2, y), rest, 2.4)
    part("Resistor", (2, y), (5, y), named("R2", p, "series_ohm"))
    dot((5, y))
    up((5, y + 2.2), "3V3")
    part("Schottky", (5, y), (5, y + 2.2), f"D1\n{p.label('clamp_up')}", "bottom")
    part("Schottky", (5, y - 2.4), (5, y), f"D2\n{p.label('clamp_down')}", "bottom")
    e.Ground().at((5, y - 2.4))
    line((5, y), (7.2, y))
    dot((7.2, y))
    down("Capacitor", (7.2, y), named("C1", p, "smooth_farad"), 2.4)
    return (7.2, y)


def _filter(v: Values) -> tuple[float, float]:
    """Draw a pad's input up to the second pole and return where that is."""
    q = v.passive
    x, y = _input(v, named("R3", q, "bias_low_ohm"))
    part("Resistor", (2, 0), (2, 2.2), named("R1", q, "bias_high_ohm"), "top")
    port((2, 2.2), f"GPIO{pinmap().board.bias_pin}", "top")
    part("Resistor", (x, y), (10.2, y), named("R4", q, "pole_ohm"))
    dot((10.2, y))
    down("Capacitor", (10.2, y), named("C2", q, "pole_farad"), 2.4)
    return (10.2, y)


def _adc(out: tuple[float, float]) -> None:
    """Draw the way from an amplifier's output to the pin."""
    dot(out)
    line(out, (out[0] + 1.0, out[1]))
    port((out[0] + 1.0, out[1]), f"ADC pin\nGPIO{pinmap().board.adc_pins[0]} to {pinmap().board.adc_pins[-1]}")


def passive(v: Values) -> Any:
    """Draw a pad's piezo input as it is built on the perfboard."""
    with sheet("Piezo input: one for each pad", (-2.2, 4.2)) as drawing:
        x, y = _filter(v)
        op = e.Opamp(leads=True).theta(0).at((11.6, y)).anchor("in2").label("U1a", loc="center")
        line((x, y), (op.in2[0], op.in2[1]))
        back, out = (op.in1[0], op.in1[1]), (op.out[0], op.out[1])
        line(back, (back[0], back[1] + 1.2), (out[0], back[1] + 1.2), out)
        _adc(out)
        up((20.2, 1.2), "3V3")
        down("Capacitor", (20.2, 1.2), named("C3", v.op_amp, "decouple_farad"), 2.2)
        note(
            (-2.2, -4.0),
            "R1 and R3 rest the pad at half the supply, 2048 of 4095: R1's pin is high, but for a self-test.\n"
            "R2 and C1, R4 and C2: two poles.\n"
            f"U1: one {v.op_amp.label('chip')}, for all four pads, on the board's 3.3 V; C3 at its pins 4 and 11.\n"
            "D1's band (cathode) to 3V3, D2's to the node.",
        )
    return drawing


def amplifier(v: Values) -> Any:
    """Draw a pad's piezo input with its amplifier, as the printed board has it."""
    a = v.amplifier
    gain = 1.0 + a["feedback_ohm"] / a["gain_ohm"]
    with sheet("Piezo input with an amplifier: one for each pad", (-2.2, 4.8)) as drawing:
        x, y = _filter(v)
        op = e.Opamp(leads=True).theta(0).at((14.6, y)).anchor("in2").label("U1a", loc="center")
        line((x, y), (op.in2[0], op.in2[1]))
        back, out = (op.in1[0], op.in1[1]), (op.out[0], op.out[1])
        dot(back)
        line(back, (back[0], back[1] + 2.6), (back[0] + 0.4, back[1] + 2.6))
        part("Resistor", (back[0] + 0.4, back[1] + 2.6), (out[0], back[1] + 2.6), named("R11", a, "feedback_ohm"))
        dot((back[0], back[1] + 1.2))
        line((back[0], back[1] + 1.2), (back[0] + 0.4, back[1] + 1.2))
        part("Capacitor", (back[0] + 0.4, back[1] + 1.2), (out[0], back[1] + 1.2), named("C5", a, "feedback_farad"))
        line((out[0], back[1] + 2.6), out)
        dot((out[0], back[1] + 1.2))
        line(back, (13.4, back[1]), (13.4, y - 0.6))
        part("Resistor", (13.4, y - 0.6), (13.4, y - 2.6), named("R10", a, "gain_ohm"), "bottom")
        down("Capacitor", (13.4, y - 2.6), named("C6", a, "hold_farad"))
        _adc(out)
        up((22.6, 1.2), "3V3")
        down("Capacitor", (22.6, 1.2), named("C3", v.op_amp, "decouple_farad"), 2.2)
        note(
            (-2.2, -5.6),
            f"Strokes: gain 1 + R11 / R10 = {gain:.1f}, and a third pole, R11 and C5. Rest: gain 1, as C6 holds it.\n"
            "All else is as without the amplifier. For a follower leave out R10, C5 and C6, and put a wire for R11.\n"
            f"U1: one {v.op_amp.label('chip')}, for all four pads, on the board's 3.3 V; C3 at its pins 4 and 11.",
        )
    return drawing


def fsr(v: Values) -> Any:
    """Draw the force sensor's divider."""
    with sheet("Force sensor instead of the piezo", (-2.4, 4.6)) as drawing:
        up((0, 3.4), "3V3")
        part("ResistorVar", (0, 3.4), (0, 1), f"RF\n{v.fsr.label('sensor')}", "bottom")
        dot((0, 1))
        down("Resistor", (0, 1), named("R1", v.fsr, "divider_ohm"), 2.4)
        line((0, 1), (2.6, 1), (4.2, 1))
        dot((2.6, 1))
        down("Capacitor", (2.6, 1), named("C1", v.fsr, "smooth_farad"), 2.4)
        port((4.2, 1), "ADC pin")
        note(
            (-2.4, -2.9),
            'The plate\'s weight and some preload rest it near the\nmiddle. Setting: [strikes] sensor = "fsr"',
        )
    return drawing


def _chip(at: tuple[float, float], left: str, right: str, name: str, height: float = 4.0) -> Any:
    """Draw a chip with its middle at `at`; pins by name, from the top down, "-" for none. Anchors are l0.., r0.."""
    pins: list[Any] = []
    for side, names in (("left", left.split()), ("right", right.split())):
        pins += [
            e.IcPin(name=n, side=side, slot=f"{len(names) - i}/{len(names)}", anchorname=f"{side[0]}{i}")
            for i, n in enumerate(names)
            if n != "-"
        ]
    chip = e.Ic(pins=pins, size=(3.2, height), leadlen=0.5, lsize=12).theta(0).at(at).anchor("center")
    note((at[0], at[1] + height / 2 + 0.15), name, 12, ("center", "bottom"))
    return chip


def _pin(chip: Any, name: str) -> tuple[float, float]:
    point = getattr(chip, name)
    return (point[0], point[1])


def bus(v: Values) -> Any:
    """Draw the I2C bus: board, touch chip, one multiplexer of three with one magnetometer of eight."""
    b, found = pinmap().board, v.bus
    first, last = b.tca9548a_addresses[0], b.tca9548a_addresses[-1]
    data, clock, top = 0.5, -0.5, 3.6
    with sheet(f"I2C bus, {b.i2c['hz'] // 1000} kHz", (-2.2, 5.4)) as drawing:
        board = _chip((0, 0), "", f"3V3 GPIO{b.i2c['sda']} GPIO{b.i2c['scl']} GND", "RP2040 board")
        line(_pin(board, "r0"), (3.2, 1.5), (3.2, top), (25.2, top))
        line(_pin(board, "r1"), (15.4, data))
        line(_pin(board, "r2"), (15.4, clock))
        e.Ground().theta(0).at(_pin(board, "r3"))
        for x, y, name, label in ((4.2, data, "R1", "data_pullup_ohm"), (6.8, clock, "R2", "clock_pullup_ohm")):
            dot((x, top))
            part("Resistor", (x, top), (x, y), named(name, found, label), "bottom")
            dot((x, y))
        address = f"MPR121\n0x{b.mpr121_address:02X}"
        touch = _chip((11.0, -6.2), "3V3 SDA SCL GND", "ELE0 ... ELE11 -", address)
        for x, y, pin in ((8.7, top, "l0"), (8.4, data, "l1"), (8.1, clock, "l2")):
            dot((x, y))
            line((x, y), (x, _pin(touch, pin)[1]), _pin(touch, pin))
        e.Ground().theta(0).at(_pin(touch, "l3"))
        lead = _pin(touch, "r1")
        part("Resistor", lead, (lead[0] + 1.9, lead[1]), named("R3", v.touch, "electrode_ohm"))
        port((lead[0] + 1.9, lead[1]), "touch strip")
        note((lead[0] + 0.4, lead[1] - 0.7), "one R3 in each lead,\nat the MPR121")
        name = f"TCA9548A, one of 3\n0x{first:02X} to 0x{last:02X}"
        mux = _chip((21.1, -2.0), "3V3 SDA SCL GND RST A0 A1 A2", "SD0 SC0 ... SC7 - - - -", name, 8.0)
        line((15.4, data), _pin(mux, "l1"))
        line((15.4, clock), _pin(mux, "l2"))
        for x, pin in ((18.7, "l0"), (18.1, "l4")):  # fed, and never reset
            line(_pin(mux, pin), (x, _pin(mux, pin)[1]), (x, top))
            dot((x, top))
        e.Ground().theta(0).at(_pin(mux, "l3"))
        for pin in ("l5", "l6", "l7"):
            line(_pin(mux, pin), (18.1, _pin(mux, pin)[1]))
        line((18.1, _pin(mux, "l5")[1]), (18.1, _pin(mux, "l7")[1] - 0.5))
        for pin in ("l6", "l7"):
            dot((18.1, _pin(mux, pin)[1]))
        e.Ground().theta(0).at((18.1, _pin(mux, "l7")[1] - 0.5))
        note(
            (19.6, -6.6),
            f"A0, A1, A2 as drawn: 0x{first:02X}. A0 to 3V3\n"
            f"instead of GND: 0x{first + 1:02X}; A1 to 3V3: 0x{last:02X}.\n"
            "RST is never left open.",
        )
        sensor = _chip((28.0, 0), "VCC SDA SCL GND", "", f"QMC5883L, one of 8\n0x{b.qmc5883l_address:02X}")
        line((25.2, top), (25.2, 1.5), _pin(sensor, "l0"))
        line(_pin(mux, "r0"), (24.0, 1.5), (24.0, 0.5), _pin(sensor, "l1"))
        line(_pin(mux, "r1"), (23.6, 0.5), (23.6, -0.5), _pin(sensor, "l2"))
        e.Ground().theta(0).at(_pin(sensor, "l3"))
        note(
            (-2.2, -9.2),
            "R1 and R2 stand at the board, beside the pull-ups that the modules carry (10 kΩ, magnetometers 4.7 kΩ).\n"
            "Measure SDA and SCL to 3V3 without power: below 1 kΩ with a channel open is too strong for a pin.",
        )
    return drawing


def strip(v: Values) -> Any:
    """Draw the strip's supply and level shifter."""
    s, pixels, power = v.shifter, pinmap().lights.count, power_values().supply
    with sheet("Light strip: own supply, fed at both ends, level shifter at the first pixel", (-1.6, 3.4)) as drawing:
        supply = _chip((0, 0), "", "+5V - - GND", f"5 V supply, {power.amp:g} A", 3.2)
        plus, ground = _pin(supply, "r0"), _pin(supply, "r3")
        part("Fuse", plus, (5.4, plus[1]), f"F1\n{power.fuse_amp:g} A, ATO")
        line((5.4, plus[1]), (23.4, plus[1]))
        line(ground, (24.2, ground[1]))
        chip = _chip((11.0, -5.6), "1A 1OE - VCC", "1Y - - GND", f"U1 {s.label('chip')}", 3.2)
        for x, part_of, name, label in ((6.4, v.supply, "C1", "store_farad"), (11.4, s, "C2", "decouple_farad")):
            dot((x, plus[1]))
            dot((x, ground[1]))
            part("Capacitor", (x, plus[1]), (x, ground[1]), named(name, part_of, label), "bottom")
        for x, pin, rail in ((8.6, "l3", plus), (13.6, "r3", ground)):
            dot((x, rail[1]))
            line((x, rail[1]), (x, _pin(chip, pin)[1]), _pin(chip, pin))
        line((3.4, _pin(chip, "l0")[1]), _pin(chip, "l0"))
        port(
            (3.4, _pin(chip, "l0")[1]),
            f"Pi GPIO{pinmap().pi.strip_pin}, or board\nGPIO{pinmap().board.strip_pin}",
            "left",
        )
        at_input = (7.6, _pin(chip, "l0")[1])
        dot(at_input)
        down("Resistor", at_input, named("R2", s, "pulldown_ohm"), 1.6, "top")
        low = _pin(chip, "l1")
        line(low, (low[0] - 0.6, low[1]), (low[0] - 0.6, low[1] - 0.6))
        e.Ground().theta(0).at((low[0] - 0.6, low[1] - 0.6))
        out = _pin(chip, "r0")
        part("Resistor", (14.0, out[1]), (16.6, out[1]), named("R1", s, "data_ohm"))
        line(out, (14.0, out[1]))
        pix = _chip((20.6, -5.6), "DIN +5V GND", "- +5V GND", f"WS2812, {pixels} pixels", 3.2)
        line((16.6, out[1]), (16.6, _pin(pix, "l0")[1]), _pin(pix, "l0"))
        for x, pin, rail in ((17.2, "l1", plus), (17.8, "l2", ground), (23.4, "r1", plus), (24.2, "r2", ground)):
            dot((x, rail[1]))
            line((x, rail[1]), (x, _pin(pix, pin)[1]), _pin(pix, pin))
        dot((3.4, ground[1]))
        line((3.4, ground[1]), (3.4, -2.9))
        port((3.4, -2.9), "GND of the Pi or board", "left")
        note(
            (-1.6, -8.2),
            "U1: inputs 2A, 3A, 4A to GND, 2OE, 3OE, 4OE to 5 V. R2 keeps the strip quiet while the board starts.\n"
            "The Pi has its own supply; only GND and the data wire join the two.",
        )
    return drawing


def button(v: Values) -> Any:
    """Draw a button."""
    b = v.button
    with sheet("Button: one for each, on the Pi", (-1.4, 2.4)) as drawing:
        e.Button().at((0, 0)).to((0, -2.2)).label("S1", loc="top")
        e.Ground().at((0, -2.2))
        line((0, 0), (1.2, 0))
        part("Resistor", (1.2, 0), (4.0, 0), named("R1", b, "series_ohm"))
        dot((4.0, 0))
        down("Capacitor", (4.0, 0), named("C1", b, "smooth_farad"), 2.2)
        line((4.0, 0), (5.6, 0))
        port((5.6, 0), "GPIO pin")
        note(
            (-1.4, -3.6),
            "The pin's own pull-up, some 50 kΩ, is on. R1 and C1\nstand at the Pi, against what a long cable picks up.",
        )
    return drawing


DRAWINGS: dict[str, Callable[[Values], Any]] = {
    "piezo": passive,
    "piezo-amplifier": amplifier,
    "force-sensor": fsr,
    "bus": bus,
    "strip": strip,
    "button": button,
}


def drawn_one(v: Values, name: str) -> str:
    """Return the SVG of a circuit."""
    return svg(DRAWINGS[name](v))


def main(arguments: list[str]) -> int:
    """Write the drawings, or with --simulate print the figures."""
    if "--simulate" in arguments:
        return simulate.main()
    for name in DRAWINGS:
        (HERE / f"circuit-{name}.svg").write_text(drawn_one(values(), name), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
