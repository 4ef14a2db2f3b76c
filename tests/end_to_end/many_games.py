"""Play many seeded games through bytes and count what the journal and the truth disagree on.

python tests/end_to_end/many_games.py --games 200 [--points 5] [--first-seed 0] [--conditions quiet]
"""

import argparse
import multiprocessing
import tempfile
import time
from functools import partial
from pathlib import Path

from rich.progress import Progress

from pi_controller.games import registry
from pi_controller.sim.conditions import Conditions
from pi_controller.sim.script import Mischief
from pi_controller.sim.simulation import Simulation
from pi_controller.sim.truth import compare


def play(seed, points, conditions):
    game = registry.game("dakota", {"points": str(points)})
    with tempfile.TemporaryDirectory() as folder:
        mischief = Mischief(fouls=0.05, doubts=0.03)
        path = Path(folder) / "j.sqlite"
        with Simulation(seed, path, game, mischief=mischief, conditions=Conditions.named(conditions)) as table:
            cpu = time.process_time()
            table.play()
            wrong = compare(table.truth, [fact for _, fact in table.journal.read()], game)
            if table.view.winner is None:
                wrong.append("the game did not end")
            fouls = sum(hide.foul is not None for hide in table.truth.hides.values())
            hits = sum(len(hide.hits) for hide in table.truth.hides.values())
            counts = (len(table.truth.hides), hits, fouls, table.players.questions)
            return seed, wrong, counts, table.t, time.process_time() - cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=5)
    parser.add_argument("--conditions", default="quiet")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    totals, wrong, virtual, cpu = [0, 0, 0, 0], [], 0.0, 0.0
    seeds = range(args.first_seed, args.first_seed + args.games)
    with Progress() as bar, multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        task = bar.add_task("games", total=args.games)
        for seed, found, counts, t, spent in pool.imap_unordered(
            partial(play, points=args.points, conditions=args.conditions), seeds
        ):
            wrong += [f"seed {seed}: {line}" for line in found]
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
            virtual, cpu = virtual + t, cpu + spent
            bar.advance(task)
    for line in wrong:
        print(line)
    hides, hits, fouls, questions = totals
    print(f"{args.games} games, {hides} hides, {hits} hits, {fouls} fouls, {questions} questions to the judge")
    print(f"{virtual / 3600:.1f} hours of play in {cpu:.0f} s of processor: an hour in {cpu / virtual * 3600:.1f} s")
    print(f"{len(wrong)} disagreements between the journal and what happened")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
