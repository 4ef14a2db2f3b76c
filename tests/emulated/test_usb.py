"""The host at the other end: WELCOME, one that stops reading, one that reads now and then, one that talks too early."""

from itertools import pairwise

import pytest
from emulated_host import Host

from pi_controller.board import wire
from pi_controller.board.messages import Gap, LinkUp, Piezo
from pi_controller.system.find_board import load_shipped

pytestmark = pytest.mark.emulated

FULL_OF_THREES = wire.seal(wire.ping_body(0x03030303), 3)


def test_welcome_says_who_it_is(host):
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


def test_each_pad_is_its_own_channel_and_no_sample_is_missing(host):
    host.board.change("signal", "ramp")
    host.go(0.1)
    samples = [one.samples.astype(int) + one.full_scale for one in host.go(0.5) if isinstance(one, Piezo)]
    assert sum(map(len, samples)) >= 0.45 * 4000
    for before, after in pairwise(samples):
        assert (after[0, 0] - before[-1, 0]) & 1023 == 1
    for block in samples:
        for pad in range(4):
            assert set(block[:, pad] >> 10) == {pad}
            assert {(b - a) & 1023 for a, b in pairwise(block[:, pad])} == {1}
    host.board.change("signal", "noise")
    host.go(0.1)


def test_a_host_that_is_away_costs_no_pass_and_tears_no_frame(host):
    lost, missing = host.decoder.lost, host.session.stats.missing_samples
    host.board.state()
    host.away(5.0)
    assert max(host.board.state()["passes"]) < 50_000
    came = host.go(1.5)
    assert max(host.board.state()["passes"]) < 50_000
    assert host.decoder.bad == 0
    assert host.decoder.lost > lost, "what was dropped is counted by its numbers"
    assert host.session.stats.missing_samples - missing == sum(one.samples for one in came if isinstance(one, Gap))
    assert host.session.up
    kinds = [kind for kind, _ in host.events(came)]
    assert kinds[-2:] == ["host silent", "host back"]


def test_a_host_that_dribbles(host):
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


def test_a_host_that_talks_while_the_board_starts_stops_nothing(board):
    """A 3 is Ctrl-C to MicroPython, and many frames have one."""
    board.power_on()
    host = Host(board)
    host.session.start(0.0)
    board.change("open", True)
    heard = b"".join(board.run(20_000, FULL_OF_THREES) for _ in range(20))
    assert heard.strip(b"\0") == b""
    assert b"\0" in heard, "the sign that it starts"
    assert host.connect() < 2.0
