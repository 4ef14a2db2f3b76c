"""The first flash of the whole firmware, and those that are torn in the middle."""

import pytest
from small_firmware import small

from pi_controller.errors import PortError
from pi_controller.tools.find_board import load_shipped


@pytest.mark.slow
def test_new_board_gets_all_files_and_answers(plug, flash):
    board, firmware = plug(), load_shipped()
    status, shown = flash(board, firmware)
    assert status == 0
    assert {name: board.file(name) for name in board.names()} == firmware.files
    assert f"the mat runs: board e6614103e7452a2f, firmware {firmware.version}" in shown
    assert shown.count("  add ") == len(firmware.files)


@pytest.mark.slow
def test_pulled_cable_keeps_firmware_until_next_flash(plug, flash):
    old, new = small("0.1.0"), small("0.2.0", strips=b"y = 2\n" * 200)
    board = plug(holds=old, pull_after=4000)
    with pytest.raises(PortError, match="went away") as caught:
        flash(board, new)
    assert "plug it in again" in caught.value.hint
    assert {name: board.file(name) for name in old.files} == old.files
    assert any(name.endswith(".new") for name in board.names()), "it was pulled in the middle of a copy"
    board.unplug()
    board.pull_after = None
    board.plug()
    status, shown = flash(board, new)
    assert status == 0
    assert "firmware 0.1.0" in shown, "the old one ran meanwhile"
    assert {name: board.file(name) for name in board.names()} == new.files


@pytest.mark.slow
def test_power_lost_between_the_last_renames_is_repaired(plug, flash):
    # as on_board.put_in_place leaves a board in these milliseconds: no main.py, some new files, some old ones
    old, new = small("0.1.0"), small("0.2.0")
    files = {**old.files, "pins.py": new.files["pins.py"], "main.py.new": new.files["main.py"], "stay": b""}
    del files["main.py"]
    board = plug(files=files)
    assert flash(board, new)[0] == 0
    assert {name: board.file(name) for name in board.names()} == new.files
