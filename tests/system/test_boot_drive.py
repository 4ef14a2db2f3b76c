"""The drive of a board in its boot loader tells its chip."""

import pytest

from pi_controller.tools.boot_drive import CHIPS, BootDrive, find_boot_drive

RP2040, RP2350 = CHIPS


@pytest.mark.parametrize("chip", CHIPS)
def test_label_of_a_mounted_drive_tells_chip(tmp_path, chip):
    folder = tmp_path / "media" / chip.drive
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/mounts").write_text(f"proc /proc proc rw 0 0\n/dev/sda1 {folder} vfat rw 0 0\n", "utf-8")
    assert find_boot_drive(tmp_path) == BootDrive(str(folder), chip)


def test_drive_that_is_not_mounted_is_found(tmp_path):
    assert find_boot_drive(tmp_path) is None
    label = tmp_path / "dev/disk/by-label/RPI-RP2"
    label.parent.mkdir(parents=True)
    label.symlink_to("../../sda1")
    assert find_boot_drive(tmp_path) == BootDrive(str(label), RP2040)
