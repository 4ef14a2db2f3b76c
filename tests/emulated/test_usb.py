"""The host at the other end: WELCOME, one that stops reading, one that reads now and then, one that talks too early."""

import pytest
from emulated_board import firmware

from pi_controller.flash.firmware import ours
from pi_controller.link.messages import Gap, LinkUp, Piezo

pytestmark = pytest.mark.emulated


def test_welcome_says_who_it_is(host):
    up = next(one for one in host.messages if isinstance(one, LinkUp))
    assert (up.board_id, up.firmware, up.boot_count, up.boot_reason, up.pads) == (
        "e66058388372 4a32".replace(" ", ""),
        ours().version,
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
    for before, after in zip(samples, samples[1:], strict=False):
        assert (after[0, 0] - before[-1, 0]) & 1023 == 1
    for block in samples:
        for pad in range(4):
            assert set(block[:, pad] >> 10) == {pad}
            assert {(b - a) & 1023 for a, b in zip(block[:, pad], block[1:, pad], strict=False)} == {1}
    host.board.change("signal", "noise")
    host.go(0.1)


def losses(host):
    stats = host.session.stats
    return stats.bad, stats.refused, stats.lost, stats.missing_samples


def test_a_host_that_is_away_costs_no_pass_and_tears_no_frame(host):
    bad, refused, lost, missing = losses(host)
    host.board.state()
    host.away(5.0)
    assert max(host.board.state()["passes"]) < 50_000
    came = host.go(1.5)
    assert max(host.board.state()["passes"]) < 50_000
    now = losses(host)
    assert now[:2] == (bad, refused)
    assert now[2] > lost, "what was dropped is counted by its numbers"
    assert now[3] - missing == sum(one.samples for one in came if isinstance(one, Gap))
    assert host.session.up
    kinds = [kind for kind, _ in host.events(came)]
    assert "host silent" in kinds
    assert kinds[-1] == "host back"


def test_a_host_that_dribbles(host):
    host.go(0.5)
    bad, refused, _, _ = losses(host)
    host.board.state()
    came = []
    for _ in range(5):
        host.away(0.4)
        host.hear(host.board.run(150), came)
    assert max(host.board.state()["passes"]) < 50_000
    host.go(1.5)
    assert losses(host)[:2] == (bad, refused)
    assert host.session.up


def test_a_host_that_talks_while_the_board_starts_stops_nothing(board, host):
    """A 3 is Ctrl-C to MicroPython, and many frames have one."""
    files = firmware()
    board.power_on(files)
    host.__init__(board)
    board.change("open", True)
    for _ in range(20):
        board.run(20_000, b"\x03\x12\x01\x02\x01\x01\x01\x03\x42\x95\x00")
    assert host.connect() < 2.0
