"""The print on the board: outlines, names and values of parts, what each plug is for and what each of its pins is.

Letters are lines of our own on a grid of 4 x 6, because the maker draws them with a pen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import nets
from values import LICENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footprints import Part, Point

    Strokes = Iterator[tuple[Point, ...]]

LARGE_MM, LETTER_MM, SMALL_MM, TINY_MM = 1.7, 1.1, 1.0, 0.85
INK_MM = 0.15
WIDTH = 0.8
"""A letter's width by its height, the gap beside it included."""
GLYPHS = {
    "A": "0602204246 0444", "B": "003041423303 3344453606 0006", "C": "4130100105163645", "D": "00304145360600",
    "E": "40000646 0333", "F": "400006 0333", "G": "41301001051636454323", "H": "0006 4046 0343", "I": "1030 2026 1636",
    "J": "4045361605", "K": "0006 400346", "L": "000646", "M": "0600234046", "N": "06004640", "O": "103041453616050110",
    "P": "06003041423303", "Q": "103041453616050110 2446", "R": "06003041423303 2346", "S": "413010010213334445361605",
    "T": "0040 2026", "U": "000516364540", "V": "002640", "W": "0016233640", "X": "0046 4006", "Y": "002340 2326",
    "Z": "00400646", "0": "103041453616050110 2432", "1": "112026 1636", "2": "01103041420646",
    "3": "004022324345361605", "4": "36300444", "5": "4000023243453606", "6": "30100105163645443303", "7": "004016",
    "8": "13020110304142331304051636454433", "9": "43130201103041453616", "-": "1333", ".": "2526", "/": "0640",
    ":": "2223 2526", "+": "1333 2224", "(": "302125 2536", ")": "102125 2516", " ": "",
}  # fmt: skip
"""Lines of each letter: column and row of each of their points, row 0 above."""


class Label(NamedTuple):
    """A text on the board: the middle of its letters, their height, upright or turned, and its side."""

    text: str
    at: Point
    size: float = LETTER_MM
    upright: bool = False
    bottom: bool = False


def draw_label(label: Label) -> Strokes:
    """Yield the lines of a text, mm, seen from the parts' side; raises `KeyError` for a letter without a glyph."""
    unit, (x0, y0) = label.size / 6, label.at
    across = WIDTH * label.size / 6
    start = -(len(label.text) * across * 6 - across * 2) / 2
    for n, letter in enumerate(label.text):
        for line in GLYPHS[letter].split():
            points: list[Point] = []
            for column, row in zip(line[::2], line[1::2], strict=True):
                x, y = start + (6 * n + int(column)) * across, (int(row) - 3) * unit
                x = -x if label.bottom else x
                points.append((x0 + y, y0 - x) if label.upright else (x0 + x, y0 + y))
            yield tuple(points)


def width_of(label: Label) -> float:
    """Return how long a text is, mm."""
    return (len(label.text) * 6 - 2) * WIDTH * label.size / 6


def shorten_value(value: str) -> str:
    """Return a value as it is printed on a board: "3.3 nF" is 3.3N, "100 kΩ" 100K."""
    return value.replace(" ", "").replace("Ω", "").replace("µ", "u").removesuffix("F").upper()


def labels(parts: Sequence[Part], size: Point) -> Iterator[Label]:
    """Yield every text."""
    for part in parts:
        kind = part.name[0]
        yield from (_name_plug if kind == "J" else _name_chip if kind == "U" else _name_small)(part, size)
    named = {part.name: shorten_value(part.value) for part in parts}
    left, middle = 22.0, size[1] / 2
    yield Label("MOCCASIN MAT", (left, middle - 1.15), LARGE_MM)
    yield Label("BOARD 1", (left, middle + 1.3), LARGE_MM)
    yield Label(f"ALL DIODES {named['D1.1']}", (72.3, middle - 1.0), SMALL_MM)
    yield Label("BAND TO THE SQUARE PAD", (72.3, middle + 1.0), SMALL_MM)
    yield Label(f"R9.0 TO R9.11: {named['R9.0']}", (127.3, 27.3), SMALL_MM)
    yield Label("MOCCASIN MAT BOARD 1", (left, middle - 1.15), 1.3, bottom=True)
    yield Label(LICENCE, (left, middle + 1.15), LETTER_MM, bottom=True)


def _name_small(part: Part, size: Point) -> Iterator[Label]:
    """Yield name and value of a part with two leads; values of diodes and of the touch resistors are said once."""
    (x, y), upright = part.middle, part.turn % 180 != 0
    value = shorten_value(part.value)
    if part.name[0] == "D":
        yield Label(part.name, (x + 1.75, y), SMALL_MM, upright=True)
    elif upright:
        yield Label(part.name, (x, y), SMALL_MM, upright=True)
        if not part.name.startswith("R9."):
            yield Label(value, (x + 1.9, y), SMALL_MM, upright=True)
    elif "." in part.name:  # beside the edge: the value on the side of the board's middle
        inwards = 1.0 if y < size[1] / 2 else -1.0
        yield Label(part.name, (x, y - inwards * 2.0), SMALL_MM)
        yield Label(value, (x, y + inwards * 2.1), SMALL_MM)
    else:
        yield Label(part.name, (x, y), SMALL_MM)
        yield Label(value, (x, y - 2.1), SMALL_MM)


def _name_chip(part: Part, _: Point) -> Iterator[Label]:
    """Yield a chip's name and kind between its rows, and each pin's name of the RP2040 board beside it."""
    x, y = part.middle
    if part.name != "U3":
        yield Label(f"{part.name} {part.value}", (x, y + 0.6), LETTER_MM, upright=True)
        return
    for pin in part.pins:
        off = -2.7 if pin.at[0] < x else 2.4
        yield Label(pin.name, (pin.at[0] + off, pin.at[1]), SMALL_MM)
    for n, text in enumerate((part.name, part.value.upper(), "USB UP")):
        yield Label(text, (x, y + 2.0 * (n - 1)), LETTER_MM)


def _name_plug(part: Part, size: Point) -> Iterator[Label]:
    """Yield what a plug is for, and each pin's name on the side of the board's middle."""
    _, top, right, bottom = part.box
    x, y = part.middle
    if part.name == "JP1":
        yield from (Label(pin.name.upper(), (pin.at[0] - 3.8, pin.at[1]), SMALL_MM) for pin in part.pins)
        yield Label(part.name, (x, top - 0.9), SMALL_MM)
        return
    if part.name == "J11":
        yield Label("J11 MPR121: ELE0 TO ELE11", (x, bottom + 0.95), SMALL_MM)
        yield Label("0", (part.pins[0].at[0] - 2.1, y), SMALL_MM)
        yield Label("11", (part.pins[-1].at[0] + 2.4, y), SMALL_MM)
        return
    above = y < size[1] / 2
    row = bottom + 0.85 if above else top - 0.85
    for pin in part.pins:
        yield Label(_pin_word(pin.name), (pin.at[0], row), TINY_MM)
    if part.name in {f"J{pad}" for pad in nets.pads()}:
        yield Label(part.value, (right + 0.9, (top + bottom) / 2), SMALL_MM, upright=True)
    elif above:
        yield Label(f"{part.value} {part.name}", (x, 20.72), SMALL_MM)
    else:
        yield Label(f"{part.value} {part.name}", (x, top - 2.4), SMALL_MM)


def _pin_word(name: str) -> str:
    """Return a pin's name in up to three letters."""
    return {"hider": "HID", "middle": "MID", "hitter": "HIT", "data": "DAT"}.get(name, name.upper())


def strokes(parts: Sequence[Part], size: Point, *, bottom: bool = False) -> Strokes:
    """Yield every line of the print on a side."""
    if not bottom:
        for part in parts:
            yield from part.lines
    for label in labels(parts, size):
        if label.bottom == bottom:
            yield from draw_label(label)


def label_box(label: Label) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a text."""
    wide, high = width_of(label), label.size
    if label.upright:
        wide, high = high, wide
    x, y = label.at
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2
