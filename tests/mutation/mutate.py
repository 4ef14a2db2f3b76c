"""Change the core's source in small ways and see whether a test fails: a change that no test notices is a gap.

    python tests/mutation/mutate.py [--group referee] [--count 40] [--seed 1] [--list]

`groups.toml` says which modules belong together, which tests must notice a change in them, and how many changes are
drawn; the same seed draws the same ones of the same source. `[[change]]` there are changes that once went unnoticed
and are always made.
`[[equivalent]]` are drawn changes that change no behaviour, each with the reason; `old` is the line, `new` the text put
in, or the whole line after the change if the same text can be put in at two places. A change is killed if a test fails
or does not end in time. Prints every survivor and the share killed by module; status 1 if a group stays under its aim.

Passed over: mutmut and cosmic-ray (one test command for the whole tree and a database of results; a drawn sample with
a command for each module is what a nightly run has time for).
"""

import argparse
import ast
import concurrent.futures
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300
"""A test run that takes longer hangs, which is a failure too: so long, or 10 times as long as without a change."""
SWAPS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"),
}  # fmt: skip
"""Operators, as written, and what each becomes."""


@dataclass(frozen=True)
class Change:
    """A replacement of the text from `start` to `end` (offsets) in a module."""

    module: str
    line: int
    start: int
    end: int
    new: str
    old: str

    def __str__(self):
        return f"{self.module}:{self.line}: {self.old!r} -> {self.new!r}"

    def apply(self, source):
        return source[: self.start] + self.new + source[self.end :]


def changes(module, source):
    """Return every change that can be made in `source`, in order."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    ascii_only = source.isascii()

    def offset(line, column):
        if ascii_only:
            return starts[line - 1] + column
        text = source[starts[line - 1] : starts[line]].encode()[:column]
        return starts[line - 1] + len(text.decode())

    def span(node):
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    found = []

    def add(node, start, end, new):
        if source[start:end] != new:
            found.append(Change(module, node.lineno, start, end, new, source[start:end]))

    def swap(node, op, left, right):
        """Swap the operator between two operands; parentheses and line ends beside it stay."""
        start, end = span(left)[1], span(right)[0]
        old, new = SWAPS[type(op)]
        add(node, start, end, source[start:end].replace(old, new, 1))

    tree = ast.parse(source)
    texts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    typed = set()
    for node in ast.walk(tree):
        hints = [getattr(node, field, None) for field in ("annotation", "returns")]
        hints += [
            *getattr(node, "decorator_list", ()),
            *(getattr(node, "keywords", ()) if isinstance(node, ast.ClassDef) else ()),
        ]
        typed |= {id(part) for hint in hints if hint is not None for part in ast.walk(hint)}
    for node in ast.walk(tree):
        if id(node) in texts or id(node) in typed:
            continue
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPS:
                swap(node, op, left, right)
            case ast.BoolOp(op=op, values=[first, second, *_]):
                swap(node, op, first, second)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                add(node, *span(node), source[slice(*span(operand))])
            case ast.Constant(value=bool(value)):
                add(node, *span(node), str(not value))
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                add(node, *span(node), str(value + 1))
            case ast.Constant(value=float(value)):
                add(node, *span(node), str(value * 2 or 1.0))
            case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=left, right=right):
                swap(node, op, left, right)
            case ast.Raise() | ast.Expr(value=ast.Call()):
                add(node, *span(node), "pass")
            case ast.Call(func=ast.Name(id="replace"), keywords=[_, _, *_]):
                for one, after in itertools.pairwise(node.keywords):  # each but the last, with its comma
                    add(one, span(one)[0], span(after)[0], "")
            case ast.If(test=test) if source[slice(*span(test))] != "TYPE_CHECKING":
                add(node, *span(test), "False")
            case _:
                pass
    return sorted(found, key=lambda change: (change.start, change.end, change.new))


def listed(change, sources):
    """Return the `[[change]]` of groups.toml as a `Change`; its old text stands once in its modules."""
    places = [(module, source.index(change["old"])) for module, source in sources.items() if change["old"] in source]
    if len(places) != 1 or sources[places[0][0]].count(change["old"]) != 1:
        sys.exit(f"groups.toml: {change['old']!r} stands {len(places)} times in its group; name it so that it is once")
    module, start = places[0]
    line = sources[module].count("\n", 0, start) + 1
    return Change(module, line, start, start + len(change["old"]), change["new"], change["old"])


def drawn(group, count, seed):
    """Return the changes to make in a group: the listed ones, then a sample, the same for the same seed."""
    modules = sorted({str(path.relative_to(ROOT)) for glob in group["modules"] for path in ROOT.glob(glob)})
    sources = {module: (ROOT / module).read_text("utf-8") for module in modules}
    always = [listed(change, sources) for change in group.get("change", ())]
    same = {(one["old"], one["new"]) for one in group.get("equivalent", ())}

    def alike(change):
        before, after = (
            text.splitlines()[change.line - 1].strip()
            for text in (sources[change.module], change.apply(sources[change.module]))
        )
        return (before, change.new) in same or (before, after) in same

    every = [change for module, source in sources.items() for change in changes(module, source)]
    sample = random.Random(seed).sample(every, min(count, len(every)))
    sample.sort(key=lambda change: (change.module, change.start))
    return [*always, *(change for change in sample if not alike(change))], sources


def test_in(folder, tests, timeout_s):
    """Run `tests` on the copy of the tree in `folder`; return the finished process. Raises `TimeoutExpired`."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile=mutation", *tests]
    # all cases (support/cases.py): few of them miss more changes
    environment = {
        **os.environ, "MOCCASIN_ALL": "1", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"
    }  # fmt: skip
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )


def survives(folder, change, sources, tests, timeout_s):
    """Make a change in the copy at `folder`, run the tests, take it back; return True if no test noticed."""
    path = folder / change.module
    path.write_text(change.apply(sources[change.module]), "utf-8")
    try:
        noticed = test_in(folder, tests, timeout_s).returncode != 0
    except subprocess.TimeoutExpired:
        print(f"   timed out {change}", flush=True)
        return False
    finally:
        path.write_text(sources[change.module], "utf-8")
    if not noticed:
        print(f"   survived {change}", flush=True)
    return not noticed


def copied(folder):
    """Copy the tree as git knows it, with what is not committed yet, into `folder`."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def run(name, group, options):
    """Make the changes of a group; print its figures; return whether it reaches its aim."""
    made, sources = drawn(group, options.count or group["count"], options.seed)
    if options.list:
        print(*made, sep="\n")
        return True
    workers = options.workers
    with tempfile.TemporaryDirectory(prefix="mutation-") as base:
        folders = [Path(base, str(number)) for number in range(workers)]
        for folder in folders:
            copied(folder)
        started = time.monotonic()
        if (unchanged := test_in(folders[0], group["tests"], None)).returncode:
            sys.exit(f"{name}: the tests fail without any change:\n{unchanged.stdout[-2000:]}")
        timeout_s = max(TIMEOUT_S, 10 * (time.monotonic() - started))

        def work(number):
            mine = made[number::workers]
            return [change for change in mine if survives(folders[number], change, sources, group["tests"], timeout_s)]

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            survivors = [change for found in pool.map(work, range(workers)) for change in found]
    total, left = Counter(change.module for change in made), Counter(change.module for change in survivors)
    for module, count in sorted(total.items()):
        print(f"{name:<11} {module:<48} {count - left[module]:>3} of {count:>3} killed")
    share = 1 - len(survivors) / max(len(made), 1)
    print(f"{name:<11} {'all':<48} {len(made) - len(survivors):>3} of {len(made):>3} killed, {share:.1%}", flush=True)
    return share >= options.aim


def main(arguments=None):
    """Run the groups; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", action="append", help="only this group of groups.toml (may be repeated)")
    parser.add_argument("--count", type=int, help="so many drawn changes a group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--aim", type=float, default=0.95, help="the share that must be killed (default .95)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print the changes and run nothing")
    options = parser.parse_args(arguments)
    groups = tomllib.loads(Path(__file__).with_name("groups.toml").read_text("utf-8"))
    wanted = {name: group for name, group in groups.items() if not options.group or name in options.group}
    reached = [run(name, group, options) for name, group in wanted.items()]  # all of them, also after one failed
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
