"""`moccasin-mat mat ports`: every port, why it is taken or not, and who answers."""

import os
from types import SimpleNamespace

import pytest

from pi_controller.board.port_list import list_serial_ports
from pi_controller.tools import port_report

FEATHER = "usb-MicroPython_Board_in_FS_mode_e6614103e7452a2f-if00"


def info(device, **known):
    return SimpleNamespace(
        **{"device": device, "manufacturer": None, "product": None, "serial_number": None, "vid": None, "pid": None}
        | known
    )


def ports(folder, comports=list):
    return list_serial_ports(folder, comports)


def test_check_ports_without_asking_sends_no_bytes(by_id):
    (told,) = port_report.check_ports(ports(by_id(FEATHER)), asking=False)
    assert told == port_report.PortReport(told.port, None, "free")


def test_busy_port_names_process_without_probing(by_id):
    folder = by_id(FEATHER)
    with (folder / FEATHER).open():
        (told,) = port_report.check_ports(ports(folder), asking=True)
    assert told.port.state == "held"
    assert f"(process {os.getpid()})" in told.found
    assert "stop that program" in told.hint


def test_a_forbidden_port_says_which_group(by_id, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (told,) = port_report.check_ports(ports(by_id(FEATHER)), asking=True)
    assert told.port.state == "forbidden"
    assert "dialout" in told.hint


def test_makers_and_why_not_the_others(by_id):
    folder = by_id(FEATHER)
    (folder.parent / "ttyUSB0").touch()
    (folder / "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0").symlink_to(folder.parent / "ttyUSB0")
    known = [
        info(str(folder.parent / "ttyACM0"), manufacturer="MicroPython", product="Board in FS mode", vid=0x2E8A, pid=5),
        info(str(folder.parent / "ttyS0")),
    ]
    first, *rest = ports(folder, lambda: known).ports
    assert first.auto
    assert (first.maker, first.usb) == ("MicroPython", "2e8a:0005")
    assert {port.device.rsplit("/", 1)[-1]: port.why.split(":")[0] for port in rest} == {
        "ttyS0": "it is no USB port with a name in /dev/serial/by-id",
        "ttyUSB0": "its name is none of a board that can be a mat's (RP2040, MicroPython)",
    }


@pytest.mark.parametrize("lock", ["FLOCK", "POSIX"])
def test_a_lock_of_another_users_program_is_seen(tmp_path, lock):
    device = tmp_path / "ttyACM0"
    device.touch()
    status = device.stat()
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    proc = tmp_path / "proc"
    (proc / "77").mkdir(parents=True)
    (proc / "77/cmdline").write_bytes(b"/usr/bin/python3\0-m\0minicom\0")
    (proc / "locks").write_text(f"1: {lock}  ADVISORY  WRITE 77 {place} 0 EOF\n", "ascii")
    port = list_serial_ports(tmp_path / "by-id", lambda: [info(str(device))], proc).ports[0]
    assert (port.state, port.holder) == (("held", "minicom (process 77)") if lock == "FLOCK" else ("free", ""))
