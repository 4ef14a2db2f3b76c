"""The printed board as a file of KiCad 6 or later, and KiCad's own check of it against the board's design rules."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import board
import nets
from footprints import PAD_MM, SCREW_HOLE_MM, SIGNAL_MM, VIA_HOLE_MM, VIA_MM
from silkscreen import INK_MM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footprints import Part

LAYERS = {0: "F.Cu", 31: "B.Cu", 37: "F.SilkS", 38: "B.Mask", 39: "F.Mask", 44: "Edge.Cuts", 47: "F.CrtYd"}
SYSTEM_PYTHON = Path("/usr/bin/python3")
"""A package of KiCad brings its module `pcbnew` for the system's Python only."""
CHECK = """
import sys, pcbnew
board, report = sys.argv[1:]
assert pcbnew.WriteDRCReport(pcbnew.LoadBoard(board), report, pcbnew.EDA_UNITS_MILLIMETRES, True)
"""


@cache
def find_checker() -> str:
    """Return "kicad-cli", "pcbnew" (before version 8, whose kicad-cli can check), or "" without KiCad."""
    asked = ["kicad-cli", "pcb", "drc", "--help"]
    if (
        shutil.which("kicad-cli")
        and b"--severity-all" in subprocess.run(asked, capture_output=True, check=False).stdout
    ):
        return "kicad-cli"
    asked = [SYSTEM_PYTHON, "-c", "import pcbnew"]
    found = SYSTEM_PYTHON.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    return "pcbnew" if found else ""


def check_design_rules(text: str, folder: Path) -> list[str]:
    """Return what KiCad finds wrong with a board file, one sentence each, warnings too; writes only into `folder`."""
    path, report = folder / "mat-board.kicad_pcb", folder / "drc"
    path.write_text(text, "utf-8")
    path.with_suffix(".kicad_dru").write_text(_design_rules(), "utf-8")
    home = os.environ | {"HOME": str(folder)}
    if find_checker() == "kicad-cli":
        asked = ["kicad-cli", "pcb", "drc", "--format", "json", "--severity-all", "-o", report, path]
        subprocess.run(asked, check=True, capture_output=True, env=home)
        told = json.loads(report.read_text("utf-8"))
        found = [one for kind in ("violations", "unconnected_items") for one in told[kind]]
        # newer versions look for each footprint in a library; ours are in none
        return [one["description"] for one in found if not one["type"].startswith("lib_footprint")]
    subprocess.run([SYSTEM_PYTHON, "-c", CHECK, path, report], check=True, capture_output=True, env=home)
    told = report.read_text("utf-8")
    found = re.findall(r"^(\[\w+\]: .*)$", told, re.MULTILINE)
    counted = [int(count) for count in re.findall(r"^\*\* Found (\d+) ", told, re.MULTILINE)]
    if len(counted) != 3 or sum(counted) != len(found):
        raise ValueError(f"a report of KiCad's that is read wrongly: {told}")
    return found


def _design_rules() -> str:
    """Return the rules that the router keeps, as KiCad reads them."""
    least = {
        "clearance": board.CLEARANCE_MM,
        "edge_clearance": board.EDGE_MM,
        "hole_to_hole": board.HOLE_GAP_MM,
        "track_width": SIGNAL_MM,
        "annular_width": (VIA_MM - VIA_HOLE_MM) / 2,
        "courtyard_clearance": 0.0,
    }
    rules = [f"(rule {name} (constraint {name} (min {mm:g}mm)))" for name, mm in least.items()]
    return "\n".join(["(version 1)", *rules, ""])


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
    left, top, right, bottom = part.box
    yield f'  (fp_rect (start {left:.4f} {top:.4f}) (end {right:.4f} {bottom:.4f}) (layer "F.CrtYd") (width 0.05))'
    for line in part.lines:
        for (x0, y0), (x1, y1) in pairwise(line):
            way = f"(start {x0:.4f} {y0:.4f}) (end {x1:.4f} {y1:.4f})"
            yield f'  (fp_line {way} (layer "F.SilkS") (width {INK_MM}))'
    yield ")"
