"""Which boards `moccasin-mat mat flash` accepts, and what it copies to them."""

import json

import pytest

from pi_controller.tools.board_files import BoardFiles, BoardPython
from pi_controller.tools.find_board import FlashError, load_shipped
from pi_controller.tools.flash_plan import require_suitable


@pytest.mark.parametrize(
    ("version", "machine", "what", "hint"),
    [
        ((1, 22, 2), "Raspberry Pi Pico with RP2040", "MicroPython 1.22.2, .*needs MicroPython 1.23", "RPI-RP2"),
        ((1, 12), "rp2", "MicroPython 1.12, rp2; the mat needs", "RPI-RP2"),
        ((1, 23, 0), "Raspberry Pi Pico 2 with RP2350", "MicroPython 1.23.0, .*needs MicroPython 1.24", "RP2350"),
        ((1, 26, 0), "PYBD-SF2W with STM32F722IEK", "neither an RP2040 nor an RP2350: .*STM32", "pins.md"),
    ],
)
def test_a_board_that_cannot_run_it_is_refused(version, machine, what, hint):
    found = BoardFiles(4096, 10**6, {}, {}, mine=False, fault="", list="")
    with pytest.raises(FlashError, match=what) as caught:
        require_suitable(BoardPython("micropython", version, machine), found)
    assert hint in caught.value.hint


@pytest.mark.parametrize("machine", ["Raspberry Pi Pico with RP2040", "Raspberry Pi Pico 2 with RP2350"])
def test_both_chips_are_accepted(machine):
    found = BoardFiles(4096, 10**6, {}, {}, mine=False, fault="", list="")
    assert require_suitable(BoardPython("micropython", (1, 24, 0), machine), found) is found


def test_the_list_on_the_board_names_every_file():
    firmware = load_shipped()
    assert json.loads(firmware.files["firmware.json"])["files"] == sorted(firmware.files.keys() - {"firmware.json"})
    assert list(firmware.files)[-1] == "main.py", "what starts the rest comes last"
    assert {"wire.py", "board.py", "sampler.py"} <= firmware.files.keys()
