"""A killed table's journal is damaged in the file or in the log, and the table started again: what follows, in a table.

python tests/support/corruptions.py [--cases 300] [--seed 1]

Of every damage one of these follows: no record is lost; the table does not start, says why, and has changed nothing; it
starts with fewer records and says so, and what there was is kept aside; or it is *silent*, which is a fault. Half of
the copies come without the lock's file, which knows how many records were acknowledged: so looks a copy, or a journal
whose power was cut. Of those one kind cannot be seen by anybody who did not see the head: a log that ends sooner.
"""

import argparse
import logging
import random
import shutil
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from random_play import legal_action

from pi_controller.errors import MatError
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import recover
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules.registry import game
from pi_controller.table.table import Table

PAGE = 4096
KINDS = ("bit", "bits", "byte in the head", "noise", "zeros", "old sector", "swapped", "cut", "gone")
DAKOTA = game("dakota", {"points": 50})


def sit(journal, t):
    return Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee_for(DAKOTA, None, bytes), t)


def killed_table(folder, actions=(80, 40)):
    """Leave in `folder` the files of a table that was killed, with some records in the file and some in the log.

    Returns how many records were acknowledged.
    """
    folder.mkdir()
    chance = random.Random(0)
    with Journal(folder / "live.sqlite", token=chance.randbytes) as journal:
        table = sit(journal, 1000.0)
        for n in range(sum(actions)):
            if n == actions[0]:
                assert journal.checkpoint()
            table.judge(JudgeAction(1000.0 + n, legal_action(chance, DAKOTA, table.story.state)))
        for ending in ("", "-wal", ".lock"):
            shutil.copy(folder / f"live.sqlite{ending}", folder / f"game.sqlite{ending}")
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
        return len(recover(path, bytes).rows)
    return 0


def start(path):
    """Start a table on the journal at `path`; return how many records it had, or None, and what it said."""
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("pi_controller.journal").addHandler(handler)
    try:
        with Journal(path) as journal:
            had = journal.seq
            sit(journal, 5000.0)
        return had, " ".join(said)
    except MatError as error:
        return None, f"{error.message}; {error.hint}"
    finally:
        logging.getLogger("pi_controller.journal").removeHandler(handler)


def one_case(whole, folder, target, kind, witness, chance):
    """Damage a copy of the files in `whole`; return how many records start and recover bring back, and what was said.

    The outcome is "nothing lost", "refused", "said", "not to be seen" or "SILENT".
    """
    shutil.copytree(whole, folder)
    path = folder / "game.sqlite"
    if not witness:
        (folder / "game.sqlite.lock").unlink()
    hurt(folder / f"game.sqlite{target}", kind, chance)
    with Journal(whole / "live.sqlite", read_only=True) as journal:
        acknowledged = journal.seq
    before = {one.name: one.read_bytes() for one in folder.glob("game.sqlite*") if not one.name.endswith("-shm")}
    could = saved(path)
    try:
        found = verify_journal(path)
        noticed = not found.whole or found.torn
    except MatError:
        noticed = True
    had, said = start(path)
    if had is None:
        after = {name: (folder / name).read_bytes() for name in before if (folder / name).exists()}
        unchanged = all(after.get(name) == data for name, data in before.items() if not name.endswith(".lock"))
        outcome = "refused" if unchanged or saved(path) >= could else "REFUSED AND CHANGED"
    elif had >= acknowledged:
        outcome = "nothing lost"
    elif said and noticed:
        kept = [saved(one) for one in folder.glob("game.damaged-*.sqlite")]
        outcome = "said" if max(kept, default=0) >= could else "SAID, NOT KEPT"
    elif target == "-wal" and kind in ("cut", "gone") and not witness:
        outcome = "not to be seen"
    else:
        outcome = "SILENT"
    return outcome, had, could, acknowledged, said


def run(cases, seed, show=lambda _: None):
    """Return for each (target, kind) how often it went how, and the records that recover got of those acknowledged."""
    chance = random.Random(seed)
    outcomes, back = {}, {}
    with TemporaryDirectory() as home:
        whole = Path(home, "whole")
        killed_table(whole)
        for n in range(cases):
            target, kind = ("-wal", "")[n % 2], KINDS[n // 2 % len(KINDS)]
            if (target, kind) == ("", "gone"):
                kind = "bit"
            folder = Path(home, str(n))
            outcome, had, could, acknowledged, said = one_case(whole, folder, target, kind, n // 4 % 2, chance)
            shutil.rmtree(folder)
            outcomes.setdefault((target, kind), Counter())[outcome] += 1
            if outcome != "nothing lost":
                back.setdefault((target, kind), []).append(could / acknowledged)
            show(f"{n} {target or 'file'} {kind}: {outcome} {had} {could} of {acknowledged}: {said}")
    return outcomes, back


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="print every case")
    args = parser.parse_args()
    outcomes, back = run(args.cases, args.seed, print if args.each else lambda _: None)
    names = sorted({name for counts in outcomes.values() for name in counts})
    print(f"{'where':5} {'what':17}" + "".join(f"{name:>15}" for name in names) + "   recover then gets back")
    total = Counter()
    for (target, kind), counts in sorted(outcomes.items()):
        shares = sorted(back.get((target, kind), []))
        saved_part = (
            f"{100 * shares[0]:.0f} to {100 * shares[-1]:.0f} %, half {100 * shares[len(shares) // 2]:.0f} %"
            if shares
            else ""
        )
        where = "log" if target else "file"
        print(f"{where:5} {kind:17}" + "".join(f"{counts[name]:15}" for name in names) + f"   {saved_part}")
        total += counts
    print(f"{sum(total.values()):5} {'cases':17}" + "".join(f"{total[name]:15}" for name in names))
    return 0 if not [name for name in total if name.isupper()] else 1


if __name__ == "__main__":
    raise SystemExit(main())
