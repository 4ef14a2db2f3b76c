"""Kills hub, tables, database and the line at random while a tournament is played, and then compares all they hold.

    .venv/bin/python tests/tools/hub_chaos.py --tables 6 --kills 45
    .venv/bin/python tests/tools/hub_chaos.py --tables 6 --kills 45 --store postgresql    # and a second hub

Tables play Hampa Apena by the judge's word, each in a process of its own with a real journal; the hub calls the matches
of a round robin to them, over HTTPS. With PostgreSQL a second hub stands by; the address leads to the other one when
the one that it leads to is killed or hangs. Processes are killed, or stopped for a while; the line is cut, at one end
alone too, and each direction of it carries nothing for a while. Prints a JSON line: records, lost, double, changed;
matches called, played and counted twice; kills; how long after the death of the directing hub the other one directed,
s; records a second, lag from a record's time at the table to the hub's disk (ms, kills included), and memory (MB). The
status is 1 unless all is whole.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from unittest import mock

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

from cuttable_line import BOTH, DOWN, UP, CuttableLine
from hub_files import PATIENCE_S, reach, store_of, write_hub
from hub_process import HubProcess
from linked_table import LinkedTable
from ports import free_port
from postgres import server_of

from pi_controller.errors import MatError
from pi_controller.hub import run
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events
from pi_controller.hub.settings import FILE, load_hub
from pi_controller.hub.store import open_store
from pi_controller.journal import file
from pi_controller.referee.facts import MatchGiven
from pi_controller.referee.history import History
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.view import is_between_hides
from pi_controller.tournament import decisions as d
from pi_controller.tournament.decision_history import DecisionHistory

STOPPED_S = 6.0
"""Longer than a table waits for an answer, and than a hub waits for a table."""
MAX_TAKEOVER_S = 5.0
MATCH_POINTS = 3
UNPLAYED = {"A": "A", "B": "B"}
"""The teams at a table to which no match was called yet."""


def play(folder, name, port, every_s):
    """Play the hub's matches at one table until the file `stop` is there, then keep on sending until killed."""
    table = LinkedTable(folder / f"{name}.sqlite", name, lambda: reach(folder / "hub", name, port))
    dice = random.Random(table.journal.seq)
    while True:
        table.step()
        view = table.table.view
        if (folder / "stop").exists() and is_between_hides(view):
            break
        if dict(table.table.story.teams) != UNPLAYED and view.phase != "over":
            try:
                for line in lines_of(view, dice):
                    execute_line(table.table, line, time.time())
            except MatError as error:
                print(error, flush=True)
            table.step()
        time.sleep(every_s)
    print("done", flush=True)
    signal.pause()


def lines_of(view, dice):
    """Return what the judge of this table says next."""
    if view.void:
        return ["close void"]
    if view.phase == "toss":
        return ["toss A"]
    if dice.random() < 0.02:
        return ["close A forfeit gone"]
    return ["missed", "found"] if view.phase == "hide" and dice.random() < 0.2 else ["found"]


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


class WatchedDirector(Director):
    """A director that writes to the file at `path` whether its hub directs."""

    path = Path()

    def claim(self, *, reached):
        took_over = super().claim(reached=reached)
        self.path.write_text(str(self.directs))
        return took_over


def be_hub(folder):
    """Be `hub run` until killed."""
    WatchedDirector.path = folder / "directs"
    with (
        mock.patch.object(run, "Inbox", lambda where: Watched(where, folder.parent / "lags")),
        mock.patch.object(run, "Director", WatchedDirector),
    ):
        run.run_hub(folder)


def hub_of(folder, tables, server=None, venue="hall"):
    """Write the files of a hub below `folder`, and return its process, which writes the lags there."""
    return process_of(write_hub(folder / "hub", tables, server and server.url, venue))


def process_of(path):
    return HubProcess(path, [sys.executable, str(Path(__file__).absolute()), "--role", "hub", "--folder"])


def second_hub(hub):
    """Return the process of another hub of the venue, as the help tells to make one: a copy of the folder."""
    path = hub.folder.with_name("hub2")
    shutil.copytree(hub.folder, path)
    page = load_hub(hub.folder).page
    settings = (path / FILE).read_text()
    for port in (page.port, page.https):
        settings = settings.replace(f"= {port}\n", f"= {free_port()}\n")
    (path / FILE).write_text(settings)
    return process_of(path)


def plan_round_robin(where, teams):
    """Have a tournament whose matches are called automatically."""
    with Inbox(where) as inbox, TournamentLog(where) as log:
        director = Director(log, inbox)
        entered = d.Entered(tuple(d.Entry(f"Team {n}") for n in range(teams)))
        plan = d.Planned(
            "cup",
            options={"points": MATCH_POINTS},
            format="round_robin",
            results="at_once",
            calling="automatic",
            rest_s=0.0,
        )
        for fact in (plan, entered, d.TeamsDrawn(seed="chaos")):
            director.decide(time.time(), "Ann", fact)


class Hall:
    """All processes and the line; each can be killed, and comes back. `server` is the PostgreSQL, None for a file.

    The first of `hubs` is the one to which the address leads.
    """

    def __init__(self, folder, tables, every_s, server=None, teams=24):
        self.folder, self.every_s, self.server = folder, every_s, server
        self.takeovers_s = {"killed": [], "stopped": []}
        self.names = [f"t{n:02d}" for n in range(1, tables + 1)]
        self.hubs = [hub_of(folder, self.names, server)]
        self.where = store_of(self.hubs[0].folder)
        plan_round_robin(self.where, teams)
        if server:
            self.hubs.append(second_hub(self.hubs[0]))
        for hub in self.hubs:
            start(hub)
        self.line = CuttableLine(load_hub(self.hubs[0].folder).page.https)
        self.running = {name: self._begin(name) for name in self.names}

    def _begin(self, name):
        command = [sys.executable, __file__, "--role", name, "--folder", self.folder, "--every", str(self.every_s)]
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen([*command, "--port", str(self.line.port)], stdout=log, stderr=log)

    def kill(self, kind, table, stopped_s=STOPPED_S):
        """Do what `kind` says; `table` is the one that is meant if it is about one."""
        what, _, how = kind.partition(" ")
        match what:
            case "hub":
                self._harm_hub(how, stopped_s)
            case "standby":
                self._harm(self.hubs[-1], how, stopped_s)
            case "table":
                process = self.running[table]
                assert process.poll() is None, (table, (self.folder / f"{table}.log").read_text())
                if how:
                    pause([process.pid], stopped_s)
                    return
                process.kill()
                process.wait()
                self.running[table] = self._begin(table)
            case "database":
                if how:
                    pause(self.server.pids, stopped_s)
                    return
                self.server.kill()
                self.server.start()
            case "line":
                self._harm_line(how)

    def _harm_hub(self, how, stopped_s):
        """Kill or stop the hub to which the address leads, which leads to the other one then."""
        hub, begun, directed = self.hubs[0], time.monotonic(), directs(self.hubs[0])
        if len(self.hubs) == 1:
            self._harm(hub, how, stopped_s)
            return
        if how:
            hub.process.send_signal(signal.SIGSTOP)
        else:
            hub.kill()
        self.hubs.reverse()
        self.line.target = load_hub(self.hubs[0].folder).page.https
        self.line.cut()
        while not directs(self.hubs[0]) and time.monotonic() < begun + PATIENCE_S:
            time.sleep(0.02)
        if directed:
            took_s = round(time.monotonic() - begun, 1)
            self.takeovers_s["stopped" if how else "killed"].append(took_s)
            if took_s > MAX_TAKEOVER_S:
                print(state_of(self.hubs), file=sys.stderr)
        if how:
            time.sleep(max(0.0, begun + stopped_s - time.monotonic()))
            hub.process.send_signal(signal.SIGCONT)
        else:
            start(hub)

    def _harm(self, hub, how, stopped_s):
        assert hub.process.poll() is None, hub.log
        if how:
            pause([hub.process.pid], stopped_s)
            return
        hub.kill()
        start(hub)

    def _harm_line(self, how):
        match how:
            case "cut":
                self.line.cut()
            case "half open up" | "half open down":
                self.line.cut_half(how.rpartition(" ")[2])
            case _:
                self.line.silent = {"up": frozenset({UP}), "down": frozenset({DOWN})}.get(how, BOTH)
                time.sleep(STOPPED_S)
                self.line.silent = frozenset()

    def memory(self):
        """Return the most that any of a kind holds in memory, MB."""
        tables = [memory_mb(process.pid) for process in self.running.values()]
        return {"hub": max(memory_mb(hub.process.pid) for hub in self.hubs), "table": max(tables)}

    def close(self):
        for process in self.running.values():
            process.kill()
            process.wait()
        self.line.close()
        for hub in self.hubs:
            hub.kill()


def start(hub):
    """Start the process `hub`, which does not direct before it has claimed to."""
    (hub.folder / "directs").write_text("False")
    hub.start()


def directs(hub):
    """Return whether `hub` has written that it directs."""
    return hub.process.poll() is None and (hub.folder / "directs").read_text() == "True"


def state_of(hubs):
    """Return the last lines of the hubs' logs, and the load of the machine."""
    return "\n".join([*(hub.log[-1000:] for hub in hubs), Path("/proc/loadavg").read_text()])


def pause(pids, seconds):
    """Stop these processes for a while."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


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


def kinds_of(server):
    """Return what can be killed or stopped, and how."""
    line = [f"line {how}" for how in ("cut", "up", "down", "both", "half open up", "half open down")]
    more = ["standby", "standby stop", "database", "database stop"] if server else []
    return ["hub", "hub", "hub stop", "table", "table", "table stop", *line, *more]


def chaos(folder, tables, kills, every_s, seed=11, calm_s=3.0, server=None, long_stops=0, long_s=60.0):
    """Play, kill, wait until the hub has all of it; return the figures. `server`: its store, killed with the others.

    So many of the processes that are stopped are so for `long_s`, in turn hub, table and database.
    """
    kinds, dice, counts = kinds_of(server), random.Random(seed), Counter()
    dice.shuffle(kinds)
    hall = Hall(folder, tables, every_s, server)
    where, long_kinds = hall.where, ["hub stop", "table stop", *(["database stop"] if server else [])]
    try:
        begun = time.monotonic()
        while len(received_tables(where)) < tables:
            assert time.monotonic() - begun < PATIENCE_S * 3, "not all tables came"
            time.sleep(0.2)
        before, begun = records_of(where), time.monotonic()
        plan = [(kinds[n % len(kinds)], STOPPED_S) for n in range(kills - long_stops)]
        plan += [(long_kinds[n % len(long_kinds)], long_s) for n in range(long_stops)]
        dice.shuffle(plan)
        for kind, stopped_s in plan:
            time.sleep(dice.uniform(0.5, 1.5))
            hall.kill(kind, dice.choice(hall.names), stopped_s)
            counts[kind] += 1
        time.sleep(calm_s)
        (folder / "stop").touch()
        end = time.monotonic() + PATIENCE_S * 3
        while True:
            done = all("done" in (folder / f"{name}.log").read_text() for name in hall.names)
            kept, (held, alarms) = journals(folder, hall.names), received(where)
            whole_store = done and counted(kept) == counted(held)
            if (whole_store and not uncounted_matches(where, kept)) or time.monotonic() > end:
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
        **matches_of(where, kept),
        "kills": dict(counts),
        "long_stops": long_stops,
        "takeovers_s": hall.takeovers_s,
        "tracebacks": sum(hub.log.count("Traceback") for hub in hall.hubs),
        "seconds": round(took, 1),
        "records_a_second": round((sum(map(len, kept.values())) - before) / took, 1),
        "lag_ms": lags_of(folder),
        "memory_mb": memory,
    }


def matches_of(where, kept):
    """Return how the tournament went: matches that were called, played or counted twice, and results not counted.

    A match may be called again only after its call was recalled, and no game is played in two journals.
    """
    history = decided(where)
    facts = Counter((type(one.fact), getattr(one.fact, "match", "")) for one in history.decisions)
    called = {match: n - facts[d.Recalled, match] for (kind, match), n in facts.items() if kind is d.Assigned}
    played = Counter(match for match, story in games_of(kept) if story.undo_target.batch)
    return {
        "matches": len(called),
        "recalled": sum(n for (kind, _), n in facts.items() if kind is d.Recalled),
        "called_twice": sum(n > 1 for n in called.values()),
        "played_twice": sum(n > 1 for n in played.values()),
        "counted_twice": sum(len(games) > 1 for games in history.now.state.games.values()),
        "uncounted": len(uncounted_matches(where, kept)),
    }


def decided(where):
    """Return the tournament in the hub's store."""
    with TournamentLog(where) as log:
        return DecisionHistory(log.read())


def uncounted_matches(where, kept):
    """Return the matches that were played to their end, and do not count."""
    over = {match for match, story in games_of(kept) if story.phase == "over"}
    return over - decided(where).now.state.games.keys()


def games_of(kept):
    """Yield each game of a match in the tables' journals: the match, and its story at the end."""
    for rows in kept.values():
        facts = [file.decode(row.body) for row in rows]
        match = next((fact.match for fact in facts if isinstance(fact, MatchGiven)), None)
        if match is not None:
            history = History(game(facts[0].game, facts[0].options))
            for row, fact in zip(rows, facts, strict=True):
                history.add(row.batch, fact)
            yield match, history.now


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
    """Return whether nothing was lost, doubled or changed, nobody suspected of it, and the other hub directed soon."""
    faults = ("lost", "double", "changed", "alarms", "called_twice", "played_twice", "counted_twice", "uncounted")
    return not any(figures.get(fault) for fault in faults) and all(
        took <= MAX_TAKEOVER_S for took in figures.get("takeovers_s", {}).get("killed", ())
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--kills", type=int, default=45)
    parser.add_argument("--every", type=float, default=0.2, help="s from one action at a table to the next")
    parser.add_argument("--calm", type=float, default=3.0, help="s of play after the last kill")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--long-stops", type=int, default=2, help="so many processes are stopped for a minute")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--keep", type=Path, help="a folder to which all files are copied if something is wrong")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role is None:
        with tempfile.TemporaryDirectory() as folder, server_of(args.store) as server:
            how = args.tables, args.kills, args.every, args.seed, args.calm, server, args.long_stops
            figures = chaos(Path(folder), *how)
            if not whole(figures) and args.keep:
                shutil.copytree(folder, args.keep)
        print(json.dumps(figures))
        return 0 if whole(figures) else 1
    if args.role == "hub":
        return be_hub(args.folder)
    return play(args.folder, args.role, args.port, args.every)


if __name__ == "__main__":
    sys.exit(main())
