"""Score the shipped strike detector: `python tests/tools/score_strikes.py [--recordings FOLDER] [--board passive]`.

Without `--board` the recordings are scored as they are, with it as the mat board samples them behind the named circuit
of `hardware/circuits.md`: 4 kHz, the sum of 16 readings with the converter's noise and steps. `--worlds` adds what may
go wrong at the four pads. FOLDER (or $STRIKE_RECORDINGS) is laid out as in `strike_recordings`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strike_recordings import GAIN_DB, WORLDS, Score, as_board, four_pads, single_pads

from pi_controller.sensing.strike_settings import StrikeSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from strike_recordings import Recording


def score_all(recordings: Iterable[Recording], change: Callable[[Recording], Recording] | None = None) -> Score:
    """Return the shipped settings' score of all recordings, each changed first."""
    return sum(((change(r) if change else r).score(StrikeSettings()) for r in recordings), Score())


def show(name: str, score: Score) -> None:
    """Print one row."""
    print(
        f"{name:<22}{score.strokes:>5} strokes  recall {score.recall:.4f}  soft {score.soft_recall:.3f}  precision "
        f"{score.precision:.4f}  sure {score.sure / max(1, score.strokes):.3f}  other pad {score.other_pad} "
        f"({score.surely_other} sure)  false {score.false} ({score.surely_false} sure), {score.false_a_minute:.2f}/min",
        flush=True,
    )


def main(argv: Sequence[str]) -> int:
    """Print the figures; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=Path, default=os.environ.get("STRIKE_RECORDINGS", "recordings/strikes"))
    parser.add_argument("--board", choices=sorted(GAIN_DB))
    parser.add_argument("--worlds", action="store_true")
    args = parser.parse_args(argv)
    if not (args.recordings / "labels.csv").exists():
        parser.error(f"there are no recordings in {args.recordings}")
    one, four = single_pads(args.recordings), four_pads(args.recordings)
    if args.board:
        one, four = ([as_board(r, args.board, n) for n, r in enumerate(each)] for each in (one, four))
    show("one pad", score_all(one))
    show("four pads", score_all(four))
    for level in sorted({r.level for r in four}):
        show(f"  {level}", score_all(r for r in four if r.level == level))
    for name, change in (WORLDS if args.worlds else {}).items():
        show(name, score_all(four, change))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
