"""Which port is the board's."""

import pytest

from pi_controller.board.serial_port import find_port
from pi_controller.errors import PortError

FEATHER = "usb-MicroPython_Board_in_FS_mode_e6614103e7452a2f-if00"
OTHER = "usb-MicroPython_Board_in_FS_mode_e66164084373532b-if00"
CABLE = "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0"


@pytest.mark.parametrize(
    "name",
    [
        FEATHER,
        "usb-Adafruit_Feather_RP2040_DF6254E0C7624529-if00",
        "usb-Adafruit_KB2040_DF62-if00",
        "usb-Waveshare_RP2040-Zero_E661-if00",
        "usb-Raspberry_Pi_Pico_E6614-if00",
    ],
)
def test_auto_finds_the_one_board_among_other_ports(by_id, name):
    folder = by_id(CABLE, name, "usb-Raspberry_Pi_Debug_Probe__CMSIS-DAP__E66-if01")
    assert find_port("auto", folder) == str(folder / name)


def test_a_board_with_two_interfaces_is_one_board(by_id):
    folder = by_id("usb-Adafruit_QT_Py_RP2040_DF-if02", "usb-Adafruit_QT_Py_RP2040_DF-if00")
    assert find_port("auto", folder).endswith("-if00")


def test_two_boards_are_listed(by_id):
    folder = by_id(FEATHER, OTHER)
    with pytest.raises(PortError, match="several boards") as caught:
        find_port("auto", folder)
    assert str(folder / FEATHER) in caught.value.hint
    assert str(folder / OTHER) in caught.value.hint


def test_no_folder_means_no_board(tmp_path):
    with pytest.raises(PortError, match="no mat board is plugged in") as caught:
        find_port("auto", tmp_path / "by-id")
    assert caught.value.hint == "check the USB cable"


def test_no_board_but_other_ports_lists_them(by_id):
    folder = by_id(CABLE)
    with pytest.raises(PortError, match="no mat board") as caught:
        find_port("auto", folder)
    assert str(folder / CABLE) in caught.value.hint


def test_dangling_device_link_is_no_board(by_id, tmp_path):
    folder = by_id(FEATHER)
    (tmp_path / "ttyACM0").unlink()
    with pytest.raises(PortError, match="no mat board"):
        find_port("auto", folder)


def test_a_folder_that_cannot_be_read(tmp_path):
    (tmp_path / "by-id").touch()
    with pytest.raises(PortError, match="cannot look for boards") as caught:
        find_port("auto", tmp_path / "by-id")
    assert str(tmp_path) not in caught.value.public


def test_a_path_is_taken_as_it_is(by_id, tmp_path):
    folder = by_id(CABLE)
    assert find_port(str(tmp_path / "ttyACM0"), folder) == str(tmp_path / "ttyACM0")


def test_missing_path_error_lists_connected_boards(by_id, tmp_path):
    folder = by_id(CABLE)
    with pytest.raises(PortError, match=r"there is no board at .*ttyACM7") as caught:
        find_port(str(tmp_path / "ttyACM7"), folder)
    assert str(folder / CABLE) in caught.value.hint
    assert caught.value.public == "there is no board at its port: check the USB cable"


@pytest.mark.parametrize("names", [(), (CABLE,), (FEATHER, OTHER)])
def test_public_error_names_no_port(by_id, names):
    folder = by_id(*names)
    with pytest.raises(PortError) as caught:
        find_port("auto", folder)
    assert caught.value.public.startswith(f"{caught.value.message}: ")
    assert not any(path.name in caught.value.public for path in folder.iterdir())
    assert str(folder) not in caught.value.public


def test_same_reason_gives_same_error_message(tmp_path):
    # whoever looks once a second says it once
    said = set()
    for _ in range(2):
        with pytest.raises(PortError) as caught:
            find_port("auto", tmp_path)
        said.add(caught.value.message)
    assert len(said) == 1
