"""The printed board: its files join what the circuits join, keep their distances, and are those of the script."""

from __future__ import annotations

import csv
import itertools
import math
import shutil
import subprocess
from collections import Counter

import board
import board_check
import harness
import kicad
import nets
import numpy as np
import power
import pytest
import silkscreen
from board_check import Copper, join_pins, measure_gaps, number_nets, read_copper
from footprints import HEADER_MM, PAD_MM, Shape, distance
from needed import need
from PIL import Image
from scipy import ndimage
from values import HARDWARE, values

from pi_controller.pinmap import pinmap

MAKERS_GAP_MM, MAKERS_EDGE_MM, MAKERS_RING_MM, MAKERS_TRACK_MM = 0.2, 0.4, 0.15, 0.2
"""What every maker of boards bears without a surcharge, with room."""
DPI = 1000
PINS = {f"{part.name} {pin.name}": board.to_file(pin.at) for part in board.parts() for pin in part.pins}


def needs(program: str) -> None:
    """Need a program on the path."""
    need(shutil.which(program), f"there is no {program} on the path")


@pytest.fixture(scope="module")
def files():
    return dict(board.maker_files())


@pytest.fixture(scope="module")
def copper(files):
    return read_copper(files, board.NAME)


def wanted() -> set[frozenset[str]]:
    """Return the sets of pins that the circuits join, and each pin that they leave open."""
    found = {frozenset(pins) for pins in nets.board_nets().values()}
    joined = {pin for pins in found for pin in pins}
    return found | {frozenset({pin}) for pin in PINS if pin not in joined}


@pytest.mark.slow
def test_board_files_match_script(files):
    stale = [name for name, text in files.items() if (board.FOLDER / name).read_text("utf-8") != text]
    assert not stale, "make them again: python hardware/drawings/board.py"
    assert {path.name for path in board.FOLDER.iterdir()} == set(files)


def test_copper_joins_exactly_the_circuit_nets(copper):
    assert join_pins(copper, PINS) == wanted()


def test_copper_keeps_its_distances(copper):
    gaps = measure_gaps(copper)
    print(f"\n{gaps}; {len(nets.board_nets())} nets, {len(copper.holes)} holes, {len(board.parts())} parts")
    assert gaps.copper >= board.CLEARANCE_MM > MAKERS_GAP_MM, "the router keeps it between the points that it tests too"
    assert gaps.edge >= MAKERS_EDGE_MM
    assert gaps.holes >= 0.5
    assert gaps.ring >= MAKERS_RING_MM
    assert gaps.tracks >= MAKERS_TRACK_MM
    assert gaps.screws >= (board.SCREW_HEAD_MM - board.SCREW_HOLE_MM) / 2, "a screw's head lies on copper"


def without(side: int, n: int, copper: Copper, *more: Shape) -> Copper:
    """Return the copper without shape `n` of a side, and with `more` there."""
    sides = [list(shapes) for shapes in copper.sides]
    del sides[side][n]
    sides[side] += more
    return copper._replace(sides=(sides[0], sides[1]))


def test_a_short_is_found(copper):
    assert join_pins(without(0, 0, copper, copper.sides[0][0]), PINS) == wanted()
    bridge = Shape((PINS["U1 3"], PINS["U1 4"]), 0.1)
    assert join_pins(without(0, 0, copper, copper.sides[0][0], bridge), PINS) != wanted()


def test_track_too_near_net_or_edge_is_found(copper):
    near = Shape((PINS["U1 3"],), HEADER_MM - PAD_MM / 2 - 0.1)
    gaps = measure_gaps(without(0, 0, copper, copper.sides[0][0], near))
    assert gaps.copper == pytest.approx(0.1, abs=1e-6)
    at_edge = Shape(((20.0, 0.3), (30.0, 0.3)), 0.1)
    assert measure_gaps(without(1, 0, copper, copper.sides[1][0], at_edge)).edge < MAKERS_EDGE_MM


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (Shape(((0, 0),), 1), Shape(((5, 0),), 1), 3),
        (Shape(((0, 0), (10, 0)), 0.5), Shape(((5, 3), (5, 9)), 0.5), 2),
        (Shape(((0, 0), (10, 0)), 0.5), Shape(((5, -3), (5, 9)), 0.5), -1),
        (Shape(((-1, -1), (1, -1), (1, 1), (-1, 1)), 0), Shape(((2, 2),), 0.25), math.sqrt(2) - 0.25),
        (Shape(((-1, -1), (1, -1), (1, 1), (-1, 1)), 0), Shape(((0.1, 0.1),), 0.25), -0.25),
    ],
)
def test_distances_of_shapes_are_right(a, b, apart):
    assert distance(a, b) == pytest.approx(apart, abs=1e-6)
    assert distance(b, a) == pytest.approx(apart, abs=1e-6)


def test_tracks_carry_their_currents():
    """3.3 V: what a port of USB gives. The lights' 5 V: what their fuse bears; their ground comes back as far."""
    usb, fuse = power.values().board.usb_ma / 1000, power.values().supply.fuse_amp
    assert board.width_for(1.0, 10.0) == pytest.approx(0.30, abs=0.01), "IPC-2221: 1 A, 10 K, 35 um: 0.3 mm"
    assert board.width_for(usb) <= board.SUPPLY_MM
    assert board.width_for(fuse) <= board.SUPPLY_MM
    widths = {(track.net, 2 * track.shape.radius) for track in board.routed()[0]}
    signals = {(net, board.SIGNAL_MM) for net in nets.board_nets() if net not in nets.SUPPLIES}
    assert widths == signals | {(net, board.SUPPLY_MM) for net in nets.SUPPLIES} | {("GND", board.SIGNAL_MM)}


def test_each_circuit_part_is_on_board_once():
    v, pads = values(), len(nets.pads())
    electrodes = pads * len(pinmap().touch.strips)
    circuits = ((v.piezo, pads), (v.passive, pads), (v.amplifier, pads), (v.op_amp, 1), (v.bus, 1))
    circuits += ((v.touch, electrodes), (v.shifter, 1))
    said = Counter()
    for circuit, times in circuits:
        for name in circuit.parts:
            if name != "disc":
                said[circuit.label(name).split(",")[0]] += times
    there = Counter(part.value for part in board.parts() if part.name[0] in "RCD" or part.name in {"U1", "U2"})
    assert there == said
    names = [part.name for part in board.parts()]
    assert len(names) == len(set(names))


def test_plugs_have_the_order_of_the_cables():
    there = {part.name: [pin.name for pin in part.pins] for part in board.parts()}
    for plug in ("J7", "J8", "J9", "J10"):
        assert there[plug] == list(harness.FIELD)
    for pad in nets.pads():
        assert there[f"J{11 + pad}"] == list(pinmap().touch.strips)


def test_square_pads_mark_first_pins():
    for part in board.parts():
        squares = [pin.name for pin in part.pins if pin.first]
        assert squares == ([] if part.name[0] in "RC" else [part.pins[0].name]), part.name


def test_parts_lie_beside_each_other_on_the_board():
    width, depth = board.SIZE_MM
    for part in board.parts():
        left, top, right, bottom = part.box
        assert min(left, top, width - right, depth - bottom) > 0.2, part.name
        for x, y in board.SCREWS_MM:
            assert math.dist((x, y), (min(max(x, left), right), min(max(y, top), bottom))) >= 3.0, part.name
    for a, b in itertools.combinations(board.parts(), 2):
        (a0, b0, a1, b1), (c0, d0, c1, d1) = a.box, b.box
        assert min(a1, c1) <= max(a0, c0) + 1e-6 or min(b1, d1) <= max(b0, d0) + 1e-6, (a.name, b.name)


def test_board_fits_box_in_mat_drawing():
    import mat

    assert board.SIZE_MM[0] < mat.BOARD_BOX[0] - 10
    assert board.SIZE_MM[1] < mat.BOARD_BOX[1]


def test_print_is_legible_and_off_the_pads():
    labels = list(silkscreen.labels(board.parts(), board.SIZE_MM))
    assert min(label.size for label in labels) >= 0.8
    boxes = [(label, silkscreen.label_box(label)) for label in labels]
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        apart = min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1])
        assert apart or one.bottom != other.bottom, (one.text, other.text)
    openings = [pin.pad._replace(radius=pin.pad.radius + board.MASK_MM) for part in board.parts() for pin in part.pins]
    for bottom in (False, True):
        lines = silkscreen.strokes(board.parts(), board.SIZE_MM, bottom=bottom)
        ink = [Shape(pair, silkscreen.INK_MM / 2) for line in lines for pair in itertools.pairwise(line)]
        for a, b in board_check.near_pairs(ink, openings, 0.0):
            assert distance(ink[a], openings[b]) > 0, ink[a]


def test_lists_have_every_part_once(files):
    rows = [row.split("\t") for row in files[f"{board.NAME}-parts.tsv"].splitlines()[1:]]
    names = sorted(part.name for part in board.parts())
    assert sorted(name for row in rows for name in row[3].split()) == names
    assert all(int(row[0]) == len(row[3].split()) for row in rows)
    places = list(csv.DictReader(files[f"{board.NAME}-positions.csv"].splitlines()))
    assert sorted(row["Designator"] for row in places) == names
    for row in places:
        assert 0 < float(row["Mid X"]) < board.SIZE_MM[0]
        assert 0 < float(row["Mid Y"]) < board.SIZE_MM[1]


def picture(name: str, folder, size: tuple[float, float]) -> np.ndarray:
    """Return where gerbv draws something of a file of the board: True at [row, column], the board's corner first."""
    told = subprocess.run(
        ["gerbv", "-x", "png", "-D", str(DPI), "-O", "0x0", "-B", "0", "-W", f"{size[0]:.3f}x{size[1]:.3f}",
         "-b", "#000000", "-f", "#ffffffff", "-o", folder / "it.png", board.FOLDER / name],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr.strip()) == (0, "")
    return np.array(Image.open(folder / "it.png").convert("L")) > 127


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Return what gerbv draws of each file that a maker takes."""
    needs("gerbv")
    folder = tmp_path_factory.mktemp("gerbv")
    size = tuple(mm / 25.4 for mm in board.SIZE_MM)
    names = [path.name for path in sorted(board.FOLDER.iterdir()) if path.suffix not in {".tsv", ".csv"}]
    return {name: picture(name, folder, size) for name in names}


@pytest.mark.slow
def test_another_program_sees_as_many_pieces_of_copper(pictures, copper):
    for ending, side in zip(board_check.SIDES, copper.sides, strict=True):
        alone = number_nets(Copper((side, []), [], []))[0]
        assert ndimage.label(pictures[f"{board.NAME}.{ending}"])[1] == len(set(alone))


def test_gerber_reader_finds_copper_at_every_hole(pictures):
    drilled = pictures[f"{board.NAME}-plated.drl"]
    for at in PINS.values():
        row, column = drilled.shape[0] - 1 - round(at[1] / 25.4 * DPI), round(at[0] / 25.4 * DPI)
        assert drilled[row, column]
        assert all(pictures[f"{board.NAME}.{ending}"][row, column] for ending in ("gtl", "gbl", "gts", "gbs"))
    assert ndimage.label(drilled)[1] == len(PINS) + len(board.routed()[1])


@pytest.fixture
def needs_kicad():
    """Need KiCad."""
    need(kicad.find_checker(), "there is neither kicad-cli nor the system Python's pcbnew")


@pytest.mark.parametrize(("option", "usable"), [("--severity-all", True), ("--output", False)])
def test_kicad_cli_without_drc_is_not_used(tmp_path, monkeypatch, option, usable):
    (tmp_path / "kicad-cli").write_text(f"#!{shutil.which('sh')}\necho usage: {option}\n", "utf-8")
    (tmp_path / "kicad-cli").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (kicad.find_checker.__wrapped__() == "kicad-cli") == usable


@pytest.mark.kicad
def test_kicad_finds_no_fault(needs_kicad, tmp_path):
    assert kicad.check_design_rules(kicad.board_file(), tmp_path) == []


@pytest.mark.kicad
def test_kicad_finds_unconnected_pin(needs_kicad, tmp_path):
    text = "\n".join(row for row in kicad.board_file().splitlines() if not row.startswith("(segment"))
    assert any("unconnected" in one.lower() or "Missing connection" in one
               for one in kicad.check_design_rules(text, tmp_path))  # fmt: skip


def test_kicad_file_has_every_net_pad_and_track():
    from gerbonara.cad.kicad.pcb import Board
    from gerbonara.cad.kicad.sexp import parse_sexp

    text = kicad.board_file()
    assert parse_sexp(text)
    found = Board.parse(text)
    assert set(found.nets.values()) - {""} == set(nets.board_nets())
    assert sum(len(part.pads) for part in found.footprints) == len(PINS) + len(board.SCREWS_MM)
    assert len(list(found.track_segments)) == len(board.routed()[0])


def test_the_page_says_the_boards_figures(copper):
    page, gaps = " ".join((HARDWARE / "circuits.md").read_text("utf-8").split()), measure_gaps(copper)
    assert page.count(f"{board.SIZE_MM[0]:g} x {board.SIZE_MM[1]:g} mm") == 2
    hole = min(hole.size for hole in copper.holes)
    assert f"track is {gaps.tracks:g} mm, the least gap {gaps.copper:.2f} mm, the smallest hole {hole:g} mm" in page
    assert "nine files, four large holes" in page
    assert (len(board.LAYERS) + 2, len(board.SCREWS_MM)) == (9, 4)
    assert (
        f"are {board.SUPPLY_MM:g} mm wide, which the strip's fuse current warms by less than {board.HEATED_K:g} K"
        in page
    )
