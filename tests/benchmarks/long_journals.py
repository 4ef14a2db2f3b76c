"""How a table, and what reads its journal, grow with the journal: how long each takes at so many records.

python tests/benchmarks/long_journals.py [--records 1000 10000 100000] [--undos 0 1000] [--seed 1]

The games are dakota's, played by a judge at random; where one is over the judge sets the table. The undos are spread
over the whole of it. Every figure is of a real journal in a file, in processor time: waiting for the disk is left out.
"""

import argparse
import contextlib
import io
import random
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # random_play.py

from random_play import legal_action

from pi_controller.cli.journals import game_export as export
from pi_controller.cli.journals import game_verify as verify
from pi_controller.cli.replay import game_replay as replay
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal import file
from pi_controller.journal.journal import Journal, MemoryJournal
from pi_controller.referee.judge import JudgeAction, JudgeReplace, JudgeSet, JudgeUndo
from pi_controller.rules.registry import game
from pi_controller.table.table import Table

DAKOTA = game("dakota", {"points": 99})
SHEET = DAKOTA.sheet(DAKOTA.play(DAKOTA.opening(), {"do": "toss", "winner": "A"})[0])


def next_call(table, chance, t):
    """Return what the judge says next of a game that goes on."""
    if DAKOTA.is_over(table.story.state):
        return JudgeSet(t, SHEET, "another game")
    return JudgeAction(t, legal_action(chance, DAKOTA, table.story.state))


def play(path, records, undos, seed):
    """Write a journal of so many records, with so many undos among them, to `path`."""
    chance, memory = random.Random(seed), MemoryJournal()
    table = Table(memory, DAKOTA, {"A": "Red", "B": "Blue"}, DakotaReferee(DAKOTA, None, bytes))
    undone = n = 0
    while memory.seq < records:
        n += 1
        if undone < undos and memory.seq > (undone + 1) * records / (undos + 1):
            undone += 1
            table.judge(JudgeUndo(1.0 * n, "misread"))
        else:
            table.judge(next_call(table, chance, 1.0 * n))
    about = file.Meta("00" * 16, created=1.0)
    file.put_in_place(file.write_new_journal(path, about, memory.rows()), path)


def timed(what, times=1):
    """Return the shortest of so many runs, s."""
    took = []
    for _ in range(times):
        began = time.process_time()
        what()
        took.append(time.process_time() - began)
    return min(took)


def sit(journal):
    return Table(journal, DAKOTA, {}, DakotaReferee(DAKOTA, None, bytes))


def at_the_table(path, chance):
    """Return how long start, an append, an undo and a replace take."""
    with Journal(path) as journal:
        tables = []
        start = timed(lambda: tables.append(sit(journal)))
        table = tables[0]
        t = 1e6
        if DAKOTA.is_over(table.story.state):
            table.judge(next_call(table, chance, t))
        append = timed(lambda: table.judge(next_call(table, chance, t)), 3)
        table.judge(JudgeSet(t, SHEET, "another game"))
        table.judge(JudgeAction(t, {"do": "hit", "found": False}))
        replace = timed(lambda: table.judge(JudgeReplace(t, {"do": "hit", "found": True})), 3)
        undo = timed(lambda: table.judge(JudgeUndo(t)), 3)
    return start, append, undo, replace


def quietly(what, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        what(*args)


def measure(records, undos, seed):
    with TemporaryDirectory() as folder:
        path = Path(folder, "game.sqlite")
        play(path, records, undos, seed)
        figures = [*at_the_table(path, random.Random(seed))]
        figures.append(timed(lambda: quietly(verify, [str(path)])))
        figures.append(timed(lambda: quietly(replay, [str(path)])))
        figures.append(timed(lambda: quietly(export, [str(path), "-o", f"{folder}/out"])))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--undos", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    names = ("start", "append", "undo", "replace", "verify", "replay", "export")
    print(f"{'records':>8} {'undos':>6} " + " ".join(f"{name:>9}" for name in names) + "   ms; peak MB")
    for records in args.records:
        for undos in args.undos:
            if undos <= records / 4:
                figures = " ".join(f"{1000 * took:9.1f}" for took in measure(records, undos, args.seed))
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"{records:8} {undos:6} {figures}   {peak:.0f}", flush=True)


if __name__ == "__main__":
    main()
