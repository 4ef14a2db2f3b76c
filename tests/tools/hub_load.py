"""Many tables at once through a real Mosquitto into a real hub.

    .venv/bin/python tests/tools/hub_load.py --tables 64 --rate 10 --seconds 30
    .venv/bin/python tests/tools/hub_load.py --tables 64 --rate 10 --seconds 30 --store postgresql

Each table is a real link to the hub with a journal that was written before: one of its records after another is there
at its time, with the view of that moment. The links share a few processes. The hub is `hub run` with its tournament and
pages, the broker has TLS and accounts. Prints a JSON line: records a second that came to the hub's disk while they were
written, lag from a record's time at the table to there (ms), memory (MB) and the processor's time (s) of hub and
broker, and how long the rest took to come. The status is 1 unless the hub has all records, once and unchanged.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

import msgspec
from brokers import PATIENCE_S, VENUE, Mosquitto, account
from hub_chaos import be_hub, compared, counted, journals, lags_of, memory_mb, received, records_of, store_at, whole
from postgres import server_of

from pi_controller.hub.store import StoreError
from pi_controller.hub.table_link import TableLink
from pi_controller.journal.journal import Journal
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.view import View, is_between_hides

PROCESSES = 4
"""In which the tables' links run."""
TURN_S = 0.005


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


def prepare(folder, names, begin, rate, seconds):
    """Write the journals, each whole, and the views, for a play from `begin` on."""
    facts, views = played(folder, int(rate * seconds))
    (folder / "views.json").write_bytes(msgspec.json.encode(views))
    for name in names:
        first = begin + offset(name, rate)
        with closing(Journal(folder / f"{name}.sqlite", created=begin)) as journal:
            journal.append([msgspec.structs.replace(fact, t=first + n / rate) for n, fact in enumerate(facts)])


def be_tables(folder, names, port, begin, rate):
    """Be these tables until killed."""
    views = msgspec.json.decode((folder / "views.json").read_bytes(), type=list[View])
    metas, links = [], []
    for name in names:
        with closing(Journal(folder / f"{name}.sqlite", read_only=True)) as journal:
            metas.append(journal.meta)
        links.append(TableLink(account(folder / "broker", port, name), VENUE, name, folder / f"{name}.sqlite"))
        links[-1].start()
    firsts, shown = [begin + offset(name, rate) for name in names], [0] * len(names)
    while True:
        now = time.time()
        for n, link in enumerate(links):
            there = min(int((now - firsts[n]) * rate) + 1, len(views)) if now >= firsts[n] else 0
            if there > shown[n]:
                shown[n] = there
                view = msgspec.structs.replace(views[there - 1], seq=there)
                journal = SimpleNamespace(meta=metas[n])
                link.on_step(now, SimpleNamespace(view=view, journal=journal, can_begin_game=False), False)
        time.sleep(TURN_S)


def wait_for_store(where):
    """Wait until the hub has made its store."""
    end = time.monotonic() + PATIENCE_S
    while True:
        with suppress(StoreError):
            if not isinstance(where, Path) or where.exists():
                return records_of(where)
        assert time.monotonic() < end, "the hub has not started"
        time.sleep(0.05)


def load(folder, count, rate, seconds, prepare_s, server=None):
    """Return the figures."""
    names = [f"t{n:02d}" for n in range(1, count + 1)]
    where = store_at(folder, server and server.url)
    broker = Mosquitto(folder / "broker", names).start()
    broker.hub_settings(server and server.url)
    command = [sys.executable, __file__, "--folder", folder, "--port", str(broker.port), "--rate", str(rate)]
    running = [subprocess.Popen([*command, "--role", "hub"], stdout=subprocess.DEVNULL)]
    try:
        wait_for_store(where)
        begin = time.time() + prepare_s
        prepare(folder, names, begin, rate, seconds)
        for n in range(min(PROCESSES, count)):
            some = ",".join(names[n::PROCESSES])
            running.append(subprocess.Popen([*command, "--role", some, "--begin", str(begin)]))
        watched = {"hub": running[0].pid, "broker": broker.process.pid}
        assert time.time() < begin, f"the journals took longer than {prepare_s} s to write: --prepare more"
        time.sleep(begin - time.time())
        before = {name: processor_s(pid) for name, pid in watched.items()}
        time.sleep(max(0.0, begin + seconds - time.time()))
        came, over = records_of(where), time.time()
        used = {name: round(processor_s(pid) - before[name], 1) for name, pid in watched.items()}
        memory, end = {name: memory_mb(pid) for name, pid in watched.items()}, time.monotonic() + PATIENCE_S
        kept = journals(folder, names)
        while counted(kept) != counted((held := received(where))[0]) and time.monotonic() < end:
            time.sleep(0.3)
        late = time.time() - over
    finally:
        for process in running:
            process.kill()
            process.wait()
        broker.kill()
    return {
        "tables": count,
        "store": "postgresql" if server else "sqlite",
        **compared(kept, held[0]),
        "alarms": held[1],
        "seconds": seconds,
        "records_a_second": round(came / (over - begin), 1),
        "rest_s": round(late, 1),
        "lag_ms": lags_of(folder),
        "memory_mb": memory,
        "processor_s": used,
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
    parser.add_argument("--prepare", type=float, default=40.0, help="s until it begins: journals are written first")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    for hidden, kind in (("--role", str), ("--folder", Path), ("--port", int), ("--begin", float)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role == "hub":
        be_hub(args.folder)
        return 0
    if args.role is not None:
        be_tables(args.folder, args.role.split(","), args.port, args.begin, args.rate)
    with tempfile.TemporaryDirectory() as folder, server_of(args.store) as server:
        figures = load(Path(folder), args.tables, args.rate, args.seconds, args.prepare, server)
    print(json.dumps(figures))
    return 0 if whole(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
