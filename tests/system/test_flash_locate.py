"""Which port, which drive, and who holds it."""

import os

import pytest

from pi_controller import cli
from pi_controller.board.serial_port import SerialPort
from pi_controller.errors import PortError
from pi_controller.tools import find_board
from pi_controller.tools.find_board import FlashError

FEATHER = "usb-MicroPython_Board_in_FS_mode_e6614103e7452a2f-if00"
OTHER = "usb-MicroPython_Board_in_FS_mode_e66164084373532b-if00"


def test_missing_board_error_hints_bootsel(by_id, tmp_path):
    with pytest.raises(PortError, match="no mat board is plugged in") as caught:
        find_board.find_board("auto", by_id(), tmp_path)
    assert "hold its BOOTSEL" in caught.value.hint
    assert "1.23 or newer for the RP2040" in caught.value.hint


def test_several_boards_are_named_with_the_option(by_id, tmp_path):
    folder = by_id(FEATHER, OTHER)
    with pytest.raises(PortError, match="several boards") as caught:
        find_board.find_board("auto", folder, tmp_path)
    assert caught.value.hint == f"name the right one: use --port with one of: {folder / FEATHER}, {folder / OTHER}"


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


def test_busy_port_error_names_the_process():
    board, terminal = map(os.fdopen, os.openpty())
    with board, terminal:
        device = os.ttyname(terminal.fileno())
        held = SerialPort(device)
        with pytest.raises(PortError, match=rf"another program is using .*\(process {os.getpid()}\)") as caught:
            find_board.open_port(device)
        held.close()
    assert "stop it" in caught.value.hint


def test_board_that_never_returns_raises_port_error(tmp_path):
    now = iter(range(100))
    with pytest.raises(PortError, match="did not come back"):
        find_board.wait_until_back(str(tmp_path / "none"), (5, 5), clock=lambda: next(now), sleep=lambda _: None)


def test_no_mpremote_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["mat", "flash"]) == 2
    assert "[flash]" in capsys.readouterr().err
