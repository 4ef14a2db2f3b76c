"""The page of the small mat: its parts add up, its pieces fit, its pictures exist, its checks are the doctor's."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from pi_controller import cli
from pi_controller.calibration.walk import Walk
from pi_controller.pinmap import pinmap
from pi_controller.sensing.strikes import StrikeSettings

HARDWARE = Path(__file__).parents[2] / "hardware"
TEXT = (HARDWARE / "SMALL_MAT.md").read_text("utf-8")
STEPS = re.split(r"^## (?=\d+\. )", TEXT, flags=re.MULTILINE)[1:]
SETTINGS = "\n".join(re.findall(r"^    (\[\w+\]|\w+ = .+|)$", TEXT[TEXT.index("Write `table.toml`") :], re.MULTILINE))
LIGHTS = ("WS2812B", "5 V supply", "DC socket", "ATO blade", "holder", "capacitor 1000", "74AHCT125", "wire 18")
ROWS = [
    (name.split("; ")[0], int(many), float(euros) / int(many), float(euros))
    for name, many, euros in re.findall(r"^\| ([^|*]+) \| (\d+) \| ([\d.]+) \|$", TEXT, re.MULTILINE)
]


def module(name):
    """Return `hardware/drawings/<name>.py`: they are scripts and no package."""
    if str(HARDWARE / "drawings") not in sys.path:
        sys.path.insert(0, str(HARDWARE / "drawings"))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the doctor's lines of the small mat's settings, name -> outcome, on a simulated mat."""
    path = tmp_path_factory.mktemp("small") / "table.toml"
    path.write_text(SETTINGS, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        said = []
        patch.setattr("builtins.print", lambda *words, **_: said.append(" ".join(map(str, words))))
        assert cli.main(["mat", "check", "--sim", "--json", "--settings", str(path)]) == 0
    return {line["name"]: line["outcome"] for line in json.loads("\n".join(said))["lines"]}


def test_parts_add_up():
    assert len(ROWS) > 30
    lists = TEXT[TEXT.index("| part | many |") :].split("| part | many |")[1:]
    sums = [sum(float(euros) for euros in re.findall(r" \d+ \| ([\d.]+) \|$", one, re.MULTILINE)) for one in lists]
    said = [float(euros) for euros in re.findall(r"^\| \*\*[\w ,]+\*\* \|.*\*\*([\d.]+)\*\* \|$", TEXT, re.MULTILINE)]
    assert said == pytest.approx(sums)
    assert sum(sums) == pytest.approx(sum(row[3] for row in ROWS))
    assert f"**{sum(sums):.2f}** euros" in TEXT
    mat, everything = map(
        int, re.search(r"about (\d+) euros beside the Pi.*?about (\d+) with all", TEXT, re.DOTALL).groups()
    )
    assert abs(sums[0] - mat) < 1
    assert abs(sum(sums) - everything) < 1
    lights = [row[3] for row in ROWS if row[0].startswith(LIGHTS)]
    assert len(lights) == len(LIGHTS)
    assert sum(lights) == pytest.approx(sums[1])
    many = {name: (count, each) for name, count, each, _ in ROWS}
    shared = many["printed board, five pieces with postage"][1] * 4 / 5
    assert f"each pays {shared:.2f} less" in TEXT
    spares = ("QMC5883L or QMC5883P module", "wooden ball 25 mm, undrilled", "magnet D6x6 N42")
    assert f"spares ({sum(many[name][1] for name in spares):.2f})" in TEXT
    assert re.search(r"as of \w+ 20\d\d", TEXT)


def test_small_parts_are_the_printed_boards():
    listed = (HARDWARE / "board" / "mat-board-parts.tsv").read_text("utf-8").splitlines()[1:]
    board = [row.split("\t") for row in listed]
    many = {name: count for name, count, *_ in ROWS}
    assert many["resistor"] == sum(int(count) for count, value, *_ in board if value.endswith("Ω"))
    ceramic = many["capacitor, ceramic"] + many["capacitor 2.2 µF"]
    assert ceramic == sum(int(count) for count, value, *_ in board if value.endswith("F"))
    assert many["capacitor 2.2 µF"] == sum(int(count) for count, value, *_ in board if value == "2.2 µF")
    assert many["BAT85"] == sum(int(count) for count, value, *_ in board if value == "BAT85")
    headers = re.search(r"5 of 2 ways, 5 of 3, 4 of 4", TEXT)
    ways = {where.split(",")[1].split()[0]: int(count) for count, _, where, _ in board if where.startswith("JST XH")}
    assert headers
    assert ways == {"2": 5, "3": 5, "4": 4}


def test_pieces_match_drawings_and_fit_two_sheets():
    small = module("small_mat")
    told = re.findall(r"^\| ([a-z ]+, (?:hardboard|camping mat)) \| (\d+) \| (.+) \|$", TEXT, re.MULTILINE)
    assert [(name, int(many), size) for name, many, size in told] == small.pieces()
    size = {name.split(",")[0]: [float(mm) for mm in mms.split(" x ")] for name, _, mms in told}
    base, lid, half = size["base"], size["lid over the cables"], size["half of a plate"]
    assert base[0] <= 1220
    assert base[1] + lid[1] + size["second layer under the lid"][1] <= 610 - 2 * 3, "two cuts of a saw"
    assert 4 * half[0] <= 1220
    assert 2 * half[1] <= 610
    assert (1220 - 4 * half[0]) // 40 * (610 // 40) >= 36, "squares beside the plates"


def test_chip_depth_is_near_pin_map_depth():
    assert module("small_mat").chip_depth_mm() == pytest.approx(pinmap().magnetometers.depth_mm, abs=1.0)


def test_the_strip_has_a_pixel_for_each_light():
    small = module("small_mat")
    assert small.PIXELS_M / 2 == small.PIXELS >= pinmap().lights.count
    assert f"last {('', 'one', 'two', 'three')[small.PIXELS - pinmap().lights.count]} pixels" in TEXT


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.splitlines()[0])
def test_each_step_has_picture_and_doctor_check(step, lines):
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", step)
    assert pictures
    assert all((HARDWARE / name).is_file() for name in pictures)
    check = step[step.index("*Check:*") :]
    said = [name for name in re.findall(r"`([^`]+)`", check) if not name.startswith(("moccasin-mat", "[", "profile"))]
    named = [name for name in said if name not in {"not here", "fail"}]
    if "calibrate" in check:
        assert all(f'"{one.title}"' in " ".join(check.split()) for one in Walk(StrikeSettings()).view.steps)
    else:
        assert named
    assert [name for name in named if name not in lines] == []
    absent = {"light strips", "16 more magnetometers"}
    assert {name for name in named if lines[name] != "pass"} <= absent


def test_small_mat_magnetometers_match_named_lines(lines):
    there = [name for name in lines if name.startswith("magnetometer ")]
    assert len(there) == 8
    assert f"eight lines from `{there[0]}` to `{there[-1]}`" in " ".join(TEXT.split())
