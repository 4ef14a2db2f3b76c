"""The thread that reads the touch chip."""

import threading

import pytest
from mock_chips import Mpr121

from pi_controller.board.mpr121 import KEPT, TouchChip, TouchThread

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
    assert seen.wait(60.0)
    thread.close()
    scans = thread.take()
    assert len(scans) == KEPT, "of half as many again"
    assert [t for t, _ in scans] == sorted({t for t, _ in scans})
    assert scans[-1] == (pytest.approx(now[0], abs=0.1), COUNTS), "the newest are kept"
    assert (thread.take(), thread.missing, chip.closed) == ([], None, 1)
