"""The touch chip by its registers: set up as on the board, asked for its filtered data, missed and found again."""

import ast
from pathlib import Path

import pytest
from mock_chips import Mpr121

from pi_controller.board.mpr121 import NO_COUNTS, RETRY_S, SET_UP, TouchChip, open_i2c
from pi_controller.errors import PortError
from pi_controller.pinmap import pinmap

FIRMWARE = Path(__file__).parents[2] / "firmware" / "i2c.py"
COUNTS = tuple(range(700, 712))


@pytest.fixture
def chip():
    return Mpr121(lambda: COUNTS)


def test_setup_registers_match_the_firmware():
    tree = ast.parse(FIRMWARE.read_text("utf-8"))
    strips = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Strips")
    found = [
        ast.literal_eval(node.value)
        for node in strips.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "_SET_UP"
    ]
    assert found == [SET_UP]
    assert pinmap().pi.mpr121.address == pinmap().board.mpr121_address == Mpr121.ADDRESS
    assert pinmap().pi.mpr121.hz == pinmap().board.touch_hz


def test_poll_reads_all_electrodes_with_baseline_off(chip):
    strips = TouchChip(lambda: chip)
    assert strips.poll(0.0) == NO_COUNTS
    assert strips.poll(0.02) == COUNTS
    assert strips.missing is None
    assert tuple(chip.written) == SET_UP
    assert not chip.keeps_a_baseline
    strips.close()
    strips.close()
    assert chip.closed == 1


def test_missing_chip_is_reported_and_retried_every_second(chip):
    chip.there = False
    strips = TouchChip(lambda: chip)
    tried = sum(strips.poll(n * 0.02) == NO_COUNTS for n in range(100))
    assert tried == 100
    assert strips.missing is not None
    assert "0x5A does not answer" in strips.missing.message
    chip.there = True
    later = [strips.poll(2.0 + n * 0.02) for n in range(100)]
    assert later[-1] == COUNTS
    assert later.index(COUNTS) <= RETRY_S / 0.02 + 1
    assert strips.missing is None


def test_chip_after_power_loss_is_set_up_again(chip):
    strips = TouchChip(lambda: chip)
    strips.poll(0.0)
    strips.poll(0.02)
    chip.reset()
    assert strips.poll(0.04) == NO_COUNTS
    assert [strips.poll(0.06 + n * 0.02) for n in range(60)][-1] == COUNTS
    assert tuple(chip.written) == SET_UP * 2


def test_a_bus_that_cannot_be_opened_is_named():
    def none():
        raise PortError("no I2C", "turn it on")

    strips = TouchChip(none)
    assert strips.poll(0.0) == NO_COUNTS
    assert strips.missing.message == "no I2C"


def test_this_machine_has_no_i2c_and_says_so():
    if any(Path("/dev").glob("i2c-1")):
        pytest.skip("it has")
    with pytest.raises(PortError) as error:
        open_i2c()
    assert error.value.hint
