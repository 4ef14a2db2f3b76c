"""Which port, which drive, and who holds it."""

import subprocess
import sys

import pytest
from small_firmware import small

from pi_controller import cli
from pi_controller.errors import PortError
from pi_controller.system import find_board
from pi_controller.system.find_board import FlashError

FEATHER = "usb-MicroPython_Board_in_FS_mode_e6614103e7452a2f-if00"
OTHER = "usb-MicroPython_Board_in_FS_mode_e66164084373532b-if00"
HOLD = "import serial, sys; p = serial.Serial(sys.argv[1], exclusive=True); print(1, flush=True); input()"


def test_missing_board_error_hints_bootsel(by_id, tmp_path):
    with pytest.raises(PortError, match="no mat board is plugged in") as caught:
        find_board.find_board("auto", by_id(), tmp_path)
    assert "hold its BOOTSEL" in caught.value.hint
    assert "1.23 or newer for the RP2040" in caught.value.hint


def test_several_boards_are_named_with_the_option(by_id, tmp_path):
    folder = by_id(FEATHER, OTHER)
    with pytest.raises(PortError, match="several boards") as caught:
        find_board.find_board("auto", folder, tmp_path)
    assert caught.value.hint == f"use --port with one of: {folder / FEATHER}, {folder / OTHER}"


def test_device_resolves_to_its_by_id_name(by_id, tmp_path):
    folder = by_id(FEATHER)
    assert find_board.find_board(str(tmp_path / "ttyACM0"), folder, tmp_path) == str(folder / FEATHER)


@pytest.mark.parametrize("how", ["mounted", "label"])
@pytest.mark.parametrize("drive", ["RPI-RP2", "RP2350"])
def test_a_board_in_its_boot_loader_is_seen(by_id, tmp_path, how, drive):
    if how == "mounted":
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/mounts").write_text(f"/dev/sda1 /media/pi/{drive} vfat rw 0 0\n", "utf-8")
    else:
        (tmp_path / "dev/disk/by-label").mkdir(parents=True)
        (tmp_path / f"dev/disk/by-label/{drive}").symlink_to("../../sda1")
    with pytest.raises(FlashError, match=f"waits in its boot loader, as the drive {drive}") as caught:
        find_board.find_board("auto", by_id(), tmp_path)
    assert "from its own download page" in caught.value.hint
    assert "copy it onto the drive" in caught.value.hint


def test_busy_port_error_names_the_process(plug):
    board = plug()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(board.link)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline()
        with pytest.raises(PortError, match=rf"another program is using .*\(process {holder.pid}\)") as caught:
            find_board.open_port(str(board.link))
        assert "stop it" in caught.value.hint
        holder.communicate(b"\n")


def test_board_that_never_returns_raises_port_error(tmp_path):
    now = iter(range(100))
    with pytest.raises(PortError, match="did not come back"):
        find_board.wait_until_back(str(tmp_path / "none"), (5, 5), clock=lambda: next(now), sleep=lambda _: None)


def test_no_mpremote_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["flash"]) == 2
    assert "[flash]" in capsys.readouterr().err


def test_flash_verb_finds_board_and_returns_status(plug, monkeypatch, capsys):
    board = plug(holds=small())
    monkeypatch.setattr("pi_controller.board.serial_port.BY_ID", board.by_id)
    assert cli.main(["flash", "--check"]) == 1
    assert "add wire.py" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["flash", "--check", "--dry-run"]) == 2
    assert cli.main(["flash", "--port", "COM3"]) == 2
    assert "moccasin-mat ports" in capsys.readouterr().err
