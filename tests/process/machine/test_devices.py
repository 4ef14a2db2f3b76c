"""The drivers on a kernel's own devices: a USB serial port that is unplugged, pins, I2C and SPI."""

from __future__ import annotations

import json
import time

import pytest
from guest_table import JOURNAL, START_S, Table

pytestmark = [pytest.mark.machine, pytest.mark.timeout(7200)]
UNPLUGS = 20
NAME = "/dev/serial/by-id/usb-MicroPython_Board_in_FS_mode_e66141040396b12c-if00"
BACK_S = 3.0
"""A link is back so soon after its plug, by the design."""
SET_UP = {"5c": "10", "5d": "21", "5e": "4c", "7b": "09", "7d": "c9", "7e": "82", "7f": "b5"}
PYTHON = "/opt/moccasin-mat/bin/python"


@pytest.fixture(scope="module")
def table(image, machine_on):
    """Return a table that `service install` installed; what is written there is thrown away."""
    machine, port = machine_on(f"file={image}/disk.img,format=raw,snapshot=on")
    with machine:
        machine.boot()
        machine.check("systemctl is-system-running --wait")
        table = Table(machine, port)
        table.install()
        yield table


def press(table, pin):
    """Hold a button's line down for a tenth of a second of the guest's."""
    pull = f"/run/header/sim_gpio{pin}/pull"
    table.machine.check(f"echo pull-down > {pull}; sleep 0.12; echo pull-up > {pull}")


def set_up_registers(table):
    """Return the touch chip's registers once it was told to run, or after 10 s of the guest's."""
    wait = "for n in $(seq 50); do grep -q 5e=4c /sys/kernel/matbus/setup && break; sleep 0.2; done"
    told = table.machine.check(f"{wait}; cat /sys/kernel/matbus/setup", START_S)
    return dict(word.split("=") for word in told.split())


def test_usb_link_reconnects_after_every_unplug_in_game(table, figures):
    table.configure(board="auto", buttons="pi")
    pin = table.new_judge("Ann")
    begun = time.monotonic()
    command = f"{PYTHON} /opt/tests/usb_mat.py --hides 1 --unplugs {UNPLUGS} --judge Ann {pin}"
    lines = [json.loads(line) for line in table.machine.check(command, 6000).splitlines() if line.startswith("{")]
    first = next(line for line in lines if "first_link_s" in line)
    assert first["name"] == NAME
    figures("first link over USB, s inside", first["first_link_s"])
    unplugs = [line for line in lines if "unplug" in line]
    assert len(unplugs) == UNPLUGS
    lost, back = sorted(line["lost_s"] for line in unplugs), sorted(line["back_s"] for line in unplugs)
    figures("unplug to loss shown, s inside: median and longest", (lost[UNPLUGS // 2], lost[-1]))
    figures("plug to link, s inside: median and longest", (back[UNPLUGS // 2], back[-1]))
    assert {line["name"] for line in unplugs} == {NAME}
    done = lines[-1]
    figures(
        "the mat's seconds of play, those it waited, and those on the wall",
        (done["done"], done["world_waited_s"], round(time.monotonic() - begun)),
    )
    hides = {line["hide"] for line in lines if "seq" in line}
    assert max(hide for hide in hides if hide is not None) >= 2, "a hide was played to its end"
    assert back[-1] < BACK_S
    assert "whole" in table.machine.check(f"moccasin-mat game verify {JOURNAL}", START_S)


def test_button_on_real_gpio_line_starts_the_game(table):
    table.configure(board="none", buttons="pi")
    table.until(phase="toss")
    press(table, 17)  # toss_b, by hardware/pinmap.toml
    assert table.until(phase="hide")["sheet"]["hider"] == "B"


def test_sensors_on_the_kernels_own_buses(table, figures):
    table.configure(board="pins", buttons="none")
    table.until(link=True)
    assert set_up_registers(table) == SET_UP

    def transfers() -> tuple[int, float]:
        words = table.machine.check("cat /sys/kernel/matbus/spi /proc/uptime").split()
        return int(words[0]), float(words[-2])

    (count, at), _, (later, then) = transfers(), table.machine.check("sleep 5"), transfers()
    figures("transfers of SPI a second inside", round((later - count) / (then - at)))
    assert later > count
    figures("its last transfer", table.machine.check("cat /sys/kernel/matbus/spi"))


def test_touch_chip_is_set_up_again_after_absence(table):
    table.machine.check("echo 1 > /sys/kernel/matbus/absent")
    table.machine.check("sleep 3; echo 0 > /sys/kernel/matbus/absent; i2cset -y 1 0x5a 0x80 0x63")
    assert set_up_registers(table) == SET_UP
    assert table.property("ActiveState") == "active"
    assert table.property("NRestarts") == "0"
