"""The machine's clock: when it counts as set, and the units by which the staff sets it."""

import os
import subprocess
from pathlib import Path

import pytest

from pi_controller.card import service
from pi_controller.card.kiosk import clock_unit, watching_unit
from pi_controller.card.service_unit import RUN
from pi_controller.host.machine_health import CLOCK_SET_BY_STAFF, is_clock_set
from pi_controller.host.request import CLOCK

NOW = 4e9
MAX_EXPOSURE = 2.5
"""Limit for `systemd-analyze security`: the unit sets the system clock and writes the clock chip."""


@pytest.fixture
def machine(tmp_path):
    """Return the files of a machine whose timesyncd has heard no server."""
    (tmp_path / "run/systemd/timesync").mkdir(parents=True)
    (tmp_path / "sys/class/rtc/rtc0").mkdir(parents=True)
    (tmp_path / "sys/class/rtc/rtc0/hctosys").write_text("0\n", "utf-8")
    return tmp_path


def test_clock_without_time_source_is_not_set(machine):
    assert not is_clock_set(NOW, machine)


@pytest.mark.parametrize("mark", ["run/systemd/timesync/synchronized", str(CLOCK_SET_BY_STAFF)[1:]])
def test_a_time_server_or_the_staff_sets_it(machine, mark):
    (machine / mark).touch()
    assert is_clock_set(NOW, machine)
    assert not is_clock_set(1000.0, machine), "before this program was made"


def test_a_clock_chip_sets_it(machine):
    (machine / "sys/class/rtc/rtc0/hctosys").write_text("1\n", "utf-8")
    assert is_clock_set(NOW, machine)


def test_another_time_service_is_believed(tmp_path):
    assert is_clock_set(NOW, tmp_path)


@pytest.mark.usefixtures("analyze")
def test_clock_units_pass_systemd_verify(exposure, tmp_path):
    text = clock_unit()
    for one, name in ((text, CLOCK.service.name), (watching_unit(CLOCK), CLOCK.path.name)):
        assert service.verify_unit(one, name) == []
    path = tmp_path / CLOCK.service.name
    path.write_text(text, "utf-8")
    assert exposure(path) <= MAX_EXPOSURE
    assert f"\nPathExists={RUN / CLOCK.file}\n" in watching_unit(CLOCK)


@pytest.mark.parametrize(
    ("request_text", "is_set"), [("1800000000", True), ("1800000000; x", False), ("", False), ("-1", False)]
)
def test_clock_script_accepts_digits_alone(tmp_path, request_text, is_set):
    (line,) = (line for line in clock_unit().splitlines() if line.startswith("ExecStart="))
    script = line.removeprefix("ExecStart=/bin/sh -ec '").removesuffix("'").replace("$$", "$")
    request, mark = tmp_path / CLOCK.file, tmp_path / "mark"
    script = script.replace(str(RUN / CLOCK.file), str(request)).replace(str(CLOCK_SET_BY_STAFF), str(mark))
    request.write_text(request_text, "utf-8")
    for name in ("date", "hwclock"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/ran\n', "utf-8")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(["sh", "-ec", script], check=False, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (done.returncode == 0) == is_set
    assert mark.exists() == is_set
    assert not request.exists()
    ran = tmp_path / "ran"
    assert ran.exists() == is_set
    if is_set:
        assert ran.read_text("utf-8").startswith("date --utc --set=@1800000000\n")
        assert ("hwclock" in ran.read_text("utf-8")) == Path("/dev/rtc0").exists()
