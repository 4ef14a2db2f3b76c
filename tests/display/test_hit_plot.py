"""The judge's picture of a strike says what was felt and what was concluded."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from pi_controller.display.hit_plot import compute_pad_levels, headline, hit_svg
from pi_controller.recording.hits import RecordedStroke
from pi_controller.sensing.strikes import StrikeDetector, StrikeSettings

RATE = 4000.0
SVG = "{http://www.w3.org/2000/svg}"


def ring(n, rate=RATE, hz=700.0):
    t = np.arange(n) / rate
    return np.sin(2 * np.pi * hz * t) * np.exp(-t / 0.02)


def made(loud=(0.0, 300.0, 10.0, 0.0), late_ms=(0.0, 0.0, 3.0, 0.0), before=800, after=800, **changed):
    """Pads that rest for `before` samples with noise of a count, then ring."""
    x = np.random.default_rng(3).normal(0, 1.2, (before + after, len(loud)))
    for pad, (level, late) in enumerate(zip(loud, late_ms, strict=True)):
        start = before + round(late / 1000 * RATE)
        x[start:, pad] += level * ring(before + after - start)
    samples = np.clip(np.rint(x), -2048, 2047).astype(np.int16)
    one = RecordedStroke(7, 50.0, 50.0 - before / RATE, RATE, 2048, (2,), 8.3, True, StrikeSettings(), samples)
    return replace(one, **changed)


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_pad_levels_match_the_detectors_scale():
    stroke = made()
    heard = compute_pad_levels(stroke)
    quiet = heard.db[:, (heard.ms > -150) & (heard.ms < -20)]
    assert np.percentile(quiet, 75) < 3.0
    assert heard.db[1].max() > 35.0
    assert heard.threshold_db == StrikeSettings().peak_db
    assert heard.first_ms[1] == pytest.approx(0.0, abs=1.0)
    assert heard.first_ms[2] == pytest.approx(3.0, abs=1.0)
    assert heard.first_ms[0] is None
    assert heard.first_ms[3] is None


@pytest.mark.parametrize("level", [4.0, 8.0, 16.0, 60.0, 600.0])
def test_detected_strike_exceeds_plotted_threshold(level):
    stroke = made((0.0, level, 0.0, 0.0), before=2400)
    detector = StrikeDetector(RATE, 4, 2048)
    found = detector.feed_samples(stroke.samples)
    heard = compute_pad_levels(made((0.0, level, 0.0, 0.0)))
    over = heard.db[1].max() > heard.threshold_db
    assert over or not found


def test_plotted_threshold_follows_settings_and_sample_rate():
    assert compute_pad_levels(made(strikes=StrikeSettings(peak_db=20.0))).threshold_db == 20.0
    assert (
        compute_pad_levels(replace(made(), rate=2000.0)).threshold_db
        == StrikeSettings().peak_db + StrikeSettings().slow_db
    )


@pytest.mark.parametrize(
    ("pads", "sure", "said"),
    [
        ((2,), True, "Pad 2 struck"),
        ((2,), False, "In doubt: pad 2"),
        ((3, 2), True, "Pads 3 and 2 struck, 3 first"),
        ((3, 2), False, "In doubt: pads 3 and 2"),
    ],
)
def test_headline_states_the_conclusion(pads, sure, said):
    stroke = made(pads=pads, sure=sure)
    assert headline(stroke) == said
    assert said in texts(hit_svg(stroke))


def test_svg_has_one_lane_per_pad():
    svg = hit_svg(made())
    said = texts(svg)
    assert [text for text in said if text.startswith("Pad ")][1:] == ["Pad 1", "Pad 2", "Pad 3", "Pad 4"]
    assert "Hide 7, margin 8.3 dB" in said
    assert f"- - {StrikeSettings().peak_db:g} dB over the pad's own quiet: the threshold" in said
    assert "ms from the first touch" in said
    assert sum(text.startswith("felt at") for text in said) == 2
    assert {"-200", "-100", "0", "100", "-5", "5", "20"} <= set(said)
    root = ET.fromstring(svg)
    struck = [path for path in root.iter(f"{SVG}path") if path.get("class") == "h"]
    others = [path for path in root.iter(f"{SVG}path") if path.get("class") == "q"]
    assert (len(struck), len(others)) == (2, 6)
    assert "prefers-color-scheme:dark" in svg
    assert not re.search(r"nan|inf|https?://(?!www\.w3\.org/2000/svg)", svg)


def test_svg_paths_stay_inside_viewbox():
    for stroke in (made(), made(loud=(2000.0,) * 4), made(loud=(0.0,) * 4)):
        svg = hit_svg(stroke)
        width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
        for path in ET.fromstring(svg).iter(f"{SVG}path"):
            points = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d"))
            assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points)


@pytest.mark.parametrize("before", [800, 300, 60, 3])
@pytest.mark.parametrize("after", [800, 5])
def test_strike_with_missing_samples_is_plotted(before, after):
    stroke = made(before=before, after=after)
    ET.fromstring(hit_svg(stroke))


def test_unknown_margin_is_omitted():
    assert "margin" not in hit_svg(made(margin_db=None))
    assert "Hide 7" in texts(hit_svg(made(margin_db=None)))
