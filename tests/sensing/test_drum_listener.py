"""What drums do to a pad while no hit is due makes its strokes doubtful, or leaves them to the judge."""

import numpy as np
import pytest

from pi_controller.sensing.drum_listener import LISTEN_DB, LISTEN_S, MAX_BEAT_DB, DrumListener
from pi_controller.sensing.strikes import StrikeDetector

RATE = 4000


def beats(seconds: float, peak: float, lead_db: float = 11.0) -> np.ndarray:
    """Return beats, two a second, that pad 2 answers `lead_db` more than the other pads do."""
    x = np.random.default_rng(1).normal(0.0, 1.2, (round(seconds * RATE), 4))
    n = np.arange(400) / RATE
    ring = peak * np.exp(-n / 0.012) * np.sin(2 * np.pi * 620 * n)
    for at in range(1000, len(x) - 400, RATE // 2):
        for pad in range(4):
            gain, late = (1.0, 0) if pad == 1 else (10 ** (-lead_db / 20), 2)
            x[at + late : at + 400, pad] += gain * ring[: 400 - late]
    return np.rint(x)


def listened(seconds: float, peak: float, lead_db: float = 11.0) -> StrikeDetector:
    """Return a detector that has heard such beats for so long while no hit was due, and that is armed now."""
    detector = StrikeDetector(RATE, 4)
    detector.reporting_enabled = False
    assert detector.feed_samples(beats(seconds, peak, lead_db)) == []
    detector.reporting_enabled = True
    return detector


def strike(detector: StrikeDetector, peak: float, lead_db: float = 30.0) -> list[bool]:
    """Return for each strike that a beat on pad 2 gives, one second later, whether it is sure."""
    x = np.concatenate((np.random.default_rng(2).normal(0.0, 1.2, (3000, 4)), beats(0.4, peak, lead_db)))
    return [decision.sure for decision in detector.feed_samples(np.rint(x)) + detector.finish()]


def test_stroke_no_better_than_beats_is_asked():
    assert strike(listened(1.0, 60.0, 9.0), 60.0, 13.4) == [True]
    assert strike(listened(6.0, 60.0, 9.0), 60.0, 13.4) == [False]


def test_stroke_far_above_beats_stays_sure():
    assert strike(listened(6.0, 60.0, 9.0), 300.0) == [True]


def test_pad_firing_at_beats_is_named_and_dropped():
    detector = listened(6.0, 60.0, 12.0)
    assert detector.faults == {2: "answering the drums"}
    assert strike(detector, 60.0, 12.0) == []
    assert strike(detector, 300.0) == [True]


def test_quiet_pad_is_no_longer_dropped():
    detector = listened(6.0, 60.0, 12.0)
    detector.reporting_enabled = False
    detector.feed_samples(np.random.default_rng(3).normal(0.0, 1.2, (round((LISTEN_S + 1) * RATE), 4)))
    assert detector.faults == {}


def test_detector_that_is_always_armed_hears_no_drums():
    detector = StrikeDetector(RATE, 4)
    detector.feed_samples(beats(6.0, 60.0, 12.0))
    assert detector.faults == {}


def test_bump_before_or_under_a_hand_is_no_beat():
    drums = DrumListener(4)
    for _ in range(5):
        drums.listen(2.0)
        drums.note_beat(1, 0.0, 5.0)
        drums.listen(0.2)
        drums.note_hand(1, under=True)
        drums.listen(1.0)
        drums.note_beat(1, 0.0, 5.0)
        drums.note_hand(1, under=False)
    assert drums.least_margin_db(1) == 0.0


def test_firm_strokes_before_a_hit_are_no_beats():
    drums = DrumListener(4)
    for _ in range(5):
        drums.listen(2.0)
        drums.note_beat(1, 0.0, MAX_BEAT_DB + 1.0)
    assert (drums.least_margin_db(1), drums.answering) == (0.0, [])


@pytest.mark.parametrize(("count", "least_db"), [(2, 0.0), (3, LISTEN_DB - 1.0)])
def test_three_beats_tell_of_a_pad(count, least_db):
    drums = DrumListener(4)
    for _ in range(count):
        drums.listen(1.0)
        drums.note_beat(1, 0.0, -1.0)
        drums.note_beat(1, 0.0, -2.0)  # of the same beat
    assert drums.least_margin_db(1) == pytest.approx(least_db)
    assert drums.answering == []
