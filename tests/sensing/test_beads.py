"""The bead tracker: one reading each time the field comes to rest, and what it learns of the empty mat.

At last four balls, on a mat nobody has calibrated: once all that are in play are seen, none hides in the baseline.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cases import cases

from pi_controller.board.messages import Field
from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import MARKED_AM2, UNMARKED_AM2
from pi_controller.sensing.beads import BeadTracker

if TYPE_CHECKING:
    from pi_controller.sensing.events import BeadsAtRest

SENSORS = np.array(pinmap().magnetometer_positions())
AWAY = np.array([0.0, -520.0, 160.0])
MOMENT = np.array([0.09, -0.11, 0.104])  # 0.176 A m2 long


@dataclass
class Mat:
    """A mat scanned 20 times a second; a bead lies at `bead` (mm) or is away; `lying` are balls on it, by pad."""

    seed: int
    noise: float = 0.7
    offset: float = 8.0
    bead: np.ndarray | None = None
    moment: np.ndarray = field(default_factory=lambda: MOMENT)
    t: float = 50.0
    dead: tuple[int, ...] = ()
    uniform: np.ndarray = field(default_factory=lambda: np.array([18.0, 3.0, -47.0]))
    tracker: BeadTracker = field(default_factory=BeadTracker)
    lying: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.offsets = self.rng.uniform(-1, 1, SENSORS.shape) * self.offset * 3**0.5
        self.places = SENSORS + self.rng.normal(0, 0.4, SENSORS.shape)

    def scan(self) -> list[BeadsAtRest]:
        self.t += 0.05
        ut = self.uniform + self.offsets + self.rng.normal(0, self.noise, SENSORS.shape)
        ut = sum(self.lying.values(), ut if self.bead is None else ut + self.field_of(self.bead, self.moment))
        ok = (np.abs(ut) < 800).all(axis=1)
        ok[list(self.dead)] = False
        return self.tracker.feed(Field(self.t, ut, ok))

    def field_of(self, place: np.ndarray, moment: np.ndarray) -> np.ndarray:
        r = self.places - place
        d = np.linalg.norm(r, axis=1, keepdims=True)
        return 1e8 * (3 * r * (r @ moment)[:, None] / d**5 - moment / d**3)

    def lay(self, pad: int, strength: float) -> None:
        """Lay a ball down anywhere under a pad, turned anyhow."""
        axis, pads = self.rng.normal(0.0, 1.0, 3), pinmap().pads
        place = spot(pad, *self.rng.uniform(-0.35, 0.35, 2) * (pads.width_mm, pads.depth_mm))
        self.lying[pad] = self.field_of(place, strength * axis / np.linalg.norm(axis))

    def rest(self, seconds: float) -> list[BeadsAtRest]:
        return [beads for _ in range(round(seconds * 20)) for beads in self.scan()]

    def carry(self, to: np.ndarray, seconds: float = 0.6) -> list[BeadsAtRest]:
        start = AWAY if self.bead is None else self.bead
        n = round(seconds * 20)
        said: list[BeadsAtRest] = []
        for i in range(n):
            self.bead = start + (to - start) * (i + 1) / n
            said += self.scan()
        return said

    def take_away(self) -> list[BeadsAtRest]:
        said = self.carry(AWAY)
        self.bead = None
        return said


def spot(pad: int, dx: float = 15.0, dy: float = 35.0, dz: float = 0.0) -> np.ndarray:
    x, y = pinmap().pads.centre(pad)
    return np.array([x + dx, y + dy, 6.0 + dz])


def laid(seed: int, pad: int, rest: float = 0.0, **place: float) -> Mat:
    """Return a mat that was empty for 2 s, then had the bead carried to `spot(pad, **place)`, and rested."""
    mat = Mat(seed)
    mat.rest(2)
    mat.carry(spot(pad, **place))
    mat.rest(rest)
    return mat


def told(said: list[BeadsAtRest]) -> list[tuple[tuple[int | None, ...], bool]]:
    return [(tuple(bead.pad for bead in beads.found), beads.sure) for beads in said]


@pytest.mark.parametrize("seed", range(cases(4, 12)))
@pytest.mark.parametrize("offset", [0.5, 4.0, 14.0])
def test_a_hide_from_a_cold_start(seed: int, offset: float) -> None:
    mat = Mat(seed, offset=offset)
    start = mat.rest(2)
    assert [pads for pads, _ in told(start)] == [()]
    pad = 1 + seed % 4
    assert not any(pads for pads, _ in told(mat.carry(spot(pad))))
    assert told(mat.rest(1)) == [((pad,), True)]
    assert mat.rest(4) == []
    assert told(mat.take_away() + mat.rest(1))[-1] == ((), True)
    mat.carry(spot(5 - pad))
    assert told(mat.rest(1)) == [((5 - pad,), True)]


def test_settling_takes_a_quarter_of_a_second() -> None:
    mat = laid(1, 2)
    began = mat.t
    (beads,) = mat.rest(2)
    assert 0.2 <= beads.t - began <= 0.45


@pytest.mark.parametrize("seed", range(6))
def test_moving_bead_is_not_reported(seed: int) -> None:
    mat = Mat(seed)
    mat.rest(2)
    said = mat.carry(spot(2, dz=40.0), 0.8)
    for n in range(200):  # a hand stirring over a pad, never at rest
        mat.bead = spot(2, 60 * np.sin(n / 5), 60 * np.cos(n / 5), 40.0)
        said += mat.scan()
    assert said == []


@pytest.mark.parametrize("seed", range(6))
def test_bead_hovering_over_pad_is_not_surely_there(seed: int) -> None:
    mat = laid(seed, 2, dz=30.0 + 15.0 * seed)
    for beads in mat.rest(2):
        assert not beads.sure or not any(bead.pad for bead in beads.found)


def test_small_push_is_reported_but_noise_is_not() -> None:
    mat = laid(2, 3)
    (first,) = mat.rest(1)
    assert mat.rest(30) == []
    mat.bead = spot(3, dx=21.0)
    (second,) = mat.rest(1)
    moved = (second.found[0].x_mm or 0) - (first.found[0].x_mm or 0)
    assert moved == pytest.approx(6.0, abs=1.5)
    assert second.found[0].pad == 3


def test_brief_knock_gives_no_report() -> None:
    mat = laid(3, 3, rest=1)
    for _ in range(5):
        mat.bead = spot(3, dz=3.0)
        said = mat.scan()
        mat.bead = spot(3)
        assert said + mat.rest(1) == []


def test_uniform_field_change_is_ignored() -> None:
    mat = Mat(4)
    mat.rest(2)
    for n in range(400):
        mat.uniform = mat.uniform + np.array([0.05, -0.03, 0.02])
        assert mat.scan() == [], n
    mat.uniform = mat.uniform + np.array([0.0, 20.0, 0.0])
    assert mat.rest(2) == []
    mat.carry(spot(2))
    assert told(mat.rest(1)) == [((2,), True)]


def test_baseline_follows_sensor_drift() -> None:
    mat = laid(5, 1, rest=1)
    mat.take_away()
    mat.rest(2)
    wander = mat.rng.normal(0, 1.0, SENSORS.shape)
    said: list[BeadsAtRest] = []
    for _ in range(300 * 20):
        mat.offsets = mat.offsets + wander * (6.0 / (300 * 20))  # 6 microtesla in five minutes, each its own way
        said += mat.scan()
    assert not any(beads.found for beads in said)
    mat.carry(spot(4))
    assert told(mat.rest(1)) == [((4,), True)]


@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_bead_present_at_start_causes_no_sure_error(seed: int) -> None:
    mat = Mat(seed, offset=8.0, bead=spot(1 + seed % 4, dx=40.0 - 7 * seed, dy=20.0))
    lying = 1 + seed % 4
    assert told(mat.rest(2))[-1] in [((lying,), True), ((lying,), False), ((), False)]
    assert told(mat.take_away() + mat.rest(1))[-1][0] in [(), (lying,)]
    where = 1 + (seed + 2) % 4
    mat.carry(spot(where))
    for pads, sure in told(mat.rest(1)):
        assert pads == (where,) or not sure


def test_set_empty_takes_reading_as_baseline() -> None:
    mat = Mat(6, offset=14.0)
    mat.tracker.set_empty()
    assert told(mat.rest(2)) == [((), True)]
    other = Mat(6, offset=14.0)
    other.rest(2)
    other.tracker.set_empty()
    other.carry(spot(2, dx=118.0, dy=143.0))
    assert [pads for pads, _ in told(other.rest(1))] == [(2,)]


def test_saved_baseline_reads_bead_at_start() -> None:
    mat = Mat(7, offset=14.0)
    mat.tracker.set_empty()
    mat.rest(2)
    later = Mat(7, offset=14.0, bead=spot(4, dx=-50.0), tracker=BeadTracker(baseline=mat.tracker.baseline))
    assert told(later.rest(1)) == [((4,), True)]


def test_sense_again_repeats_report_and_forget_drops_baseline() -> None:
    mat = laid(8, 2, rest=1)
    mat.tracker.sense_again()
    assert told(mat.rest(1)) == [((2,), True)]
    mat.tracker.forget()
    assert mat.tracker.baseline is None
    mat.bead = None
    assert [pads for pads, _ in told(mat.rest(1))] == [()]


@pytest.mark.parametrize("laid_s", [0.0, 0.05, 0.1, 0.15])
def test_requested_report_delay_is_independent_of_laying(laid_s: float) -> None:
    mat = Mat(14)
    mat.rest(2)
    gone = mat.t
    mat.tracker.request_report(gone)
    mat.rest(laid_s)
    mat.bead = spot(2)
    (said,) = mat.rest(1)
    assert told([said]) == [((2,), True)]
    assert said.t - gone == pytest.approx(0.45, abs=0.013)


def test_requested_report_waits_while_bead_moves() -> None:
    mat = laid(13, 2, rest=1)
    mat.tracker.request_report(mat.t)
    assert mat.carry(spot(3), 1.0) == []
    assert told(mat.rest(1)) == [((3,), True)]


def test_reading_takes_four_scans_at_slow_rate() -> None:
    mat = Mat(3)
    mat.tracker.set_empty()
    said = []
    for _ in range(6):
        mat.t += 0.15
        said.append(mat.scan())
    assert [bool(beads) for beads in said] == [False, False, False, True, False, False]


def test_scan_gap_restarts_settling() -> None:
    mat = laid(9, 2)
    said = mat.rest(0.1)
    mat.t += 5.0
    assert said + mat.rest(0.15) == []
    assert told(mat.rest(0.5)) == [((2,), True)]


def test_dead_and_dying_sensors_are_left_out() -> None:
    mat = Mat(10, dead=(7,))
    mat.rest(2)
    mat.carry(spot(2))
    assert told(mat.rest(1)) == [((2,), True)]
    mat.dead = (7, 20)
    assert mat.rest(2) == []
    mat.take_away()
    mat.rest(1)
    mat.carry(spot(3))
    assert told(mat.rest(1)) == [((3,), True)]


def test_occasional_failed_scans_give_no_report() -> None:
    mat = laid(11, 2, rest=1)
    for n in range(200):
        mat.dead = (n % 24, (7 * n) % 24) if n % 3 == 0 else ()
        assert mat.scan() == []


def test_mat_without_magnetometers_is_not_surely_empty() -> None:
    mat = Mat(12, dead=tuple(range(24)))
    assert told(mat.rest(3)) == [((), False)]


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0, 2.0])
def test_the_noise_is_learned(noise: float) -> None:
    mat = Mat(13, noise=noise, offset=1.0)
    assert [pads for pads, _ in told(mat.rest(5))] == [()]
    mat.carry(spot(3))
    assert told(mat.rest(1.5)) == [((3,), True)]
    assert mat.rest(60) == []


@pytest.mark.parametrize("seed", range(cases(8, 24)))
def test_bead_moved_since_start_is_not_surely_two(seed: int) -> None:
    mat = Mat(seed, offset=25.0, bead=spot(3, dx=26.0, dy=-15.0))
    said = mat.rest(1)
    said += mat.carry(spot(2, dx=8.0, dy=-13.0), 1.5)
    said += mat.rest(2)
    assert [beads for beads in said if beads.sure and len(beads.found) > 1] == []


@pytest.mark.parametrize("seed", range(6))
def test_bones_in_fists_that_rest_on_the_pads(seed: int) -> None:
    mat = Mat(seed, tracker=BeadTracker(smallest=UNMARKED_AM2, most=2, highest_mm=45.0))
    mat.tracker.set_empty()
    assert told(mat.rest(1)) == [((), True)]
    mat.moment = MOMENT * (UNMARKED_AM2 / 0.176)
    mat.carry(spot(1 + seed % 4, dz=6.0 + 6.0 * seed))
    assert told(mat.rest(2))[-1] == ((1 + seed % 4,), True)


def test_pad_with_dead_sensors_makes_reports_unsure() -> None:
    pad_1 = (0, 1, 2, 3, 4, 5)
    mat = Mat(15, dead=pad_1)
    mat.tracker.set_empty()
    assert told(mat.rest(3))[-1] == ((), False)
    assert mat.tracker.faults == dict.fromkeys(pad_1, "silent")
    mat.carry(spot(3))
    assert told(mat.rest(2))[-1] == ((3,), False)  # a second one could lie on pad 1


def test_sensors_dying_at_rest_make_report_unsure() -> None:
    mat = Mat(17)
    mat.tracker.set_empty()
    mat.rest(2)
    mat.carry(spot(3))
    assert told(mat.rest(2))[-1] == ((3,), True)
    mat.dead = (0, 1, 2, 3, 4, 5)
    assert set(told(mat.rest(3))) == {((3,), False)}
    mat.dead = ()
    assert told(mat.rest(3))[-1] == ((3,), True)


def test_last_report_returns_latest_reading() -> None:
    mat = Mat(16)
    assert mat.tracker.last_report is None
    said = mat.rest(2)
    assert mat.tracker.last_report == said[-1]


def four_in_play(seed: int) -> Mat:
    return Mat(seed, offset=6.0, tracker=BeadTracker(smallest=UNMARKED_AM2, most=4, in_play=4))


@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_four_balls_are_read_surely_after_power_up(seed: int) -> None:
    mat, marked = four_in_play(seed), 1 + seed % 4
    mat.rest(2)
    for hide in range(2):
        for pad in (1, 2, 3, 4):
            mat.lay(pad, MARKED_AM2 if pad == marked else UNMARKED_AM2)
            said = mat.rest(0.7)
        last = (said + mat.rest(1.5))[-1]
        if last.sure:
            assert sorted((ball.pad, ball.marked) for ball in last.found) == [(p, p == marked) for p in (1, 2, 3, 4)]
        assert last.sure or hide == 0
        mat.lying.clear()
        away = mat.rest(2)[-1]
        assert away.found == ()
    assert away.sure


@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_ball_removed_after_power_up_is_not_counted(seed: int) -> None:
    """Of 400 such mats the tracker read three surely wrong (seeds 103, 288 and 326)."""
    mat = four_in_play(200 + seed)
    mat.lay(1 + seed % 4, UNMARKED_AM2)
    mat.rest(2)
    mat.lying.clear()
    mat.rest(2)
    others = [pad for pad in (1, 2, 3, 4) if pad != 1 + seed % 4]
    for pad in others:
        mat.lay(pad, MARKED_AM2 if pad == others[0] else UNMARKED_AM2)
        mat.rest(0.7)
    mat.rest(1.5)
    said = mat.tracker.last_report
    assert said is not None
    if said.sure:
        assert sorted(ball.pad or 0 for ball in said.found) == others
