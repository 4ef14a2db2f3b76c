"""The touch chip by its registers: set up as on the board, asked for its filtered data, missed and found again."""

import threading
import time
from pathlib import Path

import pytest
from mock_chips import Mpr121

from pi_controller.board.chips import KEPT, TouchChip, TouchThread, open_i2c
from pi_controller.errors import PortError

COUNTS = tuple(range(700, 712))


@pytest.fixture
def chip():
    return Mpr121(lambda: COUNTS)


def test_thread_polls_and_bounds_its_backlog(chip):
    seen, now = threading.Event(), [0.0]

    def clock():
        now[0] += 0.02  # so that nothing is waited for
        if now[0] > 3 * KEPT * 0.02:
            seen.set()
        return now[0]

    thread = TouchThread(TouchChip(lambda: chip), clock)
    assert seen.wait(20.0)
    thread.close()
    scans = thread.take()
    assert 0 < len(scans) <= KEPT
    assert scans[-1][1] == COUNTS
    assert scans == sorted(scans)
    assert (thread.take(), thread.missing, chip.closed) == ([], None, 1)


def test_this_machine_has_no_i2c_and_says_so():
    if any(Path("/dev").glob("i2c-1")):
        pytest.skip("it has")
    with pytest.raises(PortError) as error:
        open_i2c()
    assert error.value.hint
    assert time.monotonic() > 0
