"""Many tables at once that report over HTTPS to a real hub, and people who watch its boards.

    .venv/bin/python tests/tools/hub_load.py --tables 64 --rate 10 --seconds 30
    .venv/bin/python tests/tools/hub_load.py --tables 64 --rate 10 --seconds 30 --store postgresql
    .venv/bin/python tests/tools/hub_load.py --venues 10 --standby --rate 1 --store postgresql

Each table is a real link to the hub with a journal to which the records of a game are written one by one, with the view
of that moment; all are connected before the first. The tables share a few processes, and their journals lie in memory:
in a hall each has a disk of its own. The hub is `hub run` with its tournament and pages. Prints a JSON line: records a
second that came to the hub's disk while they were written, lag from a record's time at the table to there (ms), memory
(MB) and the processor's time (s) of the hub, what the watchers received (kB a second each), and how long the rest took
to come. The status is 1 unless the hub has all records, once and unchanged.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

import httpx
import msgspec
import psycopg
from hub_chaos import compared, counted, hub_of, journals, lags_of, memory_mb, received, records_of, second_hub, whole
from hub_files import PATIENCE_S, reach, store_of
from postgres import server_of

from pi_controller.hub.table_link import TableLink
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import ANY_FACT
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.view import View, is_between_hides

PROCESSES = 4
"""In which the tables' links run."""
TURN_S = 0.005
MEMORY = Path("/dev/shm")
"""A folder in memory, on Linux."""
TABLES = "tables"
"""The folder of the tables' journals."""


def played(folder, count):
    """Play a game of `count` records and more; return its first facts, and the view after each of them.

    They end between two hides, at most at `count`: of a hide that goes on the link holds the records back.
    """
    facts, views = [], []
    with closing(Journal(folder / "game.sqlite")) as journal:
        rules = journalled_game(journal, game("dakota", {"points": 16}))
        table = Table(
            journal,
            rules,
            {"A": "Red", "B": "Blue"},
            referee_for(rules, RefereeSettings(), random.Random(1).randbytes),
            0.0,
        )
        dice = random.Random(1)
        while journal.seq < count:
            view = table.view
            assert view.winner is None, f"the game is over after {journal.seq} records"
            line = "toss A" if view.phase == "toss" else dice.choice(["found", "missed"])
            execute_line(table, line, float(journal.seq))
            views += [table.view] * (journal.seq - len(views))
        facts += [fact for _, fact in journal.read()]
    while not is_between_hides(views[count - 1]):
        count -= 1
    return facts[:count], views[:count]


def offset(name, rate):
    """Return when the first record of this table is there, s: they do not all come at once."""
    return random.Random(name).random() / rate


def be_tables(folder, names, rate):
    """Be these tables until killed, from when the file `begin` is there."""
    facts = msgspec.json.decode((folder / "facts.json").read_bytes(), type=list[ANY_FACT])
    views = msgspec.json.decode((folder / "views.json").read_bytes(), type=list[View])
    journals, links = [], []
    for name in names:
        journals.append(Journal(folder / TABLES / f"{name}.sqlite", created=time.time()))
        links.append(TableLink(reach(folder / "hub", name), name, name, journals[-1].path))
        links[-1].start()
    written = [0] * len(names)

    def write(n):
        now = time.time()
        journals[n].append([msgspec.structs.replace(facts[written[n]], t=now)])
        view = msgspec.structs.replace(views[written[n]], seq=written[n] + 1)
        links[n].on_step(now, SimpleNamespace(view=view, journal=journals[n], can_begin_game=False), False)
        written[n] += 1

    for n in range(len(names)):
        write(n)  # a table is connected before its game goes on
    while not all(link._outbox.done for link in links):
        time.sleep(TURN_S)
    print("ready", flush=True)
    while not (folder / "begin").exists():
        time.sleep(TURN_S)
    firsts = [time.time() + offset(name, rate) for name in names]
    while True:
        for n in range(len(names)):
            while written[n] < len(facts) and time.time() >= firsts[n] + (written[n] - 1) / rate:
                write(n)
        time.sleep(TURN_S)


def watch(url, received):
    """Follow the boards' updates until the hub ends; append the length of each piece to `received`."""
    with suppress(httpx.HTTPError), httpx.stream("GET", f"{url}events", timeout=None, trust_env=False) as stream:
        for piece in stream.iter_raw():
            received.append(len(piece))


def load(folder, count, rate, seconds, watchers=0, server=None, venue="hall", standby=False):
    """Return the figures of a venue, with another hub that stands by, if `standby`."""
    names = [f"t{n:02d}" for n in range(1, count + 1)]
    facts, views = played(folder, int(rate * seconds))
    (folder / "facts.json").write_bytes(msgspec.json.encode(facts))
    (folder / "views.json").write_bytes(msgspec.json.encode(views))
    command = [sys.executable, __file__, "--folder", folder, "--rate", str(rate)]
    hub, running, watched = hub_of(folder, names, server, venue), [], []
    other = second_hub(hub) if standby else None
    where = store_of(hub.folder)
    try:
        hub.start()
        if other is not None:
            other.start()
        for n in range(min(PROCESSES, count)):
            role = ["--role", ",".join(names[n::PROCESSES])]
            running.append(subprocess.Popen([*command, *role], stdout=subprocess.PIPE, text=True))
        for process in running:
            assert process.stdout.readline(), "a table's process has ended"
        for _ in range(watchers):
            threading.Thread(target=watch, args=(hub.page, watched), daemon=True).start()
        (folder / "lags").write_text("")
        (folder / "begin").touch()
        used_s, begin = processor_s(hub.process.pid), time.monotonic()
        time.sleep(seconds)
        came, took = records_of(where), time.monotonic() - begin
        seen, used_s = sum(watched), round(processor_s(hub.process.pid) - used_s, 1)
        memory, end = memory_mb(hub.process.pid), time.monotonic() + PATIENCE_S
        while (kept := counted(journals(folder / TABLES, names))) != counted((held := received(where))[0]) or (
            sum(kept.values()) < count * len(facts)
        ):
            assert time.monotonic() < end, (kept, counted(held[0]))
            time.sleep(0.3)
        kept, late = journals(folder / TABLES, names), time.monotonic() - begin - took
    finally:
        for process in running:
            process.kill()
            process.communicate()
        hub.kill()
        if other is not None:
            other.kill()
    return {
        "venue": venue,
        "tables": count,
        "store": "postgresql" if server else "sqlite",
        **compared(kept, held[0]),
        "alarms": held[1],
        "seconds": seconds,
        "records_a_second": round(came / took, 1),
        "rest_s": round(late, 1),
        "lag_ms": lags_of(folder),
        "memory_mb": memory,
        "processor_s": used_s,
        "watchers": watchers,
        "watcher_kb_s": round(seen / 1000 / seconds / max(1, watchers), 1),
    }


def processor_s(pid):
    """Return how long a process has used a processor, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--rate", type=float, default=10.0, help="records a second at each table")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--watchers", type=int, default=20, help="people who watch the boards")
    parser.add_argument("--venues", type=int, default=1, help="so many venues at once, on one PostgreSQL if that is it")
    parser.add_argument("--standby", action="store_true", help="each venue has a second hub")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    for hidden, kind in (("--role", str), ("--folder", Path)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role is not None:
        be_tables(args.folder, args.role.split(","), args.rate)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as memory,
        server_of(args.store) as server,
    ):
        venues, found = [f"hall{n}" for n in range(args.venues)], []

        def run(venue):
            for made in (place := Path(folder) / venue, tables := Path(memory) / venue):
                made.mkdir()
            (place / TABLES).symlink_to(tables)
            how = args.tables, args.rate, args.seconds, args.watchers, server, venue, args.standby
            found.append(load(place, *how))

        with ThreadPoolExecutor(args.venues) as pool:
            done = [pool.submit(run, venue) for venue in venues]
            if server is not None:
                time.sleep(args.seconds)
                print(json.dumps({"connections": connections(server)}))
        for one in done:
            one.result()
        if server is not None:
            print(json.dumps({"disk_mb": round(sum(path.stat().st_size for path in server.folder.rglob("*")) / 1e6)}))
    for figures in found:
        print(json.dumps(figures))
    return 0 if all(map(whole, found)) else 1


def connections(server):
    with psycopg.connect(server.url) as db:
        return db.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'").fetchone()[0]


if __name__ == "__main__":
    sys.exit(main())
