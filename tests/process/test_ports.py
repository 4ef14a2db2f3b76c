"""`moccasin-mat mat ports` at boards on pseudo-terminals: who answers."""

import json

from small_firmware import small

from pi_controller import cli
from pi_controller.board.port_list import list_serial_ports
from pi_controller.tools import port_report


def ports(board):
    return list_serial_ports(board.by_id, list)


def run(board, monkeypatch, capsys, *args):
    monkeypatch.setattr("pi_controller.board.port_list.list_serial_ports", lambda by_id: ports(board))
    status = cli.main(["mat", "ports", *args])
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
    (told,) = port_report.check_ports(ports(plug()), asking=True, seconds=3.0)
    assert told.mat is None
    assert told.found == "free; MicroPython without the mat's program"
    assert "moccasin-mat mat flash" in told.hint


def test_two_boards_are_listed_with_no_auto(plug, monkeypatch, capsys):
    board = plug(holds=small())
    plug(holds=small("0.1.0"), name="usb-MicroPython_Board_in_FS_mode_e66164084373532b-if00")
    status, out = run(board, monkeypatch, capsys, "--json")
    told = json.loads(out)
    assert status == 1
    assert told["auto"] is None
    assert told["fault"]["message"] == "several boards are plugged in"
    assert sorted(port["mat"]["firmware"] for port in told["ports"]) == ["0.1.0", "0.2.0"]
    assert {port["port"]["why"] for port in told["ports"]} == {"several boards are plugged in"}
