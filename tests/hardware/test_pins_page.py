"""One truth for pins: the page, the settings' defaults, the doctor's words and the prose agree with the pin map."""

import importlib
import itertools
import re
import sys
from pathlib import Path

import pytest
from gpiozero.pins.pi import PiBoardInfo

from pi_controller.config import Settings
from pi_controller.pinmap import pinmap

ROOT = Path(__file__).parents[2]
HARDWARE = ROOT / "hardware"
PI_5 = 0xD04170


@pytest.fixture(scope="module")
def pins():
    folder = str(HARDWARE / "drawings")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("pins")


@pytest.fixture(scope="module")
def page():
    return (HARDWARE / "pins.md").read_text("utf-8")


def rows(page, title):
    """Return the cells of the first table below a title."""
    lines = page.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_pin_pages_match_pin_map(pins):
    stale = [name for name, text in pins.pages() if (HARDWARE / name).read_text("utf-8") != text]
    assert not stale, "make them again: python hardware/drawings/mat.py"


def test_the_settings_defaults_are_the_pin_maps():
    settings, pi = Settings(), pinmap().pi
    assert settings.strips.pin == pi.strip_pin
    buttons = dict(settings.buttons.pins)
    more = {"ready_a", "ready_b"}  # a host's own choice: the drawn mat has one button for both teams
    assert buttons.keys() == pi.buttons.keys() | more
    assert all(buttons.pop(name) == 0 for name in more)
    for name, pin in buttons.items():
        assert pin == pi.buttons[name] or (pin == 0 and name in {"left", "right", "inside", "outside"})
    assert buttons["ready"]


def test_no_pin_is_given_twice():
    board, pi = pinmap().board, pinmap().pi
    on_board = [*board.adc_pins, board.i2c["sda"], board.i2c["scl"], board.bias_pin, board.strip_pin]
    assert len(set(on_board)) == len(on_board)
    on_pi = [pi.strip_pin, *pi.buttons.values()]
    assert len(set(on_pi)) == len(on_pi)
    without_board = [*pi.mcp3008.pins, *pi.mpr121.pins, *pi.buttons.values()]
    assert len(set(without_board)) == len(without_board)


def test_board_names_match_pin_map_pins(pins):
    board = pinmap().board
    pins_now = (board.adc_pins, board.bias_pin, board.i2c["sda"], board.i2c["scl"], board.strip_pin)
    assert pins_now == ((26, 27, 28, 29), 3, 4, 5, 6), (
        "look up what the boards call the new pins, then change BOARDS in hardware/drawings/pins.py"
    )
    # one bus controller has both pins: data on an even one, clock one above
    assert board.i2c["sda"] % 2 == 0
    assert board.i2c["scl"] == board.i2c["sda"] + 1


def test_every_magnetometer_is_found_behind_one_channel(page):
    maps = pinmap()
    told = {}
    for where, *cells in rows(page, "Magnetometers"):
        for pad, cell in enumerate(cells, 1):
            number, address, channel = re.fullmatch(r"(\d+): (0x\w\w), (\d)", cell).groups()
            told[int(number)] = where, pad, int(address, 16), int(channel)
    assert sorted(told) == list(range(1, 25))
    assert len({(address, channel) for *_, address, channel in told.values()}) == 24
    for number, place in enumerate(maps.magnetometer_positions(), 1):
        where, pad, address, channel = told[number]
        assert address in maps.board.tca9548a_addresses
        assert 0 <= channel <= 7
        assert pad == maps.pads.at(*place[:2])
        assert ("left" in where) == (place[0] < maps.pads.centre(pad)[0])
        assert ("hider" in where, "hitter" in where) == (place[1] < 0, place[1] > 0)


def test_every_electrode_is_named_once(page):
    told = [int(cell) for row in rows(page, "Touch strips") for cell in row[1:]]
    assert told == list(range(12))


def test_pi_5_header_matches_page(pins, page):
    pi5 = PiBoardInfo.from_revision(PI_5)
    for gpio, pin, _ in rows(page, "The Raspberry Pi") + rows(page, "The Raspberry Pi without a mat board"):
        assert [found.number for _, found in pi5.find_pin(gpio)] == [int(pin)]
    ground = re.search(r"Ground is on the header's pins ([\d, and]+)", page)[1]
    named = {int(number) for number in re.findall(r"\d+", ground)}
    (header,) = [header for name, header in pi5.headers.items() if name == "J8"]
    assert named == {pin.number for pin in header.pins.values() if pin.name == "GND"}


def test_rows_of_lights_follow_each_other(page):
    told = [tuple(map(int, row[1].split(" to "))) for row in rows(page, "The lights")]
    assert told[0][0] == 0
    assert told[-1][1] == pinmap().lights.count - 1
    assert all(a[1] + 1 == b[0] for a, b in itertools.pairwise(told))


@pytest.mark.parametrize("name", ["README.md", "firmware/README.md", "hardware/README.md", "hardware/CHECKLIST.md"])
def test_prose_pins_and_addresses_match_pin_map(name):
    maps = pinmap()
    text = (ROOT / name).read_text("utf-8")
    known = {*maps.board.adc_pins, *maps.board.i2c.values(), maps.board.bias_pin, maps.board.strip_pin}
    known |= {maps.pi.strip_pin, *maps.pi.buttons.values(), *maps.pi.mcp3008.pins, *maps.pi.mpr121.pins}
    assert {int(gpio) for gpio in re.findall(r"GPIO(\d+)", text)} <= known
    assert maps.magnetometers.depth_mm == 30, "the pages say 30 mm in words"


def test_doctor_names_pin_map_addresses():
    board = pinmap().board
    said = (ROOT / "pi_controller" / "calibration" / "mat_diagnosis.py").read_text("utf-8")
    named = {int(address, 16) for address in re.findall(r"0x[0-9A-Fa-f]{2}", said)}
    assert named == {board.mpr121_address, board.tca9548a_addresses[0], board.tca9548a_addresses[-1]}
