"""Figures that a person can work out by hand."""

import csv

import numpy as np
import pytest
from load_file import load_file

from pi_controller.board.messages import Gap, Piezo
from pi_controller.recording.entries import Header, RecordingError, pack, settings_as_json
from pi_controller.recording.store import create_recording
from pi_controller.sensing.events import Button
from pi_controller.sensing.strikes import StrikeSettings

tool = load_file("tests/tools/score_recording.py")
DetectedStrike, TrueStroke = tool.DetectedStrike, tool.TrueStroke
assign_times, detect, read_truth, score = tool.assign_times, tool.detect, tool.read_truth, tool.score
main = tool.main

RATE, BLOCK = 4000.0, 32
PADS = [1, 2, 3, 4, 4, 3, 2, 1, 1, 2]


def ring(n):
    t = np.arange(n) / RATE
    return 400 * np.sin(2 * np.pi * 700 * t) * np.exp(-t / 0.02)


def entries(begun=100.0, contact=True):
    """Ten strokes, one a second from 1 s, on `PADS`; the stick's contact closes with each."""
    n = 12 * 4000
    x = np.random.default_rng(2).normal(0, 1.2, (n, 4))
    for k, pad in enumerate(PADS):
        at = (k + 1) * 4000
        x[at : at + 1200, pad - 1] += ring(1200) * (1.0 if k % 2 else 0.1)
    x = np.rint(x).astype(np.int16)
    out = []
    for i in range(0, n, BLOCK):
        t = begun + i / RATE
        if contact and i % 4000 == 0 and 1 <= i // 4000 <= 10:
            out.append(Button(t, "contact"))
        out.append(Piezo(t, i, RATE, x[i : i + BLOCK]))
    return out


def test_strokes_are_detected_with_their_times():
    heard = detect(entries(), StrikeSettings(), 100.0)
    assert [known.pads for known in heard.strikes] == [(pad,) for pad in PADS]
    assert [known.t for known in heard.strikes] == pytest.approx(range(1, 11), abs=0.002)
    assert all(0.0 < known.decided - known.t < 0.006 for known in heard.strikes)
    assert heard.touches == pytest.approx(range(1, 11))
    assert heard.seconds == pytest.approx(12.0)


def test_times_hold_over_a_gap():
    whole = entries()
    cut = len(whole) // 2
    broken = [*whole[:cut], Gap(105.0, 105.1, 400), *whole[cut + 13 :]]
    heard = detect(broken, StrikeSettings(), 100.0)
    assert [known.t for known in heard.strikes] == pytest.approx([1, 2, 3, 4, 5, 7, 8, 9, 10], abs=0.002) or (
        [known.t for known in heard.strikes] == pytest.approx(range(1, 11), abs=0.002)
    )


def test_figures_by_hand():
    truth = [(float(t), TrueStroke(None, 1 + t % 4, "firm" if t < 5 else "soft")) for t in range(10)]
    strikes = [DetectedStrike(t + 0.001, t + 0.004, (stroke.pad,), sure=True) for t, stroke in truth[:8]]
    strikes[1] = DetectedStrike(1.0, 1.01, (4,), sure=True)  # wrong pad: it was on 2
    strikes[2] = DetectedStrike(2.0, 2.02, (3, 2), sure=False)  # in doubt
    strikes += [
        DetectedStrike(7.5, 7.51, (1,), sure=True),
        DetectedStrike(8.04, 8.05, (1,), sure=True),
    ]  # nothing; too late
    told = score(strikes, truth, 120.0)
    assert (told["strokes"], told["found"], told["false"], told["in_doubt"]) == (10, 8, 2, 1)
    assert told["recall"]["value"] == 0.8
    assert told["precision"]["value"] == 0.8
    assert told["right_pad"]["value"] == pytest.approx(6 / 7, abs=1e-4)
    assert told["false_per_minute"] == 1.0
    assert told["latency_ms"]["p50"] == pytest.approx(4.0)
    # Wilson's interval for 8 of 10, as tables have it
    assert (told["recall"]["low"], told["recall"]["high"]) == pytest.approx((0.4902, 0.9433), abs=1e-3)
    assert told["groups"]["firm"]["recall"]["value"] == 1.0
    assert told["groups"]["soft"]["recall"]["value"] == 0.6


def test_second_strike_on_one_stroke_is_false():
    told = score(
        [DetectedStrike(1.0, 1.0, (1,), True), DetectedStrike(1.01, 1.01, (1,), True)],
        [(1.0, TrueStroke(None, 1))],
        60.0,
    )
    assert (told["found"], told["false"]) == (1, 1)


def test_score_without_strokes_or_strikes_has_no_ratios():
    told = score([], [], 60.0)
    assert told["recall"] is None
    assert told["precision"] is None
    assert told["false_per_minute"] == 0.0


def test_a_truth_is_read_line_by_line():
    lines = ["# our mat", "pad,group", "1,feather", "", "2,"]
    assert read_truth(lines, "x.csv") == [TrueStroke(None, 1, "feather"), TrueStroke(None, 2, "")]
    assert read_truth(["t,pad", "0.5,4"], "x.csv") == [TrueStroke(0.5, 4, "")]
    for bad in (["t", "1"], ["pad", "9"], ["pad", "one"], ["t,pad", ",1"], ["t,pad", "nan,1"], ["t,pad", "1"], []):
        with pytest.raises(RecordingError):
            read_truth(bad, "x.csv")


def test_untimed_strokes_take_times_from_touches():
    truth = [TrueStroke(None, 1), TrueStroke(None, 2)]
    assert assign_times(truth, [3.0, 4.0]) == [(3.0, truth[0]), (4.0, truth[1])]
    with pytest.raises(RecordingError, match="touched 3 times, and the ground truth lists 2"):
        assign_times(truth, [3.0, 4.0, 5.0])
    own = [TrueStroke(2.0, 1), TrueStroke(1.0, 2)]
    assert assign_times(own, [9.0]) == [(1.0, own[1]), (2.0, own[0])]


@pytest.fixture
def files(tmp_path):
    file = create_recording(tmp_path / "x.sensors", Header(100.0, strikes=settings_as_json(StrikeSettings())))
    file.add([pack(entries())])
    file.close()
    with (tmp_path / "truth.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["pad", "group"])
        rows.writerows([pad, "firm"] for pad in PADS)
    return [str(tmp_path / "x.sensors"), str(tmp_path / "truth.csv")]


def test_score_program_prints_figures(files, tmp_path, capsys):
    import json

    assert main([*files, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["strokes"], figures["found"], figures["false"]) == (10, 10, 0)
    assert figures["right_pad"]["value"] == 1.0
    assert 0 < figures["latency_ms"]["p95"] < 6
    assert main(files) == 0
    said = capsys.readouterr().out
    assert "firm" in said
    assert "0 false strikes in 0.2 minutes" in said
    (tmp_path / "deaf.toml").write_text("[strikes]\nthreshold_db = 40.0\n")
    assert main([*files, "--json", "--settings", str(tmp_path / "deaf.toml")]) == 0
    assert json.loads(capsys.readouterr().out)["found"] < 10


def test_a_wav_is_scored_with_its_own_times(tmp_path, capsys):
    import json
    import wave

    samples = np.concatenate([entry.samples for entry in entries(contact=False)])
    with wave.open(str(tmp_path / "x.wav"), "wb") as out:
        out.setnchannels(4)
        out.setsampwidth(2)
        out.setframerate(4000)
        out.writeframes((samples * 16).tobytes())
    truth = tmp_path / "t.csv"
    truth.write_text("t,pad\n" + "\n".join(f"{k + 1},{pad}" for k, pad in enumerate(PADS)))
    assert main([str(tmp_path / "x.wav"), str(truth), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["found"], figures["false"], figures["minutes"]) == (10, 0, 0.2)
