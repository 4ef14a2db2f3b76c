"""Channels that are silent, stuck, noisy or missing: named, worked around where that is safe, and never a strike."""

import numpy as np
import pytest
from cases import cases

from pi_controller.board.messages import Piezo
from pi_controller.errors import SettingsError
from pi_controller.sensing.events import HUM
from pi_controller.sensing.faults import compare_knocks, find_swapped_pads
from pi_controller.sensing.strikes import StrikeDetector, StrikeSettings

RATE = 4000.0


def noise(seconds: float, pads: int = 4, rms: float = 1.2, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, rms, (round(seconds * RATE), pads))


def stroke(x: np.ndarray, t: float, pad: int, peak: float, echo_db: float = 30.0) -> None:
    """Two tones, and their echo in the other pads, 3 dB less and 0.7 ms later for each pad further."""
    for k in range(x.shape[1]):
        away = abs(k + 1 - pad)
        go = np.arange(len(x)) / RATE - t - 0.0007 * away
        ring = np.where(go >= 0, np.exp(-np.clip(go, 0, None) / 0.012), 0.0)
        ring *= np.sin(2 * np.pi * 520 * go) + 0.4 * np.sin(2 * np.pi * 890 * go)
        x[:, k] += ring * peak * (1.0 if away == 0 else 10 ** (-(echo_db + 3 * away) / 20))


def counts(x: np.ndarray) -> np.ndarray:
    return np.clip(np.round(x), -2048, 2047).astype(np.int16)


def test_silent_channel_is_named_and_others_still_detect():
    x = noise(5.0)
    stroke(x, 4.0, 3, 400)
    x[:, 1] = 0.0
    detector = StrikeDetector(RATE, 4)
    (found,) = detector.feed_samples(counts(x))
    assert found.pads == (3,)
    assert found.sure
    assert detector.faults == {2: "silent"}


def test_strike_on_silent_pad_gives_no_sure_neighbour():
    for echo in (16.0, 22.0, 30.0):
        x = noise(5.0)
        stroke(x, 4.0, 2, 2000, echo)
        x[:, 1] = 0.0
        assert not any(d.sure for d in StrikeDetector(RATE, 4).feed_samples(counts(x)))


def unplugged(strikes: int, echo_db: float, pad: int = 3) -> np.ndarray:
    """Strokes on `pad` that all others feel, but for pad 4, whose wire is off and flickers."""
    x = noise(1.0 + 0.5 * strikes, seed=4)
    for k in range(strikes):
        stroke(x, 1.0 + 0.5 * k, pad, 1500, echo_db)
    x[:, 3] = np.random.default_rng(5).integers(0, 2, len(x))
    return counts(x)


def test_small_lead_beside_unplugged_disc_is_unsure():
    found = StrikeDetector(RATE, 4).feed_samples(unplugged(4, 14.0))
    assert [(d.pads, d.sure) for d in found] == [((3,), False)] * 4


def test_repeated_strikes_beside_unfeeling_disc_become_unsure():
    """A disc that never moved begins with five."""
    found = StrikeDetector(RATE, 4).feed_samples(unplugged(6, 30.0))
    assert [d.pads for d in found] == [(3,)] * 6
    assert [d.sure for d in found] == [True] * 2 + [False] * 4


def test_clear_strikes_away_from_unfeeling_disc_stay_sure():
    assert all(d.sure for d in StrikeDetector(RATE, 4).feed_samples(unplugged(6, 30.0, pad=2)))


def test_open_wire_that_picks_up_strikes_is_no_disc():
    x = noise(4.0, seed=4)
    for k in range(6):
        stroke(x, 1.0 + 0.5 * k, 3, 1500, 30.0)
    x[:, 3] = x[:, 2] * 10 ** (-46 / 20) + np.random.default_rng(5).normal(0, 0.6, len(x))
    found = StrikeDetector(RATE, 4).feed_samples(counts(x))
    assert [(d.pads, d.sure) for d in found] == [((3,), True)] * 2 + [((3,), False)] * 4


@pytest.mark.parametrize(("seconds", "named"), [(3.0, {}), (15.0, {2: "feeling nothing"})])
def test_disc_that_no_beat_shakes_is_named(seconds, named):
    x, rng = noise(seconds, seed=6), np.random.default_rng(7)
    for at in np.arange(0.4, seconds - 0.2, 0.3):
        for k in range(4):
            go = np.clip(np.arange(len(x)) / RATE - at, 0, None)
            x[:, k] += 60 * np.exp(-go / 0.03) * np.sin(2 * np.pi * rng.uniform(300, 700) * go)
    x[:, 1] = np.random.default_rng(5).integers(0, 2, len(x))
    detector = StrikeDetector(RATE, 4)
    detector.feed_samples(counts(x))
    assert detector.faults == named


@pytest.mark.parametrize(("hands", "named"), [(2, {}), (3, {4: "feeling nothing"})])
def test_disc_missing_strikes_and_hands_is_named(hands, named):
    detector = StrikeDetector(RATE, 4)
    for _ in range(hands):
        detector.note_hand(4)
        detector.note_hand(1)
    detector.feed_samples(unplugged(6, 30.0))
    assert detector.faults == named


def test_motor_hum_is_named_while_masking_soft_strikes():
    x = noise(100.0)
    t = np.arange(len(x))[:, None] / RATE
    x += (t < 95.0) * sum(share * np.sin(2 * np.pi * 43 * k * t) for k, share in ((1, 40.0), (7, 9.0), (13, 4.0)))
    detector = StrikeDetector(RATE, 4)
    detector.feed_samples(counts(x[: round(80 * RATE)]))
    assert detector.faults == {}
    detector.feed_samples(counts(x[round(80 * RATE) : round(94 * RATE)]))
    assert detector.faults == dict.fromkeys(range(1, 5), "drowned by hum or noise")
    detector.feed_samples(counts(x[round(94 * RATE) :]))
    assert detector.faults == {}


@pytest.mark.parametrize(("peak", "named"), [(10.0, {}), (40.0, dict.fromkeys(range(1, 5), HUM))])
def test_loud_hum_is_named_although_it_is_subtracted(peak, named):
    x = noise(6.0)
    t = np.arange(len(x))[:, None] / RATE
    x += sum(peak * share * np.sin(2 * np.pi * 60 * k * t) for k, share in ((1, 1.0), (3, 0.5), (5, 0.35)))
    detector = StrikeDetector(RATE, 4)
    detector.feed_samples(counts(x[: round(5 * RATE)]))
    assert detector.faults == named
    detector.feed_samples(counts(noise(4.0)))
    assert detector.faults == {}


@pytest.mark.parametrize("rail", [-2048, 2047])
def test_channel_at_rail_is_named_until_it_recovers(rail):
    x = counts(noise(6.0))
    x[4000:12000, 3] = rail
    detector = StrikeDetector(RATE, 4)
    found, named = [], []
    for i in range(0, len(x), 32):
        found += detector.feed_samples(x[i : i + 32])
        named.append(dict(detector.faults))
    assert found == []
    assert named[1024 // 32] == {}
    assert named[10000 // 32] == {4: "at its rail"}
    assert named[-1] == {}


def test_long_noisy_channel_is_named_with_unsure_strikes():
    x = noise(44.0)
    x[:, 0] *= 30.0
    stroke(x, 43.0, 1, 2000, 40.0)
    stroke(x, 43.6, 4, 600)
    detector = StrikeDetector(RATE, 4)
    assert detector.feed_samples(counts(x[: round(31 * RATE)])) == []
    assert detector.faults == {}
    found = detector.feed_samples(counts(x[round(31 * RATE) :]))
    assert detector.faults == {1: "noisy"}
    assert [(d.pads, d.sure) for d in found] == [((1,), False), ((4,), True)]


def test_missing_samples_are_named_for_a_second():
    x = counts(noise(3.0))
    detector = StrikeDetector(RATE, 4)
    detector.feed(Piezo(0.0, 0, RATE, x[:4000]))
    assert detector.faults == {}
    detector.feed(Piezo(1.1, 4400, RATE, x[4400:4800]))
    assert detector.faults == dict.fromkeys(range(1, 5), "samples are missing")
    detector.feed(Piezo(1.2, 4800, RATE, x[4800:10000]))
    assert detector.faults == {}


@pytest.mark.parametrize(("pads", "lost"), [(1, "all"), (2, "one"), (2, "all"), (4, "one"), (4, "all")])
@pytest.mark.parametrize("seconds", [0.005, 0.02, 0.06, 0.3, 0.5, 1.5][:: cases(3, 1)])
@pytest.mark.parametrize("rms", [1.2, 40.0])
def test_constant_filled_stretch_gives_no_strike(pads, lost, seconds, rms):
    found = []
    for seed in range(cases(1, 2)):
        x = counts(noise(7.5, pads, rms, seed))
        start = 6000 + 517 * seed
        gap = x[start : start + round(seconds * RATE)]
        if lost == "one":
            gap[:, 0] = gap[0, 0]
        else:
            gap[:] = 0
        found += StrikeDetector(RATE, pads).feed_samples(x)
    assert found == []


@pytest.mark.parametrize(("pads", "lost", "before_s"), [(1, 1, 63.0), (4, 4, 63.0), (4, 2, 63.0), (4, 1, 2.0)])
def test_long_constant_stretch_is_silent_without_strike(pads, lost, before_s):
    x = counts(noise(before_s + 8.0, pads, 40.0))
    start = round(before_s * RATE)
    x[start : start + 20000, :lost] = 3
    detector = StrikeDetector(RATE, pads)
    assert detector.feed_samples(x[: start + 20000]) == []
    assert detector.faults == dict.fromkeys(range(1, lost + 1), "silent")
    assert detector.feed_samples(x[start + 20000 :]) == []
    assert detector.faults == {}


def test_quiet_mat_on_one_count_has_no_fault():
    x = noise(12.0, rms=0.1)
    go = np.arange(len(x)) / RATE
    x[:, 2] += 8.0 * ((go > 2) & (go < 5)) * np.random.default_rng(3).normal(size=len(x))  # rubbed for three seconds
    stroke(x, 10.0, 3, 25)
    detector = StrikeDetector(RATE, 4)
    found = detector.feed_samples(counts(x))
    assert detector.faults == {}
    assert [d.pads for d in found if d.onset_index > 9 * RATE] == [(3,)]


def quiet(seconds: float, pads: int, seed: int) -> np.ndarray:
    """A clean converter: the last count flickers for a while, and rests for as long."""
    rng = np.random.default_rng(seed)
    x = np.zeros((round(seconds * RATE), pads))
    for pad in range(pads):
        at = 0
        while at < len(x):
            busy, rest = (round(rng.uniform(0.3, 1.2) * RATE) for _ in range(2))
            x[at : at + busy, pad] = rng.integers(0, 2, len(x[at : at + busy]))
            at += busy + rest
    return x


@pytest.mark.parametrize("pads", [4, 2, 1][:: cases(3, 1)])
@pytest.mark.parametrize("seed", range(cases(1, 2)))
def test_pad_constant_between_strikes_detects_every_strike(pads, seed):
    x, rng = quiet(64.0, pads, seed), np.random.default_rng(seed + 50)
    struck = [(2.0 + k + rng.uniform(0, 0.5), int(rng.integers(1, pads + 1))) for k in range(60)]
    for t, pad in struck:
        stroke(x, t, pad, rng.uniform(400, 4000))
    detector = StrikeDetector(RATE, pads)
    found, named = [], []
    for i in range(0, len(x), 1000):
        found += detector.feed_samples(counts(x[i : i + 1000]))
        named += detector.faults.items()
    assert [d.pads for d in found] == [(pad,) for _, pad in struck]
    assert pads == 1 or all(d.sure for d in found)  # a lone pad does not wait until it is
    assert named == []


def test_strike_on_silent_pad_clears_its_fault():
    x = noise(12.0)
    x[:, 1] = 0.0
    stroke(x, 8.0, 2, 400)
    stroke(x, 11.0, 2, 400)
    x[:, 1] = np.trunc(x[:, 1])  # no echo is left of the noise
    detector = StrikeDetector(RATE, 4)
    assert detector.feed_samples(counts(x[: round(7 * RATE)])) == []
    assert detector.faults == {2: "silent"}
    found = detector.feed_samples(counts(x[round(7 * RATE) : round(8.1 * RATE)]))
    assert [(d.pads, d.sure) for d in found] == [((2,), False)]  # it may be a plug pushed in
    assert detector.faults == {}
    found = detector.feed_samples(counts(x[round(8.1 * RATE) :]))
    assert [(d.pads, d.sure) for d in found] == [((2,), True)]
    assert detector.faults == {}


@pytest.mark.parametrize("rms", [0.1, 0.4, 1.2, 4.0])
@pytest.mark.parametrize("dead_s", [3.0, 20.0][:: cases(2, 1)])
def test_dead_channel_waking_to_noise_gives_no_strike(rms, dead_s):
    for seed in range(6):
        x = counts(noise(dead_s + 2, rms=rms, seed=seed))
        x[: round(dead_s * RATE) + 13 * seed, 2] = 0
        assert StrikeDetector(RATE, 4).feed_samples(x) == []


@pytest.mark.parametrize("pads", [1, 4])
@pytest.mark.parametrize("rms", [0.1, 1.2])
@pytest.mark.parametrize("stay_s", [0.03, 0.1, 0.4, 3.0])
@pytest.mark.parametrize("back_ms", [0.5, 2.0, 8.0, 30.0][:: cases(3, 1)])
def test_strike_is_detected_after_return_from_rail(pads, rms, stay_s, back_ms):
    x = noise(stay_s + 5.0, pads, rms)
    go = np.arange(len(x)) / RATE - 2.0
    away = np.exp(-np.clip(go - stay_s, 0, None) / (back_ms / 1000))
    x[:, 0] += np.where(go < -0.2, 0.0, np.where(go < 0, (go + 0.2) / 0.2, away)) * 3000
    x[(go >= 0) & (go < stay_s), 0] = 3000
    stroke(x, 2.0 + stay_s + 1.5, 1, 400)
    found = StrikeDetector(RATE, pads).feed_samples(counts(x))
    assert [d.pads for d in found if d.onset_index > (2.0 + stay_s / 2) * RATE] == [(1,)]
    assert found[-1].onset_index > (3.4 + stay_s) * RATE


def test_stream_cuts_do_not_change_faults():
    x = counts(noise(8.0))
    x[9000:11000, 0] = 5
    x[14000:, 2] = 0
    whole, parts = StrikeDetector(RATE, 4), StrikeDetector(RATE, 4)
    a = whole.feed_samples(x)
    b = [d for part in np.array_split(x, 77) for d in parts.feed_samples(part)]
    assert a == b == []
    assert whole.faults == parts.faults == {3: "silent"}


def test_reference_disc_rejects_stomp_on_the_frame():
    x = noise(3.0, 5)
    stroke(x, 1.0, 2, 600)
    stomp = np.zeros_like(x)
    stroke(stomp, 2.0, 4, 600)  # felt by pad 4 and by the frame beside it
    stomp[:, 4] = stomp[:, 3]
    plain = StrikeDetector(RATE, 4).feed_samples(counts((x + stomp)[:, :4]))
    assert [d.pads for d in plain] == [(2,), (4,)]
    detector = StrikeDetector(RATE, 5, settings=StrikeSettings(reference=True))
    assert [d.pads for d in detector.feed_samples(counts(x + stomp))] == [(2,)]


def test_reference_disc_is_never_struck_or_alone():
    x = noise(2.0, 5)
    stroke(x, 1.0, 5, 1500)
    settings = StrikeSettings(reference=True)
    assert StrikeDetector(RATE, 5, settings=settings).feed_samples(counts(x)) == []
    with pytest.raises(SettingsError, match="frame"):
        StrikeDetector(RATE, 1, settings=settings)


@pytest.mark.parametrize(
    ("knocked", "felt", "told"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], {}),
        ([1, 2, 3, 4], [1, 3, 2, 4], {2: "felt as pad 3", 3: "felt as pad 2"}),
        ([1, 1, 1, 2], [1, 2, 1, 2], {}),
        ([1, 2], [1], {1: "2 knocks, 1 felt", 2: "2 knocks, 1 felt"}),
    ],
)
def test_knocks_compare_expected_and_detected_pads(knocked, felt, told):
    assert compare_knocks(knocked, felt) == told


@pytest.mark.parametrize(
    ("felt_as", "swapped"),
    [
        ({1: 1, 2: 2, 3: 3, 4: 4}, []),
        ({1: 1, 2: 3, 3: 2, 4: 4}, [(2, 3)]),
        ({1: 2, 2: 1, 3: 4, 4: 3}, [(1, 2), (3, 4)]),
        ({1: 1, 2: 3, 3: 4, 4: 2}, [(2, 3, 4)]),
        ({1: 2, 2: 2, 3: 3, 4: 4}, []),
        ({1: 2, 2: 3, 3: 2, 4: 3}, [(2, 3)]),
        ({2: 3}, []),
        ({}, []),
    ],
)
def test_swapped_pads_form_closed_cycles(felt_as, swapped):
    assert find_swapped_pads(felt_as) == swapped
