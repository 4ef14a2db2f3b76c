"""MicroPython's file for a board in its boot loader: the right chip's only."""

import struct

import pytest

from pi_controller import cli
from pi_controller.tools import boot_drive
from pi_controller.tools.boot_drive import CHIPS, FlashError, copy_micropython, find_boot_drive, read_uf2_chip

RP2040, RP2350 = CHIPS
ARM, RISCV, ABSOLUTE = 0xE48BFF59, 0xE48BFF5A, 0xE48BFF57


def uf2(*families):
    """Return a UF2 file with a block of each family, as Microsoft's UF2 specification lays them out."""
    blocks = [
        struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0x2000, 0x10000000 + 256 * i, 256, i, len(families), family)
        + bytes(476)
        + struct.pack("<I", 0x0AB16F30)
        for i, family in enumerate(families)
    ]
    return b"".join(blocks)


@pytest.fixture
def waiting(tmp_path):
    """Return a maker of a root with the mounted drive of a board in its boot loader."""

    def make(board_id, name=None):
        folder = tmp_path / "media" / (name or board_id)
        folder.mkdir(parents=True)
        info = f"UF2 Bootloader v1.0\r\nModel: Raspberry Pi\r\nBoard-ID: {board_id}\r\n"
        (folder / "INFO_UF2.TXT").write_text(info, "ascii")
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/mounts").write_text(f"proc /proc proc rw 0 0\n/dev/sda1 {folder} vfat rw 0 0\n", "utf-8")
        return folder

    return make


@pytest.mark.parametrize(("board_id", "chip"), [("RPI-RP2", RP2040), ("RP2350", RP2350)])
def test_the_board_id_tells_the_chip(waiting, tmp_path, board_id, chip):
    folder = waiting(board_id)
    assert find_boot_drive(tmp_path) == boot_drive.BootDrive(str(folder), chip, mounted=True)


def test_board_id_overrides_the_drive_name(waiting, tmp_path):
    waiting("RP2350", name="RPI-RP2")
    assert find_boot_drive(tmp_path).chip == RP2350


@pytest.mark.parametrize(
    ("data", "chip"),
    [
        (uf2(0xE48BFF56, 0xE48BFF56), RP2040),
        (uf2(ARM), RP2350),
        (uf2(ABSOLUTE, ARM, ARM), RP2350),  # the first block is for the chip's erratum E10
    ],
)
def test_uf2_family_identifies_the_chip(data, chip):
    assert read_uf2_chip(data, "RPI_PICO.uf2") == chip


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not a whole UF2"),
        (b"PK\3\4" + bytes(600), "not a whole UF2"),
        (uf2(ARM)[:-1], "not a whole UF2"),
        (uf2(RISCV), "0xe48bff5a"),
        (uf2(0xE48BFF56, ARM), "0xe48bff56, 0xe48bff59"),
    ],
)
def test_other_files_are_refused(data, what):
    with pytest.raises(FlashError, match=what):
        read_uf2_chip(data, "firmware.uf2")


def test_the_file_is_copied_whole(waiting, tmp_path):
    folder = waiting("RP2350")
    file = tmp_path / "RPI_PICO2-1.26.uf2"
    file.write_bytes(uf2(ABSOLUTE, ARM))
    copy_micropython(file, find_boot_drive(tmp_path))
    assert (folder / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("board_id", "family", "wants"), [("RPI-RP2", ARM, "RPI_PICO-"), ("RP2350", 0xE48BFF56, "RPI_PICO2-")]
)
def test_uf2_for_other_chip_is_not_copied(waiting, tmp_path, board_id, family, wants):
    folder = waiting(board_id)
    file = tmp_path / "micropython.uf2"
    file.write_bytes(uf2(family))
    with pytest.raises(FlashError, match=r"is for the .* and the board has an") as caught:
        copy_micropython(file, find_boot_drive(tmp_path))
    assert wants in caught.value.hint
    assert [path.name for path in folder.iterdir()] == ["INFO_UF2.TXT"]


def test_unmounted_drive_error_suggests_mount(tmp_path):
    (tmp_path / "dev/disk/by-label").mkdir(parents=True)
    (tmp_path / "dev/disk/by-label/RPI-RP2").symlink_to("../../sda1")
    file = tmp_path / "RPI_PICO.uf2"
    file.write_bytes(uf2(0xE48BFF56))
    with pytest.raises(FlashError, match="not mounted") as caught:
        copy_micropython(file, find_boot_drive(tmp_path))
    assert "sudo mount" in caught.value.hint


def test_drive_removed_during_copy_counts_as_restart(waiting, tmp_path, monkeypatch):
    folder = waiting("RPI-RP2")
    drive = find_boot_drive(tmp_path)
    file = tmp_path / "RPI_PICO.uf2"
    file.write_bytes(uf2(0xE48BFF56))

    def restart(_):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", restart)
    assert copy_micropython(file, drive) == drive


def test_flash_micropython_copies_and_prints_next_step(waiting, tmp_path, monkeypatch, capsys):
    waiting("RP2350")
    file = tmp_path / "RPI_PICO2.uf2"
    file.write_bytes(uf2(ARM))
    drive = find_boot_drive(tmp_path)
    monkeypatch.setattr("pi_controller.tools.boot_drive.find_boot_drive", lambda: drive)
    assert cli.main(["flash", "--micropython", str(file)]) == 0
    assert "run 'moccasin-mat flash' again" in capsys.readouterr().out
    assert cli.main(["flash", "--micropython", str(tmp_path / "none.uf2")]) == 2
    assert "No such file" in capsys.readouterr().err
