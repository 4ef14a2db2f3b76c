"""Kills hub, tables and the line at random while games are played, and then compares the hub with the journals.

    .venv/bin/python tests/tools/hub_chaos.py --tables 8 --kills 45
    .venv/bin/python tests/tools/hub_chaos.py --tables 8 --kills 45 --store postgresql    # killed too

Tables play Hampa Apena by the judge's word, each in a process of its own with a real journal, and report over HTTPS.
The line is cut, or carries nothing for a moment although it stays open. Prints a JSON line: records, lost, double,
changed, kills, records a second, lag from a record's time at the table to the hub's disk (ms, kills included), and
memory (MB). The status is 1 unless all is whole.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from unittest import mock

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

from cuttable_line import CuttableLine
from hub_files import PATIENCE_S, reach, store_of, write_hub
from hub_process import HubProcess
from postgres import server_of

from pi_controller.hub import run
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events
from pi_controller.hub.settings import load_hub
from pi_controller.hub.store import open_store
from pi_controller.hub.table_link import TableLink
from pi_controller.journal import file
from pi_controller.journal.journal import Journal
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.view import is_between_hides

SILENT_S = 0.5


def play(folder, name, port, every_s):
    """Play games at one table until the file `stop` is there, then keep on sending until killed."""
    journal = Journal(folder / f"{name}.sqlite", created=time.time())
    rules = journalled_game(journal, game("dakota", {"points": 2}))
    referee = referee_for(rules, RefereeSettings(), random.Random().randbytes)
    table = Table(journal, rules, {"A": "Red", "B": "Blue"}, referee, time.time())
    client, dice = reach(folder / "hub", name, port), random.Random(journal.seq)
    link = TableLink(client, name, name, journal.path)
    link.start()
    while True:
        link.on_step(time.time(), table, False)
        if (folder / "stop").exists() and is_between_hides(table.view):
            break
        view = table.view
        line = "new" if view.winner else "toss A" if view.phase == "toss" else "found"
        if line == "found" and dice.random() < 0.02:
            line = "close A forfeit gone"
        if line == "found" and view.phase == "hide" and dice.random() < 0.2:
            execute_line(table, "missed", time.time())
        execute_line(table, line, time.time())
        link.on_step(time.time(), table, False)
        time.sleep(every_s)
    print("done", flush=True)
    signal.pause()


class Watched(Inbox):
    """An inbox that writes to the file `lags` how old the newest record of a message is when it is on its disk, ms.

    Earlier ones of a hide had to wait at the table for its end, which is the newest.
    """

    def __init__(self, where, lags):
        super().__init__(where)
        self._lags = lags
        self._seen = {
            (table, epoch): seq for table, games in self.record_counts().items() for epoch, seq in games.items()
        }

    def store_messages(self, t, messages):
        answers = super().store_messages(t, messages)
        now = time.time()
        with self._lags.open("a") as lags:
            for table, message in messages:
                if isinstance(message, Events):
                    seen = self._seen.get((table, message.epoch), 0)
                    if message.records[-1].seq > seen:
                        lags.write(f"{1000 * (now - message.records[-1].t):.1f}\n")
                    self._seen[table, message.epoch] = max(seen, message.records[-1].seq)
        return answers


def be_hub(folder):
    """Be `hub run` until killed."""
    with mock.patch.object(run, "Inbox", lambda where: Watched(where, folder.parent / "lags")):
        run.run_hub(folder)


def hub_of(folder, tables, server=None):
    """Write the files of a hub below `folder`, and return its process, which writes the lags there."""
    path = write_hub(folder / "hub", tables, server and server.url)
    return HubProcess(path, [sys.executable, str(Path(__file__).absolute()), "--role", "hub", "--folder"])


class Hall:
    """All processes and the line; each can be killed, and comes back. `server` is the PostgreSQL, None for a file."""

    def __init__(self, folder, tables, every_s, server=None):
        self.folder, self.every_s, self.server = folder, every_s, server
        self.names = [f"t{n:02d}" for n in range(1, tables + 1)]
        self.hub = hub_of(folder, self.names, server).start()
        self.line = CuttableLine(load_hub(self.hub.folder).page.https)
        self.running = {name: self._begin(name) for name in self.names}

    def _begin(self, name):
        command = [sys.executable, __file__, "--role", name, "--folder", self.folder, "--every", str(self.every_s)]
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen([*command, "--port", str(self.line.port)], stdout=log, stderr=log)

    def kill(self, name):
        match name:
            case "hub":
                assert self.hub.process.poll() is None, self.hub.log
                self.hub.kill()
                self.hub.start()
            case "cut":
                self.line.cut()
            case "silence":
                self.line.silent = True
                time.sleep(SILENT_S)
                self.line.silent = False
            case "database":
                self.server.kill()
                self.server.start()
            case _:
                process = self.running[name]
                assert process.poll() is None, (name, (self.folder / f"{name}.log").read_text())
                process.kill()
                process.wait()
                self.running[name] = self._begin(name)

    def memory(self):
        """Return the most that any of a kind holds in memory, MB."""
        tables = [memory_mb(process.pid) for process in self.running.values()]
        return {"hub": memory_mb(self.hub.process.pid), "table": max(tables)}

    def close(self):
        for process in self.running.values():
            process.kill()
            process.wait()
        self.line.close()
        self.hub.kill()


def memory_mb(pid):
    """Return what a process holds in memory, MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return round(int(status.split("VmRSS:")[1].split()[0]) / 1000, 1)


def journals(folder, names):
    """Return all that stands in the tables' journals, finished games too: (table, epoch) -> records."""
    found = {}
    for name in names:
        for path in folder.glob(f"{name}*.sqlite"):
            with closing(file.open_read_only(path)) as db:
                found[name, file.meta(db).epoch] = list(file.rows(db))
    return found


def received(where):
    """Return all that stands in the hub's store, in the same form."""
    found = {}
    with open_store(where) as store:
        for tid, epoch, *row in store.execute(
            "SELECT tid, epoch, seq, batch, t, kind, body, hash FROM games LEFT JOIN records ON game = id ORDER BY seq"
        ):
            if row[0] is not None:
                found.setdefault((tid, epoch), []).append(tuple(row))
        alarms = store.execute("SELECT tid, what FROM alarms")
    return found, alarms


def chaos(folder, tables, kills, every_s, seed=11, calm_s=3.0, server=None):
    """Play, kill, wait until the hub has all of it; return the figures. `server`: its store, killed with the others."""
    kinds = ["hub", "table", "table", "cut", "silence", *(["database"] if server else [])]
    dice, counts, hall = random.Random(seed), dict.fromkeys(kinds, 0), Hall(folder, tables, every_s, server)
    where = store_of(hall.hub.folder)
    try:
        begun = time.monotonic()
        while len(received_tables(where)) < tables:
            assert time.monotonic() - begun < PATIENCE_S * 3, "not all tables came"
            time.sleep(0.2)
        before, begun = records_of(where), time.monotonic()
        plan = [kinds[n % len(kinds)] for n in range(kills)]
        dice.shuffle(plan)
        for kind in plan:
            time.sleep(dice.uniform(0.5, 1.5))
            hall.kill(dice.choice(hall.names) if kind == "table" else kind)
            counts[kind] += 1
        time.sleep(calm_s)
        (folder / "stop").touch()
        end = time.monotonic() + PATIENCE_S * 3
        while True:
            done = all("done" in (folder / f"{name}.log").read_text() for name in hall.names)
            kept, (held, alarms) = journals(folder, hall.names), received(where)
            if (done and counted(kept) == counted(held)) or time.monotonic() > end:
                break
            time.sleep(0.3)
        took, memory = time.monotonic() - begun, hall.memory()
    finally:
        hall.close()
    return {
        "tables": tables,
        "store": "postgresql" if server else "sqlite",
        **compared(kept, held),
        "alarms": alarms,
        "kills": counts,
        "seconds": round(took, 1),
        "records_a_second": round((sum(map(len, kept.values())) - before) / took, 1),
        "lag_ms": lags_of(folder),
        "memory_mb": memory,
    }


def compared(kept, held):
    """Return what the hub holds beside what the tables kept."""
    return {
        "games": len(kept),
        "records": sum(map(len, kept.values())),
        "lost": sum(len(rows) - len(held.get(key, [])) for key, rows in kept.items()),
        "double": sum(len(rows) - len({row[0] for row in rows}) for rows in held.values()),
        "changed": sum(tuple(a) != b for key in kept for a, b in zip(kept[key], held.get(key, []), strict=False)),
    }


def lags_of(folder):
    lags = sorted(float(line) for line in (folder / "lags").read_text().split())
    return {"p50": lags[len(lags) // 2], "p99": lags[len(lags) * 99 // 100]} if lags else {}


def counted(records):
    return {key: len(rows) for key, rows in records.items()}


def received_tables(where):
    with open_store(where) as store:
        return {key for (key,) in store.execute("SELECT DISTINCT tid FROM games JOIN records ON game = id")}


def records_of(where):
    with open_store(where) as store:
        return store.execute("SELECT count(*) FROM records")[0][0]


def whole(figures):
    """Return whether nothing was lost, doubled or changed, and nobody suspected of it."""
    return not (figures["lost"] or figures["double"] or figures["changed"] or figures["alarms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--kills", type=int, default=45)
    parser.add_argument("--every", type=float, default=0.2, help="s from one action at a table to the next")
    parser.add_argument("--calm", type=float, default=3.0, help="s of play after the last kill")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role is None:
        with tempfile.TemporaryDirectory() as folder, server_of(args.store) as server:
            figures = chaos(Path(folder), args.tables, args.kills, args.every, args.seed, args.calm, server)
        print(json.dumps(figures))
        return 0 if whole(figures) else 1
    if args.role == "hub":
        return be_hub(args.folder)
    return play(args.folder, args.role, args.port, args.every)


if __name__ == "__main__":
    sys.exit(main())
