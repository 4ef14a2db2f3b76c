"""The page of the small mat: its parts add up, its pieces fit, its pictures exist, its checks are the doctor's."""

import csv
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
HOMES = ("USB cable", "wood glue", "clear packing tape", "foam tape", "double-sided carpet", "epoxy")
SPARES = ("QMC5883L", "wooden ball", "magnet D6x6")
with (HARDWARE / "parts.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = {row["part"]: (int(row["small"]), float(row["euros each"])) for row in csv.DictReader(lines) if row["small"]}


def cost(*names):
    """Return what the parts whose names begin so cost, euros."""
    return sum(many * each for name, (many, each) in ROWS.items() if name.startswith(names))


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
    everything, lights, homes = cost(""), cost(*LIGHTS), cost(*HOMES)
    section = TEXT[TEXT.index("## Parts") :].partition("| piece")[0]
    said = [float(euros) for euros in re.findall(r"\d+\.\d\d", section)]
    shared = cost("printed board") * 4 / 5
    spares = sum(each for name, (_, each) in ROWS.items() if name.startswith(SPARES))
    assert said == pytest.approx([everything - lights - homes, lights, homes, everything, shared, spares])
    mat, whole = map(
        int, re.search(r"about (\d+) euros beside the Pi.*?about (\d+) with all", TEXT, re.DOTALL).groups()
    )
    assert abs(everything - lights - homes - mat) < 1
    assert abs(everything - whole) < 1
    assert re.search(r"as of \w+ 20\d\d", TEXT)


def test_small_parts_are_the_printed_boards():
    listed = (HARDWARE / "board" / "mat-board-parts.tsv").read_text("utf-8").splitlines()[1:]
    board = [row.split("\t") for row in listed]

    def bought(*names, but=""):
        return sum(
            many for name, (many, _) in ROWS.items() if name.startswith(names) and but not in name.split(" ")[:2]
        )

    assert bought("resistor") == sum(int(count) for count, value, *_ in board if value.endswith("Ω"))
    assert bought("capacitor", but="1000") == sum(int(count) for count, value, *_ in board if value.endswith("F"))
    assert bought("capacitor 2.2") == sum(int(count) for count, value, *_ in board if value == "2.2 µF")
    assert bought("BAT85") == sum(int(count) for count, value, *_ in board if value == "BAT85")
    headers = (HARDWARE / "parts.csv").read_text("utf-8").count("5 of 2 ways, 5 of 3, 4 of 4")
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
