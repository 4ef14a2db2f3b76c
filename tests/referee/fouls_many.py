"""Plants fouls of every kind at random moments of simulated games, through bytes, and counts what became of them.

    python tests/referee/fouls_many.py --games 20 [--game dakota] [--first-seed 0] [--preset home] [--conditions quiet]
        [--kinds bead_moved,touch]

*called*, *counted* (the touch is the hit, on the pad that was touched first) and *asked* (the judge decides) are right,
*missed* is not; *too late* is a stroke after the bead was seen, and no foul. *invented* is what was called or asked
where no such foul was made.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from planted import KINDS, OF_TURNS, Planting, outcomes, turn_outcomes
from rich.console import Console
from rich.table import Table

from pi_controller.referee.history import effective_records
from pi_controller.referee.settings import PRESETS, RefereeSettings
from pi_controller.rules import registry
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation

COLUMNS = ("called", "counted", "asked", "missed", "too late")
OPTIONS = {
    "dakota": {"hit_seconds": Planting.hit_seconds},
    "slahal": {"minutes": 4, "hide_seconds": 15},
    "bageswin": {"sticks": 20},
    "plum_stone": {"counters": 20},
}
FOULS = 0.4
"""How often the people of the games of turns make one."""


def planting(_game, *args, mischief, kinds, **keys):
    """Return the people who make fouls of these kinds, called as `simulation.people_for` is."""
    del mischief
    people = Planting(*args, **keys)
    people.kinds = kinds
    return people


def play(seed, name, preset="home", conditions="quiet", limit_s=4 * 3600.0, kinds=KINDS):
    """Play game `seed`; return its outcomes, what was invented, hides or turns, and virtual seconds."""
    game = registry.game(name, OPTIONS[name])
    people = {"people": partial(planting, kinds=kinds)} if name == "dakota" else {"mischief": Mischief(fouls=FOULS)}
    settings = RefereeSettings(preset=preset, hit_seconds=game.settings.get("hit_seconds"))
    with (
        tempfile.TemporaryDirectory() as folder,
        Simulation(
            seed,
            Path(folder) / "j.sqlite",
            game,
            conditions=Conditions.from_name(conditions),
            settings=settings,
            **people,
        ) as table,
    ):
        table.play(limit_s)
        records = [*table.journal.read()]
        if name == "dakota":
            return *outcomes(records, game, table.players), table.view.hide, table.t
        return *turn_outcomes([fact for _, fact in effective_records(records)], game, table.truth.turns), table.t


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--game", choices=tuple(OPTIONS), default="dakota")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--preset", choices=tuple(PRESETS), default="home")
    parser.add_argument("--conditions", default="quiet")
    parser.add_argument("--kinds", type=lambda kinds: tuple(kinds.split(",")), default=KINDS)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    began = time.monotonic()
    found, invented, hides, virtual = Counter(), Counter(), 0, 0.0
    one = partial(play, name=args.game, preset=args.preset, conditions=args.conditions, kinds=args.kinds)
    seeds = range(args.first_seed, args.first_seed + args.games)
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        for these, others, hid, t in pool.imap_unordered(one, seeds):
            found, invented = found + these, invented + others
            hides, virtual = hides + hid, virtual + t
    told = Table("foul", "made", *COLUMNS, "invented")
    for kind in args.kinds if args.game == "dakota" else [OF_TURNS[args.game]]:
        made = sum(count for (which, _), count in found.items() if which == kind)
        by_kind = sum(count for (name, _), count in invented.items() if name == kind)
        told.add_row(kind, str(made), *(str(found[kind, column] or "") for column in COLUMNS), str(by_kind or ""))
    Console(width=120).print(told)
    missed = sum(count for (_, outcome), count in found.items() if outcome == "missed")
    where = [f"{count} {name} (made: {made or 'none'})" for (name, made), count in invented.items()]
    unit = "hides" if args.game == "dakota" else "turns"
    print(f"{args.game}, {args.preset}, {args.conditions}: {args.games} games, {hides} {unit}")
    print(f"{found.total()} fouls made, {missed} missed; {invented.total()} invented", *where, sep=", ")
    print(f"{virtual / 3600:.2f} hours of play in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
