"""What the simulated board replaces of the firmware does the same."""

import sys
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from pi_controller.board import wire
from pi_controller.pads import PADS
from pi_controller.simulation import board, portable_files


@pytest.fixture(scope="module")
def firmware():
    """Return the firmware's guards as they are shipped."""
    paths = {"guards": Path(board.__file__).parents[2] / "firmware" / "guards.py"}
    found = {"wire": wire}
    guards = portable_files.load_firmware("guards", paths, found)
    assert guards.jolt is not portable_files.modules()["guards"].jolt
    assert guards.__name__ not in sys.modules
    return guards


SAMPLES = st.lists(st.integers(0, 65535), min_size=PADS, max_size=PADS)
BLOCKS = st.lists(SAMPLES, min_size=3, max_size=16)


@given(BLOCKS, st.integers(1, 70000))
@example([[0] * PADS] * 2 + [[700, 0, 0, 0]] + [[0] * PADS] * 13, 700)
@example([[0] * PADS] * 15 + [[0, 0, 0, 65535]], 224)
def test_simulated_jolt_position_matches_firmware(firmware, block, least):
    data = bytearray(b"".join(value.to_bytes(2, "little") for sample in block for value in sample))
    assert portable_files.find_jolt(data, least) == firmware.jolt(data, least)
