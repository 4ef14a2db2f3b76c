"""Chips on I2C that fall silent and come back, a line that is held, and both kinds of magnetometer."""

import numpy as np
import pytest
from emulated_host import Host

from pi_controller.board import wire
from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, Piezo, Touch
from pi_controller.pinmap import pinmap

pytestmark = pytest.mark.emulated

MPR121 = 0x5A
MUXES = (0x70, 0x71, 0x72)


AWAY_S = 1.4
"""A chip is silent after a second without an answer, and asked again once a second."""


@pytest.fixture(scope="module")
def settled(host):
    """Return the host of a board whose self test at the start is over."""
    host.go(1.5)
    return host


def fields(came):
    return [one.ok for one in came if isinstance(one, Field)]


@pytest.mark.slow
def test_self_test_reads_capacitance_of_each_strip(settled):
    settled.session.request_self_test()
    told = [one for one in settled.go(1.8) if isinstance(one, BoardEvent) and one.kind == "strips"]
    assert [one.part for one in told] == [1, 2, 3, 4]
    assert np.allclose([wire.strips_pf(one.value) for one in told], np.arange(50, 62).reshape(4, 3), atol=1)
    assert settled.board.state()["complaints"] == []


@pytest.mark.slow
def test_self_test_measures_each_disc_without_sample_gap(settled):
    settled.session.request_self_test()
    came = settled.go(1.8)
    told = {one.part: wire.disc_ms(one.value) for one in came if isinstance(one, BoardEvent) and one.kind == "discs"}
    assert [told[pad] for pad in (1, 2, 3, 4)] == pytest.approx([0.83, 2.2, 2.86, 3.52], abs=0.1)
    assert max(np.abs(one.counts).max() for one in came if isinstance(one, Piezo)) < 50
    assert not [one for one in came if isinstance(one, Gap)]
    passes = [one.worst_loop_us for one in came if isinstance(one, BoardHealth)]
    assert max(passes) < 30_000


def touches(came):
    return [one for one in came if isinstance(one, Touch)]


def test_every_reading_is_its_own_chips(settled):
    came = settled.go(0.3)
    assert touches(came)[0].counts.tolist() == [[700, 701, 702], [703, 704, 705], [706, 707, 708], [709, 710, 711]]
    field = next(one for one in came if isinstance(one, Field))
    counts = field.ut * pinmap().magnetometers.counts_per_ut
    assert np.allclose(counts, [[100 * n, -100 * n, 1000 + n] for n in range(24)])
    assert field.ok.all()
    assert settled.board.state()["complaints"] == []


@pytest.mark.slow
def test_the_touch_chip_away_and_back(settled):
    settled.board.change("silence", MPR121)
    came = settled.go(AWAY_S)
    assert len(touches(came)) <= 1
    assert settled.events(came) == [("touch silent", 0)]
    assert fields(came)[-1].all()
    settled.board.change("answer", MPR121)
    came = settled.go(AWAY_S)
    assert settled.events(came) == [("touch back", 0)]
    assert len(touches(came)) > 10


@pytest.mark.slow
def test_a_silent_multiplexer_leaves_the_other_sixteen(settled):
    for n, mux in enumerate(MUXES):
        settled.board.change("silence", mux)
        settled.go(0.15)
        masks = fields(settled.go(0.4))
        assert len(masks) >= 7
        assert all((mask == (np.arange(24) // 8 != n)).all() for mask in masks)
        settled.board.change("answer", mux)
        assert fields(settled.go(AWAY_S))[-1].all()
    assert len(touches(settled.go(0.2))) >= 9


@pytest.mark.slow
def test_one_magnetometer_away_one_saturated_and_both_back(settled):
    settled.board.change("remove_magnetometer", 13)
    settled.board.change("magnetometer_counts", [2, [40_000, 0, 0]])
    came = settled.go(AWAY_S)
    assert np.flatnonzero(~fields(came)[-1]).tolist() == [2, 13]
    assert settled.events(came) == [("magnetometer silent", 14)], "one that is saturated answers"
    settled.board.change("replace_magnetometer", 13)
    settled.board.change("magnetometer_counts", [2, [200, -200, 1002]])
    came = settled.go(AWAY_S)
    assert settled.events(came) == [("magnetometer back", 14)]
    assert fields(came)[-1].all()


@pytest.mark.slow
def test_clocking_frees_a_chip_holding_sda(settled):
    settled.board.state()
    kinds: list[str] = []
    for clocks in range(12, 31, 3):  # transfers that fail clock it, too: how often depends on when it begins
        settled.board.change("hold_sda", clocks)
        kinds += [kind for kind, _ in settled.events(settled.go(1.2)) if kind.startswith("bus")]
        if "bus free" in kinds:
            break
    assert kinds[:2] == ["bus stuck", "bus free"]
    assert max(settled.board.state()["passes"]) < 200_000
    came = settled.go(AWAY_S)
    assert fields(came)[-1].all()
    assert len(touches(came)) > 10


@pytest.mark.slow
def test_qmc5883p_magnetometer_is_detected(board, host):
    board.power_on(magnetometer="QMC5883P")
    host = Host(board)
    host.connect()
    came = host.go(0.6)
    field = [one for one in came if isinstance(one, Field)][-1]
    assert field.ok.all()
    assert host.session.board.features & wire.QMC5883P
    counts = field.ut * pinmap().magnetometers.qmc5883p_counts_per_ut
    assert np.allclose(counts, [[100 * n, -100 * n, 1000 + n] for n in range(24)])
    assert board.state()["complaints"] == []
