"""`moccasin-mat flash` on boards that run a real MicroPython, through the real mpremote."""

import json

import pytest
from small_firmware import small

from pi_controller.system.find_board import FlashError, load_shipped
from pi_controller.system.flash import BoardFiles, BoardPython, require_suitable

OTHER = b"print('a weather station')\n"


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


@pytest.mark.parametrize(
    ("version", "machine", "what", "todo"),
    [
        ((1, 22, 2), "Raspberry Pi Pico with RP2040", "MicroPython 1.22.2, .*needs MicroPython 1.23", "RPI-RP2"),
        ((1, 12), "rp2", "MicroPython 1.12, rp2; the mat needs", "RPI-RP2"),
        ((1, 23, 0), "Raspberry Pi Pico 2 with RP2350", "MicroPython 1.23.0, .*needs MicroPython 1.24", "RP2350"),
        ((1, 26, 0), "PYBD-SF2W with STM32F722IEK", "neither an RP2040 nor an RP2350: .*STM32", "pins.md"),
    ],
)
def test_a_board_that_cannot_run_it_is_refused(version, machine, what, todo):
    found = BoardFiles(4096, 10**6, {}, {}, mine=False, fault="", list="")
    with pytest.raises(FlashError, match=what) as caught:
        require_suitable(BoardPython("micropython", version, machine), found)
    assert todo in caught.value.hint


@pytest.mark.parametrize("machine", ["Raspberry Pi Pico with RP2040", "Raspberry Pi Pico 2 with RP2350"])
def test_both_chips_are_accepted(machine):
    found = BoardFiles(4096, 10**6, {}, {}, mine=False, fault="", list="")
    assert require_suitable(BoardPython("micropython", (1, 24, 0), machine), found) is found


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


def test_mismatched_firmware_version_after_copy_is_refused(plug, flash):
    board = plug()
    lying = small("0.1.0")
    told = type(lying)("0.9.0", lying.files)
    with pytest.raises(FlashError, match=r"answers with firmware 0.1.0; copied was firmware 0.9.0"):
        flash(board, told)


def test_the_list_on_the_board_names_every_file():
    firmware = load_shipped()
    assert json.loads(firmware.files["firmware.json"])["files"] == sorted(firmware.files.keys() - {"firmware.json"})
    assert list(firmware.files)[-1] == "main.py", "what starts the rest comes last"
    assert {"wire.py", "board.py", "sampler.py"} <= firmware.files.keys()
