"""A table's journal is damaged, and the table started again: what follows.

python tests/support/corruptions.py [--cases 300] [--seed 1]

Of every damage one of these follows: no record is lost; the table does not start, says why, and has lost nothing; or it
is *silent*, which is a fault. The table was closed, or killed in the middle of a transaction: then the damage is in
the file or in the -journal file beside it.
"""

import argparse
import random
import shutil
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from random_play import legal_action
from seats import sit

from pi_controller.errors import MatError
from pi_controller.journal.chain import JournalRow, chain_rows
from pi_controller.journal.file import insert
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import recover
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules.registry import game

PAGE = 4096
KINDS = ("bit", "bits", "byte in the head", "noise", "zeros", "old sector", "swapped", "cut", "gone")
DAKOTA = game("dakota", {"points": 50})


def leave_unfinished(journal, to):
    """Leave at `to` the files of a table that was killed in the middle of a transaction of `journal`.

    A small cache makes SQLite write pages of the transaction before its end.
    """
    (seq, head), db = journal.head, journal.database()
    ready = (
        JournalRow(n, journal.batch + 1, 9.0, "ready", '{"kind":"ready","t":9.0}') for n in range(seq + 1, seq + 100)
    )
    db.execute("PRAGMA cache_size = 2")
    db.execute("BEGIN IMMEDIATE")
    insert(db, chain_rows(head, ready))
    for ending in ("", "-journal"):
        shutil.copy(f"{journal.path}{ending}", f"{to}{ending}")
    db.execute("ROLLBACK")


def play_journal(folder, actions=120):
    """Play at a table with the journal `game.sqlite` in `folder`; leave as `game-killed.sqlite` what a kill leaves.

    Returns how many records were acknowledged.
    """
    folder.mkdir()
    path = folder / "game.sqlite"
    chance = random.Random(0)
    with Journal(path, token=chance.randbytes) as journal:
        table = sit(journal, DAKOTA, t=1000.0)
        for n in range(actions):
            table.judge(JudgeAction(1000.0 + n, legal_action(chance, DAKOTA, table.story.state)))
        leave_unfinished(journal, path.with_stem("game-killed"))
        return journal.seq


def hurt(path, kind, chance):
    """Do to the file at `path` what `kind` says, somewhere."""
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    page = at - at % PAGE
    match kind:
        case "bit" | "bits":
            for _ in range(1 if kind == "bit" else chance.choice([5, 50, 200])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case "byte in the head":
            data[chance.randrange(100)] ^= chance.randrange(1, 256)
        case "noise":
            data[at : at + 700] = chance.randbytes(len(data[at : at + 700]))
        case "zeros":
            data[page : page + PAGE] = bytes(len(data[page : page + PAGE]))
        case "old sector":
            data[at - at % 512 : at - at % 512 + 512] = data[:512]
        case "swapped":
            other = chance.randrange(len(data) // PAGE) * PAGE
            page = min(page, len(data) // PAGE * PAGE - PAGE)
            data[page : page + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[page : page + PAGE]
        case "cut":
            del data[at:]
    path.unlink() if kind == "gone" else path.write_bytes(data)


def saved(path):
    """Return how many records `recover` gets back."""
    with suppress(MatError):
        return len(recover(path).rows)
    return 0


def start(path):
    """Start a table on the journal at `path`; return how many records it had, or None, and what it said."""
    try:
        with Journal(path) as journal:
            had = journal.seq
            sit(journal, DAKOTA, t=5000.0)
    except MatError as error:
        return None, f"{error.message}; {error.hint}"
    return had, ""


def one_case(whole, folder, target, kind, chance):
    """Damage a copy of the journal at `whole`, or of what its killed table left; return what followed.

    `target` is "closed", "killed" or "killed-journal". Returns the outcome ("nothing lost", "refused" or in capitals),
    how many records a start and `recover` bring back, how many were acknowledged, and what was said.
    """
    folder.mkdir()
    path = folder / "game.sqlite"
    with Journal(whole, read_only=True) as journal:
        rows = list(journal.rows())
    shutil.copy(whole, path)
    if target != "closed":
        for ending in ("", "-journal"):
            shutil.copy(f"{whole.with_stem('game-killed')}{ending}", f"{path}{ending}")
    hurt(folder / ("game.sqlite-journal" if target == "killed-journal" else "game.sqlite"), kind, chance)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    back, found = saved(path), None
    with suppress(MatError):
        found = verify_journal(path)
    had, said = start(path)
    if had is None:
        unchanged = all((folder / name).read_bytes() == data for name, data in before.items())
        outcome = "refused" if unchanged or saved(path) >= back else "REFUSED AND CHANGED"
    else:
        with Journal(path, read_only=True) as journal:
            same = list(journal.rows())[: len(rows)] == rows
        outcome = "nothing lost" if same and found and found.whole else "SILENT"
    return outcome, had, back, len(rows), said


TARGETS = ("closed", "killed", "killed-journal")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance, total = random.Random(args.seed), Counter()
    with TemporaryDirectory() as home:
        whole = Path(home, "whole", "game.sqlite")
        play_journal(whole.parent)
        for n in range(args.cases):
            target, kind = TARGETS[n % 3], KINDS[n // 3 % len(KINDS)]
            if target != "killed-journal" and kind == "gone":
                kind = "bit"
            folder = Path(home, str(n))
            outcome, *found = one_case(whole, folder, target, kind, chance)
            shutil.rmtree(folder)
            if outcome.isupper():
                print(f"{n} {target} {kind}: {outcome} {found}")
            total[outcome] += 1
    print(", ".join(f"{outcome} {n}" for outcome, n in sorted(total.items())))
    return 0 if not [name for name in total if name.isupper()] else 1


if __name__ == "__main__":
    raise SystemExit(main())
