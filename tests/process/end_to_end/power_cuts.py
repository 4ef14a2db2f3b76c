"""Pull the plug at random moments of a game: every event that was shown must be in the journal afterwards.

python tests/process/end_to_end/power_cuts.py --cuts 600 [--first-seed 0]

A process that writes a journal runs under strace, which notes every write, sync and rename of its files, and the
moments when an event was acknowledged: its number was written to standard output. For each cut the files are put
together as the disk could then hold them. What was synced is there; of what was not, all is lost, or any part of it is,
down to the single sector; names that were not synced may be the old ones. Then a table opens the journal.

Two processes in turn: the daemon itself on a simulated mat, and a table that writes as fast as it can.
"""

import argparse
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))  # killed_table.py

from killed_table import TableProcess
from pty_mat import PtyMat

from pi_controller.errors import MatError
from pi_controller.games.dakota.people import Players
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.simulation.simulation import LockStep

SECTOR = 512
CALLS = "openat,close,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,renameat2,mkdir"
NAME = "j.sqlite"
SETTINGS = """
[table]
journal = "{folder}/j.sqlite"
[game.options]
points = 5
[board]
port = "{device}"
[web]
enabled = false
"""
SERVED = """
import sys
sys.path.insert(0, sys.argv[2])
from multiprocessing.connection import Connection
from pathlib import Path
from killed_table import serve
serve(Path(sys.argv[1]), Connection(1))
"""
"""The table's turns come and go on its standard output, where `read` looks for what it has shown."""
WRITER = """
import os, sys
from contextlib import suppress
from pi_controller.errors import JournalError
from pi_controller.referee.facts import GameOpened, LinkSeen
from pi_controller.journal.journal import Journal
with Journal(sys.argv[1]) as journal:
    journal.database().executescript(sys.argv[3])
    if not journal.seq:
        journal.append([GameOpened(0.0, "dakota", "1", "", {}, {"A": "Red", "B": "Blue"})])
    for n in range(int(sys.argv[2])):
        written = False
        while not written:
            try:
                journal.append([LinkSeen(float(n), up=True)] + [LinkSeen(n + 0.5, up=False)] * (n % 3 == 0))
                written = True
            except JournalError:
                with suppress(JournalError):
                    journal.reopen()
        os.write(1, b"seq %d\\n" % journal.seq)
"""


@dataclass
class File:
    """What was done to a file, whatever its name: (moment, offset, bytes) or (moment, size); syncs: (moment, well)."""

    before: bytes = b""
    done: list = field(default_factory=list)
    synced: list = field(default_factory=list)

    def safe(self, at, cut):
        """Whether what was done at `at` is on disk: what a sync failed to write the system may never write."""
        moment, well = next((sync for sync in self.synced if sync[0] > at), (cut, False))
        return moment < cut and well


@dataclass
class Trace:
    """What a process did to the files of one folder, moment by moment."""

    start: dict  # name -> File
    names: list = field(default_factory=list)  # (moment, change) where a change is a dict of name -> File or None
    names_synced: list = field(default_factory=list)
    shown: list = field(default_factory=list)  # (moment, seq)
    faults: int = 0
    end: int = 0


HANGS_S = 300.0
"""A writer that takes longer never gets on; its log would fill the disk."""


def under_strace(log, command, faults=()):
    """Return `command` as it is run with its calls noted in `log`, and `faults` done to them."""
    noted = ["-qq", "-xx", "-s", "1000000", "-o", str(log), "-e", f"trace={CALLS}"]
    return ["strace", "-f", "--seccomp-bpf", *noted, *(f"--inject={fault}" for fault in faults), *command]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and _kept(path.name)}


def _kept(name):
    """Whether a file is the journal's and outlives a process."""
    return name.lstrip(".").startswith("j.") and not name.endswith(".lock")


def read(log, folder, before):
    """Return the trace in `log` of the process that worked in `folder`, which held `before` at its start."""
    trace = Trace({name: File(data) for name, data in before.items()})
    names = dict(trace.start)
    handles = {}
    plain = lambda text: bytes.fromhex(text.replace("\\x", ""))  # noqa: E731

    def here(text):
        path = Path(os.fsdecode(plain(text)))
        return path.name if path.parent == folder and _kept(path.name) else None

    for now, line in enumerate(Path(log).read_text().splitlines()):
        call = line.split(None, 1)[1]
        if m := re.match(r'openat\(\S+, "([^"]*)", ([A-Z_|]+).*\) += (\d+)', call):
            handles[int(m[3])] = None
            if Path(os.fsdecode(plain(m[1]))) == folder:
                handles[int(m[3])] = "folder"
            elif name := here(m[1]):
                if name not in names:
                    names[name] = File()
                    trace.names.append((now, {name: names[name]}))
                handles[int(m[3])] = names[name]
                if "O_TRUNC" in m[2]:
                    names[name].done.append((now, 0))
        elif m := re.match(r"close\((\d+)\) += 0", call):
            handles.pop(int(m[1]), None)
        elif m := re.match(r'pwrite64\((\d+), "([^"]*)", \d+, (\d+)\) += (\d+)', call):
            if isinstance(file := handles.get(int(m[1])), File):
                file.done.append((now, int(m[3]), plain(m[2])[: int(m[4])]))
        elif m := re.match(r'write\((\d+), "([^"]*)", \d+\) += \d+', call):
            assert not isinstance(handles.get(int(m[1])), File), call
            if m[1] == "1" and (said := re.search(rb'(?:seq |"seq":)(\d+)', plain(m[2]))):
                trace.shown.append((now, int(said[1])))
        elif m := re.match(r"f(?:data)?sync\((\d+)\) += (-?\d+)", call):
            match handles.get(int(m[1])):
                case "folder" if m[2] == "0":
                    trace.names_synced.append(now)
                case File() as file:
                    file.synced.append((now, m[2] == "0"))
        elif m := re.match(r"ftruncate\((\d+), (\d+)\) += 0", call):
            if isinstance(file := handles.get(int(m[1])), File):
                file.done.append((now, int(m[2])))
        elif m := re.match(r'unlink(?:at)?\((?:\S+, )?"([^"]*)".*\) += 0', call):
            if name := here(m[1]):
                names.pop(name, None)
                trace.names.append((now, {name: None}))
        elif (m := re.match(r'rename\w*\((?:AT_\w+, )?"([^"]*)", (?:AT_\w+, )?"([^"]*)".*\) += 0', call)) and here(
            m[2]
        ):
            names[here(m[2])] = names.pop(here(m[1]))
            trace.names.append((now, {here(m[1]): None, here(m[2]): names[here(m[2])]}))
        trace.faults += "(INJECTED)" in call
        trace.end = now + 1
    return trace


def after_cut(trace, cut, chance):
    """Return the files as the disk could hold them when the plug was pulled at the moment `cut`."""
    names = dict(trace.start)
    synced = max([at for at in trace.names_synced if at < cut], default=-1)
    unsynced = [change for at, change in trace.names if synced < at < cut]
    kept = chance.choice([0, len(unsynced), chance.randint(0, len(unsynced))])  # a file system keeps names in order
    for change in [change for at, change in trace.names if at <= synced] + unsynced[:kept]:
        names.update(change)
    how = chance.choice(["lost", "some", "torn"])
    return {name: _held(file, cut, how, chance) for name, file in names.items() if file is not None}


def _held(file, cut, how, chance):
    data = bytearray(file.before)
    for at, *what in file.done:
        safe = file.safe(at, cut)
        if at >= cut or (not safe and (how == "lost" or chance.random() < 0.5) and how != "torn"):
            continue
        if len(what) == 1:
            if safe or chance.random() < 0.5:
                data = data[: what[0]].ljust(what[0], b"\0")
            continue
        offset, new = what
        if len(data) < offset + len(new):
            data = data.ljust(offset + len(new), b"\0")
        if safe or how == "some":
            data[offset : offset + len(new)] = new
        else:
            for begin in range(offset, offset + len(new), SECTOR):
                end = min(begin + SECTOR, offset + len(new))
                if chance.random() < 0.5:
                    data[begin:end] = new[begin - offset : end - offset]
    return bytes(data)


def judge(files, trace, cut, folder, whole):
    """Put `files` in `folder`, open the journal, and return what is wrong: nothing, or how and how many were lost.

    `whole` are the records as the process left them in the end.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    shown = max([seq for at, seq in trace.shown if at < cut], default=0)
    try:
        if not (folder / NAME).exists() and (shown or trace.start):
            return "not opened", shown
        with Journal(folder / NAME) as journal:
            rows = list(journal.rows())
    except MatError as error:
        return f"not opened: {error.message}", shown
    if len(rows) < shown:
        return "lost", shown - len(rows)
    if [row[:5] for row in rows] != [row[:5] for row in whole[: len(rows)]] or not verify_journal(folder / NAME).whole:
        return "broken", 0
    return "", 0


def traced_writer(folder, seed, also="", faults=()):
    """Trace a table that writes as fast as it can, its database told `also`; `faults` are strace's to inject."""
    return _traced(folder, [sys.executable, "-c", WRITER, str(folder / NAME), str(60 + seed % 40), also], faults)


def _traced(folder, command, faults=()):
    before = contents(folder)
    with tempfile.TemporaryDirectory() as logs:
        traced = under_strace(f"{logs}/log", command, faults)
        subprocess.run(traced, check=True, stdout=subprocess.DEVNULL, timeout=HANGS_S)
        return read(f"{logs}/log", folder, before)


class Traced(TableProcess):
    """The table's own process, under strace."""

    def __init__(self, settings, log):
        super().__init__(settings)
        self._log = log

    def start(self):
        self._turns, theirs = multiprocessing.Pipe()
        command = [sys.executable, "-c", SERVED, str(self._settings), str(Path(__file__).parents[2] / "support")]
        self._strace = subprocess.Popen(under_strace(self._log, command), stdout=theirs.fileno())
        theirs.close()

    def close(self):
        self._turns.close()
        self._strace.wait()


def traced_daemon(folder, seed, ticks=6000):
    """Trace the daemon on a simulated mat, where a game is played."""
    with tempfile.TemporaryDirectory() as logs, PtyMat(seed) as mat:
        settings = Path(logs) / "settings.toml"
        settings.write_text(SETTINGS.format(folder=folder, device=mat.device), "utf-8")
        side = Traced(settings, f"{logs}/log")
        side.start()
        try:
            lockstep = LockStep(mat, Players(seed, mat.world, side.press, side.judge), side)
            for _ in range(ticks):
                lockstep.tick()
                if lockstep.view.phase == "over":
                    break
        finally:
            side.close()
        return read(f"{logs}/log", folder, {})


def cuts(traced, n, seed, count=None):
    """Pull the plug `n` times on what `traced` runs; return how often it went how, and how many records there were."""
    chance = random.Random(seed)
    outcome = Counter()
    with tempfile.TemporaryDirectory() as home:
        folder, disk = Path(home).resolve() / "table", Path(home) / "disk"
        folder.mkdir()
        trace = traced(folder, seed)
        with Journal(folder / NAME, read_only=True) as journal:
            whole = list(journal.rows())
        assert trace.shown
        assert trace.shown[-1][1] == len(whole)
        first = min(at for at, *_ in [*trace.names, *trace.shown, *(d for f in trace.start.values() for d in f.done)])
        outcome["faults"] = trace.faults
        for _ in range(n):
            cut = chance.randrange(first, trace.end + 1)
            wrong, lost = judge(after_cut(trace, cut, chance), trace, cut, disk, whole)
            kind = wrong.partition(":")[0]
            outcome["cuts"] += 1
            outcome[kind] += 1
            outcome["events lost"] += lost
            if wrong:
                print(f"seed {seed}, cut at {cut} of {trace.end}: {wrong} {lost or ''}")
            if count:
                count()
    return outcome, len(whole)


RUNS = {"the daemon": traced_daemon, "a table writing fast": traced_writer}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=600)
    parser.add_argument("--first-seed", type=int, default=0)
    args = parser.parse_args()
    total = Counter()
    for number, (what, traced) in enumerate(RUNS.items()):
        some = Counter()
        mine = args.cuts // len(RUNS) + (number < args.cuts % len(RUNS))
        for run in range(0, mine, 50):
            outcome, _ = cuts(traced, min(50, mine - run), args.first_seed + number + run)
            some += outcome
        print(f"{what}: {some['cuts']} cuts")
        total += some
    print(
        f"{total['cuts']} power cuts: {total['events lost']} acknowledged records lost, "
        f"{total['broken']} chains broken, {total['not opened']} journals that did not open"
    )
    return 0 if total["cuts"] == total[""] else 1


if __name__ == "__main__":
    raise SystemExit(main())
