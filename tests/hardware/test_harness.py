"""The cables: every pin of the pin map has its wire, once, and the sheets in the tree are those of the pin map."""

from __future__ import annotations

import re

import harness
import power
import pytest
import yaml

from pi_controller.pinmap import pinmap

PINS = pinmap()
WIREVIZ = pytest.mark.parametrize("name", harness.SHEETS)


def wires(name: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Every single wire of a sheet: (plug, pin) to (plug, pin)."""
    found = []
    for start, _, end in harness.SHEETS[name]().document()["connections"]:
        ((a, pins_a),), ((b, pins_b),) = start.items(), end.items()
        found += [((a, x), (b, y)) for x, y in zip(pins_a, pins_b, strict=True)]
    return found


@WIREVIZ
def test_harness_sheet_files_match_pin_map(name):
    sheet = harness.SHEETS[name]()
    assert (harness.HERE / f"harness-{name}.yml").read_text("utf-8") == sheet.text(), "run harness.py"
    assert (harness.HERE / f"harness-{name}.bom.tsv").read_text("utf-8") == harness.bom(sheet), "run harness.py"
    made = {f"harness-{name}-{n}.svg" for n, _ in enumerate(sheet.pages(), 1)}
    assert {path.name for path in harness.HERE.glob(f"harness-{name}-[0-9]*.svg")} == made, "run harness.py"


@WIREVIZ
def test_each_cable_is_on_one_page_with_pins(name):
    sheet, pages = harness.SHEETS[name]().document(), [page.document() for page in harness.SHEETS[name]().pages()]
    assert sorted(cable for page in pages for cable in page["cables"]) == sorted(sheet["cables"])
    joins = [join for page in pages for join in page["connections"]]
    assert all(join in sheet["connections"] for join in joins)
    for page in pages:
        for join in page["connections"]:
            for end in (join[0], join[2]):
                for plug, pins in end.items():
                    assert set(pins) <= set(page["connectors"][plug]["pinlabels"])


@WIREVIZ
def test_page_is_a4_with_legible_letters(name):
    for path in harness.HERE.glob(f"harness-{name}-[0-9]*.svg"):
        text = path.read_text("utf-8")
        assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="297mm" height="210mm"')
        (room_x, room_y), (wide, high) = (
            map(float, re.search(pattern, text).groups())
            for pattern in (r' width="([\d.]+)" height="([\d.]+)" preserve', r'viewBox="0.00 0.00 ([\d.]+) ([\d.]+)"')
        )
        assert 14.0 * min(room_x / wide, room_y / high) > 2.4, path.name


@WIREVIZ
def test_every_wire_ends_at_existing_pin(name):
    plugs = yaml.safe_load(harness.SHEETS[name]().text())["connectors"]
    for ends in wires(name):
        for plug, pin in ends:
            assert pin in plugs[plug]["pinlabels"]
    used = {plug for ends in wires(name) for plug, _ in ends}
    assert used == set(plugs)


@WIREVIZ
def test_signals_have_one_wire_and_rails_match(name):
    shared = ("GND", "3V3", "5V", "+5V", "brass", "1", "2")
    for (_, x), (_, y) in wires(name):
        for rail in ("GND", "5V", "3V3"):
            assert (rail in x) == (rail in y) or {x, y} & {"2", "brass"}, (x, y)
    sources = [end for ends in wires(name) for end in ends if not end[1].endswith(shared) and "3V3" not in end[1]]
    sources = [end for end in sources if end not in {("Piezo inputs", "SDA"), ("Piezo inputs", "SCL")}]  # joins the bus
    if name not in {"table-mat", "table-field"}:
        assert len(sources) == len(set(sources))


def test_pi_wiring_matches_pin_map():
    found = {pin: there for (plug, pin), there in wires("table-pi") if plug == "Raspberry Pi"}
    for button, gpio in PINS.pi.buttons.items():
        assert found[f"GPIO{gpio} (pin {harness.header_pin(gpio)})"] == (f"Button {button.replace('_', ' ')}", "1")
    strip = PINS.pi.strip_pin
    assert found[f"GPIO{strip} (pin {harness.header_pin(strip)})"] == ("74AHCT125", "1A")


def test_board_wiring_matches_pin_map():
    found = wires("table-mat")
    for pad, gpio in enumerate(PINS.board.adc_pins, 1):
        assert (("Board", f"GPIO{gpio}"), ("Piezo inputs", f"GPIO{gpio}")) in found
        assert (("Piezo inputs", f"in {pad}"), (f"Piezo {pad}", "hot")) in found
    bias = f"GPIO{PINS.board.bias_pin}"
    assert (("Board", bias), ("Piezo inputs", bias)) in found
    for line in ("SDA", "SCL"):
        assert (("Board", f"GPIO{PINS.board.i2c[line.lower()]}"), ("Piezo inputs", line)) in found
        assert (("Piezo inputs", line), ("MPR121", line)) in found
        assert (("Piezo inputs", line), ("TCA9548A 2", line)) in found
    strips = PINS.touch.strips
    for pad in range(1, PINS.pads.count + 1):
        for i, strip in enumerate(strips):
            assert (("MPR121", f"ELE{(pad - 1) * len(strips) + i}"), (f"Pad {pad} {strip}", "1")) in found


def test_each_magnetometer_is_on_its_firmware_channel():
    found = wires("table-field")
    for i in range(len(PINS.magnetometer_positions())):  # board.py: mux i >> 3, channel i & 7
        assert ((f"TCA9548A {(i >> 3) + 1}", f"SD{i & 7}"), (f"M{i + 1}", "SDA")) in found
        assert ((f"TCA9548A {(i >> 3) + 1}", f"SC{i & 7}"), (f"M{i + 1}", "SCL")) in found
    assert len({end for end, _ in found if end[1].startswith("SD")}) == 24


def test_light_build_board_matches_table_and_drives_lights():
    table, found = wires("table-mat"), wires("light")
    with_magnetometers = {pair for pair in table if pair[0][0].startswith("TCA") or pair[1][0].startswith("TCA")}
    assert set(table) - with_magnetometers <= set(found)
    assert (("Board", f"GPIO{PINS.board.strip_pin}"), ("74AHCT125", "1A")) in found, "no pin of a Pi that needs root"
    others = [PINS.board.strip_pin, *PINS.board.i2c.values()]
    assert len({*PINS.board.adc_pins, *others}) == len(PINS.board.adc_pins) + len(others)


def test_feed_wires_match_power_budget():
    cables = harness.table_pi().document()["cables"].values()
    for name in ("feed", "far_feed"):
        wire = power.values().wires[name]
        assert any(one["length"] == wire.metres and one["gauge"] == f"{wire.awg} AWG" for one in cables)
