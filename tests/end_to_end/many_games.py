"""Play many seeded games through bytes and count what the journal and the truth disagree on.

python tests/end_to_end/many_games.py [--game dakota] --games 200 [--set OPTION=VALUE] [--first-seed 0] \
    [--conditions quiet] [--fouls 0.05] [--doubts 0.03] [--preset home]

The people are untidy (`simulation/habits.py`). For Hampa Apena it also counts hides: innocent ones that were charged or
asked about, and planted fouls of the hiders that were called, asked or missed. 25 games are about 1,000 hides.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from ground_truth import disagreements

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from planted import judge_hides
from rich.progress import Progress

from pi_controller.referee.facts import ActionPlayed, Question
from pi_controller.referee.settings import PRESETS, RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.options import from_text
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation

SHORT = {
    "ojibwe": {"games": "1"},
    "slahal": {"minutes": "4", "hide_seconds": "15"},
    "bageswin": {"sticks": "20"},
    "plum_stone": {"counters": "20"},
}
"""Options that end a game within minutes of virtual time, where none are chosen."""


def play(seed, name, options, conditions, mischief, seats, preset):
    """Play game `seed`; return it with what disagrees, what was counted, and the virtual and processor seconds."""
    game, settings = registry.game(name, options), RefereeSettings(preset=preset)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j.sqlite"
        with Simulation(
            seed,
            path,
            game,
            mischief=mischief,
            conditions=Conditions.from_name(conditions),
            seats=seats,
            settings=settings,
        ) as table:
            cpu = time.process_time()
            table.play()
            wrong = disagreements(table)
            if table.view.winner is None:
                wrong.append("the game did not end")
            records = [*table.journal.read()]
            judged = judge_hides(records, game, table.players) if game.hand_passes else Counter()
            facts = [fact for _, fact in records]
            counts = Counter(f"{fact.action['do']} by {fact.by}" for fact in facts if isinstance(fact, ActionPlayed))
            asked = Counter(fact.foul or fact.about for fact in facts if isinstance(fact, Question))
            return seed, wrong, table.view.hide, judged, counts, asked, table.t, time.process_time() - cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="dakota")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[])
    parser.add_argument("--conditions", default="quiet")
    parser.add_argument("--fouls", type=float, default=0.05)
    parser.add_argument("--doubts", type=float, default=0.03)
    parser.add_argument("--seats", choices=("stay", "turn"), default="turn")
    parser.add_argument("--preset", choices=tuple(PRESETS), default="home")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    options = from_text(args.set) or SHORT.get(args.game, {})
    judged, counts, asked, wrong, hides, virtual, cpu = Counter(), Counter(), Counter(), [], 0, 0.0, 0.0
    seeds = range(args.first_seed, args.first_seed + args.games)
    one = partial(
        play,
        name=args.game,
        options=options,
        conditions=args.conditions,
        mischief=Mischief(fouls=args.fouls, doubts=args.doubts),
        seats=args.seats,
        preset=args.preset,
    )
    with Progress() as bar, multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        task = bar.add_task("games", total=args.games)
        for seed, found, hid, verdicts, done, questions, t, spent in pool.imap_unordered(one, seeds):
            wrong += [f"seed {seed}: {line}" for line in found]
            judged, counts, asked = judged + verdicts, counts + done, asked + questions
            hides, virtual, cpu = hides + hid, virtual + t, cpu + spent
            bar.advance(task)
            if not bar.console.is_terminal:  # a log shows how far it is, too
                print(f"seed {seed}: {hid} hides, {len(found)} disagreements, {spent:.0f} s of processor", flush=True)
    for line in wrong:
        print(line)
    print(f"{args.games} games of {args.game}{f', {hides} hides' if hides else ''}: {_listed(counts)}")
    if judged:
        print(f"hides: {_listed(judged)}")
    print(f"{asked.total()} questions to the judge{f': {_listed(asked)}' if asked else ''}")
    print(f"{virtual / 3600:.2f} hours of play in {cpu:.0f} s of processor: an hour in {cpu / virtual * 3600:.1f} s")
    print(f"{len(wrong)} disagreements between the journal and what happened")
    return 1 if wrong else 0


def _listed(counts):
    return ", ".join(f"{n} {what}" for what, n in counts.most_common())


if __name__ == "__main__":
    raise SystemExit(main())
