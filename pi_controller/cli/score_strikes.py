"""`moccasin-mat score-strikes RECORDING TRUTH`: measure how well strikes are detected on a mat. See `PROTOCOL.md`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.recording.scoring import Detections


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("score-strikes", "Compare the strikes detected in a recording with the true strokes.")
    parser.add_argument("recording", metavar="RECORDING", help="a sensor recording, or a WAV with a channel a pad")
    parser.add_argument("truth", metavar="TRUTH", help="CSV: 'pad', and 't' (s) unless the stick's contact is recorded")
    parser.add_argument("--settings", metavar="FILE", help="strike settings (default: the recording's own)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def main(argv: Sequence[str]) -> int:
    """Print the figures, as text or with `--json`; return 0."""
    args = parser().parse_args(argv)
    from pi_controller.recording.scoring import assign_times, read_truth, score

    try:
        truth = read_truth(Path(args.truth).read_text("utf-8-sig").splitlines(), Path(args.truth).name)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {args.truth}: {error}", "name the CSV with the true strokes") from error
    detections = _detect(args.recording, args.settings)
    scores = score(detections.strikes, assign_times(truth, detections.touches), detections.seconds)
    if args.json:
        print(json.dumps(scores))
    else:
        _as_text(scores)
    return 0


def _detect(path: str, settings: str | None) -> Detections:
    from pi_controller.config import read_settings
    from pi_controller.recording.scoring import DetectedStrike, Detections, detect
    from pi_controller.recording.store import Recording, is_recording
    from pi_controller.sensing.strike_settings import StrikeSettings
    from pi_controller.sensing.wav import WavReader, detect_strikes

    chosen = read_settings(Path(settings)).strikes.detector_settings() if settings else None
    if is_recording(path):
        recording = Recording(path)
        header = recording.header
        return detect(recording.entries(), chosen or header.strike_settings(), header.t)

    def warn(line: str) -> None:
        print(line, file=sys.stderr)

    try:
        with Path(path).open("rb") as file:
            reader = WavReader(file, path, warn)
            found = detect_strikes(reader, chosen or StrikeSettings(), warn)
            known = [DetectedStrike(onsets[0], decided, d.pads, d.sure) for d, onsets, decided in found]
            f = reader.format
            seconds = (Path(path).stat().st_size - 44) / (f.width * f.channels * f.rate)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a recording or a WAV") from error
    return Detections(known, [], seconds)


def _as_text(scores: dict[str, Any]) -> None:
    print(f"{'':<12}{'strokes':>8}{'recall':>24}{'right pad':>24}{'doubt':>7}{'p50 ms':>8}{'p95 ms':>8}")
    for name, part in {"all": scores, **scores["groups"]}.items():
        late = part["latency_ms"] or {"p50": float("nan"), "p95": float("nan")}
        print(
            f"{name[:12]:<12}{part['strokes']:>8}{_share(part['recall']):>24}{_share(part['right_pad']):>24}"
            f"{part['in_doubt']:>7}{late['p50']:>8.1f}{late['p95']:>8.1f}"
        )
    each = scores["false_per_minute"]
    print(
        f"precision {_share(scores['precision'])}; {scores['false']} false strikes in {scores['minutes']:.1f} minutes",
        end="",
    )
    print("" if each is None else f", {each:.2f} a minute")


def _share(part: dict[str, float] | None) -> str:
    return "-" if part is None else f"{part['value']:.3f} ({part['low']:.3f} to {part['high']:.3f})"
