"""The piezo inputs on half a perfboard: four pads' parts, the amplifier chip, and the block that the bus is joined at.

Holes are counted from the upper left, column and row, seen from the side of the parts. Bare wires join every hole they
pass, insulated ones only their ends. `joined` says which pins that makes one, so a test compares it with the circuit.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nets import AMPLIFIERS, BIAS
from page import BLUE, COPPER, GREEN, GREY, RED, THIN, WOOD, Page
from values import values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

    Hole = tuple[int, int]
    Way = tuple[tuple[float, float], ...]

PITCH_MM = 2.54
COLUMNS, ROWS = 44, 17
CUT_MM = (115.0, 45.0)
"""Half of a board of 90 x 150 mm, cut off at its length."""
LEFT, RIGHT = 20, 23
"""Columns of the chip's pins."""
CHIP = {pin: (LEFT, 4 + pin) for pin in range(1, 8)} | {pin: (RIGHT, 19 - pin) for pin in range(8, 15)}
"""Where each pin of a DIP-14 is."""


class Placed(NamedTuple):
    """A part: its name, what is printed beside it, and the hole of each of its leads (pin, hole)."""

    name: str
    said: str
    leads: tuple[tuple[str, Hole], ...]


def _seat(pad: int, column: int, row: int) -> Hole:
    """Return the hole for a pad of what pad 1 has at (column, row): pads 3 and 4 at the right, 2 and 3 below."""
    return (column if pad in {1, 2} else COLUMNS - 1 - column, row if pad in {1, 4} else ROWS - 1 - row)


def parts() -> list[Placed]:
    """Return every part with its holes."""
    v = values()
    found = [Placed("U1", v.op_amp.label("chip"), tuple((str(pin), at) for pin, at in CHIP.items()))]
    for pad in range(1, pinmap().pads.count + 1):
        low = 4 if pad in {1, 4} else 2  # the ground rail's holes are for one pad each
        rows = (
            ("R1", v.passive.label("bias_high_ohm"), (3, 0), (3, 4)),
            ("R3", v.passive.label("bias_low_ohm"), (low, 4), (low, 8)),
            ("R2", v.piezo.label("series_ohm"), (5, 4), (9, 4)),
            ("D1", v.piezo.label("clamp_up"), (11, 0), (11, 4)),
            ("D2", v.piezo.label("clamp_down"), (10, 4), (10, 7)),
            ("C1", v.piezo.label("smooth_farad"), (12, 4), (12, 6)),
            ("R4", v.passive.label("pole_ohm"), (13, 4), (17, 4)),
            ("C2", v.passive.label("pole_farad"), (18, 4), (18, 6)),
        )
        for name, said, one, other in rows:
            leads = (("a", _seat(pad, *one)), ("b", _seat(pad, *other)))
            found.append(Placed(f"{name}.{pad}", said, leads))
        found.append(Placed(f"J{pad}", f"disc {pad}", (("in", _seat(pad, 1, 4)), ("gnd", _seat(pad, 1, 5)))))
    adc = [f"GPIO{pin}" for pin in pinmap().board.adc_pins]
    names = (*adc[:2], "3V3", "GND", *adc[2:], BIAS)
    found += [
        Placed("C3", v.op_amp.label("decouple_farad"), (("a", (21, 9)), ("b", (22, 9)))),
        Placed("J5", "to the board", tuple((name, (19 + n, 2)) for n, name in enumerate(names))),
        Placed("R5", v.bus.label("data_pullup_ohm"), (("a", (22, 15)), ("b", (18, 15)))),
        Placed("R6", v.bus.label("clock_pullup_ohm"), (("a", (27, 15)), ("b", (31, 15)))),
    ]
    for n, said in enumerate(("board", "MPR121", "trunk")):
        leads = tuple((name, (23 + i, 13 + n)) for i, name in enumerate(("SDA", "3V3", "GND", "SCL")))
        found.append(Placed(f"J{6 + n}", said, leads))
    return found


def bare() -> list[Way]:
    """Return the bare wires, on the other side of the board."""
    found: list[Way] = [
        ((11, 0), (COLUMNS - 12, 0)),  # 3V3
        ((11, ROWS - 1), (COLUMNS - 12, ROWS - 1)),
        ((21, 0), (21, ROWS - 1)),
        (CHIP[4], (21, 8)),
        ((1, 8), (18, 8)),  # ground
        (CHIP[11], (COLUMNS - 2, 8)),
        ((22, 2), (22, 9)),
        ((22, 8), CHIP[11]),
        *(((23 + n, 13), (23 + n, 15)) for n in range(4)),  # the bus
        ((24, 15), (24, 16)),
        ((22, 15), (23, 15)),
        ((18, 15), (18, 16)),
        ((26, 15), (27, 15)),
        ((31, 15), (31, 16)),
        (CHIP[1], (20, 3), (19, 3), (19, 2)),
        (CHIP[14], (23, 3), (24, 3), (24, 2)),
    ]
    for pad, (out, minus, plus) in AMPLIFIERS.items():
        rows = (
            ((1, 4), (5, 4)),
            ((9, 4), (13, 4)),
            ((17, 4), (19, 4), (19, 7), (20, 7)),
            ((10, 7), (10, 8)),
            ((12, 6), (12, 8)),
            ((18, 6), (18, 8)),
            ((1, 5), (1, 8)),
            ((2, 0), (4, 0)),  # bias
        )
        found += [tuple(_seat(pad, *at) for at in way) for way in rows]
        found.append((CHIP[out], CHIP[minus]))
        assert CHIP[plus] == _seat(pad, 20, 7)
    return found


def insulated() -> list[Way]:
    """Return the insulated wires: only their ends are joined."""
    return [
        (CHIP[7], (20.5, 10.5), (20.5, 2.5), (20, 2)),
        (CHIP[8], (22.5, 10.5), (22.5, 2.5), (23, 2)),
        ((15, 8), (15.5, 8.5), (15.5, 14.5), (24.5, 14.5), (25, 15)),
        ((25, 13), (25.5, 12.5), (28.5, 12.5), (28.5, 8.5), (28, 8)),
        ((2, 0), (1.5, 0.5), (1.5, 15.5), (2, 16)),  # bias
        ((4, 0), (4.5, 0.6), (24.4, 0.6), (25, 2)),
        ((25, 2), (25.6, 0.6), (38.5, 0.6), (39, 0)),
        ((41, 0), (41.5, 0.5), (41.5, 15.5), (41, 16)),
    ]


def _passed(way: Way) -> Iterator[Hole]:
    """Yield every hole on a bare wire, which runs along rows and columns."""
    for (x0, y0), (x1, y1) in pairwise(way):
        assert x0 == x1 or y0 == y1
        for n in range(int(max(abs(x1 - x0), abs(y1 - y0))) + 1):
            yield int(x0 + n * (x1 > x0) - n * (x1 < x0)), int(y0 + n * (y1 > y0) - n * (y1 < y0))


def joined() -> set[frozenset[str]]:
    """Return which leads ("R1.2 a", "U1 4") are one, all that hang together in a set."""
    ways = [set(_passed(way)) for way in bare()]
    ways += [{(int(way[0][0]), int(way[0][1])), (int(way[-1][0]), int(way[-1][1]))} for way in insulated()]
    ways += [{at} for part in parts() for _, at in part.leads]
    nets: list[set[Hole]] = []
    for way in ways:
        touching = [net for net in nets if net & way]
        nets = [net for net in nets if not net & way] + [way.union(*touching)]
    return {frozenset(f"{part.name} {pin}" for part in parts() for pin, at in part.leads if at in net) for net in nets}


def perfboard() -> str:
    """Return the page of the perfboard, 2:1."""
    page = Page(
        297,
        196,
        "The piezo inputs on a perfboard, 2:1",
        "Seen from the side of the parts; wires lie on the other side, seen through the board. One hole is 2.54 mm.",
    )
    step, left, top = 2 * PITCH_MM, 38.0, 42.0

    def at(hole: tuple[float, float]) -> tuple[float, float]:
        return left + hole[0] * step, top + hole[1] * step

    wide, deep = 2 * CUT_MM[0], 2 * CUT_MM[1]
    x, y = left - (wide - (COLUMNS - 1) * step) / 2, top - (deep - (ROWS - 1) * step) / 2
    page.rect(x, y, wide, deep, fill=WOOD)
    page.measure(x, y + deep, x + wide, y + deep, f"{CUT_MM[0]:g}", off=8)
    page.measure(x + wide, y, x + wide, y + deep, f"{CUT_MM[1]:g}", off=15)
    for column in range(COLUMNS):
        for row in range(ROWS):
            page.circle(*at((column, row)), 0.5, fill="#ffffff", line="none")
    for way in bare():
        page.line(*(value for hole in way for value in at(hole)), colour=COPPER, width=1.1)
    for way in insulated():
        page.line(*(value for hole in way for value in at(hole)), colour=GREEN, width=0.6, dash="2 1")
    for part in parts():
        _draw(page, part, [at(hole) for _, hole in part.leads])
    for column, row, said in ((10.6, 0, "3V3"), (0.4, 8, "GND"), (10.6, 16, "3V3"), (1.6, 0, BIAS), (1.6, 16, BIAS)):
        colour = {"3V3": RED, "GND": GREY}.get(said, GREEN)
        page.text(at((column, row))[0] - 4, at((column, row))[1] + 1, said, anchor="end", colour=colour, size=3.2)
    page.note(14, 150, _notes(), wide=270)
    return page.svg()


def _draw(page: Page, part: Placed, leads: list[tuple[float, float]]) -> None:
    kind, (x0, y0), (x1, y1) = part.name[0], leads[0], leads[-1]
    mx, my = (x0 + x1) / 2, (y0 + y1) / 2
    name = part.name.split(".")[0]
    if kind == "U":
        middle = (x0 + leads[7][0]) / 2
        page.rect(x0, y0 - 3, leads[7][0] - x0, leads[6][1] - y0 + 6, line="#1a1a1a")
        page.text(middle, y0 + 12, "U1", anchor="middle", bold=True, size=3.2)
        page.line(middle - 2, y0 - 3, middle - 2, y0 - 1, middle + 2, y0 - 1, middle + 2, y0 - 3)
        for x, y in leads:
            page.circle(x, y, 0.9, fill="#1a1a1a", line="none")
        return
    if kind == "J":
        page.rect(min(x0, x1) - 2, min(y0, y1) - 2, abs(x1 - x0) + 4, abs(y1 - y0) + 4, line=BLUE)
    elif x0 == x1:
        fill = {"R": "#e9dcc3", "D": "#e3a9a0", "C": "#e8c84a"}[kind]
        far = abs(y1 - y0)
        page.line(x0, y0, x1, y1, width=THIN)
        page.rect(mx - 1.7, my - far * 0.3, 3.4, far * 0.6, fill=fill)
        if kind == "D":
            band = my + (y0 - my) * 0.42  # the first lead is the cathode
            page.line(mx - 1.7, band, mx + 1.7, band, width=0.9)
    else:
        far = abs(x1 - x0)
        page.line(x0, y0, x1, y1, width=THIN)
        page.rect(mx - far * 0.3, my - 1.7, far * 0.6, 3.4, fill="#e9dcc3" if kind == "R" else "#e8c84a")
    for x, y in leads:
        page.circle(x, y, 0.9, fill="#1a1a1a", line="none")
    if kind == "J":  # pin 1
        page.rect(x0 - 1.3, y0 - 1.3, 2.6, 2.6, fill="#1a1a1a", line="none")
    if kind == "J" and len(leads) == 2:
        outward = -1.0 if x0 < 140 else 1.0
        page.text(x0 + outward * 12, my + 1, part.said, anchor="end" if outward < 0 else "start", colour=BLUE, size=3.2)
    elif kind != "J" and name != "C3":
        level = y0 == y1
        page.text(
            mx + (0 if level else 2.4), my + (-2.4 if level else 1), name, size=3, anchor="middle" if level else "start"
        )


def _notes() -> str:
    adc, v = pinmap().board.adc_pins, values()
    bias, series, pole, smooth = (
        circuit.label(name)
        for circuit, name in (
            (v.passive, "bias_high_ohm"),
            (v.piezo, "series_ohm"),
            (v.passive, "pole_farad"),
            (v.piezo, "smooth_farad"),
        )
    )
    chip, decouple, pull = v.op_amp.label("chip"), v.op_amp.label("decouple_farad"), v.bus.label("data_pullup_ohm")
    return f"""
        Pads 1 and 2 at the left, 4 and 3 at the right, each as pad 1, mirrored. R1, R3 {bias}, R2, R4
        {series}, C1 {smooth}, C2 {pole}, D1, D2 {v.piezo.label("clamp_up")} with the black band as drawn,
        U1 {chip} in a socket, C3 {decouple} inside it; its notch is at the upper edge, pin 1 left of it.
        R5, R6 {pull}: the bus's pull-ups.

        Seven pins in the middle above, from the left: GPIO{adc[0]}, GPIO{adc[1]}, 3V3, GND, GPIO{adc[2]},
        GPIO{adc[3]}, {BIAS} of the board. Three rows of four below, each SDA, 3V3, GND, SCL: ribbon to the
        board (soldered), to the MPR121 (soldered), and pins for the trunk. A square is pin 1: SDA,
        GPIO{adc[0]}, or a disc's hot wire.

        Copper: bare wire along the holes. Green: insulated wire, joined at its ends alone.

        Check before the chip goes in: no short from 3V3 to GND; 3.3 V at its pin 4, 0 V at 11; and with
        the firmware on the board 1.65 V at 3, 5, 10 and 12.
        """


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of the drawing."""
    yield "perfboard.svg", perfboard()
