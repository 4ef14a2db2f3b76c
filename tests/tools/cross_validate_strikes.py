"""Strikes on pads never seen: `python tests/tools/cross_validate_strikes.py [--settings 40] [--board passive]`.

Each pad model (and each take of the four-pad scenes, with its drum track) is left out in turn: of many settings the
one that does best on the others is taken, and scored on the one left out. Beside it stands what is shipped, which was
set on all of them. The settings tried are the shipped ones, those with one figure moved, and the rest with several
moved at random.

With `--board passive` or `amplifier` it scores what the mat board would sample. FOLDER (or $STRIKE_RECORDINGS) is laid
out as in `strike_recordings`.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from strike_recordings import GAIN_DB, Recording, Score, as_board, four_pads, single_pads

from pi_controller.sensing.strike_settings import StrikeSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHIPPED = StrikeSettings()
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
    "low_band_db": (-6, -2, 2),
    "middle_band_db": (-1, 1),
}
BANDS = {"low_band_db": 0, "middle_band_db": 1}  # of `band_db`


def value(settings: StrikeSettings, name: str) -> float:
    """One figure of the settings."""
    return settings.band_db[BANDS[name]] if name in BANDS else getattr(settings, name)


def move(steps: dict[str, float]) -> StrikeSettings:
    """The shipped settings, with each named figure moved by its step."""
    bands = list(SHIPPED.band_db)
    for name in BANDS.keys() & steps.keys():
        bands[BANDS[name]] = max(0.0, bands[BANDS[name]] + steps[name])
    others = {name: getattr(SHIPPED, name) + step for name, step in steps.items() if name not in BANDS}
    return replace(SHIPPED, band_db=tuple(bands), **others)


def candidates(count: int, seed: int) -> list[StrikeSettings]:
    """`count` settings: as shipped, with one figure moved, with several."""
    rng = np.random.default_rng(seed)
    tried = [SHIPPED, *(move({name: step}) for name, steps in STEPS.items() for step in steps)]
    while len(tried) < count:
        tried.append(
            move({name: rng.uniform(min(each), max(each)) for name, each in STEPS.items() if rng.random() < 0.5})
        )
    return tried[:count]


def moved(settings: StrikeSettings) -> str:
    """What is not as shipped."""
    named = ((name, value(settings, name), value(SHIPPED, name)) for name in STEPS)
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
    parser.add_argument("--board", choices=sorted(GAIN_DB))
    args = parser.parse_args(argv)
    if not (args.recordings / "labels.csv").exists():
        parser.error(f"there are no recordings in {args.recordings}")
    tried = candidates(args.settings, args.seed)
    for title, recordings in (("one pad", single_pads(args.recordings)), ("four pads", four_pads(args.recordings))):
        sampled = [as_board(r, args.board, n) for n, r in enumerate(recordings)] if args.board else recordings
        report(title, sampled, tried)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
