"""Scores detected strikes against ground truth: recall, precision, right pad, latency, false strikes."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pi_controller.link.messages import Gap, LinkDown, LinkUp, Piezo
from pi_controller.mat.events import Button
from pi_controller.mat.strikes import StrikeDetector
from pi_controller.recording.bench import CONTACT
from pi_controller.recording.model import Lost, RecordingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_controller.mat.strikes import StrikeSettings
    from pi_controller.recording.model import Entry

EARLY_S, LATE_S = 0.01, 0.03
"""A strike whose onset is so long before or after a touch at most is that touch."""
_TRUTH = "a truth is a CSV with the columns 'pad' and, unless the stick's contact was recorded, 't' in seconds"


@dataclass(frozen=True, slots=True)
class Known:
    """A strike as it was felt: onset and the moment it was known, seconds of the recording; pads, first first."""

    t: float
    decided: float
    pads: tuple[int, ...]
    sure: bool


@dataclass(frozen=True, slots=True)
class Struck:
    """A stroke as it was: when the stick touched (s of the recording; None: the next touch), pad, group."""

    t: float | None
    pad: int
    group: str = ""


@dataclass
class Detections:
    """What a recording holds: strikes, the times the stick's contact closed, and the length of the pads' samples, s."""

    strikes: list[Known] = field(default_factory=list[Known])
    touches: list[float] = field(default_factory=list[float])
    seconds: float = 0.0


def detect(entries: Iterable[Entry], strikes: StrikeSettings, t0: float) -> Detections:
    """Detect strikes in a recording, all of them armed; times are relative to `t0`."""
    detections = Detections()
    detector: StrikeDetector | None = None
    like: tuple[float, int, int] | None = None
    fed, following = 0, -1
    for entry in entries:
        match entry:
            case Piezo():
                if (entry.rate, entry.samples.shape[1], entry.full_scale) != like:
                    like, fed = (entry.rate, entry.samples.shape[1], entry.full_scale), 0
                    detector = StrikeDetector(*like, strikes)
                elif entry.index != following and detector is not None:
                    detector.gap()
                assert detector is not None
                for d in detector.feed_samples(entry.samples):
                    onset, decided = ((n - fed) / entry.rate + entry.t - t0 for n in (d.onset_index, d.decided_index))
                    detections.strikes.append(Known(onset, decided, d.pads, d.sure))
                fed, following = fed + len(entry.samples), entry.index + len(entry.samples)
                detections.seconds += len(entry.samples) / entry.rate
            case Gap() | LinkUp() | LinkDown() | Lost():
                following = -1
            case Button(t=t, name=name) if name == CONTACT:
                detections.touches.append(t - t0)
            case _:
                pass
    return detections


def read_truth(lines: Iterable[str], name: str) -> list[Struck]:
    """Return the strokes of a truth's CSV lines. Raises `RecordingError` with the line at fault."""
    rows = csv.DictReader(line for line in lines if line.strip() and not line.startswith("#"))
    columns = rows.fieldnames or []
    if "pad" not in columns:
        raise RecordingError(f"{name}: there is no column 'pad'", _TRUTH)
    out: list[Struck] = []
    for n, row in enumerate(rows, 1):
        try:
            t = float(row["t"]) if "t" in columns else None
            pad = int(row["pad"])
        except (ValueError, TypeError) as error:
            raise RecordingError(f"{name}: stroke {n} makes no sense: {dict(row)}", _TRUTH) from error
        if not 1 <= pad <= 8 or (t is not None and not math.isfinite(t)):
            raise RecordingError(f"{name}: stroke {n} makes no sense: {dict(row)}", _TRUTH)
        out.append(Struck(t, pad, row.get("group") or ""))
    return out


def timed(truth: Sequence[Struck], touches: Sequence[float]) -> list[tuple[float, Struck]]:
    """Return the strokes with their times: their own, or the stick's touches one by one.

    Raises `RecordingError` when there are more or fewer touches than strokes.
    """
    if all(stroke.t is not None for stroke in truth):
        return sorted(((stroke.t or 0.0, stroke) for stroke in truth), key=lambda pair: pair[0])
    if len(touches) != len(truth):
        raise RecordingError(
            f"the stick touched {len(touches)} times, and the truth lists {len(truth)} strokes",
            "strike out of the list what was not struck, or add what was; or give each its time in a column 't'",
        )
    return list(zip(touches, truth, strict=True))


def score(strikes: Sequence[Known], truth: Sequence[tuple[float, Struck]], seconds: float) -> dict[str, Any]:
    """Return the figures: counts, recall, precision, right pad (each with its 95 % interval), false a minute, latency.

    A stroke is found by the strike that begins nearest to it, each used once. One reported in doubt is found, and
    its pad is the judge's to say: it counts for no pad. Latency is from the stick's touch to the last sample that was
    needed; what the link adds is not in it.
    """
    rest = list(strikes)
    pairs: list[tuple[float, Struck, Known | None]] = []
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


def _figures(pairs: Sequence[tuple[float, Struck, Known | None]]) -> dict[str, Any]:
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
    """k of n, with Wilson's 95 % interval."""
    if not n:
        return None
    z = 1.959964
    middle, half = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    return {
        "value": round(k / n, 4),
        "low": round(max(0.0, (middle - half) / (n + z * z)), 4),
        "high": round(min(1.0, (middle + half) / (n + z * z)), 4),
    }
