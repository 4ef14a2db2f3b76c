"""The printed board as a file of KiCad 6 or later, for KiCad's own check of its rules."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import board
import nets
from footprints import PAD_MM, SCREW_HOLE_MM, VIA_HOLE_MM, VIA_MM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footprints import Part

LAYERS = {0: "F.Cu", 31: "B.Cu", 38: "B.Mask", 39: "F.Mask", 44: "Edge.Cuts"}


def board_file() -> str:
    """Return the board as KiCad reads it."""
    return "\n".join(["(kicad_pcb (version 20211014) (generator moccasin_mat)", *_inside(), ")", ""])


def _inside() -> Iterator[str]:
    numbers = {name: n for n, name in enumerate(nets.board_nets(), 1)}
    net_of = {lead: name for name, leads in nets.board_nets().items() for lead in leads}
    layers = " ".join(f'({n} "{name}" {"signal" if "Cu" in name else "user"})' for n, name in LAYERS.items())
    yield f'(general (thickness 1.6)) (paper "A4") (layers {layers})'
    yield '(net 0 "")'
    yield from (f'(net {n} "{name}")' for name, n in numbers.items())
    for part in board.parts():
        yield from _footprint(part, numbers, net_of)
    for x, y in board.SCREWS_MM:
        size = f"(size {SCREW_HOLE_MM} {SCREW_HOLE_MM}) (drill {SCREW_HOLE_MM})"
        yield f'(footprint "mat:screw" (layer "F.Cu") (at {x} {y})'
        yield f'  (pad "" np_thru_hole circle (at 0 0) {size} (layers "*.Cu" "*.Mask")))'
    width, depth = board.SIZE_MM
    corners = [(0, 0), (width, 0), (width, depth), (0, depth), (0, 0)]
    for (x0, y0), (x1, y1) in pairwise(corners):
        yield f'(gr_line (start {x0} {y0}) (end {x1} {y1}) (layer "Edge.Cuts") (width 0.1))'
    tracks, vias = board.routed()
    for track in tracks:
        (x0, y0), (x1, y1) = track.shape.points
        way = f"(start {x0:.4f} {y0:.4f}) (end {x1:.4f} {y1:.4f}) (width {2 * track.shape.radius})"
        yield f'(segment {way} (layer "{"FB"[track.layer]}.Cu") (net {numbers[track.net]}))'
    for via in vias:
        at = f"(at {via.at[0]:.4f} {via.at[1]:.4f}) (size {VIA_MM}) (drill {VIA_HOLE_MM})"
        yield f'(via {at} (layers "F.Cu" "B.Cu") (net {numbers[via.net]}))'


def _footprint(part: Part, numbers: dict[str, int], net_of: dict[str, str]) -> Iterator[str]:
    yield f'(footprint "mat:{part.name}" (layer "F.Cu") (at 0 0)'
    for pin in part.pins:
        x, y = pin.at
        net = net_of.get(f"{part.name} {pin.name}")
        joined = f'(net {numbers[net]} "{net}")' if net else ""
        kind = f"thru_hole {'rect' if pin.first else 'circle'}"
        size = f"(size {PAD_MM} {PAD_MM}) (drill {pin.hole})"
        yield f'  (pad "{pin.name}" {kind} (at {x:.4f} {y:.4f}) {size} (layers "*.Cu" "*.Mask") {joined})'
    yield ")"
