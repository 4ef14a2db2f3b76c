"""Does the time from the hider's ready to the commitment tell where the bead lies? Two measurements, no test.

python tests/tools/measure_commitment.py [--hides 40] [--seed 0]

On virtual time, with another seed of the sensors' noise for each hide, ready as soon as the last hand is away: how many
of the places give the same moment in each. And on this machine's clock, places in an order drawn afresh for each hide:
how long the step takes in which the commitment is journalled (a Kruskal-Wallis test: a small p would be a leak).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import numpy as np
from scipy.stats import kruskal
from secrecy_browsing import Browsing
from secrecy_outside import Outside
from secrecy_people import hides, presses
from secrecy_tables import HIDE_T, OFF, READY_T, TOSS_T

from pi_controller.referee.facts import Commit, Ready
from pi_controller.table.table import Table

PADS = (1, 2, 3, 4)


def hide(folder: Path, pad: int, seed: int) -> tuple[float, float]:
    """Return how long it takes from ready to the commitment (virtual s), and the step that it is in (wall s)."""
    ready, sealed, took = float("nan"), float("nan"), float("nan")
    begun = 0.0
    write, tick = Table._write, Outside.tick

    def written(table, facts):
        nonlocal ready, sealed, took
        write(table, facts)
        for fact in facts:
            if isinstance(fact, Ready):
                ready = fact.t
            if isinstance(fact, Commit):
                sealed, took = fact.t, time.perf_counter() - begun

    def ticked(outside):
        nonlocal begun
        tick(outside)
        begun = time.perf_counter()

    deeds = [*presses(TOSS_T, "toss_a"), *hides(HIDE_T, {"bead": (pad, OFF)}), *presses(READY_T, "ready")]
    with (
        mock.patch.object(Table, "_write", written),
        mock.patch.object(Outside, "tick", ticked),
        mock.patch.object(Browsing, "look", Browsing.spin),
    ):
        Outside(folder, seed=seed).play(deeds, READY_T + 1.2)
    return sealed - ready, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hides", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    order = random.Random(args.seed)
    virtual = {pad: [] for pad in PADS}
    wall = {pad: [] for pad in PADS}
    with tempfile.TemporaryDirectory() as folder:
        for n in range(args.hides):
            for pad in order.sample(PADS, len(PADS)):
                waited, took = hide(Path(folder), pad, args.seed + n)
                virtual[pad].append(waited)
                wall[pad].append(took)
    moments = np.array([virtual[pad] for pad in PADS])
    same = int((np.ptp(moments, axis=0) < 1e-3).sum())
    print(f"virtual time, {args.hides} hides at each place: the same moment at all four in {same} of them")
    for pad in PADS:
        found = np.array(wall[pad]) * 1000
        print(
            f"pad {pad}: ready to commitment {np.nanmin(virtual[pad]):.3f} to {np.nanmax(virtual[pad]):.3f} s; "
            f"the step {np.median(found):.2f} ms (median), {np.percentile(found, 90):.2f} ms (90 %)"
        )
    print(f"wall clock, {args.hides} hides at each place: Kruskal-Wallis p = {kruskal(*wall.values()).pvalue:.3f}")


if __name__ == "__main__":
    main()
