"""`python hardware/drawings/board.py`: the printed board that takes the perfboard's place, for a maker of boards.

Writes `hardware/board/` (copper, solder mask and print as Gerber, holes as Excellon, the parts' list and places) and
`hardware/drawings/board.svg`. The netlist is `nets.py`, the values are `circuits.toml`; parts stand where `parts()` has
them, and the router lays the tracks. `board_check.py` reads the files again and compares them with the netlist.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import board_page
import nets
from footprints import (
    BOARD_MM,
    GRID_MM,
    SCREW_HEAD_MM,
    SCREW_HOLE_MM,
    SIGNAL_MM,
    SUPPLY_MM,
    VIA_HOLE_MM,
    VIA_MM,
    Part,
    Pin,
    Point,
    Shape,
    draw_rectangle,
    make_axial,
    make_chip,
    make_plug,
    make_row,
    make_zero,
)
from gerbonara import MM, ExcellonFile, GerberFile
from gerbonara.apertures import CircleAperture, ExcellonTool, RectangleAperture
from gerbonara.cam import FileSettings
from gerbonara.graphic_objects import Flash, Line
from router import BOTTOM, Router, Rules, Track, Via
from silkscreen import INK_MM, strokes
from values import HARDWARE, RIGHTS, values

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = FileSettings(unit=MM, number_format=(4, 6), zeros=None)
FOLDER, NAME = HARDWARE / "board", "mat-board"
SIZE_MM = BOARD_MM
SCREWS_MM = tuple((x, y) for x in (4.0, SIZE_MM[0] - 4.0) for y in (4.0, SIZE_MM[1] - 4.0))
CLEARANCE_MM, EDGE_MM, HOLE_GAP_MM = 0.25, 0.5, 0.3
"""What the router keeps: copper to copper, copper to the edge, hole to hole. Makers ask for 0.15, 0.3 and 0.25."""
HATCH_STEPS = 2
"""Steps of the router between the lines of the hatched ground."""
MASK_MM = 0.05
"""How far the solder mask stays away from a pad."""
CAPACITOR_HALF_MM = 1.6
"""Half of how thick a ceramic capacitor of some microfarads is."""
COPPER_UM, HEATED_K = 35.0, 20.0
"""Thickness of the copper, and how much warmer a track may become at the strip's fuse current."""
LAYERS = {
    "gtl": "Copper,L1,Top",
    "gbl": "Copper,L2,Bot",
    "gts": "Soldermask,Top",
    "gbs": "Soldermask,Bot",
    "gto": "Legend,Top",
    "gbo": "Legend,Bot",
    "gko": "Profile,NP",
}
"""Ending of a file -> what the layer is called in Gerber."""


def width_for(amp: float, kelvin: float = HEATED_K) -> float:
    """Return how wide a track is, mm, that a current makes `kelvin` warmer: IPC-2221, outer layers (memory)."""
    square_mil = (amp / (0.048 * kelvin**0.44)) ** (1 / 0.725)
    return square_mil * 0.0254**2 / (COPPER_UM / 1000.0)


def place(x: float, y: float) -> Point:
    """Return a place counted in half posts (1.27 mm) from the upper left corner, in mm."""
    return x * GRID_MM, y * GRID_MM


@cache
def parts() -> tuple[Part, ...]:
    """Return every part at its place."""
    return (*_piezo_parts(), *_touch_parts(), *_bus_parts(), *_shifter_parts())


def _piezo_parts() -> Iterator[Part]:
    """Yield the four inputs around their chip: pads 1 and 2 at its left, 4 and 3 at its right, as its pins are."""
    v = values()
    yield make_chip("U1", v.op_amp.label("chip").split(",")[0], place(34, 11.5))
    yield make_axial("C3", v.op_amp.label("decouple_farad"), place(35, 7.5), place(39, 7.5))
    for pad in nets.pads():
        right, low = pad in {3, 4}, pad in {2, 3}

        def seat(x: float, y: float, right: bool = right, low: bool = low) -> Point:
            return place(74 - x if right else x, 35 - y if low else y)

        rows = (
            ("R3", v.passive.label("bias_low_ohm"), (8, 7), (8, 15)),
            ("R1", v.passive.label("bias_high_ohm"), (11, 15), (11, 7)),
            ("R2", v.piezo.label("series_ohm"), (14, 7), (14, 15)),
            ("D1", v.piezo.label("clamp_up"), (17, 8), (17, 14)),
            ("D2", v.piezo.label("clamp_down"), (20, 14), (20, 8)),
            ("R4", v.passive.label("pole_ohm"), (23, 15), (23, 7)),
            ("C1", v.piezo.label("smooth_farad"), (16, 2.5), (20, 2.5)),
            ("C2", v.passive.label("pole_farad"), (22, 2.5), (26, 2.5)),
            ("R10", v.amplifier.label("gain_ohm"), (26, 7), (26, 15)),
            ("R11", v.amplifier.label("feedback_ohm"), (29, 7), (29, 15)),
            ("C5", v.amplifier.label("feedback_farad"), (32, 11), (32, 7)),
        )
        for name, value, a, b in rows:
            yield make_axial(f"{name}.{pad}", value, seat(*a), seat(*b))
        hold = v.amplifier.label("hold_farad")
        yield make_axial(f"C6.{pad}", hold, seat(28, 2.5), seat(32, 2.5), CAPACITOR_HALF_MM)
        x = 62 if right else 8.5
        yield make_plug(f"J{pad}", f"DISC {pad}", place(x, 32 if low else 2.5), ("in", "gnd"))


def _touch_parts() -> Iterator[Part]:
    """Yield four plugs for the strips, a resistor below each post, and the row of the touch board's inputs."""
    strips, v = pinmap().touch.strips, values()
    count = len(nets.pads()) * len(strips)
    for pad in nets.pads():
        yield make_plug(f"J{11 + pad}", f"PAD {pad}", place(87.5 + 8 * (pad - 1), 2.5), strips)
    for n in range(count):
        x = 87.5 + 8 * (n // 3) + 2.5 * (n % 3) - 0.5
        yield make_axial(f"R9.{n}", v.touch.label("electrode_ohm"), place(x, 7), place(x, 15))
    inputs = [f"ELE{n}" for n in range(count)]
    yield make_row("J11", "MPR121 INPUTS", place(90, 18), inputs, (1, 0), "socket")


def _bus_parts() -> Iterator[Part]:
    """Yield the RP2040 board's socket, the pull-ups, and the plugs of the bus."""
    v = values()
    yield make_zero("U3", "RP2040-Zero", place(71, 2.5))
    yield make_axial("R5", v.bus.label("data_pullup_ohm"), place(71, 24), place(79, 24))
    yield make_axial("R6", v.bus.label("clock_pullup_ohm"), place(91, 24), place(83, 24))
    for n, said in enumerate(("MUX 1", "MUX 2", "MUX 3", "MPR121")):
        name = f"J{8 + n if n < 3 else 7}"
        yield make_plug(name, said, place(70.5 + 10 * n, 32), nets.BUS_PINS)


def _shifter_parts() -> Iterator[Part]:
    """Yield the level shifter of the lights' data, its jumper, and its plugs."""
    v = values()
    yield make_chip("U2", v.shifter.label("chip").split(",")[0], place(120, 9))
    yield make_axial("C4", v.shifter.label("decouple_farad"), place(120, 6), place(124, 6))
    yield make_axial("R7", v.shifter.label("data_ohm"), place(117, 18), place(117, 26))
    yield make_axial("R8", v.shifter.label("pulldown_ohm"), place(120, 24.5), place(128, 24.5))
    yield make_row("JP1", "LIGHT DATA", place(114.5, 22), ("board", "1A", "Pi"), (0, 1), "posts")
    yield make_plug("J16", "LIGHTS", place(111, 32), ("DIN", "GND", "5V"))
    yield make_plug("J17", "PI DATA", place(119.5, 32), ("data", "GND"))


def pins_by_net() -> dict[str, list[Pin]]:
    """Return the leads of each net; raises `KeyError` if the netlist has a lead that no part has."""
    there = {f"{part.name} {pin.name}": pin for part in parts() for pin in part.pins}
    return {net: [there[name] for name in sorted(names)] for net, names in nets.board_nets().items()}


def rules() -> Rules:
    """Return what the router keeps; supplies are wide."""
    widths = {net: SUPPLY_MM if net in nets.SUPPLIES else SIGNAL_MM for net in nets.board_nets()}
    return Rules(CLEARANCE_MM, EDGE_MM, HOLE_GAP_MM, widths)


def _touch_area() -> Shape:
    """Return where the leads of the strips run: ground beside them would add to their capacitance."""
    boxes = [part.box for part in parts() if part.name == "J11" or part.name.startswith("R9.")]
    left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
    bottom = max(box[3] for box in boxes)
    return Shape(((left, 0.0), (right, 0.0), (right, bottom), (left, bottom)), 0.0)


@cache
def routed() -> tuple[tuple[Track, ...], tuple[Via, ...]]:
    """Return the tracks and vias."""
    joined = pins_by_net()
    taken = {pin for pins in joined.values() for pin in pins}
    loose = [pin for part in parts() for pin in part.pins if pin not in taken]
    heads = [Shape((at,), SCREW_HEAD_MM / 2) for at in SCREWS_MM]
    router = Router(SIZE_MM, joined, loose, heads, rules())
    router.route()
    router.hatch("GND", BOTTOM, SIGNAL_MM, HATCH_STEPS, [*heads, _touch_area()])
    return tuple(router.tracks), tuple(router.vias)


def to_file(point: Point) -> Point:
    """Return a point as the maker's files have it: y upwards from the lower left corner."""
    return round(point[0], 4), round(SIZE_MM[1] - point[1], 4)


def _lines(points: tuple[Point, ...], width: float) -> Iterator[Line]:
    pen = CircleAperture(width, unit=MM)
    for a, b in pairwise(points):
        yield Line(*to_file(a), *to_file(b), pen, unit=MM)


def _flash(shape: Shape, grown: float = 0.0) -> Flash:
    left, top, right, bottom = shape.box
    x, y = to_file(((left + right) / 2, (top + bottom) / 2))
    if len(shape.points) > 2:
        return Flash(x, y, RectangleAperture(right - left + 2 * grown, bottom - top + 2 * grown, unit=MM), unit=MM)
    return Flash(x, y, CircleAperture(2 * (shape.radius + grown), unit=MM), unit=MM)


def layer_objects(ending: str) -> list[Line | Flash]:
    """Return what is drawn on the layer of a file."""
    tracks, vias = routed()
    pads = [pin.pad for part in parts() for pin in part.pins]
    match ending:
        case "gtl" | "gbl":
            layer = 0 if ending == "gtl" else 1
            ways = [track.shape for track in tracks if track.layer == layer]
            found: list[Line | Flash] = [line for way in ways for line in _lines(way.points, 2 * way.radius)]
            return found + [_flash(pad) for pad in pads] + [_flash(Shape((via.at,), VIA_MM / 2)) for via in vias]
        case "gts" | "gbs":
            screws = [_flash(Shape((at,), SCREW_HOLE_MM / 2), MASK_MM) for at in SCREWS_MM]
            return [*(_flash(pad, MASK_MM) for pad in pads), *screws]
        case "gto" | "gbo":
            ink = strokes(parts(), SIZE_MM, bottom=ending == "gbo")
            return [line for points in ink for line in _lines(points, INK_MM)]
        case _:
            return list(_lines(draw_rectangle(0, 0, *SIZE_MM), 0.1))


def gerber(ending: str) -> str:
    """Return the Gerber file of a layer; its attributes are comments, as programs before X2 read them."""
    function = LAYERS[ending]
    polarity = "Negative" if "mask" in function else "Positive"
    head, rest = GerberFile(layer_objects(ending)).write_to_bytes(FORMAT).decode("ascii").split("\n", 1)
    attributes = (f"FileFunction,{function}", f"FilePolarity,{polarity}", "Part,Single")
    return "\n".join([head, f"G04 {RIGHTS}*", *(f"G04 #@! TF.{one}*" for one in attributes), rest, ""])


def holes(*, plated: bool) -> list[tuple[Point, float]]:
    """Return the place and diameter of each plated hole, or of each hole for a screw."""
    if not plated:
        return [(at, SCREW_HOLE_MM) for at in SCREWS_MM]
    found = [(pin.at, pin.hole) for part in parts() for pin in part.pins]
    return found + [(via.at, VIA_HOLE_MM) for via in routed()[1]]


def drill(*, plated: bool) -> str:
    """Return the Excellon file of the plated holes, or of those for screws."""
    ordered = sorted(holes(plated=plated), key=lambda hole: (hole[1], hole[0]))
    tools = {hole: ExcellonTool(hole, plated=plated, unit=MM) for _, hole in ordered}
    found = [Flash(*to_file(at), tools[hole], unit=MM) for at, hole in ordered]
    return ExcellonFile(found).write_to_bytes(FORMAT).decode("ascii") + "\n"


def bom() -> str:
    """Return the list of parts that the board takes, tab separated: how many, what, footprint, names."""
    same: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for part in parts():
        same["" if part.name[0] == "J" else part.value, part.package].append(part.name)
    rows = [f"{len(names)}\t{value or '-'}\t{package}\t{' '.join(names)}" for (value, package), names in same.items()]
    return "\n".join(["count\tvalue\tfootprint\tnames", *sorted(rows, key=lambda row: row.split("\t")[3])]) + "\n"


def positions() -> str:
    """Return where each part is, as assemblers read it: mm from the lower left corner, degrees anticlockwise."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(("Designator", "Val", "Package", "Mid X", "Mid Y", "Rotation", "Layer"))
    for part in parts():
        x, y = to_file(part.middle)
        write.writerow((part.name, part.value, part.package, f"{x:.3f}", f"{y:.3f}", part.turn, "top"))
    return out.getvalue()


def maker_files() -> Iterator[tuple[str, str]]:
    """Yield name and text of every file of `hardware/board`."""
    for ending in LAYERS:
        yield f"{NAME}.{ending}", gerber(ending)
    yield f"{NAME}-plated.drl", drill(plated=True)
    yield f"{NAME}-screws.drl", drill(plated=False)
    yield f"{NAME}-parts.tsv", bom()
    yield f"{NAME}-positions.csv", positions()


def drawing() -> str:
    """Return the drawing for the guide."""
    return board_page.draw_board(parts(), *routed(), SCREWS_MM, SIZE_MM)


def main() -> int:
    """Write the files and the drawing."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in maker_files():
        (FOLDER / name).write_text(text, "utf-8")
    (HARDWARE / "drawings" / "board.svg").write_text(drawing(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
