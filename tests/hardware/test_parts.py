"""The list of parts: numbers follow the pin map, and every part of every circuit is on it."""

from __future__ import annotations

import re

import parts
import pytest
from values import HARDWARE, Circuit, values

from pi_controller.pinmap import pinmap

P = parts.values()
PINS = pinmap()


def many(name: str, build: parts.Build) -> int:
    (part,) = [one for one in P.part if one.name.startswith(name)]
    return parts.quantity(P, part, build) - part.spare


def test_numbers_follow_the_pin_map():
    assert many("QMC5883L", "table") == len(PINS.magnetometer_positions()) == 24
    assert many("TCA9548A", "table") == len(PINS.board.tca9548a_addresses) == 3
    assert many("push button", "table") == len(PINS.pi.buttons)
    assert many("WS2812B", "table") * 60 >= PINS.lights.count
    assert parts.small(P, "table")["piezo disc 27 mm"][0] == PINS.pads.count == 4
    assert parts.small(P, "light")["BAT54S"][0] == PINS.pads.count, "a clamp for each pad"
    assert many("MPR121", "light") == many("RP2040 board", "light") == 1


def test_every_circuit_is_in_a_build_or_is_an_alternative():
    used = {name for build in parts.BUILDS for name in P.circuits[build]}
    alternatives = {"amplifier", "reference", "op_amp", "fsr"}
    named = {name for name in values().__struct_fields__ if isinstance(getattr(values(), name), Circuit)}
    assert used | alternatives == named
    assert not used & alternatives


@pytest.mark.parametrize("build", ["table", "light"])
def test_every_part_of_a_circuit_is_bought(build):
    wanted = sum(times * len(circuit.parts) for _, circuit, times in parts.circuits_of(P, build))
    assert wanted == sum(n for n, _ in parts.small(P, build).values())


def test_the_paper_build_needs_nothing_soldered():
    assert not parts.small(P, "paper")
    bought = {one.name for one in P.part if parts.quantity(P, one, "paper")}
    assert bought == {"laptop with Python 3.11", "screen with HDMI"}


def test_every_part_is_for_something():
    for part in P.part:
        assert part.does
        assert part.price in P.classes
        assert any(parts.quantity(P, part, build) for build in parts.BUILDS), part.name


def test_fuse_and_supply_are_those_of_the_budget():
    import power

    supply = power.values().supply
    assert any(re.match(rf"5 V supply, {supply.amp:g} A", one.name) for one in P.part)
    assert any(one.name.startswith(f"fuse {supply.fuse_amp:g} A") for one in P.part)


def test_the_page_is_the_list():
    assert (HARDWARE / "parts.md").read_text("utf-8") == parts.page(P), "run python hardware/drawings/parts.py"
