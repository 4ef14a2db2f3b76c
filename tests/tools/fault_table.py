"""Do every fault of the link to the real firmware on a pseudo-terminal and print what happened, as a table.

python tests/tools/fault_table.py [--markdown] [--seed 3] [--only WORD]

Times are virtual seconds: from the fault until the table says that there is no link (for a host that slept: from its
waking), and from the cure until it says that there is one. A dash: the link was not lost, or the fault stayed.
"""

import argparse
import multiprocessing
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("support", "support/real"))

import fault_lab
import fault_stopped
from fault_kinds import FAULTS
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

COLUMNS = (
    "fault",
    "what the judge sees",
    "how play went on",
    "invented hits",
    "lost acknowledged hits",
    "link loss seen after s",
    "back after s",
)


def one(name, seed):
    """Return the outcome of the fault `name` in game `seed`."""
    with tempfile.TemporaryDirectory() as folder:
        if name == fault_stopped.NAME:
            return fault_stopped.run(seed, folder)
        return fault_lab.run(name, FAULTS[name], seed, folder)


def row(outcome):
    """Return `outcome` as the table's cells."""

    def seconds(value):
        return "-" if value is None else f"{value:.2f}"

    return (
        outcome.fault,
        "\n".join(outcome.sees) or "nothing",
        outcome.play,
        str(len(outcome.invented)),
        str(len(outcome.lost)),
        seconds(outcome.seen_s),
        seconds(outcome.back_s),
    )


def markdown(rows):
    """Return the rows as a Markdown table."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in at) + " |" for at in lines
    )


def text(rows):
    """Return the rows as plain text, a paragraph each."""
    return "\n\n".join(
        "\n".join(
            f"{name + ':':<25}{cell.replace(chr(10), chr(10) + ' ' * 25)}"
            for name, cell in zip(COLUMNS, at, strict=True)
        )
        for at in rows
    )


def drawn(rows):
    """Return the rows as a table for a terminal."""
    table = Table(*COLUMNS, box=box.SIMPLE, show_lines=True)
    for at in rows:
        table.add_row(*at)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--seed", type=int, default=3, help="the game that is played (default: 3)")
    parser.add_argument("--only", metavar="WORD", default="", help="only faults with this word in their name")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    names = [name for name in (*FAULTS, fault_stopped.NAME) if args.only in name]
    if not names:
        parser.error(f"no fault is called so; there are: {', '.join((*FAULTS, fault_stopped.NAME))}")
    outcomes = []
    progress = Progress(console=Console(stderr=True), transient=True)
    with progress, multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        task = progress.add_task("faults", total=len(names))
        for outcome in pool.imap(partial(one, seed=args.seed), names):
            outcomes.append(outcome)
            progress.advance(task)
    rows = [row(outcome) for outcome in outcomes]
    if args.markdown:
        print(markdown(rows))
    elif sys.stdout.isatty():
        Console().print(drawn(rows))
    else:
        print(text(rows))
    bad = [f"{one.fault}: {line}" for one in outcomes for line in (*one.invented, *one.lost, *one.wrong)] + [
        f"{one.fault}: the game did not end" for one in outcomes if one.winner is None
    ]
    print("\n".join(bad), file=sys.stderr, end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
