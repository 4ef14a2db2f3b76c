"""The feel of the mat put together: every message finds its detector, the link's ups and downs reset what they must."""

from __future__ import annotations

import numpy as np
import pytest

from pi_controller.board.messages import BoardHealth, Field, Gap, LinkDown, LinkUp, Piezo, Touch
from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import (
    BeadsAtRest,
    HandIn,
    HandOut,
    Link,
    MatEvent,
    SamplesMissing,
    SensorFault,
    SensorFaultsChange,
    Strike,
)
from pi_controller.sensing.sensors import MatSensors

RATE = 4000.0
BLOCK = 32
SENSORS = np.array(pinmap().magnetometer_positions())


class Board:
    """A quiet mat that sends all its samples in order; `feel` takes them and `events` are what came of it."""

    def __init__(self, seed: int = 1) -> None:
        self.mat_sensors = MatSensors()
        self.rng = np.random.default_rng(seed)
        self.t = 100.0
        self.index = 0
        self.events: list[MatEvent] = []
        self.bead: np.ndarray | None = None
        self.hand: int | None = None
        self.broken: int | None = None
        self.offsets = self.rng.normal(0, 1.0, SENSORS.shape)

    def block(self, strike: int | None = None) -> list[MatEvent]:
        samples = self.rng.normal(0, 1.5, (BLOCK, 4))
        if strike is not None:
            ring = np.exp(-np.arange(BLOCK) / 12) * np.sin(2 * np.pi * 900 * np.arange(BLOCK) / RATE)
            samples[:, strike - 1] += 900 * ring
        piezo = Piezo(self.t, self.index, RATE, np.rint(samples).astype(np.int16))
        self.index += BLOCK
        self.t += BLOCK / RATE
        new = self.mat_sensors.feed(piezo)
        self.events += new
        return new

    def run(self, seconds: float) -> None:
        until, n = self.t + seconds, 0
        while self.t < until:
            self.block()
            n += 1
            if n % 3 == 0:
                counts = np.rint(self.rng.normal(700, 1.5, (4, 3)))
                if self.hand:
                    counts[self.hand - 1] -= 40
                if self.broken:
                    counts[self.broken - 1, 1] = 0
                self.events += self.mat_sensors.feed(Touch(self.t, counts.astype(np.int16)))
            if n % 6 == 0:
                ut = np.array([20.0, 5.0, -45.0]) + self.offsets + self.rng.normal(0, 0.5, SENSORS.shape)
                if self.bead is not None:
                    r = SENSORS - self.bead
                    d = np.linalg.norm(r, axis=1, keepdims=True)
                    m = np.array([0.1, 0.1, 0.105])
                    ut += 1e8 * (3 * r * (r @ m)[:, None] / d**5 - m / d**3)
                self.events += self.mat_sensors.feed(Field(self.t, ut, np.ones(24, dtype=np.bool_)))

    def up(self, board: str = "one", boots: int = 1) -> list[MatEvent]:
        return self.mat_sensors.feed(LinkUp(self.t, board, "1.0.0", boots, "power", 4))

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]


def place(pad: int) -> np.ndarray:
    x, y = pinmap().pads.centre(pad)
    return np.array([x + 20.0, y + 30.0, 6.0])


def test_a_hide_and_a_hit() -> None:
    board = Board()
    assert board.up() == [Link(100.0, up=True)]
    board.mat_sensors.reporting_enabled = False
    board.run(1.0)
    assert [(b.found, b.sure) for b in board.of(BeadsAtRest)] == [((), True)]
    board.hand = 3
    board.run(0.5)
    board.bead = place(3)
    board.run(0.5)
    board.hand = None
    board.run(0.6)
    assert [type(event) for event in board.events] == [BeadsAtRest, HandIn, BeadsAtRest, HandOut, BeadsAtRest]
    # when it came to rest, and once more after the hand that laid it went
    assert [len(beads.found) for beads in board.of(BeadsAtRest)] == [0, 1, 1]
    for beads in board.of(BeadsAtRest)[-2:]:
        assert [(b.pad, b.marked) for b in beads.found] == [(3, True)]
        assert beads.sure
    board.mat_sensors.reporting_enabled = True
    board.run(0.5)
    board.block(strike=3)
    board.run(0.3)
    assert [s.pads for s in board.of(Strike)] == [(3,)]
    assert all(a.t <= b.t + 0.1 for a, b in zip(board.events, board.events[1:], strict=False))


def test_a_gap_is_blind_and_invents_no_strike() -> None:
    board = Board()
    board.run(0.6)
    assert board.mat_sensors.feed(Gap(board.t, board.t + 0.5, 2000)) == [SamplesMissing(board.t, board.t + 0.5)]
    board.index += 2000
    board.t += 0.5
    board.run(0.5)
    assert board.of(SamplesMissing) == []  # told of once, not again for the jump of the numbers
    assert board.of(Strike) == []


def test_jump_in_sample_index_reports_missing_samples() -> None:
    board = Board()
    board.run(0.6)
    end = board.t
    board.index += 800
    board.t += 0.2
    new = board.block()
    assert len(new) == 1
    assert isinstance(new[0], SamplesMissing)
    assert (new[0].t, new[0].until) == (pytest.approx(end), pytest.approx(end + 0.2))


def test_bead_is_reported_again_after_link_returns() -> None:
    board = Board()
    board.up()
    board.run(1.0)
    board.bead = place(2)
    board.run(1.0)
    assert len(board.of(BeadsAtRest)) == 2
    assert board.mat_sensors.feed(LinkDown(board.t, "unplugged")) == [Link(board.t, up=False, why="unplugged")]
    board.t += 3.0
    board.index = 0
    board.up(boots=2)
    board.run(1.0)
    again = board.of(BeadsAtRest)[2:]
    assert [b.pad for beads in again for b in beads.found] == [2]
    assert again[0].sure
    assert board.of(SamplesMissing) == []


def test_another_board_has_sensors_of_its_own() -> None:
    board = Board()
    board.up()
    board.run(1.0)
    assert board.mat_sensors.beads.baseline is not None
    board.mat_sensors.feed(LinkDown(board.t, "unplugged"))
    board.up(board="two")
    assert board.mat_sensors.beads.baseline is None


@pytest.mark.parametrize(("boots", "wanted"), [(1, ["in", "out"]), (2, ["in"])])
def test_hands_outlast_a_short_loss_but_no_restart(boots: int, wanted: list[str]) -> None:
    board = Board()
    board.up(boots=1)
    board.run(1.0)
    board.hand = 1
    board.run(0.5)
    board.mat_sensors.feed(LinkDown(board.t, "silent"))
    board.t += 2.0
    board.up(boots=boots)
    board.hand = None
    board.run(0.5)
    assert ["in" if isinstance(e, HandIn) else "out" for e in board.events if isinstance(e, HandIn | HandOut)] == wanted


def test_health_message_gives_no_event() -> None:
    assert MatSensors().feed(BoardHealth(1.0, 10.0, 0, 0, 0, 100)) == []


def test_samples_of_another_rate_get_another_detector() -> None:
    mat_sensors = MatSensors()
    mat_sensors.reporting_enabled = False
    for rate in (4000.0, 2000.0):
        assert mat_sensors.feed(Piezo(1.0, 0, rate, np.zeros((32, 4), dtype=np.int16))) == []
    assert not mat_sensors.reporting_enabled


def test_broken_strip_is_reported_once_and_on_recovery() -> None:
    board = Board()
    board.up()
    board.run(2.0)
    board.broken = 3
    board.run(0.5)
    board.broken = None  # a loose plug for a moment is nothing to tell
    board.run(2.0)
    assert board.of(SensorFaultsChange) == []
    board.broken = 2
    board.run(3.0)
    broken = (SensorFault("strip", 2, "silent", 1),)
    assert [event.faults for event in board.of(SensorFaultsChange)] == [broken]
    assert board.mat_sensors.faults == broken
    board.broken = None
    board.run(3.0)
    assert [event.faults for event in board.of(SensorFaultsChange)] == [broken, ()]
    assert board.mat_sensors.faults == ()
