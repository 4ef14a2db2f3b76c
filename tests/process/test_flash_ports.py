"""`moccasin-mat ports`: every port, why it is taken or not, and who answers."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from small_firmware import small

from pi_controller import cli
from pi_controller.board.serial_port import list_serial_ports
from pi_controller.system import find_board

HOLD = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print(1, flush=True); input()"


def info(device, **known):
    return SimpleNamespace(
        **{"device": device, "manufacturer": None, "product": None, "serial_number": None, "vid": None, "pid": None}
        | known
    )


def ports(board, comports=list):
    return list_serial_ports(board.by_id, comports)


def run(board, monkeypatch, capsys, *args):
    monkeypatch.setattr("pi_controller.board.serial_port.list_serial_ports", lambda by_id: ports(board))
    status = cli.main(["ports", *args])
    return status, capsys.readouterr().out


def test_mat_probe_reports_firmware_and_start(plug, monkeypatch, capsys):
    board = plug(holds=small("0.2.0"))
    status, out = run(board, monkeypatch, capsys, "--json")
    told = json.loads(out)
    assert status == 0
    assert told["ok"] is True
    assert told["auto"] == str(board.link)
    (port,) = told["ports"]
    assert port["mat"]["firmware"] == "0.2.0"
    assert port["mat"]["board"] == b"moccasin".hex()
    assert (port["mat"]["starts"], port["mat"]["reason"]) == (7, "reset")
    assert board.prompts == 0, "asking stops no mat"


def test_ports_text_names_auto_port_and_firmware(plug, monkeypatch, capsys):
    board = plug(holds=small("0.2.0"))
    status, out = run(board, monkeypatch, capsys)
    assert status == 0
    assert 'the one that "auto" takes' in out
    assert "firmware 0.2.0" in out
    assert "start 7, by reset" in " ".join(out.split())


def test_a_board_without_the_mat_says_to_flash(plug):
    (told,) = find_board.check_ports(ports(plug()), asking=True, seconds=3.0)
    assert told.mat is None
    assert told.found == "free; MicroPython without the mat's program"
    assert "moccasin-mat flash" in told.todo


def test_check_ports_without_asking_sends_no_bytes(plug):
    board = plug(holds=small())
    (told,) = find_board.check_ports(ports(board), asking=False)
    assert told == find_board.PortReport(told.port, None, "free")


def test_two_boards_are_listed_with_no_auto(plug, monkeypatch, capsys):
    board = plug(holds=small())
    plug(holds=small("0.1.0"), name="usb-MicroPython_Board_in_FS_mode_e66164084373532b-if00")
    status, out = run(board, monkeypatch, capsys, "--json")
    told = json.loads(out)
    assert status == 1
    assert told["auto"] is None
    assert told["fault"]["what"] == "several boards are plugged in"
    assert sorted(port["mat"]["firmware"] for port in told["ports"]) == ["0.1.0", "0.2.0"]
    assert {port["port"]["why"] for port in told["ports"]} == {"several boards are plugged in"}


def test_busy_port_names_process_without_probing(plug):
    board = plug(holds=small())
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(board.link)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline()
        (told,) = find_board.check_ports(ports(board), asking=True)
        assert told.port.state == "held"
        assert f"(process {holder.pid})" in told.found
        assert "stop that program" in told.todo
        holder.communicate(b"\n")


def test_a_forbidden_port_says_which_group(plug, monkeypatch):
    board = plug(holds=small())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (told,) = find_board.check_ports(ports(board), asking=True)
    assert told.port.state == "forbidden"
    assert "dialout" in told.todo


def test_makers_and_why_not_the_others(plug):
    board = plug(holds=small())
    cable = board.by_id / "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0"
    (board.by_id.parent / "ttyUSB0").touch()
    cable.symlink_to(board.by_id.parent / "ttyUSB0")
    known = [
        info(os.path.realpath(board.link), manufacturer="MicroPython", product="Board in FS mode", vid=0x2E8A, pid=5),
        info(str(board.by_id.parent / "ttyS0")),
    ]
    first, *rest = ports(board, lambda: known).ports
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
