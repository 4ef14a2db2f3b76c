"""`python tests/sensing/cross_validate_strikes.py [--recordings FOLDER] [--settings 48]`: strikes on pads never seen.

Each pad model (and each take of the four-pad scenes, with its drum track) is left out in turn: of many settings the
one that does best on the others is taken, and scored on the one left out. Beside it stands what is shipped, which was
set on all of them. The settings tried are the shipped ones, those with one figure moved, and the rest with several
moved at random.

FOLDER (or $STRIKE_RECORDINGS) holds `single/*.wav`, one pad each, with `labels.csv` (file, time_s, class: "hit" or what
is not asked for, snr_db) and `segments.csv` (file, start_s, end_s: what is scored); `four/LEVEL-TAKE.wav`, a channel
each of four pads, with `four.csv` (scene, time_s, pad struck first, level_db). Recordings are not part of this project.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.sensing.wav import WavReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PRE_S, POST_S, AGAIN_S = 0.005, 0.040, 0.30  # a decision belongs to a stroke; the next stroke can be asked for
SOFT_DB, FEATHER_DB = 32.0, -40.0  # over the noise; of full scale
STEPS: dict[str, tuple[float, ...]] = {
    "peak_db": (-3, -1.5, 1.5, 3),
    "mean_db": (-3, -1.5, 1.5, 3),
    "rise_db": (-3, -1.5, 1.5, 3),
    "stand_db": (-3, -1.5, 1.5, 3),
    "alone_db": (-3, -1.5, 1.5, 3),
    "dominance_db": (-2, -1, 1, 2),
    "least_raw_db": (-2, 2),
    "floor_rank": (-0.15, 0.1),
    "floor_s": (-0.15, 0.4),
    "floor_lsb": (-0.1, 0.2),
}


@dataclass
class Score:
    """Counts; they can be added."""

    strokes: int = 0
    found: int = 0  # and, with several pads, on the right one
    other_pad: int = 0
    soft: int = 0  # of single pads: little above the noise; of four: feathers
    soft_found: int = 0
    false: int = 0
    seconds: float = 0.0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def recall(self) -> float:
        return self.found / max(1, self.strokes)

    @property
    def soft_recall(self) -> float:
        return self.soft_found / self.soft if self.soft else float("nan")

    @property
    def precision(self) -> float:
        felt = self.found + self.other_pad
        return felt / max(1, felt + self.false)

    @property
    def false_a_minute(self) -> float:
        return 60.0 * self.false / max(self.seconds, 1e-9)

    @property
    def cost(self) -> float:
        """What the fit makes small: the share of strokes missed, and of false ones."""
        return 1.0 - self.recall + self.false / max(1, self.strokes)


@dataclass
class Recording:
    """One file, and what is true of it."""

    group: str
    samples: np.ndarray
    rate: float
    full_scale: float
    strokes: list[tuple[float, int, bool]]  # time, pad (1 first), whether soft
    others: list[float]  # times of what is not asked for
    spans: list[tuple[float, float]]  # what is scored
    level: str = ""

    def score(self, settings: StrikeSettings) -> Score:
        pads = self.samples.shape[1]
        felt = StrikeDetector(self.rate, pads, self.full_scale, settings).feed_samples(self.samples)
        told = [(d.decided_index / self.rate, d.pad) for d in felt]
        told = [(t, pad) for t, pad in told if any(a <= t < b for a, b in self.spans)]
        score, used = Score(seconds=sum(b - a for a, b in self.spans)), set[int]()
        for t, pad, soft in self.strokes:
            hits = (k for k, (at, _) in enumerate(told) if k not in used and t - PRE_S <= at <= t + POST_S)
            hit = next(hits, None)
            right = hit is not None and told[hit][1] == pad
            if hit is not None:
                used.add(hit)
            one = Score(1, int(right), int(hit is not None and not right), int(soft), int(soft and right))
            score += one
        known = [t - PRE_S for t, _, _ in self.strokes] + [t - 0.010 for t in self.others]
        after = [t + AGAIN_S for t, _, _ in self.strokes] + [t + AGAIN_S for t in self.others]
        spare = [at for k, (at, _) in enumerate(told) if k not in used]
        score.false = sum(not any(a <= at <= b for a, b in zip(known, after, strict=True)) for at in spare)
        return score


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _samples(path: Path) -> tuple[np.ndarray, float, float]:
    with path.open("rb") as file:
        reader = WavReader(file, path.name, print)
        return np.concatenate(list(reader.blocks(1 << 16))), float(reader.format.rate), reader.format.full_scale


def single_pads(folder: Path) -> list[Recording]:
    """The recordings of one pad, grouped by its model."""
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in _rows(folder / "segments.csv"):
        spans[row["file"]].append((float(row["start_s"]), float(row["end_s"])))
    labels: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder / "labels.csv"):
        labels[row["file"]].append(row)
    found: list[Recording] = []
    for name, parts in sorted(spans.items()):
        times = sorted(float(row["time_s"]) for row in labels[name])
        strokes: list[tuple[float, int, bool]] = []
        for row in labels[name]:
            t = float(row["time_s"])
            before = max((other for other in times if other < t - 1e-6), default=-9.0)
            if row["class"] == "hit" and t - before >= AGAIN_S and any(a <= t < b for a, b in parts):
                strokes.append((t, 1, float(row["snr_db"]) < SOFT_DB))
        asked = {t for t, _, _ in strokes}
        others = [t for t in times if t not in asked]
        found.append(
            Recording(name.split("_")[0], *_samples(folder / "single" / f"{name}.wav"), strokes, others, parts)
        )
    return found


def four_pads(folder: Path) -> list[Recording]:
    """The scenes of four pads, grouped by take."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder / "four.csv"):
        rows[row["scene"]].append(row)
    found: list[Recording] = []
    for scene, each in sorted(rows.items()):
        level, _, take = scene.rpartition("-")
        x, rate, full_scale = _samples(folder / "four" / f"{scene}.wav")
        strokes = [(float(r["time_s"]), int(r["pad"]), float(r["level_db"]) < FEATHER_DB) for r in each]
        found.append(Recording(f"take {take}", x, rate, full_scale, strokes, [], [(0.0, len(x) / rate)], level))
    return found


def candidates(count: int, seed: int) -> list[StrikeSettings]:
    """`count` settings: as shipped, with one figure moved, with several."""
    shipped, rng = StrikeSettings(), np.random.default_rng(seed)
    one = [replace(shipped, **{name: getattr(shipped, name) + step}) for name, steps in STEPS.items() for step in steps]
    tried = [shipped, *one]
    while len(tried) < count:
        moved = {
            name: getattr(shipped, name) + rng.uniform(min(steps), max(steps))
            for name, steps in STEPS.items()
            if rng.random() < 0.5
        }
        tried.append(replace(shipped, **moved))
    return tried


def moved(settings: StrikeSettings) -> str:
    """What is not as shipped."""
    shipped = StrikeSettings()
    named = ((name, getattr(settings, name), getattr(shipped, name)) for name in STEPS)
    return ", ".join(f"{name} {new:g}" for name, new, old in named if new != old) or "as shipped"


def leave_out(recordings: Sequence[Recording], scores: Sequence[Sequence[Score]]) -> dict[str, int]:
    """Each group left out -> the number of the settings that do best on the others, each group counting the same."""
    groups = sorted({r.group for r in recordings})
    by_group = [
        {g: sum((s for r, s in zip(recordings, row, strict=True) if r.group == g), Score()).cost for g in groups}
        for row in scores
    ]
    return {
        left: min(range(len(scores)), key=lambda k: np.mean([c for g, c in by_group[k].items() if g != left]))
        for left in groups
    }


def total(scores: Iterable[Score]) -> Score:
    """All of them together."""
    return sum(scores, Score())


def line(name: str, score: Score, shipped: Score, settings: str) -> str:
    """One row of the table."""
    told = "  ".join(
        f"{s.recall:.4f}  {s.soft_recall:5.3f}  {s.precision:.4f}  {s.false_a_minute:5.2f}" for s in (score, shipped)
    )
    return f"{name:<18}{score.strokes:>7}  {told}  {settings}"


def report(title: str, recordings: Sequence[Recording], tried: Sequence[StrikeSettings]) -> None:
    """Try every setting on every recording; print the table."""
    scores: list[list[Score]] = []
    for k, settings in enumerate(tried):
        print(f"\r{title}: {k + 1} of {len(tried)}", end="", file=sys.stderr, flush=True)
        scores.append([r.score(settings) for r in recordings])
    print(file=sys.stderr)
    best = leave_out(recordings, scores)
    print(f"{title:<18}{'':>7}  {'left out: recall, soft, precision, false/min':<34}  as shipped")
    chosen = [scores[best[r.group]][i] for i, r in enumerate(recordings)]
    for group, k in best.items():
        of = [i for i, r in enumerate(recordings) if r.group == group]
        print(line(group, total(chosen[i] for i in of), total(scores[0][i] for i in of), moved(tried[k])))
    for level in sorted({r.level for r in recordings if r.level}):
        of = [i for i, r in enumerate(recordings) if r.level == level]
        print(line(level, total(chosen[i] for i in of), total(scores[0][i] for i in of), ""))
    print(line("all", total(chosen), total(scores[0]), ""))
    print(flush=True)


def main(argv: Sequence[str]) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=Path, default=os.environ.get("STRIKE_RECORDINGS", "recordings/strikes"))
    parser.add_argument("--settings", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    if not (args.recordings / "labels.csv").exists():
        parser.error(f"there are no recordings in {args.recordings}")
    tried = candidates(args.settings, args.seed)
    report("one pad", single_pads(args.recordings), tried)
    report("four pads", four_pads(args.recordings), tried)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
