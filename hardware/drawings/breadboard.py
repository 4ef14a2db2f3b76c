"""The breadboard of the school mat (`hardware/SCHOOL_MAT.md`): what is plugged into which hole, and the nets.

Half a breadboard: columns 1 to 30, rows a to e and f to j on either side of the trench, two rails on either edge. The
five holes of a half column are joined, and so is each rail. The MCP3008 sits over the trench, its notch to the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from page import BLACK, BLUE, GREEN, GREY, PALE, RED, THICK, THIN, Page
from values import values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS, PITCH = 30, 6.6
FIRST = 9
"""The column of the chip's pins 1 and 16."""
LOWER = ("CH0", "CH1", "CH2", "CH3", "CH4", "CH5", "CH6", "CH7")
UPPER = ("VDD", "VREF", "AGND", "CLK", "DOUT", "DIN", "CS", "DGND")
"""The MCP3008's pins by column: 1 to 8 below the trench, 16 to 9 above."""
HEADER = {2: 3, 3: 5, 5: 29, 6: 31, 8: 24, 9: 21, 10: 19, 11: 23}
"""Pins of the Pi's header by their GPIO numbers; 3.3 V is on 1, ground on 6."""
SWITCHES = {"ready": 20, "shown": 24}
"""Push buttons over the trench, by the column of their left legs; legs across a corner are joined by a press."""
ROWS = {
    "+top": 0.0, "-top": 1.0, "j": 2.6, "i": 3.6, "h": 4.6, "g": 5.6, "f": 6.6,
    "e": 8.6, "d": 9.6, "c": 10.6, "b": 11.6, "a": 12.6, "+bottom": 14.2, "-bottom": 15.2,
}  # fmt: skip
"""Distance of each row from the uppermost, in holes."""


HALVES = ("a-e", "f-j")
"""The rows of the two halves of a column."""


class Hole(NamedTuple):
    """A hole by row and column."""

    row: str
    column: int

    @property
    def node(self) -> str:
        """The holes that are joined with this one."""
        return self.row if len(self.row) > 1 else f"{self.column} {HALVES[self.row > 'e']}"


class Lead(NamedTuple):
    """A wire or a resistor from a hole to another hole, or to a place off the board."""

    hole: Hole
    to: Hole | str
    colour: str
    part: str = "wire"


def leads() -> list[Lead]:
    """Return all wires and resistors, in the order in which they are plugged in."""
    upper = {name: Hole("j", FIRST + n) for n, name in enumerate(UPPER)}
    found = [
        Lead(Hole("+top", 1), "3V3", RED),
        Lead(Hole("-top", 1), "GND", BLACK),
        Lead(Hole("+top", 30), Hole("+bottom", 30), RED),
        Lead(Hole("-top", 29), Hole("-bottom", 29), BLACK),
        *(Lead(upper[name], Hole("+top", upper[name].column), RED) for name in ("VDD", "VREF")),
        *(Lead(upper[name], Hole("-top", upper[name].column), BLACK) for name in ("AGND", "DGND")),
        Lead(upper["CLK"], "GPIO11", BLUE),
        Lead(upper["DOUT"], "GPIO9", BLUE),
        Lead(upper["DIN"], "GPIO10", BLUE),
        Lead(upper["CS"], "GPIO8", BLUE),
    ]
    for n, channel in enumerate(pinmap().pi.mcp3008.channels, 1):
        column = FIRST + LOWER.index(f"CH{channel}")
        found.append(Lead(Hole("a", column), Hole("-bottom", column), GREY, "resistor"))
        found.append(Lead(Hole("b", column), f"FSR {n}", GREEN))
        found.append(Lead(Hole("+bottom", 15 + 3 * n), f"FSR {n}, other wire", GREEN))
    for name, column in SWITCHES.items():
        found.append(Lead(Hole("i", column), f"GPIO{pinmap().pi.buttons[name]}", BLUE))
        found.append(Lead(Hole("d", column + 2), Hole("-bottom", column + 2), BLACK))
    return [*found, Lead(Hole("+top", 25), "MPR121 VIN", RED), Lead(Hole("-top", 27), "MPR121 GND", BLACK)]


def nets() -> dict[str, set[str]]:
    """Return what each leg of chip and buttons is joined with by wires: the Pi's pins, and leads of parts."""
    joined = {node: {node} for lead in leads() for node in (lead.hole.node, _end(lead))}
    for lead in leads():
        if lead.part == "wire":
            one, other = joined[lead.hole.node], joined[_end(lead)]
            one |= other
            for node in other:
                joined[node] = one
    legs = {name: Hole(row, FIRST + n) for names, row in ((UPPER, "f"), (LOWER, "e")) for n, name in enumerate(names)}
    for name, column in SWITCHES.items():
        legs |= {name: Hole("f", column), f"{name}, across": Hole("e", column + 2)}
    found: dict[str, set[str]] = {}
    for name, hole in legs.items():
        nodes = joined.get(hole.node, set())
        parts = {f"{one.part} to {_end(one)}" for one in leads() if one.part != "wire" and one.hole.node in nodes}
        found[name] = {node for node in nodes if not node.endswith(HALVES)} | parts
    return found


def _end(lead: Lead) -> str:
    return lead.to.node if isinstance(lead.to, Hole) else lead.to


def drawing() -> str:
    """Return the breadboard from above, 2.6:1."""
    under = "Half a breadboard from above. The chip's notch is at the left."
    page = Page(297, 190, "The breadboard of the school mat", under)
    _draw_board(page)
    inside = [lead for lead in leads() if isinstance(lead.to, Hole)]
    for lead in inside:
        _draw_inside(page, lead)
    for up in (True, False):
        some = [one for one in leads() if one not in inside and (one.hole.row in ("i", "j", "+top", "-top")) is up]
        some.sort(key=lambda one: one.hole.column)
        for n, lead in enumerate(some):
            _draw_leaving(page, lead, 32 + n * 240 / (len(some) - 1), n, up=up)
    for lead in leads():
        page.circle(*_at(lead.hole), 1.0, fill=lead.colour, line="none")
    ohm = values().fsr.label("divider_ohm")
    page.text(10, 184, f"Resistors: {ohm} each, from row a to the lower minus rail.", colour=GREY)
    return page.svg()


def _at(hole: Hole) -> tuple[float, float]:
    return 46 + (hole.column - 0.5) * PITCH, 54 + ROWS[hole.row] * PITCH


def _draw_board(page: Page) -> None:
    page.rect(40, 49, 31 * PITCH, 17 * PITCH, fill="#fbfaf5", line=GREY, corner=2)
    for row in ROWS:
        for column in range(1, COLUMNS + 1):
            page.circle(*_at(Hole(row, column)), 0.7, fill=PALE, line=GREY, pen=THIN)
        x, y = _at(Hole(row, 0))
        page.text(x, y + 1.2, row[0], colour={"+": RED, "-": BLUE}.get(row[0], GREY), anchor="middle")
    for column in (1, 5, 18, 28):
        x, y = _at(Hole("f", column))
        page.text(x, y + 7.6, str(column), size=3, colour=GREY, anchor="middle")
    (left, top), (right, bottom) = _at(Hole("f", FIRST)), _at(Hole("e", FIRST + 7))
    page.rect(left - 2.5, top - 1, right - left + 5, bottom - top + 2, fill="#3a3a3a", corner=1)
    page.circle(left - 1.2, (top + bottom) / 2, 1.6, fill="#fbfaf5", line="none")
    page.text((left + right) / 2, (top + bottom) / 2 + 1.4, "MCP3008", colour="#ffffff", anchor="middle", bold=True)
    for name, column in SWITCHES.items():
        (left, top), (right, bottom) = _at(Hole("f", column)), _at(Hole("e", column + 2))
        page.rect(left - 1.5, top - 1, right - left + 3, bottom - top + 2, fill="#8a8a8a", corner=1)
        page.circle((left + right) / 2, (top + bottom) / 2 - 1, 4, fill="#2b2b2b", line="none")
        page.text((left + right) / 2, bottom, name, size=3, colour="#ffffff", anchor="middle")
    for column in (FIRST, FIRST + 7, *SWITCHES.values()):
        x, y = _at(Hole("e", column))
        page.text(x, y + 4.6, str(column), size=3, colour=GREY, anchor="middle")


def _draw_inside(page: Page, lead: Lead) -> None:
    """Draw a wire or a resistor between two holes."""
    assert isinstance(lead.to, Hole)
    (x, y), (to_x, to_y) = _at(lead.hole), _at(lead.to)
    page.line(x, y, to_x, to_y, colour=lead.colour, width=THICK if lead.part == "resistor" else 1.1)
    if lead.part == "resistor":
        page.rect(x - 1.3, (y + to_y) / 2 - 3.2, 2.6, 6.4, fill="#d9b98a", corner=0.8)


def _draw_leaving(page: Page, lead: Lead, to_x: float, place: int, *, up: bool) -> None:
    """Draw a wire that leaves the board, with its label above or below it."""
    said = str(lead.to)
    pin = {"3V3": 1, "GND": 6, **{f"GPIO{gpio}": at for gpio, at in HEADER.items()}}.get(said)
    said += f" (pin {pin})" if pin else ""
    to_y = 40 - (place % 2) * 7 if up else 167 + (place % 2) * 7
    page.line(*_at(lead.hole), to_x, to_y + (1.5 if up else -4), colour=lead.colour, width=0.7)
    page.text(to_x, to_y, said, colour=lead.colour, anchor="middle", size=3.2)


def drawings() -> Iterator[tuple[str, str]]:
    """Yield name and text of the drawing."""
    yield "school-breadboard.svg", drawing()
