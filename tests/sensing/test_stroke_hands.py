"""A stroke waits for the touch strips to tell of its moment, and no longer than it must."""

import numpy as np
import pytest

from pi_controller.board.messages import LinkDown, Piezo, Touch
from pi_controller.sensing.events import HandIn, Link, Strike
from pi_controller.sensing.hands import HandDetector
from pi_controller.sensing.sensors import MatSensors
from pi_controller.sensing.stroke_hands import StrikeLabeller

SCAN_S = 0.02
REST = 700


class Pads:
    """Scans of a quiet mat; `lost` are the counts that the strips of a pad have lost, hider's edge first."""

    def __init__(self) -> None:
        self.hands = HandDetector()
        self.strokes = StrikeLabeller(self.hands)
        self.t = 0.0
        self.lost: dict[int, tuple[int, int, int]] = {}
        self.scan(20)

    def scan(self, times: int = 1) -> list[Strike]:
        """Scan so often, and return the strokes that it decided."""
        told: list[Strike] = []
        for _ in range(times):
            self.t += SCAN_S
            counts = np.full((4, 3), REST, np.int16)
            for pad, lost in self.lost.items():
                counts[pad - 1] -= np.array(lost, np.int16)
            told += self.strokes.take_scan(self.t, self.hands.feed(Touch(self.t, counts)))
        return told


@pytest.fixture
def pads() -> Pads:
    return Pads()


def test_stick_strike_is_released_at_next_scan(pads: Pads) -> None:
    stroke = Strike(pads.t + 0.012, (2,), 12.0)
    assert pads.strokes.hold([stroke]) == []
    assert pads.scan() == [stroke]
    assert pads.scan(20) == []


@pytest.mark.parametrize(("before_ms", "scans"), [(4, 2), (6, 1)])
def test_scan_within_5_ms_leaves_strike_pending(pads: Pads, before_ms: int, scans: int) -> None:
    stroke = Strike(pads.t + SCAN_S - before_ms / 1000, (2,))
    pads.strokes.hold([stroke])
    assert [pads.scan() for _ in range(scans)] == [[]] * (scans - 1) + [[stroke]]


def test_late_strike_does_not_wait_for_scan(pads: Pads) -> None:
    stroke = Strike(pads.t - 0.01, (2,))
    assert pads.strokes.hold([stroke]) == [stroke]


@pytest.mark.parametrize(
    ("edge", "middle", "whose"), [((30, 2, 0), (30, 30, 0), "hider"), ((0, 2, 30), (0, 30, 30), "hitter")]
)
def test_strike_by_entering_hand_names_its_side(pads: Pads, edge: tuple, middle: tuple, whose: str) -> None:
    stroke = Strike(pads.t + 0.012, (3,), 2.0)
    pads.strokes.hold([stroke])
    pads.lost[3] = edge
    assert pads.scan(2) == []
    pads.lost[3] = middle
    told = pads.scan(4)
    assert [(each.pads, each.hand, each.t) for each in told] == [((3,), whose, stroke.t)]


def test_hand_at_another_pad_does_not_delay_strike(pads: Pads) -> None:
    pads.lost[4] = (30, 40, 5)
    pads.scan(10)
    assert pads.hands.occupied_pads == (4,)
    stroke = Strike(pads.t - 0.01, (1,))
    assert pads.strokes.hold([stroke]) == [stroke]


def test_strike_near_present_or_departed_hand_is_labelled(pads: Pads) -> None:
    for lost in ((30, 2, 0), (30, 2, 0), (30, 40, 5)):
        pads.lost[2] = lost
        pads.scan(4)
    told = pads.strokes.hold([Strike(pads.t - 0.01, (2,))])
    assert [each.hand for each in told] == ["hider"]
    pads.lost.clear()
    pads.scan(5)
    assert pads.hands.occupied_pads == ()
    assert [each.hand for each in pads.strokes.hold([Strike(pads.t - 0.01, (2,))])] == ["hider"]
    pads.scan(4)
    assert [each.hand for each in pads.strokes.hold([Strike(pads.t - 0.01, (2,))])] == ["hider"]
    pads.scan(6)
    assert [each.hand for each in pads.strokes.hold([Strike(pads.t - 0.01, (2,))])] == [None]


def test_touch_resting_at_edge_releases_plain_strike(pads: Pads) -> None:
    stroke = Strike(pads.t + 0.012, (2,))
    pads.strokes.hold([stroke])
    pads.lost[2] = (20, 0, 0)
    assert pads.scan(10) == []
    assert pads.scan() == [stroke]


def test_brief_touch_is_not_taken_for_hand(pads: Pads) -> None:
    stroke = Strike(pads.t + 0.012, (2,))
    pads.strokes.hold([stroke])
    pads.lost[2] = (8, 0, 0)
    assert pads.scan() == []
    pads.lost.clear()
    assert pads.scan() == [stroke]


def test_overdue_strike_is_released_without_scans(pads: Pads) -> None:
    stroke = Strike(pads.t + 0.01, (2,))
    pads.strokes.hold([stroke])
    assert pads.strokes.overdue(stroke.t + 0.06) == []
    assert pads.strokes.overdue(stroke.t + 0.07) == [stroke]
    assert pads.strokes.release_all() == []


def test_release_all_makes_touched_pad_strike_unsure(pads: Pads) -> None:
    pads.strokes.hold([Strike(pads.t + 0.012, (2,))])
    pads.lost[2] = (20, 0, 0)
    pads.scan()
    assert [(each.pads, each.sure) for each in pads.strokes.release_all()] == [((2,), False)]


def test_forget_drops_pending_strike(pads: Pads) -> None:
    pads.strokes.hold([Strike(pads.t + 0.012, (2,))])
    pads.strokes.forget()
    assert pads.scan(20) == []


class Board:
    """Samples and scans of a quiet mat into a `MatSensors`."""

    def __init__(self) -> None:
        self.mat_sensors = MatSensors()
        self.rng = np.random.default_rng(1)
        self.n = 0

    def block(self, strike: int | None = None, scan: tuple[int, ...] | None = (0, 0, 0)) -> list:
        """Feed 8 ms of samples, and a scan each third time in which pad 1 has lost `scan`; return the events."""
        samples = self.rng.normal(0, 1.5, (32, 4))
        if strike is not None:
            samples[:, strike - 1] += 900 * np.exp(-np.arange(32) / 12) * np.sin(np.pi * 0.45 * np.arange(32))
        events = self.mat_sensors.feed(Piezo(self.n * 0.008, self.n * 32, 4000.0, np.rint(samples).astype(np.int16)))
        self.n += 1
        if scan is not None and self.n % 3 == 0:
            counts = np.full((4, 3), REST, np.int16)
            counts[0] -= np.array(scan, np.int16)
            events += self.mat_sensors.feed(Touch(self.n * 0.008, counts))
        return events


@pytest.mark.parametrize("scans", [True, False])
def test_strike_is_reported_once_with_or_without_strips(scans: bool) -> None:
    board = Board()
    scan = (0, 0, 0) if scans else None
    assert [event for _ in range(90) for event in board.block(scan=scan)] == []
    at = board.n * 0.008
    told = [(board.n * 0.008, event) for n in range(30) for event in board.block(1 if n == 0 else None, scan)]
    assert [(event.pads, event.hand) for _, event in told] == [((1,), None)]
    assert told[0][0] - at <= (0.04 if scans else 0.016)


def test_pending_strike_is_released_when_strips_die() -> None:
    board = Board()
    for _ in range(90):
        board.block()
    told = [event for n in range(30) for event in board.block(1 if n == 0 else None, None)]
    assert [(event.pads, event.sure) for event in told if isinstance(event, Strike)] == [((1,), True)]


def test_bump_strike_names_hand_and_precedes_hand_in() -> None:
    board = Board()
    for _ in range(90):
        board.block()
    events = []
    for n in range(30):
        lost = (0, 0, 0) if n < 2 else (30, 3, 0) if n < 5 else (30, 30, 0)
        events += board.block(1 if n == 0 else None, lost)
    assert [type(event) for event in events] == [Strike, HandIn]
    assert events[0].hand == "hider"


def test_link_down_releases_pending_strike_first() -> None:
    board = Board()
    for _ in range(90):
        board.block()
    assert board.block(1) + board.block() == []
    events = board.mat_sensors.feed(LinkDown(board.n * 0.008, "unplugged"))
    assert [type(event) for event in events] == [Strike, Link]
