"""The board's clock on the host's, against a known truth."""

import random
from itertools import pairwise

import pytest

from pi_controller.board.clock import BoardClock
from pi_controller.board.messages import Piezo


def drive(clock, *, minutes=5.0, ppm=0.0, jitter=0.001, seed=1, late=0.0, start=50.0):
    """Ping twice a second and map a block each 8 ms; yields (true host time, mapped host time) of each block."""
    rng = random.Random(seed)
    slope = 1 + ppm * 1e-6

    def there(board):
        return start + board * slope

    pairs = []
    for step in range(round(minutes * 60 * 125)):
        board = step * 0.008
        if step % 62 == 0:
            out, back = 0.0005 + rng.expovariate(1 / jitter), 0.0005 + rng.expovariate(1 / jitter)
            if rng.random() < late:
                back += rng.uniform(0.02, 0.3)
            clock.take_pong(there(board) - out, there(board) + back, board)
        pairs.append((there(board), clock.to_host(board, board + 0.008)))
    return pairs


@pytest.mark.parametrize("ppm", [-100, 0, 60])
@pytest.mark.parametrize("late", [0.0, 0.3])
def test_it_is_right_within_two_milliseconds(ppm, late):
    pairs = drive(BoardClock(), ppm=ppm, late=late)
    settled = [got - true for true, got in pairs[125 * 20 :]]
    assert max(map(abs, settled)) < 0.002


@pytest.mark.parametrize("ppm", [-100, 100])
def test_drift_is_found(ppm):
    clock = BoardClock()
    drive(clock, ppm=ppm)
    assert clock.drift * 1e6 == pytest.approx(ppm, abs=40)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_never_overlap(seed):
    pairs = drive(BoardClock(), minutes=2, ppm=50, late=0.2, jitter=0.004, seed=seed)
    times = [got for _, got in pairs]
    sample = 1 / 4000
    assert all(later - earlier > 0.008 - 0.5 * sample for earlier, later in pairwise(times))


def test_slow_pong_does_not_change_clock():
    clock, other = BoardClock(), BoardClock()
    for one in (clock, other):
        for i in range(40):
            one.take_pong(i / 2 - 0.001, i / 2 + 0.001, i / 2)
    clock.take_pong(20.0, 20.9, 20.45)
    assert clock.to_host(21.0) == other.to_host(21.0)


def test_before_the_first_pong_arrivals_count():
    clock = BoardClock()
    clock.take_arrival(7.0, 100.0)
    assert not clock.known
    assert clock.to_host(7.5) == 100.5
    clock.take_arrival(7.6, 100.9)
    assert clock.to_host(7.5) == 100.5


def test_late_first_arrival_is_corrected_without_block_overlap():
    clock = BoardClock()
    clock.take_arrival(0.0, 10.05)  # 50 ms too late
    times = [clock.to_host(0.0, 0.008)]
    for step in range(1, 125 * 30):
        board = step * 0.008
        if step % 62 == 0:
            clock.take_pong(10 + board - 0.001, 10 + board + 0.001, board)
        times.append(clock.to_host(board, board + 0.008))
    assert all(later - earlier > 0.008 - 0.5 / 4000 for earlier, later in pairwise(times))
    assert times[-1] == pytest.approx(10 + board, abs=0.001)


def test_mapped_time_is_not_moved_by_later_pongs():
    clock = BoardClock()
    clock.take_pong(9.999, 10.001, 0.0)
    clock.to_host(1.0, 1.5)
    end = clock.peek_host(1.5)
    clock.take_pong(11.004, 11.006, 1.0)  # beyond what crystals do: not believed of one answer alone
    assert clock.peek_host(2.5) == end + 1.0
    clock.take_pong(11.504, 11.506, 1.5)
    assert clock.peek_host(1.5) == end
    assert clock.peek_host(2.5) > end + 1.0


def test_late_first_pong_is_corrected_by_later_pongs():
    clock = BoardClock()
    clock.take_pong(10.0, 10.4, 0.0)
    for i in range(1, 120):
        clock.take_pong(10 + i / 2 - 0.001, 10 + i / 2 + 0.001, i / 2)
    assert clock.to_host(60.0) == pytest.approx(70.0, abs=0.002)


def test_far_behind_it_jumps_ahead():
    clock = BoardClock()
    clock.take_arrival(0.0, 10.0)
    assert clock.to_host(0.1) == pytest.approx(10.1)
    clock.take_pong(10.699, 10.701, 0.2)
    assert clock.to_host(0.3) == pytest.approx(10.8, abs=0.001)


def test_samples_are_stamped_right_through_the_session(rig):
    rig.slow = 1.00008
    rig.connect()
    messages = rig.run(60.0)
    worst = max(
        abs(m.t - (100.0 + m.index / 4000 * rig.slow)) for m in messages[len(messages) // 2 :] if isinstance(m, Piezo)
    )
    assert worst < 0.009  # the rig hears and speaks each 8 ms only
