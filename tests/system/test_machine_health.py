"""How the machine is, read from folders that are like those of a Pi."""

import os

import pytest

from pi_controller.host.machine_health import MachineHealth, read_health


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def pi(tmp_path):
    write(tmp_path, "sys/class/thermal/thermal_zone0/temp", "48312\n")
    write(tmp_path, "sys/class/thermal/thermal_zone1/temp", "51000\n")
    write(tmp_path, "sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/name", "rpi_volt\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n")
    write(tmp_path, "sys/fs/ext4/mmcblk0p2/errors_count", "0\n")
    write(tmp_path, "sys/fs/ext4/sda1/errors_count", "3\n")
    return tmp_path


def test_all_of_a_pi(pi):
    health = read_health(pi)
    about = os.statvfs(pi)
    assert health.free_bytes == pytest.approx(about.f_bavail * about.f_frsize, rel=0.1)
    assert (health.temperature_c, health.under_voltage, health.fs_errors) == (51.0, False, 3)
    assert health.under_voltage_since_start is False


def test_a_machine_that_has_none_of_it(tmp_path):
    health = read_health(tmp_path, tmp_path / "gone")
    assert health == MachineHealth(None, None, None, None, None)
    before = MachineHealth(under_voltage=True, under_voltage_since_start=True)
    assert read_health(tmp_path, before=before).under_voltage_since_start is None


def test_under_voltage_is_remembered_in_later_readings(pi):
    alarm = "sys/class/hwmon/hwmon1/in0_lcrit_alarm"
    write(pi, alarm, "1\n")
    low = read_health(pi)
    assert (low.under_voltage, low.under_voltage_since_start) == (True, True)
    write(pi, alarm, "0\n")
    after = read_health(pi, before=low)
    assert (after.under_voltage, after.under_voltage_since_start) == (False, True)
    assert read_health(pi, before=after).under_voltage_since_start is True
    assert read_health(pi).under_voltage_since_start is False


@pytest.mark.parametrize(
    ("bits", "now", "since_start"),
    [("0\n", False, False), ("50005\n", True, True), ("0x50000\n", False, True), ("1", True, False)],
)
def test_a_kernel_that_keeps_it_since_the_start(tmp_path, bits, now, since_start):
    write(tmp_path, "sys/devices/platform/soc/soc:firmware/get_throttled", bits)
    health = read_health(tmp_path)
    assert (health.under_voltage, health.under_voltage_since_start) == (now, since_start)


@pytest.mark.parametrize("text", ["", "hot\n", "4.5\n", "\udcff"])
def test_non_numeric_readings_are_none(pi, text):
    for path in ("sys/class/thermal/thermal_zone1/temp", "sys/class/hwmon/hwmon1/in0_lcrit_alarm"):
        (pi / path).write_text(text, errors="surrogateescape")
    health = read_health(pi)
    assert health.temperature_c == 48.312
    assert (health.under_voltage, health.under_voltage_since_start) == (None, None)


def test_a_sensor_that_cannot_be_read(pi):
    zone = pi / "sys/class/thermal/thermal_zone1/temp"
    zone.unlink()
    zone.mkdir()
    assert read_health(pi).temperature_c == 48.312


def test_room_is_that_of_the_folder(pi, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    assert read_health(pi, other).free_bytes is not None
    assert read_health(pi, other / "gone").free_bytes is None
