"""Score the strikes of a recording against the true strokes: `python tests/tools/score_recording.py FILE TRUTH.csv`.

FILE is a sensor recording, or a WAV with a channel for each pad. `pi_controller/recording/PROTOCOL.md` describes how to
record a mat for it, and the CSV.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pi_controller.board.messages import Gap, LinkDown, LinkUp, Piezo
from pi_controller.config import read_settings
from pi_controller.recording.bench import CONTACT
from pi_controller.recording.entries import Entry, RecordingError, RecordingGap
from pi_controller.recording.store import Recording, is_recording
from pi_controller.sensing.events import Button
from pi_controller.sensing.strikes import StrikeDecision, StrikeDetector, StrikeSettings
from pi_controller.sensing.wav import WavReader, detect_strikes

EARLY_S, LATE_S = 0.01, 0.03
"""A strike matches a touch if its onset is at most this long before or after it."""
_TRUTH = "the ground truth is a CSV with the columns 'pad' and, unless the stick's contact was recorded, 't' in seconds"


@dataclass(frozen=True, slots=True)
class DetectedStrike:
    """A detected strike: onset and time of decision, seconds of the recording; pads in order of arrival."""

    t: float
    decided: float
    pads: tuple[int, ...]
    sure: bool


@dataclass(frozen=True, slots=True)
class TrueStroke:
    """A true stroke: time of the stick's touch (s of the recording; None for the next touch), pad, group."""

    t: float | None
    pad: int
    group: str = ""


@dataclass
class Detections:
    """Strikes of a recording, the times the stick's contact closed, and the duration of the samples, s."""

    strikes: list[DetectedStrike] = field(default_factory=list[DetectedStrike])
    touches: list[float] = field(default_factory=list[float])
    seconds: float = 0.0


def detect(entries: Iterable[Entry], strikes: StrikeSettings, t0: float) -> Detections:
    """Detect all strikes in a recording, armed or not; times are relative to `t0`."""
    detections = Detections()
    detector: StrikeDetector | None = None
    like: tuple[float, int, int] | None = None
    began, fed, following = 0.0, 0, -1  # `began` is the time of the detector's first sample

    def note(found: Iterable[StrikeDecision], rate: float) -> None:
        for d in found:
            onset, decided = (began + n / rate for n in (d.onset_index, d.decided_index))
            detections.strikes.append(DetectedStrike(onset, decided, d.pads, d.sure))

    for entry in entries:
        match entry:
            case Piezo():
                if (entry.rate, entry.samples.shape[1], entry.full_scale) != like:
                    if detector is not None:
                        note(detector.finish(), detector.rate)
                    like, fed = (entry.rate, entry.samples.shape[1], entry.full_scale), 0
                    detector = StrikeDetector(*like, strikes)
                assert detector is not None
                if entry.index != following:
                    note(detector.finish(), detector.rate)
                    detector.take_gap()
                began = entry.t - t0 - fed / entry.rate
                note(detector.feed_samples(entry.samples), detector.rate)
                fed, following = fed + len(entry.samples), entry.index + len(entry.samples)
                detections.seconds += len(entry.samples) / entry.rate
            case Gap() | LinkUp() | LinkDown() | RecordingGap():
                following = -1
            case Button(t=t, name=name) if name == CONTACT:
                detections.touches.append(t - t0)
            case _:
                pass
    if detector is not None:
        note(detector.finish(), detector.rate)
    return detections


def read_truth(lines: Iterable[str], name: str) -> list[TrueStroke]:
    """Read the true strokes from CSV lines. Raises `RecordingError` with the faulty line."""
    rows = csv.DictReader(line for line in lines if line.strip() and not line.startswith("#"))
    columns = rows.fieldnames or []
    if "pad" not in columns:
        raise RecordingError(f"{name}: there is no column 'pad'", _TRUTH)
    out: list[TrueStroke] = []
    for n, row in enumerate(rows, 1):
        try:
            t = float(row["t"]) if "t" in columns else None
            pad = int(row["pad"])
        except (ValueError, TypeError) as error:
            raise RecordingError(f"{name}: stroke {n} is invalid: {dict(row)}", _TRUTH) from error
        if not 1 <= pad <= 8 or (t is not None and not math.isfinite(t)):
            raise RecordingError(f"{name}: stroke {n} is invalid: {dict(row)}", _TRUTH)
        out.append(TrueStroke(t, pad, row.get("group") or ""))
    return out


def assign_times(truth: Sequence[TrueStroke], touches: Sequence[float]) -> list[tuple[float, TrueStroke]]:
    """Return the strokes with their times: their own, or those of the stick's touches in order.

    Raises `RecordingError` if the number of touches differs from the number of strokes.
    """
    if all(stroke.t is not None for stroke in truth):
        return sorted(((stroke.t or 0.0, stroke) for stroke in truth), key=lambda pair: pair[0])
    if len(touches) != len(truth):
        raise RecordingError(
            f"the stick touched {len(touches)} times, and the ground truth lists {len(truth)} strokes",
            "correct the list, or give each stroke its time in a column 't'",
        )
    return list(zip(touches, truth, strict=True))


def score(
    strikes: Sequence[DetectedStrike], truth: Sequence[tuple[float, TrueStroke]], seconds: float
) -> dict[str, Any]:
    """Return counts, recall, precision, correct pad (each with its 95 % interval), false strikes a minute, latency.

    A stroke is matched with the closest strike, each used once. An unsure strike counts as found but not for the pad,
    which the judge decides. Latency is from the stick's touch to the last sample needed, without the link's delay.
    """
    rest = list(strikes)
    pairs: list[tuple[float, TrueStroke, DetectedStrike | None]] = []
    for t, stroke in truth:
        near = [known for known in rest if -EARLY_S <= known.t - t <= LATE_S]
        best = min(near, key=lambda known: abs(known.t - t), default=None)
        if best is not None:
            rest.remove(best)
        pairs.append((t, stroke, best))
    figures = _figures(pairs)
    found = figures["found"]
    figures |= {
        "false": len(rest),
        "precision": _share(found, found + len(rest)),
        "minutes": round(seconds / 60, 3),
        "false_per_minute": round(len(rest) / (seconds / 60), 3) if seconds else None,
    }
    groups = sorted({stroke.group for _, stroke in truth} - {""})
    figures["groups"] = {name: _figures([pair for pair in pairs if pair[1].group == name]) for name in groups}
    return figures


def _figures(pairs: Sequence[tuple[float, TrueStroke, DetectedStrike | None]]) -> dict[str, Any]:
    found = [(t, stroke, known) for t, stroke, known in pairs if known is not None]
    sure = [(stroke, known) for _, stroke, known in found if known.sure]
    right = sum(known.pads[0] == stroke.pad for stroke, known in sure)
    late = [1000 * (known.decided - t) for t, _, known in found]
    return {
        "strokes": len(pairs),
        "found": len(found),
        "recall": _share(len(found), len(pairs)),
        "in_doubt": len(found) - len(sure),
        "right_pad": _share(right, len(sure)),
        "latency_ms": {f"p{p}": round(float(np.percentile(late, p)), 2) for p in (50, 95)} if late else None,
    }


def _share(k: int, n: int) -> dict[str, float] | None:
    """Return the share `k` of `n` with Wilson's 95 % interval; None if `n` is 0."""
    if not n:
        return None
    z = 1.959964
    middle, half = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    return {
        "value": round(k / n, 4),
        "low": round(max(0.0, (middle - half) / (n + z * z)), 4),
        "high": round(min(1.0, (middle + half) / (n + z * z)), 4),
    }


def detect_in_file(path: Path, settings: StrikeSettings | None) -> Detections:
    """Detect the strikes of a recording or WAV with `settings`, or else with its own or the default ones."""
    if is_recording(path):
        recording = Recording(path)
        return detect(recording.entries(), settings or recording.header.strike_settings(), recording.header.t)

    def warn(line: str) -> None:
        print(line, file=sys.stderr)

    with path.open("rb") as file:
        reader = WavReader(file, str(path), warn)
        found = detect_strikes(reader, settings or StrikeSettings(), warn)
        strikes = [DetectedStrike(onsets[0], decided, d.pads, d.sure) for d, onsets, decided in found]
    f = reader.format
    return Detections(strikes, [], (path.stat().st_size - 44) / (f.width * f.channels * f.rate))


def _print_scores(scores: dict[str, Any]) -> None:
    print(f"{'':<12}{'strokes':>8}{'recall':>24}{'right pad':>24}{'doubt':>7}{'p50 ms':>8}{'p95 ms':>8}")
    for name, part in {"all": scores, **scores["groups"]}.items():
        late = part["latency_ms"] or {"p50": float("nan"), "p95": float("nan")}
        print(
            f"{name[:12]:<12}{part['strokes']:>8}{_text(part['recall']):>24}{_text(part['right_pad']):>24}"
            f"{part['in_doubt']:>7}{late['p50']:>8.1f}{late['p95']:>8.1f}"
        )
    each = scores["false_per_minute"]
    print(
        f"precision {_text(scores['precision'])}; {scores['false']} false strikes in {scores['minutes']:.1f} minutes",
        end="",
    )
    print("" if each is None else f", {each:.2f} a minute")


def _text(part: dict[str, float] | None) -> str:
    return "-" if part is None else f"{part['value']:.3f} ({part['low']:.3f} to {part['high']:.3f})"


def main(argv: Sequence[str]) -> int:
    """Print the figures, as text or with `--json`; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "recording", metavar="FILE", type=Path, help="a sensor recording, or a WAV with a channel a pad"
    )
    parser.add_argument("truth", metavar="TRUTH", type=Path, help="CSV: 'pad', and 't' (s) unless the contact tells it")
    parser.add_argument("--settings", metavar="FILE", type=Path, help="strike settings (default: the recording's own)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args(argv)
    truth = read_truth(args.truth.read_text("utf-8-sig").splitlines(), args.truth.name)
    settings = read_settings(args.settings).strikes.detector_settings() if args.settings else None
    detections = detect_in_file(args.recording, settings)
    scores = score(detections.strikes, assign_times(truth, detections.touches), detections.seconds)
    if args.json:
        print(json.dumps(scores))
    else:
        _print_scores(scores)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
