"""The host at the other end: WELCOME, one that stops reading, one that reads now and then, one that talks too early."""

from itertools import pairwise

import numpy as np
import pytest
from cases import ALL_CASES, cases
from emulated_board import edited
from emulated_host import Host

from pi_controller.board import wire
from pi_controller.board.messages import Gap, LinkUp, Piezo
from pi_controller.tools.find_board import load_shipped

pytestmark = pytest.mark.emulated

FULL_OF_THREES = wire.seal(wire.ping_body(0x03030303), 3)


def test_welcome_identifies_the_board(host):
    up = next(one for one in host.messages if isinstance(one, LinkUp))
    assert (up.board_id, up.firmware, up.boot_count, up.boot_reason, up.pads) == (
        "e660583883724a32",
        load_shipped().version,
        1,
        "power",
        4,
    )
    board = host.session.board
    assert (board.hz, board.block) == (4000, 32)
    host.go(1.5)
    assert host.events() == [("started", 1), ("tested", 0b11111)]


def test_each_pad_has_its_own_channel_without_gaps(host):
    host.board.change("signal", "ramp")
    host.go(0.1)
    check_ramp(host.go(0.5), 0.45)
    host.board.change("signal", "noise")
    host.go(0.1)


def check_ramp(came, seconds):
    """Check that each pad has its own ramp of a count a sample, in every sample that came."""
    blocks = [one for one in came if isinstance(one, Piezo)]
    assert all(after.index - before.index == len(before.samples) for before, after in pairwise(blocks))
    samples = np.concatenate([one.samples.astype(int) + one.full_scale for one in blocks])
    assert len(samples) >= seconds * 4000
    assert (samples >> 14 == range(4)).all()
    steps = np.diff(samples, axis=0)
    turns = len(samples) // 1024 + 1
    assert ((steps != wire.READINGS).sum(axis=0) <= 2 * turns).all(), "a sample may hold the end of the ramp"


@pytest.mark.slow
def test_absent_host_costs_whole_frames_without_slow_passes(host):
    lost, missing = host.decoder.lost, 0
    host.board.state()
    for _ in range(cases(1, 4)):  # whether a short frame still fits behind the dropped ones depends on when it begins
        missing = host.session.stats.missing_samples
        host.away(5.0)
        assert max(host.board.state()["passes"]) < 50_000
        came = host.go(1.513)
        assert max(host.board.state()["passes"]) < 50_000
        assert host.decoder.bad == 0
        if host.decoder.lost > lost:
            break
    assert host.decoder.lost > lost or not ALL_CASES, "what was dropped is counted by its numbers"
    assert host.session.stats.missing_samples - missing == sum(one.samples for one in came if isinstance(one, Gap))
    assert host.session.up
    kinds = [kind for kind, _ in host.events(came)]
    assert kinds[-2:] == ["host silent", "host back"]


@pytest.mark.slow
def test_a_host_that_dribbles(host):
    host.board.change("signal", "noise")
    host.go(2.0)
    host.board.state()
    came = []
    for _ in range(5):
        host.away(0.4)
        host.hear(host.board.run(150), came)
    assert max(host.board.state()["passes"]) < 50_000
    host.go(1.5)
    assert host.decoder.bad == 0
    assert host.session.up
    assert host.health().bad_frames == 0


def test_ctrl_c_bytes_do_not_interrupt_board_start(board):
    """A 3 is Ctrl-C to MicroPython, and many frames have one."""
    board.power_on()
    host = Host(board)
    host.session.start(0.0)
    board.change("open", True)
    heard = b"".join(board.run(20_000, FULL_OF_THREES) for _ in range(20))
    assert heard.strip(b"\0") == b""
    assert b"\0" in heard, "the sign that it starts"
    assert host.connect() < 2.0


@pytest.mark.slow
def test_dma_run_end_loses_no_sample(board):
    board.power_on(edited("adc.py", "_RUN = 1 << 27", "_RUN = 1 << 16"))  # 256 ms
    host = Host(board)
    host.connect()
    board.change("signal", "ramp")
    host.go(0.1)
    check_ramp(host.go(1.2), 1.15)
    host.go(0.5)
    assert host.health().overflows == 0
    assert host.session.stats.missing_samples == 0
