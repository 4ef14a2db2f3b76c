"""The mechanical drawings: they are those of the pin map, true to scale, and what they show can be put together."""

import importlib
import itertools
import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import BEAD_HEIGHT_MM

HARDWARE = Path(__file__).parents[2] / "hardware"
DRAWINGS = HARDWARE / "drawings"
SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("mat", "one-mat", "two-mats", "lights", "pad-section", "pad-apart", "pad-template", "bead", "perfboard")


def module(name):
    """Return `hardware/drawings/<name>.py`: they are scripts and no package."""
    if str(DRAWINGS) not in sys.path:
        sys.path.insert(0, str(DRAWINGS))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def made():
    return dict(module("mat").drawings()) | {"board.svg": module("board").drawing()}


@pytest.mark.slow
def test_drawings_match_pin_map(made):
    assert {f"{name}.svg" for name in NAMES} <= set(made)
    stale = [name for name, text in made.items() if (DRAWINGS / name).read_text("utf-8") != text]
    assert not stale, "make them again: python hardware/drawings/mat.py, board.py"


def test_no_page_of_tiles_is_left_over(made):
    there = {path.name for path in DRAWINGS.glob("pad-*.svg")}
    assert there == {name for name in made if name.startswith("pad-")}


def test_drawings_are_in_millimetres_within_page(made):
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


def test_drawings_have_title_and_licence(made):
    licence = (HARDWARE / "LICENSE").read_text("utf-8")
    assert licence.startswith("CERN Open Hardware Licence Version 2 - Permissive\n")
    assert "7.4 This Licence shall not be enforceable" in licence
    files = {path.name: path.read_text("utf-8") for path in DRAWINGS.glob("*.svg")}
    assert set(made) < set(files)
    for name, text in files.items():
        root = ET.fromstring(text)
        assert len(root.findtext(f"{SVG}title", "")) > 9, name
        assert "SPDX-License-Identifier: CERN-OHL-P-2.0" in root.findtext(f"{SVG}desc", ""), name
    for path in DRAWINGS.glob("*.yml"):
        assert path.read_text("utf-8").startswith("# SPDX-License-Identifier: CERN-OHL-P-2.0")


def test_board_stack_puts_chips_at_pin_map_depth():
    assert -module("geometry").build().chip_z == pytest.approx(pinmap().magnetometers.depth_mm)


def test_flat_mat_is_level_without_slats():
    geometry = module("geometry")
    flat = geometry.flat()
    assert -flat.chip_z == pytest.approx(flat.flat.depth_mm)
    assert flat.height_mm == pytest.approx(25.0)
    tall = {name: float(size.split(" x ")[2]) for name, _, size, _ in geometry.pieces(flat)}
    assert not [name for name in tall if "slat" in name]
    assert "15" not in {size.split(" x ")[2] for _, _, size, _ in geometry.pieces(flat)}
    assert tall["divider"] == tall["plate"] + tall["block of foam"] + tall["square under a block"]
    assert tall["divider"] == tall["tray's wall, left"] + tall["lid of the tray"], "lid, plates and dividers are level"
    assert flat.foam_mm + flat.slat_mm > flat.chip_mm + 0.4, "nothing touches a chip"
    blocks = [(number, size) for name, number, size, _ in geometry.pieces(flat) if name.startswith(("block", "square"))]
    assert len({number for number, _ in blocks}) == 1


def test_flat_mat_squares_miss_modules():
    geometry = module("geometry")
    modules = [geometry.around(x, y, *geometry.build().module_mm) for x, y in pinmap().magnetometers.offsets_mm]
    for block, one in itertools.product(geometry.blocks(), modules):
        assert block.right <= one.left or one.right <= block.left or block.far <= one.near or one.far <= block.near


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
    assert tall["divider"] == tall["plate"] + tall["block of foam"]
    assert tall["tray's wall, hiders' edge"] + tall["lid of the tray"] == pytest.approx(
        tall["divider"] + built.slat_mm
    ), "lid, plates and dividers are level"


def test_usb_cable_leaves_through_wall_notch():
    geometry, values = module("geometry"), module("values").values()
    notch, tray, out = geometry.usb_notch(), geometry.service(), geometry.outline()
    assert (notch.near + notch.far) / 2 == values.harness.box_mm[1]
    assert tray.near < notch.near
    assert notch.far < tray.far
    assert (notch.left, notch.right) == (tray.right, out.right)
    (wall,) = [(name, size) for name, _, size, _ in geometry.pieces() if "notch" in name]
    wide, high = geometry.build().usb_notch_mm
    assert f"notch {wide:g} x {high:g} " in wall[0]
    assert f"{notch.near - tray.near:g} from its near end" in wall[0]
    assert high < float(wall[1].split(" x ")[2]) / 2, "the wall above it stays strong"
    assert (wide, high) >= (16.0, 9.0), "the plug, a USB-C's or a USB-A's, passes"


def test_foam_blocks_rest_on_slats_clear_of_disc():
    geometry, maps = module("geometry"), pinmap()
    plate, disc = geometry.around(0, 0, maps.pads.width_mm, maps.pads.depth_mm), geometry.build().disc_at_mm
    ways = [geometry.around(x, 0, geometry.build().channel_mm, maps.pads.depth_mm) for x in geometry.columns()]
    assert len(geometry.blocks()) == 8
    for block in geometry.blocks():
        assert plate.left <= block.left < block.right <= plate.right
        assert plate.near <= block.near < block.far <= plate.far
        assert all(block.right <= way.left or way.right <= block.left for way in ways)
        x, y = (min(max(at, low), high) for at, low, high in zip(disc, block[:2], block[2:], strict=True))
        assert ((x - disc[0]) ** 2 + (y - disc[1]) ** 2) ** 0.5 > geometry.build().disc_mm / 2 + 5


def test_posts_support_lid_and_leave_cable_channels(made):
    geometry, mat = module("geometry"), module("mat")
    posts, harness = geometry.posts(), mat.values().harness
    (told,) = [(n, size) for name, n, size, _ in geometry.pieces() if name == "post under the lid"]
    assert told[0] == len(posts) == 4
    boxes = [geometry.around(*harness.box_mm, *mat.BOARD_BOX)]
    boxes += [geometry.around(x, y, *mat.MUX) for x, y in harness.muxes_mm]
    tray = geometry.service()
    for post in posts:
        assert tray.near < post.near < post.far == tray.far
        assert post.near > harness.muxes_mm[0][1] - 16.0, "the trunk goes by"
        assert all(post.right <= way.left or way.right <= post.left for way in geometry.channels())
        for box in boxes:
            assert post.right <= box.left or box.right <= post.left or post.near >= box.far
    root = ET.fromstring(made["mat.svg"])
    wide, deep = (side * 0.2 for side in (posts[0].right - posts[0].left, posts[0].far - posts[0].near))
    drawn = [
        rect
        for rect in root.iter(f"{SVG}rect")
        if rect.get("width") == f"{wide:g}" and rect.get("height") == f"{deep:g}"
    ]
    assert len(drawn) == len(posts)


def test_modules_fit_channels_with_cable_room():
    geometry = module("geometry")
    wide, deep = geometry.build().module_mm
    for x, y, _ in pinmap().magnetometer_positions():
        (way,) = [way for way in geometry.channels() if way.left < x < way.right]
        assert x - wide / 2 - way.left >= 8
        assert way.right - x - wide / 2 >= 8
        assert way.near < y - deep / 2
        assert y + deep / 2 < way.far


def test_board_and_multiplexers_fit_in_tray():
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


def test_cables_are_bought_as_long_as_their_ways():
    places, harness = module("places"), module("harness")
    assert places.button_m() == 2.7
    for sheet in (harness.table_pi(), harness.light()):
        lengths = [one["length"] for one in sheet.document()["cables"].values()]
        assert lengths.count(2.7) == len([name for name in sheet.document()["connectors"] if name.startswith("Button")])
    assert max(places.usb_m("one"), places.usb_m("A")) < 2.0 < places.usb_m("B") < 3.0


def test_off_centre_disc_senses_modes_above_bounce():
    plate = module("plate")
    softest = plate.modes(False, plate.FOAM_PA[0])
    (missed, count), (few, _) = plate.deaf(softest, (0.0, 0.0)), plate.deaf(softest, plate.build().disc_at_mm)
    assert (missed, few, count) == (8, 0, 10)
    assert 25 <= math.hypot(*plate.build().disc_at_mm) <= 30
    low, high = (plate.bounce_hz(False, pa) for pa in plate.FOAM_PA)
    assert high < plate.BAND_HZ[0] / 1.5
    assert plate.BAND_HZ[0] < plate.bounce_hz(True, plate.FOAM_PA[1]), "a whole sheet may bounce inside the band"
    # a plate that lies on springs everywhere alike bounces by the formula, whatever the method
    whole = plate.modes(True, plate.FOAM_PA[0])
    assert min(abs(whole.hz - plate.bounce_hz(True, plate.FOAM_PA[0]))) < 0.5
    page = " ".join((HARDWARE / "FIRST_MAT.md").read_text("utf-8").split())
    sheet = [round(plate.bounce_hz(True, pa)) for pa in plate.FOAM_PA]
    assert f"at {low:.0f} to {high:.0f} Hz on blocks" in page
    assert "{} to {} Hz on a sheet".format(*sheet) in page
    assert "the detector's band is {:.0f} to {:.0f} Hz".format(*plate.BAND_HZ) in page
    assert f"deaf to {missed} modes of {count}" in page
    assert "the disc at {:g}, {:g} mm".format(*plate.build().disc_at_mm) in page
    assert low < high


def test_free_square_plate_modes_match_textbook():
    plate = module("plate")
    modes = plate.modes(True, 0.0, 2000.0)
    # Leissa, free square plate, nu = 0.3: 13.49, 19.60, 24.27; here 250 x 300 mm, so between the squares of both sides
    stiff = plate.YOUNG_PA * 0.006**3 / 12 / (1 - plate.POISSON**2)
    scale = (stiff / (plate.DENSITY_KG_M3 * 0.006)) ** 0.5 / (2 * math.pi)
    assert modes.hz[2] < 2.0, "three ways to move without bending"
    assert 13.49 * scale / 0.3**2 < modes.hz[3] < 13.49 * scale / 0.25**2


def test_mat_lights_and_pi_fit_playing_area():
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


def test_template_places_chips_as_pin_map(made):
    tiles = module("tiles")
    root = ET.fromstring(made["pad-template.svg"])
    wide, deep = module("geometry").build().module_mm
    found = set()
    for rect in root.iter(f"{SVG}rect"):
        if (float(rect.get("width")), float(rect.get("height"))) == (wide, deep):
            x, y = float(rect.get("x")) + wide / 2, float(rect.get("y")) + deep / 2
            found.add((round(x - 10 + tiles.FIELD.left, 2), round(tiles.FIELD.far - (y - 24), 2)))
    assert found == set(pinmap().magnetometers.offsets_mm)


def test_bead_heights_and_magnets_suit_fit_and_sensors():
    beads, pads = module("beads"), module("pads")
    mean, sigma = BEAD_HEIGHT_MM
    for height in (pads.BALL_MM / 2, 4.0):  # the ball; the flat bead
        assert abs(height - mean) < 2 * sigma
    maps = pinmap().magnetometers
    assert beads.field(beads.MARKED_AM2, maps.depth_mm + pads.BALL_MM / 2) + 75 < maps.range_ut
    assert beads.field(beads.MARKED_AM2, maps.depth_mm + 4.0) / 2 + 75 < maps.range_ut, "lying on its side"
    # 1.3 T and the fit's moment are the same magnet
    assert pytest.approx(beads.BR_TESLA / (4e-7 * math.pi) * math.pi * 9e-6 * 6e-3, rel=0.01) == beads.MARKED_AM2
    assert beads.LEAST_BALL_MM / 2 - 3 >= 6
    assert beads.force(beads.MARKED_AM2, beads.UNMARKED_AM2, 25) < beads.weight(25) / 2
    assert beads.force(beads.UNMARKED_AM2, beads.UNMARKED_AM2, 12) == pytest.approx(0.08, abs=0.005)
    # what SAFETY.md says of toys
    safety = (HARDWARE / "SAFETY.md").read_text("utf-8")
    for size, times in ((6, 19), (4, 8)):
        assert round(beads.flux_index(size, size) / beads.TOY_KG2_MM2) == times
        assert f"{times} times" in safety
    # what the drawing of two mats says
    assert beads.field(beads.MARKED_AM2, 350) == pytest.approx(1.0, abs=0.25), (
        "about the noise of a sample, 1 microtesla"
    )
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
        f"eight blocks of {geometry.build().foam_block_mm:g} x {geometry.build().foam_block_mm:g} mm",
        "({:g} mm to the right, {:g} mm away from the hider)".format(*geometry.build().disc_at_mm),
        f"{geometry.tape_m(30):.1f} m",
        f"{-geometry.build().base_top:g} mm down to the base",
    ):
        assert said in " ".join(text.split()), said
    for link in re.findall(r"\]\((drawings/[^)]+)\)", text):
        assert (HARDWARE / link).exists(), link
