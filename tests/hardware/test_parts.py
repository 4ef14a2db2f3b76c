"""The list of parts: numbers follow the pin map and the harness, and every part of every circuit is on it."""

from __future__ import annotations

import math
import re
from urllib.parse import urlsplit

import geometry
import harness
import parts
import power
import pytest
from values import HARDWARE, Circuit, values

from pi_controller.pinmap import pinmap

P = parts.values()
PINS = pinmap()
SOLDERED = ("table", "light")
PRICED = ("two mats", "table", "16", "12", "8", "small", "light")


def many(name: str, build: parts.Build) -> int:
    (part,) = [one for one in P.part if one.name.startswith(name)]
    return max(parts.quantity(part, build) - part.spare, 0)


def test_numbers_follow_the_pin_map():
    assert many("QMC5883L", "table") == len(PINS.magnetometer_positions()) == 24
    for build, size, muxes in (("16", 16, 2), ("12", 12, 2), ("8", 8, 1)):
        assert (many("QMC5883L", build), many("TCA9548A", build)) == (size, muxes)
    assert many("TCA9548A", "table") == len(PINS.board.tca9548a_addresses) == 3
    assert many("push button", "table") == len(PINS.pi.buttons)
    assert many("WS2812B strip, 60", "table") * 60 >= PINS.lights.count
    assert parts.small(P, "table")["piezo disc 27 mm"][0] == PINS.pads.count == 4
    assert parts.small(P, "light")["BAT85"][0] == 2 * PINS.pads.count, "two clamps for each pad"
    assert parts.small(P, "light")["resistor 4.7 kΩ"][0] == 2, "the light build's bus needs its pull-ups too"
    assert many("MPR121", "light") == many("RP2040 board", "light") == 1


def test_two_mats_double_mat_parts_alone():
    for name in ("RP2040 board", "MPR121", "QMC5883L", "TCA9548A", "camping mat", "felt", "plywood 6"):
        assert many(name, "two mats") == 2 * many(name, "table") > 0, name
    for name in ("Raspberry Pi 4", "5 V supply", "WS2812B strip, 60", "push button", "ATO blade fuse"):
        assert many(name, "two mats") == many(name, "table") > 0, name
    assert parts.small(P, "two mats")["BAT85"][0] == 2 * parts.small(P, "table")["BAT85"][0]


@pytest.mark.parametrize("build", [build for build in parts.BUILDS if build != "small"])
def test_harness_cable_lengths_are_bought(build):
    metres = harness.metres(parts.sheets(build))
    assert set(metres) <= {*parts.CABLES.values(), ("wires", 28)}
    for name, kind in parts.CABLES.items():
        (part,) = [one for one in P.part if name in one.table]
        assert metres[kind] <= parts.quantity(part, build) < metres[kind] + 1.001, name


def test_harness_plug_kinds_are_bought():
    counted = {name for part in P.part for name in part.table}
    for build in SOLDERED:
        for kind in harness.plugs(parts.sheets(build)):
            assert kind in counted or kind == "screw terminal 2", kind
    assert many("crimp contact", "light") == 2 * 5 + 4 * 2 + 7 * 2 + 12


def test_the_sheets_of_wood_hold_the_pieces():
    """Two sheets of 1220 x 610: base and lid one above the other; plates and the board of lights."""
    size = {name: [float(mm) for mm in said.split(" x ")] for name, _, said, _ in geometry.pieces()}
    assert max(size["base"][0], size["lid of the tray"][0]) <= 1220
    assert size["base"][1] + size["lid of the tray"][1] <= 610
    assert 2 * size["plate"][1] <= 610
    assert 2 * size["plate"][0] + 400 <= 1220
    slats = sum(slat.right - slat.left for slat in geometry.slats())
    assert slats <= 1220
    runs = {name: n * size[name][0] for name, n, _, of in geometry.pieces() if of == "wood"}
    runs["divider"] = 3 * size["divider"][1]
    runs["rim, left and right"] = 2 * size["divider"][1]
    runs |= {name: 90 for name in runs if name.startswith(("tray's wall, left", "tray's wall, right"))}
    assert sum(runs.values()) <= 2400 * many("planed batten", "table")
    frame = sum(runs[name] for name in runs if "tray" not in name and "post" not in name)
    assert 2400 < frame <= 2400 * many("planed batten", "light")
    assert many("plywood 6", "table") == 2


def small_parts() -> set[str]:
    """Return the small parts of the table's circuits and of the printed board."""
    return set(parts.small(P, "table")) | set(parts.small(P, "table", parts.PRINTED))


def test_part_numbers_belong_to_bought_parts():
    bought = {part.name for part in P.part} | small_parts()
    assert set(P.numbers) <= bought
    assert len(P.numbers) > 20
    listed = {row[1]: row[-3:] for row in parts.list_rows(P)[1:]}
    for name, number in P.numbers.items():
        stated, *searches = listed[parts.name_kind(P, name)]
        assert (stated, len(searches)) == (number, 2)
        assert all(urlsplit(address).query.partition("=")[2] for address in searches)
    page = (HARDWARE / "parts.md").read_text("utf-8")
    assert all(f"{name}: {number}" in page for name, number in P.numbers_of_the_board.items())
    assert re.search(r"estimated .* 20\d\d\.", page)


def test_plug_part_numbers_match_their_ways():
    for name, number in P.numbers.items():
        if ways := re.search(r"housing .*, (\d+) ways", name):
            molex, harwin = re.fullmatch(r"Molex 50-57-94(\d\d), Harwin M20-106(\d\d)00", number).groups()
            assert int(molex) == int(harwin) == int(ways[1])
    board = (HARDWARE / "board" / "mat-board-parts.tsv").read_text("utf-8")
    ways = set(re.findall(r"JST XH, (\d) ways", board))
    for number in list(P.numbers_of_the_board.values())[:2]:
        assert set(re.findall(r"(?:B|XHP-)(\d)", number)) == ways


def test_every_capacitor_has_its_kind_and_volts():
    capacitors = {said for said in small_parts() if said.startswith("capacitor")}
    assert set(P.kinds) == capacitors
    assert all(re.search(r"\d V", P.kinds[said]) for said in capacitors)
    assert {f"{said}, {P.kinds[said]}" for said in capacitors} <= {row[1] for row in parts.list_rows(P)}
    bought, least = map(float, re.findall(r"([\d.]+) V", P.kinds["capacitor 1000 µF"])[:2])
    assert bought > least > 1.2 * power.values().supply.volt


def test_the_total_is_the_sum_of_the_prices():
    page = (HARDWARE / "parts.md").read_text("utf-8")
    (said,) = re.findall(r"^\| \*\*all\*\* \|(.+)\|$", page, re.MULTILINE)
    (paid,) = re.findall(r"^\| \*\*to be paid, about\*\* \|(.+)\|$", page, re.MULTILINE)
    for build, all_of_it, asked in zip(PRICED, said.split("|"), paid.split("|"), strict=True):
        euros = sum(part.price * parts.quantity(part, build) for part in P.part)
        euros += sum(parts.small_price(P, name) * n for name, (n, _) in parts.small(P, build).items())
        assert round(euros) == int(all_of_it.strip(" *"))
        assert euros <= int(asked.strip(" *")) <= math.ceil(1.4 * euros / 10) * 10


def test_every_circuit_is_built_or_alternative():
    used = {name for circuits in P.circuits.values() for name in circuits}
    alternatives = {"fsr"}
    named = {name for name in values().__struct_fields__ if isinstance(getattr(values(), name), Circuit)}
    assert used | alternatives == named
    assert not used & alternatives


@pytest.mark.parametrize("build", SOLDERED)
def test_every_part_of_a_circuit_is_bought(build):
    wanted = sum(times * len(circuit.parts) for _, circuit, times in parts.circuits_of(P, build))
    assert wanted == sum(n for n, _ in parts.small(P, build).values())


def test_printed_board_extras_match_its_parts_list():
    rows = [row.split("\t") for row in (HARDWARE / "board" / "mat-board-parts.tsv").read_text("utf-8").splitlines()[1:]]
    there = {value: int(count) for count, value, *_ in rows}
    more = parts.small(P, "table", parts.PRINTED)
    assert len(more) == 4
    for said, (count, _) in more.items():
        assert there[said.split(" ", 1)[1]] == count


def test_paper_build_has_no_soldered_parts():
    assert not parts.small(P, "paper")
    bought = {one.name for one in P.part if parts.quantity(one, "paper")}
    assert bought == {"laptop with Python 3.11", "screen with HDMI", "cloths for moccasins"}


def test_fuse_and_supply_are_those_of_the_budget():
    import power

    supply = power.values().supply
    assert any(re.match(rf"5 V supply, {supply.amp:g} A", one.name) for one in P.part)
    assert any(one.name == f"ATO blade fuse, {supply.fuse_amp:g} A" for one in P.part)


def test_search_asks_for_the_first_makers_number():
    for number, words in (
        ("Molex 50-57-9402, Harwin M20-1060200", "50-57-9402"),
        ("Adafruit 5302 (KB2040)", "Adafruit%205302"),
    ):
        assert [address.partition("=")[2] for address in parts.search_addresses(number)] == [words, words]
    assert parts.search_addresses("") == ["", ""]


def test_the_page_is_the_list():
    assert (HARDWARE / "parts.csv").read_text("utf-8") == parts.format_csv(P), "run python hardware/drawings/parts.py"
    assert (HARDWARE / "parts.md").read_text("utf-8") == parts.page(P), "run python hardware/drawings/parts.py"
