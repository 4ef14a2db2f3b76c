"""Unplug and replug the mat at random moments of running games; the journal must say what happened, and nothing else.

python tests/faults/replugs.py --cycles 1000 --games 100 [--first-seed 0] [--points 2]

Half of the pulls cut a frame; the cable is out for 0.05 to 20 s, short times as likely as long ones.
"""

import argparse
import math
import multiprocessing
import random
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import numpy as np
from fault_lab import Lab
from rich.progress import Progress

OUT_S = (0.05, 20.0)
GAP_S = (0.1, 6.0)
"""From the link's being back to the next pull."""
SEEN_S, BACK_S = 1.0, 3.0
"""Later than this may the loss of the link never be seen, nor the board be back after replugging, seconds."""


def cycle(lab, moments):
    """Pull the cable now and put it back later; return (phase, seconds until seen, seconds until back)."""
    cable, phase = lab.cable, lab.view.phase
    frame = moments.random() < 0.5
    if frame:
        cable.cut(moments.randrange(1, 1200))
        lab.tick()
    else:
        cable.unplug()
    pulled = lab.t
    out = math.exp(moments.uniform(*map(math.log, OUT_S)))
    while lab.t - pulled < out:
        lab.tick(min(0.032, max(pulled + out - lab.t, 0.001)))
    cable.plug()
    plugged = lab.t
    while True:
        lab.tick()
        if lab.view.link:
            break
        if lab.t - plugged > 30.0:
            return phase, math.inf, math.inf
    return phase, lab.watcher.after(pulled, up=False), lab.watcher.after(plugged, up=True)


def game(index, quota, points, step):
    """Play games until `quota[index]` cycles are done; return what they came to."""
    wrong, told, games = [], [], 0
    asked, frames = Counter(), 0
    while len(told) < quota[index]:
        seed = index + games * step
        moments = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder, Lab(seed, folder, points=points) as lab:
            lab.wait(moments.uniform(0.5, 5.0))
            lab.begin()
            while len(told) < quota[index] and not lab.table.over:
                told.append(cycle(lab, moments))
                lab.wait(moments.uniform(*GAP_S))
            lab.play()
            outcome = lab.outcome()
            frames += lab.cable.cut_frames
        games += 1
        asked += Counter(outcome.questions)
        wrong += [f"seed {seed}: invented {one}" for one in outcome.invented]
        wrong += [f"seed {seed}: lost {one}" for one in outcome.lost]
        wrong += [f"seed {seed}: {one}" for one in outcome.wrong]
        wrong += [] if outcome.winner else [f"seed {seed}: the game did not end"]
    return games, told, frames, asked, wrong


def quotas(cycles, games):
    """Return how many cycles each game gets."""
    return [cycles // games + (i < cycles % games) for i in range(games)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    quota = dict(enumerate(quotas(args.cycles, args.games), args.first_seed))
    told, wrong, asked, frames, games = [], [], Counter(), 0, 0
    one = partial(game, quota=quota, points=args.points, step=args.first_seed + args.games)
    with Progress() as bar, multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        task = bar.add_task("replugs", total=args.cycles)
        for n, cycles, cut, questions, found in pool.imap_unordered(one, quota):
            games, told, frames = games + n, told + cycles, frames + cut
            asked, wrong = asked + questions, wrong + found
            bar.update(task, completed=len(told), description=f"replugs ({games} games, {len(wrong)} wrong)")
    print("\n".join(wrong), end="\n" if wrong else "")
    phases = Counter(phase for phase, _, _ in told)
    where = ", ".join(f"{n} in {phase}" for phase, n in phases.most_common())
    print(f"{len(told)} replugs in {games} games, {frames} of them with a frame cut ({where})")
    late = _spread("link loss seen after", [seen for _, seen, _ in told], SEEN_S)
    late += _spread("back after replugging", [back for _, _, back in told], BACK_S)
    print(f"{asked.total()} questions to the judge: {', '.join(f'{n} {what}' for what, n in asked.most_common())}")
    print(f"{len(wrong)} disagreements between the journal and what happened (hits invented or lost among them)")
    return 1 if wrong or late else 0


def _spread(what, seconds, most):
    p50, p99 = np.percentile(seconds, (50, 99), method="higher")
    late = sum(one > most for one in seconds)
    print(f"{what}: p50 {p50:.3f} s, p99 {p99:.3f} s, max {max(seconds):.3f} s; {late} over {most:g} s")
    return late


if __name__ == "__main__":
    raise SystemExit(main())
