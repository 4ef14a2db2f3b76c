"""The mechanical drawings: they are those of the pin map, true to scale, and what they show can be put together."""

import importlib
import itertools
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pi_controller.mat.bead_refine import LIES_AT_MM
from pi_controller.pinmap import pinmap

HARDWARE = Path(__file__).parents[2] / "hardware"
DRAWINGS = HARDWARE / "drawings"
SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("mat", "one-mat", "two-mats", "lights", "pad-section", "pad-apart", "pad-template", "bead")


def module(name):
    """Return `hardware/drawings/<name>.py`: they are scripts and no package."""
    if str(DRAWINGS) not in sys.path:
        sys.path.insert(0, str(DRAWINGS))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def made():
    return dict(module("mat").drawings())


def test_every_drawing_in_the_tree_is_that_of_the_pin_map(made):
    assert {f"{name}.svg" for name in NAMES} <= set(made)
    stale = [name for name, text in made.items() if (DRAWINGS / name).read_text("utf-8") != text]
    assert not stale, "make them again: python hardware/drawings/mat.py"


def test_no_page_of_tiles_is_left_over(made):
    there = {path.name for path in DRAWINGS.glob("pad-*.svg")}
    assert there == {name for name in made if name.startswith("pad-")}


def test_drawings_are_in_millimetres_and_nothing_stands_off_the_page(made):
    for name, text in made.items():
        root = ET.fromstring(text)
        width, height = float(root.get("width")[:-2]), float(root.get("height")[:-2])
        assert root.get("width").endswith("mm")
        assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
        for said in root.iter(f"{SVG}text"):
            if any(said in list(inner) for inner in root.findall(f"{SVG}svg")):
                continue  # cut off at the crop marks on purpose
            size = float(said.get("font-size"))
            assert size >= 3.0, (name, said.text)
            wide = 0.52 * size * len(said.text)  # as wide a letter as the usual sans serifs have
            x = float(said.get("x"))
            left = {"start": x, "middle": x - wide / 2, "end": x - wide}[said.get("text-anchor")]
            if said.get("transform") is None:
                assert left > 1, (name, said.text)
                assert left + wide < width - 1, (name, said.text)
            assert 2 < float(said.get("y")) < height - 1, (name, said.text)


def test_no_two_texts_lie_on_each_other(made):
    for name, text in made.items():
        boxes = []
        for said in ET.fromstring(text).findall(f"{SVG}text"):
            if said.get("transform") is not None:
                continue
            size, x, y = (float(said.get(key)) for key in ("font-size", "x", "y"))
            wide = 0.5 * size * len(said.text)
            left = {"start": x, "middle": x - wide / 2, "end": x - wide}[said.get("text-anchor")]
            boxes.append((left, y - 0.7 * size, left + wide, y, said.text))
        for a, b in itertools.combinations(boxes, 2):
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (name, a[4], b[4])


def test_the_stack_of_boards_puts_the_chips_at_the_pin_maps_depth():
    assert -module("geometry").build().chip_z == pytest.approx(pinmap().magnetometers.depth_mm)


def test_pieces_fit_into_each_other():
    geometry = module("geometry")
    built, well = geometry.build(), geometry.well()
    row = sorted([*geometry.slats(), *geometry.channels()])
    assert row[0].left == geometry.outline().left
    assert row[-1].right == geometry.outline().right
    assert all(a.right == pytest.approx(b.left) for a, b in itertools.pairwise(row))
    row = sorted([*map(geometry.plate, geometry.pads()), *geometry.dividers()])
    assert all(b.left - a.right == pytest.approx(built.clear_mm) for a, b in itertools.pairwise(row))
    assert row[0].left - well.left == row[0].near - well.near == built.clear_mm
    tall = {name: float(size.split(" x ")[2]) for name, _, size, _ in geometry.pieces()}
    assert tall["divider"] == tall["plate"] + tall["foam"]
    assert tall["tray's wall, hiders' edge"] + tall["lid of the tray"] == pytest.approx(
        tall["divider"] + built.slat_mm
    ), "lid, plates and dividers are level"


def test_every_module_lies_whole_in_its_channel_with_room_for_cables():
    geometry = module("geometry")
    wide, deep = geometry.build().module_mm
    for x, y, _ in pinmap().magnetometer_positions():
        (way,) = [way for way in geometry.channels() if way.left < x < way.right]
        assert x - wide / 2 - way.left >= 8
        assert way.right - x - wide / 2 >= 8
        assert way.near < y - deep / 2
        assert y + deep / 2 < way.far


def test_board_and_multiplexers_of_the_harness_lie_in_the_tray():
    geometry, mat = module("geometry"), module("mat")
    harness = mat.values().harness
    boxes = [geometry.around(*harness.box_mm, *mat.BOARD_BOX)]
    boxes += [geometry.around(x, y, *mat.MUX) for x, y in harness.muxes_mm]
    tray = geometry.service()
    for box in boxes:
        assert tray.left <= box.left < box.right <= tray.right
        assert tray.near <= box.near < box.far <= tray.far
    for a, b in itertools.combinations(boxes, 2):
        assert a.right <= b.left or b.right <= a.left or a.far <= b.near or b.far <= a.near


def test_mat_lights_and_pi_lie_in_the_playing_area():
    places, geometry = module("places"), module("geometry")
    out = geometry.outline()
    right = out.right + places.LIGHTS_AWAY_MM + places.LIGHT_BOARD[0]
    assert right < places.AREA.right - 66 - places.PI_BOX[0] / 2
    assert max(count for _, count, _, _ in places.light_rows()) * places.PIXEL_MM < places.LIGHT_BOARD[0]
    assert sum(count for _, count, _, _ in places.light_rows()) == pinmap().lights.count


@pytest.mark.parametrize("paper", ["A4", "A3"])
def test_tiles_show_the_whole_template_at_full_size(made, paper):
    tiles = module("tiles")
    (size,) = [one for one in tiles.PAPERS if one.name == paper]
    parts = tiles.tiles(size)
    wide, high = tiles.FIELD.size
    assert max(part.left + part.width for part in parts) == pytest.approx(wide)
    assert max(part.top + part.height for part in parts) == pytest.approx(high)
    for number, part in enumerate(parts, 1):
        name = f"pad-{paper.lower()}-{number}.svg"
        root = ET.fromstring(made[name])
        (window,) = root.findall(f"{SVG}svg")
        left, top, width, height = map(float, window.get("viewBox").split())
        # at full size: a window of the paper shows as many mm of the template
        assert (float(window.get("width")), float(window.get("height"))) == (width, height)
        assert (left, top) == pytest.approx((part.left, part.top), abs=0.001)
        assert float(window.get("x")) >= tiles.MARGIN_MM - 0.001
        texts = [said.text for said in root.findall(f"{SVG}text")]
        assert any(f"page {number} of {len(parts)}" in said for said in texts)
        bars = [line.get("points") for line in root.findall(f"{SVG}polyline") if line.get("stroke-width") == "0.6"]
        (x0, _), (x1, _) = ([float(value) for value in pair.split(",")] for pair in bars[0].split())
        assert x1 - x0 == pytest.approx(100.0)
    for a, b in itertools.combinations(parts, 2):
        if a.row == b.row and b.column == a.column + 1:
            assert a.left + a.width - b.left == pytest.approx(tiles.OVERLAP_MM)


def test_the_template_has_each_chip_where_the_pin_map_has_it(made):
    tiles = module("tiles")
    root = ET.fromstring(made["pad-template.svg"])
    wide, deep = module("geometry").build().module_mm
    found = set()
    for rect in root.iter(f"{SVG}rect"):
        if (float(rect.get("width")), float(rect.get("height"))) == (wide, deep):
            x, y = float(rect.get("x")) + wide / 2, float(rect.get("y")) + deep / 2
            found.add((round(x - 10 + tiles.FIELD.left, 2), round(tiles.FIELD.far - (y - 24), 2)))
    assert found == set(pinmap().magnetometers.offsets_mm)


def test_the_beads_lie_where_the_fit_looks_for_them_and_do_not_blind_the_sensor_below():
    beads, pads = module("beads"), module("pads")
    mean, sigma = LIES_AT_MM
    for height in (pads.BALL_MM / 2, 4.0):  # the ball; the flat bead
        assert abs(height - mean) < 2 * sigma
    maps = pinmap().magnetometers
    assert beads.field(beads.MARKED_AM2, maps.depth_mm + pads.BALL_MM / 2) + 75 < maps.range_ut
    assert beads.field(beads.MARKED_AM2, maps.depth_mm + 4.0) / 2 + 75 < maps.range_ut, "lying on its side"
    assert beads.force(beads.MARKED_AM2, beads.UNMARKED_AM2, 25) < beads.weight(25) / 2
    assert beads.force(beads.UNMARKED_AM2, beads.UNMARKED_AM2, 12) == pytest.approx(0.08, abs=0.005)
    # what SAFETY.md says of pacemakers
    assert beads.field(beads.MARKED_AM2, 150) == pytest.approx(10, abs=1)
    assert beads.field(beads.MARKED_AM2, 33) == pytest.approx(1000, abs=50)


def test_the_guides_figures_are_those_of_the_pieces():
    text = (HARDWARE / "README.md").read_text("utf-8")
    geometry, maps = module("geometry"), pinmap()
    xs = sorted({x for x, _, _ in maps.magnetometer_positions()})
    strip = geometry.strips(1)[0].size
    for said in (
        f"{maps.pads.pitch_mm:g} mm apart",
        f"{geometry.outline().far:g} mm from the far",
        f"neighbouring pads are {xs[2] - xs[1]:g} mm apart",
        f"outermost columns {xs[-1] - xs[0]:g} mm",
        f"{strip[0]:g} x {strip[1]:g} mm each",
        f"a {geometry.build().channel_mm:g} mm block",
        f"hole of {geometry.build().foam_hole_mm:g} mm",
        f"{-geometry.build().base_top:g} mm down to the base",
    ):
        assert said in " ".join(text.split()), said
    for link in re.findall(r"\]\((drawings/[^)]+)\)", text):
        assert (HARDWARE / link).exists(), link
