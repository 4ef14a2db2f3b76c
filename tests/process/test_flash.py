"""`moccasin-mat mat flash` on boards that run a real MicroPython, through the real mpremote."""

import json

import pytest
from small_firmware import small

from pi_controller import cli
from pi_controller.tools.find_board import FlashError

OTHER = b"print('a weather station')\n"


@pytest.mark.slow
def test_current_firmware_leaves_mat_running(plug, flash):
    board, firmware = plug(holds=small(), files={"boots": b"41 0", "fault.txt": b"OSError: 5\n"}), small()
    status, shown = flash(board, firmware)
    assert status == 0
    assert "nothing to do" in shown
    assert "OSError: 5" in shown, "the last crash is shown"
    assert board.file("boots") == b"41 0"
    assert board.prompts == 1, "the running mat went out of the way once"
    assert "copied" not in shown


def test_changed_files_are_copied_and_stale_removed(plug, flash):
    board = plug(holds=small("0.1.0", old=b"x = 1\n"), files={"mine.txt": b"keep me", "stay.txt": b""})
    firmware = small("0.2.0")
    status, shown = flash(board, firmware)
    assert status == 0
    assert "copied 2 files" in shown, "sampler.py and the list"
    assert "remove old.py" in " ".join(shown.split())
    assert board.names() == sorted([*firmware.files, "mine.txt", "stay.txt"])
    assert "firmware 0.1.0" in shown
    assert "the mat runs" in shown


@pytest.mark.parametrize(("mode", "status"), [("check", 1), ("dry-run", 0)])
def test_check_and_dry_run_change_no_file(plug, flash, mode, status):
    board = plug(holds=small("0.1.0"))
    before = {name: board.file(name) for name in board.names()}
    got, shown = flash(board, small("0.2.0"), mode)
    assert got == status
    assert "replace sampler.py" in " ".join(shown.split())
    assert {name: board.file(name) for name in board.names()} == before


def test_too_little_room_fails_before_writing(plug, flash):
    board = plug(holds=small("0.1.0"), says={"blocks": 8})
    before = board.names()
    with pytest.raises(FlashError, match=r"too little room.* kB are needed, .* kB are free"):
        flash(board, small("0.2.0"))
    assert board.names() == before


def test_circuitpython_is_refused_with_bootsel_hint(plug, flash):
    board = plug(says={"name": "circuitpython", "version": (9, 1, 0)})
    with pytest.raises(FlashError, match=r"CircuitPython 9\.1\.0.*the mat needs MicroPython 1\.23 or newer") as caught:
        flash(board, small())
    assert "hold its BOOTSEL" in caught.value.hint
    assert "own download page" in caught.value.hint
    assert board.names() == []


@pytest.mark.slow
def test_foreign_program_is_replaced_by_force_alone(plug, flash):
    board = plug(files={"main.py": OTHER, "pins.py": b"LED = 25\n"})
    with pytest.raises(FlashError, match=r"another program is on the board: pins.py, main.py") as caught:
        flash(board, small())
    assert "--force" in caught.value.hint
    assert board.file("main.py") == OTHER
    assert flash(board, small(), force=True)[0] == 0
    assert board.file("main.py") == small().files["main.py"]


def test_corrupted_copy_never_replaces_the_file(plug, flash):
    board, old, new = plug(holds=small("0.1.0")), small("0.1.0"), small("0.2.0")
    new.hashes["sampler.py"] = "0" * 64  # what arrives is not what was meant
    with pytest.raises(FlashError, match=r"not whole: sampler\.py"):
        flash(board, new)
    assert {name: board.file(name) for name in old.files} == old.files


@pytest.mark.slow
def test_mismatched_firmware_version_after_copy_is_refused(plug, flash):
    board = plug()
    lying = small("0.1.0")
    told = type(lying)("0.9.0", lying.files)
    with pytest.raises(FlashError, match=r"answers with firmware 0.1.0; copied was firmware 0.9.0"):
        flash(board, told)


def test_flash_verb_finds_board_and_returns_status(plug, monkeypatch, capsys):
    board = plug(holds=small())
    monkeypatch.setattr("pi_controller.board.serial_port.BY_ID", board.by_id)
    assert cli.main(["mat", "flash", "--check"]) == 1
    assert "add wire.py" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["mat", "flash", "--check", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], "wire.py" in told["copy"]) == (False, True)
    assert cli.main(["mat", "flash", "--check", "--dry-run"]) == 2
    assert cli.main(["mat", "flash", "--port", "COM3"]) == 2
    assert "moccasin-mat mat ports" in capsys.readouterr().err
